//! One type an arrow of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use vesica_party::{Role, Step, Stream};

const fn step(number: u8, from: Role, carries: &'static str) -> Step {
    Step { protocol: "permute-share-1-prf", number, from, carries }
}

/// Arrow 1: for each batch and key bit a byte for each lane of a stripe, with the trits of this
/// lane in all stripes.
pub(super) enum Inputs {}

impl Stream for Inputs {
    const STEP: Step = step(1, Role::Receiver, "masked bits of inputs modulo 3, five a byte");
    type Element = u8;
}

/// Arrow 2: for each batch, row and word of lanes two words.
pub(super) enum Turns {}

impl Stream for Turns {
    const STEP: Step = step(2, Role::Receiver, "differences of trits and random choices");
    type Element = u64;
}

/// Arrow 3: for each batch, row and word of lanes two words.
pub(super) enum Answers {}

impl Stream for Answers {
    const STEP: Step = step(3, Role::Sender, "parities of sums for two of three trits, masked");
    type Element = u64;
}

/// Arrow 4, eight bits a byte from the lowest.
pub(super) enum Masked {}

impl Stream for Masked {
    const STEP: Step = step(4, Role::Sender, "bits under the function, and sums of both of the sender's shares");
    type Element = u8;
}
