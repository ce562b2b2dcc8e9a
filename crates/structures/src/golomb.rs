//! Sorted masks in Golomb-Rice code: what a sender of pseudo-random masks can save once their order says nothing.
//!
//! `n` sorted values of `width` bits are their gaps, of mean `2^width / n`. A gap is a remainder of `k` bits and a quotient in unary, with
//! `k = width - floor(log2 n) - 1`, a function of `(width, n)` alone: about `width - log2(n) + 1.54` bits a value when the values are uniform.
//! On the wire stand first all remainders, `n * k` bits, then all quotients, each `q` zeros and a one, then fewer than 8 zero bits; bits count
//! from the least significant of each byte. The remainders' places are thus known, and the decoder's only serial work is to look for ones.

use std::ops::RangeInclusive;

/// Why bytes are no code of `count` sorted values of `width` bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// The number of bytes is outside of [`len_range`].
    #[error("the coded masks have an impossible length")]
    Length,
    /// Fewer quotients than values.
    #[error("the coded masks end early")]
    TooFew,
    /// Bits after the last quotient.
    #[error("the coded masks are followed by other bits")]
    Trailing,
    /// The values' running sum reaches `2^width`.
    #[error("a coded mask is wider than agreed")]
    TooWide,
}

/// Bits of a gap's remainder: `width - floor(log2 count) - 1`, at least 0.
fn remainder_bits(count: usize, width: u32) -> u32 {
    width.saturating_sub(count.max(1).ilog2() + 1)
}

/// The largest value of `width` bits.
fn largest(width: u32) -> u128 {
    u128::MAX >> (128 - width)
}

fn check_width(width: u32) {
    assert!((1..=128).contains(&width), "a mask has 1 to 128 bits");
}

/// The least and the greatest length in bytes of a code of `count` values of `width` bits; `count * width` must fit `usize`.
///
/// # Panics
/// If `width` is not in `1..=128`.
pub fn len_range(count: usize, width: u32) -> RangeInclusive<usize> {
    check_width(width);
    if count == 0 {
        return 0..=0;
    }
    let k = remainder_bits(count, width);
    let least = count * (k as usize + 1);
    // The quotients together are at most the largest value's: fewer than 2 * count where k > 0, and than 2^width <= 2 * count where k = 0.
    let quotients = (largest(width) >> k) as usize;
    least.div_ceil(8)..=(least + quotients).div_ceil(8)
}

/// The code of `values`, which ascend (equal neighbours are allowed) and have `width` bits.
///
/// # Panics
/// If `width` is not in `1..=128`, the values do not ascend, or one is wider.
pub fn encode_sorted(values: &[u128], width: u32) -> Vec<u8> {
    let longest = *len_range(values.len(), width).end();
    let Some(&last) = values.last() else { return Vec::new() };
    assert!(last <= largest(width), "a mask is wider than {width} bits");
    let k = remainder_bits(values.len(), width);
    let mut out = BitWriter::with_capacity(longest);
    let mut previous = 0;
    for &value in values {
        assert!(value >= previous, "the masks are not sorted");
        let gap = value - previous;
        if k > 64 {
            out.push(gap as u64, 64);
            out.push((gap >> 64) as u64 & low_bits(k - 64), k - 64);
        } else {
            out.push(gap as u64 & low_bits(k), k);
        }
        previous = value;
    }
    previous = 0;
    for &value in values {
        let mut quotient = (value - previous) >> k;
        while quotient >= 63 {
            out.push(0, 63);
            quotient -= 63;
        }
        out.push(1 << quotient, quotient as u32 + 1);
        previous = value;
    }
    out.finish()
}

/// The `count` ascending values of `width` bits that `bytes` are the code of. Total: it never panics on any bytes, and allocates `count` values
/// at most, once the length is plausible.
///
/// # Errors
/// If `bytes` are not exactly what [`encode_sorted`] gives for some values.
///
/// # Panics
/// If `width` is not in `1..=128`.
pub fn decode_sorted(bytes: &[u8], count: usize, width: u32) -> Result<Vec<u128>, Malformed> {
    if !len_range(count, width).contains(&bytes.len()) {
        return Err(Malformed::Length);
    }
    if count == 0 {
        return Ok(Vec::new());
    }
    let k = remainder_bits(count, width);
    let largest = largest(width);
    let mut quotients = Quotients::new(bytes, count * k as usize);
    let mut values = Vec::with_capacity(count);
    let mut sum = 0u128;
    let mut position = 0;
    for _ in 0..count {
        let quotient = u128::from(quotients.next().ok_or(Malformed::TooFew)?);
        let remainder = if k > 64 {
            u128::from(read_bits(bytes, position, 64)) | u128::from(read_bits(bytes, position + 64, k - 64)) << 64
        } else {
            u128::from(read_bits(bytes, position, k))
        };
        position += k as usize;
        if quotient > largest >> k {
            return Err(Malformed::TooWide);
        }
        sum = sum.checked_add(quotient << k | remainder).filter(|&sum| sum <= largest).ok_or(Malformed::TooWide)?;
        values.push(sum);
    }
    quotients.finish()?;
    Ok(values)
}

/// A word whose low `count <= 64` bits are set.
fn low_bits(count: u32) -> u64 {
    if count == 0 { 0 } else { u64::MAX >> (64 - count) }
}

/// Bits into bytes, least significant first.
struct BitWriter {
    bytes: Vec<u8>,
    /// Bits not yet in `bytes`, `held < 64` of them.
    pending: u64,
    held: u32,
}

impl BitWriter {
    fn with_capacity(bytes: usize) -> Self {
        Self { bytes: Vec::with_capacity(bytes + 8), pending: 0, held: 0 }
    }

    /// Appends the low `count <= 64` bits of `bits`, whose other bits are zero.
    #[inline]
    fn push(&mut self, bits: u64, count: u32) {
        self.pending |= bits << self.held;
        let held = self.held + count;
        if held >= 64 {
            self.bytes.extend_from_slice(&self.pending.to_le_bytes());
            // What did not fit; in two shifts, for 64 places would be one too many.
            self.pending = (bits >> 1) >> (63 - self.held);
        }
        self.held = held % 64;
    }

    fn finish(mut self) -> Vec<u8> {
        self.bytes.extend_from_slice(&self.pending.to_le_bytes()[..self.held.div_ceil(8) as usize]);
        self.bytes
    }
}

/// The eight bytes from `at` on as a little-endian word, with zeros after the end.
#[inline]
fn word_at(bytes: &[u8], at: usize) -> u64 {
    if let Some(&word) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        return u64::from_le_bytes(word);
    }
    bytes.iter().skip(at).take(8).rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

/// The `count <= 64` bits from `position` on.
#[inline]
fn read_bits(bytes: &[u8], position: usize, count: u32) -> u64 {
    let shift = position as u32 % 8;
    let low = word_at(bytes, position / 8) >> shift;
    let high = bytes.get(position / 8 + 8).map_or(0, |&byte| (u64::from(byte) << 1) << (63 - shift));
    (low | high) & low_bits(count)
}

/// The quotients in unary, from a bit position on.
struct Quotients<'a> {
    bytes: &'a [u8],
    /// Byte where the word after `word` starts.
    next_byte: usize,
    /// What is left of the word under work: ones not yet read.
    word: u64,
    /// Bits read of `word`, and zeros of the quotient under way, seen in words before it.
    read: u32,
    zeros: u64,
}

impl<'a> Quotients<'a> {
    fn new(bytes: &'a [u8], position: usize) -> Self {
        let skip = position as u32 % 8;
        let word = word_at(bytes, position / 8) & !low_bits(skip);
        Self { bytes, next_byte: position / 8 + 8, word, read: skip, zeros: 0 }
    }

    /// The next quotient, or none when no one is left.
    #[inline]
    fn next(&mut self) -> Option<u64> {
        while self.word == 0 {
            if self.next_byte >= self.bytes.len() {
                return None;
            }
            self.zeros += u64::from(64 - self.read);
            self.read = 0;
            self.word = word_at(self.bytes, self.next_byte);
            self.next_byte += 8;
        }
        let place = self.word.trailing_zeros();
        let quotient = self.zeros + u64::from(place - self.read);
        self.word &= self.word - 1;
        self.read = place + 1;
        self.zeros = 0;
        Some(quotient)
    }

    /// Nothing but fewer than 8 zero bits may follow the last quotient.
    fn finish(self) -> Result<(), Malformed> {
        let used = self.next_byte - 8 + self.read.div_ceil(8) as usize;
        if self.word == 0 && used == self.bytes.len() { Ok(()) } else { Err(Malformed::Trailing) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::rng::SecretRng;

    fn sorted_masks(count: usize, width: u32, seed: u64) -> Vec<u128> {
        let mut rng = SecretRng::insecure_from_seed(seed);
        let mut masks: Vec<u128> = (0..count).map(|_| rng.block() & largest(width)).collect();
        masks.sort_unstable();
        masks
    }

    #[test]
    fn roundtrip_over_counts_and_widths() {
        for width in [1, 2, 7, 8, 40, 63, 64, 65, 66, 72, 82, 90, 127, 128] {
            for count in [0, 1, 2, 3, 4, 5, 31, 32, 33, 1000, 4096] {
                let masks = sorted_masks(count, width, u64::from(width) << 32 | count as u64);
                let bytes = encode_sorted(&masks, width);
                assert!(len_range(count, width).contains(&bytes.len()), "{count} masks of {width} bits");
                assert_eq!(decode_sorted(&bytes, count, width).as_ref(), Ok(&masks), "{count} masks of {width} bits");
            }
        }
    }

    #[test]
    fn the_length_range_is_tight() {
        for width in [1, 5, 64, 82, 128] {
            for count in [1, 2, 3, 100, 1 << 10, 1500] {
                let shortest = encode_sorted(&vec![0; count], width);
                assert_eq!(shortest.len(), *len_range(count, width).start());
                let longest = encode_sorted(&vec![largest(width); count], width);
                assert_eq!(longest.len(), *len_range(count, width).end());
                assert_eq!(decode_sorted(&longest, count, width), Ok(vec![largest(width); count]));
            }
        }
    }

    #[test]
    fn costs_what_the_design_says() {
        // DESIGN 2.3: 57.5 bits a mask at 2^16 with masks of 40 + 16 + 16 bits.
        let bits = encode_sorted(&sorted_masks(1 << 16, 72, 1), 72).len() as f64 * 8.0 / 65536.0;
        assert!((57.5..57.6).contains(&bits), "{bits} bits a mask");
        let bits = encode_sorted(&sorted_masks(1 << 16, 128, 1), 128).len() as f64 * 8.0 / 65536.0;
        assert!((113.5..113.6).contains(&bits), "{bits} bits a mask");
    }

    #[test]
    fn known_bytes() {
        // Three values of 8 bits: k = 8 - 1 - 1 = 6. Gaps 5, 0, 195 = 3 * 64 + 3: remainders 5, 0, 3; quotients 0, 0, 3.
        let bits = 0b101u32 | 3 << 12 | 1 << 18 | 1 << 19 | 0b1000 << 20;
        assert_eq!(encode_sorted(&[5, 5, 200], 8), bits.to_le_bytes()[..3].to_vec());
    }

    #[test]
    fn refuses_what_is_malformed() {
        let masks = sorted_masks(100, 40, 7);
        let good = encode_sorted(&masks, 40);
        for cut in 0..good.len() {
            assert!(decode_sorted(&good[..cut], 100, 40).is_err(), "{cut} bytes of {}", good.len());
        }
        let mut longer = good.clone();
        longer.push(0);
        assert_eq!(decode_sorted(&longer, 100, 40), Err(Malformed::Trailing));
        assert_eq!(decode_sorted(&vec![0; good.len()], 100, 40), Err(Malformed::TooFew));
        assert_eq!(decode_sorted(&vec![0xff; good.len()], 100, 40), Err(Malformed::Trailing));
        assert_eq!(decode_sorted(&[1], 0, 40), Err(Malformed::Length));
        // One value of 8 bits: k = 7, then `01`: the quotient 1. Each padding bit must be zero, and a second one is no value.
        assert_eq!(decode_sorted(&[0, 1], 1, 8), Ok(vec![128]));
        assert_eq!(decode_sorted(&[0, 3], 1, 8), Err(Malformed::Trailing));
        assert_eq!(decode_sorted(&[0, 2], 1, 8), Err(Malformed::TooWide));
        // 2^128 overflows even the accumulator.
        let mut overflow = encode_sorted(&[u128::MAX, u128::MAX], 128);
        overflow[16] ^= 1;
        assert_eq!(decode_sorted(&overflow, 2, 128), Err(Malformed::TooWide));
    }

    #[test]
    #[should_panic(expected = "not sorted")]
    fn refuses_to_encode_what_is_not_sorted() {
        encode_sorted(&[2, 1], 8);
    }

    proptest! {
        #[test]
        fn any_sorted_values_survive(mut values in proptest::collection::vec(any::<u128>(), 0..200), width in 1u32..=128, squeeze in 0u32..128) {
            for value in &mut values {
                *value = (*value >> squeeze) & largest(width);
            }
            values.sort_unstable();
            let bytes = encode_sorted(&values, width);
            prop_assert!(len_range(values.len(), width).contains(&bytes.len()));
            prop_assert_eq!(decode_sorted(&bytes, values.len(), width), Ok(values));
        }

        /// Whatever decodes is the code of what it decodes to: no value has two codes, and nothing panics.
        #[test]
        fn decoding_is_total_and_canonical(bytes in proptest::collection::vec(any::<u8>(), 0..64), count in 0usize..40, width in 1u32..=128) {
            if let Ok(values) = decode_sorted(&bytes, count, width) {
                prop_assert_eq!(values.len(), count);
                prop_assert_eq!(encode_sorted(&values, width), bytes);
            }
        }

        #[test]
        fn flipped_bits_never_pass_unseen(seed in any::<u64>(), count in 1usize..50, width in 1u32..=128, bit in any::<usize>()) {
            let masks = sorted_masks(count, width, seed);
            let mut bytes = encode_sorted(&masks, width);
            let bit = bit % (bytes.len() * 8);
            bytes[bit / 8] ^= 1 << (bit % 8);
            prop_assert_ne!(decode_sorted(&bytes, count, width), Ok(masks));
        }
    }
}
