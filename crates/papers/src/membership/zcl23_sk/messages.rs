//! One type an arrow of the figure, and of the membership tests'.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use vesica_mpc::silent_ot::SilentOt;

use vesica_protocols::membership;

vesica_party::arrows! { "zcl23-sk" =>
    /// Arrow 1: what keys the rows of the table.
    pub(super) fixed Salt([u8; 32]) = 1, Receiver, "the salt";
    /// Arrow 3: 16 bytes a cell.
    pub(super) stream Table[u8] = 3, Receiver, "the table of ciphertexts";
}

/// Arrows 7 to 9.
#[derive(Debug)]
pub enum Transfer {}

impl membership::Arrows for Transfer {
    const PROTOCOL: &'static str = "zcl23-sk";
    const FIRST: u8 = 7;
    const PAD_CONTEXT: &'static str = "vesica v1 zcl23-sk 2026 pad of records";
    type Ots = SilentOt;
}

vesica_party::messages![Salt];
