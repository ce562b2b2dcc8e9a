//! The consistency check of the columns [Roy22, Figure 8]: a universal hash, linear over GF(2), of
//! every column.

use vesica_kernels::clmul::{gf128_inner_product, gf128_powers};

/// `R(x) = x_last + sum chi^(i + 1) x_i` over blocks of 128 bits as elements of `F`: for `n`
/// blocks, any non-zero difference above the last block hashes to a given value for at most `n` of
/// the `2^128` challenges.
pub(crate) struct UniversalHash(Vec<u128>);

impl UniversalHash {
    /// At the point `chi`, for columns of `blocks` blocks.
    pub fn new(chi: u128, blocks: usize) -> Self {
        let mut powers = vec![0; blocks.saturating_sub(1)];
        gf128_powers(chi, &mut powers);
        Self(powers)
    }

    /// What each block is multiplied by.
    pub fn weights(&self) -> impl Iterator<Item = u128> {
        self.0.iter().copied().chain([1])
    }

    pub fn hash(&self, column: &[u128]) -> u128 {
        let (values, mask) = column.split_at(self.0.len());
        gf128_inner_product(&self.0, values) ^ mask.iter().fold(0, |sum, block| sum ^ block)
    }
}
