//! Three distinct places for an item, of which a bin need hold a part only: permutation-based hashing
//! (Arbitman, Naor, Segev, "Backyard cuckoo hashing", FOCS 2010) among any number of bins.

use std::fmt;

use vesica_kernels::aes::Aes128;
use zeroize::Zeroize;

use super::parts::below;
use super::positions::three_distinct;
use crate::prf::DigestPrf;
use crate::secret::Secret;

/// Items of a batch: their blocks stay in the first-level cache.
const ITEMS_PER_BATCH: usize = 256;

/// The keyed functions from an item to a left part, below the number of bins, and a right part; and from
/// these to three distinct bins: `left + f_j(right)` modulo the number of bins, where `f_1`, `f_2` and
/// `f_3` of a right part are three distinct numbers.
///
/// A bin, a right part *and the number of the function* give the left part. So two items that agree in
/// all three have both parts in common, which happens with probability `2^-right_bits / bins`.
///
/// # When a table exists
///
/// Positions of items with different right parts are independent, as
/// [`hall_bound`](super::hall_bound) takes them to be. Two items with the same right part are shifted
/// against each other by the difference of their left parts, which is uniform. With [`right_bits`] there
/// is at most one such pair among the items of a table except with probability `2^-failure_bits`; and that
/// pair changes the bound little: in the sum over sets of `s` items and their `s - 1` bins, a set that has
/// both (a share of `(s / items)^2` at most) loses two of the three factors `(s - 1) / bins` of one item.
pub struct PermutedPositions {
    compress: DigestPrf,
    shifts: [Aes128; 2],
    bins: u32,
    right_bits: u32,
}

/// Items' bins in the order of the functions, and their right parts.
pub type Places = (Vec<[u32; 3]>, Secret<Vec<u128>>);

/// Bits of a right part such that more than one pair of `items` items shares one with probability at most
/// `2^-failure_bits`: two disjoint or overlapping pairs are each `2^-(2 right_bits)`, and there are fewer
/// than `items^4 / 8` choices of two.
pub fn right_bits(items: usize, failure_bits: u32) -> u32 {
    (4 * crate::facts::ceil_log2(items) + failure_bits).saturating_sub(3).div_ceil(2).max(1)
}

impl PermutedPositions {
    /// Positions among `bins` bins, at least 3, with right parts of `right_bits` bits.
    ///
    /// # Panics
    /// If there are fewer than 3 bins or more than `u32::MAX`, or `right_bits` is not in `1..=126`.
    pub fn new(seed: u128, bins: usize, right_bits: u32) -> Self {
        assert!(bins >= 3 && (1..=126).contains(&right_bits), "{bins} bins, right parts of {right_bits} bits");
        let mut keys = [6, 7, 8];
        Aes128::new(seed).encrypt(&mut keys);
        let [compress, shifts @ ..] = keys;
        let bins = u32::try_from(bins).expect("at most 2^32 - 1 bins");
        Self { compress: DigestPrf::new(compress), shifts: shifts.map(Aes128::new), bins, right_bits }
    }

    /// Bins and right parts of the items, in their order.
    pub fn of(&self, items: &[u128]) -> Places {
        let mut positions = Vec::with_capacity(items.len());
        let mut rights = Secret::new(Vec::with_capacity(items.len()));
        let (mut lefts, mut right_parts, mut first, mut second) =
            ([0; ITEMS_PER_BATCH], [0; ITEMS_PER_BATCH], [0; ITEMS_PER_BATCH], [0; ITEMS_PER_BATCH]);
        let bins = u64::from(self.bins);
        for items in items.chunks(ITEMS_PER_BATCH) {
            let count = items.len();
            // Both parts come from 192 bits of two different functions of the item.
            self.compress.eval(items, &mut right_parts[..count]);
            self.compress.eval_tweaked(items, &[1; ITEMS_PER_BATCH][..count], &mut lefts[..count]);
            right_parts[..count].iter_mut().for_each(|right| *right &= u128::MAX >> (u128::BITS - self.right_bits));
            first[..count].copy_from_slice(&right_parts[..count]);
            self.shifts[0].encrypt(&mut first[..count]);
            second[..count].copy_from_slice(&first[..count]);
            self.shifts[1].encrypt(&mut second[..count]);
            positions.extend((0..count).map(|i| {
                let left = below(lefts[i] as u64, bins);
                let shifts = three_distinct([first[i] as u64, (first[i] >> 64) as u64, second[i] as u64], bins);
                shifts.map(|shift| (if left + shift < bins { left + shift } else { left + shift - bins }) as u32)
            }));
            rights.extend_from_slice(&right_parts[..count]);
        }
        [lefts, right_parts, first, second].zeroize();
        (positions, rights)
    }
}

impl fmt::Debug for PermutedPositions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PermutedPositions among {} bins, right parts of {} bits", self.bins, self.right_bits)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// With right parts of two bits many items share one: then bin, function and right part must tell
    /// left parts apart.
    #[test]
    fn bin_function_and_right_part_give_the_left_part() {
        let bins = 1000;
        let items: Vec<u128> = (0..20_000).collect();
        let (positions, rights) = PermutedPositions::new(3, bins, 2).of(&items);
        let mut seen = [(); 3].map(|()| HashSet::new());
        let mut differences = HashSet::new();
        for (positions, &right) in positions.iter().zip(rights.iter()) {
            let [a, b, c] = *positions;
            assert!(a != b && b != c && a != c && a.max(b).max(c) < bins as u32 && right < 4);
            for (seen, bin) in seen.iter_mut().zip(positions) {
                seen.insert((*bin, right));
            }
            // The same for all items of a right part.
            differences.insert((right, (b + 1000 - a) % 1000, (c + 1000 - a) % 1000));
        }
        assert_eq!(differences.len(), 4);
        // Nearly all of 1000 left parts with each of four right parts, each in a place of its own.
        let [first, second, third] = seen.map(|seen| seen.len());
        assert!(first > 3900 && first == second && second == third, "{first}, {second}, {third}");
    }

    #[test]
    fn right_parts_are_as_wide_as_pairs_ask() {
        // 2^80 / 8 choices of two pairs among 2^20 items, each with probability 2^-(2 * 60): 2^-43.
        assert_eq!([1 << 20, 1 << 10, 1].map(|items| right_bits(items, 43)), [60, 40, 20]);
    }

    #[test]
    fn places_depend_on_seed_and_item_alone() {
        let items: Vec<u128> = (0..600).collect();
        let hash = PermutedPositions::new(1, 777, 60);
        let (positions, rights) = hash.of(&items);
        let (one, right) = hash.of(&items[599..]);
        assert_eq!((one[0], right[0]), (positions[599], rights[599]));
        assert_ne!(PermutedPositions::new(2, 777, 60).of(&items).0, positions);
        assert_eq!(rights.iter().collect::<HashSet<_>>().len(), 600);
    }
}
