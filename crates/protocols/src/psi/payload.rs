//! Labelled PSI: the sender's payloads, in the order of its sorted masks, each under a keystream that only the receiver's output for
//! the same item gives. Fixed width, so that lengths say nothing.

use rayon::prelude::*;
use vesica_party::{Abort, Channel, Stream};
use vesica_structures::masks::Match;
use vesica_structures::secret::Secret;

/// About how many bytes are encrypted, sent and received at a time.
const PART_BYTES: usize = 1 << 18;
/// Fewest items that are worth a task of a thread.
const MIN_ITEMS: usize = 256;

/// Sends `width` bytes an item, item `order[p]` at place `p`; `keystream(item, out)` fills `out` with the item's keystream.
pub(crate) fn send<S: Stream<Element = u8>>(
    payloads: &[u8],
    width: usize,
    order: &[u32],
    keystream: impl Fn(usize, &mut [u8]) + Sync,
    ch: &mut Channel,
) -> Result<(), Abort> {
    if width == 0 {
        return Ok(());
    }
    let part_items = (PART_BYTES / width).max(1);
    let mut part = vec![0; part_items.min(order.len()) * width];
    for items in order.chunks(part_items) {
        let part = &mut part[..items.len() * width];
        part.par_chunks_exact_mut(width).zip(items).with_min_len(MIN_ITEMS).for_each(|(cell, &item)| {
            let item = item as usize;
            keystream(item, cell);
            add(cell, &payloads[item * width..][..width]);
        });
        ch.send_stream::<S>(part)?;
    }
    Ok(())
}

/// Receives the `count` payloads and decrypts those of `found`, by ascending own item. Returns
/// `found.len() * width` bytes in that order.
pub(crate) fn receive<S: Stream<Element = u8>>(
    count: usize,
    width: usize,
    found: &[Match],
    keystream: impl Fn(usize, &mut [u8]) + Sync,
    ch: &mut Channel,
) -> Result<Vec<u8>, Abort> {
    if width == 0 {
        return Ok(Vec::new());
    }
    let mut by_place: Vec<(u32, usize)> = found.iter().enumerate().map(|(rank, found)| (found.theirs, rank)).collect();
    by_place.sort_unstable();
    let mut wanted = by_place.into_iter().peekable();
    let mut opened = vec![0; found.len() * width];
    let part_items = (PART_BYTES / width).max(1);
    let mut part = vec![0; part_items.min(count) * width];
    let mut first = 0;
    while first < count {
        let items = part_items.min(count - first);
        let part = &mut part[..items * width];
        ch.recv_stream::<S>(part)?;
        while let Some((place, rank)) = wanted.next_if(|&(place, _)| (place as usize) < first + items) {
            opened[rank * width..][..width].copy_from_slice(&part[(place as usize - first) * width..][..width]);
        }
        first += items;
    }
    opened.par_chunks_exact_mut(width).zip(found).with_min_len(MIN_ITEMS).for_each_init(
        || Secret::new(vec![0; width]),
        |key, (cell, found)| {
            keystream(found.own as usize, key);
            add(cell, key);
        },
    );
    Ok(opened)
}

/// `cell += other`, bit by bit.
fn add(cell: &mut [u8], other: &[u8]) {
    for (byte, other) in cell.iter_mut().zip(other) {
        *byte ^= other;
    }
}
