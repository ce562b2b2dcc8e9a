//! From keys to rows of the clustered table.

use vesica_kernels::aes::Aes128;
use zeroize::Zeroize;

use super::params::Shape;
use crate::hashing::three_distinct;
use crate::okvs::arrangement::{KEYS_PER_BATCH, encrypted};

/// A row within its bin.
#[derive(Clone, Copy, Default)]
pub struct Row {
    /// The sparse cells of the row.
    pub cells: [u16; 3],
    /// The dense cells of the row, a bit for each cell.
    pub dense: u64,
}

/// The keyed function that maps a key to its bin and row: two AES permutations in a chain, `first =
/// pi0(key)` and `second = pi1(first)`, with keys derived from the seed. Together they are as two
/// independent random permutations of the key.
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
    }

    /// The bin, and 64 bits that say nothing of it.
    #[inline]
    fn bin(&self, first: u128) -> (usize, u64) {
        // Given the bin, the fraction left over is one of at least 2^64 / bins equally likely values:
        // docs/parameters/clustered-okvs.md has the bias.
        let scaled = u128::from(first as u64) * self.shape.bins as u128;
        ((scaled >> 64) as usize, scaled as u64)
    }

    /// The row of two blocks: a uniform 3-subset of the cells, drawn without replacement, and
    /// independent dense bits.
    #[inline]
    fn row(&self, first: u128, second: u128) -> Row {
        let cells = three_distinct([self.bin(first).1, (first >> 64) as u64, second as u64], self.shape.sparse as u64);
        let dense = ((second >> 64) as u64).checked_shr(64 - self.shape.dense).unwrap_or(0);
        Row { cells: cells.map(|cell| cell as u16), dense }
    }
}
