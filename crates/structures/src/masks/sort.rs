//! Masks in any order, and out again in runs of ascending ones.
//!
//! The sort is on all bits. It is also the sender's shuffle: what order its items had must not show (DESIGN 2.3), so that a sort on a prefix
//! that leaves ties in table order would leak.

use rayon::prelude::*;

use super::buckets::{Buckets, sort_bucket};

/// Takes masks as they come. Each carries a tag: `()`, or the number of its item.
pub struct MaskSorter<T>(Buckets<T>);

impl<T: Copy + Default + Ord + Send + Sync> MaskSorter<T> {
    /// A sorter for about `count` masks, which are the low `bits` bits of what is added.
    ///
    /// # Panics
    /// If `bits` is not in `1..=128`, or there are more than `u32::MAX` masks.
    pub fn new(count: usize, bits: u32) -> Self {
        Self(Buckets::new(count, bits))
    }

    /// Adds masks with their tags.
    pub fn add(&mut self, masks: &[u128], tags: impl IntoIterator<Item = T>) {
        self.0.add(masks, tags);
    }

    /// All have been added. What comes out does not depend on the order in which they were.
    pub fn finish(mut self) -> SortedRuns<T> {
        self.0.spill.sort();
        SortedRuns { buckets: self.0, next: 0, spilled: 0 }
    }
}

/// Gives masks out in ascending order, equal ones by ascending tag, sorting a few buckets at a time.
pub struct SortedRuns<T> {
    buckets: Buckets<T>,
    /// The next bucket.
    next: usize,
    /// How much of the spill has gone.
    spilled: usize,
}

impl<T: Copy + Default + Ord + Send + Sync> SortedRuns<T> {
    /// Appends the next masks and their tags, until there are `least` masks or all have gone.
    pub fn fill(&mut self, masks: &mut Vec<u128>, tags: &mut Vec<T>, least: usize) {
        let (buckets, first) = (&self.buckets, masks.len());
        let shape = buckets.shape;
        // The buckets that are due, with what each has and its share of the spill.
        let mut due = Vec::new();
        let mut length = first;
        while length < least && self.next < shape.buckets() {
            let start = self.next * shape.capacity;
            let cells = start..start + buckets.filled[self.next] as usize;
            let rest = &buckets.spill.masks[self.spilled..];
            let spill = self.spilled..self.spilled + rest.partition_point(|&mask| shape.bucket(mask) <= self.next);
            length += cells.len() + spill.len();
            self.spilled = spill.end;
            self.next += 1;
            due.push((cells, spill));
        }
        masks.resize(length, 0);
        let first_tag = tags.len();
        tags.resize(first_tag + length - first, T::default());
        let (mut to_masks, mut to_tags) = (&mut masks[first..], &mut tags[first_tag..]);
        let mut tasks = Vec::with_capacity(due.len());
        for (cells, spill) in due {
            let length = cells.len() + spill.len();
            let to = (to_masks.split_off_mut(..length), to_tags.split_off_mut(..length));
            if let (Some(masks), Some(tags)) = to {
                tasks.push((cells, spill, masks, tags));
            }
        }
        tasks.into_par_iter().for_each_init(
            || vec![0; shape.slots() + 1],
            |starts, (cells, spill, masks, tags)| {
                let from = (&buckets.masks[cells.clone()], &buckets.tags[cells]);
                if spill.is_empty() {
                    sort_bucket(from, (masks, tags), shape, buckets.unalign, starts);
                } else {
                    let all = ([from.0, &buckets.spill.masks[spill.clone()]].concat(), [from.1, &buckets.spill.tags[spill]].concat());
                    sort_bucket((&all.0, &all.1), (masks, tags), shape, buckets.unalign, starts);
                }
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::testing::{INPUTS, inputs};
    use super::*;

    /// All that comes out, asked for in runs of `least`.
    fn sorted<T: Copy + Default + Ord + Send + Sync>(
        masks: &[u128],
        tags: &[T],
        count: usize,
        bits: u32,
        least: usize,
    ) -> (Vec<u128>, Vec<T>) {
        let mut sorter = MaskSorter::new(count, bits);
        for (masks, tags) in masks.chunks(1000).zip(tags.chunks(1000)) {
            sorter.add(masks, tags.iter().copied());
        }
        let mut runs = sorter.finish();
        let (mut all, mut run, mut all_tags) = (Vec::new(), Vec::new(), Vec::new());
        loop {
            run.clear();
            runs.fill(&mut run, &mut all_tags, least);
            all.extend_from_slice(&run);
            if run.len() < least {
                return (all, all_tags);
            }
        }
    }

    #[test]
    fn any_masks_come_out_in_order_with_their_tags() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        for (name, masks, bits) in inputs() {
            let tags: Vec<u32> = (0..masks.len() as u32).rev().collect();
            let mut expected: Vec<(u128, u32)> =
                masks.iter().map(|mask| mask & (u128::MAX >> (128 - bits))).zip(tags.iter().copied()).collect();
            expected.sort_unstable();
            let expected: (Vec<u128>, Vec<u32>) = expected.into_iter().unzip();
            assert!(sorted(&masks, &tags, masks.len(), bits, 5000) == expected, "{name}");
            assert!(pool.install(|| sorted(&masks, &tags, masks.len(), bits, 5000)) == expected, "{name} on three threads");
            let none = vec![(); masks.len()];
            assert!(sorted(&masks, &none, masks.len(), bits, 1).0 == expected.0, "{name} without tags");
        }
        assert_eq!(inputs().count(), INPUTS);
    }

    #[test]
    fn the_order_of_arrival_does_not_show() {
        let masks: Vec<u128> = (0..40_000).map(|i| i % 7).collect();
        let tags: Vec<u32> = (0..40_000).collect();
        let (backwards, their_tags): (Vec<u128>, Vec<u32>) = masks.iter().copied().zip(tags.iter().copied()).rev().unzip();
        assert!(sorted(&masks, &tags, 40_000, 40, 100) == sorted(&backwards, &their_tags, 40_000, 40, 100));
    }

    proptest! {
        #[test]
        fn a_wrong_count_costs_time_only(masks in proptest::collection::vec(any::<u128>(), 0..300), count in 0usize..5000, bits in 1u32..=128, keep in 1u32..=128) {
            let masks: Vec<u128> = masks.iter().map(|mask| mask >> (128 - keep)).collect();
            let mut expected: Vec<u128> = masks.iter().map(|mask| mask & (u128::MAX >> (128 - bits))).collect();
            expected.sort_unstable();
            prop_assert_eq!(sorted(&masks, &vec![(); masks.len()], count, bits, 10).0, expected);
        }
    }
}
