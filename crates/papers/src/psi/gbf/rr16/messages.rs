//! One type an arrow of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

vesica_party::arrows! { "rr16" =>
    /// Arrow 1: the commitment to the sender's share of the salt.
    pub(super) fixed SaltCommitment([u8; 32]) = 1, Sender, "the commitment to a share of the salt";
    /// Arrow 2: the receiver's share of the salt.
    pub(super) fixed SaltShare([u8; 32]) = 2, Receiver, "a share of the salt";
    /// Arrow 3: the sender's share of the salt, which opens arrow 1.
    pub(super) fixed SaltOpening([u8; 32]) = 3, Sender, "the opened share of the salt";
    /// Arrow 4: the seed of the set of transfers to open.
    pub(super) fixed Challenge([u8; 16]) = 4, Sender, "the transfers to open";
    /// Arrow 5: the choice in each opened transfer, a bit each in their order, and zeros up to the length that
    /// every group has.
    pub(super) stream Choices[u8] = 5, Receiver, "the choices in opened transfers";
    /// Arrow 6: the transfer of each cell.
    pub(super) stream Injection[u8] = 6, Receiver, "the transfer of each cell";
    /// Arrow 7: the sum of the first strings of all opened transfers whose choice is zero.
    pub(super) fixed OpenedSum([u8; 16]) = 7, Receiver, "the sum of opened strings";
    /// Arrow 8: the sender's tags.
    pub(super) stream Tags[u8] = 8, Sender, "the sender's sorted tags";
    /// Arrow 9: the sender's payloads, encrypted.
    pub(super) stream Payloads[u8] = 9, Sender, "the encrypted payloads";
    /// Arrow 10: proofs of the matches.
    pub(super) stream Proofs[u128] = 10, Receiver, "the proofs of matches";
}

/// Arrows 8 to 10.
pub(super) type FinishArrows = (Tags, Payloads, Proofs);

vesica_party::messages![SaltCommitment, SaltShare, SaltOpening, Challenge, OpenedSum];
