//! The VPCLMULQDQ twin: four elements to a 512-bit register.

use std::arch::x86_64::*;

use bytemuck::must_cast;

use super::tower::Scale;

/// `a.low * b.low`, and so on: the halves that `_mm512_clmulepi64_epi128` takes of each 128 bits.
const LOW_LOW: i32 = 0x00;
const HIGH_LOW: i32 = 0x01;
const HIGH_HIGH: i32 = 0x11;

/// The truth table of the xor of three.
const XOR3: i32 = 0x96;

/// Four times two products reduced as [`super::tower::reduce`] does, into the coefficients of 1 and `Y`,
/// and added to `acc`.
#[inline]
#[target_feature(enable = "vpclmulqdq,avx512f,avx512bw,avx512vl,avx512dq")]
fn add_reduced(acc: __m512i, one: __m512i, y: __m512i) -> __m512i {
    let low = _mm512_xor_si512(acc, _mm512_unpacklo_epi64(one, y));
    let high = _mm512_unpackhi_epi64(one, y);
    let (over0, over1) = (_mm512_srli_epi64::<60>(high), _mm512_srli_epi64::<61>(high));
    let high = _mm512_ternarylogic_epi64::<XOR3>(high, over0, over1);
    let high = _mm512_xor_si512(high, _mm512_slli_epi64::<1>(high));
    _mm512_ternarylogic_epi64::<XOR3>(low, high, _mm512_slli_epi64::<3>(high))
}

/// The elements of `x`, four to a register, the rest followed by zeros.
macro_rules! padded {
    ($tail:expr) => {{
        let mut padded = [0; 4];
        padded[..$tail.len()].copy_from_slice($tail);
        padded
    }};
}

#[inline]
#[target_feature(enable = "vpclmulqdq,avx512f,avx512bw,avx512vl,avx512dq")]
fn scale_add_4(acc: &mut [u128; 4], ones: __m512i, ys: __m512i, x: &[u128; 4]) {
    let x: __m512i = must_cast(*x);
    let one =
        _mm512_xor_si512(_mm512_clmulepi64_epi128::<LOW_LOW>(ones, x), _mm512_clmulepi64_epi128::<HIGH_HIGH>(ones, x));
    let y = _mm512_xor_si512(_mm512_clmulepi64_epi128::<LOW_LOW>(ys, x), _mm512_clmulepi64_epi128::<HIGH_HIGH>(ys, x));
    *acc = must_cast(add_reduced(must_cast(*acc), one, y));
}

#[target_feature(enable = "vpclmulqdq,avx512f,avx512bw,avx512vl,avx512dq")]
pub(super) fn scale_add(acc: &mut [u128], scale: Scale, x: &[u128]) {
    let ones = _mm512_broadcast_i32x4(must_cast(scale.ones));
    let ys = _mm512_broadcast_i32x4(must_cast(scale.ys));
    let (x, x_tail) = x.as_chunks::<4>();
    let (acc, acc_tail) = acc.as_chunks_mut::<4>();
    for (acc, x) in acc.iter_mut().zip(x) {
        scale_add_4(acc, ones, ys, x);
    }
    if !x_tail.is_empty() {
        let mut padded = padded!(acc_tail);
        scale_add_4(&mut padded, ones, ys, &padded!(x_tail));
        acc_tail.copy_from_slice(&padded[..acc_tail.len()]);
    }
}

#[inline]
#[target_feature(enable = "vpclmulqdq,avx512f,avx512bw,avx512vl,avx512dq")]
fn scale_add_gf64_4(acc: &mut [u128; 4], delta: __m512i, x: &[u64; 4]) {
    // Each element in the low half of its 128 bits; what is in the high half is not multiplied.
    let x = _mm512_permutexvar_epi64(_mm512_set_epi64(3, 3, 2, 2, 1, 1, 0, 0), _mm512_castsi256_si512(must_cast(*x)));
    let one = _mm512_clmulepi64_epi128::<LOW_LOW>(delta, x);
    let y = _mm512_clmulepi64_epi128::<HIGH_LOW>(delta, x);
    *acc = must_cast(add_reduced(must_cast(*acc), one, y));
}

#[target_feature(enable = "vpclmulqdq,avx512f,avx512bw,avx512vl,avx512dq")]
pub(super) fn scale_add_gf64(acc: &mut [u128], delta: u128, x: &[u64]) {
    let delta = _mm512_broadcast_i32x4(must_cast(delta));
    let (x, x_tail) = x.as_chunks::<4>();
    let (acc, acc_tail) = acc.as_chunks_mut::<4>();
    for (acc, x) in acc.iter_mut().zip(x) {
        scale_add_gf64_4(acc, delta, x);
    }
    if !x_tail.is_empty() {
        let mut padded = padded!(acc_tail);
        scale_add_gf64_4(&mut padded, delta, &padded!(x_tail));
        acc_tail.copy_from_slice(&padded[..acc_tail.len()]);
    }
}

#[inline]
#[target_feature(enable = "vpclmulqdq,avx512f,avx512bw,avx512vl,avx512dq")]
fn add_products(sums: &mut [__m512i; 3], a: &[u128; 4], b: &[u128; 4]) {
    let (a, b): (__m512i, __m512i) = (must_cast(*a), must_cast(*b));
    let a_sum = _mm512_xor_si512(a, _mm512_unpackhi_epi64(a, a));
    let b_sum = _mm512_xor_si512(b, _mm512_unpackhi_epi64(b, b));
    let products = [
        _mm512_clmulepi64_epi128::<LOW_LOW>(a, b),
        _mm512_clmulepi64_epi128::<HIGH_HIGH>(a, b),
        _mm512_clmulepi64_epi128::<LOW_LOW>(a_sum, b_sum),
    ];
    for (sum, product) in sums.iter_mut().zip(products) {
        *sum = _mm512_xor_si512(*sum, product);
    }
}

#[target_feature(enable = "vpclmulqdq,avx512f,avx512bw,avx512vl,avx512dq")]
pub(super) fn inner_products(a: &[u128], b: &[u128]) -> [u128; 3] {
    let mut sums = [_mm512_setzero_si512(); 3];
    let (a, a_tail) = a.as_chunks::<4>();
    let (b, b_tail) = b.as_chunks::<4>();
    for (a, b) in a.iter().zip(b) {
        add_products(&mut sums, a, b);
    }
    if !a_tail.is_empty() {
        add_products(&mut sums, &padded!(a_tail), &padded!(b_tail));
    }
    let sums: [[u128; 4]; 3] = must_cast(sums);
    sums.map(|sum| sum.into_iter().fold(0, |sum, lane| sum ^ lane))
}
