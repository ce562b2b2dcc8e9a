//! The two-hash garbled cuckoo table, *PaXoS*: Pinkas, Rosulek, Trieu, Yanai, "PSI from PaXoS: Fast,
//! Malicious Private Set Intersection" (EUROCRYPT 2020), section 4.
//!
//! A row takes two sparse cells and a random subset of some tens of dense cells. With cells as
//! vertices and rows as edges, the sparse parts are a graph. A row that closes a cycle has no
//! sparse cell of its own and is solved through the dense cells.
//!
//! ```text
//!   table:  | bin 0: sparse cells .......... dense | bin 1: sparse cells .......... dense | ...
//!   row:                                             ...1................1 0110..1
//! ```
//!
//! Differences to the paper. (1) A hash of the key picks one of `bins` bins, each a table of its
//! own, so that a table is made and travels bin by bin, as the clustered three-hash table of RR22
//! does. (2) The paper's dense part has a cell for each cycle that there may be, by an estimate, and
//! `lambda` more. Here the expected number of dependent sets of rows is known exactly
//! ([`expected_dependencies`]), and its product with `2^-dense` bounds the probability of a failure,
//! for whatever reason: there are fewer dense cells.

mod bin;
mod params;
mod rows;

use std::fmt;
use std::ops::Range;

use rayon::prelude::*;

pub use self::params::{Shape, expected_dependencies};
use self::rows::RowHash;
use super::arrangement::Buckets;
use super::clustered::dense::SubsetSums;
use super::{Arrangement, EncodeFailure, FreeCells, Okvs};
use crate::facts::Unsupported;
use crate::fields::Cell;
use crate::rng::SecretRng;

/// Keys of a bin that a thread decodes at a time.
const KEYS_PER_PIECE: usize = 1 << 12;

/// The two-hash garbled cuckoo table. Encoding takes time that depends on the keys, decoding does
/// not.
pub struct Paxos {
    shape: Shape,
    hash: RowHash,
}

impl fmt::Debug for Paxos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.shape.fmt(f)
    }
}

impl Paxos {
    /// The sizes of the table.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Decodes keys of one bin from the cells of that bin alone.
    ///
    /// # Panics
    /// If `cells` has another length than a bin, or `out` than `keys`.
    pub fn decode_bin<V: Cell>(&self, cells: &[V], keys: &[u128], out: &mut [V]) {
        assert_eq!(cells.len(), self.shape.stride(), "the cells of a bin");
        assert_eq!(keys.len(), out.len(), "an output for each key");
        let (sparse, dense) = cells.split_at(self.shape.sparse);
        let sums = SubsetSums::new(dense);
        let decode = |(keys, out): (&[u128], &mut [V])| {
            self.hash.for_each_batch(keys, |from, rows| {
                for (out, row) in out[from..].iter_mut().zip(rows) {
                    let [a, b] = row.cells.map(usize::from);
                    *out = sparse[a] + sparse[b] + sums.sum(row.dense);
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

impl Okvs for Paxos {
    fn new(pairs: usize, failure_bits: u32, seed: u128) -> Result<Self, Unsupported> {
        let shape = Shape::derive(pairs, failure_bits)?;
        Ok(Self { shape, hash: RowHash::new(seed, shape) })
    }

    fn table_len(pairs: usize, failure_bits: u32) -> Result<usize, Unsupported> {
        Ok(Shape::derive(pairs, failure_bits)?.cells())
    }

    fn len(&self) -> usize {
        self.shape.cells()
    }

    /// A part is a bin.
    fn parts(&self) -> Vec<Range<usize>> {
        let stride = self.shape.stride();
        (0..self.shape.bins).map(|bin| bin * stride..(bin + 1) * stride).collect()
    }

    fn arrange(&self, keys: &[u128]) -> Arrangement {
        let buckets = Buckets::new(keys, self.shape.bins, |keys, bins| self.hash.bins(keys, bins));
        let parts = buckets.ranges().collect();
        Arrangement { keys: buckets.keys, places: buckets.places, parts }
    }

    fn encode_arranged<V: Cell, E: From<EncodeFailure>>(
        &self,
        keys: &Arrangement,
        values: &[V],
        mut free: FreeCells<'_>,
        mut finished: impl FnMut(Range<usize>, &mut [V]) -> Result<(), E>,
    ) -> Result<(), E> {
        assert_eq!(keys.parts.len(), self.shape.bins, "keys arranged for this shape");
        assert_eq!(keys.keys.len(), values.len(), "a value for each key");
        assert!(values.len() <= self.shape.pairs, "{} pairs for a table of {}", values.len(), self.shape.pairs);
        let mut child = || match &mut free {
            FreeCells::Zero => None,
            FreeCells::Random(rng) => Some(rng.child()),
        };
        let solve = |(number, rng): (usize, Option<SecretRng>)| {
            let range = keys.parts[number].clone();
            bin::encode(&self.hash, &self.shape, &keys.keys[range.clone()], &values[range], rng)
        };
        let parts = self.parts();
        // A bin for each thread at a time.
        for (first, parts) in
            (0..).step_by(rayon::current_num_threads()).zip(parts.chunks(rayon::current_num_threads()))
        {
            let bins: Vec<_> = (first..first + parts.len()).map(|number| (number, child())).collect();
            let solved: Result<Vec<Vec<V>>, EncodeFailure> = bins.into_par_iter().map(solve).collect();
            for (part, mut cells) in parts.iter().zip(solved?) {
                finished(part.clone(), &mut cells)?;
            }
        }
        Ok(())
    }

    fn decode_part<V: Cell>(&self, table: &[V], keys: &Arrangement, part: usize, out: &mut [V]) {
        assert_eq!(table.len(), self.len(), "a table of this shape");
        assert_eq!(keys.parts.len(), self.shape.bins, "keys arranged for this shape");
        let stride = self.shape.stride();
        self.decode_bin(&table[part * stride..][..stride], &keys.keys[keys.part(part)], out);
    }
}

#[cfg(test)]
mod tests;
