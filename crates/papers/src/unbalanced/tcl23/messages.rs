//! One type an arrow of the figure, and of the membership tests'.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use vesica_mpc::silent_ot::SilentOt;
use vesica_party::{Role, Step, Stream};

use vesica_protocols::membership;

const fn step(number: u8, from: Role, carries: &'static str) -> Step {
    Step { protocol: "tcl23", number, from, carries }
}

/// Arrow 1: what keys the hash functions.
pub(super) enum Salt {}

impl Stream for Salt {
    const STEP: Step = step(1, Role::Sender, "the salt");
    type Element = u8;
}

/// Arrow 2: the seed of the sender's keys, and the first halves of its public key and of its key for
/// products.
pub(super) enum Keys {}

impl Stream for Keys {
    const STEP: Step = step(2, Role::Sender, "the sender's keys");
    type Element = u8;
}

/// Arrow 3: the seed of the encrypted powers, and for each group and exponent the first half.
pub(super) enum Question {}

impl Stream for Question {
    const STEP: Step = step(3, Role::Sender, "encrypted powers");
    type Element = u8;
}

/// Arrow 4: for each group and part the values of the polynomials under masks.
pub(super) enum Answers {}

impl Stream for Answers {
    const STEP: Step = step(4, Role::Receiver, "encrypted values under masks");
    type Element = u8;
}

/// Arrow 5: for each cell the digest of its mask under the receiver's value of the equality test.
pub(super) enum Corrections {}

impl Stream for Corrections {
    const STEP: Step = step(5, Role::Receiver, "the digests of the masks, each under a pad");
    type Element = u64;
}

/// Arrow 6: a bit for each place, eight a byte from the lowest.
pub(super) enum PermutedBits {}

impl Stream for PermutedBits {
    const STEP: Step = step(6, Role::Sender, "the sender's shares of the bins, in its order");
    type Element = u8;
}

/// Arrows 7 and 8.
#[derive(Debug)]
pub enum Transfer {}

impl membership::Arrows for Transfer {
    const PROTOCOL: &'static str = "tcl23";
    const FIRST: u8 = 7;
    const PAD_CONTEXT: &'static str = "vesica v1 tcl23 2026 pads of records";
    type Ots = SilentOt;
}
