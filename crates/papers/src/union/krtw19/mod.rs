//! Union from simple hashing: Kolesnikov, Rosulek, Trieu, Wang, "Scalable Private Set Union from
//! Symmetric-Key Techniques" (Asiacrypt 2019). **Broken**: the receiver learns how many items are
//! common in each bin.
//!
//! ```text
//!   Sender: X                                                         Receiver: Y
//!                                1. salt
//!      ------------------------------------------------------------------------>
//!   x in its bin, the bin's places in a random                        y in its bin
//!   order and filled up with random points;
//!   x_ij the point at place j of bin i                                random s_ij for each place
//!   F_ij(x_ij)                      [ KKRT16 ]                        F_ij of each y of bin i
//!                                                                     P_ij with P_ij(y) = s_ij + F_ij(y)
//!                                                                     for each y of bin i, and random points
//!                                2. P_ij for each place
//!      <------------------------------------------------------------------------
//!   t_ij = P_ij(x_ij) + F_ij(x_ij)
//!      = s_ij if x_ij is in Y
//!   G_ij(t_ij)                      [ KKRT16 ]                        G_ij(s_ij)
//!                                3. G_ij(t_ij) for each place
//!      ------------------------------------------------------------------------>
//!                                                                     e_ij = 1 if it is G_ij(s_ij)
//!                                 [ 4 and 5: arrows I and II of the membership tests ]
//! ```
//!
//! | paper | here | what |
//! |---|---|---|
//! | `S`, `R` | sender, receiver | `R` learns the union |
//! | RPMT | steps 2 and 3 | one for each place of the sender |
//! | `beta`, `m` | `params.bins`; `params.places_per_bin`, `params.coefficients` | bins, and room in them |
//! | `k`, `q`, `P`, `s`, `s*` | `F_ij`, its value, `P_ij`, `s_ij`, `t_ij` | the first OPRF and its polynomial |
//! | second OPRF | `G_ij` | the equality test |
//!
//! # The test
//!
//! The values of a polynomial are masked by `F_ij`, which the sender knows at `x_ij` alone: to the
//! sender its coefficients are uniform, as `s_ij` is. To the receiver `G_ij(t_ij)` is pseudo-random
//! where `t_ij` is not `s_ij`. So a single test shows its bit alone.
//!
//! # What leaks
//!
//! Places are shuffled within a bin, not among bins, and everyone can compute an item's bin. So the
//! receiver learns of each bin how many of *its own* items there are common: about 17 on average, at
//! a million items. A union of the same sizes tells the number for the whole set alone. In a bin with no
//! match the receiver knows that none of its items is the sender's, in one where all of its items match that
//! each of them is. A receiver that gives few items, or ones that share a bin, knows of each. JSZ22 and
//! Liu, Li and Tang (2024) discuss leaks of this kind; a test here counts.

mod entry;
pub(crate) mod messages;
pub mod params;
mod receiver;
mod sender;
#[cfg(test)]
mod tests;

use std::ops::RangeInclusive;

use vesica_mpc::bits::Bits;
use vesica_party::{Abort, Channel};
use vesica_structures::facts::Unsupported;
use vesica_structures::prf::DigestPrf;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use self::messages::Transfer;
use vesica_protocols::membership::MembershipTest;

pub use params::Params;
pub use receiver::Receiver;
pub use sender::Sender;

const OVERFLOW: Abort =
    Abort::StatisticalFailure("a bin has more items than it has room for, or two equal ones; items must be distinct");

/// The test of `krtw19`.
#[derive(Debug)]
pub enum Krtw19 {}

impl MembershipTest for Krtw19 {
    type Params = Params;
    type Sender = Sender;
    type Receiver = Receiver;
    type Arrows = Transfer;
    const HAS_EMPTY_PLACES: bool = true;

    fn derive(sender_items: usize, receiver_items: usize) -> Result<Params, Unsupported> {
        Params::derive(sender_items, receiver_items)
    }

    fn places(params: &Params) -> usize {
        params.places()
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

/// A side's items in their bins, one bin an item.
struct Bins {
    /// Items, bin after bin.
    items: Vec<u32>,
    starts: Vec<u32>,
}

impl Bins {
    /// The bins of a run, with room for `capacity` items each.
    fn new(ch: &Channel, params: &Params, salt: &[u8; 32], items: &[u128], capacity: usize) -> Result<Self, Abort> {
        let mut hasher = blake3::Hasher::new_derive_key("vesica v1 krtw19 2026 salt to bins");
        hasher.update(&ch.session()).update(salt);
        for size in [params.sender_items, params.receiver_items, params.bins] {
            hasher.update(&(size as u64).to_le_bytes());
        }
        let [key, _]: [u128; 2] = bytemuck::cast(*hasher.finalize().as_bytes());
        let mut hashes = Secret::new(vec![0; items.len()]);
        DigestPrf::new(key).eval(items, &mut hashes);
        let bin = |hash: &u128| ((u128::from((hash >> 64) as u64) * params.bins as u128) >> 64) as usize;
        let mut starts = vec![0u32; params.bins + 1];
        hashes.iter().for_each(|hash| starts[bin(hash) + 1] += 1);
        if starts.iter().any(|&load| load as usize > capacity) {
            return Err(OVERFLOW);
        }
        for bin in 0..params.bins {
            starts[bin + 1] += starts[bin];
        }
        let (mut next, mut sorted) = (starts.clone(), vec![0; items.len()]);
        for (item, hash) in (0..).zip(hashes.iter()) {
            let next = &mut next[bin(hash)];
            sorted[*next as usize] = item;
            *next += 1;
        }
        Ok(Self { items: sorted, starts })
    }

    /// The items of a bin.
    fn bin(&self, bin: usize) -> &[u32] {
        &self.items[self.starts[bin] as usize..self.starts[bin + 1] as usize]
    }

    /// The items of each bin.
    fn iter(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.starts.len() - 1).map(|bin| self.bin(bin))
    }
}
