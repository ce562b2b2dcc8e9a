//! AVX-512 with VBMI and GFNI: a row is one register, and eight rows meet a line in one instruction.
//!
//! `vgf2p8affineqb` multiplies, in each of eight lanes, an 8 x 8 matrix over GF(2) with eight bytes. Let lane `b` hold the matrix whose
//! columns are the `b`-th bytes of the line's eight cells, and let every lane's bytes be the coefficients of eight rows at this line:
//! then byte `r` of lane `b` is the `b`-th byte of row `r` times the line. A transposition of bytes at the end gives eight products.

use std::arch::x86_64::*;

use super::{Dependent, Echelon, LINE, ROW_LINES, Row, add};

/// Index vectors of byte shifts: `IOTA[64 + k ..][j]` is `k + j` modulo 256.
static IOTA: [u8; 192] = {
    let mut iota = [0; 192];
    let mut i = 0;
    while i < 192 {
        iota[i] = (i as u8).wrapping_sub(64);
        i += 1;
    }
    iota
};

/// An index vector of a byte permutation.
#[repr(align(64))]
struct Indices([u8; 64]);

/// Byte `j` of lane `i` goes to byte `i` of lane `j`.
static TRANSPOSE: Indices = Indices(transposition(false));

/// The same from the last lane to the first: `gf2p8affine` counts a matrix's rows downwards.
static TRANSPOSE_DOWN: Indices = Indices(transposition(true));

const fn transposition(downwards: bool) -> [u8; 64] {
    let mut indices = [0; 64];
    let mut i = 0;
    while i < 64 {
        let (lane, byte) = (i / 8, i % 8);
        let from = if downwards { 7 - byte } else { byte };
        indices[i] = (8 * from + lane) as u8;
        i += 1;
    }
    indices
}

#[target_feature(enable = "avx512f")]
fn load(row: &[u64; 8]) -> __m512i {
    // SAFETY: `row` is 64 readable bytes; the load needs no alignment.
    unsafe { _mm512_loadu_si512(row.as_ptr().cast()) }
}

#[target_feature(enable = "avx512f")]
fn store(row: &mut [u64; 8], x: __m512i) {
    // SAFETY: `row` is 64 writable bytes; the store needs no alignment.
    unsafe { _mm512_storeu_si512(row.as_mut_ptr().cast(), x) }
}

#[target_feature(enable = "avx512f")]
fn words(x: __m512i) -> [u64; 8] {
    let mut words = [0; 8];
    store(&mut words, x);
    words
}

#[target_feature(enable = "avx512f")]
fn indices(indices: &Indices) -> __m512i {
    load(bytemuck::must_cast_ref::<_, [[u8; 8]; 8]>(&indices.0).map(u64::from_le_bytes).as_ref_array())
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn shifted(row: __m512i, by: isize) -> __m512i {
    let at = (64 + by) as usize;
    let window = &IOTA[at..at + 64];
    // SAFETY: `window` is 64 readable bytes; the load needs no alignment.
    let from = unsafe { _mm512_loadu_si512(window.as_ptr().cast()) };
    let kept = if by <= 0 { u64::MAX << -by } else { u64::MAX >> by };
    _mm512_maskz_permutexvar_epi8(kept, from, row)
}
