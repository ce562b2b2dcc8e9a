//! One type an arrow of the figure, and of the membership tests'.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use bytemuck::{Pod, Zeroable};
use vesica_mpc::silent_ot::SilentOt;
use vesica_party::{Fixed, Role, Step, Stream};

use crate::membership;
use crate::union::oprf;

const fn step(number: u8, from: Role, carries: &'static str) -> Step {
    Step { protocol: "jsz22-r", number, from, carries }
}

/// Arrow 1: what keys the bins and the OPRF's functions.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(transparent)]
pub(super) struct Salt(pub(super) [u8; 32]);

impl Fixed for Salt {
    const STEP: Step = step(1, Role::Sender, "the salt");
}

/// Arrow 2, packed.
pub(super) enum Table {}

impl Stream for Table {
    const STEP: Step = step(2, Role::Receiver, "the masked table");
    type Element = u8;
}

/// Arrows 1 and 2.
pub(super) enum Oprf {}

impl oprf::Arrows for Oprf {
    type Salt = Salt;
    type Table = Table;
    const KEYS: &'static str = "vesica v1 jsz22-r 2026 salt to keys of the OPRF";
    const FORK: &'static str = "jsz22-r oprf";
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

vesica_party::messages![Salt];
