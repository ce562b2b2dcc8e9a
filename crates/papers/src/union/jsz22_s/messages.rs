//! One type an arrow of the figure. Arrows 1 and 2 are those of the OPRF.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use vesica_party::{Role, Step, Stream};

const fn step(number: u8, from: Role, carries: &'static str) -> Step {
    Step { protocol: "jsz22-s", number, from, carries }
}

/// Arrow 3, packed.
pub(super) enum Values {}

impl Stream for Values {
    const STEP: Step = step(3, Role::Receiver, "values of the OPRF for each bin");
    type Element = u8;
}

/// Arrow 4.
pub(super) enum Shares {}

impl Stream for Shares {
    const STEP: Step = step(4, Role::Sender, "shares of the keys of bins without a common item");
    type Element = u128;
}

/// Arrow 5, the records. Without pads where the receiver has no items.
pub(super) enum Records {}

impl Stream for Records {
    const STEP: Step = step(5, Role::Sender, "the records, each under a pad");
    type Element = u8;
}

/// Arrow 5, what tells a record's key, packed.
pub(super) enum Tags {}

impl Stream for Tags {
    const STEP: Step = step(6, Role::Sender, "the tags of the records' keys");
    type Element = u8;
}
