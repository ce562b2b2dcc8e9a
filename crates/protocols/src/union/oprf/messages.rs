//! One type an arrow of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use bytemuck::{Pod, Zeroable};
use vesica_party::{Fixed, Role, Step, Stream};

const fn step(number: u8, from: Role, carries: &'static str) -> Step {
    Step { protocol: "union-oprf", number, from, carries }
}

/// Arrow 1: what keys the OPRF's functions.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(transparent)]
pub struct Salt(pub(super) [u8; 32]);

impl Fixed for Salt {
    const STEP: Step = step(1, Role::Sender, "the salt");
}

/// Arrow 2, packed.
pub enum Table {}

impl Stream for Table {
    const STEP: Step = step(2, Role::Receiver, "the masked table");
    type Element = u8;
}

vesica_party::messages![Salt];
