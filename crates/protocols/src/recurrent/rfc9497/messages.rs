//! One type an arrow of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use crate::ecdh::Point;

vesica_party::arrows! { "oprf-rfc9497" =>
    /// Arrow 1: the server's public key, `pkS`.
    pub(super) stream Key[Point] = 1, Sender, "the server's public key";
    /// Arrow 2: the public key that signs updates, and the number of the set's version.
    pub(super) stream Edition[u8] = 2, Sender, "the key of updates, and the set's version";
    /// Arrow 3: the tags of the server's set.
    pub(super) stream Tags[u8] = 3, Sender, "the server's sorted tags";
    /// Arrow 4: the server's payloads, encrypted.
    pub(super) stream Payloads[u8] = 4, Sender, "the encrypted payloads";
    /// Arrow 5: the client's blinded elements.
    pub(super) stream Blinded[Point] = 5, Receiver, "the client's blinded elements";
    /// Arrow 6: the same times the server's key.
    pub(super) stream Evaluated[Point] = 6, Sender, "the evaluated elements";
    /// Arrow 7: for each chunk of arrow 6, the challenge and the response of its proof.
    pub(super) stream Proofs[Point] = 7, Sender, "proofs of the server's key";
    /// Arrow 8: what an update is, and its signature.
    pub(super) stream Head[u8] = 8, Sender, "what has changed, and a signature";
    /// Arrow 9: the update: tags that go, tags that come, and the encrypted payloads of these.
    pub(super) stream Change[u8] = 9, Sender, "the tags that go and come";
    /// Arrow 10: whether the client took the update.
    pub(super) stream Verdict[u8] = 10, Receiver, "whether the client took the update";
}
