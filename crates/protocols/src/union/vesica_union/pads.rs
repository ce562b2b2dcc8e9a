//! `G`: the pads of arrow 4.

use rayon::prelude::*;
use vesica_party::Channel;
use vesica_structures::fields::Gf128;
use vesica_structures::secret::Secret;

/// Places that are worth a task of a thread.
const PLACES_PER_THREAD_TASK: usize = 1 << 10;

/// Bytes of a pad behind those of a record; a tag takes the low bits of them.
const TAG_BYTES: usize = size_of::<u128>();

/// `G` in a session, for records and tags of some widths.
pub(super) struct Pads {
    key: [u8; 32],
    record_bytes: usize,
    tags: u128,
}

impl Pads {
    pub(super) fn new(ch: &Channel, record_bytes: usize, tag_bits: u32) -> Self {
        let key = blake3::derive_key("vesica v1 vesica-union 2026 pads of records", &ch.session());
        Self { key, record_bytes, tags: u128::MAX >> (u128::BITS - tag_bits) }
    }

    /// Fills `pad` with `G(block, place)`.
    fn fill(&self, block: u128, place: usize, pad: &mut [u8]) {
        blake3::Hasher::new_keyed(&self.key)
            .update(&block.to_le_bytes())
            .update(&(place as u64).to_le_bytes())
            .finalize_xof()
            .fill(pad);
    }

    /// Adds `G(block(i), i)` to the record and the tag of each place `i` from `first` on.
    pub(super) fn add(
        &self,
        first: usize,
        block: impl Fn(usize) -> u128 + Sync,
        records: &mut [u8],
        tags: &mut [Gf128],
    ) {
        let width = self.record_bytes;
        let pieces =
            records.par_chunks_mut(PLACES_PER_THREAD_TASK * width).zip(tags.par_chunks_mut(PLACES_PER_THREAD_TASK));
        pieces.enumerate().for_each(|(piece, (records, tags))| {
            let mut pad = Secret::new(vec![0; width + TAG_BYTES]);
            let places = first + piece * PLACES_PER_THREAD_TASK..;
            for ((record, tag), place) in records.chunks_exact_mut(width).zip(tags).zip(places) {
                self.fill(block(place), place, &mut pad);
                let (of_record, of_tag) = pad.split_at(width);
                record.iter_mut().zip(of_record).for_each(|(byte, pad)| *byte ^= pad);
                let mut bytes = [0; TAG_BYTES];
                bytes.copy_from_slice(of_tag);
                tag.0 ^= u128::from_le_bytes(bytes) & self.tags;
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vesica_testkit::two_party;

    #[test]
    fn a_pad_is_of_its_session_its_block_and_its_place() {
        let pads = |tag_bits| {
            let (pads, _) = two_party(|ch, _| Ok(Pads::new(ch, 20, tag_bits)), |_, _| Ok(()));
            pads
        };
        let pad = |of: &Pads, block, place| {
            let (mut record, mut tag) = ([0; 20], [Gf128(0)]);
            of.add(place, |_| block, &mut record, &mut tag);
            (record, tag[0].0)
        };
        let of = pads(67);
        let (record, tag) = pad(&of, 5, 7);
        assert!(tag >> 67 == 0 && pad(&of, 5, 7) == (record, tag));
        let mut other_session = pads(67);
        other_session.key[0] ^= 1;
        for (other, other_tag) in [pad(&of, 6, 7), pad(&of, 5, 8), pad(&other_session, 5, 7)] {
            assert!(other != record && other_tag != tag);
        }
        // Many at a time are those of their places.
        let (mut records, mut tags) = (vec![0; 20 * 3000], vec![Gf128(0); 3000]);
        of.add(100, |place| place as u128, &mut records, &mut tags);
        for place in [100, 1123, 1124, 3099] {
            let (record, tag) = pad(&of, place as u128, place);
            assert!(records[20 * (place - 100)..][..20] == record && tags[place - 100].0 == tag, "place {place}");
        }
    }
}
