//! One type an arrow of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use vesica_party::{Role, Step, Stream};

const fn step(number: u8, from: Role, carries: &'static str) -> Step {
    Step { protocol: "clr17", number, from, carries }
}

/// Arrow 1: the seeds of the hash functions.
pub(super) enum HashSeeds {}

impl Stream for HashSeeds {
    const STEP: Step = step(1, Role::Sender, "the seeds of the hash functions");
    type Element = u8;
}

/// Arrow 2: the seed of the client's keys, and the first halves of its public key and of its key for
/// products.
pub(super) enum ClientKeys {}

impl Stream for ClientKeys {
    const STEP: Step = step(2, Role::Receiver, "the client's keys");
    type Element = u8;
}

/// Arrow 3: the seed of the encrypted powers, and for each column and exponent the first half.
pub(super) enum Question {}

impl Stream for Question {
    const STEP: Step = step(3, Role::Receiver, "encrypted powers");
    type Element = u8;
}

/// Arrow 4: for each group, part and limb, the scrambled values of the polynomials.
pub(super) enum Answers {}

impl Stream for Answers {
    const STEP: Step = step(4, Role::Sender, "encrypted values of polynomials");
    type Element = u8;
}
