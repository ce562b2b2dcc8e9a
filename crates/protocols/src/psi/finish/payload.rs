//! Labelled PSI: the sender's payloads, in the order of its sorted tags, each under a keystream
//! that only the receiver's output for the same item gives. Fixed width, so that lengths say
//! nothing.

use rayon::prelude::*;
use vesica_party::{Abort, Channel, Stream};
use vesica_structures::secret::{WipedStack, in_frame_of_its_own};
use vesica_structures::tags::Found;

use crate::tasks::SealedPayloads;

/// About how many bytes are encrypted, sent and received at a time.
const BYTES_PER_PART: usize = 1 << 18;
/// Fewest items that are worth a task of a thread.
const MIN_ITEMS: usize = 256;

/// Sends `width` bytes a tag: at place `p` what `payload` gives for the number `order[p]`, under
/// what `keystream` fills in for that number.
pub fn send<'a, S: Stream<Element = u8>>(
    payload: impl Fn(usize) -> &'a [u8] + Sync,
    width: usize,
    order: &[u32],
    keystream: impl Fn(usize, &mut [u8]) + Sync,
    ch: &mut Channel,
) -> Result<(), Abort> {
    let part_items = (BYTES_PER_PART / width).max(1);
    let mut part = vec![0; part_items.min(order.len()) * width];
    for numbers in order.chunks(part_items) {
        let part = &mut part[..numbers.len() * width];
        let cells = part.par_chunks_exact_mut(width).zip(numbers).with_min_len(MIN_ITEMS);
        cells.for_each_init(
            || WipedStack,
            |_, (cell, &number)| {
                in_frame_of_its_own(|| keystream(number as usize, cell));
                add(cell, payload(number as usize));
            },
        );
        ch.send_stream::<S>(part)?;
    }
    Ok(())
}

/// Receives the `count` payloads and keeps those of `found`, which noted the places of the sender's
/// tags. `keystream` is called when the seal is opened.
///
/// Each cell is copied once, to its match's place or to one that nobody reads, so that the work is
/// the same whatever was found.
pub fn receive<S: Stream<Element = u8>>(
    count: usize,
    width: usize,
    found: Found,
    keystream: impl Fn(usize, &mut [u8]) + Send + Sync + 'static,
    ch: &mut Channel,
) -> Result<SealedPayloads, Abort> {
    let matches = found.count();
    let cell_of = cells(&found, count);
    let mut kept = vec![0; (matches + 1) * width];
    let part_items = (BYTES_PER_PART / width).max(1);
    let mut part = vec![0; part_items.min(count) * width];
    for cell_of in cell_of[..count].chunks(part_items) {
        let part = &mut part[..cell_of.len() * width];
        ch.recv_stream::<S>(part)?;
        for (from, &cell) in part.chunks_exact(width).zip(cell_of) {
            kept[cell as usize * width..][..width].copy_from_slice(from);
        }
    }
    let matches = move || {
        let of = |own: u32| (own, cell_of[found.theirs()[own as usize] as usize]);
        found.list().into_iter().map(of).collect()
    };
    Ok(SealedPayloads::new(width, kept, matches, keystream))
}

/// For each of `count` places of the sender the match whose payload comes there, and the number of
/// matches where there is none. The same work whatever was found.
fn cells(found: &Found, count: usize) -> Vec<u32> {
    let none = found.count() as u32;
    // One more: for own items that were not found.
    let mut cells = vec![none; count + 1];
    let mut matched = 0;
    for (own, &place) in found.theirs().iter().enumerate() {
        let common = u32::from(found.get(own));
        let place = count as u32 ^ (count as u32 ^ place) & common.wrapping_neg();
        cells[place as usize] = matched;
        matched += common;
    }
    cells
}

/// `cell += other`, bit by bit.
fn add(cell: &mut [u8], other: &[u8]) {
    for (byte, other) in cell.iter_mut().zip(other) {
        *byte ^= other;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use vesica_structures::rng::SecretRng;
    use vesica_structures::tags::TagFinder;
    use vesica_testkit::two_party;

    use super::*;

    vesica_party::arrows! { "test" =>
        stream Cells[u8] = 1, Sender, "payloads";
    }

    /// Of items with these numbers, 24 bytes each, in parts; two own tags are equal, and so are two
    /// of the sender's.
    fn received(own: &[u128], theirs: &'static [u128], width: usize) -> (SealedPayloads, Arc<AtomicUsize>, Vec<u32>) {
        let mut finder = TagFinder::new(own.len(), 128, true);
        finder.add(own, 0..);
        finder.find(theirs);
        let (found, calls) = (finder.found(), Arc::new(AtomicUsize::new(0)));
        let (list, counted) = (found.list(), calls.clone());
        let items: Vec<u128> = own.to_vec();
        let keystream = move |item: usize, out: &mut [u8]| {
            counted.fetch_add(1, Ordering::Relaxed);
            out.fill(items[item] as u8 ^ 0x55);
        };
        let payloads: Vec<u8> = (0..theirs.len()).flat_map(|place| vec![place as u8; width]).collect();
        let order: Vec<u32> = (0..theirs.len() as u32).collect();
        let ((), sealed) = two_party(
            |ch, _| {
                send::<Cells>(
                    |place| &payloads[place * width..][..width],
                    width,
                    &order,
                    |place, out| out.fill(theirs[place] as u8 ^ 0x55),
                    ch,
                )
            },
            |ch, _| receive::<Cells>(theirs.len(), width, found, keystream, ch),
        );
        (sealed, calls, list)
    }

    #[test]
    fn cells_are_decrypted_when_the_seal_is_opened_and_not_before() {
        let theirs: &[u128] = &[9, 4, 4, 7, 100, 5];
        // Own tags by whose number nothing, some, or all is common; equal ones have one cell.
        for (own, places) in
            [(&[1, 2, 3][..], &[][..]), (&[7, 1, 4, 5, 4], &[3, 1, 5, 1]), (&[9, 4, 7, 100, 5], &[0, 1, 3, 4, 5])]
        {
            for width in [1, 24, BYTES_PER_PART] {
                let (sealed, calls, list) = received(own, theirs, width);
                assert_eq!((list.len(), calls.load(Ordering::Relaxed)), (places.len(), 0), "nothing is decrypted yet");
                let expected: Vec<u8> = places.iter().flat_map(|&place: &u8| vec![place; width]).collect();
                assert!(sealed.opened() == expected && sealed.open() == expected, "{own:?}, {width} bytes");
                assert_eq!(calls.load(Ordering::Relaxed), 2 * places.len(), "each match once an opening");
            }
        }
    }

    /// Where a cell goes: as defined, for random sets.
    #[test]
    fn every_place_has_its_cell_or_the_one_that_nobody_reads() {
        let mut rng = SecretRng::insecure_from_seed(3);
        let own: Vec<u128> = (0..3000).map(|_| rng.block()).collect();
        for common in [0, 1, 1500, 3000] {
            let theirs: Vec<u128> =
                own[..common].iter().rev().copied().chain((common..4000).map(|_| rng.block())).collect();
            let mut finder = TagFinder::new(own.len(), 128, true);
            finder.add(&own, 0..);
            finder.find(&theirs);
            let cells = cells(&finder.found(), theirs.len());
            let expected = |place: usize| if place < common { common - 1 - place } else { common };
            assert!((0..theirs.len()).all(|place| cells[place] as usize == expected(place)), "{common} in common");
        }
    }
}
