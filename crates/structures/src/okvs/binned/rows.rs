//! From keys to bins and rows.

use std::marker::PhantomData;

use vesica_kernels::aes::Aes128;
use zeroize::Zeroize;

use super::{Shape, SubsetSums};
use crate::fields::Cell;
use crate::okvs::arrangement::{KEYS_PER_BATCH, encrypted};

/// A row within its bin.
pub trait BinRow: Copy + Default + Zeroize {
    /// The row that four uniform words give.
    fn draw(words: [u64; 4], shape: &Shape) -> Self;

    /// The sum of the row's cells.
    fn sum<V: Cell>(&self, sparse: &[V], dense: &SubsetSums<V>) -> V;
}

/// The keyed function that maps a key to its bin and row: two AES permutations in a chain, `first =
/// pi0(key)` and `second = pi1(first)`, with keys derived from the seed. Together they are as two
/// independent random permutations of the key.
pub struct RowHash<R> {
    first: Aes128,
    second: Aes128,
    shape: Shape,
    row: PhantomData<fn() -> R>,
}

impl<R: BinRow> RowHash<R> {
    pub fn new(seed: u128, shape: Shape) -> Self {
        let mut keys = [0, 1];
        Aes128::new(seed).encrypt(&mut keys);
        Self { first: Aes128::new(keys[0]), second: Aes128::new(keys[1]), shape, row: PhantomData }
    }

    pub fn bins(&self, keys: &[u128], bins: &mut [u16]) {
        encrypted(&self.first, keys, |from, blocks| {
            for (bin, &block) in bins[from..].iter_mut().zip(blocks) {
                *bin = self.bin(block).0 as u16;
            }
        });
    }

    /// Calls `visit` with the rows of the keys of one bin, a batch at a time, and the number of the
    /// first of them.
    #[inline]
    pub fn for_each_batch(&self, keys: &[u128], mut visit: impl FnMut(usize, &[R])) {
        let (mut blocks, mut rows) = ([0; KEYS_PER_BATCH], [R::default(); KEYS_PER_BATCH]);
        encrypted(&self.first, keys, |from, first| {
            let (second, rows) = (&mut blocks[..first.len()], &mut rows[..first.len()]);
            second.copy_from_slice(first);
            self.second.encrypt(second);
            for ((row, &first), &second) in rows.iter_mut().zip(first).zip(&*second) {
                let words = [self.bin(first).1, (first >> 64) as u64, second as u64, (second >> 64) as u64];
                *row = R::draw(words, &self.shape);
            }
            visit(from, rows);
        });
        blocks.zeroize();
        rows.zeroize();
    }

    /// The bin, and 64 bits that say nothing of it.
    #[inline]
    fn bin(&self, first: u128) -> (usize, u64) {
        // Given the bin, the fraction left over is one of at least 2^64 / bins equally likely values:
        // docs/parameters/clustered-okvs.md has the bias.
        let scaled = u128::from(first as u64) * self.shape.bins as u128;
        ((scaled >> 64) as usize, scaled as u64)
    }
}
