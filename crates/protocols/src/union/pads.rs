//! `G`: pads of records that end in zeros, by which a receiver knows a record that it has opened. The
//! record and the zeros travel apart, so that either is a list of one width.

use std::ops::Range;

use rayon::prelude::*;
use vesica_mpc::bits::Bits;
use vesica_party::{Abort, Channel, Stream};
use vesica_structures::fields::Gf128;
use vesica_structures::packing::{pack, packed_len, unpack};
use vesica_structures::secret::Secret;

use super::plain;

/// Places that are worth a task of a thread.
const PLACES_PER_THREAD_TASK: usize = 1 << 10;

/// Bytes of a pad behind those of a record; a tag takes the low bits of them.
const TAG_BYTES: usize = size_of::<u128>();

/// `G` in a session, for records and tags of some widths.
pub struct Pads {
    key: [u8; 32],
    record_bytes: usize,
    tags: u128,
}

impl Pads {
    /// `context` is the domain of `G`.
    pub fn new(context: &str, ch: &Channel, record_bytes: usize, tag_bits: u32) -> Self {
        let key = blake3::derive_key(context, &ch.session());
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

    /// Sends the records of `places` places, as the arrow `R`, and the zeros behind them, as the arrow
    /// `T`, piece by piece: place `i` under `G(block(i), i)`. `cells` gives the records of some places.
    pub fn send<R: Stream<Element = u8>, T: Stream<Element = u8>>(
        &self,
        places: usize,
        cells: impl Fn(Range<usize>) -> Vec<u8>,
        block: impl Fn(usize) -> u128 + Sync,
        ch: &mut Channel,
    ) -> Result<(), Abort> {
        let piece = plain::places_per_piece(self.record_bytes);
        let mut packed = Vec::new();
        for first in (0..places).step_by(piece) {
            let range = first..places.min(first + piece);
            let mut tags = vec![Gf128(0); range.len()];
            let mut padded = cells(range);
            self.add(first, &block, &mut padded, &mut tags);
            ch.send_stream::<R>(&padded)?;
            packed.clear();
            pack(&tags, self.tags.count_ones(), &mut packed);
            ch.send_stream::<T>(&packed)?;
        }
        Ok(())
    }

    /// What the pads `G(block(i), i)` make of what [`Pads::send`] has sent, and which of that are
    /// records. All places take the same work.
    pub fn receive<R: Stream<Element = u8>, T: Stream<Element = u8>>(
        &self,
        places: usize,
        block: impl Fn(usize) -> u128 + Sync,
        ch: &mut Channel,
    ) -> Result<(Vec<u8>, Bits), Abort> {
        let tag_bits = self.tags.count_ones();
        // Grows with what arrives.
        let mut records = Vec::new();
        let mut opened = Vec::with_capacity(places);
        let piece = plain::places_per_piece(self.record_bytes);
        let mut packed = Vec::new();
        for first in (0..places).step_by(piece) {
            let mut tags = vec![Gf128(0); piece.min(places - first)];
            let records = plain::next::<R>(&mut records, tags.len() * self.record_bytes, ch)?;
            packed.resize(packed_len(tags.len(), tag_bits), 0);
            ch.recv_stream::<T>(&mut packed)?;
            unpack(&packed, tag_bits, &mut tags).ok_or(Abort::PeerMisbehaved(T::STEP, "bits beyond the last place"))?;
            self.add(first, &block, records, &mut tags);
            opened.extend(tags.iter().map(|tag| tag.0 == 0));
        }
        Ok((records, opened.into_iter().collect()))
    }

    /// Adds `G(block(i), i)` to the record and the tag of each place `i` from `first` on.
    fn add(&self, first: usize, block: impl Fn(usize) -> u128 + Sync, records: &mut [u8], tags: &mut [Gf128]) {
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
            let (pads, _) = two_party(|ch, _| Ok(Pads::new("a test", ch, 20, tag_bits)), |_, _| Ok(()));
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
