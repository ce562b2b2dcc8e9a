//! The AVX-512 twin of Eklundh's transposition: four rows to a 512-bit register.

use std::arch::x86_64::*;

use bytemuck::must_cast;

use super::portable::Tile;

type Rows = [__m512i; 32];

/// The truth table of `(a ^ b) & c`.
const XOR_AND: i32 = 0x28;

/// The truth table of `if a { b } else { c }`.
const SELECT: i32 = 0xca;

/// The columns, of each 64, whose index lacks the bit `distance`.
const fn low_columns(distance: u32) -> i64 {
    (u64::MAX / ((1 << distance) + 1)) as i64
}

/// The step between rows `DISTANCE` apart, which lie in different registers.
#[inline]
#[target_feature(enable = "avx512f")]
fn swap<const DISTANCE: u32>(rows: &mut Rows) {
    let mask = _mm512_set1_epi64(low_columns(DISTANCE));
    let apart = DISTANCE as usize / 4;
    for rows in rows.chunks_exact_mut(2 * apart) {
        let (upper, lower) = rows.split_at_mut(apart);
        for (a, b) in upper.iter_mut().zip(lower) {
            let shifted = _mm512_srli_epi64::<DISTANCE>(*a);
            let swapped = _mm512_ternarylogic_epi64::<XOR_AND>(shifted, *b, mask);
            *b = _mm512_xor_si512(*b, swapped);
            *a = _mm512_xor_si512(*a, _mm512_slli_epi64::<DISTANCE>(swapped));
        }
    }
}

/// What a register becomes when its rows are exchanged with those of `other`, the same register
/// with rows `distance` apart changed over. The 128-bit lanes set in `lower` hold the lower rows of
/// each pair.
#[inline]
#[target_feature(enable = "avx512f")]
fn swap_within(row: __m512i, other: __m512i, distance: i64, lower: __mmask8) -> __m512i {
    let distances = _mm512_set1_epi64(distance);
    let low = low_columns(distance as u32);
    let kept = _mm512_mask_blend_epi64(lower, _mm512_set1_epi64(low), _mm512_set1_epi64(!low));
    let shifted = _mm512_mask_srlv_epi64(_mm512_sllv_epi64(other, distances), lower, other, distances);
    _mm512_ternarylogic_epi64::<SELECT>(kept, row, shifted)
}

#[target_feature(enable = "avx512f")]
pub(super) fn transpose(tile: &mut Tile) {
    let mut rows: Rows = must_cast(*tile);
    let (upper, lower) = rows.split_at_mut(16);
    for (a, b) in upper.iter_mut().zip(lower) {
        (*a, *b) = (_mm512_unpacklo_epi64(*a, *b), _mm512_unpackhi_epi64(*a, *b));
    }
    swap::<32>(&mut rows);
    swap::<16>(&mut rows);
    swap::<8>(&mut rows);
    swap::<4>(&mut rows);
    for row in &mut rows {
        // Rows 2 apart: the halves of a register; rows 1 apart: the halves of its halves.
        let other = _mm512_shuffle_i64x2::<0x4e>(*row, *row);
        *row = swap_within(*row, other, 2, 0b1111_0000);
        let other = _mm512_shuffle_i64x2::<0xb1>(*row, *row);
        *row = swap_within(*row, other, 1, 0b1100_1100);
    }
    *tile = must_cast(rows);
}
