//! Permute and share for single bits: the network of [`crate::permute_share`] where values, shares
//! and messages are packed bits, and the pads of a switch are two bits.
//!
//! ```text
//!   Sender: bits v, chosen shares z                                   Receiver: order pi
//!                                                                     s = settings of the network for pi
//!   k_0, k_1 of each switch         [ random tables of two bits ]     c, k_c
//!                                1. d = c + s
//!      <------------------------------------------------------------------------
//!                                2. e = u + l + k_0 + k_1
//!      ------------------------------------------------------------------------>
//!   u, l := u + k_d, l + k_d                                          y = k_c + s e + s (u + l)
//!                                                                     u, l := u + y, l + y
//!                                3. w + z, for the first bits of the order
//!      ------------------------------------------------------------------------>
//!                                                                     its shares + w + z
//! ```
//!
//! Symbols, steps and what either side sees are those of the module above. A message has one bit a
//! switch, the third one a bit for each place that comes out: what lies at the other places stays
//! under masks that nobody uses. The network is the whole one nevertheless: every order of all
//! values has its settings.
//!
//! **The network** is Waksman's, or that of Benes, some of whose switches never cross
//! ([`vesica_structures::permutation`]). Which ones is known beforehand, and `d` is uniform whatever
//! `s` is, so that it shows nothing of the order.
//!
//! **The pads** are random tables of two bits from silent VOLE, as [`crate::random_one_of_n_ot`]
//! makes them for choices of one bit: `k_j` is the lowest bit of `H(b + delta j)`, and the receiver
//! has `c` and `a = b + delta c`. `H` breaks the correlation: the other bit of a table is one bit
//! of the hash of a point that differs from `a` by `delta`, which is pseudo-random to the receiver
//! since `H` is correlation robust (see `silent::bulk`); a bit of a pseudo-random block is
//! pseudo-random. They are made in batches, of which only the bits are kept: two for each switch on
//! either side, 6.6 MB for 1.36 million values.
//!
//! **Time.** Switches that lie side by side are worked off 64 at a time, wherever in a word they
//! begin.

pub mod circuit;
pub mod opv;
mod params;
pub mod prf;
mod receiver;
mod sender;
mod words;

use std::marker::PhantomData;
use std::ops::RangeInclusive;

use vesica_party::{CostClass, Entry, Mode, Protocol, Rounds, Status, Task};
use vesica_structures::facts::Unsupported;
use vesica_structures::permutation::Network;

use crate::permute_share::MS13;
use crate::random_one_of_n_ot::OneOfN;
use crate::tasks::{PermuteBitsRequest, PermuteShareBits};

pub use params::Params;
pub use receiver::{Receiver, Routed};
pub use sender::Sender;

/// A [`Network`] as a type: what tells rows apart.
pub trait Shape: 'static {
    /// The network that the type stands for.
    const NETWORK: Network;
}

/// Waksman's network.
#[derive(Debug)]
pub enum Waksman {}

impl Shape for Waksman {
    const NETWORK: Network = Network::Waksman;
}

/// The network of Benes.
#[derive(Debug)]
pub enum Benes {}

impl Shape for Benes {
    const NETWORK: Network = Network::Benes;
}

/// Permute and share for single bits.
#[derive(Debug)]
pub struct BitNetwork<N = Waksman>(PhantomData<fn() -> N>);

impl<N: Shape> Protocol for BitNetwork<N> {
    const ENTRY: Entry = Entry {
        id: match N::NETWORK {
            Network::Waksman => "permute-share-1",
            Network::Benes => "permute-share-1-benes",
        },
        aliases: &[],
        variants: &[],
        task: PermuteShareBits::NAME,
        paper: MS13,
        status: match N::NETWORK {
            Network::Waksman => Status::Recommended,
            Network::Benes => Status::Sound,
        },
        cost: CostClass::Symmetric,
        map_and_compare: None,
        deviations: &[
            "one random table of two bits a switch, whose choice is corrected by one bit, instead of a chosen OT of \
             two elements: both outputs get the same share of what the switch adds to them",
            "the sender chooses its shares, which costs one bit a value and makes them fresh whatever the network did",
            match N::NETWORK {
                Network::Waksman => {
                    "Waksman's network for any number of wires, instead of a Benes network of a power of two"
                }
                Network::Benes => {
                    "a Benes network for any number of wires (Chang, Melhem 1997), instead of one of a power of two"
                }
            },
        ],
        modes: &[Mode { rounds: Rounds::between(3, 5), ..<OneOfN as Protocol>::ENTRY.modes[0] }],
    };
    type Task = PermuteShareBits;
    type Params = Params;
    type Sender = Sender;
    type Receiver = Receiver;

    fn derive(request: &PermuteBitsRequest) -> Result<Params, Unsupported> {
        Params::derive(request, N::NETWORK)
    }

    fn predicted_bytes(params: &Params) -> RangeInclusive<u64> {
        let bytes = params.predicted_bytes();
        bytes..=bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vesica_party::{Party, Security};
    use vesica_testkit::two_party;

    /// Choice, chosen pad and the other pad of a switch are three independent bits: nothing of the
    /// correlation is left in the lowest bits of the hashes.
    #[test]
    fn the_pad_that_the_receiver_lacks_is_a_bit_of_its_own() {
        let len = 10_000;
        let params = <BitNetwork>::derive(&PermuteBitsRequest { len, kept: len, security: Security::SemiHonest });
        let params = params.unwrap();
        let (sender, receiver) =
            two_party(|ch, rng| Sender::setup(&params, ch, rng), |ch, rng| Receiver::setup(&params, ch, rng));
        let [zero, both] = sender.pads();
        let [choices, pads] = receiver.pads();
        let mut counts = [0u32; 8];
        for (((zero, both), choice), pad) in zero.iter().zip(both.iter()).zip(choices.iter()).zip(pads.iter()) {
            assert_eq!(pad, zero ^ (both & choice));
            let other = pad ^ both;
            counts[usize::from(choice) | usize::from(pad) << 1 | usize::from(other) << 2] += 1;
        }
        let expected = f64::from(counts.iter().sum::<u32>()) / 8.0;
        // Seven degrees of freedom: 70 is passed once in 2^40 runs.
        let square: f64 = counts.iter().map(|&count| (f64::from(count) - expected).powi(2) / expected).sum();
        assert!(square < 70.0, "{counts:?}");
    }
}
