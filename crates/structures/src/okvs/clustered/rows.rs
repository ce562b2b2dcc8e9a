//! Rows of keys.

use vesica_kernels::aes::Aes128;
use zeroize::Zeroize;

use super::params::Shape;
use crate::hashing::three_distinct;
use crate::okvs::arrangement::BATCH;

/// Three distinct cells of a bin, in 16 bits each.
#[derive(Clone, Copy, Default)]
pub struct Triple(u64);

impl Triple {
    /// The cells.
    #[inline]
    pub fn cells(self) -> [usize; 3] {
        [self.0 as u16, (self.0 >> 16) as u16, (self.0 >> 32) as u16].map(usize::from)
    }
}

/// A row within its bin.
#[derive(Clone, Copy)]
pub struct Row {
    /// Its sparse cells.
    pub triple: Triple,
    /// Its subset of the dense cells, a bit each.
    pub dense: u64,
}

/// The keyed function that maps a key to its bin and row: two AES permutations in a chain, `first = pi0(key)` and `second = pi1(first)`, with
/// keys derived from the seed. Together they are as two independent random permutations of the key.
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

    /// The bins of up to [`BATCH`] keys.
    pub fn bins(&self, keys: &[u128], bins: &mut [u16]) {
        let mut blocks = [0u128; BATCH];
        let blocks = &mut blocks[..keys.len()];
        blocks.copy_from_slice(keys);
        self.first.encrypt(blocks);
        for (bin, &block) in bins.iter_mut().zip(&*blocks) {
            *bin = self.bin(block).0 as u16;
        }
        blocks.zeroize();
    }

    /// Calls `visit` with the number and the row of each of the keys of one bin.
    #[inline]
    pub fn for_each_row(&self, keys: &[u128], mut visit: impl FnMut(usize, Row)) {
        let (mut first, mut second) = ([0u128; BATCH], [0u128; BATCH]);
        for (batch, keys) in keys.chunks(BATCH).enumerate() {
            let (first, second) = (&mut first[..keys.len()], &mut second[..keys.len()]);
            first.copy_from_slice(keys);
            self.first.encrypt(first);
            second.copy_from_slice(first);
            self.second.encrypt(second);
            for (i, (&first, &second)) in first.iter().zip(&*second).enumerate() {
                visit(batch * BATCH + i, self.row(first, second));
            }
        }
        first.zeroize();
        second.zeroize();
    }

    /// The bin, and 64 bits that say nothing of it.
    #[inline]
    fn bin(&self, first: u128) -> (usize, u64) {
        // Given the bin, the fraction left over is one of at least 2^64 / bins equally likely values: see the bias in PARAMETERS.md.
        let scaled = u128::from(first as u64) * self.shape.bins as u128;
        ((scaled >> 64) as usize, scaled as u64)
    }

    /// The row of two blocks: a uniform 3-subset of the cells, drawn without replacement, and independent dense bits.
    #[inline]
    fn row(&self, first: u128, second: u128) -> Row {
        let [a, b, c] = three_distinct([self.bin(first).1, (first >> 64) as u64, second as u64], self.shape.sparse as u64);
        let dense = ((second >> 64) as u64).checked_shr(64 - self.shape.dense).unwrap_or(0);
        Row { triple: Triple(a | b << 16 | c << 32), dense }
    }
}
