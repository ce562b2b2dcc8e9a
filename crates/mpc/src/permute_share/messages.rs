//! One type an arrow of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use vesica_party::{Role, Step, Stream};

const fn step(number: u8, from: Role, carries: &'static str) -> Step {
    Step { protocol: "permute-share", number, from, carries }
}

/// Arrow 1: a bit for each switch, eight a byte from the lowest.
pub(super) enum Flips {}

impl Stream for Flips {
    const STEP: Step = step(1, Role::Receiver, "differences of settings and random choices");
    type Element = u8;
}

/// Arrow 2, packed.
pub(super) enum Corrections {}

impl Stream for Corrections {
    const STEP: Step = step(2, Role::Sender, "a correction for each switch");
    type Element = u8;
}

/// Arrow 3, packed.
pub(super) enum Masked {}

impl Stream for Masked {
    const STEP: Step = step(3, Role::Sender, "what turns the sender's shares into the chosen ones");
    type Element = u8;
}
