//! Three distinct places for an item.

use std::fmt;

use vesica_kernels::aes::Aes128;
use zeroize::Zeroize;

/// A uniform ordered choice of three distinct numbers below `count`, from 64 uniform bits each (the
/// bias is `count * 2^-64`): the first of all, the second of those left, the third of those left.
/// `count` is at least 3.
#[inline]
pub fn three_distinct(bits: [u64; 3], count: u64) -> [u64; 3] {
    let below = |bits: u64, count: u64| ((u128::from(bits) * u128::from(count)) >> 64) as u64;
    let a = below(bits[0], count);
    let b = below(bits[1], count - 1);
    let c = below(bits[2], count - 2);
    let b = b + u64::from(b >= a);
    let (low, high) = (a.min(b), a.max(b));
    let c = c + u64::from(c >= low);
    let c = c + u64::from(c >= high);
    [a, b, c]
}

/// The keyed function from an item's digest to three distinct bins: two AES permutations in a
/// chain, their keys derived from the seed.
pub struct Positions {
    first: Aes128,
    second: Aes128,
    bins: u32,
}

impl Positions {
    /// Positions among `bins` bins, at least 3.
    ///
    /// # Panics
    /// If there are fewer than 3 bins, or more than `u32::MAX`.
    pub fn new(seed: u128, bins: usize) -> Self {
        assert!(bins >= 3, "three distinct positions among {bins} bins");
        let mut keys = [2, 3];
        Aes128::new(seed).encrypt(&mut keys);
        let bins = u32::try_from(bins).expect("at most 2^32 - 1 bins");
        Self { first: Aes128::new(keys[0]), second: Aes128::new(keys[1]), bins }
    }

    /// The positions of each item, in the order of the three hash functions.
    pub fn of(&self, items: &[u128]) -> Vec<[u32; 3]> {
        let mut positions = Vec::with_capacity(items.len());
        let mut first = [0u128; 256];
        let mut second = [0u128; 256];
        for items in items.chunks(256) {
            let (first, second) = (&mut first[..items.len()], &mut second[..items.len()]);
            first.copy_from_slice(items);
            self.first.encrypt(first);
            second.copy_from_slice(first);
            self.second.encrypt(second);
            positions.extend(first.iter().zip(&*second).map(|(&first, &second)| {
                three_distinct([first as u64, (first >> 64) as u64, second as u64], u64::from(self.bins))
                    .map(|bin| bin as u32)
            }));
        }
        first.zeroize();
        second.zeroize();
        positions
    }
}

impl fmt::Debug for Positions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Positions among {} bins", self.bins)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ordered_choice_is_equally_likely() {
        // The 60 ordered triples below 5, each from 5 * 4 * 3 equal intervals of bits.
        let at = |i: u64, of: u64| ((u128::from(i) << 64) / u128::from(of)) as u64 + 1;
        let mut seen = std::collections::BTreeSet::new();
        for (a, b, c) in (0..5).flat_map(|a| (0..4).flat_map(move |b| (0..3).map(move |c| (a, b, c)))) {
            let [x, y, z] = three_distinct([at(a, 5), at(b, 4), at(c, 3)], 5);
            assert!(x != y && y != z && x != z && x.max(y).max(z) < 5);
            seen.insert([x, y, z]);
        }
        assert_eq!(seen.len(), 60);
        assert_eq!(three_distinct([u64::MAX; 3], 3), [2, 1, 0]);
    }

    #[test]
    fn positions_depend_on_seed_and_item() {
        let items: Vec<u128> = (0..300).collect();
        let positions = Positions::new(1, 1000).of(&items);
        assert_eq!(positions, Positions::new(1, 1000).of(&items));
        assert_ne!(positions, Positions::new(2, 1000).of(&items));
        assert_eq!(positions[299], Positions::new(1, 1000).of(&[299])[0]);
        assert!(positions.iter().all(|&[a, b, c]| a != b && b != c && a != c && a.max(b).max(c) < 1000));
    }
}
