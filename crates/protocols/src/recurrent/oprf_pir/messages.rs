//! One type an arrow of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use crate::ecdh::Point;

vesica_party::arrows! { "oprf-pir" =>
    /// Arrow 1: the seed, and the public part of the matrix.
    pub(super) stream Public[u8] = 1, Sender, "the seed, and the mask of all answers";
    /// Arrow 2: the client's blinded elements.
    pub(super) stream Blinded[Point] = 2, Receiver, "the client's blinded elements";
    /// Arrow 3: the same times the server's key.
    pub(super) stream Evaluated[Point] = 3, Sender, "the evaluated elements";
    /// Arrow 4: for each item, a packing key and weights.
    pub(super) stream Queries[u8] = 4, Receiver, "encrypted choices of a record";
    /// Arrow 5: for each item, its record, encrypted.
    pub(super) stream Answers[u8] = 5, Sender, "the chosen records, encrypted";
}
