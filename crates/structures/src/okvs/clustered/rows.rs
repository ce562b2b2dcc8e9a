//! Rows of keys, and keys ordered by bin.

use vesica_kernels::aes::Aes128;
use zeroize::Zeroize;

use super::params::Shape;
use crate::hashing::three_distinct;

/// Keys hashed at a time.
const BATCH: usize = 512;

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

    /// Calls `visit` with the place and the first block of each key.
    #[inline]
    fn for_each_first(&self, keys: &[u128], mut visit: impl FnMut(usize, u128)) {
        let mut blocks = [0u128; BATCH];
        for (batch, keys) in keys.chunks(BATCH).enumerate() {
            let blocks = &mut blocks[..keys.len()];
            blocks.copy_from_slice(keys);
            self.first.encrypt(blocks);
            for (i, &block) in blocks.iter().enumerate() {
                visit(batch * BATCH + i, block);
            }
        }
        blocks.zeroize();
    }

    /// Calls `visit` with the number and the row of each first block of one bin.
    #[inline]
    pub fn for_each_row(&self, first: &[u128], mut visit: impl FnMut(usize, Row)) {
        let mut blocks = [0u128; BATCH];
        for (batch, first) in first.chunks(BATCH).enumerate() {
            let blocks = &mut blocks[..first.len()];
            blocks.copy_from_slice(first);
            self.second.encrypt(blocks);
            for (i, (&first, &second)) in first.iter().zip(&*blocks).enumerate() {
                visit(batch * BATCH + i, self.row(first, second));
            }
        }
        blocks.zeroize();
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

    /// The keys' first blocks ordered by bin, and within a bin as given.
    pub fn partition(&self, keys: &[u128]) -> Partition {
        let mut starts = vec![0; self.shape.bins + 1];
        self.for_each_first(keys, |_, block| starts[self.bin(block).0 + 1] += 1);
        for bin in 0..self.shape.bins {
            starts[bin + 1] += starts[bin];
        }
        let mut next = starts.clone();
        let (mut blocks, mut places) = (vec![0u128; keys.len()], vec![0u32; keys.len()]);
        self.for_each_first(keys, |place, block| {
            let slot = &mut next[self.bin(block).0];
            blocks[*slot] = block;
            places[*slot] = place as u32;
            *slot += 1;
        });
        Partition { starts, blocks, places }
    }
}

/// Keys ordered by bin.
pub struct Partition {
    starts: Vec<usize>,
    blocks: Vec<u128>,
    places: Vec<u32>,
}

impl Partition {
    /// The first blocks of a bin's keys, and the keys' places among those given.
    pub fn bin(&self, bin: usize) -> (&[u128], &[u32]) {
        let range = self.starts[bin]..self.starts[bin + 1];
        (&self.blocks[range.clone()], &self.places[range])
    }
}

impl Drop for Partition {
    fn drop(&mut self) {
        self.blocks.zeroize();
    }
}
