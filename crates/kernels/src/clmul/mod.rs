//! Multiplication in `B = GF(2^64)` and in its tower `F = GF(2^128)`, one at a time and in bulk.
//!
//! `B = GF(2)[x] / (x^64 + x^4 + x^3 + x + 1)`: bit `i` of a `u64` is the coefficient of `x^i`.
//!
//! `F = B[Y] / (Y^2 + Y + theta)` with `theta = x^61`: the low 64 bits of a `u128` are the
//! coefficient of 1, the high 64 bits that of `Y`, so that `B` is the subfield of the elements
//! without a high half. `Y^2 + Y + theta` is irreducible over `B` exactly when `theta` has
//! trace 1 (Hilbert's theorem 90 in its additive form); `x^61` is the lowest power of `x` that has.
//!
//! Every kernel runs in time that depends on lengths only. (The portable twin multiplies machine
//! words, which takes constant time on all common 64-bit processors.)

#[cfg(target_arch = "x86_64")]
pub(crate) mod pclmul;
pub(crate) mod portable;
#[cfg(test)]
mod tests;
pub(crate) mod tower;
#[cfg(target_arch = "x86_64")]
mod vpclmul;

use self::tower::{Scale, join};
use crate::dispatch::{backend, dispatch};

/// `a * b` in `B = GF(2^64)`.
#[inline]
pub fn gf64_mul(a: u64, b: u64) -> u64 {
    dispatch!(
        backend(),
        portable: portable::gf64_mul(a, b),
        avx2: pclmul::gf64_mul(a, b),
    )
}

/// `a * b` in `F = GF(2^128)`.
#[inline]
pub fn gf128_mul(a: u128, b: u128) -> u128 {
    dispatch!(
        backend(),
        portable: portable::gf128_mul(a, b),
        avx2: pclmul::gf128_mul(a, b),
    )
}

/// `a * b` for `a` in `F` and `b` in its subfield `B`.
#[inline]
pub fn gf128_mul_gf64(a: u128, b: u64) -> u128 {
    let low = gf64_mul(a as u64, b);
    let high = gf64_mul((a >> 64) as u64, b);
    u128::from(low) | u128::from(high) << 64
}

/// `acc[i] += delta * x[i]` in `F`.
///
/// # Panics
/// If the lengths differ.
pub fn gf128_scale_add(acc: &mut [u128], delta: u128, x: &[u128]) {
    assert_eq!(acc.len(), x.len(), "gf128_scale_add takes slices of one length");
    let scale = Scale::new(delta);
    dispatch!(
        backend(),
        portable: portable::scale_add(acc, scale, x),
        avx2: pclmul::scale_add(acc, scale, x),
        vaes: vpclmul::scale_add(acc, scale, x),
    );
}

/// `acc[i] += delta * x[i]` for `delta` in `F` and `x[i]` in `B`.
///
/// # Panics
/// If the lengths differ.
pub fn gf128_scale_add_gf64(acc: &mut [u128], delta: u128, x: &[u64]) {
    assert_eq!(acc.len(), x.len(), "gf128_scale_add_gf64 takes slices of one length");
    dispatch!(
        backend(),
        portable: portable::scale_add_gf64(acc, delta, x),
        avx2: pclmul::scale_add_gf64(acc, delta, x),
        vaes: vpclmul::scale_add_gf64(acc, delta, x),
    );
}

/// The sum of `a[i] * b[i]` in `F`, reduced once at the end.
///
/// # Panics
/// If the lengths differ.
pub fn gf128_inner_product(a: &[u128], b: &[u128]) -> u128 {
    assert_eq!(a.len(), b.len(), "gf128_inner_product takes slices of one length");
    let [low, high, cross] = dispatch!(
        backend(),
        portable: portable::inner_products(a, b),
        avx2: pclmul::inner_products(a, b),
        vaes: vpclmul::inner_products(a, b),
    );
    join(low, high, cross)
}

/// `out[i] = x^(i + 1)` in `F`: `x, x^2, x^3, ...`
pub fn gf128_powers(x: u128, out: &mut [u128]) {
    /// Powers made from the powers before them at a time: they stay in the first-level cache.
    const STRIDE: usize = 512;

    out.fill(0);
    let Some(first) = out.first_mut() else { return };
    *first = x;
    let mut done = 1;
    while done < out.len() {
        let stride = done.min(STRIDE);
        let factor = out[stride - 1];
        let (before, after) = out.split_at_mut(done);
        let count = stride.min(after.len());
        gf128_scale_add(&mut after[..count], factor, &before[done - stride..][..count]);
        done += count;
    }
}
