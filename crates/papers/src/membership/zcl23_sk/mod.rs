//! mqRPMT from symmetric encryption and computing on shares: Zhang, Chen, Liu, Zhang, Lin, "Linear
//! Private Set Union from Multi-Query Reverse Private Membership Test" (USENIX Security 2023, ePrint
//! 2022/358), the instantiation with a block cipher, on LowMC.
//!
//! ```text
//!   Sender: X in a random order                                       Receiver: Y, key k, indicator s of w bits
//!                                1. salt
//!      <------------------------------------------------------------------------
//!                                                                     2. c_y = E(k, s || r_y) for y in Y, all r_y
//!                                                                        random and distinct
//!                                3. table D with Decode(D, y) = c_y
//!      <------------------------------------------------------------------------
//!   4. c_i = Decode(D, x_i)
//!                        [ 5. oblivious decryption and matching ]
//!   c_i                                                               k, s
//!                                                                     6. e_i = 1 if the decryption of c_i starts with s
//!                                [ 7 to 9: arrows I to III of the membership tests ]
//! ```
//!
//! | paper | here | what |
//! |---|---|---|
//! | sender, receiver | sender, receiver | who asks about its items, who learns the bits |
//! | the indicator string `s` | `indicator` | what ciphertexts of the receiver's items hold |
//! | `Enc(k, s; r)` | [`RoundKeys::encrypt`] of `s || r` | one block; the randomness is a part of the plaintext |
//! | OKVS of ciphertexts | [`Band`] over 128 bits | |
//! | vector oblivious decryption-then-matching | [`vesica_mpc::lowmc`] | in GMW, on shares |
//!
//! # What is learned
//!
//! - **The sender** sees the table and what GMW sends. The cipher's inputs are distinct, so that the
//!   `c_y` are those of a random permutation, which `n_r` uniform strings are too but for `n_r^2 /
//!   2^129`. An OKVS of uniform values with uniform free cells is a uniform table, whatever its keys
//!   are, but for a run that ends since they do not encode.
//! - **The receiver** sees a bit for each place, and shares that are uniform beside it. The order of
//!   the places is uniform, so that the bits tell the number of common items. It sees no value of a
//!   new item, other than in [`zcl23_pk`](super::zcl23_pk).
//! - **A wrong bit.** The block at a new item is uniform if the item's row is independent of those
//!   of the receiver's items, and otherwise the sum of several of its ciphertexts. Either way its
//!   decryption starts with `s` with probability `2^-w`. If the row is *that* of one of the receiver's
//!   items, it does so for certain; `params` keeps rows so wide that this does not count.

mod entry;
pub(crate) mod messages;
pub mod params;
mod receiver;
mod sender;
#[cfg(test)]
mod tests;

use std::ops::RangeInclusive;

use vesica_mpc::bits::Bits;
#[cfg(doc)]
use vesica_mpc::lowmc::RoundKeys;
use vesica_party::{Abort, Channel};
use vesica_structures::facts::Unsupported;
use vesica_structures::okvs::Band;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use self::messages::Transfer;
use vesica_protocols::membership::MembershipTest;

pub use params::Params;
pub use receiver::Receiver;
pub use sender::Sender;

/// The test of `zcl23-sk`.
#[derive(Debug)]
pub enum Zcl23Sk {}

/// The store that both sides derive from the salt.
fn store(params: &Params, ch: &Channel, salt: &[u8; 32]) -> Result<Band, Unsupported> {
    let session = blake3::derive_key("vesica v1 zcl23-sk 2026 salt to rows", &ch.session());
    let [seed, _]: [u128; 2] = bytemuck::cast(*blake3::keyed_hash(&session, salt).as_bytes());
    params::store(params.receiver_items, seed)
}

impl MembershipTest for Zcl23Sk {
    type Params = Params;
    type Sender = Sender;
    type Receiver = Receiver;
    type Arrows = Transfer;
    const HAS_EMPTY_PLACES: bool = false;

    fn derive(sender_items: usize, receiver_items: usize) -> Result<Params, Unsupported> {
        Params::derive(sender_items, receiver_items)
    }

    fn places(params: &Params) -> usize {
        params.sender_items
    }

    fn predicted_bytes(params: &Params) -> RangeInclusive<u64> {
        params.predicted_bytes()
    }

    fn sender(params: &Params, ch: &mut Channel, _: &mut SecretRng) -> Result<Sender, Abort> {
        Sender::setup(params, ch)
    }

    fn receiver(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Receiver, Abort> {
        Receiver::setup(params, ch, rng)
    }

    fn ask(sender: Sender, items: &[u128], ch: &mut Channel, rng: &mut SecretRng) -> Result<Secret<Vec<u32>>, Abort> {
        sender.ask(items, ch, rng)
    }

    fn test(receiver: Receiver, items: &[u128], ch: &mut Channel, rng: &mut SecretRng) -> Result<Bits, Abort> {
        receiver.test(items, ch, rng)
    }
}
