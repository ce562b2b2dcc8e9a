//! Own masks, made ready to be found, and the other party's as they come by.

use rayon::prelude::*;

use super::buckets::{Buckets, sort_bucket};
use crate::secret::Secret;

/// A mask that both sides have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Match {
    /// Its own number.
    pub own: u32,
    /// Which mask of the other side's it is, the first one of equal ones; 0 where nobody asked.
    pub theirs: u32,
}

/// Masks of the other side that are worth a task of a thread.
const PIECE: usize = 1 << 12;

/// Takes own masks as they come, and then finds which of the other side's are among them.
pub struct MaskFinder {
    buckets: Buckets<u32>,
    /// Where the slots of each bucket begin, `shape.slots() + 1` numbers a bucket; empty until all own masks have come.
    starts: Vec<u32>,
    /// Numbers of own masks that are equal to another one, which stands for them, and the number of that one.
    twins: Vec<(u32, u32)>,
    /// One bit an own mask: whether it was found.
    found: Vec<u64>,
    /// What each found mask was equal to; left empty where nobody asked.
    theirs: Vec<u32>,
    /// How many masks of the other side's have come by.
    seen: u32,
}

impl MaskFinder {
    /// A finder of `count` own masks, which are the low `bits` bits of what is added; [`Match::theirs`] is filled in if `with_theirs`.
    ///
    /// # Panics
    /// If `bits` is not in `1..=128`, or there are more than `u32::MAX` masks.
    pub fn new(count: usize, bits: u32, with_theirs: bool) -> Self {
        Self {
            buckets: Buckets::new(count, bits),
            starts: Vec::new(),
            twins: Vec::new(),
            found: vec![0; count.div_ceil(64)],
            theirs: if with_theirs { vec![0; count] } else { Vec::new() },
            seen: 0,
        }
    }

    /// Adds own masks with their numbers, below `count`.
    ///
    /// # Panics
    /// If masks have been looked for.
    pub fn add(&mut self, masks: &[u128], numbers: impl IntoIterator<Item = u32>) {
        assert!(self.starts.is_empty(), "own masks come first");
        self.buckets.add(masks, numbers);
    }

    /// All own masks have come. A search does this by itself; a caller that has time before should.
    pub fn prepare(&mut self) {
        let Buckets { shape, masks, tags, filled, spill, .. } = &mut self.buckets;
        let shape = *shape;
        if !self.starts.is_empty() {
            return;
        }
        self.starts = vec![0; shape.buckets() * (shape.slots() + 1)];
        let cells = masks.par_chunks_mut(shape.capacity).zip(tags.par_chunks_mut(shape.capacity));
        let twins = cells.zip(self.starts.par_chunks_mut(shape.slots() + 1)).zip(&*filled).map_init(
            || (Secret::new(vec![0; shape.capacity]), vec![0; shape.capacity]),
            |(sorted_masks, sorted_tags), (((masks, tags), starts), &filled)| {
                let filled = filled as usize;
                let (masks, tags) = (&mut masks[..filled], &mut tags[..filled]);
                let (sorted_masks, sorted_tags) = (&mut sorted_masks[..filled], &mut sorted_tags[..filled]);
                sort_bucket((masks, tags), (sorted_masks, sorted_tags), shape, 0, starts);
                masks.copy_from_slice(sorted_masks);
                tags.copy_from_slice(sorted_tags);
                twins_of(masks, tags)
            },
        );
        self.twins = twins.flatten_iter().collect();
        spill.sort();
        self.twins.extend(twins_of(&spill.masks, &spill.tags));
    }

    /// Looks for the next masks of the other side's, of which again the low bits count; they may be in any order.
    ///
    /// # Panics
    /// If more than `u32::MAX` come.
    pub fn find(&mut self, theirs: &[u128]) {
        self.prepare();
        let first = self.seen;
        let pieces = theirs.par_chunks(PIECE).enumerate();
        let hits: Vec<Vec<Match>> = pieces.map(|(number, piece)| self.hits(piece, first + (number * PIECE) as u32)).collect();
        self.seen = u32::try_from(self.seen as usize + theirs.len()).expect("at most 2^32 - 1 masks");
        for hit in hits.into_iter().flatten() {
            self.mark(hit);
        }
    }

    /// Which own masks were found, by ascending number.
    pub fn matches(mut self) -> Vec<Match> {
        for (twin, stands_for) in std::mem::take(&mut self.twins) {
            if self.found[stands_for as usize / 64] >> (stands_for % 64) & 1 == 1 {
                self.mark(Match { own: twin, theirs: self.theirs.get(stands_for as usize).copied().unwrap_or(0) });
            }
        }
        let mut matches = Vec::with_capacity(self.found.iter().map(|word| word.count_ones() as usize).sum());
        for (number, &word) in self.found.iter().enumerate() {
            let mut word = word;
            while word != 0 {
                let own = number as u32 * 64 + word.trailing_zeros();
                matches.push(Match { own, theirs: self.theirs.get(own as usize).copied().unwrap_or(0) });
                word &= word - 1;
            }
        }
        matches
    }

    #[inline]
    fn mark(&mut self, hit: Match) {
        let (word, bit) = (&mut self.found[hit.own as usize / 64], 1 << (hit.own % 64));
        if *word & bit == 0 {
            *word |= bit;
            if let Some(theirs) = self.theirs.get_mut(hit.own as usize) {
                *theirs = hit.theirs;
            }
        }
    }

    /// An own mask for each of `theirs` that is one; the first of `theirs` came as number `first`.
    fn hits(&self, theirs: &[u128], first: u32) -> Vec<Match> {
        let Buckets { unalign, shape, ref masks, ref tags, ref spill, .. } = self.buckets;
        let mut hits = vec![Match { own: 0, theirs: 0 }; theirs.len()];
        let mut count = 0;
        for (number, &mask) in (first..).zip(theirs) {
            let mask = mask << unalign;
            let (bucket, slot) = shape.bucket_and_slot(mask);
            let slot = bucket * (shape.slots() + 1) + slot;
            let (start, end) = (self.starts[slot] as usize, self.starts[slot + 1] as usize);
            let (cell, length) = (bucket * shape.capacity + start, end - start);
            let (place, hit) = if length <= 2 {
                // Most slots: no branch, for nothing foretells its outcome.
                let place = cell + usize::from(length == 2 && masks[cell] != mask);
                (place, masks[place] == mask && length > 0)
            } else {
                let place = cell + masks[cell..cell + length].partition_point(|&own| own < mask);
                (place, place < cell + length && masks[place] == mask)
            };
            hits[count] = Match { own: tags[place], theirs: number };
            count += usize::from(hit);
        }
        hits.truncate(count);
        if !spill.masks.is_empty() {
            for (number, &mask) in (first..).zip(theirs) {
                let place = spill.masks.partition_point(|&own| own < mask << unalign);
                if spill.masks.get(place) == Some(&(mask << unalign)) {
                    hits.push(Match { own: spill.tags[place], theirs: number });
                }
            }
        }
        hits
    }
}

/// The numbers of masks that are equal to their predecessors among ascending ones, with the first one's.
fn twins_of(masks: &[u128], numbers: &[u32]) -> Vec<(u32, u32)> {
    let mut twins = Vec::new();
    let mut first = 0;
    for place in 1..masks.len() {
        if masks[place] == masks[first] {
            twins.push((numbers[place], numbers[first]));
        } else {
            first = place;
        }
    }
    twins
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::super::testing::inputs;
    use super::*;

    fn found(own: &[u128], theirs: &[u128], bits: u32, with_theirs: bool) -> Vec<Match> {
        let mut finder = MaskFinder::new(own.len(), bits, with_theirs);
        // In two batches, the later half first.
        let (first, second) = own.split_at(own.len() / 2);
        finder.add(second, first.len() as u32..);
        finder.add(first, 0..);
        for theirs in theirs.chunks(10_000) {
            finder.find(theirs);
        }
        finder.matches()
    }

    /// The definition.
    fn plain_matches(own: &[u128], theirs: &[u128], bits: u32) -> Vec<Match> {
        let mut first = HashMap::new();
        for (number, mask) in theirs.iter().enumerate() {
            first.entry(mask).or_insert(number as u32);
        }
        let find = |(number, mask): (usize, &u128)| {
            let theirs = *first.get(&(mask & (u128::MAX >> (128 - bits))))?;
            Some(Match { own: number as u32, theirs })
        };
        own.iter().enumerate().filter_map(find).collect()
    }

    #[test]
    fn finds_any_masks_among_any_others() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        for (name, own, bits) in inputs() {
            // Half of the own ones, some of them twice, and as many others.
            let mut theirs: Vec<u128> = own.iter().step_by(2).chain(own.iter().step_by(5)).copied().collect();
            theirs.extend(own.iter().map(|mask| mask.wrapping_mul(3)));
            for mask in &mut theirs {
                *mask &= u128::MAX >> (128 - bits);
            }
            for sorted in [false, true] {
                if sorted {
                    theirs.sort_unstable();
                }
                let expected = plain_matches(&own, &theirs, bits);
                assert!(found(&own, &theirs, bits, true) == expected, "{name}");
                assert!(pool.install(|| found(&own, &theirs, bits, true)) == expected, "{name} on three threads");
                let unnumbered: Vec<Match> = expected.iter().map(|found| Match { theirs: 0, ..*found }).collect();
                assert!(found(&own, &theirs, bits, false) == unnumbered, "{name} without their numbers");
            }
        }
    }

    #[test]
    fn a_cell_that_is_not_in_use_is_no_mask() {
        for count in [0, 1, 5000] {
            let own: Vec<u128> = (1..=count).map(|i| i << 70).collect();
            assert_eq!(found(&own, &[0, 0, u128::MAX], 128, true), []);
        }
    }

    proptest! {
        #[test]
        fn small_sets_match_as_defined(own in proptest::collection::vec(any::<u128>(), 0..100), theirs in proptest::collection::vec(any::<u128>(), 0..100), bits in 1u32..=128, keep in 1u32..=128) {
            let own: Vec<u128> = own.iter().map(|mask| mask >> (128 - keep)).collect();
            let theirs: Vec<u128> = theirs.iter().chain(&own).map(|mask| mask >> (128 - keep) & (u128::MAX >> (128 - bits))).collect();
            prop_assert_eq!(found(&own, &theirs, bits, true), plain_matches(&own, &theirs, bits));
        }
    }
}
