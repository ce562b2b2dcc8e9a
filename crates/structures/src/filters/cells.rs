//! Cells of any width, packed: what a filter keeps in memory is what it sends.

use super::{ATTEMPTS, Malformed};

/// Bytes behind the last cell, so that a cell is read by one load of 16 bytes.
const PADDING: usize = 16;

/// Most bits of a cell: with 7 bits before it, it stays in a load of 16 bytes.
pub(super) const MOST_WIDTH: u32 = 121;

/// Cells of `width` bits, from the lowest bit of each byte on, and the number of an attempt. The
/// encoding is the cells, then the attempt in one byte.
pub(super) struct Cells {
    bytes: Vec<u8>,
    count: usize,
    width: u32,
    pub(super) attempt: u8,
}

impl Cells {
    /// Bytes of an encoding.
    pub(super) fn encoded_len(count: usize, width: u32) -> usize {
        Self::packed_len(count, width) + 1
    }

    fn packed_len(count: usize, width: u32) -> usize {
        (count * width as usize).div_ceil(8)
    }

    /// Cells of zeros.
    ///
    /// # Panics
    /// If `width` is not in `1..=MOST_WIDTH`.
    pub(super) fn new(count: usize, width: u32, attempt: u8) -> Self {
        assert!((1..=MOST_WIDTH).contains(&width), "a cell of 1 to {MOST_WIDTH} bits");
        Self { bytes: vec![0; Self::packed_len(count, width) + PADDING], count, width, attempt }
    }

    /// The cells of an encoding.
    pub(super) fn parse(count: usize, width: u32, mut bytes: Vec<u8>) -> Result<Self, Malformed> {
        if bytes.len() != Self::encoded_len(count, width) {
            return Err(Malformed::Length);
        }
        let attempt = bytes.pop().unwrap_or(ATTEMPTS);
        if attempt >= ATTEMPTS {
            return Err(Malformed::Attempt);
        }
        let last_bits = count * width as usize % 8;
        if last_bits > 0 && bytes.last().is_some_and(|last| last >> last_bits != 0) {
            return Err(Malformed::Trailing);
        }
        bytes.reserve_exact(PADDING);
        bytes.resize(bytes.len() + PADDING, 0);
        Ok(Self { bytes, count, width, attempt })
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        let Self { mut bytes, count, width, attempt } = self;
        bytes.truncate(Self::packed_len(count, width));
        bytes.push(attempt);
        bytes
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// The cell of a number below `count`.
    #[inline]
    pub(super) fn get(&self, number: usize) -> u128 {
        let bit = number * self.width as usize;
        let mut word = [0; 16];
        word.copy_from_slice(&self.bytes[bit / 8..][..16]);
        u128::from_le_bytes(word) >> (bit % 8) & (u128::MAX >> (128 - self.width))
    }

    /// Adds to a cell bit by bit; `value` has at most `width` bits.
    #[inline]
    pub(super) fn xor(&mut self, number: usize, value: u128) {
        let bit = number * self.width as usize;
        let place = &mut self.bytes[bit / 8..][..16];
        let mut word = [0; 16];
        word.copy_from_slice(place);
        place.copy_from_slice(&(u128::from_le_bytes(word) ^ value << (bit % 8)).to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_of_any_width_keep_their_values() {
        for width in [1, 7, 8, 62, 65, 83, MOST_WIDTH] {
            for count in [1, 2, 9, 100] {
                let value = |number: usize| (u128::MAX / 3 * number as u128) & (u128::MAX >> (128 - width));
                let mut cells = Cells::new(count, width, 5);
                (0..count).rev().for_each(|number| cells.xor(number, value(number)));
                let bytes = cells.into_bytes();
                assert_eq!(bytes.len(), Cells::encoded_len(count, width));
                let again = Cells::parse(count, width, bytes.clone()).expect("its own encoding");
                assert!((0..count).all(|number| again.get(number) == value(number)), "{count} of {width}");
                assert_eq!((again.attempt, again.into_bytes()), (5, bytes));
            }
        }
    }

    #[test]
    fn what_is_no_encoding_is_refused() {
        let parse = |bytes: &[u8]| Cells::parse(3, 7, bytes.to_vec()).err();
        assert_eq!(parse(&[255, 255, 31, 63]), None);
        assert_eq!(parse(&[255, 255, 31]), Some(Malformed::Length));
        assert_eq!(parse(&[255, 255, 31, 0, 0]), Some(Malformed::Length));
        assert_eq!(parse(&[255, 255, 31, 64]), Some(Malformed::Attempt));
        assert_eq!(parse(&[0, 0, 32, 0]), Some(Malformed::Trailing));
    }
}
