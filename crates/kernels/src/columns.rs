//! Sums of rows of a matrix, each times a word, for [`LANES`] columns at a time: what the server of
//! a private look-up spends its time on (`structures::pir`).
//!
//! A matrix is kept block by block: all rows of the first [`LANES`] columns, then all rows of the
//! next, so that a block is read from its start to its end.

#[cfg(target_arch = "x86_64")]
use crate::dispatch::{Backend, backend};

/// Columns of a block.
pub const LANES: usize = 64;

/// Bits of the low half of a weight.
pub const WEIGHT_HALF: u32 = 25;

/// Bits of the low part of a product in [`add_products`].
pub const PRODUCT_HALF: u32 = 52;

/// Rows that one [`Sums`] can take in [`add_weighted`]: products of 16 and 25 bits.
pub const MOST_WEIGHTED: usize = 1 << 23;

/// Rows that one [`Sums`] can take in [`add_products`].
pub const MOST_PRODUCTS: usize = 1 << 12;

/// Sums of one block's columns, unreduced, in two halves: `low[i] + 2^h high[i]`, where `h` is
/// [`WEIGHT_HALF`] or [`PRODUCT_HALF`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sums {
    low: [u64; LANES],
    high: [u64; LANES],
}

impl Default for Sums {
    fn default() -> Self {
        Self { low: [0; LANES], high: [0; LANES] }
    }
}

impl Sums {
    /// The sums, with halves that are `half` bits apart.
    pub fn totals(&self, half: u32) -> impl Iterator<Item = u128> + '_ {
        self.low.iter().zip(&self.high).map(move |(&low, &high)| u128::from(low) + (u128::from(high) << half))
    }
}

/// A weight below `2^50` in two halves of [`WEIGHT_HALF`] bits, as [`add_weighted`] takes it.
pub fn halves(weight: u64) -> [u32; 2] {
    [weight as u32 & ((1 << WEIGHT_HALF) - 1), (weight >> WEIGHT_HALF) as u32]
}

/// `sums[i] += rows[r][i] * weights[r]` for all rows. Both halves of a weight have [`WEIGHT_HALF`]
/// bits; one `Sums` takes [`MOST_WEIGHTED`] rows.
///
/// # Panics
/// If there are not as many weights as rows, or more than `MOST_WEIGHTED`.
pub fn add_weighted(rows: &[[u16; LANES]], weights: &[[u32; 2]], sums: &mut Sums) {
    assert!(rows.len() == weights.len() && rows.len() <= MOST_WEIGHTED, "one weight a row");
    #[cfg(target_arch = "x86_64")]
    {
        let backend = backend();
        if backend >= Backend::Avx512 && has_ifma() {
            // SAFETY: the machine has AVX-512 F, BW, VL, DQ (by the backend) and IFMA.
            return unsafe { x86::add_weighted_ifma(rows, weights, sums) };
        }
        if backend >= Backend::Avx2 {
            // SAFETY: the machine has AVX2, by the backend.
            return unsafe { x86::add_weighted_avx2(rows, weights, sums) };
        }
    }
    add_weighted_portable(rows, weights, sums);
}

/// `sums[i] += rows[r][i] * factors[starts[r] + from + i]` for all rows; the numbers of both have at
/// most 52 bits. One `Sums` takes [`MOST_PRODUCTS`] rows.
///
/// # Panics
/// If there are not as many starts as rows, or more than `MOST_PRODUCTS`, or a factor lies beyond
/// the end.
pub fn add_products(rows: &[[u64; LANES]], factors: &[u64], starts: &[u32], from: usize, sums: &mut Sums) {
    assert!(rows.len() == starts.len() && rows.len() <= MOST_PRODUCTS, "one start a row");
    let last = starts.iter().max().map_or(0, |&start| start as usize);
    assert!(starts.is_empty() || last + from + LANES <= factors.len(), "the factors of a row");
    #[cfg(target_arch = "x86_64")]
    if backend() >= Backend::Avx512 && has_ifma() {
        // SAFETY: the machine has AVX-512 F, BW, VL, DQ (by the backend) and IFMA; the assertion above bounds the starts.
        return unsafe { x86::add_products_ifma(rows, factors, starts, from, sums) };
    }
    add_products_portable(rows, factors, starts, from, sums);
}

/// Whether the machine multiplies 52-bit numbers in lanes of 64.
#[cfg(target_arch = "x86_64")]
fn has_ifma() -> bool {
    std::arch::is_x86_feature_detected!("avx512ifma")
}

fn add_weighted_portable(rows: &[[u16; LANES]], weights: &[[u32; 2]], sums: &mut Sums) {
    for (row, &[low, high]) in rows.iter().zip(weights) {
        for (&entry, (sum_low, sum_high)) in row.iter().zip(sums.low.iter_mut().zip(&mut sums.high)) {
            *sum_low += u64::from(entry) * u64::from(low);
            *sum_high += u64::from(entry) * u64::from(high);
        }
    }
}

fn add_products_portable(rows: &[[u64; LANES]], factors: &[u64], starts: &[u32], from: usize, sums: &mut Sums) {
    for (row, &start) in rows.iter().zip(starts) {
        let factors = &factors[start as usize + from..][..LANES];
        for ((&entry, &factor), (low, high)) in row.iter().zip(factors).zip(sums.low.iter_mut().zip(&mut sums.high)) {
            let product = u128::from(entry) * u128::from(factor);
            *low += product as u64 & ((1 << PRODUCT_HALF) - 1);
            *high += (product >> PRODUCT_HALF) as u64;
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{LANES, Sums};

    /// Bytes between what is read and what is asked for.
    const AHEAD: usize = 16 << 10;

    /// Eight lanes a register: the sums of a block stay in sixteen of them.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512ifma")]
    pub(super) fn add_weighted_ifma(rows: &[[u16; LANES]], weights: &[[u32; 2]], sums: &mut Sums) {
        let (mut low, mut high) = (load(&sums.low), load(&sums.high));
        for (row, &[weight_low, weight_high]) in rows.iter().zip(weights) {
            prefetch(row, AHEAD);
            let weight_low = _mm512_set1_epi64(i64::from(weight_low));
            let weight_high = _mm512_set1_epi64(i64::from(weight_high));
            for (g, (low, high)) in low.iter_mut().zip(&mut high).enumerate() {
                // SAFETY: g < 8, and a row has 8 times 8 entries of two bytes.
                let entries = unsafe { _mm_loadu_si128(row.as_ptr().add(8 * g).cast()) };
                let entries = _mm512_cvtepu16_epi64(entries);
                *low = _mm512_madd52lo_epu64(*low, entries, weight_low);
                *high = _mm512_madd52lo_epu64(*high, entries, weight_high);
            }
        }
        store(&low, &mut sums.low);
        store(&high, &mut sums.high);
    }

    /// Four lanes a register, sixteen columns at a time.
    #[target_feature(enable = "avx2")]
    pub(super) fn add_weighted_avx2(rows: &[[u16; LANES]], weights: &[[u32; 2]], sums: &mut Sums) {
        for from in (0..LANES).step_by(16) {
            let mut low = [_mm256_setzero_si256(); 4];
            let mut high = low;
            for (row, &[weight_low, weight_high]) in rows.iter().zip(weights) {
                let weight_low = _mm256_set1_epi64x(i64::from(weight_low));
                let weight_high = _mm256_set1_epi64x(i64::from(weight_high));
                for (g, (low, high)) in low.iter_mut().zip(&mut high).enumerate() {
                    // SAFETY: from + 4 g + 4 <= 64, the entries of a row.
                    let entries = unsafe { _mm_loadl_epi64(row.as_ptr().add(from + 4 * g).cast()) };
                    let entries = _mm256_cvtepu16_epi64(entries);
                    *low = _mm256_add_epi64(*low, _mm256_mul_epu32(entries, weight_low));
                    *high = _mm256_add_epi64(*high, _mm256_mul_epu32(entries, weight_high));
                }
            }
            for (sums, added) in [(&mut sums.low, low), (&mut sums.high, high)] {
                for (sums, added) in sums[from..from + 16].chunks_exact_mut(4).zip(added) {
                    // SAFETY: a chunk has four words of eight bytes.
                    unsafe {
                        let sum = _mm256_add_epi64(_mm256_loadu_si256(sums.as_ptr().cast()), added);
                        _mm256_storeu_si256(sums.as_mut_ptr().cast(), sum);
                    }
                }
            }
        }
    }

    /// The caller checks that all factors lie within `factors`.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512ifma")]
    pub(super) fn add_products_ifma(
        rows: &[[u64; LANES]],
        factors: &[u64],
        starts: &[u32],
        from: usize,
        sums: &mut Sums,
    ) {
        let (mut low, mut high) = (load(&sums.low), load(&sums.high));
        for (row, &start) in rows.iter().zip(starts) {
            prefetch(row, AHEAD);
            let factors = &factors[start as usize + from..][..LANES];
            for (g, (low, high)) in low.iter_mut().zip(&mut high).enumerate() {
                // SAFETY: g < 8; both slices have 8 times 8 words.
                let (entries, factors) = unsafe {
                    (
                        _mm512_loadu_si512(row.as_ptr().add(8 * g).cast()),
                        _mm512_loadu_si512(factors.as_ptr().add(8 * g).cast()),
                    )
                };
                *low = _mm512_madd52lo_epu64(*low, entries, factors);
                *high = _mm512_madd52hi_epu64(*high, entries, factors);
            }
        }
        store(&low, &mut sums.low);
        store(&high, &mut sums.high);
    }

    /// Asks for what lies some bytes behind the start of a row, as long as a row: the machine itself
    /// stops at the ends of pages.
    #[inline(always)]
    fn prefetch<T>(row: &[T; LANES], ahead: usize) {
        let start = row.as_ptr().cast::<i8>().wrapping_add(ahead);
        for line in (0..size_of::<[T; LANES]>()).step_by(64) {
            // SAFETY: a prefetch reads nothing, whatever the address.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(line)) };
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn load(words: &[u64; LANES]) -> [__m512i; 8] {
        // SAFETY: eight times eight words.
        std::array::from_fn(|g| unsafe { _mm512_loadu_si512(words.as_ptr().add(8 * g).cast()) })
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn store(registers: &[__m512i; 8], words: &mut [u64; LANES]) {
        for (g, &register) in registers.iter().enumerate() {
            // SAFETY: eight times eight words.
            unsafe { _mm512_storeu_si512(words.as_mut_ptr().add(8 * g).cast(), register) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{on_every_backend, words};

    #[test]
    fn weighted_sums_are_those_of_whole_numbers() {
        for count in [0usize, 1, 2, 7, 100] {
            let draw = words(count as u64, count * LANES);
            let mut rows: Vec<[u16; LANES]> =
                draw.chunks_exact(LANES).map(|row| std::array::from_fn(|i| row[i] as u16)).collect();
            let mut weights: Vec<u64> = words(9, count).iter().map(|&w| w as u64 >> 14).collect();
            if let (Some(row), Some(weight)) = (rows.first_mut(), weights.first_mut()) {
                (*row, *weight) = ([u16::MAX; LANES], (1 << 50) - 1);
            }
            let split: Vec<[u32; 2]> = weights.iter().map(|&weight| halves(weight)).collect();
            let sums = on_every_backend(|| {
                let mut sums = Sums::default();
                // In two parts: sums add up.
                let (first, second) = rows.split_at(count / 2);
                add_weighted(first, &split[..count / 2], &mut sums);
                add_weighted(second, &split[count / 2..], &mut sums);
                sums
            });
            for (i, total) in sums.totals(WEIGHT_HALF).enumerate() {
                let expected: u128 =
                    rows.iter().zip(&weights).map(|(row, &w)| u128::from(row[i]) * u128::from(w)).sum();
                assert_eq!(total, expected, "column {i} of {count} rows");
            }
        }
    }

    #[test]
    fn sums_of_products_are_those_of_whole_numbers() {
        for count in [0usize, 1, 5, MOST_PRODUCTS] {
            // The largest words where rows are most.
            let largest = (1 << PRODUCT_HALF) - 1;
            let word = |w: u128| if count == MOST_PRODUCTS { largest } else { w as u64 & largest };
            let rows: Vec<[u64; LANES]> = words(count as u64, count * LANES)
                .chunks_exact(LANES)
                .map(|row| std::array::from_fn(|i| word(row[i])))
                .collect();
            let factors: Vec<u64> = words(3, 300).iter().map(|&w| word(w)).collect();
            let starts: Vec<u32> = words(4, count).iter().map(|&w| (w % 229) as u32).collect();
            let sums = on_every_backend(|| {
                let mut sums = Sums::default();
                add_products(&rows, &factors, &starts, 8, &mut sums);
                sums
            });
            for (i, total) in sums.totals(PRODUCT_HALF).enumerate() {
                let products = rows
                    .iter()
                    .zip(&starts)
                    .map(|(row, &start)| u128::from(row[i]) * u128::from(factors[start as usize + 8 + i]));
                assert_eq!(total, products.sum::<u128>(), "lane {i} of {count} rows");
            }
        }
    }

    #[test]
    #[should_panic(expected = "the factors of a row")]
    fn a_start_beyond_the_factors_is_refused() {
        add_products(&[[0; LANES]; 2], &[0; 2 * LANES], &[0, 65], 0, &mut Sums::default());
    }
}
