//! One type an arrow of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use vesica_mpc::ot_extension::OtExtension;

use crate::ecdh::{Point, exchange};
use crate::membership;

vesica_party::arrows! { "czz24" =>
    /// Arrow 1: the receiver's items under its own blinding, compressed.
    pub(super) stream OfReceiver[Point] = 1, Receiver, "the receiver's masked points";
    /// Arrow 2: the sender's items under its own blinding, shuffled.
    pub(super) stream OfSender[Point] = 2, Sender, "the sender's masked points";
    /// Arrow 3: digests of the receiver's items under both blindings.
    pub(super) stream Digests[u8] = 3, Sender, "the sorted digests of the receiver's points";
}

/// Arrows 1 and 2.
pub(super) enum DoubleBlinding {}

impl exchange::Arrows for DoubleBlinding {
    const DOMAIN: &'static [u8] = b"vesica-v1-czz24-with-ristretto255_XMD:SHA-512_R255MAP_RO_";
    type FromReceiver = OfReceiver;
    type FromSender = OfSender;
}

/// Arrows 4 to 6.
#[derive(Debug)]
pub enum Transfer {}

impl membership::Arrows for Transfer {
    const PROTOCOL: &'static str = "czz24";
    const FIRST: u8 = 4;
    const PAD_CONTEXT: &'static str = "vesica v1 czz24 2026 pad of values";
    type Ots = OtExtension;
}
