//! One type an arrow of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use vesica_party::{Role, Step, Stream};

const fn step(number: u8, from: Role, carries: &'static str) -> Step {
    Step { protocol: "permute-share-1-opv", number, from, carries }
}

/// Arrow 1: two bits for each wire of each layer, eight a byte from the lowest.
pub(super) enum Flips {}

impl Stream for Flips {
    const STEP: Step = step(1, Role::Receiver, "differences of punctured leaves and random choices");
    type Element = u8;
}

/// Arrow 2, packed.
pub(super) enum Sums {}

impl Stream for Sums {
    const STEP: Step = step(2, Role::Sender, "masked sums of left and of right leaves");
    type Element = u8;
}

/// Arrow 3, packed.
pub(super) enum Links {}

impl Stream for Links {
    const STEP: Step = step(3, Role::Sender, "what leads from a layer's masks to those of the next one");
    type Element = u8;
}
