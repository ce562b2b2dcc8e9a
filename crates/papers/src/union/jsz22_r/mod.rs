//! Union with the receiver's set shuffled: Jia, Sun, Zhou, Du, Gu, "Shuffle-based Private Set Union:
//! Faster and More Secure" (USENIX Security 2022), the protocol named `PSU^R` there.
//!
//! ```text
//!   Sender: X                                                         Receiver: Y
//!                                1. salt
//!      ------------------------------------------------------------------------>
//!                                                                     cuckoo table T: y in one of its 3 bins,
//!                                                                     a random dummy in each empty bin
//!   order pi of the bins          [ permute-share-128, roles swapped ] values T, random shares a_i
//!   a'_i = T_pi(i) + a_i
//!   key k                         [ OPRF ]                            F(k, a_i) for each i
//!                                2. A
//!      <------------------------------------------------------------------------
//!   for each x, in a random order, q_j the place of its j-th bin in pi:
//!   I = { F(k, x + a'_q) for its three q }
//!                                3. I, ascending
//!      ------------------------------------------------------------------------>
//!                                                                     e = 1 if some F(k, a_i) is in I
//!                                 [ 4 and 5: arrows I and II of the membership tests ]
//! ```
//!
//! | paper | here | what |
//! |---|---|---|
//! | `S`, `R` | sender, receiver | `R` learns the union |
//! | `Y_C`, dummy `d` | `table` | the receiver's cuckoo table |
//! | `F_PS`, Permute + Share | [`vesica_mpc::permute_share`] | the sender has the order |
//! | `F_mpOPRF` | `super::oprf` | steps 1 and 2, the sender has the key |
//! | `I_i` | arrow 3 | the three values of an item |
//! | `b_i` | `e` | whether the item is common |
//!
//! `x + a'_q = a_q` exactly if the bin that stands at place `q` holds `x`. A common item lies in one
//! of its three bins.
//!
//! # What either side sees
//!
//! **A corrupt sender** has its shares of the table, which are uniform under the receiver's random
//! `a_i`, and arrow 2 and the flips of OTs, which are uniform too.
//!
//! **A corrupt receiver** knows which of its `F(k, a_i)` came up, at which place of the sender's items
//! and as which of three values. All three are random: `pi`, the order of the items and the order of
//! pseudo-random values. Where nothing came up, the three are values of the function at points that
//! the receiver did not ask, and differ from all others. It follows from the number of common items.
//! Its bins do not show, so that no OPRF comes before the hashing.
//!
//! The values of an item are a set in the paper. In the order of the hash functions they would tell
//! which of its bins a common item lies in, and so tell items apart: the table is the receiver's own.
//!
//! What the receiver learns before the records, see [`vesica_protocols::membership`].

mod entry;
mod messages;
pub mod params;
mod receiver;
mod sender;
#[cfg(test)]
mod tests;

use std::ops::RangeInclusive;

use vesica_mpc::bits::Bits;
use vesica_party::{Abort, Channel};
use vesica_structures::facts::Unsupported;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use self::messages::Transfer;
use vesica_protocols::bins::Hashes;
use vesica_protocols::membership::MembershipTest;

pub use params::Params;
pub use receiver::Receiver;
pub use sender::Sender;

/// The test of `jsz22-r`.
#[derive(Debug)]
pub enum Jsz22R {}

impl MembershipTest for Jsz22R {
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
        let bytes = params.predicted_bytes();
        bytes..=bytes
    }

    fn sender(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Sender, Abort> {
        Sender::setup(params, ch, rng)
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

/// The bins of a run.
fn bins(ch: &Channel, params: &Params, salt: &[u8; 32]) -> Hashes {
    let sizes = [params.sender_items, params.receiver_items, params.bins];
    Hashes::new("vesica v1 jsz22-r 2026 salt to bins", ch, salt, &sizes, params.bins)
}
