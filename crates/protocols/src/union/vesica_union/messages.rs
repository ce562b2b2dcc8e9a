//! One type an arrow of the figure, those of the OPRF apart.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use vesica_party::{Role, Step, Stream};

const fn step(number: u8, from: Role, carries: &'static str) -> Step {
    Step { protocol: "vesica-union", number, from, carries }
}

/// Arrow 3: a bit for each place, eight a byte from the lowest.
pub(super) enum Flips {}

impl Stream for Flips {
    const STEP: Step = step(3, Role::Receiver, "flips of OTs");
    type Element = u8;
}

/// Arrow 4, the records. Without pads where the receiver has no items.
pub(super) enum Records {}

impl Stream for Records {
    const STEP: Step = step(4, Role::Sender, "the records, each under a pad");
    type Element = u8;
}

/// Arrow 4, the zeros behind the records, packed.
pub(super) enum Tags {}

impl Stream for Tags {
    const STEP: Step = step(5, Role::Sender, "the ends of the pads");
    type Element = u8;
}
