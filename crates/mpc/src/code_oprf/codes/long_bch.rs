//! The BCH code of PRTY20's malicious mode, for words of 192 bits.

use std::sync::LazyLock;

use vesica_kernels::transpose::transpose_128x128;

use super::cyclic::Cyclic;
use super::linear::LinearCode;
use crate::code_oprf::rows::MatrixRow;

/// Bits of a word of the code that is shortened.
const LENGTH: usize = 1023;

/// Bits that such a word stands for.
const DIMENSION: usize = 377;

/// `alpha^0` is among the roots, too: all words have even weight.
const LAST_ROOT: usize = 166;

/// The primitive BCH code [1023, 377, 168].
static CODE: Cyclic = Cyclic {
    degree: 10,
    // x^10 + x^3 + 1
    field: 1 << 10 | 1 << 3 | 1,
    roots: 0..=LAST_ROOT,
    dimension: DIMENSION,
    generator: LazyLock::new(|| CODE.make_generator()),
};

/// A binary linear code [838, 192, 168]: the primitive BCH code [1023, 377, 168], *shortened* to words of
/// [`WORD_BITS`](Self::WORD_BITS) bits.
///
/// The distance is [`KAPPA`](vesica_structures::facts::KAPPA) `+` [`LAMBDA`](vesica_structures::facts::LAMBDA): a corrupt
/// receiver that passes the consistency check has guessed at most [`LAMBDA`](vesica_structures::facts::LAMBDA) bits of
/// the sender's secret, except with `2^-41`.
pub struct LongBch(LinearCode);

impl std::fmt::Debug for LongBch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LongBch")
    }
}

impl LongBch {
    /// Bits of what is encoded.
    pub const WORD_BITS: usize = 192;

    /// Bits of a code word.
    pub const WIDTH: usize = LENGTH - (DIMENSION - Self::WORD_BITS);

    /// Places in which any two code words differ, at least.
    pub const DISTANCE: usize = LAST_ROOT + 2;

    /// The code.
    pub fn new() -> Self {
        let rows: Vec<[u128; 8]> = (0..Self::WORD_BITS).map(|bit| CODE.row(bit, 0)).collect();
        Self(LinearCode::new(&rows, Self::WIDTH))
    }

    /// Calls `each` with the number and the code word of each of these words, of which bits from
    /// [`WORD_BITS`](Self::WORD_BITS) on are ignored.
    pub fn words<R: MatrixRow>(&self, words: &[[u64; 4]], each: impl FnMut(usize, R)) {
        let block = |number: usize, block: usize| {
            let [low, high] = [words[number][2 * block], words[number][2 * block + 1]].map(u128::from);
            low | high << 64
        };
        self.0.words(words.len(), block, each);
    }

    /// The same for 128 words that come bit by bit: `bits[i]` has bit `i` of all of them.
    ///
    /// # Panics
    /// If there are not [`WORD_BITS`](Self::WORD_BITS) bits.
    pub fn words_of_bits<R: MatrixRow>(&self, bits: &[u128], each: impl FnMut(usize, R)) {
        assert_eq!(bits.len(), Self::WORD_BITS, "all bits of the words");
        let mut blocks = [[0; 128]; Self::WORD_BITS.div_ceil(128)];
        for (tile, bits) in blocks.iter_mut().zip(bits.chunks(128)) {
            tile[..bits.len()].copy_from_slice(bits);
            transpose_128x128(tile);
        }
        self.0.words(128, |number, block| blocks[block][number], each);
    }
}

impl Default for LongBch {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use vesica_structures::facts::{KAPPA, LAMBDA};
    use vesica_structures::rng::SecretRng;

    use super::*;

    /// Of all words that are encoded, so that their sums, too, have the roots.
    #[test]
    fn dimension_and_distance_are_as_stated() {
        CODE.check::<[u128; 8]>((0..LongBch::WORD_BITS).chain([376]));
        assert_eq!((CODE.length(), CODE.distance()), (LENGTH, LongBch::DISTANCE));
        assert_eq!((LongBch::WIDTH, LongBch::DISTANCE), (838, (KAPPA + LAMBDA) as usize));
    }

    #[test]
    fn words_are_the_same_bit_by_bit() {
        let mut rng = SecretRng::insecure_from_seed(2);
        let bits: Vec<u128> = (0..LongBch::WORD_BITS).map(|_| rng.block()).collect();
        let word = |i: usize| {
            let mut word = [0; 4];
            bits.iter().enumerate().for_each(|(bit, all)| word[bit / 64] |= ((all >> i & 1) as u64) << (bit % 64));
            word
        };
        let (code, mut one_way, mut other_way) = (LongBch::new(), Vec::new(), Vec::new());
        code.words(&(0..128).map(word).collect::<Vec<_>>(), |i, word: [u128; 8]| one_way.push((i, word)));
        code.words_of_bits(&bits, |i, word: [u128; 8]| other_way.push((i, word)));
        assert_eq!(one_way, other_way);
    }

    /// Designed distances around the one chosen, with the places that may be left out for 168: no other code
    /// of this kind and length is shorter.
    #[test]
    fn no_other_code_of_this_length_is_shorter() {
        let conjugates = |roots: std::ops::RangeInclusive<usize>| {
            let mut is_root = [false; 1023];
            for root in roots {
                (0..10).fold(root, |conjugate, _| {
                    is_root[conjugate] = true;
                    2 * conjugate % 1023
                });
            }
            is_root.iter().filter(|&&is_root| is_root).count()
        };
        let redundancy = |first: usize, distance: usize| {
            // As many consecutive roots from `first` on as the distance asks for.
            conjugates(first..=first + distance - 2) - (distance - 168)
        };
        let least = (168..=511).flat_map(|distance| [0, 1].map(|first| redundancy(first, distance))).min();
        assert_eq!(least, Some(LongBch::WIDTH - LongBch::WORD_BITS));
    }

    #[test]
    fn random_words_and_those_of_light_keys_keep_the_distance() {
        let mut rng = SecretRng::insecure_from_seed(1);
        let ones = |bits: &[usize]| {
            let mut word = [0; 4];
            bits.iter().for_each(|bit| word[bit / 64] |= 1 << (bit % 64));
            word
        };
        let light = (0..LongBch::WORD_BITS).flat_map(|i| (0..=i).map(move |j| ones(&[i, j])));
        let random = (0..5000).map(|_| std::array::from_fn(|word| if word < 3 { rng.block() as u64 | 1 } else { 0 }));
        let words: Vec<[u64; 4]> = light.chain(random).collect();
        let (mut lightest, mut union, mut count) = (usize::MAX, [0; 8], 0);
        LongBch::new().words(&words, |_, word: [u128; 8]| {
            lightest = lightest.min(word.iter().map(|block| block.count_ones() as usize).sum());
            union.iter_mut().zip(word).for_each(|(union, block)| *union |= block);
            count += 1;
        });
        assert!(lightest >= LongBch::DISTANCE, "{lightest} ones");
        assert_eq!(count, words.len());
        assert_eq!(union, crate::code_oprf::rows::ones::<[u128; 8]>(LongBch::WIDTH));
    }
}
