//! The cuckoo filter: Fan, Andersen, Kaminsky, Mitzenmacher, "Cuckoo Filter: Practically Better Than
//! Bloom" (CoNEXT 2014), with buckets of four and without semi-sorting.
//!
//! A tag outside of the set is found only if a tag of the set has its fingerprint, and one of two
//! buckets as its first: `n` tags, `2/B` for the bucket, `2^-w` for the fingerprint. That is `8 load
//! 2^-w`, below `2^-(w - 3)`; the load of 0.95 at most leaves room for the two values that the
//! fingerprint 1 stands for.

use super::buckets::{Pairing, filter_of_buckets};
use super::vacuum::least_buckets;

/// A power of two of buckets; a fingerprint's hash is added to a bucket's number bit by bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PowerOfTwo(usize);

impl Pairing for PowerOfTwo {
    fn buckets(&self) -> usize {
        self.0
    }

    #[inline]
    fn other(&self, bucket: usize, hash: u64) -> usize {
        bucket ^ (hash as usize & (self.0 - 1))
    }
}

filter_of_buckets! {
    /// A cuckoo filter; its length goes up in powers of two.
    CuckooFilter, PowerOfTwo, |tags| PowerOfTwo(least_buckets(tags).next_power_of_two())
}
