//! An arrow that many set protocols end with: one side's tags, sorted on all their bits and
//! Golomb-Rice coded, and the other side's search in them.
//!
//! The sort is a shuffle: a sorted list of tags says nothing of the order of its items. Rows that
//! send what their papers count shuffle.

use std::ops::RangeInclusive;

use rayon::prelude::*;
use vesica_party::{Abort, Channel, Stream};
use vesica_structures::facts::{FailureEvent, ceil_log2};
use vesica_structures::golomb::{Code, Malformed, PART};
use vesica_structures::rng::SecretRng;
use vesica_structures::shuffle::random_order;
use vesica_structures::tags::{CodedTags, TagFinder, TagSorter};

/// Bytes of a part's length.
const LENGTH_BYTES: usize = 4;

/// Bytes of a part that memory is taken for before they have come.
const CODED_BYTES_AT_A_TIME: usize = 1 << 18;

/// About how many bytes of shuffled tags are packed, sent and received at a time.
const SHUFFLED_BYTES: usize = 1 << 18;

/// The coding of tags on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TagCoding {
    /// Sorted on all bits and Golomb-Rice coded.
    SortedCoded,
    /// In a random order, each in whole bytes, as papers count them.
    Shuffled,
}

impl TagCoding {
    /// Bytes of the arrow that carries `count` tags of `bits` bits.
    pub fn predicted_bytes(self, count: usize, bits: u32) -> RangeInclusive<u64> {
        match self {
            Self::SortedCoded => predicted_bytes(count, bits),
            Self::Shuffled => {
                let bytes = shuffled_bytes(count, bits);
                bytes..=bytes
            }
        }
    }
}

/// Width of a tag, in bits, such that a tag of the receiver equals one of a different item of the
/// sender with probability at most [`FailureEvent::TagCollision`]: one of `n_s n_r` pairs of `l`-bit tags is equal with probability at most `n_s n_r 2^-l`.
pub fn tag_bits(sender_items: usize, receiver_items: usize) -> u32 {
    FailureEvent::TagCollision.bits() + ceil_log2(sender_items) + ceil_log2(receiver_items)
}

/// The low `bits` bits of `tag`, for `bits` of 1 to 128.
pub fn truncate(tag: u128, bits: u32) -> u128 {
    tag & (u128::MAX >> (128 - bits))
}

/// Bytes of the arrow that carries `count` tags: a length of 4 bytes and the code for each part.
pub fn predicted_bytes(count: usize, bits: u32) -> RangeInclusive<u64> {
    let code = Code::new(count, bits);
    let lengths = (LENGTH_BYTES * code.parts().count()) as u64;
    let coded = code.len_range();
    lengths + *coded.start() as u64..=lengths + *coded.end() as u64
}

/// Sends all of the sorter's tags, of `bits` bits, as arrow `S`, each part as soon as it is sorted;
/// the labels in the order of the tags.
pub fn send<S: Stream<Element = u8>, T: Copy + Default + Ord + Send + Sync>(
    tags: TagSorter<T>,
    count: usize,
    bits: u32,
    ch: &mut Channel,
) -> Result<Vec<T>, Abort> {
    encode_each(tags, count, bits, |part| ch.send_stream::<S>(&part))
}

/// All of the sorter's tags, of `bits` bits, to be kept; the labels in the order of the tags.
pub fn encode<T: Copy + Default + Ord + Send + Sync>(
    tags: TagSorter<T>,
    count: usize,
    bits: u32,
) -> Result<(CodedTags, Vec<T>), Malformed> {
    let mut coded = CodedTags::new(count, bits);
    let order = encode_each(tags, count, bits, |part| coded.push(&part[LENGTH_BYTES..]))?;
    Ok((coded, order))
}

/// Hands each part of the sorter's tags, behind its length, to `take` as soon as it is sorted.
fn encode_each<T: Copy + Default + Ord + Send + Sync, E>(
    tags: TagSorter<T>,
    count: usize,
    bits: u32,
    mut take: impl FnMut(Vec<u8>) -> Result<(), E>,
) -> Result<Vec<T>, E> {
    let code = Code::new(count, bits);
    let mut runs = tags.finish();
    let mut sorted = Vec::new();
    let mut order = Vec::with_capacity(count);
    // Parts that are sorted and coded at a time.
    let at_a_time = rayon::current_num_threads() * PART;
    let (mut sent, mut previous) = (0, 0);
    while sent < count {
        let due = at_a_time.min(count - sent);
        runs.fill(&mut sorted, &mut order, due);
        let parts = sorted[..due].par_chunks(PART).enumerate().map(|(number, part)| {
            let previous = if number == 0 { previous } else { sorted[number * PART - 1] };
            let mut coded = vec![0; LENGTH_BYTES];
            code.encode(part, previous, &mut coded);
            let length = (coded.len() - LENGTH_BYTES) as u32;
            coded[..LENGTH_BYTES].copy_from_slice(&length.to_le_bytes());
            coded
        });
        parts.collect::<Vec<_>>().into_iter().try_for_each(&mut take)?;
        previous = sorted[due - 1];
        sorted.drain(..due);
        sent += due;
    }
    Ok(order)
}

/// Receives exactly `count` ascending tags of `bits` bits from arrow `S`, and looks for them as
/// they come.
pub fn receive<S: Stream<Element = u8>>(
    own: &mut TagFinder,
    count: usize,
    bits: u32,
    ch: &mut Channel,
) -> Result<(), Abort> {
    receive_sorted::<S>(count, bits, ch, |tags| own.find(tags))
}

/// Receives exactly `count` ascending tags of `bits` bits from arrow `S`, and hands them to `take`
/// as they come.
fn receive_sorted<S: Stream<Element = u8>>(
    count: usize,
    bits: u32,
    ch: &mut Channel,
    mut take: impl FnMut(&[u128]),
) -> Result<(), Abort> {
    let code = Code::new(count, bits);
    let (mut coded, mut tags, mut previous) = (Vec::new(), Vec::with_capacity(PART.min(count)), 0);
    for values in code.parts() {
        receive_part::<S>(code.part_len_range(values, previous), &mut coded, ch)?;
        tags.clear();
        code.decode(&coded, values, previous, &mut tags).map_err(|_| malformed::<S>())?;
        previous = tags[values - 1];
        take(&tags);
    }
    Ok(())
}

/// Sends tags that were kept in their code as arrow `S`.
pub fn send_coded<S: Stream<Element = u8>>(tags: &CodedTags, ch: &mut Channel) -> Result<(), Abort> {
    let mut framed = Vec::new();
    for part in tags.parts() {
        framed.clear();
        framed.extend_from_slice(&(part.len() as u32).to_le_bytes());
        framed.extend_from_slice(part);
        ch.send_stream::<S>(&framed)?;
    }
    Ok(())
}

/// Receives exactly `count` ascending tags of `bits` bits from arrow `S`, and keeps them in their
/// code.
pub fn receive_coded<S: Stream<Element = u8>>(count: usize, bits: u32, ch: &mut Channel) -> Result<CodedTags, Abort> {
    let (mut tags, mut coded) = (CodedTags::new(count, bits), Vec::new());
    while let Some(lengths) = tags.due() {
        receive_part::<S>(lengths, &mut coded, ch)?;
        tags.push(&coded).map_err(|_| malformed::<S>())?;
    }
    Ok(tags)
}

/// Receives a part of one of these lengths.
fn receive_part<S: Stream<Element = u8>>(
    lengths: RangeInclusive<usize>,
    coded: &mut Vec<u8>,
    ch: &mut Channel,
) -> Result<(), Abort> {
    let mut length = [0; LENGTH_BYTES];
    ch.recv_stream::<S>(&mut length)?;
    let length = u32::from_le_bytes(length) as usize;
    if !lengths.contains(&length) {
        return Err(Abort::PeerMisbehaved(S::STEP, "the coded tags have an impossible length"));
    }
    // A length costs its sender four bytes: what it announces takes memory only as it arrives.
    coded.clear();
    while coded.len() < length {
        let arrived = coded.len();
        coded.resize(length.min(arrived + CODED_BYTES_AT_A_TIME), 0);
        ch.recv_stream::<S>(coded.get_mut(arrived..).unwrap_or_default())?;
    }
    Ok(())
}

fn malformed<S: Stream<Element = u8>>() -> Abort {
    Abort::PeerMisbehaved(S::STEP, "the coded tags are malformed")
}

/// Bytes of the arrow that carries `count` shuffled tags.
fn shuffled_bytes(count: usize, bits: u32) -> u64 {
    count as u64 * u64::from(bits.div_ceil(8))
}

/// Sends the low `bits` bits of each tag in a random order as arrow `S`, in whole bytes. Returns
/// which tag stands at which place.
pub fn send_shuffled<S: Stream<Element = u8>>(
    tags: &[u128],
    bits: u32,
    ch: &mut Channel,
    rng: &mut SecretRng,
) -> Result<Vec<u32>, Abort> {
    let order = random_order(tags.len(), rng);
    let width = bits.div_ceil(8) as usize;
    let mut part = Vec::with_capacity(SHUFFLED_BYTES);
    for items in order.chunks(SHUFFLED_BYTES / width) {
        part.clear();
        for &item in items {
            part.extend_from_slice(&truncate(tags[item as usize], bits).to_le_bytes()[..width]);
        }
        ch.send_stream::<S>(&part)?;
    }
    Ok(order)
}

/// Receives `count` tags of whole bytes from arrow `S`, and hands them to `take` as they come.
fn receive_shuffled<S: Stream<Element = u8>>(
    count: usize,
    bits: u32,
    ch: &mut Channel,
    mut take: impl FnMut(&[u128]),
) -> Result<(), Abort> {
    let width = bits.div_ceil(8) as usize;
    let part_items = SHUFFLED_BYTES / width;
    let mut part = vec![0; part_items.min(count) * width];
    let mut tags = Vec::with_capacity(part_items.min(count));
    let mut left = count;
    while left > 0 {
        let part = &mut part[..part_items.min(left) * width];
        ch.recv_stream::<S>(part)?;
        tags.clear();
        tags.extend(part.chunks_exact(width).map(|bytes| {
            let mut tag = [0; 16];
            tag[..width].copy_from_slice(bytes);
            u128::from_le_bytes(tag)
        }));
        if tags.iter().any(|&tag| tag != truncate(tag, bits)) {
            return Err(Abort::PeerMisbehaved(S::STEP, "a tag is wider than agreed"));
        }
        take(&tags);
        left -= tags.len();
    }
    Ok(())
}

/// Sends all tags where nothing else is sent in their order.
pub fn send_unlabelled<S: Stream<Element = u8>>(
    tags: &[u128],
    coding: TagCoding,
    bits: u32,
    ch: &mut Channel,
    rng: &mut SecretRng,
) -> Result<(), Abort> {
    match coding {
        TagCoding::SortedCoded => {
            let mut sorter = TagSorter::new(tags.len(), bits);
            sorter.add(tags, std::iter::repeat(()));
            send::<S, ()>(sorter, tags.len(), bits, ch).map(drop)
        }
        TagCoding::Shuffled => send_shuffled::<S>(tags, bits, ch, rng).map(drop),
    }
}

/// Receives exactly `count` tags of `bits` bits from arrow `S` in either coding, and hands them to
/// `take` as they come.
pub fn receive_each<S: Stream<Element = u8>>(
    coding: TagCoding,
    count: usize,
    bits: u32,
    ch: &mut Channel,
    take: impl FnMut(&[u128]),
) -> Result<(), Abort> {
    match coding {
        TagCoding::SortedCoded => receive_sorted::<S>(count, bits, ch, take),
        TagCoding::Shuffled => receive_shuffled::<S>(count, bits, ch, take),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_width_is_the_share_of_the_budget_plus_both_sizes() {
        assert_eq!(tag_bits(1 << 20, 1 << 20), 82);
        assert_eq!(tag_bits(0, 1), 42);
        assert_eq!(tag_bits(3, 1000), 42 + 2 + 10);
    }
}
