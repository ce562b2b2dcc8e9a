//! Strings of bits, each bit a hash of one item under a key of its own. OPRFs by bitwise AND
//! consist of such strings.
//!
//! A string of `l` bits takes `l` calls of a hash, whoever computes it: one party knows half of
//! another's keys, so that no two bits can come from one call.

use vesica_kernels::aes::Aes128;
use vesica_kernels::sha256::KeyedBits;
use vesica_kernels::transpose::transpose_128x128;
use zeroize::Zeroize;

use crate::fields::Cell;

/// Items hashed under one key at a time, and bits of a string that are put in place together.
const ITEMS_PER_BATCH: usize = 128;

/// Bit `i` is the lowest bit of `SHA-256(key i, item, suffix)`, as a number whose first byte is its
/// highest; all have 16 bytes, the lowest first.
pub struct Sha256Bits(KeyedBits);

impl Sha256Bits {
    /// The function of these keys. The suffix is optional.
    pub fn new(keys: &[u128], suffix: Option<u128>) -> Self {
        Self(KeyedBits::new(keys, suffix))
    }

    /// The strings of these items; bits without a key are zero.
    ///
    /// # Panics
    /// If there are more keys than a string has bits, or not as many strings as items.
    pub fn eval<C: Cell>(&self, items: &[u128], out: &mut [C]) {
        self.0.eval(items, size_of::<C>() / size_of::<u16>(), bytemuck::cast_slice_mut(out));
    }
}

/// Bit `i` is the lowest bit of `pi(y) + y`, with `y` the item plus an offset and `pi` AES-128
/// under key `i`.
pub struct AesBits {
    keys: Vec<Aes128>,
    offset: u128,
}

impl AesBits {
    /// The function whose bit `i` has key `keys[i]`.
    pub fn new(keys: &[u128], offset: u128) -> Self {
        Self { keys: keys.iter().map(|&key| Aes128::new(key)).collect(), offset }
    }

    /// The strings of these items; bits without a key are zero.
    ///
    /// # Panics
    /// If there are more keys than a string has bits, or not as many strings as items.
    pub fn eval<C: Cell>(&self, items: &[u128], out: &mut [C]) {
        assert!(
            items.len() == out.len() && self.keys.len() <= C::BITS as usize,
            "a string for each item, a bit for each key"
        );
        let (mut salted, mut tile) = ([0; ITEMS_PER_BATCH], [0; ITEMS_PER_BATCH]);
        for (items, out) in items.chunks(ITEMS_PER_BATCH).zip(out.chunks_mut(ITEMS_PER_BATCH)) {
            for (salted, item) in salted.iter_mut().zip(items) {
                *salted = item ^ self.offset;
            }
            for (place, keys) in (0..C::BITS as usize)
                .step_by(ITEMS_PER_BATCH)
                .zip(self.keys.chunks(ITEMS_PER_BATCH).chain(std::iter::repeat(&[][..])))
            {
                tile.fill(0);
                for (bits, key) in tile.iter_mut().zip(keys) {
                    *bits = key.mmo_bits(&salted);
                }
                transpose_128x128(&mut tile);
                for (string, bits) in out.iter_mut().zip(&tile) {
                    let words = &mut string.words_mut()[place / 64..];
                    words.iter_mut().zip([*bits as u64, (bits >> 64) as u64]).for_each(|(word, bits)| *word = bits);
                }
            }
        }
        salted.zeroize();
        tile.zeroize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::{Bits512, Gf128};
    use crate::rng::SecretRng;

    /// Both, bit by bit, for strings of a width with every bit of what was in `out` gone.
    fn strings_are_those_of_the_definition<C: Cell>(width: usize) {
        let mut rng = SecretRng::insecure_from_seed(width as u64);
        let keys: Vec<u128> = (0..width).map(|_| rng.block()).collect();
        let items: Vec<u128> = (0..130).map(|_| rng.block()).collect();
        let offset = rng.block();
        let filled = || {
            let mut out = vec![C::default(); items.len()];
            out.iter_mut().for_each(|cell| cell.words_mut().fill(!0));
            out
        };
        let (mut sha, mut aes) = (filled(), filled());
        Sha256Bits::new(&keys, Some(offset)).eval(&items, &mut sha);
        AesBits::new(&keys, offset).eval(&items, &mut aes);
        let bit = |strings: &[C], item: usize, i: usize| strings[item].words()[i / 64] >> (i % 64) & 1;
        for (item, &own) in items.iter().enumerate() {
            for i in 0..C::BITS as usize {
                let (mut of_sha, mut of_aes) = (0, [0]);
                if let Some(&key) = keys.get(i) {
                    let mut word = [0];
                    KeyedBits::new(&[key], Some(offset)).eval(&[own], 1, &mut word);
                    of_sha = word[0] & 1;
                    Aes128::new(key).mmo(&[own ^ offset], &mut of_aes);
                }
                assert_eq!(bit(&sha, item, i), u64::from(of_sha), "{width} bits, item {item}, bit {i}");
                assert_eq!(bit(&aes, item, i), of_aes[0] as u64 & 1, "{width} bits, item {item}, bit {i}");
            }
        }
    }

    #[test]
    fn a_string_has_a_bit_of_each_key() {
        [0, 1, 72, 128].into_iter().for_each(strings_are_those_of_the_definition::<Gf128>);
        [438, 512].into_iter().for_each(strings_are_those_of_the_definition::<Bits512>);
    }
}
