//! One type an arrow of the figure, those of the OPRF apart.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use vesica_mpc::silent_ot::SilentOt;
use vesica_party::{Role, Step, Stream};

use vesica_protocols::membership;

const fn step(number: u8, from: Role, carries: &'static str) -> Step {
    Step { protocol: "cssw25", number, from, carries }
}

/// Arrow 3: a bit for each bin, eight a byte from the lowest.
pub(super) enum MaskedShares {}

impl Stream for MaskedShares {
    const STEP: Step = step(3, Role::Receiver, "the masked shares of bins");
    type Element = u8;
}

/// Arrow 4: a bit for each place.
pub(super) enum PermutedBits {}

impl Stream for PermutedBits {
    const STEP: Step = step(4, Role::Sender, "the masked bits, in the sender's order");
    type Element = u8;
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
