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

/// Arrow 2: the public key that signs updates, and the number of the set's version.
pub(super) enum Edition {}

impl Stream for Edition {
    const STEP: Step = step(2, Role::Sender, "the key of updates, and the set's version");
    type Element = u8;
}

/// Arrow 3: the tags of the server's set.
pub(super) enum Tags {}

impl Stream for Tags {
    const STEP: Step = step(3, Role::Sender, "the server's sorted tags");
    type Element = u8;
}

/// Arrow 4: the server's payloads, encrypted.
pub(super) enum Payloads {}

impl Stream for Payloads {
    const STEP: Step = step(4, Role::Sender, "the encrypted payloads");
    type Element = u8;
}

/// Arrow 5: the client's blinded elements.
pub(super) enum Blinded {}

impl Stream for Blinded {
    const STEP: Step = step(5, Role::Receiver, "the client's blinded elements");
    type Element = Point;
}

/// Arrow 6: the same times the server's key.
pub(super) enum Evaluated {}

impl Stream for Evaluated {
    const STEP: Step = step(6, Role::Sender, "the evaluated elements");
    type Element = Point;
}

/// Arrow 7: for each chunk of arrow 6, the challenge and the response of its proof.
pub(super) enum Proofs {}

impl Stream for Proofs {
    const STEP: Step = step(7, Role::Sender, "proofs of the server's key");
    type Element = Point;
}

/// Arrow 8: what an update is, and its signature.
pub(super) enum Head {}

impl Stream for Head {
    const STEP: Step = step(8, Role::Sender, "what has changed, and a signature");
    type Element = u8;
}

/// Arrow 9: the update: tags that go, tags that come, and the encrypted payloads of these.
pub(super) enum Change {}

impl Stream for Change {
    const STEP: Step = step(9, Role::Sender, "the tags that go and come");
    type Element = u8;
}

/// Arrow 10: whether the client took the update.
pub(super) enum Verdict {}

impl Stream for Verdict {
    const STEP: Step = step(10, Role::Receiver, "whether the client took the update");
    type Element = u8;
}
