//! The sort of tags: they come in any order and leave in ascending runs.
//!
//! The sort is on all bits. It is also the sender's shuffle: the order that its items had must not
//! show. A sort on a prefix that leaves ties in table order would leak that order.

use rayon::prelude::*;

use super::buckets::{Buckets, sort_bucket};

/// Takes tags as they come. Each carries a label: `()`, or the number of its item.
pub struct TagSorter<T>(Buckets<T>);

impl<T: Copy + Default + Ord + Send + Sync> TagSorter<T> {
    /// A sorter for about `count` tags, which are the low `bits` bits of what is added.
    ///
    /// # Panics
    /// If `bits` is not in `1..=128`, or there are more than `u32::MAX` tags.
    pub fn new(count: usize, bits: u32) -> Self {
        Self(Buckets::new(count, bits))
    }

    /// Adds tags, in any order. There is a label for each.
    pub fn add(&mut self, tags: &[u128], labels: impl IntoIterator<Item = T>) {
        self.0.add(tags, labels);
    }

    /// All have been added. What comes out does not depend on the order in which they were.
    pub fn finish(mut self) -> SortedRuns<T> {
        self.0.spill.sort();
        SortedRuns { buckets: self.0, next: 0, spilled: 0 }
    }
}

/// Gives tags out in ascending order, equal ones by ascending label, sorting a few buckets at a
/// time.
pub struct SortedRuns<T> {
    buckets: Buckets<T>,
    /// The next bucket.
    next: usize,
    /// The number of spilled tags that have been given out.
    spilled: usize,
}

impl<T: Copy + Default + Ord + Send + Sync> SortedRuns<T> {
    /// Appends the next tags and their labels, until there are `least` tags or all have gone.
    pub fn fill(&mut self, tags: &mut Vec<u128>, labels: &mut Vec<T>, least: usize) {
        let (buckets, first) = (&self.buckets, tags.len());
        let shape = buckets.shape;
        // The buckets that are due, with what each has and its share of the spill.
        let mut due = Vec::new();
        let mut length = first;
        while length < least && self.next < shape.buckets() {
            let start = self.next * shape.capacity;
            let cells = start..start + buckets.filled[self.next] as usize;
            let rest = &buckets.spill.tags[self.spilled..];
            let spill = self.spilled..self.spilled + rest.partition_point(|&tag| shape.bucket(tag) <= self.next);
            length += cells.len() + spill.len();
            self.spilled = spill.end;
            self.next += 1;
            due.push((cells, spill));
        }
        tags.resize(length, 0);
        let first_label = labels.len();
        labels.resize(first_label + length - first, T::default());
        let (mut to_tags, mut to_labels) = (&mut tags[first..], &mut labels[first_label..]);
        let mut tasks = Vec::with_capacity(due.len());
        for (cells, spill) in due {
            let length = cells.len() + spill.len();
            let to = (to_tags.split_off_mut(..length), to_labels.split_off_mut(..length));
            if let (Some(tags), Some(labels)) = to {
                tasks.push((cells, spill, tags, labels));
            }
        }
        tasks.into_par_iter().for_each_init(
            || vec![0; shape.slots() + 1],
            |starts, (cells, spill, tags, labels)| {
                let from = (&buckets.tags[cells.clone()], &buckets.labels[cells]);
                if spill.is_empty() {
                    sort_bucket(from, (tags, labels), shape, buckets.unalign, starts);
                } else {
                    let all = (
                        [from.0, &buckets.spill.tags[spill.clone()]].concat(),
                        [from.1, &buckets.spill.labels[spill]].concat(),
                    );
                    sort_bucket((&all.0, &all.1), (tags, labels), shape, buckets.unalign, starts);
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
        tags: &[u128],
        labels: &[T],
        count: usize,
        bits: u32,
        least: usize,
    ) -> (Vec<u128>, Vec<T>) {
        let mut sorter = TagSorter::new(count, bits);
        for (tags, labels) in tags.chunks(1000).zip(labels.chunks(1000)) {
            sorter.add(tags, labels.iter().copied());
        }
        let mut runs = sorter.finish();
        let (mut all, mut run, mut all_labels) = (Vec::new(), Vec::new(), Vec::new());
        loop {
            run.clear();
            runs.fill(&mut run, &mut all_labels, least);
            all.extend_from_slice(&run);
            if run.len() < least {
                return (all, all_labels);
            }
        }
    }

    #[test]
    fn any_masks_come_out_in_order_with_their_labels() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        for (name, tags, bits) in inputs() {
            let labels: Vec<u32> = (0..tags.len() as u32).rev().collect();
            let mut expected: Vec<(u128, u32)> =
                tags.iter().map(|tag| tag & (u128::MAX >> (128 - bits))).zip(labels.iter().copied()).collect();
            expected.sort_unstable();
            let expected: (Vec<u128>, Vec<u32>) = expected.into_iter().unzip();
            assert!(sorted(&tags, &labels, tags.len(), bits, 5000) == expected, "{name}");
            assert!(
                pool.install(|| sorted(&tags, &labels, tags.len(), bits, 5000)) == expected,
                "{name} on three threads"
            );
            let none = vec![(); tags.len()];
            assert!(sorted(&tags, &none, tags.len(), bits, 1).0 == expected.0, "{name} without labels");
        }
        assert_eq!(inputs().count(), INPUTS);
    }

    #[test]
    fn the_order_of_arrival_does_not_show() {
        let tags: Vec<u128> = (0..40_000).map(|i| i % 7).collect();
        let labels: Vec<u32> = (0..40_000).collect();
        let (backwards, their_labels): (Vec<u128>, Vec<u32>) =
            tags.iter().copied().zip(labels.iter().copied()).rev().unzip();
        assert!(sorted(&tags, &labels, 40_000, 40, 100) == sorted(&backwards, &their_labels, 40_000, 40, 100));
    }

    proptest! {
        #[test]
        fn a_wrong_count_costs_time_only(tags in proptest::collection::vec(any::<u128>(), 0..300), count in 0usize..5000, bits in 1u32..=128, keep in 1u32..=128) {
            let tags: Vec<u128> = tags.iter().map(|tag| tag >> (128 - keep)).collect();
            let mut expected: Vec<u128> = tags.iter().map(|tag| tag & (u128::MAX >> (128 - bits))).collect();
            expected.sort_unstable();
            prop_assert_eq!(sorted(&tags, &vec![(); tags.len()], count, bits, 10).0, expected);
        }
    }
}
