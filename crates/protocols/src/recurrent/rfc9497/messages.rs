//! One type an arrow of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use vesica_party::{Role, Step, Stream};

use crate::ecdh::Point;

const fn step(number: u8, from: Role, carries: &'static str) -> Step {
    Step { protocol: "oprf-rfc9497", number, from, carries }
}

/// Arrow 1: the server's public key, `pkS`.
pub(super) enum Key {}

impl Stream for Key {
    const STEP: Step = step(1, Role::Sender, "the server's public key");
    type Element = Point;
}

/// Arrow 2: the tags of the server's set.
pub(super) enum Tags {}

impl Stream for Tags {
    const STEP: Step = step(2, Role::Sender, "the server's sorted tags");
    type Element = u8;
}

/// Arrow 3: the server's payloads, encrypted.
pub(super) enum Payloads {}

impl Stream for Payloads {
    const STEP: Step = step(3, Role::Sender, "the encrypted payloads");
    type Element = u8;
}

/// Arrow 4: the client's blinded elements.
pub(super) enum Blinded {}

impl Stream for Blinded {
    const STEP: Step = step(4, Role::Receiver, "the client's blinded elements");
    type Element = Point;
}

/// Arrow 5: the same times the server's key.
pub(super) enum Evaluated {}

impl Stream for Evaluated {
    const STEP: Step = step(5, Role::Sender, "the evaluated elements");
    type Element = Point;
}

/// Arrow 6: for each chunk of arrow 5, the challenge and the response of its proof.
pub(super) enum Proofs {}

impl Stream for Proofs {
    const STEP: Step = step(6, Role::Sender, "proofs of the server's key");
    type Element = Point;
}
