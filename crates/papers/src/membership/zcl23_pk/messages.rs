//! One type an arrow of the figure, and of the membership tests'.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use vesica_mpc::ot_extension::OtExtension;

use vesica_protocols::ecdh::Point;
use vesica_protocols::membership;

vesica_party::arrows! { "zcl23-pk" =>
    /// Arrow 1.
    pub(super) fixed PublicKey {
        pub(super) point: Point,
        pub(super) salt: [u8; 32],
    } = 1, Receiver, "the public key and the salt";
    /// Arrow 3: two points a cell.
    pub(super) stream Table[Point] = 3, Receiver, "the encrypted table";
    /// Arrow 5: two points an item.
    pub(super) stream Answers[Point] = 5, Sender, "a re-randomised ciphertext for each item, in the sender's order";
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
