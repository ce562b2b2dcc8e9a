//! From keys to rows of the two-hash table.

use vesica_kernels::aes::Aes128;
use zeroize::Zeroize;

use super::params::Shape;
use crate::okvs::arrangement::{KEYS_PER_BATCH, encrypted};

/// A row within its bin.
#[derive(Clone, Copy, Default)]
pub struct Row {
    /// The two sparse cells of the row, distinct.
    pub cells: [u16; 2],
    /// The dense cells of the row, a bit for each cell.
    pub dense: u64,
}

impl Zeroize for Row {
    fn zeroize(&mut self) {
        self.cells.zeroize();
        self.dense.zeroize();
    }
}

/// The keyed function that maps a key to its bin and row: two AES permutations in a chain, with
/// keys derived from the seed, as for the clustered table.
pub struct RowHash {
    first: Aes128,
    second: Aes128,
    shape: Shape,
}

impl RowHash {
    pub fn new(seed: u128, shape: Shape) -> Self {
        let mut keys = [0, 1];
        Aes128::new(seed).encrypt(&mut keys);
        Self { first: Aes128::new(keys[0]), second: Aes128::new(keys[1]), shape }
    }

    /// The keys' bins.
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
    pub fn for_each_batch(&self, keys: &[u128], mut visit: impl FnMut(usize, &[Row])) {
        let (mut blocks, mut rows) = ([0; KEYS_PER_BATCH], [Row::default(); KEYS_PER_BATCH]);
        encrypted(&self.first, keys, |from, first| {
            let (second, rows) = (&mut blocks[..first.len()], &mut rows[..first.len()]);
            second.copy_from_slice(first);
            self.second.encrypt(second);
            for ((row, &first), &second) in rows.iter_mut().zip(first).zip(&*second) {
                *row = self.row(first, second);
            }
            visit(from, rows);
        });
        blocks.zeroize();
        rows.zeroize();
    }

    /// The bin, and a fraction of 64 bits that says nothing of it.
    #[inline]
    fn bin(&self, first: u128) -> (usize, u64) {
        // docs/parameters/clustered-okvs.md has the bias of the fraction.
        let scaled = u128::from(first as u64) * self.shape.bins as u128;
        ((scaled >> 64) as usize, scaled as u64)
    }

    /// The row of two blocks: a uniform pair of distinct cells, and independent dense bits.
    #[inline]
    fn row(&self, first: u128, second: u128) -> Row {
        let below = |bits: u64, count: usize| ((u128::from(bits) * count as u128) >> 64) as u16;
        let a = below(self.bin(first).1, self.shape.sparse);
        let b = below((first >> 64) as u64, self.shape.sparse - 1);
        let dense = (second as u64).checked_shr(64 - self.shape.dense).unwrap_or(0);
        Row { cells: [a, b + u16::from(b >= a)], dense }
    }
}
