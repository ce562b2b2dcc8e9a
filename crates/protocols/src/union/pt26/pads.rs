//! `G`: what hides names and records, and the values of the equality tests.
//!
//! A block is enciphered by AES under a key that no other block of a session has, and added to the
//! result. Keys are public: they are a key of the session plus the number of the test and what the
//! value is for.

use vesica_structures::prf::ideal_cipher_hash;
use vesica_structures::secret::Secret;

/// What `G` is for, besides the blocks of records, which follow.
#[derive(Clone, Copy)]
pub(super) enum For {
    /// A name.
    Name = 0,
    /// A value of an equality test.
    Value = 1,
}

/// The first number for a block of a record.
const RECORDS: u128 = 2;

/// Bytes of a block.
const BLOCK_BYTES: usize = size_of::<u128>();

/// `G` in a session.
pub(super) struct Pads(pub(super) u128);

impl Pads {
    /// `G` of each block, that of test `first` before those of the tests after it.
    pub(super) fn of(&self, blocks: &[u128], first: usize, what: For) -> Secret<Vec<u128>> {
        let keys: Vec<u128> = (first as u128..).take(blocks.len()).map(|test| self.key(test, what as u128)).collect();
        let mut pads = Secret::new(vec![0; blocks.len()]);
        ideal_cipher_hash(&keys, blocks, &mut pads);
        pads
    }

    /// Adds the pads of tests to records of `width` bytes, `blocks` being the tests' numbers and blocks.
    pub(super) fn add(&self, records: &mut [u8], width: usize, blocks: impl Iterator<Item = (usize, u128)>) {
        let count = width.div_ceil(BLOCK_BYTES);
        let (mut keys, mut inputs) = (vec![0; count], Secret::new(vec![0; count]));
        let mut pad = Secret::new(vec![0; count]);
        for (record, (test, block)) in records.chunks_exact_mut(width).zip(blocks) {
            for (number, key) in (RECORDS..).zip(&mut keys) {
                *key = self.key(test as u128, number);
            }
            inputs.fill(block);
            ideal_cipher_hash(&keys, &inputs, &mut pad);
            let pad = pad.iter().flat_map(|block| block.to_le_bytes());
            record.iter_mut().zip(pad).for_each(|(byte, pad)| *byte ^= pad);
        }
    }

    fn key(&self, test: u128, what: u128) -> u128 {
        self.0 ^ (test << 64 | what)
    }
}
