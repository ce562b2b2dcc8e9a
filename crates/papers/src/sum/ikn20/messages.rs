//! One type an arrow of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use vesica_structures::rlwe::Element;

use super::DOMAIN;
use vesica_protocols::ecdh::{Point, exchange};

vesica_party::arrows! { "ikn20" =>
    /// Arrow 1: what sums are refreshed with.
    pub(super) stream Zeros[Element] = 1, Sender, "an encryption of zeros";
    /// Arrow 2: the receiver's items under its own blinding, compressed.
    pub(super) stream OfReceiver[Point] = 2, Receiver, "the receiver's masked points";
    /// Arrow 3: the sender's items under its own blinding, shuffled.
    pub(super) stream OfSender[Point] = 3, Sender, "the sender's masked points";
    /// Arrow 4: digests of the receiver's items under both blindings.
    pub(super) stream Digests[u8] = 4, Sender, "the sorted digests of the receiver's points";
    /// Arrow 5: the values in the order of arrow 3, encrypted.
    pub(super) stream Values[Element] = 5, Sender, "the encrypted values";
    /// Arrow 6: the masked sums, encrypted.
    pub(super) stream Sums[Element] = 6, Receiver, "the masked sums, encrypted";
    /// Arrow 7: the masked sums.
    pub(super) stream Results[u64] = 7, Sender, "the masked sums";
}

/// Arrows 2 and 3.
pub(super) enum Arrows {}

impl exchange::Arrows for Arrows {
    const DOMAIN: &'static [u8] = DOMAIN;
    type FromReceiver = OfReceiver;
    type FromSender = OfSender;
}
