//! What a server sends once of its set: what a pseudo-random function gives for each of its items,
//! as a tag and as the key under which the item's payload is encrypted.

use std::io;
use std::ops::RangeInclusive;

use rayon::prelude::*;
use vesica_party::service::{StateError, StateReader, StateWriter};
use vesica_party::{Abort, Channel, Phase, Stream};
use vesica_structures::secret::Secret;
use vesica_structures::tags::{CodedTags, Place, TagSorter};

use crate::psi::finish::fill_keystream;
use crate::recurrent::items::refuse_twins;
use crate::tags;
use crate::tasks::{IntersectReceiverOutput, IntersectSenderInput, SealedPayloads};

/// Items whose outputs are held at a time, while a set is prepared.
const ITEMS_AT_A_TIME: usize = 1 << 14;
/// About how many bytes of payloads are sent and received at a time.
const BYTES_PER_PART: usize = 1 << 18;

/// What the function gives for an item: the word whose low bits are its tag, and the key of its
/// payload.
pub(super) type Output = [u128; 2];

/// The sizes of a set's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// Items of the set.
    pub(super) items: usize,
    /// Width of a tag, in bits.
    pub(super) tag_bits: u32,
    /// Width of a payload, in bytes; 0 for none.
    pub(super) payload_bytes: usize,
    /// Separates the keystreams of payloads from those of other protocols.
    pub(super) domain: &'static [u8; 16],
}

impl Shape {
    /// Bytes of tags and payloads.
    pub(super) fn predicted_bytes(&self) -> RangeInclusive<u64> {
        let tags = tags::predicted_bytes(self.items, self.tag_bits);
        let payloads = (self.items * self.payload_bytes) as u64;
        payloads + tags.start()..=payloads + tags.end()
    }
}

/// Tags and encrypted payloads of a set, in the order of the tags.
#[derive(Debug)]
pub(super) struct Filter {
    shape: Shape,
    tags: CodedTags,
    cells: Vec<u8>,
}

impl Filter {
    /// That of a set of the agreed size, under a key of `outputs` that no other set has.
    pub(super) fn prepare(
        shape: Shape,
        set: &IntersectSenderInput,
        outputs: impl Fn(&[u128]) -> Secret<Vec<Output>>,
    ) -> Result<Self, Abort> {
        refuse_twins(&set.items)?;
        let Shape { items: count, tag_bits: bits, payload_bytes: width, domain } = shape;
        let mut sorter = TagSorter::new(count, bits);
        let mut keys = Secret::new(Vec::with_capacity(if width > 0 { count } else { 0 }));
        for (part, items) in set.items.chunks(ITEMS_AT_A_TIME).enumerate() {
            let outputs = outputs(items);
            let made: Secret<Vec<u128>> = Secret::new(outputs.iter().map(|&[tag, _]| tag).collect());
            sorter.add(&made, (part * ITEMS_AT_A_TIME) as u32..);
            if width > 0 {
                keys.extend(outputs.iter().map(|&[_, payload_key]| payload_key));
            }
        }
        let (tags, order) = tags::encode(sorter, count, bits)
            .map_err(|_| Abort::StatisticalFailure("the tags of the set are not spread as random ones"))?;
        let order = Secret::new(order);
        let mut cells = vec![0; count * width];
        if width > 0 {
            cells.par_chunks_exact_mut(width).zip(&*order).for_each(|(cell, &item)| {
                let item = item as usize;
                fill_keystream(domain, keys[item], set.items[item], cell);
                cell.iter_mut().zip(&set.payloads[item * width..]).for_each(|(byte, payload)| *byte ^= payload);
            });
        }
        Ok(Self { shape, tags, cells })
    }

    /// Sends it as arrows `T` and `P`.
    pub(super) fn send<T: Stream<Element = u8>, P: Stream<Element = u8>>(&self, ch: &mut Channel) -> Result<(), Abort> {
        let phase = ch.phase(Phase::Masks);
        tags::send_coded::<T>(&self.tags, ch)?;
        drop(phase);
        let _phase = ch.phase(Phase::Payload);
        self.cells.chunks(BYTES_PER_PART).try_for_each(|part| ch.send_stream::<P>(part))
    }

    /// Receives it as arrows `T` and `P`.
    pub(super) fn receive<T: Stream<Element = u8>, P: Stream<Element = u8>>(
        shape: Shape,
        ch: &mut Channel,
    ) -> Result<Self, Abort> {
        let phase = ch.phase(Phase::Masks);
        let tags = tags::receive_coded::<T>(shape.items, shape.tag_bits, ch)?;
        drop(phase);
        let _phase = ch.phase(Phase::Payload);
        let (mut cells, bytes) = (Vec::new(), shape.items * shape.payload_bytes);
        while cells.len() < bytes {
            let part = cells.len();
            cells.resize(bytes.min(part + BYTES_PER_PART), 0);
            ch.recv_stream::<P>(&mut cells[part..])?;
        }
        Ok(Self { shape, tags, cells })
    }

    /// Which of the queried items are in the set, by their outputs. The work does not depend on the
    /// answer.
    pub(super) fn find(&self, items: Vec<u128>, outputs: &Secret<Vec<Output>>) -> IntersectReceiverOutput {
        let Shape { tag_bits, payload_bytes: width, domain, .. } = self.shape;
        let own: Secret<Vec<u128>> =
            Secret::new(outputs.iter().map(|&[tag, _]| tags::truncate(tag, tag_bits)).collect());
        let places = self.tags.find(&own);
        // Without a branch, into memory that was written before.
        let (mut matches, mut count) = (vec![u32::MAX; places.len() + 1], 0);
        for (own, place) in (0..).zip(&places) {
            matches[count] = own;
            count += usize::from(place.is_there);
        }
        matches.truncate(count);
        if width == 0 || self.cells.is_empty() {
            return IntersectReceiverOutput { matches, payloads: SealedPayloads::default() };
        }
        // One cell for each item, found or not.
        let mut kept = Vec::with_capacity(items.len() * width);
        for &Place { place, .. } in &places {
            kept.extend_from_slice(&self.cells[place as usize * width..][..width]);
        }
        let keys: Secret<Vec<u128>> = Secret::new(outputs.iter().map(|&[_, payload_key]| payload_key).collect());
        let items = Secret::new(items);
        let keystream = move |own: usize, out: &mut [u8]| fill_keystream(domain, keys[own], items[own], out);
        let cells = move || (0..).zip(&places).filter(|(_, place)| place.is_there).map(|(own, _)| (own, own)).collect();
        IntersectReceiverOutput { matches, payloads: SealedPayloads::new(width, kept, cells, keystream) }
    }

    /// Writes it as a part of a state.
    pub(super) fn write(&self, out: &mut StateWriter<'_>) -> io::Result<()> {
        for part in self.tags.parts() {
            out.u64(part.len() as u64)?;
            out.bytes(part)?;
        }
        out.bytes(&self.cells)
    }

    /// Reads what `write` wrote.
    pub(super) fn read(shape: Shape, bytes: &mut StateReader<'_>) -> Result<Self, StateError> {
        let mut tags = CodedTags::new(shape.items, shape.tag_bits);
        while let Some(lengths) = tags.due() {
            let length = bytes.count()?;
            if !lengths.contains(&length) {
                return Err(StateError::Damaged("its tags have an impossible length"));
            }
            tags.push(&bytes.elements(length)?).map_err(|_| StateError::Damaged("its tags are malformed"))?;
        }
        let cells = shape.items.checked_mul(shape.payload_bytes);
        let cells = bytes.elements(cells.ok_or(StateError::Damaged("a count is too large"))?)?;
        Ok(Self { shape, tags, cells })
    }
}
