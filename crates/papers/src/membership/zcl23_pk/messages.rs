//! One type an arrow of the figure, and of the membership tests'.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use bytemuck::{Pod, Zeroable};
use vesica_mpc::ot_extension::OtExtension;
use vesica_party::{Fixed, Role, Step, Stream};

use vesica_protocols::ecdh::Point;
use vesica_protocols::membership;

const fn step(number: u8, from: Role, carries: &'static str) -> Step {
    Step { protocol: "zcl23-pk", number, from, carries }
}

/// Arrow 1.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct PublicKey {
    pub(super) point: Point,
    pub(super) salt: [u8; 32],
}

impl Fixed for PublicKey {
    const STEP: Step = step(1, Role::Receiver, "the public key and the salt");
}

/// Arrow 3: two points a cell.
pub(super) enum Table {}

impl Stream for Table {
    const STEP: Step = step(3, Role::Receiver, "the encrypted table");
    type Element = Point;
}

/// Arrow 5: two points an item.
pub(super) enum Answers {}

impl Stream for Answers {
    const STEP: Step = step(5, Role::Sender, "a re-randomised ciphertext for each item, in the sender's order");
    type Element = Point;
}

/// Arrows 7 to 9.
#[derive(Debug)]
pub enum Transfer {}

impl membership::Arrows for Transfer {
    const PROTOCOL: &'static str = "zcl23-pk";
    const FIRST: u8 = 7;
    const PAD_CONTEXT: &'static str = "vesica v1 zcl23-pk 2026 pad of records";
    type Ots = OtExtension;
}

vesica_party::messages![PublicKey];
