//! One type an arrow of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

vesica_party::arrows! { "cm20" =>
    /// Arrow 1: the key `k` of all functions of items.
    pub(super) fixed Key([u8; 32]) = 1, Receiver, "the key of the places";
    /// Arrow 2: `G(k_j[0]) + D_j + G(k_j[1])`, column by column.
    pub(super) stream Columns[u128] = 2, Receiver, "the receiver's masked columns";
    /// Arrow 3: the sender's tags.
    pub(super) stream Tags[u8] = 3, Sender, "the sender's sorted tags";
    /// Arrow 4: the sender's payloads, encrypted.
    pub(super) stream Payloads[u8] = 4, Sender, "the encrypted payloads";
    /// Arrow 5: proofs of the matches.
    pub(super) stream Proofs[u128] = 5, Receiver, "the proofs of matches";
}

/// Arrows 3 to 5.
pub(super) type FinishArrows = (Tags, Payloads, Proofs);

vesica_party::messages![Key];
