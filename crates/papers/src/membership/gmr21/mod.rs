//! Permuted characteristic: Garimella, Mohassel, Rosulek, Sadeghian, Singh, "Private Set Operations
//! from Oblivious Switching" (PKC 2021, ePrint 2021/243), with VOLE instead of its OPRFs.
//!
//! ```text
//!   Sender: X                                                         Receiver: Y
//!                                1. salt
//!      ------------------------------------------------------------------------>
//!   2. cuckoo table: x in one of its 3 bins                           3. s_j random for each bin j
//!   key H(x || k) of each full bin  [ 4: OPPRF ]                      keys H(y || k), y's three bins, value s_j
//!   t_j = s_j if the bin's item is in Y
//!                                                                     [ VOLE: a = b + delta c ]  c, a
//!   order pi of the bins          [ 5: permute and share ]            values s_j, shares c_i
//!   z_i = t_pi(i) + its share of s_pi(i)
//!      = c_i if t_pi(i) = s_pi(i)
//!   delta, b                      [ VOLE ]
//!                                6. H(b_i + delta z_i, i)
//!      ------------------------------------------------------------------------>
//!                                                                     e_i = 1 if it is H(a_i, i)
//!                                [ 7 to 9: arrows I to III of the membership tests ]
//! ```
//!
//! The receiver can evaluate the OPPRF anywhere, so that it must not see `s_j + t_j` where they
//! differ: it could try items. All that it gets of it is arrow 6, the hashes of `a_i + delta (z_i +
//! c_i)`, which are pseudo-random unless the two are equal. The sender has `s` under the random
//! `c`.
//!
//! | paper | here | what |
//! |---|---|---|
//! | sender, receiver | sender, receiver | who has the order, who learns the bits |
//! | `A`, `B` | `CuckooTable`; not listed | the tables |
//! | `s`, `t` | `targets`, `t` | what is programmed, what comes out |
//! | Permute + Share | [`vesica_mpc::permute_share`], with our roles changed round | |
//! | private equality tests | arrow 6, on a VOLE whose random `c` are the receiver's shares | |
//! | `e` | the places of common items | the permuted characteristic |
//!
//! Empty bins hold something random, and are places like others: the receiver learns nothing of
//! which bins are full.

mod entries;
pub(crate) mod messages;
pub mod params;
mod receiver;
mod sender;

use std::ops::RangeInclusive;

use vesica_mpc::bits::Bits;
use vesica_mpc::opprf::Opprf;
use vesica_mpc::oprf::outer_hash;
use vesica_party::{Abort, Channel};
use vesica_structures::facts::Unsupported;
use vesica_structures::fields::Gf128;
use vesica_structures::okvs::Band;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use self::messages::Transfer;
use vesica_protocols::bins::Hashes;
use vesica_protocols::membership::MembershipTest;

pub use params::Params;
pub use receiver::Receiver;
pub use sender::Sender;

/// The OPPRF.
type Programmable = Opprf<Band>;

/// The test of the rows of this paper.
#[derive(Debug)]
pub enum Gmr21 {}

impl MembershipTest for Gmr21 {
    type Params = Params;
    type Sender = Sender;
    type Receiver = Receiver;
    type Arrows = Transfer;
    const HAS_EMPTY_PLACES: bool = true;

    fn derive(sender_items: usize, receiver_items: usize) -> Result<Params, Unsupported> {
        Params::derive(sender_items, receiver_items)
    }

    fn places(params: &Params) -> usize {
        params.bins
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

/// The functions that both sides derive from the salt.
struct Functions {
    bins: Hashes,
    digests: u128,
}

impl Functions {
    fn derive(ch: &Channel, params: &Params, salt: &[u8; 32]) -> Self {
        let sizes = [
            params.sender_items,
            params.receiver_items,
            params.bins,
            params.sigma as usize,
            params.digest_bits as usize,
        ];
        let key = blake3::keyed_hash(&blake3::derive_key("vesica v1 gmr21 2026 digests of bins", &ch.session()), salt);
        let [digests, _]: [u128; 2] = bytemuck::cast(*key.as_bytes());
        Self { bins: Hashes::new("vesica v1 gmr21 2026 salt to keys", ch, salt, &sizes, params.bins), digests }
    }

    /// `H(x_i, i)` for the places from `first` on, `bits` bits of each.
    fn digests(&self, first: usize, x: &[Gf128], bits: u32) -> Vec<Gf128> {
        let places: Vec<u128> = (first as u128..).take(x.len()).collect();
        let mut digests = vec![0; x.len()];
        outer_hash(self.digests, &places, x, 0, &mut digests);
        digests.into_iter().map(|digest| Gf128(digest & (u128::MAX >> (128 - bits)))).collect()
    }
}
