//! One type an arrow of the figure, those of the OPRF apart.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use vesica_mpc::silent_ot::SilentOt;

use vesica_protocols::membership;

vesica_party::arrows! { "cssw25" =>
    /// Arrow 3: a bit for each bin, eight a byte from the lowest.
    pub(super) stream MaskedShares[u8] = 3, Receiver, "the masked shares of bins";
    /// Arrow 4: a bit for each place.
    pub(super) stream PermutedBits[u8] = 4, Sender, "the masked bits, in the sender's order";
}

/// Arrows 5 and 6.
#[derive(Debug)]
pub enum Transfer {}

impl membership::Arrows for Transfer {
    const PROTOCOL: &'static str = "cssw25";
    const FIRST: u8 = 5;
    const PAD_CONTEXT: &'static str = "vesica v1 cssw25 2026 pads of records";
    type Ots = SilentOt;
}
