//! One type an arrow of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use super::coded::OPENED_HASHES;
vesica_party::arrows! { "prty20" =>
    /// Arrow 1: the salt of all functions of items; in the malicious mode the sender's share of it, which opens arrow 6.
    pub(super) fixed Salt([u8; 32]) = 1, Sender, "the salt";
    /// Arrow 2: the table under the rows' masks, `C(D_i) + T_i + U_i`, cell by cell.
    pub(super) stream Corrections[u8] = 2, Receiver, "the receiver's masked table";
    /// Arrow 3: the sender's tags.
    pub(super) stream Tags[u8] = 3, Sender, "the sender's sorted tags";
    /// Arrow 4: the sender's payloads, encrypted.
    pub(super) stream Payloads[u8] = 4, Sender, "the encrypted payloads";
    /// Arrow 5: proofs of the matches.
    pub(super) stream Proofs[u128] = 5, Receiver, "the proofs of matches";
    /// Arrow 6 (malicious): the commitment to the sender's share of the salt.
    pub(super) fixed SaltCommitment([u8; 32]) = 6, Sender, "the commitment to a share of the salt";
    /// Arrow 7 (malicious): the receiver's share of the salt.
    pub(super) fixed SaltShare([u8; 32]) = 7, Receiver, "a share of the salt";
    /// Arrow 8 (malicious): the point of the universal hash.
    pub(super) fixed Challenge(u128) = 8, Sender, "the challenge of the consistency check";
    /// Arrow 9 (malicious): the hashes of the words, bit by bit, and then of the columns of `T`.
    pub(super) fixed Answer([u128; OPENED_HASHES]) = 9, Receiver, "the answer to the consistency check";
}

/// Arrows 3 to 5.
pub(super) type FinishArrows = (Tags, Payloads, Proofs);

vesica_party::messages![Salt, SaltCommitment, SaltShare, Challenge, Answer];
