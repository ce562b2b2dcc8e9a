//! Residues element by element.

#[cfg(target_arch = "x86_64")]
use super::ifma::{self, has_ifma};
use super::modulus::{Factor, Modulus};
use super::portable;
use crate::dispatch::{backend, dispatch};

/// `x[i] += y[i]` for residues.
///
/// # Panics
/// If the lengths differ.
pub fn add(modulus: Modulus, x: &mut [u64], y: &[u64]) {
    assert_eq!(x.len(), y.len(), "add takes slices of one length");
    let sum = |x: &mut u64, y| *x = modulus.sum(*x, y);
    dispatch!(
        backend(),
        portable: each(x, y, sum),
        avx2: each_avx2(x, y, sum),
        avx512: each_avx512(x, y, sum),
    );
}

/// `x[i] -= y[i]` for residues.
///
/// # Panics
/// If the lengths differ.
pub fn subtract(modulus: Modulus, x: &mut [u64], y: &[u64]) {
    assert_eq!(x.len(), y.len(), "subtract takes slices of one length");
    let difference = |x: &mut u64, y| *x = modulus.difference(*x, y);
    dispatch!(
        backend(),
        portable: each(x, y, difference),
        avx2: each_avx2(x, y, difference),
        avx512: each_avx512(x, y, difference),
    );
}

/// `x[i] = (x[i] + above - y[i]) factor`, reduced, where `x[i] + above - y[i]` is to be between 0 and
/// `2^52`.
///
/// # Panics
/// If the lengths differ.
pub fn subtract_and_multiply(modulus: Modulus, x: &mut [u64], y: &[u64], above: u64, factor: Factor) {
    assert_eq!(x.len(), y.len(), "subtract_and_multiply takes slices of one length");
    #[cfg(target_arch = "x86_64")]
    if has_ifma(modulus) {
        // SAFETY: the twin is safe but for its target features, which `has_ifma` has found.
        return unsafe { ifma::subtract_and_multiply(modulus, x, y, above, factor) };
    }
    portable::subtract_and_multiply(modulus, x, y, above, factor);
}

/// Most rows of a [`weighted_sum`]: the high halves of so many products fit 52 bits together.
pub const MOST_ROWS: usize = 15;

/// `out[i]` = the sum of all `rows[k][i] * weights[k]`, reduced. Rows hold numbers of at most
/// [`NARROW_BITS`](Modulus::NARROW_BITS) bits, residues of whichever primes, and weights are residues.
///
/// # Panics
/// If the lengths differ, there are more than [`MOST_ROWS`] rows, or the prime is not narrow.
pub fn weighted_sum(modulus: Modulus, rows: &[&[u64]], weights: &[u64], out: &mut [u64]) {
    assert!(rows.len() == weights.len() && rows.len() <= MOST_ROWS, "a weight for each of at most 15 rows");
    assert!(rows.iter().all(|row| row.len() == out.len()), "weighted_sum takes slices of one length");
    assert!(modulus.p() >> Modulus::NARROW_BITS == 0, "a narrow prime");
    #[cfg(target_arch = "x86_64")]
    if has_ifma(modulus) {
        // SAFETY: the twin is safe but for its target features, which `has_ifma` has found.
        return unsafe { ifma::weighted_sum(modulus, rows, weights, out) };
    }
    portable::weighted_sum(modulus, rows, weights, 0, out);
}

/// `out[i]` = what those of `from[k][i]` have together whose mask is all ones: the others' are zero.
/// Time and the memory that is read do not depend on the masks.
///
/// # Panics
/// If the lengths differ.
pub fn choose<const N: usize>(from: &[&[u64]; N], masks: &[u64; N], out: &mut [u64]) {
    assert!(from.iter().all(|from| from.len() == out.len()), "choose takes slices of one length");
    dispatch!(
        backend(),
        portable: choose_portable(from, masks, out),
        avx2: choose_avx2(from, masks, out),
        avx512: choose_avx512(from, masks, out),
    );
}

/// The loop itself: inlined into each twin, where the compiler turns it into that feature's vectors.
#[inline(always)]
fn each(x: &mut [u64], y: &[u64], change: impl Fn(&mut u64, u64)) {
    x.iter_mut().zip(y).for_each(|(x, &y)| change(x, y));
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn each_avx2(x: &mut [u64], y: &[u64], change: impl Fn(&mut u64, u64)) {
    each(x, y, change);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl")]
fn each_avx512(x: &mut [u64], y: &[u64], change: impl Fn(&mut u64, u64)) {
    each(x, y, change);
}

#[inline(always)]
fn choose_portable<const N: usize>(from: &[&[u64]; N], masks: &[u64; N], out: &mut [u64]) {
    out.fill(0);
    for (from, &mask) in from.iter().zip(masks) {
        each(out, from, |out, x| *out |= x & mask);
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn choose_avx2<const N: usize>(from: &[&[u64]; N], masks: &[u64; N], out: &mut [u64]) {
    choose_portable(from, masks, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl")]
fn choose_avx512<const N: usize>(from: &[&[u64]; N], masks: &[u64; N], out: &mut [u64]) {
    choose_portable(from, masks, out);
}
