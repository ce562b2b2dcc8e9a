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

/// Blocks that are enciphered at a time.
const BLOCKS_PER_BATCH: usize = 128;

/// `G` in a session.
pub(super) struct Pads(pub(super) u128);

impl Pads {
    /// `G` of each block, that of test `first` before those of the tests after it; both slices of one
    /// length.
    pub(super) fn of(&self, blocks: &[u128], first: usize, what: For, pads: &mut [u128]) {
        let mut keys = [0; BLOCKS_PER_BATCH];
        let batches = blocks.chunks(BLOCKS_PER_BATCH).zip(pads.chunks_mut(BLOCKS_PER_BATCH));
        for (first, (blocks, pads)) in (first as u128..).step_by(BLOCKS_PER_BATCH).zip(batches) {
            let keys = &mut keys[..blocks.len()];
            keys.iter_mut().zip(first..).for_each(|(key, test)| *key = self.key(test, what as u128));
            ideal_cipher_hash(keys, blocks, pads);
        }
    }

    /// Adds the pads of tests to records of `width` bytes, `blocks` being the tests' numbers and blocks.
    pub(super) fn add(&self, records: &mut [u8], width: usize, blocks: impl Iterator<Item = (usize, u128)>) {
        let mut keys = [0; BLOCKS_PER_BATCH];
        let mut inputs = Secret::new([0; BLOCKS_PER_BATCH]);
        let mut pads = Secret::new([0; BLOCKS_PER_BATCH]);
        // A record takes several blocks, and a batch those of several records.
        let mut parts = records.chunks_exact_mut(width).zip(blocks).flat_map(|(record, (test, block))| {
            let numbered = record.chunks_mut(BLOCK_BYTES).zip(RECORDS..);
            numbered.map(move |(part, number)| (part, self.key(test as u128, number), block))
        });
        let mut batch: Vec<&mut [u8]> = Vec::with_capacity(BLOCKS_PER_BATCH);
        loop {
            let places = keys.iter_mut().zip(inputs.iter_mut());
            for ((key_place, input), (part, key, block)) in places.zip(parts.by_ref()) {
                (*key_place, *input) = (key, block);
                batch.push(part);
            }
            if batch.is_empty() {
                return;
            }
            let pads = &mut pads[..batch.len()];
            ideal_cipher_hash(&keys[..pads.len()], &inputs[..pads.len()], pads);
            for (part, pad) in batch.drain(..).zip(pads) {
                add(part, *pad);
            }
        }
    }

    fn key(&self, test: u128, what: u128) -> u128 {
        self.0 ^ (test << 64 | what)
    }
}

/// Adds a pad to at most as many bytes.
fn add(part: &mut [u8], pad: u128) {
    match <&mut [u8; BLOCK_BYTES]>::try_from(&mut *part) {
        Ok(block) => *block = (u128::from_le_bytes(*block) ^ pad).to_le_bytes(),
        Err(_) => part.iter_mut().zip(pad.to_le_bytes()).for_each(|(byte, pad)| *byte ^= pad),
    }
}
