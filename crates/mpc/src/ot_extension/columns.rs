//! The 128 columns, read by rows or as elements of a field.

use std::ops::Range;

use vesica_kernels::transpose::transpose_128x128;
use vesica_structures::fields::{Gf128, Value};
use vesica_structures::secret::Secret;
use zeroize::Zeroize;

use super::params::{CHUNK_BITS, CHUNKS};

/// 128 columns of as many blocks of 128 bits each; bit `i` of a column is bit `i % 128` of its
/// block `i / 128`.
///
/// Columns come chunk by chunk, as the peer's messages allow, so that their number alone costs no
/// memory.
#[derive(Debug)]
pub struct Columns {
    blocks: usize,
    /// [`CHUNK_BITS`] columns each, one after the other.
    chunks: Vec<Secret<Vec<u128>>>,
}

impl Columns {
    /// None yet.
    pub fn none(blocks: usize) -> Self {
        Self { blocks, chunks: Vec::with_capacity(CHUNKS) }
    }

    /// The next [`CHUNK_BITS`] columns, one after the other, all zero.
    pub fn next_chunk(&mut self) -> &mut [u128] {
        self.chunks.push(Secret::new(vec![0; CHUNK_BITS * self.blocks]));
        self.chunks.last_mut().map_or(&mut [], |chunk| &mut chunk[..])
    }

    /// A column's blocks.
    pub fn column(&self, n: usize) -> &[u128] {
        &self.chunks[n / CHUNK_BITS][n % CHUNK_BITS * self.blocks..][..self.blocks]
    }

    /// Correlated OTs: the rows of `range` blocks, 128 a block; bit `n` of a row is its bit of
    /// column `n`.
    pub fn rows(&self, range: Range<usize>) -> Secret<Vec<u128>> {
        let mut rows = Secret::new(Vec::with_capacity(128 * range.len()));
        for block in range {
            let mut tile = std::array::from_fn(|n| self.column(n)[block]);
            transpose_128x128(&mut tile);
            rows.extend_from_slice(&tile);
            tile.zeroize();
        }
        rows
    }

    /// VOLE over `B`: `sum e_n column[n]` for `range` blocks read as elements of `B` of `width`
    /// bits, `128 / |B|` a block.
    pub fn elements<B: Value>(&self, range: Range<usize>, width: u32) -> Vec<Gf128> {
        let mut sums = vec![Gf128::default(); range.len() * (128 / B::BITS as usize)];
        for n in 0..128 {
            B::scale_add(&mut sums, Gf128(1 << n), &narrow::<B>(&self.column(n)[range.clone()], width));
        }
        sums
    }

    /// VOLE over values of `width` bits, `floor(128 / width)` a block: value by value the sum of
    /// `2^k` times the row of its bit `k`.
    pub fn digits(&self, range: Range<usize>, width: u32) -> Vec<Gf128> {
        let range_len = range.len();
        let rows = self.rows(range);
        let values = rows.chunks_exact(128).flat_map(|rows| rows.chunks_exact(width as usize));
        let value = |rows: &[u128]| (0..).zip(rows).fold(Gf128(0), |sum, (k, &row)| sum + Gf128(1 << k) * Gf128(row));
        // With all its space from the start: no copy is left behind.
        let mut digits = Vec::with_capacity(range_len * (128 / width as usize));
        digits.extend(values.map(value));
        digits
    }
}

/// Blocks read as values of `width` bits, `floor(128 / width)` a block.
pub(crate) fn narrow_digits(blocks: &[u128], width: u32) -> Secret<Vec<u8>> {
    let digits = |&block: &u128| (0..128 / width).map(move |i| (block >> (i * width)) as u8 & ((1 << width) - 1));
    // With all its space from the start: no copy is left behind.
    let mut all = Secret::new(Vec::with_capacity(blocks.len() * (128 / width as usize)));
    all.extend(blocks.iter().flat_map(digits));
    all
}

/// Blocks read as elements of `B`, of which the low `width` bits are kept.
pub(crate) fn narrow<B: Value>(blocks: &[u128], width: u32) -> Secret<Vec<B>> {
    let low = u128::MAX >> (128 - width);
    let elements: &[B] = bytemuck::cast_slice(blocks);
    Secret::new(elements.iter().map(|element| B::from_bits(element.embed().0 & low)).collect())
}
