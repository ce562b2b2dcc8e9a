//! Permute and share for single bits by oblivious punctured vectors: Chase, Ghosh and Poburinnaya
//! (Asiacrypt 2020), who translate shares of a few values by punctured vectors, and compose that along a
//! Benes network to a permutation of all values.
//!
//! ```text
//!   Sender: bits v, chosen shares z                                   Receiver: order pi
//!                                                                     pi = pi_L ... pi_1, layers of permutations
//!                                                                     of four wires
//!   pads of each vector's OTs       [ random OTs, two a vector ]      choices and chosen pads
//!                                1. flips
//!      <------------------------------------------------------------------------
//!   for each four wires of a layer: vectors V_0 .. V_3 of four bits   V_i but for bit pi_l(i)
//!                                2. sums of each vector's even and of its odd bits, under pads
//!      ------------------------------------------------------------------------>
//!   a_l(j) = sum over i of V_i(j)
//!   b_l(i) = sum over j of V_i(j)                                     Delta_l(i) = a_l(pi_l(i)) + b_l(i)
//!                                3. v + a_1, b_1 + a_2, ..., b_L + z
//!      ------------------------------------------------------------------------>
//!                                                                     x_0 = 0
//!                                                                     x_l = pi_l(x_{l-1} + link) + Delta_l
//!                                                                     x_L + last link
//! ```
//!
//! `x_l` is `pi_l(..pi_1(v)) + b_l`, so that the last line is `pi(v) + z`.
//!
//! **Share translation.** Bit `pi_l(i)` of `V_i` is the one term that `a_l(pi_l(i))` and
//! `b_l(i)` have in common, and the only one of either that the receiver lacks: it has
//! `Delta_l(i) = sum over i' != i of V_i'(pi_l(i)) + sum over j != pi_l(i) of V_i(j)`.
//!
//! **A vector** is a GGM tree of two levels, whose leaves are bits. Its two inner nodes are the pads of
//! the first OT: they would be expanded to two bits each and serve nothing else, so that two bits of
//! each pad are the leaves. Of the sums of even leaves and of odd leaves the receiver gets one, by the
//! second OT. The receiver's choice is the path to the bit that it must not have: it gets the other
//! half by the first OT, and by the second one the sum in which the punctured bit is not.
//!
//! **What either side sees.** The sender sees flips under random choices. To the receiver the bits at
//! which the vectors are punctured are uniform and independent: each is one bit of a pad that it did
//! not choose, `H` being correlation robust (see `silent::bulk`), and so is the other half of the pads
//! of sums. So `a_l` is uniform given all that the receiver has of layer `l`, and hides what
//! enters a layer, be it `v` or `b_{l-1}`. `b_L` is hidden by `z`, which is uniform.
//!
//! **The whole is one permutation.** The layers are those of a network in which every order of all
//! values has its place (`network.rs`); layers, blocks and groups depend on the number of values
//! alone.

mod messages;
mod network;
mod params;
mod receiver;
mod sender;

use std::ops::RangeInclusive;

use vesica_party::{CostClass, Entry, Mode, Protocol, Rounds, Status, Task};
use vesica_structures::facts::{Paper, Unsupported};

use crate::silent::bulk;
use crate::tasks::{PermuteBitsRequest, PermuteShareBits};

pub use params::Params;
pub use receiver::Receiver;
pub use sender::Sender;

/// Permute and share for single bits by oblivious punctured vectors.
#[derive(Debug)]
pub enum PuncturedVectors {}

impl Protocol for PuncturedVectors {
    const ENTRY: Entry = Entry {
        id: "permute-share-1-opv",
        aliases: &[],
        variants: &[],
        task: PermuteShareBits::NAME,
        paper: Paper {
            key: "CGP20",
            title: "Secret-Shared Shuffle",
            reference: "M. Chase, E. Ghosh, O. Poburinnaya. Asiacrypt 2020, ePrint 2019/1340",
        },
        status: Status::Sound,
        cost: CostClass::Symmetric,
        map_and_compare: None,
        deviations: &[
            "vectors of four bits, so that no level of a tree sends more than bits: larger vectors send 580 MB or \
             more for the 1.36 million bins of 2^20 items, where these send 21",
            "the leaves are two bits of an OT's pad, instead of a generator's output on it",
            "random OTs whose choices are corrected by one bit, instead of chosen ones",
            "a network of radix four for any number of wires, instead of a Benes network of a power of two whose \
             levels are grouped",
            "the sender chooses its shares, which costs one bit a value",
        ],
        modes: &[Mode { rounds: Rounds::between(3, 5), ..bulk::SEMI_HONEST }],
    };
    type Task = PermuteShareBits;
    type Params = Params;
    type Sender = Sender;
    type Receiver = Receiver;

    fn derive(request: &PermuteBitsRequest) -> Result<Params, Unsupported> {
        Params::derive(request)
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

    /// The receiver has the pad of its choice, and the other one is two bits that are independent of it:
    /// a punctured bit is a bit of such a pad.
    #[test]
    fn the_pad_that_the_receiver_lacks_is_two_bits_of_its_own() {
        let request = PermuteBitsRequest { len: 3000, kept: 3000, security: Security::SemiHonest };
        let params = PuncturedVectors::derive(&request).unwrap();
        let (sender, receiver) =
            two_party(|ch, rng| Sender::setup(&params, ch, rng), |ch, rng| Receiver::setup(&params, ch, rng));
        let mut counts = [0u32; 32];
        let ots = 2 * params.vectors();
        for at in 0..ots {
            let choice = receiver.choices.word_at(at) as usize & 1;
            let bits = |pad: &[super::super::words::Words; 2]| {
                (pad[0].word_at(at) as usize & 1) | (pad[1].word_at(at) as usize & 1) << 1
            };
            let chosen = bits(&receiver.chosen);
            assert_eq!(chosen, bits(&sender.pads[choice]));
            counts[choice | chosen << 1 | bits(&sender.pads[1 - choice]) << 3] += 1;
        }
        let expected = ots as f64 / 32.0;
        let square: f64 = counts.iter().map(|&count| (f64::from(count) - expected).powi(2) / expected).sum();
        // 31 degrees of freedom: 120 is passed less than once in 2^38 runs.
        assert!(square < 120.0, "{counts:?}");
    }
}
