//! One type an arrow of the figure, of row `V`.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use super::{PointOf, Variant};

vesica_party::arrows! { V::ENTRY.id =>
    /// Arrow 1: the receiver's items under its own blinding, `b H(y)`, compressed.
    pub stream<V: Variant> Blinded[PointOf<V>] = 1, Receiver, "the receiver's masked points";
    /// Arrow 2: the same points under both blindings, `a b H(y)`, in the same order.
    pub stream<V: Variant> DoublyBlinded[PointOf<V>] = 2, Sender, "the doubly masked points";
    /// Arrow 3: the sender's tags.
    pub stream<V: Variant> Tags[u8] = 3, Sender, "the sender's sorted tags";
    /// Arrow 4: the sender's payloads, encrypted.
    pub stream<V: Variant> Payloads[u8] = 4, Sender, "the encrypted payloads";
    /// Arrow 5: proofs of the matches.
    pub stream<V: Variant> Proofs[u128] = 5, Receiver, "the proofs of matches";
}

/// Arrows 3 to 5.
pub type FinishArrows<V> = (Tags<V>, Payloads<V>, Proofs<V>);
