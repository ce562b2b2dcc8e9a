//! One type an arrow of the figures.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

vesica_party::arrows! { "rr17" =>
    /// Arrow 1: the commitment to the sender's share of the salt.
    pub(super) fixed SaltCommitment([u8; 32]) = 1, Sender, "the commitment to a share of the salt";
    /// Arrow 2: the receiver's share of the salt.
    pub(super) fixed SaltShare([u8; 32]) = 2, Receiver, "a share of the salt";
    /// Arrow 3: the sender's share of the salt, which opens arrow 1.
    pub(super) fixed SaltOpening([u8; 32]) = 3, Sender, "the opened share of the salt";
    /// Arrow 4 of dual execution: the sender's tags.
    pub(super) stream Tags[u8] = 4, Sender, "the sender's sorted tags";
    /// Arrow 4 of encode-commit: a commitment and its wrapped openings for each item of the sender, in a random
    /// order. Its step is 5, which tells it from arrow 4 of dual execution.
    pub(super) stream Groups[u8] = 5, Sender, "the sender's commitments and wrapped openings";
}

vesica_party::messages![SaltCommitment, SaltShare, SaltOpening];
