//! Permutation-based hashing (Arbitman, Naor and Segev, 2010): an item is compressed to a left and a
//! right part, a bin holds the right part alone, and bin and right part together give the left part.

use std::fmt;

use vesica_kernels::aes::Aes128;

use super::{SUB_TABLES, SubTables};
use crate::secret::Secret;

/// A compressed item: its left part, below the number of bins, and its right part.
pub type Parts = [u64; 2];

/// Where an item may lie in a sub-table: the bin, and the right part that the bin then holds.
pub type Position = (u32, u64);

/// The keyed functions from an item to its parts, and from these to a bin in each of the four
/// sub-tables: AES under keys derived from the seed.
pub struct Permuted {
    compress: Aes128,
    shift: Aes128,
    tables: SubTables,
    right_bits: u32,
}

/// A number below `count` from 64 uniform bits, with a bias of `count 2^-64`.
pub(super) fn below(bits: u64, count: u64) -> u64 {
    ((u128::from(bits) * u128::from(count)) >> 64) as u64
}

impl Permuted {
    /// Positions in sub-tables whose bins hold `right_bits` bits.
    ///
    /// # Panics
    /// If `right_bits` is not in `1..=64`.
    pub fn new(seed: u128, tables: SubTables, right_bits: u32) -> Self {
        assert!((1..=64).contains(&right_bits), "right parts of 1 to 64 bits");
        let mut keys = [4, 5];
        Aes128::new(seed).encrypt(&mut keys);
        Self { compress: Aes128::new(keys[0]), shift: Aes128::new(keys[1]), tables, right_bits }
    }

    /// Compresses items. Two items have equal parts with probability `2^-right_bits / bins`.
    pub fn parts(&self, items: &[u128]) -> Secret<Vec<Parts>> {
        let mut blocks = Secret::new(items.to_vec());
        self.compress.encrypt(&mut blocks);
        // Without the item itself, whoever knows the key could go back from parts to other items.
        blocks.iter_mut().zip(items).for_each(|(block, item)| *block ^= item);
        let mask = u64::MAX >> (u64::BITS - self.right_bits);
        let bins = self.tables.bins as u64;
        Secret::new(blocks.iter().map(|&block| [below((block >> 64) as u64, bins), block as u64 & mask]).collect())
    }

    /// The position in each sub-table. The left part says the class, and the number of a bin in it,
    /// to which a function of sub-table and right part is added modulo the number of bins of a class.
    pub fn positions(&self, [left, right]: Parts) -> [Position; SUB_TABLES] {
        let mut blocks = [u128::from(right), u128::from(right) | 1 << 64];
        self.shift.encrypt(&mut blocks);
        let words = blocks.map(|block| [block as u64, (block >> 64) as u64]);
        let (class, first) = self.tables.class_and_number(left);
        let bins = self.tables.class_bins() as u64;
        std::array::from_fn(|j| {
            let number = first + below(words[j / 2][j % 2], bins);
            (self.tables.bin(class, number.min(number.wrapping_sub(bins))), right)
        })
    }
}

impl fmt::Debug for Permuted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Permuted({} bins, {} bits)", self.tables.bins, self.right_bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn permuted(seed: u128, bins: usize, classes: usize, right_bits: u32) -> Permuted {
        Permuted::new(seed, SubTables { bins, classes }, right_bits)
    }

    #[test]
    fn a_bin_and_a_right_part_give_the_left_part() {
        for (bins, classes) in [(1, 1), (3, 1), (1024, 4), (5120, 1024)] {
            let hash = permuted(7, bins, classes, 50);
            for right in 0..20 {
                for j in 0..SUB_TABLES {
                    let all = bins.min(3000);
                    let mut seen: Vec<u32> = (0..all as u64).map(|left| hash.positions([left, right])[j].0).collect();
                    assert!(seen.iter().all(|&bin| (bin as usize) < bins));
                    seen.sort_unstable();
                    seen.dedup();
                    assert_eq!(seen.len(), all, "no two left parts share a bin");
                }
            }
        }
    }

    #[test]
    fn the_bins_of_an_item_are_of_one_class() {
        let hash = permuted(7, 5120, 64, 50);
        for &parts in hash.parts(&(0..1000).collect::<Vec<u128>>()).iter() {
            let positions = hash.positions(parts);
            assert!(positions.iter().all(|&(bin, right)| u64::from(bin) % 64 == parts[0] % 64 && right == parts[1]));
        }
    }

    #[test]
    fn parts_and_bins_are_spread() {
        let (bins, count) = (64, 1 << 14);
        let items: Vec<u128> = (0..count).collect();
        let mut left = vec![0u32; bins];
        let mut right = [0u32; 8];
        for &[l, r] in permuted(8, bins, 1, 3).parts(&items).iter() {
            left[l as usize] += 1;
            right[r as usize] += 1;
        }
        // 256 and 2048 expected; six deviations.
        assert!(left.iter().all(|&count| count.abs_diff(256) < 100), "{left:?}");
        assert!(right.iter().all(|&count| count.abs_diff(2048) < 270), "{right:?}");
        for classes in [1, 16] {
            let wide = permuted(8, bins, classes, 60);
            let mut bins_of = vec![[0u32; SUB_TABLES]; bins];
            for &parts in wide.parts(&items).iter() {
                for (j, (bin, _)) in wide.positions(parts).into_iter().enumerate() {
                    bins_of[bin as usize][j] += 1;
                }
            }
            assert!(bins_of.iter().flatten().all(|&count| count.abs_diff(256) < 100), "{bins_of:?}");
            assert_ne!(*permuted(9, bins, classes, 60).parts(&items), *wide.parts(&items), "another seed");
        }
    }
}
