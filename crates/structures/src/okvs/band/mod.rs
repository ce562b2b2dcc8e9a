//! The band OKVS: a row is 512 random bits at a random place of the table.
//!
//! Bienstock, Patel, Seo, Yeo, *Near-Optimal Oblivious Key-Value Stores for Efficient PSI, PSU and Volume-Hiding Multi-Maps* (USENIX Security
//! 2023), section 4: random band matrices. Here rows start at multiples of eight columns (a line), narrower bands serve where the table is
//! short, and a few hundred pairs get a dense random binary matrix. How long the table is follows from [`model`].
//!
//! Encoding takes a time that depends on keys and values: a party runs it on data of its own. Scratch memory that holds hashed keys
//! and values is freed, not wiped.

pub mod model;
mod rows;
mod shape;
#[cfg(test)]
mod tests;

use rand_core::Rng;
use rayon::prelude::*;
use vesica_kernels::band::{Row, System, products};

use self::rows::{Buckets, ROWS, RowHash, sort_bucket};
pub use self::shape::Shape;
use super::{EncodeFailure, FreeCells, Okvs};
use crate::facts::Unsupported;
use crate::fields::Value;

/// Keys decoded at once, at least.
const LEAST_AT_ONCE: usize = 1 << 16;

/// A band OKVS for a number of pairs, rows keyed by a seed.
pub struct Band {
    pairs: usize,
    shape: Shape,
    hash: RowHash,
}

impl Band {
    /// A store of a given shape, whatever its failure probability: for evidence and tests. Protocols take [`Okvs::new`].
    ///
    /// # Panics
    /// If a row has more than 64 lines or none, or nowhere to start.
    pub fn with_shape(pairs: usize, shape: Shape, seed: u128) -> Self {
        assert!((1..=size_of::<Row>()).contains(&shape.width) && shape.starts > 0, "{shape:?}");
        Self { pairs, shape, hash: RowHash::new(seed) }
    }

    /// [`Okvs::encode`] for values of `L` words, records of `W = L + 2`.
    fn encode_words<const L: usize, const W: usize>(
        &self,
        keys: &[u128],
        values: &[[u64; L]],
        free: FreeCells<'_>,
        table: &mut [[u64; L]],
    ) -> Result<(), EncodeFailure> {
        let mut buckets = Buckets::<W>::new(&self.hash, keys, |i, record| record[2..].copy_from_slice(&values[i]));
        let mut system = System::<L>::new(self.shape.columns());
        let (mut lines, mut rows, mut row_values) = ([0; ROWS], [Row([0; 8]); ROWS], [[0; L]; ROWS]);
        let mut scratch = Vec::new();
        let (buckets, shared) = buckets.split();
        for bucket in buckets {
            sort_bucket(bucket, shared, &mut scratch);
            for records in bucket.chunks(ROWS) {
                self.hash.rows(&self.shape, records, &mut lines, &mut rows);
                for (value, record) in row_values.iter_mut().zip(records) {
                    value.copy_from_slice(&record[2..]);
                }
                let count = records.len();
                system.insert(&lines[..count], &rows[..count], &row_values[..count]).map_err(|_| EncodeFailure)?;
            }
        }
        if let FreeCells::Random(rng) = free {
            for column in system.free_columns() {
                table[column] = std::array::from_fn(|_| rng.next_u64());
            }
        }
        system.back_substitute(table);
        Ok(())
    }

    /// [`Okvs::decode`] for values of `L` words.
    fn decode_words<const L: usize>(&self, table: &[[u64; L]], keys: &[u128], out: &mut [[u64; L]]) {
        // Two keys a line are enough to share its work; fewer at once means that records and results stay in the cache.
        let at_once = (table.len() / 4).max(LEAST_AT_ONCE);
        for (keys, out) in keys.chunks(at_once).zip(out.chunks_mut(at_once)) {
            self.decode_chunk(table, keys, out);
        }
    }

    fn decode_chunk<const L: usize>(&self, table: &[[u64; L]], keys: &[u128], out: &mut [[u64; L]]) {
        let mut buckets = Buckets::<3>::new(&self.hash, keys, |i, record| record[2] = i as u64);
        let mut decoded = vec![[0; L]; keys.len()];
        let (ordered, shared) = buckets.split();
        let mut rest = decoded.as_mut_slice();
        let jobs: Vec<_> = ordered
            .map(|bucket| {
                let decoded = rest.split_off_mut(..bucket.len()).expect("as many as keys");
                (bucket, decoded)
            })
            .collect();
        let backend = vesica_kernels::backend();
        jobs.into_par_iter().for_each_init(Vec::new, |scratch, (bucket, decoded)| {
            vesica_kernels::with_backend(backend, || {
                sort_bucket(bucket, shared, scratch);
                let (mut lines, mut rows) = ([0; ROWS], [Row([0; 8]); ROWS]);
                for (records, decoded) in bucket.chunks(ROWS).zip(decoded.chunks_mut(ROWS)) {
                    self.hash.rows(&self.shape, records, &mut lines, &mut rows);
                    products(table, &lines[..records.len()], &rows[..records.len()], decoded);
                }
            });
        });
        for (record, decoded) in buckets.records.iter().zip(decoded) {
            out[record[2] as usize] = decoded;
        }
    }
}

impl Okvs for Band {
    fn new(pairs: usize, failure_bits: u32, seed: u128) -> Result<Self, Unsupported> {
        Ok(Self::with_shape(pairs, Shape::derive(pairs, failure_bits)?, seed))
    }

    fn table_len(pairs: usize, failure_bits: u32) -> Result<usize, Unsupported> {
        Ok(Shape::derive(pairs, failure_bits)?.columns())
    }

    fn len(&self) -> usize {
        self.shape.columns()
    }

    /// # Panics
    /// If there are more keys than pairs, or not one value a key.
    fn encode<V: Value>(&self, keys: &[u128], values: &[V], free: FreeCells<'_>) -> Result<Vec<V>, EncodeFailure> {
        assert!(keys.len() <= self.pairs && keys.len() == values.len(), "at most as many keys as pairs, and a value each");
        let mut table = vec![V::default(); self.len()];
        match V::BITS {
            64 => self.encode_words::<1, 3>(keys, bytemuck::cast_slice(values), free, bytemuck::cast_slice_mut(&mut table))?,
            _ => self.encode_words::<2, 4>(keys, bytemuck::cast_slice(values), free, bytemuck::cast_slice_mut(&mut table))?,
        }
        Ok(table)
    }

    /// # Panics
    /// If `table` has not `len()` cells, or `out` not the length of `keys`.
    fn decode<V: Value>(&self, table: &[V], keys: &[u128], out: &mut [V]) {
        assert!(table.len() == self.len() && keys.len() == out.len(), "a whole table, and a result a key");
        match V::BITS {
            64 => self.decode_words::<1>(bytemuck::cast_slice(table), keys, bytemuck::cast_slice_mut(out)),
            _ => self.decode_words::<2>(bytemuck::cast_slice(table), keys, bytemuck::cast_slice_mut(out)),
        }
    }
}
