//! Packed bits, which hold shares of truth values, and the transposition of values into planes of
//! bits and back.

use std::fmt;
use std::ops::BitXorAssign;

use vesica_structures::rng::SecretRng;
use zeroize::Zeroize;

/// Bits, 64 a word, the first one lowest; those of the last word beyond the length are zero. Wiped
/// on drop and never printed.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Bits {
    words: Vec<u64>,
    len: usize,
}

impl Bits {
    /// `len` zeros.
    pub fn zeros(len: usize) -> Self {
        Self { words: vec![0; len.div_ceil(64)], len }
    }

    /// `len` ones.
    pub fn ones(len: usize) -> Self {
        Self::from_words(vec![u64::MAX; len.div_ceil(64)], len)
    }

    /// `len` random bits.
    pub fn random(len: usize, rng: &mut SecretRng) -> Self {
        let mut words = vec![0; len.div_ceil(64)];
        fill(&mut words, rng);
        Self::from_words(words, len)
    }

    /// The bits of these words. Bits beyond the length are cleared.
    ///
    /// # Panics
    /// If there are not `len / 64` words, rounded up.
    pub fn from_words(words: Vec<u64>, len: usize) -> Self {
        assert_eq!(words.len(), len.div_ceil(64), "as many words as the bits take");
        let mut bits = Self { words, len };
        bits.clear_rest();
        bits
    }

    /// The number of bits.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no bit.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The bits, 64 a word; those beyond the length are zero.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Bit `i`.
    ///
    /// # Panics
    /// If there is no bit `i`.
    pub fn get(&self, i: usize) -> bool {
        assert!(i < self.len, "bit {i} of {}", self.len);
        self.words[i / 64] >> (i % 64) & 1 == 1
    }

    /// Sets bit `i`.
    ///
    /// # Panics
    /// If there is no bit `i`.
    pub fn set(&mut self, i: usize, bit: bool) {
        assert!(i < self.len, "bit {i} of {}", self.len);
        let (word, place) = (&mut self.words[i / 64], i % 64);
        *word = *word & !(1 << place) | u64::from(bit) << place;
    }

    /// All bits, in order.
    pub fn iter(&self) -> impl Iterator<Item = bool> {
        (0..self.len).map(|i| self.words[i / 64] >> (i % 64) & 1 == 1)
    }

    /// How many are one.
    pub fn count_ones(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Flips all of them. On shares: what one side does to negate a value.
    pub fn flip(&mut self) {
        self.words.iter_mut().for_each(|word| *word = !*word);
        self.clear_rest();
    }

    fn clear_rest(&mut self) {
        if let (Some(last), rest @ 1..) = (self.words.last_mut(), self.len % 64) {
            *last &= u64::MAX >> (64 - rest);
        }
    }
}

impl BitXorAssign<&Bits> for Bits {
    /// # Panics
    /// If the lengths differ.
    fn bitxor_assign(&mut self, other: &Bits) {
        assert_eq!(self.len, other.len, "bits of one length");
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word ^= other);
    }
}

impl FromIterator<bool> for Bits {
    fn from_iter<I: IntoIterator<Item = bool>>(bits: I) -> Self {
        let mut bits = bits.into_iter();
        let (mut words, mut len) = (Vec::with_capacity(bits.size_hint().0.div_ceil(64)), 0);
        loop {
            let (mut word, before) = (0, len);
            for bit in bits.by_ref().take(64) {
                word |= u64::from(bit) << (len - before);
                len += 1;
            }
            if len > before {
                words.push(word);
            }
            if len < before + 64 {
                return Self { words, len };
            }
        }
    }
}

impl Drop for Bits {
    fn drop(&mut self) {
        self.words.zeroize();
    }
}

impl fmt::Debug for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bits(.. {})", self.len)
    }
}

/// Fills words with random bits.
pub(crate) fn fill(words: &mut [u64], rng: &mut SecretRng) {
    for pair in words.chunks_mut(2) {
        let block = rng.block();
        pair.iter_mut().zip([block as u64, (block >> 64) as u64]).for_each(|(word, random)| *word = random);
    }
}

/// Transposes a square of bits: bit `j` of `square[i]` changes places with bit `i` of `square[j]`.
pub(crate) fn transpose_64(square: &mut [u64; 64]) {
    let mut mask = u64::MAX >> 32;
    let mut side = 32;
    while side > 0 {
        for i in (0..64).filter(|i| i & side == 0) {
            let swapped = (square[i] >> side ^ square[i | side]) & mask;
            square[i] ^= swapped << side;
            square[i | side] ^= swapped;
        }
        side /= 2;
        mask ^= mask << side;
    }
}

/// The 8 planes of 64 bytes: bit `i` of plane `j` is bit `j` of byte `i`.
pub(crate) fn planes_8(bytes: &[u8; 64]) -> [u64; 8] {
    let (eights, _) = bytes.as_chunks::<8>();
    let squares: [[u8; 8]; 8] = std::array::from_fn(|i| transpose_8(u64::from_le_bytes(eights[i])).to_le_bytes());
    std::array::from_fn(|j| u64::from_le_bytes(std::array::from_fn(|i| squares[i][j])))
}

/// Transposes a square of 8 bytes.
fn transpose_8(mut square: u64) -> u64 {
    for (shift, mask) in [(7, 0x00aa_00aa_00aa_00aa), (14, 0x0000_cccc_0000_cccc), (28, 0x0000_0000_f0f0_f0f0)] {
        let swapped = (square ^ square >> shift) & mask;
        square ^= swapped ^ swapped << shift;
    }
    square
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transposes_are_what_they_say() {
        let mut rng = SecretRng::insecure_from_seed(1);
        let mut square = [0; 64];
        fill(&mut square, &mut rng);
        let mut other = square;
        transpose_64(&mut other);
        let bytes: [u8; 64] = std::array::from_fn(|i| square[i] as u8);
        let planes = planes_8(&bytes);
        for i in 0..64 {
            for j in 0..64 {
                assert_eq!(square[i] >> j & 1, other[j] >> i & 1);
                if j < 8 {
                    assert_eq!(planes[j] >> i & 1, u64::from(bytes[i] >> j & 1));
                }
            }
        }
    }

    #[test]
    fn bits_beyond_the_length_stay_zero() {
        for len in [0usize, 1, 63, 64, 65, 130] {
            let mut bits = Bits::ones(len);
            assert_eq!(bits.count_ones(), len);
            bits.flip();
            assert_eq!(bits, Bits::zeros(len));
            let random = Bits::random(len, &mut SecretRng::insecure_from_seed(2));
            bits ^= &random;
            assert_eq!(bits, random.iter().collect());
            bits.flip();
            assert_eq!(bits.count_ones(), len - random.count_ones());
        }
    }
}
