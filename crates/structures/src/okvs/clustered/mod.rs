//! The clustered three-hash table of Raghuraman and Rindal (CCS 2022, section 4), with a bound in place of measured failure rates.
//!
//! A hash of the key picks one of `bins` bins; in its bin a row takes three distinct sparse cells and a random subset of some tens of dense cells:
//!
//! ```text
//!   table:  | bin 0: sparse cells .......... dense | bin 1: sparse cells .......... dense | ...
//!   row:                                             ...1.....1..........1... 0110..1
//! ```
//!
//! Differences to the paper. (1) Where peeling comes to a halt, a row is set aside and peeling goes on; the rows set aside are solved at the end
//! through free cells, sparse and dense. So encoding fails only if rows are linearly dependent, which an exact first-moment bound covers
//! ([`params::expected_dependencies`]), and the paper's margin of sparse cells against a large 2-core is not needed. (2) The same bound gives the number of
//! dense cells, binary ones. (3) Cells are numbered by 16 bits, and there are as many bins as that takes.

mod bin;
mod core;
mod dense;
mod params;
mod rows;

use std::fmt;

use rayon::prelude::*;

use self::bin::Bin;
use self::dense::SubsetSums;
pub use self::params::{Shape, expected_dependencies};
use self::rows::{Partition, RowHash};
use super::{EncodeFailure, FreeCells, Okvs};
use crate::facts::Unsupported;
use crate::fields::{Gf64, Value};
use crate::rng::SecretRng;

/// Keys decoded at a time by a thread: what bounds its scratch memory (20 bytes a key).
const DECODE_PIECE: usize = 1 << 22;

/// Fewer keys than this are not worth a thread.
const LEAST_PIECE: usize = 1 << 13;

/// The clustered three-hash table. Encoding takes time that depends on the keys (how peeling goes), decoding does not.
pub struct Clustered {
    shape: Shape,
    hash: RowHash,
}

impl fmt::Debug for Clustered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.shape.fmt(f)
    }
}

impl Clustered {
    /// The sizes of the table.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// How many rows of each bin encoding these keys would set aside: what its speed depends on, for evidence and tuning.
    pub fn rows_set_aside(&self, keys: &[u128]) -> Result<Vec<usize>, EncodeFailure> {
        let values = vec![Gf64::default(); keys.len()];
        let pieces = [(self.hash.partition(keys), &values[..])];
        let mut bin = Bin::new();
        (0..self.shape.bins).map(|number| bin.rows_set_aside(&self.hash, &self.shape, number, &pieces)).collect()
    }
}

impl Okvs for Clustered {
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

    fn encode<V: Value>(&self, keys: &[u128], values: &[V], free: FreeCells<'_>) -> Result<Vec<V>, EncodeFailure> {
        assert_eq!(keys.len(), values.len(), "a value for each key");
        assert!(keys.len() <= self.shape.pairs, "{} pairs for a table of {}", keys.len(), self.shape.pairs);
        let threads = rayon::current_num_threads();
        let piece = piece_len(keys.len(), threads);
        let partition = |(keys, values)| (self.hash.partition(keys), values);
        let pieces: Vec<(Partition, &[V])> = if threads > 1 {
            keys.par_chunks(piece).zip(values.par_chunks(piece)).map(partition).collect()
        } else {
            keys.chunks(piece).zip(values.chunks(piece)).map(partition).collect()
        };
        let mut rngs: Vec<Option<SecretRng>> = match free {
            FreeCells::Zero => (0..self.shape.bins).map(|_| None).collect(),
            FreeCells::Random(rng) => (0..self.shape.bins).map(|_| Some(rng.child())).collect(),
        };
        let mut table = vec![V::default(); self.len()];
        let solve = |bin: &mut Bin<V>, (number, (cells, rng)): (usize, (&mut [V], &mut Option<SecretRng>))| {
            bin.encode((&self.hash, &self.shape), number, &pieces, cells, rng.as_mut())
        };
        let stride = self.shape.stride();
        if threads > 1 {
            table.par_chunks_mut(stride).zip(&mut rngs).enumerate().try_for_each_init(Bin::new, solve)?;
        } else {
            let mut bin = Bin::new();
            table.chunks_mut(stride).zip(&mut rngs).enumerate().try_for_each(|cells| solve(&mut bin, cells))?;
        }
        Ok(table)
    }

    fn decode<V: Value>(&self, table: &[V], keys: &[u128], out: &mut [V]) {
        assert_eq!(table.len(), self.len(), "a table of this shape");
        assert_eq!(keys.len(), out.len(), "an output for each key");
        let threads = rayon::current_num_threads();
        let piece = piece_len(keys.len(), threads).min(DECODE_PIECE);
        if threads > 1 {
            keys.par_chunks(piece).zip(out.par_chunks_mut(piece)).for_each(|(keys, out)| self.decode_piece(table, keys, out));
        } else {
            keys.chunks(piece).zip(out.chunks_mut(piece)).for_each(|(keys, out)| self.decode_piece(table, keys, out));
        }
    }
}

impl Clustered {
    /// Decodes bin by bin, so that the cells looked at stay in a near cache.
    fn decode_piece<V: Value>(&self, table: &[V], keys: &[u128], out: &mut [V]) {
        let keys = self.hash.partition(keys);
        for (bin, cells) in table.chunks(self.shape.stride()).enumerate() {
            let (blocks, places) = keys.bin(bin);
            let (sparse, dense) = cells.split_at(self.shape.sparse);
            let sums = SubsetSums::new(dense);
            self.hash.for_each_row(blocks, |i, row| {
                let [a, b, c] = row.triple.cells();
                out[places[i] as usize] = sparse[a] + sparse[b] + sparse[c] + sums.sum(row.dense);
            });
        }
    }
}

/// Keys for each of the threads.
fn piece_len(keys: usize, threads: usize) -> usize {
    keys.div_ceil(threads).max(LEAST_PIECE)
}

#[cfg(test)]
mod tests;
