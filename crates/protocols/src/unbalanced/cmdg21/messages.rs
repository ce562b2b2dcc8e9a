//! One type an arrow of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use crate::ecdh::Point;

vesica_party::arrows! { "cmdg21" =>
    /// Arrow 1: the seed of the client's key for products, and its first halves.
    pub(super) stream ProductKey[u8] = 1, Receiver, "the client's key for products";
    /// Arrow 2: the client's blinded elements.
    pub(super) stream Blinded[Point] = 2, Receiver, "the client's blinded elements";
    /// Arrow 3: the same times the server's key.
    pub(super) stream Evaluated[Point] = 3, Sender, "the evaluated elements";
    /// Arrow 4: the seed of the encrypted powers, and for each group and exponent the first half.
    pub(super) stream Question[u8] = 4, Receiver, "encrypted powers";
    /// Arrow 5: for each group and part, the value of the polynomials, then those of labels.
    pub(super) stream Answers[u8] = 5, Sender, "encrypted values of polynomials";
}
