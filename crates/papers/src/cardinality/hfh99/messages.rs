//! One type an arrow of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use vesica_protocols::ecdh::{Point, exchange};

vesica_party::arrows! { "ecdh-ca-hfh99" =>
    /// Arrow 1: the receiver's items under its own blinding, compressed.
    pub(super) stream OfReceiver[Point] = 1, Receiver, "the receiver's masked points";
    /// Arrow 2: the sender's items under its own blinding, shuffled.
    pub(super) stream OfSender[Point] = 2, Sender, "the sender's masked points";
    /// Arrow 3: the receiver's items under both blindings, ascending.
    pub(super) stream DoublyBlinded[Point] = 3, Sender, "the receiver's points under both masks";
}

/// Arrows 1 and 2.
pub(super) enum Arrows {}

impl exchange::Arrows for Arrows {
    const DOMAIN: &'static [u8] = b"vesica-v1-ecdh-ca-hfh99-with-ristretto255_XMD:SHA-512_R255MAP_RO_";
    type FromReceiver = OfReceiver;
    type FromSender = OfSender;
}
