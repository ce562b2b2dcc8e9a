//! The pseudo-random code of KKRT16, for keys of any width up to a block.

use vesica_kernels::aes::Aes128;
use vesica_party::{CostClass, Entry, Mode, Rounds, Status, Task};
use vesica_structures::facts::{FailureEvent, LAMBDA, Paper, Unsupported, bitwise_and_width};
use vesica_structures::secret::Secret;

use super::{Code, CodeKeys};
use crate::code_oprf::rows::ones;
use crate::ot_extension;
use crate::tasks::{BatchPrf, BatchPrfRequest};

/// Code words that are too close to each other: a quarter of the share of
/// [`FailureEvent::ZeroDifference`], so that the rest is left for what follows.
pub const FAILURE_BITS: u32 = FailureEvent::ZeroDifference.bits() + 2;

/// The widest rows: with the instance behind it a row is one block of BLAKE3.
const MAX_WIDTH: usize = 480;

/// Code words made at a time: their buffers stay in the first-level cache.
const WORDS_PER_BATCH: usize = 128;

/// A code word is the key, as a block, under each of four public keys, cut to the width. Two words
/// are close to each other with a small probability only, which the number of evaluations bounds.
pub struct PseudoRandom {
    quarters: [Aes128; 4],
    mask: [u128; 4],
}

impl std::fmt::Debug for PseudoRandom {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PseudoRandom")
    }
}

impl Code for PseudoRandom {
    type Row = [u128; 4];
    type Task = BatchPrf;
    const ENTRY: Entry = Entry {
        id: "oprf-kkrt16",
        aliases: &[],
        variants: &[],
        task: BatchPrf::NAME,
        paper: Paper {
            key: "KKRT16",
            title: "Efficient Batched Oblivious PRF with Applications to Private Set Intersection",
            reference: "V. Kolesnikov, R. Kumaresan, M. Rosulek, N. Trieu, CCS 2016, ePrint 2016/799",
        },
        status: Status::Sound,
        cost: CostClass::Symmetric,
        map_and_compare: None,
        deviations: &[
            "the width follows from the number of evaluations and a binomial sum, instead of the paper's table, and \
             is a multiple of 8",
            "the w OTs of keys are themselves extended from 128 (SoftSpokenOT)",
            "the correction travels row by row and not column by column",
            "the code is AES under keys that both sides derive from the base OTs, instead of a key that the sender \
             draws; outputs have as many blocks as asked for",
        ],
        modes: &[Mode::semi_honest(Rounds::exactly(3), ot_extension::ASSUMPTIONS, &[])],
    };

    fn width(request: &BatchPrfRequest) -> Result<usize, Unsupported> {
        let budgeted = request.evaluations_in_all.max(request.evaluations).saturating_mul(1 << (FAILURE_BITS - LAMBDA));
        let width = bitwise_and_width(budgeted)?.next_multiple_of(8);
        if width > MAX_WIDTH {
            return Err(Unsupported::new(
                format_args!("{} evaluations of an OPRF", request.evaluations),
                "use smaller sets",
            ));
        }
        Ok(width)
    }

    fn new(keys: &CodeKeys, request: &BatchPrfRequest) -> Result<Self, Unsupported> {
        Ok(Self { quarters: keys.map(Aes128::new), mask: ones(Self::width(request)?) })
    }

    fn words(&self, keys: &[u128], mut each: impl FnMut(usize, [u128; 4])) {
        let mut blocks = Secret::new([[0; WORDS_PER_BATCH]; 4]);
        for (batch, keys) in keys.chunks(WORDS_PER_BATCH).enumerate() {
            for (blocks, cipher) in blocks.iter_mut().zip(&self.quarters) {
                blocks[..keys.len()].copy_from_slice(keys);
                cipher.encrypt(&mut blocks[..keys.len()]);
            }
            for i in 0..keys.len() {
                each(
                    batch * WORDS_PER_BATCH + i,
                    std::array::from_fn(|quarter| blocks[quarter][i] & self.mask[quarter]),
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use vesica_party::Security;

    use super::*;

    fn request(evaluations: usize) -> BatchPrfRequest {
        BatchPrfRequest {
            instances: 1,
            key_bits: 128,
            evaluations,
            evaluations_in_all: evaluations,
            blocks: 1,
            security: Security::SemiHonest,
        }
    }

    #[test]
    fn words_are_as_wide_as_the_budget_asks() {
        let width = |evaluations| PseudoRandom::width(&request(evaluations)).unwrap();
        // The binomial sum gives 400, 432 and 446 for 2^3, 2^(3 + 15) and 2^(3 + 22).
        assert_eq!([1, 1 << 15, 3 << 20].map(width), [400, 432, 448]);
        let more = BatchPrfRequest { evaluations_in_all: 1 << 23, ..request(1) };
        assert!(PseudoRandom::width(&more).unwrap() > width(1));
        assert!(PseudoRandom::width(&request(usize::MAX)).is_err());
    }

    #[test]
    fn a_code_word_has_all_bits_of_the_width_and_none_beyond() {
        for evaluations in [1, 3 << 20] {
            let request = request(evaluations);
            let width = PseudoRandom::width(&request).unwrap();
            let mut union = [0; 4];
            PseudoRandom::new(&[1, 2, 3, 4], &request).unwrap().words(&(0..300).collect::<Vec<u128>>(), |_, word| {
                union.iter_mut().zip(word).for_each(|(union, word)| *union |= word);
            });
            // Of 300 words every bit is one in some.
            assert_eq!(union, ones::<[u128; 4]>(width), "{width}");
        }
    }
}
