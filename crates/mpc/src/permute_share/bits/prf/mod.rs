//! Permute and share for single bits by a weak PRF with oblivious evaluation: the permutation
//! correlations of Peceny, Raghuraman, Rindal and Shah (ePrint 2024/547), with the
//! alternating-moduli function of Alamati, Policharla, Raghuraman and Rindal (CRYPTO 2024, ePrint
//! 2024/582). Chandran, Schneider, Stillger and Weinert (ASIACCS 2025, section 6.3.2) make share
//! translation from it.
//!
//! ```text
//!   Sender: bits v, chosen shares z                                   Receiver: order pi
//!
//!   key k of 512 bits, seeds s_j,k_j    [ random OTs, one a key bit ]     seeds s_j,0 and s_j,1
//!   tables T of four bits               [ random tables ]                 choices c, and T[c]
//!             both: inputs x_0, x_1, .. of 512 bits, and a matrix A over F_3 of 64 rows
//!
//!   for each place i that comes out, with x = x_pi(i), all sums of vectors modulo 3:
//!                                                                     P_j,b = trits of the stream of s_j,b
//!                                1. t_j = P_j,0 - P_j,1 + x_j
//!      <------------------------------------------------------------------------
//!   h_j = P_j,k_j + k_j t_j                                           h'_j = - P_j,0
//!   b = A h                                                           a = A h'
//!                                2. c + a
//!      <------------------------------------------------------------------------
//!                                3. what the shares of the parities need (convert.rs)
//!      ------------------------------------------------------------------------>
//!   y = sum of its 64 shares                                          y' = sum of its 64 shares
//!
//!   for all places:
//!                                4. v_j + F_k(x_j) for each bit j, and y_i + z_i
//!      ------------------------------------------------------------------------>
//!                                                                     v_pi(i) + F_k(x_pi(i)) + y'_i + y_i + z_i
//! ```
//!
//! `F_k(x)` is the parity of `A (k . x)`: bits are multiplied one by one, the product with `A` is
//! reduced modulo 3, and the 64 remainders' lowest bits are added up modulo 2. The sender's and the
//! receiver's trits add up to that product, `h + h' = k . x`, so that the last line is `v_pi(i) +
//! z_i`.
//!
//! | paper | here |
//! |---|---|
//! | sender of permutation correlations, with `pi` | receiver |
//! | receiver, with the key | sender |
//! | `A`, `B` | `Matrix`; a row of `B` is a sum of 64 trits' parities |
//! | `A`, `B`, `C` of a correlation `pi(A) = B + C` | `F_k(x)`, `y`, `y'` |
//! | `a`, `b`, `Delta` of CSSW25 | `v`, `z`, the receiver's output |
//!
//! The paper makes a correlation of random bits first: `v` and `z` are random there, and inputs
//! come in later. Here `v` and `z` are inputs from the start, which arrow 4 brings in.
//!
//! **One bit of the function.** The paper's function has 256 trits, a uniform matrix `B` of 128
//! rows over F_2 and 128 bits of output. Only one bit of it is used. Output bits can be added up by
//! everybody, so that the function is as good a weak PRF with `B` in systematic form, as in the
//! authors' implementation. Half of `B` is then the identity matrix; some row has 64 ones, but for
//! one `B` of ten thousand (a test of `params.rs` computes that). The row's output bit needs 64
//! trits of 256. The rows of `A` that make them are uniform, since `B` says nothing of `A`. So
//! whoever tells `F` from random bits also tells the paper's function for uniform `A` and `B`, and
//! other trits need not be made. A code word of `B` with yet fewer ones would pass the same
//! argument; we take no such step, since what is assumed of `F` itself is then assumed of fewer and
//! fewer trits. docs/parameters/permutations.md says what is known of 64.
//!
//! **What the sender sees.** Of each pair of seeds it lacks one, so that the trits of arrow 1 are
//! pseudo-random to it, whatever `x` is. No place of a stream serves twice. The choices that mask
//! arrow 2 are hidden by silent VOLE. So a simulator for the sender draws both arrows at random;
//! they are as many for every order.
//!
//! **What the receiver sees.** The OTs show nothing of the key. Arrow 3 and the receiver's shares
//! are uniform to it, since it lacks three bits of each table (`convert.rs`): so the products, and
//! thereby the key, show in nothing but the values `F_k(x_j)` of arrow 4. `F` is a weak PRF, the
//! inputs are uniform and there is one for each bit, so that the first part of arrow 4 is
//! pseudo-random, whatever `v` is. A simulator draws it at random, and takes for the second part
//! what leads to the receiver's output. A receiver that knows some of `v` knows some values of `F`:
//! in `cssw25` it does, those of empty bins, a quarter of all. What hides the rest is that `F` is a
//! weak PRF, of which known values say nothing about others.
//!
//! **Inputs** are 512 bits of AES each, at distinct blocks under a key that hashes the messages of
//! both sides. As AES is modelled as a random permutation, they are uniform and known to both
//! sides; 2^24 blocks are told from uniform ones with 2^-81. A weak PRF needs no more: nobody
//! chooses an input.
//!
//! **One key a run.** The choices of the OTs are the key, 512 pseudo-random bits (see
//! [`crate::ot_extension`] for what a search for them takes). With the run end the
//! key, the seeds, the inputs and `A`. There are fewer than 2^22 inputs to a key, and one bit of
//! output for each.
//!
//! **Semi-honest.** Nothing checks that the receiver's trits are those of the inputs in some order,
//! nor that the sender's answers belong to its key. A receiver that chose inputs could learn the
//! key.
//!
//! **Time and addresses.** The receiver reads bits of arrow 4 in its order, and checks the order at
//! addresses that follow from it, as it does in the other networks.

mod batch;
mod convert;
mod function;
mod messages;
mod params;
mod receiver;
mod sender;
mod trits;

use std::ops::RangeInclusive;

use vesica_party::{Assumption, CostClass, Entry, Mode, Protocol, Rounds, Status, Task, assume, assumptions};
use vesica_structures::facts::{Paper, Unsupported};

use crate::silent::bulk;
use crate::tasks::{PermuteBitsRequest, PermuteShareBits};

pub use params::Params;
pub use receiver::Receiver;
pub use sender::Sender;

/// Permute and share for single bits by a weak PRF.
#[derive(Debug)]
pub enum WeakPrf {}

/// What the function rests on.
const ALTERNATING_MODULI: Assumption = Assumption::new(
    "the alternating-moduli function B (A (k . x) mod 3) mod 2 of APRR24, with uniform A and B, 512 key bits, 256 trits and \
     128 output bits, is a weak PRF for 2^22 uniform inputs of 512 bits (one output bit of each is used)",
);

impl Protocol for WeakPrf {
    const ENTRY: Entry = Entry {
        id: "permute-share-1-prf",
        aliases: &[],
        variants: &[],
        task: PermuteShareBits::NAME,
        paper: Paper {
            key: "PRRS24",
            title: "Efficient Permutation Correlations and Batched Random Access for Two-Party Computation",
            reference: "S. Peceny, S. Raghuraman, P. Rindal, H. Shah. ePrint 2024/547; the function: N. Alamati, G.-V. \
                        Policharla, S. Raghuraman, P. Rindal. CRYPTO 2024, ePrint 2024/582",
        },
        status: Status::Sound,
        cost: CostClass::Symmetric,
        map_and_compare: None,
        deviations: &[
            "one output bit, and only the 64 of 256 trits that it needs: those of a row of the matrix B in systematic \
             form, which has as many ones",
            "a uniform matrix A for each run, instead of the fixed structured one of the authors' implementation",
            "inputs of 512 pseudo-random bits, instead of shorter ones that are expanded",
            "parities by a random table of four bits a trit, whose choice is corrected by two bits, and of which two \
             more bits are sent",
            "the sender chooses its shares, which costs one bit a value",
        ],
        modes: &[Mode {
            rounds: Rounds::between(4, 6),
            assumptions: assumptions![bulk::SEMI_HONEST.assumptions, assume![ALTERNATING_MODULI]],
            ..bulk::SEMI_HONEST
        }],
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
    use crate::ot_extension::bit;
    use vesica_party::{Party, Security};
    use vesica_structures::rng::SecretRng;
    use vesica_testkit::two_party;

    fn set_up(seed: u64) -> (sender::Parts, receiver::Parts) {
        let request = PermuteBitsRequest { len: 1000, kept: 1000, security: Security::SemiHonest };
        let params = WeakPrf::derive(&request).unwrap();
        let seeded = SecretRng::insecure_from_seed;
        let (sender, receiver) = two_party(
            |ch, _| Sender::setup(&params, ch, &mut seeded(seed)),
            |ch, _| Receiver::setup(&params, ch, &mut seeded(!seed)),
        );
        (sender.parts.unwrap(), receiver.parts.unwrap())
    }

    /// The receiver has one bit of each table by a random choice, and the other three are
    /// independent of it and of each other: they mask what is sent, and the choice masks the
    /// receiver's trits.
    #[test]
    fn three_bits_of_each_table_are_bits_of_their_own() {
        let (sender, receiver) = set_up(1);
        let mut counts = [0u32; 64];
        let tables = params::MIDDLE * 1280;
        for at in 0..tables {
            let bit = |words: &super::super::words::Words| words.word_at(at) as usize & 1;
            let choice = bit(&receiver.choices[0]) | bit(&receiver.choices[1]) << 1;
            let table = sender.tables.each_ref().map(bit);
            assert_eq!(bit(&receiver.chosen), table[choice]);
            let others = (1..4).fold(0, |others, turn| others << 1 | table[choice ^ turn]);
            counts[choice | table[choice] << 2 | others << 3] += 1;
        }
        let expected = tables as f64 / 64.0;
        let square: f64 = counts.iter().map(|&count| (f64::from(count) - expected).powi(2) / expected).sum();
        // 63 degrees of freedom: 170 is passed less than once in 2^38 runs.
        assert!(square < 170.0, "{counts:?}");
    }

    /// A seed of each pair is the sender's, by a bit of a key that no other run has.
    #[test]
    fn the_key_is_random_and_chooses_the_seeds() {
        let keys = [2, 3].map(|seed| {
            let (sender, receiver) = set_up(seed);
            let mut ones = 0;
            for (j, pair) in receiver.seeds.pairs.iter().enumerate() {
                let key_bit = usize::from(bit(&sender.key, j));
                assert!(pair[key_bit] == sender.seeds[j] && pair[1 - key_bit] != sender.seeds[j]);
                ones += key_bit;
            }
            assert_eq!((receiver.seeds.pairs.len(), sender.seeds.len()), (params::KEY_BITS, params::KEY_BITS));
            // 256 on average, with a deviation of 11.3.
            assert!((166..346).contains(&ones), "{ones}");
            sender.key.to_vec()
        });
        let differ: u32 = keys[0].iter().zip(&keys[1]).map(|(one, other)| (one ^ other).count_ones()).sum();
        assert!((166..346).contains(&differ), "{differ}");
    }
}
