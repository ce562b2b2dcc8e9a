//! `H` and `G` of arrow 5: the tag by which the receiver finds the record of a key that it has, and the
//! pad of the record. Both are parts of one output, and a key is used once.

use rayon::prelude::*;
use vesica_party::Channel;
use vesica_structures::secret::Secret;

/// Keys that are worth a task of a thread.
const KEYS_PER_THREAD_TASK: usize = 1 << 10;

/// Bytes before a pad; a tag takes the low bits of them.
const TAG_BYTES: usize = size_of::<u128>();

/// `H` and `G` in a session.
pub(super) struct Pads {
    key: [u8; 32],
    record_bytes: usize,
    low: u128,
}

impl Pads {
    pub(super) fn new(ch: &Channel, record_bytes: usize, tag_bits: u32) -> Self {
        let key = blake3::derive_key("vesica v1 jsz22-s 2026 tags and pads of records", &ch.session());
        Self { key, record_bytes, low: u128::MAX >> (u128::BITS - tag_bits) }
    }

    fn output(&self, key: u128) -> blake3::OutputReader {
        blake3::Hasher::new_keyed(&self.key).update(&key.to_le_bytes()).finalize_xof()
    }

    /// The tag of each key.
    pub(super) fn tags(&self, keys: &[u128]) -> Secret<Vec<u128>> {
        let tag = |&key: &u128| {
            let mut bytes = [0; TAG_BYTES];
            self.output(key).fill(&mut bytes);
            u128::from_le_bytes(bytes) & self.low
        };
        Secret::new(keys.par_iter().with_min_len(KEYS_PER_THREAD_TASK).map(tag).collect())
    }

    /// Adds the pad of each key to its record.
    pub(super) fn add(&self, keys: &[u128], records: &mut [u8]) {
        let width = self.record_bytes;
        let pieces = records.par_chunks_mut(KEYS_PER_THREAD_TASK * width).zip(keys.par_chunks(KEYS_PER_THREAD_TASK));
        pieces.for_each(|(records, keys)| {
            let mut bytes = Secret::new(vec![0; TAG_BYTES + width]);
            for (record, &key) in records.chunks_exact_mut(width).zip(keys) {
                self.output(key).fill(&mut bytes);
                record.iter_mut().zip(&bytes[TAG_BYTES..]).for_each(|(byte, pad)| *byte ^= pad);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_and_pads_are_of_the_key_and_the_session_and_share_no_byte() {
        let pads = |session: u8| Pads { key: [session; 32], record_bytes: 24, low: u128::MAX >> 40 };
        let of = |session, key| {
            let mut record = vec![0; 24];
            pads(session).add(&[key], &mut record);
            (pads(session).tags(&[key])[0], record)
        };
        let (tag, pad) = of(1, 7);
        assert!(tag >> 88 == 0 && pad[..11] != tag.to_le_bytes()[..11] && of(1, 7) == (tag, pad.clone()));
        for (other_tag, other_pad) in [of(1, 8), of(2, 7)] {
            assert!(other_tag != tag && other_pad != pad);
        }
        let keys: Vec<u128> = (0..3000).collect();
        let mut records = vec![0; 24 * keys.len()];
        pads(1).add(&keys, &mut records);
        assert!(records[24 * 7..][..24] == pad && pads(1).tags(&keys)[7] == tag);
        assert!(records[24 * 2999..] == of(1, 2999).1);
    }
}
