//! One type an arrow of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use vesica_party::{Role, Step, Stream};

use crate::ecdh::Point;

const fn step(number: u8, from: Role, carries: &'static str) -> Step {
    Step { protocol: "cmdg21", number, from, carries }
}

/// Arrow 1: the seed of the client's key for products, and its first halves.
pub(super) enum ProductKey {}

impl Stream for ProductKey {
    const STEP: Step = step(1, Role::Receiver, "the client's key for products");
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

/// Arrow 4: the seed of the encrypted powers, and for each group and exponent the first half.
pub(super) enum Question {}

impl Stream for Question {
    const STEP: Step = step(4, Role::Receiver, "encrypted powers");
    type Element = u8;
}

/// Arrow 5: for each group and part, the value of the polynomials, then those of labels.
pub(super) enum Answers {}

impl Stream for Answers {
    const STEP: Step = step(5, Role::Sender, "encrypted values of polynomials");
    type Element = u8;
}
