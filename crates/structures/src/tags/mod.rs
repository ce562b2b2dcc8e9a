//! The sort of tags, and the search for own tags among the other party's while these come. Both are
//! fast for pseudo-random tags. On any other tags they stay correct, and as fast as a
//! general-purpose sort and a binary search. [`CodedTags`] is a list that is kept, in its code, and
//! searched again and again.

mod buckets;
mod coded;
mod find;
mod sort;

pub use coded::{CodedTags, Place};
pub use find::{Found, TagFinder};
pub use sort::{SortedRuns, TagSorter};

#[cfg(test)]
mod testing {
    use crate::rng::SecretRng;

    pub(super) const INPUTS: usize = 31;

    /// Tags with a name and a width: uniform ones, and ones that share buckets, slots or all bits.
    pub(super) fn inputs() -> impl Iterator<Item = (String, Vec<u128>, u32)> {
        let uniform = [1, 3, 12, 64, 82, 128].into_iter().flat_map(|bits| {
            [0, 1, 65, 5000, 1 << 16].map(|count| {
                let mut rng = SecretRng::insecure_from_seed(count as u64);
                (format!("{count} tags of {bits} bits"), (0..count).map(|_| rng.block()).collect(), bits)
            })
        });
        uniform.chain([("crowded tags".into(), (0..50_000).map(|i| (i / 2 % 20_000) | ((i % 3) << 60)).collect(), 90)])
    }
}
