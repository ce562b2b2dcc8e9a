//! One type an arrow of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use vesica_party::{Role, Step, Stream};

const fn step(number: u8, from: Role, carries: &'static str) -> Step {
    Step { protocol: "jszg24", number, from, carries }
}

/// Arrow 1: a bit for each bin, eight a byte from the lowest.
pub(super) enum Flips {}

impl Stream for Flips {
    const STEP: Step = step(1, Role::Receiver, "flips of OTs");
    type Element = u8;
}

/// Arrow 2, the records. Without pads where the receiver has no items.
pub(super) enum Records {}

impl Stream for Records {
    const STEP: Step = step(2, Role::Sender, "the records, each under a pad");
    type Element = u8;
}

/// Arrow 3, the zeros behind the records, packed.
pub(super) enum Tags {}

impl Stream for Tags {
    const STEP: Step = step(3, Role::Sender, "the ends of the pads");
    type Element = u8;
}
