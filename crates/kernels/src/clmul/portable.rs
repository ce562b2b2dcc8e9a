//! The portable twin, in constant time: carry-less products from integer products of numbers with
//! holes.

use super::tower::{Scale, join, reduce};

/// Every fourth bit, from bit 0.
const EVERY_FOURTH: u64 = 0x1111_1111_1111_1111;

/// The low 64 bits of the carry-less product.
///
/// Each factor is split into four numbers that have only every fourth bit. In an integer product of
/// two of those, column `4 k` collects at most `k + 1` ones: below `x^60` that is 15 or fewer and
/// stays within the three holes above the column; the sixteen that the last column may collect
/// carry out of the word. So the lowest bit of each column is the carry-less sum.
#[inline]
fn clmul_low(a: u64, b: u64) -> u64 {
    let a: [u64; 4] = std::array::from_fn(|i| a & (EVERY_FOURTH << i));
    let b: [u64; 4] = std::array::from_fn(|i| b & (EVERY_FOURTH << i));
    let mut product = 0;
    for class in 0..4 {
        let mut sum = 0;
        for i in 0..4 {
            sum ^= a[i].wrapping_mul(b[(4 + class - i) % 4]);
        }
        product |= sum & (EVERY_FOURTH << class);
    }
    product
}

/// The carry-less product; the high half is the low half of the product of the reversed factors,
/// reversed.
#[inline]
pub(crate) fn clmul(a: u64, b: u64) -> u128 {
    let low = clmul_low(a, b);
    let high = clmul_low(a.reverse_bits(), b.reverse_bits()).reverse_bits() >> 1;
    u128::from(low) | u128::from(high) << 64
}

#[inline]
pub(crate) fn gf64_mul(a: u64, b: u64) -> u64 {
    reduce(clmul(a, b))
}

/// Karatsuba's three products: of the low halves, of the high halves, of the sums of the halves.
#[inline]
fn products(a: u128, b: u128) -> [u128; 3] {
    let (a0, a1) = (a as u64, (a >> 64) as u64);
    let (b0, b1) = (b as u64, (b >> 64) as u64);
    [clmul(a0, b0), clmul(a1, b1), clmul(a0 ^ a1, b0 ^ b1)]
}

pub(super) fn gf128_mul(a: u128, b: u128) -> u128 {
    let [low, high, cross] = products(a, b);
    join(low, high, cross)
}

pub(super) fn scale_add(acc: &mut [u128], scale: Scale, x: &[u128]) {
    for (acc, &x) in acc.iter_mut().zip(x) {
        let (x0, x1) = (x as u64, (x >> 64) as u64);
        let one = clmul(scale.ones[0], x0) ^ clmul(scale.ones[1], x1);
        let y = clmul(scale.ys[0], x0) ^ clmul(scale.ys[1], x1);
        *acc ^= u128::from(reduce(one)) | u128::from(reduce(y)) << 64;
    }
}

pub(super) fn scale_add_gf64(acc: &mut [u128], delta: u128, x: &[u64]) {
    let (d0, d1) = (delta as u64, (delta >> 64) as u64);
    for (acc, &x) in acc.iter_mut().zip(x) {
        *acc ^= u128::from(gf64_mul(d0, x)) | u128::from(gf64_mul(d1, x)) << 64;
    }
}

pub(super) fn inner_products(a: &[u128], b: &[u128]) -> [u128; 3] {
    let mut sums = [0; 3];
    for (&a, &b) in a.iter().zip(b) {
        for (sum, product) in sums.iter_mut().zip(products(a, b)) {
            *sum ^= product;
        }
    }
    sums
}
