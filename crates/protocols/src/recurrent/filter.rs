//! What a server sends once of its set: what a pseudo-random function gives for each of its items,
//! as a tag and as the key under which the item's payload is encrypted.

use std::io;
use std::ops::RangeInclusive;

use rayon::prelude::*;
use vesica_party::service::{StateError, StateReader, StateWriter};
use vesica_party::{Abort, Channel, Phase, Stream};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::{Secret, WipedStack};
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
pub type Output = [u128; 2];

/// The sizes of a set's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Items of the set.
    pub items: usize,
    /// Width of a tag, in bits.
    pub tag_bits: u32,
    /// Width of a payload, in bytes; 0 for none.
    pub payload_bytes: usize,
    /// Width of the nonce before each encrypted payload, in bytes. 0 where no item ever gets another
    /// payload under the same key; two payloads would have one keystream.
    pub nonce_bytes: usize,
    /// Separates the keystreams of payloads from those of other protocols.
    pub domain: &'static [u8; 16],
}

impl Shape {
    /// Bytes of tags and payloads.
    pub fn predicted_bytes(&self) -> RangeInclusive<u64> {
        let tags = tags::predicted_bytes(self.items, self.tag_bits);
        let payloads = (self.items * self.cell_bytes()) as u64;
        payloads + tags.start()..=payloads + tags.end()
    }

    /// Bytes of a nonce and an encrypted payload; 0 without payloads.
    pub fn cell_bytes(&self) -> usize {
        if self.payload_bytes == 0 { 0 } else { self.nonce_bytes + self.payload_bytes }
    }

    /// Encrypts a payload into a cell that has a nonce.
    pub fn seal(&self, key: u128, item: u128, payload: &[u8], cell: &mut [u8]) {
        let (nonce, sealed) = cell.split_at_mut(self.nonce_bytes);
        // The nonce differs where key and item are the same, so that this is one keystream each.
        fill_keystream(self.domain, key, item ^ number(nonce), sealed);
        sealed.iter_mut().zip(payload).for_each(|(byte, payload)| *byte ^= payload);
    }

    /// New nonces for `count` cells, which are zero elsewhere.
    pub fn new_cells(&self, count: usize, rng: &mut SecretRng) -> Vec<u8> {
        let mut cells = vec![0; count * self.cell_bytes()];
        if self.nonce_bytes > 0 && !cells.is_empty() {
            for cell in cells.chunks_exact_mut(self.cell_bytes()) {
                cell[..self.nonce_bytes].copy_from_slice(&rng.block().to_le_bytes()[..self.nonce_bytes]);
            }
        }
        cells
    }
}

/// A nonce, of at most 16 bytes, as a number.
fn number(nonce: &[u8]) -> u128 {
    let mut bytes = [0; 16];
    bytes[..nonce.len()].copy_from_slice(nonce);
    u128::from_le_bytes(bytes)
}

/// Tags and encrypted payloads of a set, in the order of the tags.
#[derive(Debug)]
pub struct Filter {
    pub(super) shape: Shape,
    pub(super) tags: CodedTags,
    pub(super) cells: Vec<u8>,
}

impl Filter {
    /// That of a set of the agreed size, under a key of `outputs` that no other set has.
    pub fn prepare(
        shape: Shape,
        set: &IntersectSenderInput,
        outputs: impl Fn(&[u128]) -> Secret<Vec<Output>>,
        rng: &mut SecretRng,
    ) -> Result<Self, Abort> {
        let in_parts = |take: &mut dyn FnMut(&[Output])| {
            set.items.chunks(ITEMS_AT_A_TIME).for_each(|items| take(&outputs(items)));
            Ok(())
        };
        Self::collect(shape, set, in_parts, rng)
    }

    /// That of a set, with the outputs that `outputs` gives to what it is called with: those of all items, in their
    /// order, in parts.
    pub fn collect(
        shape: Shape,
        set: &IntersectSenderInput,
        outputs: impl FnOnce(&mut dyn FnMut(&[Output])) -> Result<(), Abort>,
        rng: &mut SecretRng,
    ) -> Result<Self, Abort> {
        refuse_twins(&set.items)?;
        let Shape { items: count, tag_bits: bits, payload_bytes: width, .. } = shape;
        let mut sorter = TagSorter::new(count, bits);
        let mut keys = Secret::new(Vec::with_capacity(if width > 0 { count } else { 0 }));
        let mut next = 0;
        outputs(&mut |outputs| {
            let made: Secret<Vec<u128>> = Secret::new(outputs.iter().map(|&[tag, _]| tag).collect());
            sorter.add(&made, next..);
            next += outputs.len() as u32;
            if width > 0 {
                keys.extend(outputs.iter().map(|&[_, payload_key]| payload_key));
            }
        })?;
        let (tags, order) = tags::encode(sorter, count, bits)
            .map_err(|_| Abort::StatisticalFailure("the tags of the set are not spread as random ones"))?;
        let order = Secret::new(order);
        let mut cells = shape.new_cells(count, rng);
        if width > 0 {
            let sealed = cells.par_chunks_exact_mut(shape.cell_bytes()).zip(&*order);
            sealed.for_each_init(
                || WipedStack,
                |_, (cell, &item)| {
                    let item = item as usize;
                    shape.seal(keys[item], set.items[item], &set.payloads[item * width..][..width], cell);
                },
            );
        }
        Ok(Self { shape, tags, cells })
    }

    /// Sends it as arrows `T` and `P`.
    pub fn send<T: Stream<Element = u8>, P: Stream<Element = u8>>(&self, ch: &mut Channel) -> Result<(), Abort> {
        let phase = ch.phase(Phase::Masks);
        tags::send_coded::<T>(&self.tags, ch)?;
        drop(phase);
        let _phase = ch.phase(Phase::Payload);
        self.cells.chunks(BYTES_PER_PART).try_for_each(|part| ch.send_stream::<P>(part))
    }

    /// Receives it as arrows `T` and `P`.
    pub fn receive<T: Stream<Element = u8>, P: Stream<Element = u8>>(
        shape: Shape,
        ch: &mut Channel,
    ) -> Result<Self, Abort> {
        let phase = ch.phase(Phase::Masks);
        let tags = tags::receive_coded::<T>(shape.items, shape.tag_bits, ch)?;
        drop(phase);
        let _phase = ch.phase(Phase::Payload);
        let (mut cells, bytes) = (Vec::new(), shape.items * shape.cell_bytes());
        while cells.len() < bytes {
            let part = cells.len();
            cells.resize(bytes.min(part + BYTES_PER_PART), 0);
            ch.recv_stream::<P>(&mut cells[part..])?;
        }
        Ok(Self { shape, tags, cells })
    }

    /// Which of the queried items are in the set, by their outputs. The work does not depend on the
    /// answer.
    pub fn find(&self, items: Vec<u128>, outputs: &Secret<Vec<Output>>) -> IntersectReceiverOutput {
        let Shape { tag_bits, payload_bytes: width, nonce_bytes, domain, .. } = self.shape;
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
            return IntersectReceiverOutput { matches, payloads: SealedPayloads::default(), unread: 0 };
        }
        // One cell for each item, found or not.
        let (mut kept, mut nonces) = (Vec::with_capacity(items.len() * width), Vec::with_capacity(items.len()));
        for &Place { place, .. } in &places {
            let cell_bytes = self.shape.cell_bytes();
            let (nonce, sealed) = self.cells[place as usize * cell_bytes..][..cell_bytes].split_at(nonce_bytes);
            nonces.push(number(nonce));
            kept.extend_from_slice(sealed);
        }
        let keys: Secret<Vec<u128>> = Secret::new(outputs.iter().map(|&[_, payload_key]| payload_key).collect());
        let items = Secret::new(items);
        let keystream =
            move |own: usize, out: &mut [u8]| fill_keystream(domain, keys[own], items[own] ^ nonces[own], out);
        let cells = move || (0..).zip(&places).filter(|(_, place)| place.is_there).map(|(own, _)| (own, own)).collect();
        IntersectReceiverOutput { matches, payloads: SealedPayloads::new(width, kept, cells, keystream), unread: 0 }
    }

    /// A digest of the whole list.
    pub fn digest(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key("vesica 2026-11-24 digest of a list of tags v1");
        for part in self.tags.parts() {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
        }
        *hasher.update(&self.cells).finalize().as_bytes()
    }

    /// Writes it as a part of a state.
    pub fn write(&self, out: &mut StateWriter<'_>) -> io::Result<()> {
        for part in self.tags.parts() {
            out.u64(part.len() as u64)?;
            out.bytes(part)?;
        }
        out.bytes(&self.cells)
    }

    /// Reads what `write` wrote.
    pub fn read(shape: Shape, bytes: &mut StateReader<'_>) -> Result<Self, StateError> {
        let mut tags = CodedTags::new(shape.items, shape.tag_bits);
        while let Some(lengths) = tags.due() {
            let length = bytes.count()?;
            if !lengths.contains(&length) {
                return Err(StateError::Damaged("its tags have an impossible length"));
            }
            tags.push(&bytes.elements(length)?).map_err(|_| StateError::Damaged("its tags are malformed"))?;
        }
        let cells = shape.items.checked_mul(shape.cell_bytes());
        let cells = bytes.elements(cells.ok_or(StateError::Damaged("a count is too large"))?)?;
        Ok(Self { shape, tags, cells })
    }
}
