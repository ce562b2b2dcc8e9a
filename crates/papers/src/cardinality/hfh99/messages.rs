//! One type an arrow of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use vesica_party::{Role, Step, Stream};

use vesica_protocols::ecdh::{Point, exchange};

const fn step(number: u8, from: Role, carries: &'static str) -> Step {
    Step { protocol: "ecdh-ca-hfh99", number, from, carries }
}

/// Arrow 1: the receiver's items under its own blinding, compressed.
pub(super) enum OfReceiver {}

impl Stream for OfReceiver {
    const STEP: Step = step(1, Role::Receiver, "the receiver's masked points");
    type Element = Point;
}

/// Arrow 2: the sender's items under its own blinding, shuffled.
pub(super) enum OfSender {}

impl Stream for OfSender {
    const STEP: Step = step(2, Role::Sender, "the sender's masked points");
    type Element = Point;
}

/// Arrow 3: the receiver's items under both blindings, ascending.
pub(super) enum DoublyBlinded {}

impl Stream for DoublyBlinded {
    const STEP: Step = step(3, Role::Sender, "the receiver's points under both masks");
    type Element = Point;
}

/// Arrows 1 and 2.
pub(super) enum Arrows {}

impl exchange::Arrows for Arrows {
    const DOMAIN: &'static [u8] = b"vesica-v1-ecdh-ca-hfh99-with-ristretto255_XMD:SHA-512_R255MAP_RO_";
    type FromReceiver = OfReceiver;
    type FromSender = OfSender;
}
