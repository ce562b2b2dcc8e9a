//! Points under both blindings, compared by hashes: one side's travel sorted and Golomb-Rice coded
//! ([`crate::tags`]), the other side looks for its own among them.

use std::ops::Deref;

use rayon::prelude::*;
use vesica_mpc::bits::Bits;
use vesica_party::{Abort, Channel, Phase, Stream};
use vesica_structures::tags::{TagFinder, TagSorter};

use super::Point;
use crate::tags;

/// Hashes of points in chunks, pseudo-random where the points are: `context` is the protocol's.
pub fn digests<C: Deref<Target = Vec<Point>> + Sync>(context: &str, session: &[u8; 32], chunks: &[C]) -> Vec<u128> {
    let key = blake3::derive_key(context, session);
    let digest = |point: &Point| {
        let [low, _]: [u128; 2] = bytemuck::cast(*blake3::keyed_hash(&key, point).as_bytes());
        low
    };
    let mut digests = vec![0; chunks.iter().map(|chunk| chunk.len()).sum()];
    let mut rest = &mut digests[..];
    let places: Vec<&mut [u128]> = chunks.iter().filter_map(|chunk| rest.split_off_mut(..chunk.len())).collect();
    chunks.par_iter().zip(places).for_each(|(chunk, digests)| {
        digests.iter_mut().zip(chunk.iter()).for_each(|(out, point)| *out = digest(point));
    });
    digests
}

/// Sends the digests, `bits` bits of each, in an order that says nothing of the points'.
pub fn send<S: Stream<Element = u8>>(digests: &[u128], bits: u32, ch: &mut Channel) -> Result<(), Abort> {
    let _phase = ch.phase(Phase::Masks);
    let mut sorter = TagSorter::new(digests.len(), bits);
    sorter.add(digests, std::iter::repeat_n((), digests.len()));
    tags::send::<S, ()>(sorter, digests.len(), bits, ch)?;
    Ok(())
}

/// Receives `count` digests; which of the own ones are among them, a bit each. The same work
/// whatever they are.
pub fn find<S: Stream<Element = u8>>(own: &[u128], count: usize, bits: u32, ch: &mut Channel) -> Result<Bits, Abort> {
    let _phase = ch.phase(Phase::Masks);
    let mut finder = TagFinder::new(own.len(), bits, false);
    finder.add(own, 0..);
    finder.prepare();
    tags::receive::<S>(&mut finder, count, bits, ch)?;
    Ok(Bits::from_words(finder.found().bits().to_vec(), own.len()))
}
