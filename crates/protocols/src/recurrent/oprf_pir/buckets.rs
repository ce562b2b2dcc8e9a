//! Records: the buckets of a set, and the search in one of them.
//!
//! A record is the tags of its bucket, ascending and packed, then their payloads, in the same order.
//! Free slots lie in front, as zeros. Its last bytes are a hash of the others.

use rayon::prelude::*;
use vesica_mpc::rfc9497::{Output, SecretKey};
use vesica_party::Abort;
use vesica_structures::fields::Gf128;
use vesica_structures::packing::{pack, packed_len, unpack};
use vesica_structures::secret::Secret;

use super::Params;
use super::params::CHECK_BYTES;
use crate::psi::finish::fill_keystream;
use crate::recurrent::items::{inputs, refuse_twins};
use crate::tags::truncate;
use crate::tasks::{IntersectReceiverOutput, IntersectSenderInput, SealedPayloads};

/// Separates the keystreams of payloads from others'.
const DOMAIN: &[u8; 16] = b"OPRF PIR payload";
/// Separates the hashes of records from others.
const CHECK_DOMAIN: &str = "vesica v1 oprf-pir 2026 check of a record";
/// Items whose outputs are held at a time, while a set is prepared.
const ITEMS_AT_A_TIME: usize = 1 << 14;

/// What an output of the function says of its item.
pub(super) struct Place {
    pub bucket: usize,
    tag: u128,
    payload_key: u128,
}

impl Place {
    /// Bytes 0 to 15 are the tag, 16 to 31 the key of the payload, 32 to 39 choose the bucket.
    pub fn of(params: &Params, output: &Output) -> Self {
        let [tag, payload_key, chooser, _]: [u128; 4] = bytemuck::cast(*output);
        let bucket = (u128::from(chooser as u64) * params.shape.rows() as u128) >> u64::BITS;
        Self { bucket: bucket as usize, tag: truncate(tag, params.tag_bits), payload_key }
    }
}

/// The records of a set of the agreed size, under a key that no other set has.
pub(super) fn records(params: &Params, key: &SecretKey, set: &IntersectSenderInput) -> Result<Vec<u8>, Abort> {
    refuse_twins(&set.items)?;
    let (count, width, rows) = (set.items.len(), params.payload_bytes, params.shape.rows());
    let mut tags = Secret::new(Vec::with_capacity(count));
    let mut buckets: Secret<Vec<u32>> = Secret::new(Vec::with_capacity(count));
    let mut keys = Secret::new(Vec::with_capacity(if width > 0 { count } else { 0 }));
    for items in set.items.chunks(ITEMS_AT_A_TIME) {
        for output in key.evaluate(inputs(items)).iter() {
            let place = Place::of(params, output);
            tags.push(place.tag);
            buckets.push(place.bucket as u32);
            if width > 0 {
                keys.push(place.payload_key);
            }
        }
    }
    // The items, bucket by bucket.
    let mut ends = vec![0u32; rows + 1];
    buckets.iter().for_each(|&bucket| ends[bucket as usize + 1] += 1);
    if ends.iter().any(|&load| load as usize > params.slots) {
        return Err(Abort::StatisticalFailure("a bucket of the set is fuller than any should be"));
    }
    for bucket in 0..rows {
        ends[bucket + 1] += ends[bucket];
    }
    let mut order = Secret::new(vec![0u32; count]);
    let mut next = ends.clone();
    for (item, &bucket) in (0..).zip(buckets.iter()) {
        let place = &mut next[bucket as usize];
        order[*place as usize] = item;
        *place += 1;
    }
    drop((next, buckets));
    let mut records = vec![0; params.shape.matrix_bytes()];
    records.par_chunks_exact_mut(params.shape.record_bytes()).zip(ends.par_windows(2)).for_each(|(record, ends)| {
        let mut items = Secret::new(order[ends[0] as usize..ends[1] as usize].to_vec());
        items.sort_unstable_by_key(|&item| tags[item as usize]);
        let free = params.slots - items.len();
        let mut sorted = vec![Gf128::default(); free];
        sorted.extend(items.iter().map(|&item| Gf128(tags[item as usize])));
        let mut bytes = Vec::with_capacity(record.len());
        pack(&sorted, params.tag_bits, &mut bytes);
        bytes.resize(bytes.len() + free * width, 0);
        if width > 0 {
            for &item in items.iter() {
                let (item, start) = (item as usize, bytes.len());
                bytes.resize(start + width, 0);
                fill_keystream(DOMAIN, keys[item], set.items[item], &mut bytes[start..]);
                let payload = &set.payloads[item * width..];
                bytes[start..].iter_mut().zip(payload).for_each(|(byte, payload)| *byte ^= payload);
            }
        }
        let (body, check) = record.split_at_mut(record.len() - CHECK_BYTES);
        body[..bytes.len()].copy_from_slice(&bytes);
        check.copy_from_slice(&check_of(body));
    });
    Ok(records)
}

/// What a record ends with: it finds errors, and is no protection from a server that makes them.
fn check_of(body: &[u8]) -> [u8; CHECK_BYTES] {
    let mut check = [0; CHECK_BYTES];
    blake3::Hasher::new_derive_key(CHECK_DOMAIN).update(body).finalize_xof().fill(&mut check);
    check
}

/// What a client found of its items, item by item. Its work does not depend on that.
pub(super) struct Found {
    params: Params,
    /// As many as `count`, and room for one more.
    matches: Vec<u32>,
    count: usize,
    items: u32,
    /// Items whose records were not read rightly.
    unread: usize,
    are_there: Secret<Vec<bool>>,
    cells: Vec<u8>,
    keys: Secret<Vec<u128>>,
}

impl Found {
    /// Nothing yet.
    ///
    /// Memory for matches is written once before, so that the first ones do not show in the time.
    pub fn new(params: &Params) -> Self {
        let labelled = if params.payload_bytes > 0 { params.query_items } else { 0 };
        Self {
            params: *params,
            matches: vec![u32::MAX; params.query_items + 1],
            count: 0,
            items: 0,
            unread: 0,
            are_there: Secret::new(Vec::with_capacity(labelled)),
            cells: Vec::new(),
            keys: Secret::new(Vec::with_capacity(labelled)),
        }
    }

    /// Looks for the next item in its bucket. Any record has a meaning.
    pub fn look(&mut self, place: &Place, record: &Secret<Vec<u8>>) {
        let (slots, width) = (self.params.slots, self.params.payload_bytes);
        let (record, check) = record.split_at(record.len() - CHECK_BYTES);
        self.unread += usize::from(u64::from_le_bytes(check_of(record)) != bytemuck::pod_read_unaligned::<u64>(check));
        let (tags, rest) = record.split_at(packed_len(slots, self.params.tag_bits));
        let mut slots = vec![Gf128::default(); slots];
        // Bits left over in the last byte are the server's mistake, and no reason to stop: whether there
        // are some may depend on what was asked.
        let _stray = unpack(tags, self.params.tag_bits, &mut slots);
        let start = self.cells.len();
        self.cells.resize(start + width, 0);
        let cell = &mut self.cells[start..];
        let mut is_there = 0u8;
        for (i, slot) in slots.iter().enumerate() {
            let difference = slot.0 ^ place.tag;
            let is_equal = 1 - ((difference | difference.wrapping_neg()) >> 127) as u8;
            is_there |= is_equal;
            for (byte, payload) in cell.iter_mut().zip(&rest[i * width..]) {
                *byte |= payload & is_equal.wrapping_neg();
            }
        }
        // Without a branch, into memory that was written before.
        self.matches[self.count] = self.items;
        self.count += usize::from(is_there);
        if width > 0 {
            self.are_there.push(is_there == 1);
            self.keys.push(place.payload_key);
        }
        self.items += 1;
    }

    /// The matches of all items, which are given again, and their payloads.
    pub fn finish(self, items: Vec<u128>) -> IntersectReceiverOutput {
        let Self { params, mut matches, count, unread, are_there, cells, keys, .. } = self;
        matches.truncate(count);
        if params.payload_bytes == 0 || cells.is_empty() {
            return IntersectReceiverOutput { matches, payloads: SealedPayloads::default(), unread };
        }
        let items = Secret::new(items);
        let keystream = move |own: usize, out: &mut [u8]| fill_keystream(DOMAIN, keys[own], items[own], out);
        let chosen =
            move || (0..).zip(are_there.iter()).filter(|(_, there)| **there).map(|(own, _)| (own, own)).collect();
        IntersectReceiverOutput {
            matches,
            payloads: SealedPayloads::new(params.payload_bytes, cells, chosen, keystream),
            unread,
        }
    }
}
