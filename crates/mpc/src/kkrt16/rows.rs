//! Rows of a matrix whose columns are streams of keys.

use vesica_kernels::aes::Aes128;
use vesica_kernels::transpose::transpose_128x128;
use vesica_structures::secret::Secret;
use zeroize::Zeroize;

/// Blocks of a row.
pub(super) const BLOCKS_PER_ROW: usize = 4;

/// A row: bit `j` of block `q` is column `128 q + j`; columns beyond the width are zero.
pub(super) type Row = [u128; BLOCKS_PER_ROW];

/// Rows that travel at a time, a multiple of [`ROWS_PER_STRIP`].
pub(super) const ROWS_PER_PIECE: usize = 1 << 13;

/// Rows that a thread makes at a time, a multiple of 128: a quarter of their columns stays in the
/// first-level cache.
pub(super) const ROWS_PER_STRIP: usize = 1 << 10;

/// Columns, each the stream of AES under its key.
pub(super) struct Columns(Vec<Aes128>);

impl Columns {
    /// The columns of these keys.
    pub fn new(keys: impl Iterator<Item = u128>) -> Self {
        Self(keys.map(Aes128::new).collect())
    }

    /// Rows from number `first` on, a multiple of 128; at most [`ROWS_PER_STRIP`].
    pub fn rows(&self, first: usize, rows: &mut [Row]) {
        let mut blocks = Secret::new([0; ROWS_PER_STRIP]);
        let tiles = rows.len().div_ceil(128);
        let blocks = &mut blocks[..128 * tiles];
        for (quarter, columns) in self.0.chunks(128).enumerate() {
            blocks.fill(0);
            for (column, blocks) in columns.iter().zip(blocks.chunks_exact_mut(tiles)) {
                column.ctr((first / 128) as u128, blocks);
            }
            for (tile, rows) in rows.chunks_mut(128).enumerate() {
                let mut square = std::array::from_fn(|column| blocks[column * tiles + tile]);
                transpose_128x128(&mut square);
                rows.iter_mut().zip(&square).for_each(|(row, block)| row[quarter] = *block);
                square.zeroize();
            }
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
            let mut rows = vec![[9; BLOCKS_PER_ROW]; 200];
            rows.iter_mut().for_each(|row| row[3] = 0);
            columns.rows(first, &mut rows);
            for (i, row) in (first as u128..).zip(&rows) {
                for (j, key) in (0..width).enumerate() {
                    let mut block = [0];
                    Aes128::new(key * 77).ctr(i / 128, &mut block);
                    assert_eq!(row[j / 128] >> (j % 128) & 1, block[0] >> (i % 128) & 1, "row {i}, column {j}");
                }
                assert_eq!((row[2] >> (width - 256), row[3]), (0, 0));
            }
        }
    }
}
