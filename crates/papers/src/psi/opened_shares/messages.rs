//! One type an arrow of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use vesica_party::{Role, Step, Stream};

const fn step(number: u8, carries: &'static str) -> Step {
    Step { protocol: "opened-shares", number, from: Role::Sender, carries }
}

/// Arrow 1: a bit for each bin, 64 a word.
pub(super) enum Membership {}

impl Stream for Membership {
    const STEP: Step = step(1, "the sender's shares of membership");
    type Element = u64;
}

/// Arrow 2: a payload for each bin.
pub(super) enum Payloads {}

impl Stream for Payloads {
    const STEP: Step = step(2, "the sender's shares of payloads");
    type Element = u8;
}
