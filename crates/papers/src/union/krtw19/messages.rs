//! One type an arrow of the figure, and of the membership tests'.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use bytemuck::{Pod, Zeroable};
use vesica_mpc::ot_extension::OtExtension;
use vesica_party::{Fixed, Role, Step, Stream};

use vesica_protocols::membership;

const fn step(number: u8, from: Role, carries: &'static str) -> Step {
    Step { protocol: "krtw19", number, from, carries }
}

/// Arrow 1: what keys the bins.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(transparent)]
pub(super) struct Salt(pub(super) [u8; 32]);

impl Fixed for Salt {
    const STEP: Step = step(1, Role::Sender, "the salt");
}

/// Arrow 2: for each place, bin after bin, a polynomial's coefficients, the lowest one first.
pub(super) enum Polynomials {}

impl Stream for Polynomials {
    const STEP: Step = step(2, Role::Receiver, "the polynomials");
    type Element = u128;
}

/// Arrow 3, packed.
pub(super) enum Values {}

impl Stream for Values {
    const STEP: Step = step(3, Role::Sender, "a value of the second OPRF for each place");
    type Element = u8;
}

/// Arrows 4 and 5.
#[derive(Debug)]
pub enum Transfer {}

impl membership::Arrows for Transfer {
    const PROTOCOL: &'static str = "krtw19";
    const FIRST: u8 = 4;
    const PAD_CONTEXT: &'static str = "vesica v1 krtw19 2026 pads of records";
    type Ots = OtExtension;
}

vesica_party::messages![Salt];
