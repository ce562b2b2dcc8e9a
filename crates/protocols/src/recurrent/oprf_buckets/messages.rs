//! One type an arrow of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use crate::ecdh::Point;

vesica_party::arrows! { "oprf-buckets" =>
    /// Arrow 1: the prefixes of the client's items, ascending.
    pub(super) stream Prefixes[u32] = 1, Receiver, "prefixes of the client's items";
    /// Arrow 2: the client's blinded elements.
    pub(super) stream Blinded[Point] = 2, Receiver, "the client's blinded elements";
    /// Arrow 3: the same times the server's key.
    pub(super) stream Evaluated[Point] = 3, Sender, "the evaluated elements";
    /// Arrow 4: for each prefix of arrow 1, its bucket.
    pub(super) stream Buckets[u8] = 4, Sender, "the buckets of the prefixes";
}
