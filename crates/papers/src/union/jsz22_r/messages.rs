//! One type an arrow of the figure, and of the membership tests'. Arrows 1 and 2 are those of the OPRF.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use vesica_mpc::silent_ot::SilentOt;
use vesica_party::{Role, Step, Stream};

use vesica_protocols::membership;

const fn step(number: u8, from: Role, carries: &'static str) -> Step {
    Step { protocol: "jsz22-r", number, from, carries }
}

/// Arrow 3, packed.
pub(super) enum Values {}

impl Stream for Values {
    const STEP: Step = step(3, Role::Sender, "three values of the OPRF for each item, in a random order");
    type Element = u8;
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
