//! Codewords of constant weight: as many bits are one in each.

use vesica_structures::secret::Secret;

/// Bits of a codeword that are one, `k`.
pub(super) const WEIGHT: usize = 16;

/// The places of the ones of a codeword, in descending order.
pub(super) type Codeword = [u8; WEIGHT];

/// Codewords of one length.
pub(super) struct Codewords {
    bits: u32,
    /// For each place, and for each number of ones up to the weight, how many words there are of so many
    /// ones below that place.
    below: Vec<[u128; WEIGHT + 1]>,
}

/// The least length `m` with at least `2^bits` codewords.
pub(super) fn length(bits: u32) -> usize {
    let mut row = first_row();
    let mut length = 0;
    while row[WEIGHT] >> bits == 0 {
        row = next_row(&row);
        length += 1;
    }
    length
}

/// Binomial coefficients: the words of no bits.
fn first_row() -> [u128; WEIGHT + 1] {
    let mut row = [0; WEIGHT + 1];
    row[0] = 1;
    row
}

/// The words of one bit more.
fn next_row(row: &[u128; WEIGHT + 1]) -> [u128; WEIGHT + 1] {
    std::array::from_fn(|ones| row[ones] + if ones > 0 { row[ones - 1] } else { 0 })
}

impl Codewords {
    /// The codewords of values of `bits` bits, at most 72.
    pub fn new(bits: u32) -> Self {
        let rows = std::iter::successors(Some(first_row()), |row| Some(next_row(row)));
        Self { bits, below: rows.take(length(bits)).collect() }
    }

    /// The codeword of the low bits of a key: a different one for each value of them.
    ///
    /// This is the combinatorial number system: place `c` is the highest one of the last `C(c, k)` words.
    pub fn of(&self, key: u128) -> Codeword {
        let mut rest = key & ((1 << self.bits) - 1);
        let (mut codeword, mut left) = ([0; WEIGHT], WEIGHT);
        for (place, below) in self.below.iter().enumerate().rev() {
            if left > 0 && rest >= below[left] {
                rest -= below[left];
                codeword[WEIGHT - left] = place as u8;
                left -= 1;
            }
        }
        codeword
    }

    /// The codewords of keys.
    pub fn all(&self, keys: &[u128]) -> Secret<Vec<Codeword>> {
        Secret::new(keys.iter().map(|&key| self.of(key)).collect())
    }
}

/// Some columns of a table of codewords: for each place from `first` on, the bit of the codeword in each
/// slot; 0 where there is none.
pub(super) fn columns<'a>(
    first: usize,
    count: usize,
    slots: usize,
    codeword: impl Fn(usize) -> Option<&'a Codeword>,
) -> Vec<Secret<Vec<u64>>> {
    let mut columns: Vec<_> = (0..count).map(|_| Secret::new(vec![0; slots])).collect();
    for slot in 0..slots {
        for &place in codeword(slot).into_iter().flatten() {
            if let Some(column) = usize::from(place).checked_sub(first).and_then(|place| columns.get_mut(place)) {
                column[slot] = 1;
            }
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn lengths_are_the_least_with_enough_codewords() {
        // Binomials by another way: products of fractions, which stay whole.
        let words = |m: u128| (0..WEIGHT as u128).fold(1, |product, i| product * (m - i) / (i + 1));
        for bits in [1, 20, 42, 55, 62, 64] {
            let m = length(bits) as u128;
            assert!(words(m) >= 1 << bits && (m == 16 || words(m - 1) < 1 << bits), "{bits} bits: {m}");
        }
        assert_eq!((length(42), length(62), length(64)), (50, 108, 117));
    }

    /// Every codeword has its weight, and no two values have one codeword.
    #[test]
    fn different_values_have_different_codewords() {
        let codewords = Codewords::new(12);
        let all: HashSet<Codeword> = (0..1 << 12).map(|value| codewords.of(value)).collect();
        assert_eq!(all.len(), 1 << 12);
        let wide = Codewords::new(72);
        for value in [0, 1, (1 << 72) - 1, (1 << 72) - 2, 1 << 71, 0x01_2345_6789_abcd_ef01] {
            let word = wide.of(value);
            assert!(word.windows(2).all(|pair| pair[0] > pair[1]), "{word:?}");
            assert!(usize::from(word[0]) < length(72) && length(72) <= 256);
            let rank: u128 =
                word.iter().rev().zip(1..).map(|(&place, ones)| wide.below[usize::from(place)][ones]).sum();
            assert_eq!(rank, value);
            assert_eq!(wide.of(value | 1 << 72), word, "bits above are not used");
        }
    }

    #[test]
    fn columns_have_the_bits_of_their_slots() {
        let codewords = Codewords::new(42);
        let words: Vec<Codeword> = [3, 1 << 41].map(|value| codewords.of(value)).to_vec();
        let mut seen = vec![Vec::new(); 3];
        for first in (0..length(42)).step_by(7) {
            let count = 7.min(length(42) - first);
            for (column, place) in columns(first, count, 3, |slot| words.get(slot)).iter().zip(first..) {
                (0..3).filter(|&slot| column[slot] == 1).for_each(|slot| seen[slot].push(place as u8));
            }
        }
        seen.iter_mut().for_each(|places| places.reverse());
        assert_eq!(seen, [words[0].to_vec(), words[1].to_vec(), Vec::new()]);
    }
}
