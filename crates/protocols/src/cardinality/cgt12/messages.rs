//! One type an arrow of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use crate::ecdh::Point;

vesica_party::arrows! { "ecdh-ca-cgt12" =>
    /// Arrow 1: the receiver's items under its own blinding, compressed.
    pub(super) stream Blinded[Point] = 1, Receiver, "the receiver's masked points";
    /// Arrow 2: the same points under both blindings, ascending.
    pub(super) stream DoublyBlinded[Point] = 2, Sender, "the doubly masked points";
    /// Arrow 3: the digests of the sender's items.
    pub(super) stream Digests[u8] = 3, Sender, "the sender's sorted digests";
}
