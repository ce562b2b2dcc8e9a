//! The portable twin: one product after the other.

use super::matrix::{LANES, Matrix, Row};
use crate::clmul::portable::{clmul, gf64_mul};
use crate::clmul::tower::reduce;

pub(super) fn multiply_add(x: &[u64], y: &[u64], c: u64, out: &mut [u64]) {
    for ((&x, &y), out) in x.iter().zip(y).zip(out) {
        *out = gf64_mul(x, y) ^ c;
    }
}

pub(super) fn multiply_into(x: &mut [u64], y: &[u64], c: u64) {
    for (x, &y) in x.iter_mut().zip(y) {
        *x = gf64_mul(*x ^ c, y);
    }
}

pub(super) fn scale_add(acc: &mut [u64], factor: u64, x: &[u64]) {
    for (acc, &x) in acc.iter_mut().zip(x) {
        *acc ^= gf64_mul(factor, x);
    }
}

pub(super) fn add_products([a, b, c, d]: [&[u64]; 4], out: &mut [u64]) {
    for (i, out) in out.iter_mut().enumerate() {
        *out = reduce(clmul(a[i], b[i]) ^ clmul(c[i], d[i]));
    }
}

pub(super) fn combine(factors: Matrix<'_>, rows: &[Row], out: &mut [Row]) {
    for (r, out) in out.iter_mut().enumerate() {
        let mut sums = [0; LANES];
        for (i, row) in rows.iter().enumerate() {
            let factor = factors.elements[r * factors.row + i * factors.column];
            for (sum, &word) in sums.iter_mut().zip(row) {
                *sum ^= clmul(factor, word);
            }
        }
        *out = Row::default();
        for (out, sum) in out.iter_mut().zip(sums) {
            *out = reduce(sum);
        }
    }
}

/// `a += w b`, then `b += a`; the other way round and in the other order if not `FORWARD`.
pub(super) fn halves<const FORWARD: bool>(a: &mut [u64], b: &mut [u64], w: u64) {
    for (a, b) in a.iter_mut().zip(b) {
        butterfly::<FORWARD>(a, b, w);
    }
}

/// The butterflies of neighbours, each with a factor of its own, the factors again and again. The
/// second of a pair is the upper half if `swapped`.
pub(super) fn neighbours<const FORWARD: bool>(x: &mut [u64], factors: &[u64], swapped: bool) {
    let (pairs, _) = x.as_chunks_mut::<2>();
    for ([a, b], &w) in pairs.iter_mut().zip(factors.iter().cycle()) {
        if swapped { butterfly::<FORWARD>(b, a, w) } else { butterfly::<FORWARD>(a, b, w) }
    }
}

#[inline(always)]
fn butterfly<const FORWARD: bool>(a: &mut u64, b: &mut u64, w: u64) {
    if FORWARD {
        *a ^= gf64_mul(*b, w);
        *b ^= *a;
    } else {
        *b ^= *a;
        *a ^= gf64_mul(*b, w);
    }
}
