//! One type an arrow of the figure, and of the membership tests'. Arrows 1 and 2 are those of the OPRF.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use vesica_mpc::silent_ot::SilentOt;

use vesica_protocols::membership;

vesica_party::arrows! { "jsz22-r" =>
    /// Arrow 3, packed.
    pub(super) stream Values[u8] = 3, Sender, "three values of the OPRF for each item, in a random order";
}

/// Arrows 4 and 5.
#[derive(Debug)]
pub enum Transfer {}

impl membership::Arrows for Transfer {
    const PROTOCOL: &'static str = "jsz22-r";
    const FIRST: u8 = 4;
    const PAD_CONTEXT: &'static str = "vesica v1 jsz22-r 2026 pads of records";
    type Ots = SilentOt;
}
