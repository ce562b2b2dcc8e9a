//! One type an arrow of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

vesica_party::arrows! { "rt21" =>
    /// Arrow 1: the commitment to the sender's share of the salt.
    pub(super) fixed SaltCommitment([u8; 32]) = 1, Sender, "the commitment to a share of the salt";
    /// Arrow 2: the receiver's share of the salt.
    pub(super) fixed SaltShare([u8; 32]) = 2, Receiver, "a share of the salt";
    /// Arrow 3: the sender's share of the salt.
    pub(super) fixed SaltOpening([u8; 32]) = 3, Sender, "the opened share of the salt";
    /// Arrow 4: the sender's message of the key agreement, a u-coordinate.
    pub(super) fixed PublicKey([u8; 32]) = 4, Sender, "the sender's public key";
    /// Arrow 5: the receiver's table, cell by cell.
    pub(super) stream Table[u8] = 5, Receiver, "the receiver's table";
    /// Arrow 6: the sender's tags.
    pub(super) stream Tags[u8] = 6, Sender, "the sender's sorted tags";
    /// Arrow 7: the sender's payloads, encrypted.
    pub(super) stream Payloads[u8] = 7, Sender, "the encrypted payloads";
    /// Arrow 8: proofs of the matches.
    pub(super) stream Proofs[u128] = 8, Receiver, "the proofs of matches";
}

/// Arrows 6 to 8.
pub(super) type FinishArrows = (Tags, Payloads, Proofs);

vesica_party::messages![SaltCommitment, SaltShare, SaltOpening, PublicKey];
