//! The search for the other party's tags among the own ones, part by part as they come.

use rayon::prelude::*;

use super::buckets::{Buckets, sort_bucket};
use crate::secret::Secret;

/// Tags of the other side that are worth a task of a thread.
const TAGS_PER_PIECE: usize = 1 << 12;
/// Tags whose candidates are kept at a time.
const TAGS_PER_BATCH: usize = 1 << 18;

/// Takes own tags as they come, and then finds which of the other side's are among them.
///
/// The other side may see how long that takes, and need not know how much is common. So a search is
/// as many steps for every one of its tags, which only the own ones determine, and what it gives is
/// noted down in the same way whether the tag was found or not.
pub struct TagFinder {
    buckets: Buckets<u32>,
    /// Where the slots of each bucket begin, `shape.slots() + 1` numbers a bucket; empty until all
    /// own tags have come.
    starts: Vec<u32>,
    /// Steps of a search: no slot has more than `2^steps` tags.
    steps: u32,
    /// Numbers of own tags that are equal to another one, which stands for them, and the number of
    /// that one.
    twins: Vec<(u32, u32)>,
    found: Found,
    /// The number of the other side's tags that have passed.
    seen: u32,
}

/// Which own tags the other side has too.
pub struct Found {
    count: usize,
    /// A bit for each own tag: whether it was found.
    own: Vec<u64>,
    /// One bit a tag of the other side's: whether it is an own one, and the first to be equal to
    /// it; left empty where nobody asked.
    firsts: Vec<u64>,
    /// Which tag of the other side's each found own one was equal to, the first one of equal ones;
    /// left empty where nobody asked.
    theirs: Vec<u32>,
}

/// What a search gives: the own tag that may be the one, and whether it is.
#[derive(Clone, Copy)]
struct Candidate {
    own: u32,
    hit: bool,
}

impl TagFinder {
    /// A finder of `count` own tags, which are the low `bits` bits of what is added; it notes which
    /// of the other side's they are equal to if `with_theirs`.
    ///
    /// # Panics
    /// If `bits` is not in `1..=128`, or there are more than `u32::MAX` tags.
    pub fn new(count: usize, bits: u32, with_theirs: bool) -> Self {
        Self {
            buckets: Buckets::new(count, bits),
            starts: Vec::new(),
            steps: 0,
            twins: Vec::new(),
            found: Found {
                count,
                // At least one, for a search among no tags at all gives a candidate, too.
                own: vec![0; count.div_ceil(64).max(1)],
                firsts: Vec::new(),
                theirs: if with_theirs { vec![0; count] } else { Vec::new() },
            },
            seen: 0,
        }
    }

    /// Adds own tags with their numbers, below `count`.
    ///
    /// # Panics
    /// If tags have been looked for already.
    pub fn add(&mut self, tags: &[u128], numbers: impl IntoIterator<Item = u32>) {
        assert!(self.starts.is_empty(), "own tags come first");
        self.buckets.add(tags, numbers);
    }

    /// All own tags have come. A search does this by itself; a caller that has time before should.
    pub fn prepare(&mut self) {
        let Buckets { shape, tags, labels, filled, spill, .. } = &mut self.buckets;
        let shape = *shape;
        if !self.starts.is_empty() {
            return;
        }
        self.starts = vec![0; shape.buckets() * (shape.slots() + 1)];
        let cells = tags.par_chunks_mut(shape.capacity).zip(labels.par_chunks_mut(shape.capacity));
        let buckets = cells.zip(self.starts.par_chunks_mut(shape.slots() + 1)).zip(&*filled).map_init(
            || (Secret::new(vec![0; shape.capacity]), vec![0; shape.capacity]),
            |(sorted_tags, sorted_labels), (((tags, labels), starts), &filled)| {
                let filled = filled as usize;
                let (tags, labels) = (&mut tags[..filled], &mut labels[..filled]);
                let (sorted_tags, sorted_labels) = (&mut sorted_tags[..filled], &mut sorted_labels[..filled]);
                sort_bucket((tags, labels), (sorted_tags, sorted_labels), shape, 0, starts);
                tags.copy_from_slice(sorted_tags);
                labels.copy_from_slice(sorted_labels);
                let fullest = starts.windows(2).map(|slot| slot[1] - slot[0]).max();
                (fullest.unwrap_or(0), twins_of(tags, labels))
            },
        );
        let mut fullest = 1;
        for (slot, twins) in buckets.collect::<Vec<_>>() {
            fullest = fullest.max(slot);
            self.twins.extend(twins);
        }
        self.steps = fullest.next_power_of_two().ilog2();
        spill.sort();
        self.twins.extend(twins_of(&spill.tags, &spill.labels));
    }

    /// Looks for the next tags of the other side's, of which again the low bits count; they may be
    /// in any order.
    ///
    /// # Panics
    /// If more than `u32::MAX` tags come.
    pub fn find(&mut self, theirs: &[u128]) {
        self.prepare();
        for theirs in theirs.chunks(TAGS_PER_BATCH) {
            self.find_batch(theirs);
        }
    }

    fn find_batch(&mut self, theirs: &[u128]) {
        let first = self.seen;
        self.seen = u32::try_from(first as usize + theirs.len()).expect("at most 2^32 - 1 tags");
        self.found.see(self.seen);
        let pieces: Vec<Vec<Candidate>> =
            theirs.par_chunks(TAGS_PER_PIECE).map(|piece| self.candidates(piece)).collect();
        for (number, candidate) in (first..).zip(pieces.into_iter().flatten()) {
            self.found.note(number, candidate);
        }
        // Apart from these, which pseudo-random tags hardly ever have.
        if !self.buckets.spill.tags.is_empty() {
            for (number, tag) in (first..).zip(theirs) {
                let candidate = self.spilled(tag << self.buckets.unalign);
                self.found.note(number, candidate);
            }
        }
    }

    /// The own tags that were found.
    pub fn found(mut self) -> Found {
        for &(twin, stands_for) in &self.twins {
            self.found.note_twin(twin, stands_for);
        }
        self.found
    }

    /// The candidate among the own tags for each of `theirs`.
    fn candidates(&self, theirs: &[u128]) -> Vec<Candidate> {
        let Buckets { unalign, shape, ref tags, ref labels, .. } = self.buckets;
        let search = |tag: &u128| {
            let tag = tag << unalign;
            let (bucket, slot) = shape.bucket_and_slot(tag);
            let slot = bucket * (shape.slots() + 1) + slot;
            let (start, end) = (self.starts[slot] as usize, self.starts[slot + 1] as usize);
            let (cell, length) = (bucket * shape.capacity + start, end - start);
            // The last one of the slot's that is not above the tag, or the first one. No branch: the outcome of
            // a comparison is added.
            let mut place = 0;
            for step in (0..self.steps).rev() {
                let next = place + (1 << step);
                // There is a cell behind the slot's.
                let reached = (next < length) & (tags[cell + next.min(length)] <= tag);
                place += usize::from(reached) << step;
            }
            Candidate { own: labels[cell + place], hit: (length > 0) & (tags[cell + place] == tag) }
        };
        theirs.iter().map(search).collect()
    }

    /// Looks among the own tags that found their buckets full; there are some.
    fn spilled(&self, tag: u128) -> Candidate {
        let spill = &self.buckets.spill;
        let place = spill.tags.partition_point(|&own| own <= tag).saturating_sub(1);
        Candidate { own: spill.labels[place], hit: spill.tags[place] == tag }
    }
}

impl Found {
    /// The number of own tags that were found.
    pub fn count(&self) -> usize {
        self.own.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// One bit an own tag, 64 a word, the first one lowest: whether it was found.
    pub fn bits(&self) -> &[u64] {
        &self.own[..self.count.div_ceil(64)]
    }

    /// One bit a tag of the other side's: whether it is an own one, and the first to be equal to
    /// it; empty where nobody asked.
    pub fn firsts(&self) -> &[u64] {
        &self.firsts
    }

    /// Whether own tag `number` was found.
    #[inline]
    pub fn get(&self, number: usize) -> bool {
        self.own[number / 64] >> (number % 64) & 1 == 1
    }

    /// For each own tag the first of the other side's that is equal to it, if it was found;
    /// something if it was not. Empty where nobody asked.
    pub fn theirs(&self) -> &[u32] {
        &self.theirs
    }

    /// The numbers of the found ones, ascending. The same work whatever was found.
    pub fn list(&self) -> Vec<u32> {
        // Written before, so that no more memory is touched where more was found; with a place for what is
        // not in the list.
        let mut list = vec![u32::MAX; self.count + 1];
        let mut length = 0;
        for number in 0..self.count {
            list[length] = number as u32;
            length += usize::from(self.get(number));
        }
        list.truncate(length);
        list
    }

    /// Notes that `seen` tags of the other side will have passed.
    fn see(&mut self, seen: u32) {
        if !self.theirs.is_empty() {
            self.firsts.resize(seen.div_ceil(64) as usize, 0);
        }
    }

    #[inline]
    fn note(&mut self, number: u32, Candidate { own, hit }: Candidate) {
        let (word, place) = (&mut self.own[own as usize / 64], own % 64);
        let first = u64::from(hit) & !(*word >> place);
        *word |= first << place;
        if let Some(theirs) = self.theirs.get_mut(own as usize) {
            *theirs ^= (*theirs ^ number) & (first as u32).wrapping_neg();
            self.firsts[number as usize / 64] |= first << (number % 64);
        }
    }

    /// What was found out about one tag holds for another one, which is equal to it.
    fn note_twin(&mut self, twin: u32, stands_for: u32) {
        self.own[twin as usize / 64] |= u64::from(self.get(stands_for as usize)) << (twin % 64);
        if let Some(&theirs) = self.theirs.get(stands_for as usize) {
            self.theirs[twin as usize] = theirs;
        }
    }
}

/// The numbers of tags that are equal to their successors among ascending ones, with the last
/// one's.
fn twins_of(tags: &[u128], numbers: &[u32]) -> Vec<(u32, u32)> {
    let mut twins = Vec::new();
    let mut last = tags.len().saturating_sub(1);
    for place in (0..last).rev() {
        if tags[place] == tags[last] {
            twins.push((numbers[place], numbers[last]));
        } else {
            last = place;
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
    use crate::rng::SecretRng;

    fn found(own: &[u128], theirs: &[u128], bits: u32, with_theirs: bool) -> Found {
        let mut finder = TagFinder::new(own.len(), bits, with_theirs);
        // In two batches, the later half first.
        let (first, second) = own.split_at(own.len() / 2);
        finder.add(second, first.len() as u32..);
        finder.add(first, 0..);
        for theirs in theirs.chunks(10_000) {
            finder.find(theirs);
        }
        finder.found()
    }

    fn bit(words: &[u64], number: usize) -> bool {
        words[number / 64] >> (number % 64) & 1 == 1
    }

    /// Whether `found` is what the definition gives.
    fn is_as_defined(found: &Found, own: &[u128], theirs: &[u128], bits: u32) -> bool {
        let mut first = HashMap::new();
        for (number, tag) in theirs.iter().enumerate() {
            first.entry(tag).or_insert(number as u32);
        }
        let of = |tag: &u128| first.get(&(tag & (u128::MAX >> (128 - bits)))).copied();
        let common: Vec<u32> = (0..).zip(own).filter(|(_, tag)| of(tag).is_some()).map(|(number, _)| number).collect();
        let mut firsts = vec![false; theirs.len()];
        own.iter().filter_map(of).for_each(|place| firsts[place as usize] = true);
        let numbered = found.theirs().is_empty()
            || own.iter().zip(found.theirs()).all(|(tag, &theirs)| of(tag).is_none_or(|place| place == theirs))
                && (0..theirs.len()).all(|place| bit(found.firsts(), place) == firsts[place]);
        found.list() == common
            && found.count() == common.len()
            && (0..own.len()).all(|number| bit(found.bits(), number) == of(&own[number]).is_some())
            && numbered
    }

    #[test]
    fn finds_any_masks_among_any_others() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        for (name, own, bits) in inputs() {
            // Half of the own ones, some of them twice, and as many others.
            let mut theirs: Vec<u128> = own.iter().step_by(2).chain(own.iter().step_by(5)).copied().collect();
            theirs.extend(own.iter().map(|tag| tag.wrapping_mul(3)));
            for tag in &mut theirs {
                *tag &= u128::MAX >> (128 - bits);
            }
            for sorted in [false, true] {
                if sorted {
                    theirs.sort_unstable();
                }
                let all = found(&own, &theirs, bits, true);
                assert!(is_as_defined(&all, &own, &theirs, bits), "{name}");
                assert_eq!(all.theirs().len(), own.len(), "{name}");
                let on_threads = pool.install(|| found(&own, &theirs, bits, true));
                assert!(is_as_defined(&on_threads, &own, &theirs, bits), "{name} on three threads");
                let unnumbered = found(&own, &theirs, bits, false);
                assert!(is_as_defined(&unnumbered, &own, &theirs, bits), "{name} without their numbers");
                assert!(unnumbered.theirs().is_empty() && unnumbered.firsts().is_empty(), "{name}");
            }
        }
    }

    #[test]
    fn a_cell_that_is_not_in_use_is_no_tag() {
        for count in [0, 1, 5000] {
            let own: Vec<u128> = (1..=count).map(|i| i << 70).collect();
            assert!(found(&own, &[0, 0, u128::MAX], 128, true).list().is_empty());
        }
    }

    /// A search gives something to note for each of the other side's tags, in as many steps,
    /// whatever is common: nothing, half, or all.
    #[test]
    fn a_search_is_the_same_work_whatever_is_common() {
        let n = 1 << 14;
        let tags = |seed: u64| -> Vec<u128> {
            let mut rng = SecretRng::insecure_from_seed(seed);
            (0..n).map(|_| rng.block()).collect()
        };
        let own = tags(1);
        for common in [0, n / 2, n] {
            let theirs = [&own[..common], &tags(2)[common..]].concat();
            let mut finder = TagFinder::new(n, 128, true);
            finder.add(&own, 0..);
            finder.prepare();
            // No slot of 2^14 pseudo-random tags is fuller than 16, nor all at most 2.
            assert!((2..=4).contains(&finder.steps), "{} steps", finder.steps);
            let candidates = finder.candidates(&theirs);
            assert_eq!(candidates.len(), n);
            assert_eq!(candidates.iter().filter(|candidate| candidate.hit).count(), common);
            finder.find(&theirs);
            let found = finder.found();
            assert_eq!((found.bits().len(), found.firsts().len(), found.theirs().len()), (n / 64, n / 64, n));
            // Its memory is written in full.
            let list = found.list();
            assert_eq!((list.len(), list.capacity()), (common, n + 1));
        }
    }

    proptest! {
        #[test]
        fn small_sets_match_as_defined(own in proptest::collection::vec(any::<u128>(), 0..100), theirs in proptest::collection::vec(any::<u128>(), 0..100), bits in 1u32..=128, keep in 1u32..=128) {
            let own: Vec<u128> = own.iter().map(|tag| tag >> (128 - keep)).collect();
            let theirs: Vec<u128> = theirs.iter().chain(&own).map(|tag| tag >> (128 - keep) & (u128::MAX >> (128 - bits))).collect();
            prop_assert!(is_as_defined(&found(&own, &theirs, bits, true), &own, &theirs, bits));
        }
    }
}
