use super::*;
use crate::testing::{lengths, on_every_backend, words};

#[test]
fn a_square_is_transposed_bit_by_bit() {
    let tile: Tile = words(1, 128).try_into().unwrap();
    let transposed = on_every_backend(|| {
        let mut tile = tile;
        transpose_128x128(&mut tile);
        tile
    });
    for (i, row) in transposed.iter().enumerate() {
        for (j, column) in tile.iter().enumerate() {
            assert_eq!(row >> j & 1, column >> i & 1, "row {i}, column {j}");
        }
    }
}

#[test]
fn rows_are_gathered_from_columns_of_every_length() {
    for n in lengths().chain([1023, 1025, 2048]) {
        // Longer by a byte than need be, which must not show.
        let columns: Vec<Vec<u8>> = (0..128u64)
            .map(|j| words(j, n / 128 + 2).iter().flat_map(|word| word.to_le_bytes()).take(n.div_ceil(8) + 1).collect())
            .collect();
        let rows = on_every_backend(|| bits_to_blocks(&columns, n));
        assert_eq!(rows.len(), n);
        for (i, row) in rows.iter().enumerate() {
            let expected = (0..128).fold(0, |row, j| row | u128::from(columns[j][i / 8] >> (i % 8) & 1) << j);
            assert_eq!(*row, expected, "row {i} of {n}");
        }
    }
}

#[test]
#[should_panic(expected = "each column has a bit for each row")]
fn short_columns_are_refused() {
    bits_to_blocks(&[[0u8; 2]; 128], 17);
}
