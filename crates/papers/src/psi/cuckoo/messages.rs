//! One type an arrow of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

vesica_party::arrows! { "psi-cuckoo" =>
    /// Arrow 1: the salt of the functions of items.
    pub(super) fixed Salt([u8; 32]) = 1, Sender, "the salt";
    /// Arrow 2: the sender's tags.
    pub(super) stream Tags[u8] = 2, Sender, "the sender's sorted tags";
    /// Arrow 3: the sender's payloads, encrypted.
    pub(super) stream Payloads[u8] = 3, Sender, "the encrypted payloads";
    /// Never sent: both sides do not learn.
    pub(super) stream Proofs[u128] = 4, Receiver, "the proofs of matches";
}

/// Arrows 2 and 3.
pub(super) type FinishArrows = (Tags, Payloads, Proofs);

vesica_party::messages![Salt];
