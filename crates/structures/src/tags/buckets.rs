//! Buckets of tags by their top bits, which keep the sort and the search local in memory.

use zeroize::Zeroize;

use crate::secret::Secret;

/// About as many tags come into a bucket, or up to twice as many: they are sorted within the first
/// two levels of cache.
const MEAN_BITS: u32 = 11;
/// Most bits of a bucket's number: as many write streams as a second-level TLB serves with room to
/// spare.
const MOST_TOP: u32 = 12;

/// Tags in buckets of fixed capacity, each with a label. Inside, tags are aligned at the top of
/// their 128 bits, so that digits do not depend on the width.
pub(super) struct Buckets<T> {
    /// The number of bits by which an aligned tag is shifted.
    pub(super) unalign: u32,
    pub(super) shape: Shape,
    /// Bucket `b` has the cells from `b * shape.capacity` on, of which the first `filled[b]` are in
    /// use.
    pub(super) tags: Secret<Vec<u128>>,
    pub(super) labels: Vec<T>,
    pub(super) filled: Vec<u32>,
    /// What found its bucket full, which pseudo-random tags hardly ever do.
    pub(super) spill: Spill<T>,
}

/// How tags are told apart: `top` bits choose the bucket, the `digit` bits below them a slot of it.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    top: u32,
    digit: u32,
    pub(super) capacity: usize,
}

/// Tags and their labels; by ascending tag and label once [`Spill::sort`] has run.
pub(super) struct Spill<T> {
    pub(super) tags: Secret<Vec<u128>>,
    pub(super) labels: Vec<T>,
}

impl Shape {
    fn new(count: usize) -> Self {
        let top = count.max(1).ilog2().saturating_sub(MEAN_BITS).min(MOST_TOP);
        let mean = count.div_ceil(1 << top);
        // Eight standard deviations above the mean; a single bucket holds all.
        let capacity = if top == 0 { count.max(1) } else { mean + 8 * mean.isqrt() + 8 };
        Self { top, digit: mean.max(1).ilog2() + 1, capacity }
    }

    pub(super) fn buckets(self) -> usize {
        1 << self.top
    }

    pub(super) fn slots(self) -> usize {
        1 << self.digit
    }

    /// The bucket of an aligned tag.
    #[inline]
    pub(super) fn bucket(self, tag: u128) -> usize {
        // In two shifts, for 64 places would be one too many.
        (((tag >> 64) as u64 >> 1) >> (63 - self.top)) as usize
    }

    /// The bucket of an aligned tag, and its slot there.
    #[inline]
    pub(super) fn bucket_and_slot(self, tag: u128) -> (usize, usize) {
        let both = ((tag >> 64) as u64 >> (64 - self.top - self.digit)) as usize;
        (both >> self.digit, both & (self.slots() - 1))
    }

    #[inline]
    fn slot(self, tag: u128) -> usize {
        self.bucket_and_slot(tag).1
    }
}

impl<T: Copy + Default + Ord> Buckets<T> {
    /// # Panics
    /// If `bits` is not in `1..=128`, or there are more than `u32::MAX` tags.
    pub(super) fn new(count: usize, bits: u32) -> Self {
        assert!((1..=128).contains(&bits), "a tag has 1 to 128 bits");
        assert!(count <= u32::MAX as usize, "at most 2^32 - 1 tags");
        let shape = Shape::new(count);
        // One more, so that there is a cell behind each.
        let cells = shape.buckets() * shape.capacity + 1;
        Self {
            unalign: 128 - bits,
            shape,
            tags: Secret::new(vec![0; cells]),
            labels: vec![T::default(); cells],
            filled: vec![0; shape.buckets()],
            spill: Spill { tags: Secret::new(Vec::new()), labels: Vec::new() },
        }
    }

    /// Adds the low bits of `tags`, each with its label.
    pub(super) fn add(&mut self, tags: &[u128], labels: impl IntoIterator<Item = T>) {
        let (shape, unalign) = (self.shape, self.unalign);
        let (cells, cell_labels, filled) = (&mut self.tags[..], &mut self.labels[..], &mut self.filled[..]);
        for (&tag, label) in tags.iter().zip(labels) {
            let tag = tag << unalign;
            let bucket = shape.bucket(tag);
            let held = filled[bucket] as usize;
            if held < shape.capacity {
                let cell = bucket * shape.capacity + held;
                cells[cell] = tag;
                cell_labels[cell] = label;
                filled[bucket] += 1;
            } else {
                self.spill.tags.push(tag);
                self.spill.labels.push(label);
            }
        }
    }
}

impl<T: Copy + Ord> Spill<T> {
    pub(super) fn sort(&mut self) {
        sort_any(&mut self.tags, &mut self.labels);
    }
}

/// Sorts by tag and then by label, whatever the tags are.
fn sort_any<T: Copy + Ord>(tags: &mut [u128], labels: &mut [T]) {
    let mut pairs: Vec<(u128, T)> = tags.iter().copied().zip(labels.iter().copied()).collect();
    pairs.sort_unstable();
    for ((tag, label), pair) in tags.iter_mut().zip(labels).zip(&mut pairs) {
        (*tag, *label) = *pair;
        pair.0.zeroize();
    }
}

/// Sorts a bucket's aligned tags, by tag and then by label, from one place to another and shifts
/// them by `unalign` on the way. Afterwards slot `s` of them is `starts[s]..starts[s + 1]`. Linear
/// time for pseudo-random tags.
pub(super) fn sort_bucket<T: Copy + Ord>(
    from: (&[u128], &[T]),
    to: (&mut [u128], &mut [T]),
    shape: Shape,
    unalign: u32,
    starts: &mut [u32],
) {
    starts.fill(0);
    let ends = &mut starts[1..];
    for &tag in from.0 {
        ends[shape.slot(tag)] += 1;
    }
    let mut sum = 0;
    for count in &mut *ends {
        sum += std::mem::replace(count, sum);
    }
    for (&tag, &label) in from.0.iter().zip(from.1) {
        let end = &mut ends[shape.slot(tag)];
        to.0[*end as usize] = tag >> unalign;
        to.1[*end as usize] = label;
        *end += 1;
    }
    insertion_sort(to.0, to.1);
}

/// Sorts what is nearly in order, for slots are; gives up for the general-purpose sort when it
/// turns out not to be (the tags were not uniform).
fn insertion_sort<T: Copy + Ord>(tags: &mut [u128], labels: &mut [T]) {
    let mut moves = tags.len() * 8;
    for i in 1..tags.len() {
        let (tag, label) = (tags[i], labels[i]);
        let mut hole = i;
        while hole > 0 && (tags[hole - 1], labels[hole - 1]) > (tag, label) {
            tags[hole] = tags[hole - 1];
            labels[hole] = labels[hole - 1];
            hole -= 1;
        }
        if hole == i {
            continue;
        }
        tags[hole] = tag;
        labels[hole] = label;
        moves = moves.saturating_sub(i - hole);
        if moves == 0 {
            return sort_any(tags, labels);
        }
    }
}
