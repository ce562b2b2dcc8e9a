//! Sets in buckets of equal size, for clients that fetch one bucket for each item: what a bucket
//! holds, and the search for an item in it.
//!
//! A bucket is the tags in it, ascending and packed, then their cells in the same order. A cell is
//! an encrypted payload. Slots that no item takes hold what the service puts there.

use vesica_party::Abort;
use vesica_structures::fields::Gf128;
use vesica_structures::packing::{pack, packed_len, unpack};
use vesica_structures::secret::Secret;

use super::filter::Output;
use super::items::refuse_twins;
use super::sizes::matches_of;
use crate::psi::finish::fill_keystream;
use crate::tags::truncate;
use crate::tasks::{IntersectReceiverOutput, IntersectSenderInput, SealedPayloads};

/// The sizes of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Most items of a bucket.
    pub slots: usize,
    /// Width of a tag, in bits.
    pub tag_bits: u32,
    /// Width of a payload, in bytes; 0 for none.
    pub payload_bytes: usize,
    /// Separates the keystreams of payloads from those of other protocols.
    pub domain: &'static [u8; 16],
}

impl Shape {
    /// Bytes of the tags of a bucket.
    fn tag_bytes(&self) -> usize {
        packed_len(self.slots, self.tag_bits)
    }

    /// Bytes of a bucket.
    pub fn bytes(&self) -> usize {
        self.tag_bytes() + self.slots * self.payload_bytes
    }
}

/// A set, bucket by bucket.
pub struct Sorted<'a> {
    shape: Shape,
    set: &'a IntersectSenderInput,
    /// Of each item.
    tags: Secret<Vec<u128>>,
    /// Of each item's payload, where there are payloads.
    keys: Secret<Vec<u128>>,
    /// All items, those of a bucket behind those of the one before it.
    order: Secret<Vec<u32>>,
    /// Where in `order` each bucket begins, and at last where the last one ends.
    ends: Vec<u32>,
}

impl<'a> Sorted<'a> {
    /// A set in `count` buckets. `outputs` says for each item its bucket, and what the function gives for it, to what
    /// it is called with: for all items, in their order, in parts.
    pub fn new(
        shape: Shape,
        set: &'a IntersectSenderInput,
        count: usize,
        outputs: impl FnOnce(&mut dyn FnMut(&[(u32, Output)])) -> Result<(), Abort>,
    ) -> Result<Self, Abort> {
        refuse_twins(&set.items)?;
        let (items, has_payloads) = (set.items.len(), shape.payload_bytes > 0);
        let mut tags = Secret::new(Vec::with_capacity(items));
        let mut buckets: Secret<Vec<u32>> = Secret::new(Vec::with_capacity(items));
        let mut keys = Secret::new(Vec::with_capacity(if has_payloads { items } else { 0 }));
        outputs(&mut |outputs| {
            for &(bucket, [tag, payload_key]) in outputs {
                tags.push(truncate(tag, shape.tag_bits));
                buckets.push(bucket);
                if has_payloads {
                    keys.push(payload_key);
                }
            }
        })?;
        let mut ends = vec![0u32; count + 1];
        buckets.iter().for_each(|&bucket| ends[bucket as usize + 1] += 1);
        if ends.iter().any(|&load| load as usize > shape.slots) {
            return Err(Abort::StatisticalFailure("a bucket of the set is fuller than any should be"));
        }
        for bucket in 0..count {
            ends[bucket + 1] += ends[bucket];
        }
        let mut order = Secret::new(vec![0u32; items]);
        let mut next = ends.clone();
        for (item, &bucket) in (0..).zip(buckets.iter()) {
            let place = &mut next[bucket as usize];
            order[*place as usize] = item;
            *place += 1;
        }
        Ok(Self { shape, set, tags, keys, order, ends })
    }

    /// Writes a bucket into as many bytes as it takes. `fill` gives the tags of free slots, 16
    /// bytes at a time, and their cells; it is called on zeros.
    pub fn write(&self, bucket: usize, mut fill: impl FnMut(&mut [u8]), out: &mut [u8]) {
        let Shape { slots, tag_bits, payload_bytes: width, domain } = self.shape;
        let items = &self.order[self.ends[bucket] as usize..self.ends[bucket + 1] as usize];
        let mut content: Secret<Vec<(u128, Option<u32>)>> = Secret::new(Vec::with_capacity(slots));
        for _ in items.len()..slots {
            let mut tag = [0; 16];
            fill(&mut tag);
            content.push((truncate(u128::from_le_bytes(tag), tag_bits), None));
        }
        content.extend(items.iter().map(|&item| (self.tags[item as usize], Some(item))));
        content.sort_unstable_by_key(|&(tag, _)| tag);
        let mut packed = Vec::with_capacity(self.shape.tag_bytes());
        pack(&content.iter().map(|&(tag, _)| Gf128(tag)).collect::<Vec<_>>(), tag_bits, &mut packed);
        let (tags, cells) = out.split_at_mut(packed.len());
        tags.copy_from_slice(&packed);
        if width == 0 {
            return;
        }
        for (cell, &(_, item)) in cells.chunks_exact_mut(width).zip(content.iter()) {
            match item.map(|item| item as usize) {
                Some(item) => {
                    fill_keystream(domain, self.keys[item], self.set.items[item], cell);
                    let payload = &self.set.payloads[item * width..];
                    cell.iter_mut().zip(payload).for_each(|(byte, payload)| *byte ^= payload);
                }
                None => fill(cell),
            }
        }
    }
}

/// What a client finds of its items. The work does not depend on that, and memory is written
/// whether or not an item is found.
pub struct Found {
    shape: Shape,
    /// For each item, whether it was found.
    are_there: Secret<Vec<bool>>,
    /// For each item the cell of its slot, or zeros.
    cells: Vec<u8>,
    /// For each item the key of its payload, where there are payloads.
    keys: Secret<Vec<u128>>,
}

impl Found {
    /// Nothing yet, of so many items.
    pub fn new(shape: Shape, items: usize) -> Self {
        let keys = if shape.payload_bytes > 0 { items } else { 0 };
        Self {
            shape,
            are_there: Secret::new(vec![false; items]),
            cells: vec![0; items * shape.payload_bytes],
            keys: Secret::new(vec![0; keys]),
        }
    }

    /// Looks for the item of this number, by its output, in a bucket. Any bytes have a meaning;
    /// says whether bits that fill up the last byte of the tags were zero.
    pub fn look(&mut self, item: usize, &[tag, payload_key]: &Output, bucket: &[u8]) -> bool {
        let Shape { slots, tag_bits, payload_bytes: width, .. } = self.shape;
        let (tags, rest) = bucket.split_at(self.shape.tag_bytes());
        let mut slots = vec![Gf128::default(); slots];
        let is_clean = unpack(tags, tag_bits, &mut slots).is_some();
        let tag = truncate(tag, tag_bits);
        let cell = &mut self.cells[item * width..][..width];
        let mut is_there = 0u8;
        for (i, slot) in slots.iter().enumerate() {
            let difference = slot.0 ^ tag;
            let is_equal = 1 - ((difference | difference.wrapping_neg()) >> 127) as u8;
            is_there |= is_equal;
            for (byte, payload) in cell.iter_mut().zip(&rest[i * width..]) {
                *byte |= payload & is_equal.wrapping_neg();
            }
        }
        self.are_there[item] = is_there == 1;
        if width > 0 {
            self.keys[item] = payload_key;
        }
        is_clean
    }

    /// The matches of all items, which are given again, and their payloads; `unread` of the items
    /// could not be looked up.
    pub fn finish(self, items: Vec<u128>, unread: usize) -> IntersectReceiverOutput {
        let Self { shape: Shape { payload_bytes: width, domain, .. }, are_there, cells, keys } = self;
        let matches = matches_of(&are_there);
        if cells.is_empty() {
            return IntersectReceiverOutput { matches, payloads: SealedPayloads::default(), unread };
        }
        let items = Secret::new(items);
        let keystream = move |own: usize, out: &mut [u8]| fill_keystream(domain, keys[own], items[own], out);
        let chosen =
            move || (0..).zip(are_there.iter()).filter(|(_, there)| **there).map(|(own, _)| (own, own)).collect();
        IntersectReceiverOutput { matches, payloads: SealedPayloads::new(width, cells, chosen, keystream), unread }
    }
}
