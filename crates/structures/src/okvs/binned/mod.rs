//! What the two tables of bins have in common, [`Clustered`](super::Clustered) and
//! [`Paxos`](super::Paxos).
//!
//! A hash of the key picks one of `bins` bins; in its bin a row takes a few distinct sparse cells
//! and a random subset of some tens of dense cells:
//!
//! ```text
//!   table:  | bin 0: sparse cells .......... dense | bin 1: sparse cells .......... dense | ...
//! ```
//!
//! Each bin is a system of equations of its own, and a part of the table as it travels. The tables
//! differ in how many sparse cells a row takes and how a bin is solved.

mod dense;
mod rows;
mod shape;

use std::fmt;
use std::ops::Range;

use rayon::prelude::*;

pub use self::dense::SubsetSums;
pub use self::rows::{BinRow, RowHash};
#[cfg(test)]
pub use self::shape::MAX_PAIRS;
pub use self::shape::{Design, Known, Shape, dependencies};
use super::Arrangement;
use super::arrangement::Buckets;
use crate::fields::Cell;

/// Keys of a bin that a thread decodes at a time.
const KEYS_PER_PIECE: usize = 1 << 12;

/// A table of bins whose rows are `R`.
pub struct Binned<R> {
    /// The sizes.
    pub shape: Shape,
    /// The function that maps keys to bins and rows.
    pub hash: RowHash<R>,
}

impl<R> fmt::Debug for Binned<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.shape.fmt(f)
    }
}

impl<R: BinRow> Binned<R> {
    /// The table of this shape, rows keyed by `seed`.
    pub fn new(shape: Shape, seed: u128) -> Self {
        Self { shape, hash: RowHash::new(seed, shape) }
    }

    /// A part is a bin.
    pub fn parts(&self) -> Vec<Range<usize>> {
        let stride = self.shape.stride();
        (0..self.shape.bins).map(|bin| bin * stride..(bin + 1) * stride).collect()
    }

    /// Keys by bin.
    pub fn arrange(&self, keys: &[u128]) -> Arrangement {
        let buckets = Buckets::new(keys, self.shape.bins, |keys, bins| self.hash.bins(keys, bins));
        let parts = buckets.ranges().collect();
        Arrangement { keys: buckets.keys, places: buckets.places, parts }
    }

    /// That these can be encoded.
    ///
    /// # Panics
    /// If keys were arranged for another shape, there are more of them than pairs, or not one value
    /// a key.
    pub fn assert_pairs<V>(&self, keys: &Arrangement, values: &[V]) {
        assert_eq!(keys.parts.len(), self.shape.bins, "keys arranged for this shape");
        assert_eq!(keys.keys.len(), values.len(), "a value for each key");
        assert!(values.len() <= self.shape.pairs, "{} pairs for a table of {}", values.len(), self.shape.pairs);
    }

    /// [`Okvs::decode_part`](super::Okvs::decode_part).
    pub fn decode_part<V: Cell>(&self, table: &[V], keys: &Arrangement, part: usize, out: &mut [V]) {
        assert_eq!(table.len(), self.shape.cells(), "a table of this shape");
        assert_eq!(keys.parts.len(), self.shape.bins, "keys arranged for this shape");
        let keys = &keys.keys[keys.part(part)];
        assert_eq!(keys.len(), out.len(), "an output for each key");
        let stride = self.shape.stride();
        let (sparse, dense) = table[part * stride..][..stride].split_at(self.shape.sparse);
        let sums = SubsetSums::new(dense);
        let decode = |(keys, out): (&[u128], &mut [V])| {
            self.hash.for_each_batch(keys, |from, rows| {
                for (out, row) in out[from..].iter_mut().zip(rows) {
                    *out = row.sum(sparse, &sums);
                }
            });
        };
        if rayon::current_num_threads() > 1 {
            keys.par_chunks(KEYS_PER_PIECE).zip(out.par_chunks_mut(KEYS_PER_PIECE)).for_each(decode);
        } else {
            decode((keys, out));
        }
    }
}
