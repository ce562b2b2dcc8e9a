//! The PCLMULQDQ twin: two elements to a 128-bit register.

use std::arch::x86_64::*;

use bytemuck::must_cast;

use super::matrix::{LANES, Matrix, Row};
use crate::clmul::pclmul::{HIGH_HIGH, HIGH_LOW, LOW_HIGH, LOW_LOW, gf64_mul, reduce_pair};
use crate::clmul::tower::reduce;

/// Two products.
#[inline]
#[target_feature(enable = "pclmulqdq,avx2")]
fn products(x: __m128i, y: __m128i) -> __m128i {
    reduce_pair(_mm_clmulepi64_si128::<LOW_LOW>(x, y), _mm_clmulepi64_si128::<HIGH_HIGH>(x, y))
}

/// Two products with the low half of `w`.
#[inline]
#[target_feature(enable = "pclmulqdq,avx2")]
fn scaled(x: __m128i, w: __m128i) -> __m128i {
    reduce_pair(_mm_clmulepi64_si128::<LOW_LOW>(x, w), _mm_clmulepi64_si128::<HIGH_LOW>(x, w))
}

#[target_feature(enable = "pclmulqdq,avx2")]
pub(super) fn multiply_add(x: &[u64], y: &[u64], c: u64, out: &mut [u64]) {
    let both = _mm_set1_epi64x(c as i64);
    let ((x, x_last), (y, y_last), (out, out_last)) =
        (x.as_chunks::<2>(), y.as_chunks::<2>(), out.as_chunks_mut::<2>());
    for ((&x, &y), out) in x.iter().zip(y).zip(out) {
        *out = must_cast(_mm_xor_si128(products(must_cast(x), must_cast(y)), both));
    }
    if let ([x], [y], [out]) = (x_last, y_last, out_last) {
        *out = gf64_mul(*x, *y) ^ c;
    }
}

#[target_feature(enable = "pclmulqdq,avx2")]
pub(super) fn multiply_into(x: &mut [u64], y: &[u64], c: u64) {
    let both = _mm_set1_epi64x(c as i64);
    let ((x, x_last), (y, y_last)) = (x.as_chunks_mut::<2>(), y.as_chunks::<2>());
    for (x, &y) in x.iter_mut().zip(y) {
        *x = must_cast(products(_mm_xor_si128(must_cast(*x), both), must_cast(y)));
    }
    if let ([x], [y]) = (x_last, y_last) {
        *x = gf64_mul(*x ^ c, *y);
    }
}

#[target_feature(enable = "pclmulqdq,avx2")]
pub(super) fn scale_add(acc: &mut [u64], factor: u64, x: &[u64]) {
    let w = _mm_cvtsi64_si128(factor as i64);
    let ((acc, acc_last), (x, x_last)) = (acc.as_chunks_mut::<2>(), x.as_chunks::<2>());
    for (acc, &x) in acc.iter_mut().zip(x) {
        *acc = must_cast(_mm_xor_si128(must_cast(*acc), scaled(must_cast(x), w)));
    }
    if let ([acc], [x]) = (acc_last, x_last) {
        *acc ^= gf64_mul(*x, factor);
    }
}

#[target_feature(enable = "pclmulqdq,avx2")]
pub(super) fn add_products(factors: [&[u64]; 4], out: &mut [u64]) {
    let [a, b, c, d] = factors.map(|x| x.as_chunks::<2>().0);
    let (pairs, last) = out.as_chunks_mut::<2>();
    for ((((&a, &b), &c), &d), out) in a.iter().zip(b).zip(c).zip(d).zip(pairs) {
        let [a, b, c, d]: [__m128i; 4] = [must_cast(a), must_cast(b), must_cast(c), must_cast(d)];
        let low = _mm_xor_si128(_mm_clmulepi64_si128::<LOW_LOW>(a, b), _mm_clmulepi64_si128::<LOW_LOW>(c, d));
        let high = _mm_xor_si128(_mm_clmulepi64_si128::<HIGH_HIGH>(a, b), _mm_clmulepi64_si128::<HIGH_HIGH>(c, d));
        *out = must_cast(reduce_pair(low, high));
    }
    if let ([out], [Some(&a), Some(&b), Some(&c), Some(&d)]) = (last, factors.map(<[u64]>::last)) {
        *out = gf64_mul(a, b) ^ gf64_mul(c, d);
    }
}

#[target_feature(enable = "pclmulqdq,avx2")]
pub(super) fn combine(factors: Matrix<'_>, rows: &[Row], out: &mut [Row]) {
    for (r, out) in out.iter_mut().enumerate() {
        let mut sums = [_mm_setzero_si128(); LANES];
        for (i, &row) in rows.iter().enumerate() {
            let w: __m128i = must_cast([factors.elements[r * factors.row + i * factors.column], 0]);
            let pairs: [__m128i; 4] = must_cast(row);
            for (lane, sum) in sums.iter_mut().enumerate() {
                let pair = pairs[lane / 2];
                let product = if lane % 2 == 0 {
                    _mm_clmulepi64_si128::<LOW_LOW>(w, pair)
                } else {
                    _mm_clmulepi64_si128::<LOW_HIGH>(w, pair)
                };
                *sum = _mm_xor_si128(*sum, product);
            }
        }
        *out = Row::default();
        for (out, sum) in out.iter_mut().zip(sums) {
            *out = reduce(must_cast(sum));
        }
    }
}

#[inline]
#[target_feature(enable = "pclmulqdq,avx2")]
fn after<const FORWARD: bool>(a: __m128i, b: __m128i, product: impl Fn(__m128i) -> __m128i) -> (__m128i, __m128i) {
    if FORWARD {
        let a = _mm_xor_si128(a, product(b));
        (a, _mm_xor_si128(b, a))
    } else {
        let b = _mm_xor_si128(b, a);
        (_mm_xor_si128(a, product(b)), b)
    }
}

/// See [`super::portable::halves`]; the halves are of an even length.
#[inline]
#[target_feature(enable = "pclmulqdq,avx2")]
pub(super) fn halves<const FORWARD: bool>(a: &mut [u64], b: &mut [u64], w: u64) {
    let w = _mm_cvtsi64_si128(w as i64);
    let ((a, _), (b, _)) = (a.as_chunks_mut::<2>(), b.as_chunks_mut::<2>());
    for (a, b) in a.iter_mut().zip(b) {
        let (new_a, new_b) = after::<FORWARD>(must_cast(*a), must_cast(*b), |x| scaled(x, w));
        (*a, *b) = (must_cast(new_a), must_cast(new_b));
    }
}

/// See [`super::portable::neighbours`].
#[inline]
#[target_feature(enable = "pclmulqdq,avx2")]
pub(super) fn neighbours<const FORWARD: bool>(x: &mut [u64], factors: &[u64], swapped: bool) {
    let (fours, rest) = x.as_chunks_mut::<4>();
    let mask = factors.len() - 1;
    for (i, four) in fours.iter_mut().enumerate() {
        let [first, second]: [__m128i; 2] = must_cast(*four);
        let w: __m128i = must_cast([factors[(2 * i) & mask], factors[(2 * i + 1) & mask]]);
        let (even, odd) = (_mm_unpacklo_epi64(first, second), _mm_unpackhi_epi64(first, second));
        let (even, odd) = if swapped {
            let (odd, even) = after::<FORWARD>(odd, even, |x| products(x, w));
            (even, odd)
        } else {
            after::<FORWARD>(even, odd, |x| products(x, w))
        };
        *four = must_cast([_mm_unpacklo_epi64(even, odd), _mm_unpackhi_epi64(even, odd)]);
    }
    // An odd number of pairs is one pair.
    super::portable::neighbours::<FORWARD>(rest, &factors[..1], swapped);
}
