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
//!
//! [`Columns::oracle_rows`] is another function of the same keys, for proofs that take it for a random oracle.

use std::ops::Range;

use rayon::prelude::*;
use vesica_kernels::aes::Aes128;
use vesica_kernels::blake3::{keyed_digests, keyed_digests_256};
use vesica_kernels::selection::select;
use vesica_kernels::transpose::transpose_128x128;

use crate::fields::{Bits256, Bits1024};
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

    /// The rows of these inputs: bit `j` of the row at `x` is the lowest bit of `AES_j(x + j) + x + j`, with addition
    /// in GF(2). For inputs that are outputs of a random function which nobody has asked for, each bit is uniform, and
    /// all are independent, also to who knows or chose the keys, if AES is an ideal cipher; with `j` in it they are where keys
    /// are equal, too. Inputs that somebody chooses must be hashed first: under equal keys, rows of inputs that differ in
    /// nine low bits share bits.
    ///
    /// # Panics
    /// If there are not as many rows as inputs.
    pub fn oracle_rows(&self, inputs: &[u128], rows: &mut [Row]) {
        assert_eq!(inputs.len(), rows.len(), "a row for each input");
        rows.par_chunks_mut(128).zip(inputs.par_chunks(128)).for_each(|(rows, inputs)| {
            let (mut blocks, mut tile) = (Secret::new([0; 128]), Secret::new([0; 128]));
            for (group, columns) in self.0.chunks(128).enumerate() {
                tile.fill(0);
                for ((number, column), bits) in (128 * group as u128..).zip(columns).zip(tile.iter_mut()) {
                    blocks.iter_mut().zip(inputs).for_each(|(block, input)| *block = input ^ number);
                    *bits = column.mmo_bits(&blocks);
                }
                transpose_128x128(&mut tile);
                for (row, &bits) in rows.iter_mut().zip(tile.iter()) {
                    row[2 * group..][..2].copy_from_slice(&[bits as u64, (bits >> 64) as u64]);
                }
            }
        });
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

/// Items or wide rows hashed at a time: their buffers stay in the first-level cache.
const HASHES_PER_BATCH: usize = 128;

/// `out[i]` = BLAKE3 under this key of item `i`, all 256 bits.
///
/// # Panics
/// If the slices differ in length.
pub fn hash_items(key: &[u8; 32], items: &[u128], out: &mut [Bits256]) {
    assert_eq!(items.len(), out.len(), "a hash for each item");
    out.par_chunks_mut(HASHES_PER_BATCH).zip(items.par_chunks(HASHES_PER_BATCH)).for_each(|(out, items)| {
        let mut messages = Secret::new([[0; 64]; HASHES_PER_BATCH]);
        for (message, item) in messages.iter_mut().zip(items) {
            message[..16].copy_from_slice(&item.to_le_bytes());
        }
        let mut halves = Secret::new([[0; HASHES_PER_BATCH]; 2]);
        let [low, high] = &mut *halves;
        let (low, high, lengths) = (&mut low[..items.len()], &mut high[..items.len()], [16; HASHES_PER_BATCH]);
        keyed_digests_256(key, &messages[..items.len()], &lengths[..items.len()], low, high);
        for ((out, &low), &high) in out.iter_mut().zip(&*low).zip(&*high) {
            *out = Bits256([low as u64, (low >> 64) as u64, high as u64, (high >> 64) as u64]);
        }
    });
}

/// Rows of one block each for rows of two: `out[i]` has 256 bits of BLAKE3 under this key of either half of row
/// `i`. Their [hashes](hash_rows) are as robust as those of the rows themselves.
///
/// # Panics
/// If the slices differ in length.
pub fn shorten_rows(key: &[u8; 32], rows: &[Bits1024], out: &mut [Row]) {
    assert_eq!(rows.len(), out.len(), "a short row for each row");
    out.par_chunks_mut(HASHES_PER_BATCH).zip(rows.par_chunks(HASHES_PER_BATCH)).for_each(|(out, rows)| {
        let halves: &[[u8; 64]] = bytemuck::cast_slice(rows);
        let count = halves.len();
        let mut digests = Secret::new([[0; 2 * HASHES_PER_BATCH]; 2]);
        let ([low, high], lengths) = (&mut *digests, [64; 2 * HASHES_PER_BATCH]);
        keyed_digests_256(key, halves, &lengths[..count], &mut low[..count], &mut high[..count]);
        for (number, out) in out.iter_mut().enumerate() {
            let [first, second] = [2 * number, 2 * number + 1];
            *out = bytemuck::cast([low[first], high[first], low[second], high[second]]);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_of_items_and_of_wide_rows_are_those_of_blake3() {
        let items: Vec<u128> = (0..300).map(|item| item << 100 | 7).collect();
        let mut hashes = vec![Bits256::default(); items.len()];
        hash_items(&[1; 32], &items, &mut hashes);
        for (item, hash) in items.iter().zip(&hashes) {
            assert_eq!(blake3::keyed_hash(&[1; 32], &item.to_le_bytes()).as_bytes(), bytemuck::bytes_of(hash));
        }
        let rows: Vec<Bits1024> =
            (0..300).map(|i| Bits1024(std::array::from_fn(|block| 1000 * i + block as u128))).collect();
        let mut short = vec![Row::default(); rows.len()];
        shorten_rows(&[2; 32], &rows, &mut short);
        for (row, short) in rows.iter().zip(&short) {
            let halves = bytemuck::bytes_of(row).chunks(64);
            let digests: Vec<u8> = halves.flat_map(|half| *blake3::keyed_hash(&[2; 32], half).as_bytes()).collect();
            assert_eq!(digests, bytemuck::bytes_of(short));
        }
    }

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
    fn a_bit_of_an_oracle_row_is_one_of_the_columns_block() {
        for count in [COLUMNS, 130] {
            let columns = Columns::new((0..count).map(|column| 7 * column as u128));
            let inputs: Vec<u128> = (0..131).map(|input| input << 100 | 5).collect();
            let mut rows = vec![Row::default(); inputs.len()];
            columns.oracle_rows(&inputs, &mut rows);
            for (row, input) in rows.iter().zip(inputs) {
                for column in 0..64 * row.len() {
                    let x = input ^ column as u128;
                    let mut block = [x];
                    Aes128::new(7 * column as u128).encrypt(&mut block);
                    let wanted = if column < count { (block[0] ^ x) as u64 & 1 } else { 0 };
                    assert_eq!(row[column / 64] >> (column % 64) & 1, wanted, "column {column} of {count}");
                }
            }
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
