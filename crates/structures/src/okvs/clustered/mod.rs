//! The clustered three-hash table of Raghuraman and Rindal (CCS 2022, section 4), with a bound
//! instead of measured failure rates.
//!
//! A hash of the key picks one of `bins` bins; in its bin a row takes three distinct sparse cells
//! and a random subset of some tens of dense cells:
//!
//! ```text
//!   table:  | bin 0: sparse cells .......... dense | bin 1: sparse cells .......... dense | ...
//!   row:                                             ...1.....1..........1... 0110..1
//! ```
//!
//! Differences to the paper. (1) Where peeling comes to a halt, a row is set aside and peeling goes
//! on; the rows set aside are solved at the end through free cells, sparse and dense. So encoding
//! fails only if rows are linearly dependent, which an exact first-moment bound covers
//! ([`expected_dependencies`]), and the paper's margin of sparse cells against a large
//! 2-core is not needed. (2) The same bound gives the number of dense cells, binary ones. (3) Cells
//! are numbered by 16 bits, and there are as many bins as that takes.

mod bin;
mod core;
mod params;
mod peeled;
mod rows;

use std::ops::Range;

use rayon::prelude::*;

use self::bin::Bin;
use self::params::DESIGN;
pub use self::params::expected_dependencies;
use self::rows::ClusteredRow;
use super::binned::Binned;
pub use super::binned::Shape;
use super::{Arrangement, EncodeFailure, FreeCells, Okvs};
use crate::facts::Unsupported;
use crate::fields::Cell;
use crate::rng::SecretRng;
use crate::secret::Secret;

/// The clustered three-hash table. How long encoding takes goes by how peeling does.
#[derive(Debug)]
pub struct Clustered(Binned<ClusteredRow>);

impl Clustered {
    /// The sizes of the table.
    pub fn shape(&self) -> Shape {
        self.0.shape
    }

    /// How many rows of each bin encoding these keys would set aside: what its speed depends on,
    /// for evidence and tuning. Time depends on the keys.
    pub fn rows_set_aside_vartime(&self, keys: &[u128]) -> Result<Vec<usize>, EncodeFailure> {
        let keys = self.arrange(keys);
        let mut bin = Bin::new();
        keys.parts.iter().map(|range| bin.rows_set_aside_vartime(&self.0, &keys.keys()[range.clone()])).collect()
    }
}

impl Clustered {
    /// The store for `pairs` pairs that fails to encode with probability at most `2^-failure_bits`, rows keyed by
    /// `seed`.
    ///
    /// # Errors
    /// If no table of that shape is derived.
    pub fn new(pairs: usize, failure_bits: u32, seed: u128) -> Result<Self, Unsupported> {
        Ok(Self(Binned::new(DESIGN.shape(pairs, failure_bits)?, seed)))
    }

    /// Table length `m` for `pairs` pairs, known before the seed is.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn table_len(pairs: usize, failure_bits: u32) -> Result<usize, Unsupported> {
        Ok(DESIGN.shape(pairs, failure_bits)?.cells())
    }
}

impl Okvs for Clustered {
    fn len(&self) -> usize {
        self.0.shape.cells()
    }

    fn parts(&self) -> Vec<Range<usize>> {
        self.0.parts()
    }

    fn arrange(&self, keys: &[u128]) -> Arrangement {
        self.0.arrange(keys)
    }

    fn encode_arranged_vartime<V: Cell, E: From<EncodeFailure>>(
        &self,
        keys: &Arrangement,
        values: &[V],
        free: FreeCells<'_>,
        mut finished: impl FnMut(Range<usize>, &mut [V]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.0.assert_pairs(keys, values);
        let bins = &keys.parts;
        let mut rng = match free {
            FreeCells::Zero => None,
            FreeCells::Random(rng) => Some(rng),
        };
        let solve = |solver: &mut Solver<V>| {
            let range = bins[solver.number].clone();
            let pairs = (&keys.keys[range.clone()], &values[range]);
            solver.bin.encode_vartime(&self.0, pairs, &mut solver.cells, solver.rng.as_mut())
        };
        // A bin for each thread at a time.
        let mut solvers: Vec<_> =
            (0..rayon::current_num_threads().min(bins.len())).map(|_| Solver::new(self.0.shape.stride())).collect();
        let mut parts = self.parts().into_iter();
        for first in (0..bins.len()).step_by(solvers.len()) {
            solvers.truncate(bins.len() - first);
            for (solver, number) in solvers.iter_mut().zip(first..) {
                (solver.number, solver.rng) = (number, rng.as_mut().map(|rng| rng.child()));
            }
            match &mut solvers[..] {
                [solver] => solve(solver)?,
                solvers => solvers.par_iter_mut().try_for_each(solve)?,
            }
            for (solver, part) in solvers.iter_mut().zip(&mut parts) {
                finished(part, &mut solver.cells)?;
            }
        }
        Ok(())
    }

    fn decode_part<V: Cell>(&self, table: &[V], keys: &Arrangement, part: usize, out: &mut [V]) {
        self.0.decode_part(table, keys, part, out);
    }
}

/// What a thread needs to solve one bin after another.
struct Solver<V: Cell> {
    bin: Bin,
    number: usize,
    rng: Option<SecretRng>,
    cells: Secret<Vec<V>>,
}

impl<V: Cell> Solver<V> {
    fn new(stride: usize) -> Self {
        Self { bin: Bin::new(), number: 0, rng: None, cells: Secret::new(vec![V::default(); stride]) }
    }
}

#[cfg(test)]
mod tests;
