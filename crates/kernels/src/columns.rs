//! Sums of rows of a matrix, each times a word, for [`LANES`] columns at a time: what the server of
//! a private look-up spends its time on (`structures::pir`).
//!
//! A matrix is kept block by block: all rows of the first [`LANES`] columns, then all rows of the
//! next, so that a block is read from its start to its end.

#[cfg(target_arch = "x86_64")]
use crate::dispatch::{Backend, backend};

/// Columns of a block.
pub const LANES: usize = 64;

/// Rows of a matrix of small entries that lie together.
pub const ROWS_TOGETHER: usize = 4;

/// The entries of [`ROWS_TOGETHER`] rows in the columns of a block, column by column.
pub type Entries = [[i8; ROWS_TOGETHER]; LANES];

/// Bits of a digit of a weight.
const DIGIT_BITS: u32 = 7;

/// Digits of a weight.
const DIGITS: usize = 4;

/// Most bits of a weight in [`add_weighted`].
pub const MOST_WEIGHT_BITS: u32 = DIGIT_BITS * DIGITS as u32;

/// The weights of [`ROWS_TOGETHER`] rows, by digits: the low digit of each row first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weights([[u8; ROWS_TOGETHER]; DIGITS]);

impl Weights {
    /// Weights below `2^MOST_WEIGHT_BITS`; further bits are dropped.
    pub fn new(weights: [u32; ROWS_TOGETHER]) -> Self {
        let digit =
            |i: usize| weights.map(|weight| (weight >> (DIGIT_BITS as usize * i)) as u8 & ((1 << DIGIT_BITS) - 1));
        Self(std::array::from_fn(digit))
    }
}

/// Sums of one block's columns in [`add_weighted`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeightedSums {
    /// For each digit of the weights, the sums modulo `2^32`.
    by_digit: [[u32; LANES]; DIGITS],
}

impl Default for WeightedSums {
    fn default() -> Self {
        Self { by_digit: [[0; LANES]; DIGITS] }
    }
}

impl WeightedSums {
    /// The sums modulo `2^32`.
    pub fn totals(&self) -> impl Iterator<Item = u32> + '_ {
        (0..LANES).map(|i| {
            let high_digit_first = self.by_digit.iter().rev();
            high_digit_first.fold(0, |total: u32, sums| (total << DIGIT_BITS).wrapping_add(sums[i]))
        })
    }
}

/// Bits of the low part of a product in [`add_products`].
pub const PRODUCT_HALF: u32 = 52;

/// Rows that one [`Sums`] can take in [`add_products`].
pub const MOST_PRODUCTS: usize = 1 << 12;

/// Sums of one block's columns in [`add_products`], unreduced, in two halves: `low[i] +
/// 2^PRODUCT_HALF high[i]`.
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
    /// The sums.
    pub fn totals(&self) -> impl Iterator<Item = u128> + '_ {
        self.low.iter().zip(&self.high).map(move |(&low, &high)| u128::from(low) + (u128::from(high) << PRODUCT_HALF))
    }
}

/// `sums[i] += rows[r][i] * weights[r]` for all rows, modulo `2^32`.
///
/// # Panics
/// If there are not as many weights as rows.
pub fn add_weighted(rows: &[Entries], weights: &[Weights], sums: &mut WeightedSums) {
    assert!(rows.len() == weights.len(), "one weight a row");
    #[cfg(target_arch = "x86_64")]
    {
        let backend = backend();
        if backend >= Backend::Avx512 && has_vnni() {
            // SAFETY: the machine has AVX-512 F and BW (by the backend) and VNNI.
            return unsafe { x86::add_weighted_vnni(rows, weights, sums) };
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

/// Whether the machine multiplies bytes and adds up four products to a lane.
#[cfg(target_arch = "x86_64")]
fn has_vnni() -> bool {
    std::arch::is_x86_feature_detected!("avx512vnni")
}

fn add_weighted_portable(rows: &[Entries], weights: &[Weights], sums: &mut WeightedSums) {
    for (row, weights) in rows.iter().zip(weights) {
        for (digits, sums) in weights.0.iter().zip(&mut sums.by_digit) {
            for (entries, sum) in row.iter().zip(sums) {
                let products = entries.iter().zip(digits).map(|(&entry, &digit)| i32::from(entry) * i32::from(digit));
                *sum = sum.wrapping_add(products.sum::<i32>() as u32);
            }
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

    use super::{DIGITS, Entries, LANES, Sums, WeightedSums, Weights};

    /// Bytes between what is read and what is asked for.
    const AHEAD: usize = 16 << 10;

    /// Sixteen lanes a register: the sums of a block, for all digits, stay in sixteen of them.
    #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
    pub(super) fn add_weighted_vnni(rows: &[Entries], weights: &[Weights], sums: &mut WeightedSums) {
        let mut held: [[__m512i; 4]; DIGITS] = std::array::from_fn(|digit| {
            // SAFETY: g < 4, and there are 4 times 16 sums of four bytes.
            std::array::from_fn(|g| unsafe { _mm512_loadu_si512(sums.by_digit[digit].as_ptr().add(16 * g).cast()) })
        });
        for (row, weights) in rows.iter().zip(weights) {
            prefetch(row, AHEAD);
            // SAFETY: g < 4, and a row has 4 times 16 times four bytes.
            let entries: [_; 4] =
                std::array::from_fn(|g| unsafe { _mm512_loadu_si512(row.as_ptr().add(16 * g).cast()) });
            for (&digits, held) in weights.0.iter().zip(&mut held) {
                let digits = _mm512_set1_epi32(i32::from_le_bytes(digits));
                for (&entries, held) in entries.iter().zip(held) {
                    // Digits are unsigned bytes, and entries signed ones.
                    *held = _mm512_dpbusd_epi32(*held, digits, entries);
                }
            }
        }
        for (held, sums) in held.iter().zip(&mut sums.by_digit) {
            for (g, &held) in held.iter().enumerate() {
                // SAFETY: as above.
                unsafe { _mm512_storeu_si512(sums.as_mut_ptr().add(16 * g).cast(), held) };
            }
        }
    }

    /// Eight lanes a register, sixteen columns at a time.
    #[target_feature(enable = "avx2")]
    pub(super) fn add_weighted_avx2(rows: &[Entries], weights: &[Weights], sums: &mut WeightedSums) {
        let ones = _mm256_set1_epi16(1);
        for from in (0..LANES).step_by(16) {
            let mut held = [[_mm256_setzero_si256(); 2]; DIGITS];
            for (row, weights) in rows.iter().zip(weights) {
                // SAFETY: from + 8 g + 8 <= 64, the columns of a row, of four bytes each.
                let entries: [_; 2] =
                    std::array::from_fn(|g| unsafe { _mm256_loadu_si256(row.as_ptr().add(from + 8 * g).cast()) });
                for (&digits, held) in weights.0.iter().zip(&mut held) {
                    let digits = _mm256_set1_epi32(i32::from_le_bytes(digits));
                    for (&entries, held) in entries.iter().zip(held) {
                        // Two products of a digit below 2^7 and an entry fit into 16 bits.
                        let pairs = _mm256_maddubs_epi16(digits, entries);
                        *held = _mm256_add_epi32(*held, _mm256_madd_epi16(pairs, ones));
                    }
                }
            }
            for (held, sums) in held.iter().zip(&mut sums.by_digit) {
                for (&held, sums) in held.iter().zip(sums[from..from + 16].chunks_exact_mut(8)) {
                    // SAFETY: a chunk has eight words of four bytes.
                    unsafe {
                        let sum = _mm256_add_epi32(_mm256_loadu_si256(sums.as_ptr().cast()), held);
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
            let mut draw =
                words(count as u64, count * LANES).into_iter().map(|w| (w as u32).to_le_bytes().map(|x| x as i8));
            let mut rows: Vec<Entries> = (0..count).map(|_| std::array::from_fn(|_| draw.next().unwrap())).collect();
            let mut weights: Vec<[u32; ROWS_TOGETHER]> =
                words(9, count).into_iter().map(|w| [0, 32, 64, 96].map(|from| (w >> from) as u32 >> 4)).collect();
            // The extremes of entries and weights meet in the first rows, and in a digit of the last.
            for (row, weights) in rows.iter_mut().zip(&mut weights).take(count / 2) {
                (row[3], row[17], *weights) = ([i8::MIN; 4], [i8::MAX; 4], [(1 << MOST_WEIGHT_BITS) - 1; 4]);
            }
            let split: Vec<Weights> = weights.iter().map(|&weights| Weights::new(weights)).collect();
            let sums = on_every_backend(|| {
                let mut sums = WeightedSums::default();
                // In two parts: sums add up.
                let (first, second) = rows.split_at(count / 2);
                add_weighted(first, &split[..count / 2], &mut sums);
                add_weighted(second, &split[count / 2..], &mut sums);
                sums
            });
            for (i, total) in sums.totals().enumerate() {
                let products = rows.iter().zip(&weights).flat_map(|(row, weights)| row[i].into_iter().zip(weights));
                let expected: i128 = products.map(|(entry, &weight)| i128::from(entry) * i128::from(weight)).sum();
                assert_eq!(total, expected as u32, "column {i} of {count} rows");
            }
        }
    }

    /// Sums of digits go round: more rows than their 32 bits can hold.
    #[test]
    fn weighted_sums_wrap() {
        let (count, weight) = (5000, (1 << MOST_WEIGHT_BITS) - 1);
        let sums = on_every_backend(|| {
            let mut sums = WeightedSums::default();
            for _ in 0..8 {
                add_weighted(&vec![[[i8::MIN; 4]; LANES]; count], &vec![Weights::new([weight; 4]); count], &mut sums);
            }
            sums
        });
        let expected = -128 * i128::from(weight) * 4 * 8 * count as i128;
        assert!(sums.totals().all(|total| total == expected as u32));
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
            for (i, total) in sums.totals().enumerate() {
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
