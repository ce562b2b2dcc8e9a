//! Packing of values whose width is no whole number of bytes.

use crate::fields::Cell;

/// Bytes of `count` values of `width` bits.
pub const fn packed_len(count: usize, width: u32) -> usize {
    (count * width as usize).div_ceil(8)
}

/// Appends the low `width` bits of each value to `out`, the lowest bit first; the last byte is
/// filled up with zeros.
///
/// # Panics
/// If `width` is not in `1..=V::BITS`.
pub fn pack<V: Cell>(values: &[V], width: u32, out: &mut Vec<u8>) {
    assert!((1..=V::BITS).contains(&width), "a width of 1 to {} bits", V::BITS);
    out.reserve(packed_len(values.len(), width));
    let (mut word, mut filled) = (0u128, 0);
    let mut push = |bits: u64, count: u32, out: &mut Vec<u8>| {
        word |= u128::from(bits) << filled;
        filled += count;
        if filled >= 64 {
            out.extend_from_slice(&(word as u64).to_le_bytes());
            word >>= 64;
            filled -= 64;
        }
    };
    let whole = (width / 64) as usize;
    let rest = width % 64;
    for value in values {
        let words = value.words();
        for &word in &words[..whole] {
            push(word, 64, out);
        }
        if rest > 0 {
            push(words[whole] & (u64::MAX >> (64 - rest)), rest, out);
        }
    }
    out.extend_from_slice(&word.to_le_bytes()[..filled.div_ceil(8) as usize]);
}

/// Reads as many values as `values` has room for from [`packed_len`] bytes; nothing where the bits
/// that fill up the last byte are not zero.
///
/// # Panics
/// If `width` is not in `1..=V::BITS`, or there is another number of bytes.
#[must_use]
pub fn unpack<V: Cell>(bytes: &[u8], width: u32, values: &mut [V]) -> Option<()> {
    assert!((1..=V::BITS).contains(&width), "a width of 1 to {} bits", V::BITS);
    assert_eq!(bytes.len(), packed_len(values.len(), width), "as many bytes as the values take");
    let (words, rest) = bytes.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let mut words = words.iter().copied().chain([last]).map(u64::from_le_bytes);
    let (mut word, mut filled) = (0u128, 0);
    let mut pull = |count: u32| {
        if filled < count {
            // There is a word: the bytes hold `width` bits for each value.
            word |= u128::from(words.next().unwrap_or(0)) << filled;
            filled += 64;
        }
        let bits = word as u64 & (u64::MAX >> (64 - count));
        word >>= count;
        filled -= count;
        bits
    };
    let whole = (width / 64) as usize;
    let rest = width % 64;
    for value in &mut *values {
        *value = V::default();
        let words = value.words_mut();
        for word in &mut words[..whole] {
            *word = pull(64);
        }
        if rest > 0 {
            words[whole] = pull(rest);
        }
    }
    (word == 0).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::{self, Bits512, Bits1024, Gf64, Gf128};
    use crate::rng::SecretRng;

    /// A random value of `width` bits.
    fn narrow<V: Cell>(width: u32, rng: &mut SecretRng) -> V {
        let mut value: V = fields::random(rng);
        for (word, from) in value.words_mut().iter_mut().zip((0..).step_by(64)) {
            *word &= u64::MAX.checked_shr((from + 64u32).saturating_sub(width)).unwrap_or(0);
        }
        value
    }

    fn comes_back<V: Cell>() {
        let mut rng = SecretRng::insecure_from_seed(5);
        for width in 1..=V::BITS {
            for count in [0usize, 1, 2, 3, 7, 8, 63, 64, 65] {
                let values: Vec<V> = (0..count).map(|_| narrow(width, &mut rng)).collect();
                let mut bytes = vec![9];
                pack(&values, width, &mut bytes);
                let bytes = &mut bytes[1..];
                assert_eq!(bytes.len(), packed_len(count, width));
                // Bit by bit, as the definition has it.
                for (i, value) in values.iter().enumerate() {
                    for bit in 0..width as usize {
                        let place = i * width as usize + bit;
                        assert_eq!(
                            u64::from(bytes[place / 8] >> (place % 8) & 1),
                            value.words()[bit / 64] >> (bit % 64) & 1,
                            "{width} bits, {count} values"
                        );
                    }
                }
                let mut back = vec![V::default(); count];
                assert_eq!(unpack(bytes, width, &mut back), Some(()));
                assert_eq!(back, values, "{width} bits, {count} values");
                if !(count * width as usize).is_multiple_of(8) {
                    *bytes.last_mut().unwrap() |= 0x80;
                    assert_eq!(unpack(bytes, width, &mut back), None, "{width} bits, {count} values");
                }
            }
        }
    }

    #[test]
    fn values_of_every_width_come_back_and_stray_bits_are_seen() {
        comes_back::<Gf64>();
        comes_back::<Gf128>();
        comes_back::<Bits512>();
        comes_back::<Bits1024>();
    }
}
