//! One type an arrow of the figure, and of the membership tests'.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use bytemuck::{Pod, Zeroable};
use vesica_mpc::silent_ot::SilentOt;
use vesica_party::{Fixed, Role, Step, Stream};

use vesica_protocols::membership;

const fn step(number: u8, from: Role, carries: &'static str) -> Step {
    Step { protocol: "zcl23-sk", number, from, carries }
}

/// Arrow 1: what keys the rows of the table.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(transparent)]
pub(super) struct Salt(pub(super) [u8; 32]);

impl Fixed for Salt {
    const STEP: Step = step(1, Role::Receiver, "the salt");
}

/// Arrow 3: 16 bytes a cell.
pub(super) enum Table {}

impl Stream for Table {
    const STEP: Step = step(3, Role::Receiver, "the table of ciphertexts");
    type Element = u8;
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
