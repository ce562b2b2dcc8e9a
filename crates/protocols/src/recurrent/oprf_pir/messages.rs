//! One type an arrow of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use vesica_party::{Role, Step, Stream};

use crate::ecdh::Point;

const fn step(number: u8, from: Role, carries: &'static str) -> Step {
    Step { protocol: "oprf-pir", number, from, carries }
}

/// Arrow 1: the seed, and the public part of the matrix.
pub(super) enum Public {}

impl Stream for Public {
    const STEP: Step = step(1, Role::Sender, "the seed, and the mask of all answers");
    type Element = u8;
}

/// Arrow 2: the client's blinded elements.
pub(super) enum Blinded {}

impl Stream for Blinded {
    const STEP: Step = step(2, Role::Receiver, "the client's blinded elements");
    type Element = Point;
}

/// Arrow 3: the same times the server's key.
pub(super) enum Evaluated {}

impl Stream for Evaluated {
    const STEP: Step = step(3, Role::Sender, "the evaluated elements");
    type Element = Point;
}

/// Arrow 4: for each item, packing keys and weights.
pub(super) enum Queries {}

impl Stream for Queries {
    const STEP: Step = step(4, Role::Receiver, "encrypted choices of a record");
    type Element = u8;
}

/// Arrow 5: for each item, its record, encrypted.
pub(super) enum Answers {}

impl Stream for Answers {
    const STEP: Step = step(5, Role::Sender, "the chosen records, encrypted");
    type Element = u8;
}
