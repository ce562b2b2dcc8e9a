//! One type an arrow of the figure, and of the membership tests'.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use vesica_mpc::silent_ot::SilentOt;

use vesica_protocols::membership;

vesica_party::arrows! { "tcl23" =>
    /// Arrow 1: what keys the hash functions.
    pub(super) stream Salt[u8] = 1, Sender, "the salt";
    /// Arrow 2: the seed of the sender's keys, and the first halves of its public key and of its key for
    /// products.
    pub(super) stream Keys[u8] = 2, Sender, "the sender's keys";
    /// Arrow 3: the seed of the encrypted powers, and for each group and exponent the first half.
    pub(super) stream Question[u8] = 3, Sender, "encrypted powers";
    /// Arrow 4: for each group and part the values of the polynomials under masks.
    pub(super) stream Answers[u8] = 4, Receiver, "encrypted values under masks";
    /// Arrow 5: for each cell the digest of its mask under the receiver's value of the equality test.
    pub(super) stream Corrections[u64] = 5, Receiver, "the digests of the masks, each under a pad";
    /// Arrow 6: a bit for each place, eight a byte from the lowest.
    pub(super) stream PermutedBits[u8] = 6, Sender, "the sender's shares of the bins, in its order";
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
