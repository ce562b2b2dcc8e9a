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

use std::ops::Range;

use rayon::prelude::*;

use self::params::DESIGN;
pub use self::params::expected_dependencies;
use self::rows::PaxosRow;
use super::binned::Binned;
pub use super::binned::Shape;
use super::{Arrangement, EncodeFailure, FreeCells, Okvs};
use crate::facts::Unsupported;
use crate::fields::Cell;
use crate::rng::SecretRng;
use crate::secret::Secret;

/// The two-hash garbled cuckoo table.
#[derive(Debug)]
pub struct Paxos(Binned<PaxosRow>);

impl Paxos {
    /// The sizes of the table.
    pub fn shape(&self) -> Shape {
        self.0.shape
    }
}

impl Paxos {
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

impl Okvs for Paxos {
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
        mut free: FreeCells<'_>,
        mut finished: impl FnMut(Range<usize>, &mut [V]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.0.assert_pairs(keys, values);
        let mut child = || match &mut free {
            FreeCells::Zero => None,
            FreeCells::Random(rng) => Some(rng.child()),
        };
        let solve = |(number, rng): (usize, Option<SecretRng>)| {
            let range = keys.parts[number].clone();
            bin::encode_vartime(&self.0, &keys.keys[range.clone()], &values[range], rng)
        };
        let parts = self.parts();
        // A bin for each thread at a time.
        for (first, parts) in
            (0..).step_by(rayon::current_num_threads()).zip(parts.chunks(rayon::current_num_threads()))
        {
            let bins: Vec<_> = (first..first + parts.len()).map(|number| (number, child())).collect();
            let solved: Result<Vec<Secret<Vec<V>>>, EncodeFailure> = bins.into_par_iter().map(solve).collect();
            for (part, mut cells) in parts.iter().zip(solved?) {
                finished(part.clone(), &mut cells)?;
            }
        }
        Ok(())
    }

    fn decode_part<V: Cell>(&self, table: &[V], keys: &Arrangement, part: usize, out: &mut [V]) {
        self.0.decode_part(table, keys, part, out);
    }
}

#[cfg(test)]
mod tests;
