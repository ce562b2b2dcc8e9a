//! One type an arrow of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

vesica_party::arrows! { "union-oprf" =>
    /// Arrow 1: what keys the OPRF's functions.
    pub(super) fixed Salt([u8; 32]) = 1, Sender, "the salt";
    /// Arrow 2, packed.
    pub(super) stream Table[u8] = 2, Receiver, "the masked table";
}

vesica_party::messages![Salt];
