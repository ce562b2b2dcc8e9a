//! Rows of a matrix whose columns are streams of keys.

use bytemuck::Pod;
use vesica_kernels::aes::Aes128;
use vesica_kernels::transpose::transpose_128x128;
use vesica_structures::secret::Secret;
use zeroize::Zeroize;

/// A row: bit `j` of block `q` is column `128 q + j`; columns beyond the width are zero.
pub trait MatrixRow: Pod + Zeroize + Send + Sync {
    /// Blocks of 128 bits.
    const BLOCKS: usize;

    /// The row whose block `q` is `block(q)`.
    fn of(block: impl FnMut(usize) -> u128) -> Self;

    /// The blocks that [`of`](Self::of) asked for, in their order.
    fn blocks(&self) -> &[u128];

    /// The same, to be changed.
    fn blocks_mut(&mut self) -> &mut [u128];
}

impl<const BLOCKS: usize> MatrixRow for [u128; BLOCKS] {
    const BLOCKS: usize = BLOCKS;

    #[inline(always)]
    fn of(block: impl FnMut(usize) -> u128) -> Self {
        std::array::from_fn(block)
    }

    #[inline(always)]
    fn blocks(&self) -> &[u128] {
        self
    }

    #[inline(always)]
    fn blocks_mut(&mut self) -> &mut [u128] {
        self
    }
}

/// The row of which the lowest `width` bits are ones.
pub(super) fn ones<R: MatrixRow>(width: usize) -> R {
    R::of(|q| match width.saturating_sub(128 * q) {
        0 => 0,
        count @ 1..128 => u128::MAX >> (128 - count),
        _ => u128::MAX,
    })
}

/// Rows that travel at a time, a multiple of [`ROWS_PER_STRIP`].
pub(crate) const ROWS_PER_PIECE: usize = 1 << 13;

/// Rows that a thread makes at a time, a multiple of 128: a block of each of their columns stays in
/// the first-level cache.
pub const ROWS_PER_STRIP: usize = 1 << 10;

/// Columns, each the stream of AES under its key from a counter of its own on: who searches for the
/// keys that are hidden from him has to try each candidate on every column by itself.
pub struct Columns(Vec<Aes128>);

impl std::fmt::Debug for Columns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Columns(..)")
    }
}

/// The counter of a column's first block.
fn counter(column: usize) -> u128 {
    (column as u128) << 64
}

impl Columns {
    /// The columns of these keys.
    pub fn new(keys: impl Iterator<Item = u128>) -> Self {
        Self(keys.map(Aes128::new).collect())
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Rows from number `first` on, a multiple of 128; at most [`ROWS_PER_STRIP`].
    pub fn rows<R: MatrixRow>(&self, first: usize, rows: &mut [R]) {
        let mut blocks = Secret::new([0; ROWS_PER_STRIP]);
        let tiles = rows.len().div_ceil(128);
        let blocks = &mut blocks[..128 * tiles];
        for (quarter, columns) in self.0.chunks(128).enumerate() {
            blocks.fill(0);
            for (number, (column, blocks)) in columns.iter().zip(blocks.chunks_exact_mut(tiles)).enumerate() {
                column.ctr(counter(128 * quarter + number) + (first / 128) as u128, blocks);
            }
            for (tile, rows) in rows.chunks_mut(128).enumerate() {
                let mut square = std::array::from_fn(|column| blocks[column * tiles + tile]);
                transpose_128x128(&mut square);
                rows.iter_mut().zip(&square).for_each(|(row, block)| row.blocks_mut()[quarter] = *block);
                square.zeroize();
            }
        }
    }

    /// Calls `each` with every column's first `blocks` blocks of 128 rows.
    pub fn each_column(&self, blocks: usize, mut each: impl FnMut(&[u128])) {
        let mut column = Secret::new(vec![0; blocks]);
        for (number, stream) in self.0.iter().enumerate() {
            stream.ctr(counter(number), &mut column);
            each(&column);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_holds_its_bit_of_each_stream() {
        let width = 300;
        let columns = Columns::new((0..width).map(|key| key * 77));
        // In the first piece, at the start of a later one, and within it: what is used once is not used
        // again.
        for first in [256, ROWS_PER_PIECE, 3 * ROWS_PER_PIECE + ROWS_PER_STRIP] {
            let mut rows = vec![[9; 4]; 200];
            rows.iter_mut().for_each(|row| row[3] = 0);
            columns.rows(first, &mut rows);
            for (i, row) in (first as u128..).zip(&rows) {
                for (j, key) in (0..width).enumerate() {
                    let mut block = [0];
                    Aes128::new(key * 77).ctr((key << 64) | (i / 128), &mut block);
                    assert_eq!(row[j / 128] >> (j % 128) & 1, block[0] >> (i % 128) & 1, "row {i}, column {j}");
                }
                assert_eq!((row[2] >> (width - 256), row[3]), (0, 0));
            }
        }
    }

    #[test]
    fn the_lowest_bits_are_ones() {
        assert_eq!(ones::<[u128; 2]>(0), [0, 0]);
        assert_eq!(ones::<[u128; 2]>(130), [u128::MAX, 3]);
        assert_eq!(ones::<[u128; 2]>(256), [u128::MAX; 2]);
    }
}
