//! Transposition of bit matrices with 128 columns: from bit vectors, as OT extension makes them, to
//! one block a row.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;
#[cfg(test)]
mod tests;

use crate::dispatch::{Backend, backend, dispatch};
pub use portable::Tile;

/// Transposes a square in place: bit `j` of `tile[i]` changes places with bit `i` of `tile[j]`.
pub fn transpose_128x128(tile: &mut Tile) {
    transpose_on(backend(), tile);
}

#[inline]
fn transpose_on(on: Backend, tile: &mut Tile) {
    dispatch!(
        on,
        portable: portable::transpose(tile),
        avx2: avx2::transpose(tile),
        avx512: avx512::transpose(tile),
    );
}

/// The rows of a matrix given by its 128 columns: bit `j` of `out[i]` is bit `i` of column `j`,
/// bits counted from the lowest of byte 0.
///
/// # Panics
/// If there are not 128 columns of at least `out.len()` bits.
pub fn transpose_128<C: AsRef<[u8]>>(columns: &[C], out: &mut [u128]) {
    /// Tiles done together, so that a cache line of each column is read once (columns often lie a
    /// power of two apart).
    const TILES: usize = 4;

    assert_eq!(columns.len(), 128, "the matrix has 128 columns");
    let column_len = out.len().div_ceil(8);
    assert!(columns.iter().all(|column| column.as_ref().len() >= column_len), "each column has a bit for each row");
    let on = backend();
    let mut tiles: [Tile; TILES] = [[0; 128]; TILES];
    for (part, out) in out.chunks_mut(TILES * 128).enumerate() {
        let first = part * TILES * 16;
        for (j, column) in columns.iter().enumerate() {
            let column = &column.as_ref()[first..column_len];
            let bytes = column.first_chunk().copied().unwrap_or_else(|| {
                let mut last = [0; TILES * 16];
                last[..column.len()].copy_from_slice(column);
                last
            });
            let (bytes, _) = bytes.as_chunks::<16>();
            for (tile, bytes) in tiles.iter_mut().zip(bytes) {
                tile[j] = u128::from_le_bytes(*bytes);
            }
        }
        for (tile, out) in tiles.iter_mut().zip(out.chunks_mut(128)) {
            transpose_on(on, tile);
            out.copy_from_slice(&tile[..out.len()]);
        }
    }
}

/// The `n` rows of a matrix given by its 128 columns, as [`transpose_128`] gives them.
///
/// # Panics
/// If there are not 128 columns of at least `n` bits.
pub fn bits_to_blocks<C: AsRef<[u8]>>(columns: &[C], n: usize) -> Vec<u128> {
    let mut out = vec![0; n];
    transpose_128(columns, &mut out);
    out
}
