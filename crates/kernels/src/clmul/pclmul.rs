//! The PCLMULQDQ twin: one element to a 128-bit register.

use std::arch::x86_64::*;

use bytemuck::must_cast;

use super::tower::{Scale, join, reduce};

/// `a.low * b.low`, and so on: the halves that `_mm_clmulepi64_si128` takes.
pub(crate) const LOW_LOW: i32 = 0x00;
pub(crate) const LOW_HIGH: i32 = 0x10;
pub(crate) const HIGH_LOW: i32 = 0x01;
pub(crate) const HIGH_HIGH: i32 = 0x11;

#[inline]
#[target_feature(enable = "pclmulqdq,avx2")]
pub(crate) fn gf64_mul(a: u64, b: u64) -> u64 {
    let product = _mm_clmulepi64_si128::<LOW_LOW>(_mm_cvtsi64_si128(a as i64), _mm_cvtsi64_si128(b as i64));
    reduce(must_cast(product))
}

/// Karatsuba's three products: of the low halves, of the high halves, of the sums of the halves.
#[inline]
#[target_feature(enable = "pclmulqdq,avx2")]
fn products(a: __m128i, b: __m128i) -> [__m128i; 3] {
    let a_sum = _mm_xor_si128(a, _mm_unpackhi_epi64(a, a));
    let b_sum = _mm_xor_si128(b, _mm_unpackhi_epi64(b, b));
    [
        _mm_clmulepi64_si128::<LOW_LOW>(a, b),
        _mm_clmulepi64_si128::<HIGH_HIGH>(a, b),
        _mm_clmulepi64_si128::<LOW_LOW>(a_sum, b_sum),
    ]
}

#[target_feature(enable = "pclmulqdq,avx2")]
pub(super) fn gf128_mul(a: u128, b: u128) -> u128 {
    let [low, high, cross] = products(must_cast(a), must_cast(b));
    join(must_cast(low), must_cast(high), must_cast(cross))
}

/// Two products reduced as [`super::tower::reduce`] does, into the coefficients of 1 and `Y`.
#[inline]
#[target_feature(enable = "pclmulqdq,avx2")]
pub(crate) fn reduce_pair(one: __m128i, y: __m128i) -> __m128i {
    let low = _mm_unpacklo_epi64(one, y);
    let high = _mm_unpackhi_epi64(one, y);
    let over = _mm_xor_si128(_mm_srli_epi64::<60>(high), _mm_srli_epi64::<61>(high));
    let high = _mm_xor_si128(high, over);
    let high = _mm_xor_si128(high, _mm_slli_epi64::<1>(high));
    _mm_xor_si128(low, _mm_xor_si128(high, _mm_slli_epi64::<3>(high)))
}

#[target_feature(enable = "pclmulqdq,avx2")]
pub(super) fn scale_add(acc: &mut [u128], scale: Scale, x: &[u128]) {
    let (ones, ys): (__m128i, __m128i) = (must_cast(scale.ones), must_cast(scale.ys));
    for (acc, &x) in acc.iter_mut().zip(x) {
        let x: __m128i = must_cast(x);
        let one = _mm_xor_si128(_mm_clmulepi64_si128::<LOW_LOW>(ones, x), _mm_clmulepi64_si128::<HIGH_HIGH>(ones, x));
        let y = _mm_xor_si128(_mm_clmulepi64_si128::<LOW_LOW>(ys, x), _mm_clmulepi64_si128::<HIGH_HIGH>(ys, x));
        *acc = must_cast(_mm_xor_si128(must_cast(*acc), reduce_pair(one, y)));
    }
}

#[target_feature(enable = "pclmulqdq,avx2")]
pub(super) fn scale_add_gf64(acc: &mut [u128], delta: u128, x: &[u64]) {
    let delta: __m128i = must_cast(delta);
    let times = |x: __m128i, acc: &mut u128, high: bool| {
        let (one, y) = if high {
            (_mm_clmulepi64_si128::<LOW_HIGH>(delta, x), _mm_clmulepi64_si128::<HIGH_HIGH>(delta, x))
        } else {
            (_mm_clmulepi64_si128::<LOW_LOW>(delta, x), _mm_clmulepi64_si128::<HIGH_LOW>(delta, x))
        };
        *acc = must_cast(_mm_xor_si128(must_cast(*acc), reduce_pair(one, y)));
    };
    let (pairs, last) = x.as_chunks::<2>();
    let (acc_pairs, acc_last) = acc.as_chunks_mut::<2>();
    for ([acc0, acc1], &x) in acc_pairs.iter_mut().zip(pairs) {
        let x: __m128i = must_cast(x);
        times(x, acc0, false);
        times(x, acc1, true);
    }
    if let ([acc], [x]) = (acc_last, last) {
        times(_mm_cvtsi64_si128(*x as i64), acc, false);
    }
}

#[target_feature(enable = "pclmulqdq,avx2")]
pub(super) fn inner_products(a: &[u128], b: &[u128]) -> [u128; 3] {
    let mut sums = [_mm_setzero_si128(); 3];
    for (&a, &b) in a.iter().zip(b) {
        for (sum, product) in sums.iter_mut().zip(products(must_cast(a), must_cast(b))) {
            *sum = _mm_xor_si128(*sum, product);
        }
    }
    must_cast(sums)
}
