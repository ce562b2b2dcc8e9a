//! One type an arrow of the figure, and of the membership tests'.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use bytemuck::{Pod, Zeroable};
use vesica_mpc::silent_ot::SilentOt;
use vesica_party::{Fixed, Role, Step, Stream};

use vesica_protocols::membership;

const fn step(number: u8, from: Role, carries: &'static str) -> Step {
    Step { protocol: "gmr21", number, from, carries }
}

/// Arrow 1: what keys the bins, the items in them and the digests.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(transparent)]
pub(super) struct Salt(pub(super) [u8; 32]);

impl Fixed for Salt {
    const STEP: Step = step(1, Role::Sender, "the salt");
}

/// Arrow 6, packed.
pub(super) enum Digests {}

impl Stream for Digests {
    const STEP: Step = step(6, Role::Sender, "a digest for each bin, in the sender's order");
    type Element = u8;
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
