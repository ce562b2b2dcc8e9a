//! Sums of lines of a table over GF(2), chosen by the bits of a word: products of bit matrices.

#[cfg(target_arch = "x86_64")]
use bytemuck::must_cast;

use crate::dispatch::{backend, dispatch};
use crate::gf64::Row;

/// `out[i]` = the sum of all `rows[j]` for which bit `j` of `selectors[i]` is set.
///
/// Sums of four rows at a time are looked up in tables, at places that depend on the selectors;
/// those of half the rows at a time, 16 KiB, so that they stay in the first-level cache.
///
/// # Panics
/// If there is not one selector for each of `out`.
pub fn select(rows: &[Row; 128], selectors: &[u128], out: &mut [Row]) {
    assert_eq!(selectors.len(), out.len(), "a selector for each sum");
    dispatch!(
        backend(),
        portable: portable(rows, selectors, out),
        avx2: avx2(rows, selectors, out),
        avx512: avx512(rows, selectors, out),
    );
}

/// The loop itself: inlined into the AVX2 twin, where the compiler turns it into that feature's
/// vectors.
#[inline(always)]
fn portable(rows: &[Row; 128], selectors: &[u128], out: &mut [Row]) {
    out.fill(Row::default());
    for (half, rows) in rows.as_chunks::<64>().0.iter().enumerate() {
        let mut tables = [[Row::default(); 16]; 16];
        for (table, rows) in tables.iter_mut().zip(rows.as_chunks::<4>().0) {
            for (bit, row) in rows.iter().enumerate() {
                for place in 0..1 << bit {
                    let mut sum = table[place];
                    add(&mut sum, row);
                    table[place | 1 << bit] = sum;
                }
            }
        }
        for (&selector, out) in selectors.iter().zip(&mut *out) {
            let mut sum = *out;
            let bytes = ((selector >> (64 * half)) as u64).to_le_bytes();
            for ([low, high], byte) in tables.as_chunks::<2>().0.iter().zip(bytes) {
                add(&mut sum, &low[usize::from(byte & 15)]);
                add(&mut sum, &high[usize::from(byte >> 4)]);
            }
            *out = sum;
        }
    }
}

#[inline(always)]
fn add(sum: &mut Row, row: &Row) {
    for (sum, &word) in sum.iter_mut().zip(row) {
        *sum ^= word;
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2(rows: &[Row; 128], selectors: &[u128], out: &mut [Row]) {
    portable(rows, selectors, out);
}

/// As [`portable`], a row to a register.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn avx512(rows: &[Row; 128], selectors: &[u128], out: &mut [Row]) {
    use std::arch::x86_64::*;

    out.fill(Row::default());
    for (half, rows) in rows.as_chunks::<64>().0.iter().enumerate() {
        let mut tables = [[_mm512_setzero_si512(); 16]; 16];
        for (table, rows) in tables.iter_mut().zip(rows.as_chunks::<4>().0) {
            for (bit, &row) in rows.iter().enumerate() {
                for place in 0..1 << bit {
                    table[place | 1 << bit] = _mm512_xor_si512(table[place], must_cast(row));
                }
            }
        }
        for (&selector, out) in selectors.iter().zip(&mut *out) {
            let mut sums = [must_cast(*out), _mm512_setzero_si512()];
            let bytes = ((selector >> (64 * half)) as u64).to_le_bytes();
            for ([low, high], byte) in tables.as_chunks::<2>().0.iter().zip(bytes) {
                sums[0] = _mm512_xor_si512(sums[0], low[usize::from(byte & 15)]);
                sums[1] = _mm512_xor_si512(sums[1], high[usize::from(byte >> 4)]);
            }
            *out = must_cast(_mm512_xor_si512(sums[0], sums[1]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{on_every_backend, words};

    #[test]
    fn sums_are_those_of_the_rows_that_are_chosen() {
        let all: Vec<u64> = words(1, 512).iter().flat_map(|&word| [word as u64, (word >> 64) as u64]).collect();
        let rows: [Row; 128] = std::array::from_fn(|i| std::array::from_fn(|word| all[8 * i + word]));
        let selectors = [words(2, 20), (0..128).map(|bit| 1 << bit).collect(), vec![0, u128::MAX]].concat();
        let sums = on_every_backend(|| {
            let mut out = vec![[9; 8]; selectors.len()];
            select(&rows, &selectors, &mut out);
            out
        });
        for (selector, sum) in selectors.iter().zip(sums) {
            let chosen = rows.iter().enumerate().filter(|(i, _)| selector >> i & 1 == 1);
            let expected = chosen.fold([0; 8], |sum: Row, (_, row)| std::array::from_fn(|word| sum[word] ^ row[word]));
            assert_eq!(sum, expected, "{selector:x}");
        }
    }
}
