//! The portable twin: Eklundh's transposition, which swaps the off-diagonal halves of ever smaller
//! squares.

/// A square of bits: bit `j` of `tile[i]` is row `i`, column `j`.
pub type Tile = [u128; 128];

/// The columns whose index lacks the bit `distance`.
const fn low_columns(distance: u32) -> u128 {
    u128::MAX / ((1 << distance) + 1)
}

pub(super) fn transpose(tile: &mut Tile) {
    let (upper, lower) = tile.split_at_mut(64);
    for (a, b) in upper.iter_mut().zip(lower) {
        (*a, *b) = (*a & u128::from(u64::MAX) | *b << 64, *a >> 64 | *b & !u128::from(u64::MAX));
    }
    for distance in [32, 16, 8, 4, 2, 1] {
        let mask = low_columns(distance as u32);
        for rows in tile.chunks_exact_mut(2 * distance) {
            let (upper, lower) = rows.split_at_mut(distance);
            for (a, b) in upper.iter_mut().zip(lower) {
                let swapped = ((*a >> distance) ^ *b) & mask;
                *b ^= swapped;
                *a ^= swapped << distance;
            }
        }
    }
}
