//! The AVX2 twin of Eklundh's transposition: two rows to a 256-bit register.

use std::arch::x86_64::*;

use bytemuck::must_cast;

use super::portable::Tile;

type Rows = [__m256i; 64];

/// The columns, of each 64, whose index lacks the bit `distance`.
const fn low_columns(distance: i32) -> i64 {
    (u64::MAX / ((1 << distance) + 1)) as i64
}

/// The step between rows `DISTANCE` apart, which lie in different registers.
#[inline]
#[target_feature(enable = "avx2")]
fn swap<const DISTANCE: i32>(rows: &mut Rows) {
    let mask = _mm256_set1_epi64x(low_columns(DISTANCE));
    let apart = DISTANCE as usize / 2;
    for rows in rows.chunks_exact_mut(2 * apart) {
        let (upper, lower) = rows.split_at_mut(apart);
        for (a, b) in upper.iter_mut().zip(lower) {
            let swapped = _mm256_and_si256(_mm256_xor_si256(_mm256_srli_epi64::<DISTANCE>(*a), *b), mask);
            *b = _mm256_xor_si256(*b, swapped);
            *a = _mm256_xor_si256(*a, _mm256_slli_epi64::<DISTANCE>(swapped));
        }
    }
}

#[target_feature(enable = "avx2")]
pub(super) fn transpose(tile: &mut Tile) {
    // Moved by copy: a tile is aligned to its `u128`s only.
    let mut rows: Rows = must_cast(*tile);
    let (upper, lower) = rows.split_at_mut(32);
    for (a, b) in upper.iter_mut().zip(lower) {
        (*a, *b) = (_mm256_unpacklo_epi64(*a, *b), _mm256_unpackhi_epi64(*a, *b));
    }
    swap::<32>(&mut rows);
    swap::<16>(&mut rows);
    swap::<8>(&mut rows);
    swap::<4>(&mut rows);
    swap::<2>(&mut rows);
    // Rows 1 apart share a register; shifts by 64 leave zero.
    let (left, right) = (_mm256_set_epi64x(64, 64, 1, 1), _mm256_set_epi64x(1, 1, 64, 64));
    let low = low_columns(1);
    let kept = _mm256_set_epi64x(!low, !low, low, low);
    for row in &mut rows {
        let other = _mm256_permute4x64_epi64::<0x4e>(*row);
        let shifted = _mm256_or_si256(_mm256_sllv_epi64(other, left), _mm256_srlv_epi64(other, right));
        *row = _mm256_or_si256(_mm256_and_si256(kept, *row), _mm256_andnot_si256(kept, shifted));
    }
    *tile = must_cast(rows);
}
