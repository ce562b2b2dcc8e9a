//! Adding elements of a table at random places to a vector: the expander of an expand-convolute code (see `mpc::silent::code`). Places are
//! public.
//!
//! The table outgrows the second-level cache, but all places are known ahead, so lines are fetched while earlier elements are added.

use std::ops::BitXorAssign;

use crate::dispatch::{backend, dispatch};

/// `out[i] ^= table[floor(draws[i] * table.len() / 2^32)]`.
///
/// # Panics
/// If `out` and `draws` differ in length, or the table is empty or longer than `2^32`.
pub fn gather(out: &mut [u128], table: &[u128], draws: &[u32]) {
    check(out.len(), table.len(), draws.len());
    dispatch!(
        backend(),
        portable: portable(out, table, draws),
        avx2: x86::avx2_128(out, table, draws),
        avx512: x86::avx2_128(out, table, draws),
    );
}

/// As [`gather`], over 64-bit elements.
///
/// # Panics
/// As [`gather`].
pub fn gather_u64(out: &mut [u64], table: &[u64], draws: &[u32]) {
    check(out.len(), table.len(), draws.len());
    dispatch!(
        backend(),
        portable: portable(out, table, draws),
        avx2: x86::avx2_64(out, table, draws),
        avx512: x86::avx2_64(out, table, draws),
    );
}

fn check(out: usize, table: usize, draws: usize) {
    assert_eq!(out, draws, "one draw an element");
    assert!(table > 0 && table as u64 <= 1 << 32, "a table of 1 to 2^32 elements");
}

/// The place in a table of `len` elements that a draw stands for: below `len`, as the draw is below `2^32`.
#[inline(always)]
fn place(draw: u32, len: usize) -> usize {
    ((u64::from(draw) * len as u64) >> 32) as usize
}

/// The definition, written down.
#[inline(always)]
fn portable<T: Copy + BitXorAssign>(out: &mut [T], table: &[T], draws: &[u32]) {
    for (out, &draw) in out.iter_mut().zip(draws) {
        *out ^= table[place(draw, table.len())];
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    use std::ops::BitXorAssign;

    use super::{place, portable};

    /// Elements whose lines are under way at a time.
    const AHEAD: usize = 48;

    #[inline(always)]
    fn prefetching<T: Copy + BitXorAssign>(out: &mut [T], table: &[T], draws: &[u32]) {
        let split = draws.len().saturating_sub(AHEAD);
        for (i, out) in out[..split].iter_mut().enumerate() {
            let ahead = place(draws[i + AHEAD], table.len());
            // SAFETY: `place` is below the table's length, so the address lies within it; SSE is part of x86-64.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(table.as_ptr().add(ahead).cast()) };
            *out ^= table[place(draws[i], table.len())];
        }
        portable(&mut out[split..], table, &draws[split..]);
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn avx2_128(out: &mut [u128], table: &[u128], draws: &[u32]) {
        prefetching(out, table, draws);
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn avx2_64(out: &mut [u64], table: &[u64], draws: &[u32]) {
        prefetching(out, table, draws);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Backend, with_backend};

    #[test]
    fn all_backends_follow_the_definition() {
        let mut state = 1u64;
        let mut next = move || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            state ^ (state >> 29)
        };
        for (len, size) in [(0usize, 1usize), (1, 1), (7, 3), (47, 10), (48, 10), (49, 11), (50, 1), (1000, 333)] {
            let table: Vec<u128> = (0..size).map(|_| u128::from(next()) << 64 | u128::from(next())).collect();
            let out: Vec<u128> = (0..len).map(|_| u128::from(next())).collect();
            let mut draws: Vec<u32> = (0..len).map(|_| next() as u32).collect();
            draws.iter_mut().take(2).zip([u32::MAX, 0]).for_each(|(draw, edge)| *draw = edge);
            let places: Vec<usize> = draws.iter().map(|&draw| (f64::from(draw) / 4_294_967_296.0 * size as f64) as usize).collect();
            let expected: Vec<u128> = out.iter().zip(&places).map(|(out, &place)| out ^ table[place]).collect();
            let narrow = |x: &[u128]| x.iter().map(|&x| x as u64).collect::<Vec<u64>>();
            for backend in Backend::available() {
                with_backend(backend, || {
                    let (mut wide, mut halves) = (out.clone(), narrow(&out));
                    gather(&mut wide, &table, &draws);
                    gather_u64(&mut halves, &narrow(&table), &draws);
                    assert_eq!(wide, expected, "{} at {len} of {size}", backend.name());
                    assert_eq!(halves, narrow(&expected), "{} at {len} of {size}", backend.name());
                });
            }
        }
    }
}
