//! Oblivious key-value stores: a table `P` of `m` values such that `Decode(P, k_i) = v_i`, and that says nothing else of the keys.

pub mod band;
pub mod clustered;

pub use band::Band;
pub use clustered::Clustered;

use crate::facts::Unsupported;
use crate::fields::Value;
use crate::rng::SecretRng;

/// What the cells that no equation fixes become.
pub enum FreeCells<'a> {
    /// Zero: only where the whole table is masked before it leaves (VOLE-PSI).
    Zero,
    /// Uniform: wherever the table itself is sent (OPPRF).
    Random(&'a mut SecretRng),
}

/// The keys and the seed gave a system without a solution: a statistical failure, never retried with another seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the OKVS could not encode its pairs (a statistical failure, or two equal keys)")]
pub struct EncodeFailure;

/// A linear OKVS over characteristic two: `Decode(P, k) = <row(k), P>`.
///
/// Keys are 128-bit digests, all distinct; rows are a keyed pseudo-random function of the whole digest.
pub trait Okvs: Sized + Send + Sync {
    /// The store for `pairs` pairs that fails to encode with probability at most `2^-failure_bits`, rows keyed by `seed`.
    fn new(pairs: usize, failure_bits: u32, seed: u128) -> Result<Self, Unsupported>;

    /// Table length `m` for `pairs` pairs, known before the seed is.
    fn table_len(pairs: usize, failure_bits: u32) -> Result<usize, Unsupported>;

    /// Number of cells `m` of the table.
    fn len(&self) -> usize;

    /// Whether the table has no cell.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A table `P` of `len()` cells with `Decode(P, keys[i]) = values[i]`.
    fn encode<V: Value>(&self, keys: &[u128], values: &[V], free: FreeCells<'_>) -> Result<Vec<V>, EncodeFailure>;

    /// `out[i] = Decode(table, keys[i])`; `table` has `len()` cells, `out` the length of `keys`.
    fn decode<V: Value>(&self, table: &[V], keys: &[u128], out: &mut [V]);
}
