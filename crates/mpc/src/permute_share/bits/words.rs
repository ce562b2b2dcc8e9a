//! Packed bits that are read and changed 64 at a time from any place on, and their form in
//! messages.

use vesica_party::{Abort, Channel, Stream};
use vesica_structures::secret::Secret;

use crate::bits::Bits;

/// Packed bits, 64 a word from the lowest, with a word of zeros beyond the last one: whoever works
/// at any place works on two words, and need not ask whether there is a second one. Wiped on drop.
pub(super) struct Words(Secret<Vec<u64>>);

impl Words {
    pub fn zeros(len: usize) -> Self {
        Self(Secret::new(vec![0; len.div_ceil(64) + 1]))
    }

    /// The bits of `bits`.
    pub fn of(bits: &Bits) -> Self {
        let mut words = Self::zeros(bits.len());
        words.0[..bits.words().len()].copy_from_slice(bits.words());
        words
    }

    /// As many bits as there are elements: what `bit` says of each in its lowest bit.
    pub fn from_lowest<T: Copy>(elements: &[T], bit: impl Fn(T) -> u64) -> Self {
        let mut words = Self::zeros(elements.len());
        words.fill(0, elements, bit);
        words
    }

    /// Adds to as many bits from `at` on what `bit` says of each element in its lowest bit.
    pub fn fill<T: Copy>(&mut self, at: usize, elements: &[T], bit: impl Fn(T) -> u64) {
        for (at, elements) in (at..).step_by(64).zip(elements.chunks(64)) {
            let word = elements.iter().rev().fold(0, |word, &element| word << 1 | bit(element) & 1);
            self.add(at, word);
        }
    }

    /// The 64 bits from bit `at` on; zeros beyond the last one.
    ///
    /// # Panics
    /// If there is no bit `at`.
    #[inline(always)]
    pub fn word_at(&self, at: usize) -> u64 {
        let (word, shift) = (at / 64, at % 64);
        // In two steps, since a shift by 64 is none.
        self.0[word] >> shift | self.0[word + 1] << 1 << (63 - shift)
    }

    /// Adds `bits` to those from bit `at` on; none of them may lie beyond the last one.
    ///
    /// # Panics
    /// If there is no bit `at`.
    #[inline(always)]
    pub fn add(&mut self, at: usize, bits: u64) {
        let (word, shift) = (at / 64, at % 64);
        self.0[word] ^= bits << shift;
        self.0[word + 1] ^= bits >> 1 >> (63 - shift);
    }

    /// Adds bits one by one, to as many as `others` has.
    pub fn add_all(&mut self, others: &Bits) {
        self.0.iter_mut().zip(others.words()).for_each(|(word, other)| *word ^= other);
    }

    /// Adds bits one by one to those from bit `at` on, as many as `others` has.
    pub fn add_all_at(&mut self, at: usize, others: &Bits) {
        (at..).step_by(64).zip(others.words()).for_each(|(at, &word)| self.add(at, word));
    }

    pub fn part(&self, at: usize, len: usize) -> Bits {
        Bits::from_words((0..len).step_by(64).map(|i| self.word_at(at + i)).collect(), len)
    }

    pub fn first(&self, len: usize) -> Bits {
        Bits::from_words(self.0[..len.div_ceil(64)].to_vec(), len)
    }

    /// Sends the first `len` bits, eight a byte from the lowest; nothing for none.
    pub fn send<S: Stream<Element = u8>>(&self, len: usize, ch: &mut Channel) -> Result<(), Abort> {
        if len == 0 {
            return Ok(());
        }
        let first = self.first(len);
        let bytes: Vec<u8> = first.words().iter().flat_map(|word| word.to_le_bytes()).collect();
        ch.send_stream::<S>(&bytes[..len.div_ceil(8)])
    }

    /// Receives what [`send`](Self::send) sends.
    pub fn receive<S: Stream<Element = u8>>(len: usize, ch: &mut Channel) -> Result<Self, Abort> {
        let mut received = Self::zeros(len);
        if len == 0 {
            return Ok(received);
        }
        let mut bytes = vec![0; len.div_ceil(8)];
        ch.recv_stream::<S>(&mut bytes)?;
        for (word, bytes) in received.0.iter_mut().zip(bytes.chunks(8)) {
            *word = bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
        }
        // The last word holds no bits beyond those of the last byte.
        if !len.is_multiple_of(8) && received.0[len / 64] >> (len % 64) != 0 {
            return Err(Abort::PeerMisbehaved(S::STEP, "bits beyond the last one"));
        }
        Ok(received)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vesica_structures::rng::SecretRng;

    #[test]
    fn bits_are_read_and_added_at_every_place() {
        let bits = Bits::random(200, &mut SecretRng::insecure_from_seed(4));
        let mut words = Words::of(&bits);
        for at in 0..200 {
            let expected = (0..64).filter(|i| at + i < 200).fold(0, |word, i| word | u64::from(bits.get(at + i)) << i);
            assert_eq!(words.word_at(at), expected, "from bit {at}");
            let added = u64::MAX >> (64 - (200 - at).min(64));
            words.add(at, added);
            assert_eq!(words.word_at(at), expected ^ added, "from bit {at}");
            words.add(at, added);
        }
        assert!(words.first(200) == bits && words.first(70).iter().eq(bits.iter().take(70)));
        let bools: Vec<bool> = bits.iter().collect();
        assert!(Words::from_lowest(&bools, u64::from).first(200) == bits);
        assert!(words.part(70, 100).iter().eq(bits.iter().skip(70).take(100)) && words.part(200, 0).is_empty());
        let mut shifted = Words::zeros(270);
        shifted.add_all_at(70, &bits);
        assert!(shifted.part(70, 200) == bits && shifted.first(70) == Bits::zeros(70));
        let mut parts = Words::zeros(200);
        parts.fill(0, &bools[..33], u64::from);
        parts.fill(33, &bools[33..], u64::from);
        assert!(parts.first(200) == bits);
    }
}
