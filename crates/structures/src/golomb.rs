//! Golomb-Rice code of sorted tags. A sender of pseudo-random tags may sort them if their order
//! says nothing, and sorted tags take fewer bits.
//!
//! `n` sorted values of `width` bits are their gaps, of mean `2^width / n`. A gap is a remainder of
//! `k` bits and a quotient in unary, with `k = width - floor(log2 n) - 1`, a function of `(width,
//! n)` alone: about `width - log2(n) + 1.54` bits a value when the values are uniform.
//!
//! A list is coded in parts of [`PART`] values, so that one side works on a part while the other
//! makes the next; a part's first gap is that to the value before it. First stand all remainders of
//! the part, `k` bits each, then all quotients, each `q` zeros and a one, then fewer than 8
//! zero bits; bits count from the least significant of each byte. The remainders' places are thus
//! known, and the decoder's only serial work is to look for ones.

use std::ops::RangeInclusive;

/// Why bytes are no code of `count` sorted values of `width` bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// The number of bytes is outside of [`Code::part_len_range`].
    #[error("the coded tags have an impossible length")]
    Length,
    /// Fewer quotients than values.
    #[error("the coded tags end early")]
    TooFew,
    /// Bits after the last quotient.
    #[error("the coded tags are followed by other bits")]
    Trailing,
    /// The values' running sum reaches `2^width`.
    #[error("a coded tag is wider than agreed")]
    TooWide,
}

/// Tags of a part, except for the last one.
pub const PART: usize = 1 << 14;

/// The code of a list: what both sides know of it.
#[derive(Clone, Copy, Debug)]
pub struct Code {
    count: usize,
    largest: u128,
    /// Bits of a gap's remainder, `k`.
    remainder_bits: u32,
}

impl Code {
    /// The code of `count` values of `width` bits; `count * width` must fit `usize`.
    ///
    /// # Panics
    /// If `width` is not in `1..=128`.
    pub fn new(count: usize, width: u32) -> Self {
        assert!((1..=128).contains(&width), "a tag has 1 to 128 bits");
        let remainder_bits = width.saturating_sub(count.max(1).ilog2() + 1);
        Self { count, largest: u128::MAX >> (128 - width), remainder_bits }
    }

    /// How many values each part has.
    pub fn parts(self) -> impl Iterator<Item = usize> {
        (0..self.count).step_by(PART).map(move |first| PART.min(self.count - first))
    }

    /// The bits of all quotients of the values from `previous` on, but for the ones that end them.
    fn quotients(self, previous: u128) -> usize {
        // Fewer than 2 * count where k > 0, and than 2^width <= 2 * count where k = 0.
        ((self.largest - previous) >> self.remainder_bits) as usize
    }

    /// The least and the greatest length in bytes of all parts together.
    pub fn len_range(self) -> RangeInclusive<usize> {
        let least = |values: usize| (values * (self.remainder_bits as usize + 1)).div_ceil(8);
        let parts = self.count.div_ceil(PART);
        let Some(before_last) = parts.checked_sub(1) else { return 0..=0 };
        let last = self.count - before_last * PART;
        // A part of PART values fills its bytes, so that one bit more costs it a byte; the last part takes
        // the rest.
        let quotients = self.quotients(0);
        let spread = before_last.min(quotients);
        let longest_last = (last * (self.remainder_bits as usize + 1) + quotients - spread).div_ceil(8);
        before_last * least(PART) + least(last)..=before_last * least(PART) + spread + longest_last
    }

    /// The least and the greatest length in bytes of the part of `values` values that follows the
    /// value `previous`, 0 before the first one.
    pub fn part_len_range(self, values: usize, previous: u128) -> RangeInclusive<usize> {
        if values == 0 {
            return 0..=0;
        }
        let least = values * (self.remainder_bits as usize + 1);
        least.div_ceil(8)..=(least + self.quotients(previous)).div_ceil(8)
    }

    /// Of a part of `values` random values: the bits that it takes in any case, and about the mean of
    /// those that its quotients take besides.
    pub fn bits_of(self, values: usize) -> (usize, usize) {
        // Gaps of mean c, in units of the remainder, lose a fraction when they are rounded down: the mean
        // of the quotients is 1 / (e^(1/c) - 1).
        let c = self.quotients(0) as f64 / self.count.max(1) as f64;
        let mean = if self.remainder_bits == 0 { c } else { c - 0.5 + 1.0 / (12.0 * c) };
        (values * (self.remainder_bits as usize + 1), (values as f64 * mean) as usize)
    }

    /// Appends the part of `values`, which ascend (equal neighbours are allowed) from `previous`
    /// on.
    ///
    /// # Panics
    /// If the values do not ascend, or one is too wide.
    pub fn encode(self, values: &[u128], previous: u128, out: &mut Vec<u8>) {
        let Some(&last) = values.last() else { return };
        assert!(last <= self.largest, "a tag is wider than agreed");
        let span = last.checked_sub(previous).expect("the tags are not sorted");
        let k = self.remainder_bits;
        let start = out.len();
        // The quotients' sum is at most that of the whole span: room for the part that it is, not for the
        // longest.
        let most_bits = values.len() * (k as usize + 1) + (span >> k) as usize;
        out.resize(start + most_bits.div_ceil(8) + SLACK, 0);
        // The quotients begin in the byte in which the remainders end. Both are written at once, to either
        // side of the byte's start.
        let bits = values.len() * k as usize;
        let (first, second) = out[start..].split_at_mut(bits / 8);
        let mut remainders = BitWriter::new(first, 0);
        let mut quotients = BitWriter::new(second, bits as u32 % 8);
        let mut before = previous;
        let mut sorted = true;
        for &value in values {
            sorted &= before <= value;
            let gap = value.wrapping_sub(before);
            before = value;
            if k > 64 {
                remainders.push(gap as u64, 64);
                remainders.push((gap >> 64) as u64 & low_bits(k - 64), k - 64);
            } else {
                remainders.push(gap as u64 & low_bits(k), k);
            }
            let mut quotient = gap >> k;
            while quotient >= 63 && sorted {
                quotients.push(0, 63);
                quotient -= 63;
            }
            quotients.push(1 << (quotient % 64), quotient as u32 % 64 + 1);
        }
        assert!(sorted, "the tags are not sorted");
        let (_, shared) = remainders.finish();
        let (length, _) = quotients.finish();
        out[start + bits / 8] |= shared;
        out.truncate(start + bits / 8 + length);
    }

    /// Appends the `values` values that `bytes` are the part of, which follow the value `previous`.
    /// Total: it never panics on any bytes, and makes room for `values` values at most, once
    /// the length is plausible.
    ///
    /// # Errors
    /// If `bytes` are not exactly what [`Code::encode`] gives for some values.
    pub fn decode(self, bytes: &[u8], values: usize, previous: u128, out: &mut Vec<u128>) -> Result<(), Malformed> {
        if previous > self.largest || !self.part_len_range(values, previous).contains(&bytes.len()) {
            return Err(Malformed::Length);
        }
        if values == 0 {
            return Ok(());
        }
        if self.remainder_bits <= 64 {
            self.decode_gaps(bytes, values, previous, out, |position| u128::from(read_word(bytes, position)))
        } else {
            self.decode_gaps(bytes, values, previous, out, |position| {
                u128::from(read_word(bytes, position)) | u128::from(read_word(bytes, position + 64)) << 64
            })
        }
    }

    /// [`Code::decode`] with a function that reads at least `k` bits from a position on.
    #[inline]
    fn decode_gaps(
        self,
        bytes: &[u8],
        values: usize,
        previous: u128,
        out: &mut Vec<u128>,
        read: impl Fn(usize) -> u128,
    ) -> Result<(), Malformed> {
        let k = self.remainder_bits;
        let (low, most) = ((1 << k) - 1, (self.largest >> k) as u64);
        let mut quotients = Quotients::new(bytes, values * k as usize);
        let mut sum = previous;
        let mut too_wide = false;
        out.reserve(values);
        for number in 0..values {
            let quotient = quotients.next().ok_or(Malformed::TooFew)?;
            let (next, carried) = sum.overflowing_add(u128::from(quotient) << k | read(number * k as usize) & low);
            too_wide |= carried | (quotient > most);
            sum = next;
            out.push(sum);
        }
        // They ascend, so that the last one is the largest.
        if too_wide || sum > self.largest {
            return Err(Malformed::TooWide);
        }
        quotients.finish()
    }
}

/// A word whose low `count <= 64` bits are set.
fn low_bits(count: u32) -> u64 {
    if count == 0 { 0 } else { u64::MAX >> (64 - count) }
}

/// What a [`BitWriter`] may write behind its last bit.
const SLACK: usize = 16;

/// Bits into bytes, least significant first.
struct BitWriter<'a> {
    bytes: &'a mut [u8],
    /// The place of the next word.
    at: usize,
    /// Bits not yet in `bytes`, `held < 64` of them.
    pending: u64,
    held: u32,
}

impl<'a> BitWriter<'a> {
    /// Writes behind the first `held` bits.
    fn new(bytes: &'a mut [u8], held: u32) -> Self {
        Self { bytes, at: 0, pending: 0, held }
    }

    /// Appends the low `count <= 64` bits of `bits`, whose other bits are zero.
    #[inline]
    fn push(&mut self, bits: u64, count: u32) {
        self.pending |= bits << self.held;
        let held = self.held + count;
        if held >= 64 {
            self.bytes[self.at..self.at + 8].copy_from_slice(&self.pending.to_le_bytes());
            self.at += 8;
            // What did not fit; in two shifts, for 64 places would be one too many.
            self.pending = (bits >> 1) >> (63 - self.held);
        }
        self.held = held % 64;
    }

    /// Writes what is pending, except for what lies behind the end of `bytes`: the bits of the byte
    /// there.
    fn finish(self) -> (usize, u8) {
        let pending = self.pending.to_le_bytes();
        let length = self.at + self.held.div_ceil(8) as usize;
        let fits = length.min(self.bytes.len()) - self.at;
        self.bytes[self.at..self.at + fits].copy_from_slice(&pending[..fits]);
        (length, pending.get(fits).copied().unwrap_or(0))
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

/// The 64 bits from `position` on, with zeros after the end.
#[inline]
fn read_word(bytes: &[u8], position: usize) -> u64 {
    let (at, shift) = (position / 8, position % 8);
    match bytes.get(at..).and_then(|rest| rest.first_chunk::<16>()) {
        Some(&chunk) => (u128::from_le_bytes(chunk) >> shift) as u64,
        None => ((u128::from(word_at(bytes, at)) | u128::from(word_at(bytes, at + 8)) << 64) >> shift) as u64,
    }
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

    fn sorted_tags(count: usize, width: u32, seed: u64) -> Vec<u128> {
        let mut rng = SecretRng::insecure_from_seed(seed);
        let mut tags: Vec<u128> = (0..count).map(|_| rng.block() >> (128 - width)).collect();
        tags.sort_unstable();
        tags
    }

    /// All parts, of which each must have a length in its range.
    fn encode(values: &[u128], width: u32) -> Vec<Vec<u8>> {
        let code = Code::new(values.len(), width);
        let mut previous = 0;
        let parts: Vec<Vec<u8>> = values
            .chunks(PART)
            .map(|part| {
                let mut bytes = Vec::new();
                code.encode(part, previous, &mut bytes);
                assert!(code.part_len_range(part.len(), previous).contains(&bytes.len()));
                previous = part[part.len() - 1];
                bytes
            })
            .collect();
        assert_eq!(parts.len(), code.parts().count());
        parts
    }

    fn decode(parts: &[Vec<u8>], count: usize, width: u32) -> Result<Vec<u128>, Malformed> {
        let code = Code::new(count, width);
        let mut values = Vec::new();
        for (bytes, part) in parts.iter().zip(code.parts()) {
            let previous = values.last().copied().unwrap_or(0);
            code.decode(bytes, part, previous, &mut values)?;
        }
        Ok(values)
    }

    /// Decodes a list that is one part.
    fn decode_part(bytes: &[u8], count: usize, width: u32) -> Result<Vec<u128>, Malformed> {
        decode(&[bytes.to_vec()], count, width)
    }

    #[test]
    fn roundtrip_over_counts_and_widths() {
        for width in [1, 2, 7, 8, 40, 63, 64, 65, 66, 72, 82, 90, 127, 128] {
            for count in [0, 1, 2, 3, 4, 5, 31, 32, 33, 1000, PART, PART + 1, 2 * PART + 77] {
                let tags = sorted_tags(count, width, u64::from(width) << 32 | count as u64);
                let parts = encode(&tags, width);
                let length = parts.iter().map(Vec::len).sum();
                assert!(Code::new(count, width).len_range().contains(&length), "{count} tags of {width} bits");
                assert_eq!(decode(&parts, count, width).as_ref(), Ok(&tags), "{count} tags of {width} bits");
            }
        }
    }

    #[test]
    fn the_length_range_is_tight() {
        for width in [1, 5, 64, 82, 128] {
            for count in [1, 2, 3, 100, 1 << 10, 1500, PART, PART + 3, 3 * PART, 3 * PART + 1001] {
                let code = Code::new(count, width);
                let length = |values: &[u128]| {
                    let parts = encode(values, width);
                    assert_eq!(decode(&parts, count, width).as_deref(), Ok(values));
                    parts.iter().map(Vec::len).sum::<usize>()
                };
                assert_eq!(length(&vec![0; count]), *code.len_range().start(), "{count} tags of {width} bits");
                // One quotient in each part but the last one, which has all that are left.
                let mut value = 0;
                let mut values = Vec::new();
                for part in code.parts() {
                    let step = 1u128 << code.remainder_bits;
                    value = if values.len() + part == count { code.largest } else { (value + step).min(code.largest) };
                    values.resize(values.len() + part, value);
                }
                assert_eq!(length(&values), *code.len_range().end(), "{count} tags of {width} bits");
            }
        }
    }

    #[test]
    fn costs_what_the_design_says() {
        // 57.5 bits a tag at 2^16 with tags of 40 + 16 + 16 bits.
        for (width, bits) in [(72, 57.5..57.6), (128, 113.5..113.6)] {
            let bytes: usize = encode(&sorted_tags(1 << 16, width, 1), width).iter().map(Vec::len).sum();
            assert!(bits.contains(&(bytes as f64 * 8.0 / 65536.0)), "{bytes} bytes for tags of {width} bits");
        }
    }

    #[test]
    fn known_bytes() {
        // Three values of 8 bits: k = 8 - 1 - 1 = 6. Gaps 5, 0, 195 = 3 * 64 + 3: remainders 5, 0, 3;
        // quotients 0, 0, 3.
        let bits = 0b101u32 | 3 << 12 | 1 << 18 | 1 << 19 | 0b1000 << 20;
        assert_eq!(encode(&[5, 5, 200], 8), [bits.to_le_bytes()[..3].to_vec()]);
    }

    #[test]
    fn a_part_goes_on_from_the_one_before() {
        let code = Code::new(2 * PART, 40);
        let mut bytes = Vec::new();
        code.encode(&[7000, 7001], 6990, &mut bytes);
        let mut values = vec![1];
        assert_eq!(code.decode(&bytes, 2, 6990, &mut values), Ok(()));
        assert_eq!(values, [1, 7000, 7001]);
        assert_eq!(code.decode(&bytes, 2, (1 << 40) - 11, &mut values), Err(Malformed::TooWide));
        assert_eq!(code.decode(&bytes, 2, 1 << 40, &mut values), Err(Malformed::Length));
    }

    #[test]
    fn refuses_what_is_malformed() {
        let tags = sorted_tags(100, 40, 7);
        let good = encode(&tags, 40).concat();
        for cut in 0..good.len() {
            assert!(decode_part(&good[..cut], 100, 40).is_err(), "{cut} bytes of {}", good.len());
        }
        let mut longer = good.clone();
        longer.push(0);
        assert_eq!(decode_part(&longer, 100, 40), Err(Malformed::Trailing));
        assert_eq!(decode_part(&vec![0; good.len()], 100, 40), Err(Malformed::TooFew));
        assert_eq!(decode_part(&vec![0xff; good.len()], 100, 40), Err(Malformed::Trailing));
        assert_eq!(Code::new(9, 40).decode(&[1], 0, 0, &mut Vec::new()), Err(Malformed::Length));
        // One value of 8 bits: k = 7, then `01`: the quotient 1. Each padding bit must be zero, and a
        // second one is no value.
        assert_eq!(decode_part(&[0, 1], 1, 8), Ok(vec![128]));
        assert_eq!(decode_part(&[0, 3], 1, 8), Err(Malformed::Trailing));
        assert_eq!(decode_part(&[0, 2], 1, 8), Err(Malformed::TooWide));
        // 2^128 overflows even the accumulator.
        let mut overflow = encode(&[u128::MAX, u128::MAX], 128).concat();
        overflow[16] ^= 1;
        assert_eq!(decode_part(&overflow, 2, 128), Err(Malformed::TooWide));
    }

    #[test]
    #[should_panic(expected = "not sorted")]
    fn refuses_to_encode_what_is_not_sorted() {
        encode(&[2, 1], 8);
    }

    proptest! {
        #[test]
        fn any_sorted_values_survive(mut values in proptest::collection::vec(any::<u128>(), 0..200), width in 1u32..=128, squeeze in 0u32..128) {
            for value in &mut values {
                *value = (*value >> squeeze) & (u128::MAX >> (128 - width));
            }
            values.sort_unstable();
            prop_assert_eq!(decode(&encode(&values, width), values.len(), width), Ok(values));
        }

        /// Whatever decodes is the code of what it decodes to: no value has two codes, and nothing panics.
        #[test]
        fn decoding_is_total_and_canonical(bytes in proptest::collection::vec(any::<u8>(), 0..64), part in 1usize..40, more in 0usize..100, width in 1u32..=128, previous in any::<u128>()) {
            let code = Code::new(part + more, width);
            let previous = previous >> (128 - width) >> 3;
            let mut values = Vec::new();
            if code.decode(&bytes, part, previous, &mut values).is_ok() {
                prop_assert_eq!(values.len(), part);
                let mut again = Vec::new();
                code.encode(&values, previous, &mut again);
                prop_assert_eq!(again, bytes);
            }
        }

        #[test]
        fn flipped_bits_never_pass_unseen(seed in any::<u64>(), count in 1usize..50, width in 1u32..=128, bit in any::<usize>()) {
            let tags = sorted_tags(count, width, seed);
            let mut bytes = encode(&tags, width).concat();
            let bit = bit % (bytes.len() * 8);
            bytes[bit / 8] ^= 1 << (bit % 8);
            prop_assert_ne!(decode_part(&bytes, count, width), Ok(tags));
        }
    }
}
