//! What the receiver holds once the hint has come. No secret of the sender's is in it.

use vesica_mpc::opprf::params::block_widths;
use vesica_structures::facts::Unsupported;
use vesica_structures::fields::Gf128;
use vesica_structures::okvs::Okvs;

use super::{Params, low, masks};
use crate::psi::ltsxq26::{self, Sha};

/// The receiver's view of steps 4, 6 and 7.
pub struct View {
    /// The agreed numbers.
    pub params: Params,
    /// That of Figure 14, without masks.
    pub oprf: ltsxq26::View<Sha>,
    /// The hint, a table for each block of the values; none where a set is empty.
    pub hint: Vec<Vec<Gf128>>,
}

impl View {
    /// What block number `block` of the hint holds at each of these keys.
    ///
    /// # Errors
    /// None for the sizes of a run.
    ///
    /// # Panics
    /// If there is no such block.
    pub fn hinted(&self, block: usize, keys: &[u128]) -> Result<Vec<Gf128>, Unsupported> {
        let mut hinted = vec![Gf128::default(); keys.len()];
        self.params.hint(self.oprf.omega)?.decode(&self.hint[block], keys, &mut hinted);
        Ok(hinted)
    }

    /// What shows below the `hinted` of each key, if its mask input is the one beside it: the
    /// sender's value, where the key is the sender's and the input `A(t) + (s & delta(t))`.
    pub fn shown(&self, block: usize, keys: &[u128], hinted: &[Gf128], inputs: &[Gf128]) -> Vec<u128> {
        let width = block_widths(self.params.output_bits).nth(block).unwrap_or(128);
        let masks = masks(self.oprf.omega, block, keys, inputs);
        hinted.iter().zip(masks.iter()).map(|(hinted, mask)| (hinted.0 ^ mask) & low(width)).collect()
    }
}
