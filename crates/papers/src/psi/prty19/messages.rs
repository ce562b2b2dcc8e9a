//! One type an arrow of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

vesica_party::arrows! { "spot-light" =>
    /// Arrow 1: the salt of all functions of items.
    pub(super) fixed Salt([u8; 32]) = 1, Sender, "the salt";
    /// Arrow 1, where the sender may cheat: the same salt, drawn by the receiver.
    pub(super) fixed ReceiverSalt([u8; 32]) = 1, Receiver, "the receiver's salt";
    /// Arrow 2: the receiver's polynomials, coefficient by coefficient.
    pub(super) stream Polynomials[u64] = 2, Receiver, "the receiver's polynomials";
    /// Arrow 2, where a table stands instead of the polynomials: cell by cell.
    pub(super) stream Table[u8] = 2, Receiver, "the receiver's table";
    /// Arrow 3: the sender's tags.
    pub(super) stream Tags[u8] = 3, Sender, "the sender's sorted tags";
    /// Arrow 4: the sender's payloads, encrypted.
    pub(super) stream Payloads[u8] = 4, Sender, "the encrypted payloads";
    /// Arrow 5: proofs of the matches.
    pub(super) stream Proofs[u128] = 5, Receiver, "the proofs of matches";
}

/// Arrows 3 to 5.
pub(super) type FinishArrows = (Tags, Payloads, Proofs);

vesica_party::messages![Salt, ReceiverSalt];
