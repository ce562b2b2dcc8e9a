//! One type an arrow of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

vesica_party::arrows! { "vole-psi" =>
    /// Arrow 1 (malicious): the commitment to the sender's share of the salt.
    pub(super) fixed SaltCommitment([u8; 32]) = 1, Sender, "the commitment to a share of the salt";
    /// Arrow 2 (malicious): the receiver's share of the salt.
    pub(super) fixed SaltShare([u8; 32]) = 2, Receiver, "a share of the salt";
    /// Arrow 3: the sender's share of the salt; in the malicious mode it opens arrow 1.
    pub(super) fixed SaltOpening([u8; 32]) = 3, Sender, "the opened share of the salt";
    /// Arrow 4 (malicious): the commitment to `w_s`.
    pub(super) fixed OffsetCommitment([u8; 32]) = 4, Sender, "the commitment to its offset";
    /// Arrow 5: the receiver's table under the VOLE's tag, `A = P + c`.
    pub(super) stream Table[u8] = 5, Receiver, "the masked table";
    /// Arrow 6 (malicious): `w_r`.
    pub(super) fixed OffsetShare([u8; 16]) = 6, Receiver, "its offset";
    /// Arrow 7 (malicious): `w_s` and the 32 bytes that its commitment hides it with.
    pub(super) fixed OffsetOpening([u8; 48]) = 7, Sender, "the opened offset";
    /// Arrow 8: the sender's tags.
    pub(super) stream Tags[u8] = 8, Sender, "the sender's tags";
    /// Arrow 9: the sender's payloads, encrypted.
    pub(super) stream Payloads[u8] = 9, Sender, "the encrypted payloads";
    /// Arrow 10: proofs of the matches.
    pub(super) stream Proofs[u128] = 10, Receiver, "the proofs of matches";
}

/// Arrows 8 to 10.
pub(super) type FinishArrows = (Tags, Payloads, Proofs);

vesica_party::messages![SaltCommitment, SaltShare, SaltOpening, OffsetCommitment, OffsetShare, OffsetOpening];
