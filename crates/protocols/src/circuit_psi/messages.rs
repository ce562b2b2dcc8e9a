//! The messages of circuit PSI itself, without those of its building blocks.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

vesica_party::arrows! { "circuit-psi" =>
    /// Arrow 1: the salt `r`, which keys the bins and the items in them.
    pub(super) fixed Salt([u8; 32]) = 1, Sender, "the salt";
    /// Before the multiplexer, where a matching leaves the sender other shares of payloads than the
    /// masks that it was given: how the two differ.
    pub stream Differences[u8] = 8, Sender, "differences of shares and masks";
}

vesica_party::messages![Salt];
