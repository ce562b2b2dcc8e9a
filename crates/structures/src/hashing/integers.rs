//! Permutation-based hashing of small integers, which need no compression: each sub-table has a keyed
//! permutation of its own, so that a bin and the right part that it holds give the item.
//!
//! A shift of the left part by a function of the right part, as in [`Permuted`](super::Permuted), is
//! not enough here: small integers share their right parts in large groups, and all items of a group
//! are moved alike in all sub-tables.
//!
//! The permutation is an alternating Feistel network (Black and Rogaway, "Ciphers with arbitrary finite
//! domains", CT-RSA 2002) on pairs of a number below `a` and one below `b`: a keyed function of one
//! half is added to the other one, in turn. That tables exist as for random permutations is an
//! assumption of this project; docs/parameters/bfv.md says what rests on it.

use std::fmt;

use vesica_kernels::aes::Aes128;

use super::parts::below;
use super::{Parts, Position, SUB_TABLES, SubTables};
use crate::secret::Secret;

/// Rounds of a permutation: five for each half.
const ROUNDS: usize = 10;

/// Rounds where a half has fewer than [`FEW`] values. The functions of so few values are biased, and a
/// set of one pattern (all even numbers, for example) then fills classes unevenly more often than chance
/// would: after ten rounds with probability 2^-10, where half of all integers are in the set.
const ROUNDS_OF_FEW: usize = 40;

/// So many right parts are not few any more. Left parts are always more.
const FEW: u64 = 64;

/// Items that are permuted at a time: their blocks stay in the first-level cache.
const ITEMS_AT_A_TIME: usize = 256;

/// The keyed permutations of the integers below `2^item_bits`.
pub struct PermutedIntegers {
    round: Aes128,
    tables: SubTables,
    /// Right parts: a left and a right part are an item's number in a list of `bins rights` items.
    rights: u64,
    item_bits: u32,
    /// Rounds of each permutation.
    rounds: usize,
    /// `2^64 / bins`, rounded down.
    reciprocal: u64,
}

impl PermutedIntegers {
    /// Positions in sub-tables of integers of `item_bits` bits.
    ///
    /// # Panics
    /// If `item_bits` is not in `1..=64`, or there is only one bin.
    pub fn new(seed: u128, tables: SubTables, item_bits: u32) -> Self {
        assert!((1..=u64::BITS).contains(&item_bits) && tables.bins > 1, "1 to 64 bits, and two bins");
        let mut key = [6];
        Aes128::new(seed).encrypt(&mut key);
        let reciprocal = ((1u128 << 64) / tables.bins as u128) as u64;
        let rights = Self::rights(&tables, item_bits);
        let rounds = if rights < FEW { ROUNDS_OF_FEW } else { ROUNDS };
        Self { round: Aes128::new(key[0]), tables, rights, item_bits, rounds, reciprocal }
    }

    /// How many right parts there are for integers of `item_bits` bits.
    pub fn rights(tables: &SubTables, item_bits: u32) -> u64 {
        (1u128 << item_bits).div_ceil(tables.bins as u128) as u64
    }

    /// An item's parts, by the permutation that spreads items over classes.
    ///
    /// # Panics
    /// If an item has more bits.
    pub fn parts(&self, items: &[u128]) -> Secret<Vec<Parts>> {
        let widest = items.iter().fold(0, |all, item| all | item);
        assert!(widest >> self.item_bits == 0, "items of at most {} bits", self.item_bits);
        let bins = self.tables.bins as u64;
        let split = |&item: &u128| {
            // Too small by at most 2.
            let quotient = below(item as u64, self.reciprocal);
            let rest = item as u64 - quotient * bins;
            let more = [bins, 2 * bins].map(|bound| u64::from(rest >= bound));
            [rest - (more[0] + more[1]) * bins, quotient + more[0] + more[1]]
        };
        let mut parts = Secret::new(items.iter().map(split).collect::<Vec<Parts>>());
        for parts in parts.chunks_mut(ITEMS_AT_A_TIME) {
            self.permute(parts, [bins, self.rights], |_| 0);
        }
        parts
    }

    /// The position of each item in each sub-table.
    pub fn positions(&self, parts: &[Parts]) -> Secret<Vec<[Position; SUB_TABLES]>> {
        let sizes = [self.tables.class_bins() as u64, self.rights];
        let mut positions = Secret::new(vec![[(0, 0); SUB_TABLES]; parts.len()]);
        let mut pairs = Secret::new(Vec::with_capacity(ITEMS_AT_A_TIME));
        for (parts, positions) in parts.chunks(ITEMS_AT_A_TIME).zip(positions.chunks_mut(ITEMS_AT_A_TIME)) {
            for j in 0..SUB_TABLES {
                let class = |i: usize| self.tables.class_and_number(parts[i][0]).0;
                pairs.clear();
                pairs.extend(parts.iter().map(|&[left, right]| [self.tables.class_and_number(left).1, right]));
                self.permute(&mut pairs, sizes, |i| 1 + j as u64 + (class(i) << 8));
                for (i, (&[number, right], positions)) in pairs.iter().zip(&mut *positions).enumerate() {
                    positions[j] = (self.tables.bin(class(i), number), right);
                }
            }
        }
        positions
    }

    /// Permutes pairs of numbers below `sizes`, each by the permutation of its tweak, which has at
    /// most 56 bits.
    fn permute(&self, pairs: &mut [Parts], sizes: [u64; 2], tweak: impl Fn(usize) -> u64) {
        let mut blocks = Secret::new(vec![0; pairs.len()]);
        for round in 0..self.rounds {
            let (changed, read) = (round % 2, 1 - round % 2);
            for (i, (block, pair)) in blocks.iter_mut().zip(&*pairs).enumerate() {
                *block = u128::from(pair[read]) | u128::from(tweak(i) << 8 | round as u64) << 64;
            }
            self.round.encrypt(&mut blocks);
            let size = sizes[changed];
            for (&block, pair) in blocks.iter().zip(&mut *pairs) {
                let sum = u128::from(pair[changed]) + u128::from(below(block as u64, size));
                pair[changed] = sum.min(sum.wrapping_sub(u128::from(size))) as u64;
            }
        }
    }
}

impl fmt::Debug for PermutedIntegers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PermutedIntegers({} bins, {} bits)", self.tables.bins, self.item_bits)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::hashing::CuckooTable;

    /// All items of 12 bits: parts are distinct, and so are the positions in each sub-table, which are
    /// of the item's class.
    #[test]
    fn a_bin_and_a_right_part_give_the_item() {
        for (bins, classes) in [(3, 1), (64, 16), (100, 4), (4096, 64), (5000, 4)] {
            let hash = PermutedIntegers::new(7, SubTables { bins, classes }, 12);
            let items: Vec<u128> = (0..1 << 12).collect();
            let parts = hash.parts(&items);
            let is_part = |&[left, right]: &Parts| left < bins as u64 && right < hash.rights;
            assert!(parts.iter().all(is_part) && parts.iter().collect::<HashSet<_>>().len() == items.len());
            let positions = hash.positions(&parts);
            for j in 0..SUB_TABLES {
                assert_eq!(positions.iter().map(|positions| positions[j]).collect::<HashSet<_>>().len(), items.len());
                for (positions, [left, _]) in positions.iter().zip(&*parts) {
                    let (bin, right) = positions[j];
                    assert!((bin as usize) < bins && right < hash.rights, "{bin} {right}");
                    assert_eq!(u64::from(bin) % classes as u64, left % classes as u64);
                }
            }
        }
    }

    /// Half of all integers of 14 bits, the even ones: some key overflows a class where ten rounds permute
    /// pairs with six right parts. Uniform permutations do so with probability 2^-44, and 40 rounds for
    /// none of the keys.
    #[test]
    fn few_right_parts_take_more_rounds() {
        let tables = SubTables { bins: 3072, classes: 4 };
        let items: Vec<u128> = (0..1 << 13).map(|item| 2 * item).collect();
        let room = crate::hashing::max_load(items.len(), 1, tables.classes, 44);
        let overflows = |seed, rounds| {
            let mut hash = PermutedIntegers::new(seed, tables, 14);
            hash.rounds = rounds;
            let mut loads = [0; 4];
            hash.parts(&items).iter().for_each(|&[left, _]| loads[tables.class_and_number(left).0 as usize] += 1);
            loads.iter().any(|&load| load > room)
        };
        assert_eq!(PermutedIntegers::new(1, tables, 14).rounds, ROUNDS_OF_FEW);
        let found = (0..10_000).find(|&seed| overflows(seed, ROUNDS)).expect("ten rounds are too few");
        assert!(!overflows(found, ROUNDS_OF_FEW) && !(0..300).any(|seed| overflows(seed, ROUNDS_OF_FEW)));
    }

    #[test]
    fn edges_of_every_width_are_split() {
        for item_bits in 1..=64 {
            let hash = PermutedIntegers::new(7, SubTables { bins: 5 << 10, classes: 4 }, item_bits);
            let items = [0, 1, u128::MAX >> (128 - item_bits)];
            assert!(hash.parts(&items).iter().all(|&[left, right]| left < 5 << 10 && right < hash.rights));
        }
    }

    /// A run of integers, the worst for a shift by a function of the right part, fills the tables to
    /// their load as random items do, and its bins are spread over each sub-table.
    #[test]
    fn tables_of_consecutive_integers_are_built() {
        let tables = SubTables::new(40_000, 0, 1024, 43).unwrap();
        let items: Vec<u128> = (5_000_000_000..5_000_040_000).collect();
        let hash = PermutedIntegers::new(3, tables, 33);
        let bins =
            |positions: &[Position; SUB_TABLES]| std::array::from_fn(|j| (j * tables.bins) as u32 + positions[j].0);
        let bins: Vec<[u32; SUB_TABLES]> = hash.positions(&hash.parts(&items)).iter().map(bins).collect();
        assert!(CuckooTable::build_vartime(&bins, SUB_TABLES * tables.bins).is_ok());
        let mut counts = vec![0u32; 4 * 16];
        for (j, bin) in bins.iter().flat_map(|bins| bins.iter().enumerate()) {
            counts[16 * j + (*bin as usize - j * tables.bins) * 16 / tables.bins] += 1;
        }
        // 2500 expected; six deviations.
        assert!(counts.iter().all(|&count| count.abs_diff(2500) < 300), "{counts:?}");
    }
}
