//! One type an arrow of the figure, and of the membership tests'.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use vesica_mpc::silent_ot::SilentOt;

use vesica_protocols::membership;

vesica_party::arrows! { "gmr21" =>
    /// Arrow 1: what keys the bins, the items in them and the digests.
    pub(super) fixed Salt([u8; 32]) = 1, Sender, "the salt";
    /// Arrow 6, packed.
    pub(super) stream Digests[u8] = 6, Sender, "a digest for each bin, in the sender's order";
}

/// Arrows 7 to 9.
#[derive(Debug)]
pub enum Transfer {}

impl membership::Arrows for Transfer {
    const PROTOCOL: &'static str = "gmr21";
    const FIRST: u8 = 7;
    const PAD_CONTEXT: &'static str = "vesica v1 gmr21 2026 pad of values";
    type Ots = SilentOt;
}

vesica_party::messages![Salt];
