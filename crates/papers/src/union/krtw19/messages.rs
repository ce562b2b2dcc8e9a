//! One type an arrow of the figure, and of the membership tests'.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use vesica_mpc::ot_extension::OtExtension;

use vesica_protocols::membership;

vesica_party::arrows! { "krtw19" =>
    /// Arrow 1: what keys the bins.
    pub(super) fixed Salt([u8; 32]) = 1, Sender, "the salt";
    /// Arrow 2: for each place, bin after bin, a polynomial's coefficients, the lowest one first.
    pub(super) stream Polynomials[u128] = 2, Receiver, "the polynomials";
    /// Arrow 3, packed.
    pub(super) stream Values[u8] = 3, Sender, "a value of the second OPRF for each place";
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
