//! One type an arrow of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use vesica_mpc::ot_extension::OtExtension;
use vesica_party::{Role, Step, Stream};

use super::DOMAIN;
use crate::ecdh::{Point, exchange};
use crate::membership;

const fn step(number: u8, from: Role, carries: &'static str) -> Step {
    Step { protocol: "czz24", number, from, carries }
}

/// Arrow 1: the receiver's items under its own blinding, compressed.
pub(super) enum OfReceiver {}

impl Stream for OfReceiver {
    const STEP: Step = step(1, Role::Receiver, "the receiver's masked points");
    type Element = Point;
}

/// Arrow 2: the sender's items under its own blinding, shuffled.
pub(super) enum OfSender {}

impl Stream for OfSender {
    const STEP: Step = step(2, Role::Sender, "the sender's masked points");
    type Element = Point;
}

/// Arrows 1 and 2.
pub(super) enum DoubleBlinding {}

impl exchange::Arrows for DoubleBlinding {
    const DOMAIN: &'static [u8] = DOMAIN;
    type FromReceiver = OfReceiver;
    type FromSender = OfSender;
}

/// Arrow 3: digests of the receiver's items under both blindings.
pub(super) enum Digests {}

impl Stream for Digests {
    const STEP: Step = step(3, Role::Sender, "the sorted digests of the receiver's points");
    type Element = u8;
}

/// Arrows 4 to 6.
#[derive(Debug)]
pub enum Transfer {}

impl membership::Arrows for Transfer {
    const PROTOCOL: &'static str = "czz24";
    const FIRST: u8 = 4;
    const PAD_CONTEXT: &'static str = "vesica v1 czz24 2026 pad of values";
    type Ots = OtExtension;
}
