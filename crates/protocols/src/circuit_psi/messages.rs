//! The messages of circuit PSI itself, without those of its building blocks.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use bytemuck::{Pod, Zeroable};
use vesica_party::{Fixed, Role, Step, Stream};

/// Arrow 1: the salt `r`, which keys the bins and the items in them.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(transparent)]
pub struct Salt(pub(super) [u8; 32]);

impl Fixed for Salt {
    const STEP: Step = Step { protocol: "circuit-psi", number: 1, from: Role::Sender, carries: "the salt" };
}

/// Before the multiplexer, where a matching leaves the sender other shares of payloads than the
/// masks that it was given: how the two differ.
pub enum Differences {}

impl Stream for Differences {
    const STEP: Step =
        Step { protocol: "circuit-psi", number: 8, from: Role::Sender, carries: "differences of shares and masks" };
    type Element = u8;
}

vesica_party::messages![Salt];
