//! Exclusive or of one slice into another: addition of vectors in characteristic two.

use std::ops::BitXorAssign;

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
}
