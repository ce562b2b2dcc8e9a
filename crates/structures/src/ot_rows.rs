//! The matrix of a sparse OT extension (PRTY19): a row of random bits for each of exponentially
//! many inputs, where each column follows from a key.
//!
//! Column `j` at an input `(bin, x)` is the inner product over GF(2) of the 128-bit `x` with
//! `AES_j(j, bin)`, the key's 128 bits for that bin. (With `j` in it a search for keys tries each of
//! them on one column only, not on all that are hidden.) So a block of AES serves a whole bin, and a row
//! is a product of `x` with a bit matrix. *It is no pseudo-random function on all inputs*: rows of
//! one bin are as random as the key's bits allow, that is, uniform and independent for inputs that
//! are linearly independent, and sums of others where they are not. For inputs that are hashes, `n`
//! in a bin, one more is in their span with probability below `2^(n - 128)`.

use std::ops::Range;

use vesica_kernels::aes::Aes128;
use vesica_kernels::blake3::keyed_digests;
use vesica_kernels::selection::select;
use vesica_kernels::transpose::transpose_128x128;

use crate::polynomial::{LANES, Row};
use crate::secret::Secret;

/// Columns of a row; the rest of its bits are 0.
pub const COLUMNS: usize = 64 * LANES;

/// Bins whose keys are expanded at a time.
const BINS_PER_BATCH: usize = 16;

/// The 128 rows that every row of a bin is a sum of.
pub type BinRows = [Row; 128];

/// The keys of all columns.
pub struct Columns(Vec<Aes128>);

impl Columns {
    /// The columns of these keys, one key for each column; the rest of the columns are zero.
    ///
    /// # Panics
    /// If there are more than [`COLUMNS`] keys.
    pub fn new(keys: impl ExactSizeIterator<Item = u128>) -> Self {
        assert!(keys.len() <= COLUMNS, "a key for each column");
        Self(keys.map(Aes128::new).collect())
    }

    /// The rows that the rows of each of these bins are sums of.
    pub fn bins(&self, bins: Range<usize>) -> Secret<Vec<BinRows>> {
        let mut matrices = Secret::new(vec![[Row::default(); 128]; bins.len()]);
        let mut blocks = Secret::new(vec![0; COLUMNS * BINS_PER_BATCH]);
        let mut tile = Secret::new([0; 128]);
        for (part, matrices) in matrices.chunks_mut(BINS_PER_BATCH).enumerate() {
            let first = (bins.start + part * BINS_PER_BATCH) as u128;
            for (number, (column, blocks)) in (0..).zip(self.0.iter().zip(blocks.chunks_exact_mut(BINS_PER_BATCH))) {
                column.ctr(number << 64 | first, &mut blocks[..matrices.len()]);
            }
            for (bin, matrix) in matrices.iter_mut().enumerate() {
                for (group, columns) in blocks.chunks(128 * BINS_PER_BATCH).enumerate() {
                    tile.fill(0);
                    for (tile, column) in tile.iter_mut().zip(columns.chunks_exact(BINS_PER_BATCH)) {
                        *tile = column[bin];
                    }
                    transpose_128x128(&mut tile);
                    for (row, &bits) in matrix.iter_mut().zip(tile.iter()) {
                        row[2 * group..][..2].copy_from_slice(&[bits as u64, (bits >> 64) as u64]);
                    }
                }
            }
        }
        matrices
    }
}

impl std::fmt::Debug for Columns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Columns(..)")
    }
}

/// The rows of some inputs of a bin.
///
/// # Panics
/// If there are not as many rows as inputs.
pub fn rows_of(bin: &BinRows, inputs: &[u128], rows: &mut [Row]) {
    select(bin, inputs, rows);
}

/// `out[i]` = the first 128 bits of BLAKE3 under this key of all of row `i`: a hash that is robust
/// for rows under any sums with a secret's parts, as a random oracle is.
///
/// # Panics
/// If the slices differ in length.
pub fn hash_rows(key: &[u8; 32], rows: &[Row], out: &mut [u128]) {
    const BINS_PER_BATCH: usize = 256;
    assert_eq!(rows.len(), out.len(), "a hash for each row");
    for (rows, out) in rows.chunks(BINS_PER_BATCH).zip(out.chunks_mut(BINS_PER_BATCH)) {
        keyed_digests(key, bytemuck::cast_slice(rows), &[size_of::<Row>() as u8; BINS_PER_BATCH][..rows.len()], out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_blake3() {
        let rows: Vec<Row> = (0..300).map(|i| std::array::from_fn(|word| 1000 * i + word as u64)).collect();
        let mut out = vec![0; rows.len()];
        hash_rows(&[7; 32], &rows, &mut out);
        for (row, out) in rows.iter().zip(out) {
            let bytes: Vec<u8> = row.iter().flat_map(|word| word.to_le_bytes()).collect();
            assert_eq!(blake3::keyed_hash(&[7; 32], &bytes).as_bytes()[..16], out.to_le_bytes());
        }
    }

    #[test]
    fn a_bit_of_a_row_is_the_inner_product_of_the_input_with_its_columns_block() {
        let columns = Columns::new((0..COLUMNS).map(|column| 7 * column as u128));
        let inputs = [0, 1, u128::MAX, 0x1234_5678 << 64 | 5];
        for range in [0..3, 30..47] {
            let matrices = columns.bins(range.clone());
            assert_eq!(matrices.len(), range.len());
            for (bin, matrix) in range.zip(matrices.iter()) {
                let mut rows = [Row::default(); 4];
                rows_of(matrix, &inputs, &mut rows);
                for column in 0..COLUMNS {
                    let mut block = [(column as u128) << 64 | bin as u128];
                    Aes128::new(7 * column as u128).encrypt(&mut block);
                    for (row, input) in rows.iter().zip(inputs) {
                        assert_eq!(
                            row[column / 64] >> (column % 64) & 1,
                            u64::from((block[0] & input).count_ones() % 2),
                            "column {column}"
                        );
                    }
                }
                assert!(rows.iter().all(|row| row[LANES..] == [0]));
            }
        }
    }
}
