//! Oblivious key-value stores: a table `P` of `m` values such that `Decode(P, k_i) = v_i`, and that
//! says nothing else of the keys.

mod arrangement;
pub mod band;
mod binned;
pub mod clustered;
pub mod gbf;
mod kind;
pub mod paxos;

use std::ops::Range;

pub use arrangement::Arrangement;
pub use band::Band;
pub use clustered::Clustered;
pub use gbf::Gbf;
pub use kind::{AnyOkvs, Kind};
pub use paxos::Paxos;

use crate::fields::Cell;
use crate::rng::SecretRng;

/// The content of cells that no equation fixes.
pub enum FreeCells<'a> {
    /// Zero: only where the whole table is masked before it leaves (VOLE-PSI).
    Zero,
    /// Uniform: wherever the table itself is sent (OPPRF).
    Random(&'a mut SecretRng),
}

/// The keys and the seed gave a system without a solution: a statistical failure, never retried
/// with another seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the OKVS could not encode its pairs (a statistical failure, or two equal keys)")]
pub struct EncodeFailure;

/// A linear OKVS over characteristic two: `Decode(P, k) = <row(k), P>`.
///
/// Keys are 128-bit digests, all distinct; rows are a keyed pseudo-random function of the whole
/// digest.
///
/// A table travels in [parts](Self::parts): encoding finishes them one after another, and decoding
/// goes on with each as it comes. All work is shared by the threads of the installed rayon pool; no
/// result depends on their number.
pub trait Okvs: Send + Sync {
    /// Number of cells `m` of the table.
    fn len(&self) -> usize;

    /// Whether the table has no cell.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The cells of each part of the table, in the order in which encoding finishes them and
    /// decoding needs them. Parts are up to about 2^16 cells each, make up the table, and
    /// depend on its shape only.
    fn parts(&self) -> Vec<Range<usize>>;

    /// The keys in this store's order.
    fn arrange(&self, keys: &[u128]) -> Arrangement;

    /// Encodes pairs whose values are in the arrangement's order: calls `finished` on this thread
    /// with each part's place in the table and its cells, which it may use up. Time depends on the
    /// keys, and not on the values.
    ///
    /// # Panics
    /// If there is not one value a key; in all stores but [`Gbf`], also if there are more keys than pairs.
    fn encode_arranged_vartime<V: Cell, E: From<EncodeFailure>>(
        &self,
        keys: &Arrangement,
        values: &[V],
        free: FreeCells<'_>,
        finished: impl FnMut(Range<usize>, &mut [V]) -> Result<(), E>,
    ) -> Result<(), E>;

    /// Decodes, in the arrangement's order, those keys that part number `part` completes: `out` has
    /// the length of [`Arrangement::part`]. Of `table`, of `len()` cells, that part and those
    /// before it are read.
    ///
    /// # Panics
    /// If there is no such part, or `table` or `out` has another length.
    fn decode_part<V: Cell>(&self, table: &[V], keys: &Arrangement, part: usize, out: &mut [V]);

    /// A table `P` of `len()` cells with `Decode(P, keys[i]) = values[i]`. Time depends on the keys.
    ///
    /// # Panics
    /// Fails as [`Self::encode_arranged_vartime`] does.
    fn encode_vartime<V: Cell>(
        &self,
        keys: &[u128],
        values: &[V],
        free: FreeCells<'_>,
    ) -> Result<Vec<V>, EncodeFailure> {
        let keys = self.arrange(keys);
        let values = keys.arranged(values);
        let mut table = vec![V::default(); self.len()];
        self.encode_arranged_vartime(&keys, &values, free, |place, cells| {
            table[place].copy_from_slice(cells);
            Ok::<_, EncodeFailure>(())
        })?;
        Ok(table)
    }

    /// `out[i] = Decode(table, keys[i])`.
    ///
    /// # Panics
    /// If `table` has not `len()` cells, or `out` not the length of `keys`.
    fn decode<V: Cell>(&self, table: &[V], keys: &[u128], out: &mut [V]) {
        assert_eq!(keys.len(), out.len(), "an output for each key");
        let keys = self.arrange(keys);
        let mut decoded = Vec::new();
        for part in 0..self.parts().len() {
            let range = keys.part(part);
            decoded.resize(range.len(), V::default());
            self.decode_part(table, &keys, part, &mut decoded);
            for (&place, &value) in keys.places()[range].iter().zip(&decoded) {
                out[place as usize] = value;
            }
        }
        zeroize::Zeroize::zeroize(&mut decoded);
    }
}
