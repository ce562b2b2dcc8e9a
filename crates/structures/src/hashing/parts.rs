//! Permutation-based hashing (Arbitman, Naor and Segev, 2010): an item is compressed to a left and a
//! right part, a bin holds the right part alone, and bin and right part together give the left part.

use std::fmt;

use vesica_kernels::aes::Aes128;

use super::SUB_TABLES;
use crate::secret::Secret;

/// A compressed item: its left part, below the number of bins, and its right part.
pub type Parts = [u64; 2];

/// The keyed functions from an item to its parts, and from these to a bin in each of the four
/// sub-tables: AES under keys derived from the seed.
pub struct Permuted {
    compress: Aes128,
    shift: Aes128,
    bins: u32,
    right_bits: u32,
}

/// From 64 uniform bits, with a bias of `count 2^-64`.
fn below(bits: u64, count: u32) -> u64 {
    ((u128::from(bits) * u128::from(count)) >> 64) as u64
}

impl Permuted {
    /// Positions in sub-tables of `bins` bins, which hold `right_bits` bits.
    ///
    /// # Panics
    /// If there is no bin, or `right_bits` is not in `1..=64`.
    pub fn new(seed: u128, bins: u32, right_bits: u32) -> Self {
        assert!(bins > 0 && (1..=64).contains(&right_bits), "a bin, and right parts of 1 to 64 bits");
        let mut keys = [4, 5];
        Aes128::new(seed).encrypt(&mut keys);
        Self { compress: Aes128::new(keys[0]), shift: Aes128::new(keys[1]), bins, right_bits }
    }

    /// Compresses items. Two items have equal parts with probability `2^-right_bits / bins`.
    pub fn parts(&self, items: &[u128]) -> Secret<Vec<Parts>> {
        let mut blocks = Secret::new(items.to_vec());
        self.compress.encrypt(&mut blocks);
        // Without the item itself, whoever knows the key could go back from parts to other items.
        blocks.iter_mut().zip(items).for_each(|(block, item)| *block ^= item);
        let mask = u64::MAX >> (u64::BITS - self.right_bits);
        Secret::new(blocks.iter().map(|&block| [below((block >> 64) as u64, self.bins), block as u64 & mask]).collect())
    }

    /// The bin in each sub-table: the left part, plus a function of sub-table and right part, modulo
    /// the number of bins.
    pub fn bins(&self, [left, right]: Parts) -> [u32; SUB_TABLES] {
        let right = u128::from(right);
        let mut blocks = [right, right | 1 << 64];
        self.shift.encrypt(&mut blocks);
        let words = blocks.map(|block| [block as u64, (block >> 64) as u64]);
        std::array::from_fn(|j| {
            let bin = left + below(words[j / 2][j % 2], self.bins);
            bin.min(bin.wrapping_sub(self.bins.into())) as u32
        })
    }
}

impl fmt::Debug for Permuted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Permuted({} bins, {} bits)", self.bins, self.right_bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bin_and_a_right_part_give_the_left_part() {
        for bins in [1, 3, 1024, 5120] {
            let hash = Permuted::new(7, bins, 50);
            for right in 0..20 {
                for j in 0..SUB_TABLES {
                    let all = u64::from(bins.min(3000));
                    let mut seen: Vec<u32> = (0..all).map(|left| hash.bins([left, right])[j]).collect();
                    assert!(seen.iter().all(|&bin| bin < bins));
                    seen.sort_unstable();
                    seen.dedup();
                    assert_eq!(seen.len() as u64, all, "no two left parts share a bin");
                }
            }
        }
    }

    #[test]
    fn parts_and_bins_are_spread() {
        let (bins, count) = (64, 1 << 14);
        let hash = Permuted::new(8, bins, 3);
        let items: Vec<u128> = (0..count).collect();
        let mut left = vec![0u32; bins as usize];
        let mut right = [0u32; 8];
        for &[l, r] in hash.parts(&items).iter() {
            left[l as usize] += 1;
            right[r as usize] += 1;
        }
        // 256 and 2048 expected; six deviations.
        assert!(left.iter().all(|&count| count.abs_diff(256) < 100), "{left:?}");
        assert!(right.iter().all(|&count| count.abs_diff(2048) < 270), "{right:?}");
        let wide = Permuted::new(8, bins, 60);
        let mut bins_of = vec![[0u32; SUB_TABLES]; bins as usize];
        for &parts in wide.parts(&items).iter() {
            for (j, bin) in wide.bins(parts).into_iter().enumerate() {
                bins_of[bin as usize][j] += 1;
            }
        }
        assert!(bins_of.iter().flatten().all(|&count| count.abs_diff(256) < 100), "{bins_of:?}");
        assert_ne!(*Permuted::new(9, bins, 60).parts(&items), *wide.parts(&items), "another seed");
    }
}
