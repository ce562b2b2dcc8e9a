//! What the server sends once of its set: the tags of its items, and their payloads.

use std::io;

use rayon::prelude::*;
use vesica_mpc::rfc9497::{Output, SecretKey};
use vesica_party::service::{StateError, StateReader, StateWriter};
use vesica_party::{Abort, Channel, Phase};
use vesica_structures::secret::Secret;
use vesica_structures::tags::{CodedTags, Place, TagSorter};

use super::Params;
use super::messages::{Payloads, Tags};
use crate::psi::finish::fill_keystream;
use crate::recurrent::items::{inputs, refuse_twins};
use crate::tags;
use crate::tasks::{IntersectReceiverOutput, IntersectSenderInput, SealedPayloads};

/// Separates the keystreams of payloads from others'.
const DOMAIN: &[u8; 16] = b"RFC9497 payloads";
/// Items whose outputs are held at a time, while a set is prepared.
const ITEMS_AT_A_TIME: usize = 1 << 14;
/// About how many bytes of payloads are sent and received at a time.
const BYTES_PER_PART: usize = 1 << 18;

/// Tags and encrypted payloads of a set, in the order of the tags.
#[derive(Debug)]
pub(super) struct Filter {
    tags: CodedTags,
    cells: Vec<u8>,
}

/// The tag of an output.
fn tag(output: &Output) -> u128 {
    word::<0>(output)
}

/// The key of the payload of an output.
fn payload_key(output: &Output) -> u128 {
    word::<1>(output)
}

fn word<const PLACE: usize>(output: &Output) -> u128 {
    let words: [u128; 4] = bytemuck::cast(*output);
    words[PLACE]
}

impl Filter {
    /// That of a set of the agreed size, under a key that no other set has.
    pub(super) fn prepare(params: &Params, key: &SecretKey, set: &IntersectSenderInput) -> Result<Self, Abort> {
        refuse_twins(&set.items)?;
        let (count, bits, width) = (set.items.len(), params.tag_bits(), params.payload_bytes);
        let mut sorter = TagSorter::new(count, bits);
        let mut keys = Secret::new(Vec::with_capacity(if width > 0 { count } else { 0 }));
        for (part, items) in set.items.chunks(ITEMS_AT_A_TIME).enumerate() {
            let outputs = key.evaluate(inputs(items));
            let made: Secret<Vec<u128>> = Secret::new(outputs.iter().map(tag).collect());
            sorter.add(&made, (part * ITEMS_AT_A_TIME) as u32..);
            if width > 0 {
                keys.extend(outputs.iter().map(payload_key));
            }
        }
        let (tags, order) = tags::encode(sorter, count, bits)
            .map_err(|_| Abort::StatisticalFailure("the tags of the set are not spread as random ones"))?;
        let order = Secret::new(order);
        let mut cells = vec![0; count * width];
        if width > 0 {
            cells.par_chunks_exact_mut(width).zip(&*order).for_each(|(cell, &item)| {
                let item = item as usize;
                fill_keystream(DOMAIN, keys[item], set.items[item], cell);
                cell.iter_mut().zip(&set.payloads[item * width..]).for_each(|(byte, payload)| *byte ^= payload);
            });
        }
        Ok(Self { tags, cells })
    }

    /// Arrows 2 and 3.
    pub(super) fn send(&self, ch: &mut Channel) -> Result<(), Abort> {
        let phase = ch.phase(Phase::Masks);
        tags::send_coded::<Tags>(&self.tags, ch)?;
        drop(phase);
        let _phase = ch.phase(Phase::Payload);
        self.cells.chunks(BYTES_PER_PART).try_for_each(|part| ch.send_stream::<Payloads>(part))
    }

    /// Arrows 2 and 3.
    pub(super) fn receive(params: &Params, ch: &mut Channel) -> Result<Self, Abort> {
        let phase = ch.phase(Phase::Masks);
        let tags = tags::receive_coded::<Tags>(params.set_items, params.tag_bits(), ch)?;
        drop(phase);
        let _phase = ch.phase(Phase::Payload);
        let (mut cells, bytes) = (Vec::new(), params.set_items * params.payload_bytes);
        while cells.len() < bytes {
            let part = cells.len();
            cells.resize(bytes.min(part + BYTES_PER_PART), 0);
            ch.recv_stream::<Payloads>(&mut cells[part..])?;
        }
        Ok(Self { tags, cells })
    }

    /// Which of the queried items are in the set, by their outputs. The work does not depend on the
    /// answer.
    pub(super) fn find(
        &self,
        params: &Params,
        items: Vec<u128>,
        outputs: &Secret<Vec<Output>>,
    ) -> IntersectReceiverOutput {
        let own: Secret<Vec<u128>> =
            Secret::new(outputs.iter().map(|output| tags::truncate(tag(output), params.tag_bits())).collect());
        let places = self.tags.find(&own);
        // Without a branch, into memory that was written before.
        let (mut matches, mut count) = (vec![u32::MAX; places.len() + 1], 0);
        for (own, place) in (0..).zip(&places) {
            matches[count] = own;
            count += usize::from(place.is_there);
        }
        matches.truncate(count);
        let width = params.payload_bytes;
        if width == 0 || self.cells.is_empty() {
            return IntersectReceiverOutput { matches, payloads: SealedPayloads::default() };
        }
        // One cell for each item, found or not.
        let mut kept = Vec::with_capacity(items.len() * width);
        for &Place { place, .. } in &places {
            kept.extend_from_slice(&self.cells[place as usize * width..][..width]);
        }
        let keys: Secret<Vec<u128>> = Secret::new(outputs.iter().map(payload_key).collect());
        let items = Secret::new(items);
        let keystream = move |own: usize, out: &mut [u8]| fill_keystream(DOMAIN, keys[own], items[own], out);
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
    pub(super) fn read(params: &Params, bytes: &mut StateReader<'_>) -> Result<Self, StateError> {
        let mut tags = CodedTags::new(params.set_items, params.tag_bits());
        while let Some(lengths) = tags.due() {
            let length = bytes.count()?;
            if !lengths.contains(&length) {
                return Err(StateError::Damaged("its tags have an impossible length"));
            }
            tags.push(&bytes.elements(length)?).map_err(|_| StateError::Damaged("its tags are malformed"))?;
        }
        let cells = params.set_items.checked_mul(params.payload_bytes);
        let cells = bytes.elements(cells.ok_or(StateError::Damaged("a count is too large"))?)?;
        Ok(Self { tags, cells })
    }
}
