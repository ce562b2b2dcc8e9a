//! The messages of circuit PSI itself, without those of its building blocks.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

vesica_party::arrows! { "circuit-psi" =>
    /// Arrow 1: the salt `r`, which keys the bins and the items in them.
    pub(super) fixed Salt([u8; 32]) = 1, Sender, "the salt";
}

vesica_party::messages![Salt];
