//! Exclusive or of one slice into another, and of rows into each other: addition of vectors in characteristic two.

use std::ops::BitXorAssign;

#[cfg(target_arch = "x86_64")]
use bytemuck::{must_cast, must_cast_mut, must_cast_ref};

use crate::dispatch::{backend, dispatch};

/// `acc[i] ^= x[i]`.
///
/// # Panics
/// If the lengths differ.
pub fn xor_into(acc: &mut [u128], x: &[u128]) {
    assert_eq!(acc.len(), x.len(), "xor_into takes slices of one length");
    dispatch!(
        backend(),
        portable: portable(acc, x),
        avx2: avx2(acc, x),
        avx512: avx512(acc, x),
    );
}

/// `acc[i] ^= x[i]` over 64-bit words.
///
/// # Panics
/// If the lengths differ.
pub fn xor_into_u64(acc: &mut [u64], x: &[u64]) {
    assert_eq!(acc.len(), x.len(), "xor_into_u64 takes slices of one length");
    dispatch!(
        backend(),
        portable: portable(acc, x),
        avx2: avx2(acc, x),
        avx512: avx512(acc, x),
    );
}

/// With rows of `sum.len()` blocks: adds each row of `upper` to the row of `lower` at its place, and to `sum`.
///
/// # Panics
/// If `lower` and `upper` have other lengths, or are no whole rows.
pub fn fold_rows(lower: &mut [u128], upper: &[u128], sum: &mut [u128]) {
    assert_eq!(lower.len(), upper.len(), "fold_rows takes as many rows below as above");
    if upper.is_empty() {
        return;
    }
    assert_eq!(upper.len() % sum.len(), 0, "fold_rows takes whole rows");
    dispatch!(
        backend(),
        portable: fold_rest(lower, upper, sum, 0),
        avx2: fold_rows_avx2(lower, upper, sum),
        avx512: fold_rows_avx512(lower, upper, sum),
    );
}

/// [`fold_rows`], and what its twins leave of a row: the columns from `from` on.
fn fold_rest(lower: &mut [u128], upper: &[u128], sum: &mut [u128], from: usize) {
    let row = sum.len();
    if from < row {
        for (lower, upper) in lower.chunks_exact_mut(row).zip(upper.chunks_exact(row)) {
            portable(&mut sum[from..], &upper[from..]);
            portable(&mut lower[from..], &upper[from..]);
        }
    }
}

/// A twin of [`fold_rows`] that goes down a stripe of columns with the stripe's sum in four registers.
macro_rules! fold_rows_twin {
    ($name:ident, $features:literal, $vector:ident, $xor:ident) => {
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = $features)]
        fn $name(lower: &mut [u128], upper: &[u128], sum: &mut [u128]) {
            use std::arch::x86_64::{$vector, $xor};
            const LANES: usize = size_of::<$vector>() / size_of::<u128>();
            const STRIPE: usize = 4 * LANES;
            type Stripe = [[u128; LANES]; 4];

            let row = sum.len();
            let whole = row - row % STRIPE;
            for at in (0..whole).step_by(STRIPE) {
                let stripe =
                    |row: &[u128]| row[at..].first_chunk().map(must_cast_ref::<[u128; STRIPE], Stripe>).copied();
                let mut total = stripe(sum).expect("a whole stripe").map(must_cast::<_, $vector>);
                for (lower, upper) in lower.chunks_exact_mut(row).zip(upper.chunks_exact(row)) {
                    let lower: &mut [u128; STRIPE] = lower[at..].first_chunk_mut().expect("a whole stripe");
                    let lower: &mut Stripe = must_cast_mut(lower);
                    let upper = stripe(upper).expect("a whole stripe");
                    for i in 0..4 {
                        let upper = must_cast(upper[i]);
                        total[i] = $xor(total[i], upper);
                        lower[i] = must_cast($xor(must_cast(lower[i]), upper));
                    }
                }
                sum[at..at + STRIPE].copy_from_slice(must_cast_ref::<Stripe, [u128; STRIPE]>(&total.map(must_cast)));
            }
            fold_rest(lower, upper, sum, whole);
        }
    };
}

fold_rows_twin!(fold_rows_avx2, "avx2", __m256i, _mm256_xor_si256);
fold_rows_twin!(fold_rows_avx512, "avx512f", __m512i, _mm512_xor_si512);

/// The loop itself: inlined into each twin, where the compiler turns it into that feature's
/// vectors.
#[inline(always)]
fn portable<T: Copy + BitXorAssign>(acc: &mut [T], x: &[T]) {
    for (acc, &x) in acc.iter_mut().zip(x) {
        *acc ^= x;
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2<T: Copy + BitXorAssign>(acc: &mut [T], x: &[T]) {
    portable(acc, x);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl")]
fn avx512<T: Copy + BitXorAssign>(acc: &mut [T], x: &[T]) {
    portable(acc, x);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{lengths, on_every_backend, words};

    #[test]
    fn backends_agree_at_every_length() {
        for len in lengths() {
            let (acc, x) = (words(1, len), words(2, len));
            let sum = on_every_backend(|| {
                let mut acc = acc.clone();
                xor_into(&mut acc, &x);
                acc
            });
            assert_eq!(sum, acc.iter().zip(&x).map(|(a, x)| a ^ x).collect::<Vec<_>>());

            let low = |words: &[u128]| words.iter().map(|&word| word as u64).collect::<Vec<_>>();
            let (acc, x) = (low(&acc), low(&x));
            let sum_u64 = on_every_backend(|| {
                let mut acc = acc.clone();
                xor_into_u64(&mut acc, &x);
                acc
            });
            assert_eq!(sum_u64, low(&sum));
        }
    }

    #[test]
    fn rows_fold_alike_on_every_backend() {
        for (rows, row) in [(0, 3), (1, 1), (2, 7), (4, 8), (3, 16), (5, 19), (128, 16)] {
            let (lower, upper, sum) = (words(1, rows * row), words(2, rows * row), words(3, row));
            let folded = on_every_backend(|| {
                let (mut lower, mut sum) = (lower.clone(), sum.clone());
                fold_rows(&mut lower, &upper, &mut sum);
                (lower, sum)
            });
            let column = |at: usize| (0..rows).fold(sum[at], |sum, r| sum ^ upper[r * row + at]);
            assert_eq!(folded.0, lower.iter().zip(&upper).map(|(a, x)| a ^ x).collect::<Vec<_>>());
            assert_eq!(folded.1, (0..row).map(column).collect::<Vec<_>>(), "{rows} rows of {row}");
        }
    }
}
