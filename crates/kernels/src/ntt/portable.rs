//! The portable transforms, one butterfly at a time.

use super::modulus::{Factor, Modulus};
use super::roots::Roots;

pub(super) fn forward(modulus: Modulus, roots: &Roots, x: &mut [u64]) {
    let (p, n) = (modulus.p(), x.len());
    let mut half = n;
    while half > 1 {
        half /= 2;
        for (block, root) in x.chunks_exact_mut(2 * half).zip(roots.layer(n / (2 * half))) {
            let (left, right) = block.split_at_mut(half);
            for (left, right) in left.iter_mut().zip(right) {
                let a = (*left).min(left.wrapping_sub(2 * p));
                let b = modulus.times(*right, root);
                *left = a + b;
                *right = a + 2 * p - b;
            }
        }
    }
    x.iter_mut().for_each(|x| *x = modulus.below(*x));
}

pub(super) fn inverse(modulus: Modulus, inverses: &Roots, scale: Factor, x: &mut [u64]) {
    let (p, n) = (modulus.p(), x.len());
    let mut half = 1;
    while half < n {
        for (block, root) in x.chunks_exact_mut(2 * half).zip(inverses.layer(n / (2 * half))) {
            let (left, right) = block.split_at_mut(half);
            for (left, right) in left.iter_mut().zip(right) {
                // All are below 2 p.
                let (a, b) = (*left, *right);
                *left = (a + b).min((a + b).wrapping_sub(2 * p));
                *right = modulus.times(a + 2 * p - b, root);
            }
        }
        half *= 2;
    }
    x.iter_mut().for_each(|x| *x = modulus.below(modulus.times(*x, scale)));
}

/// The weighted sums of the places from `first` on.
pub(super) fn weighted_sum(modulus: Modulus, rows: &[&[u64]], weights: &[u64], first: usize, out: &mut [u64]) {
    for (i, out) in out.iter_mut().enumerate().skip(first) {
        let products = rows.iter().zip(weights).map(|(row, &weight)| u128::from(row[i]) * u128::from(weight));
        *out = modulus.reduce(products.sum());
    }
}

/// The products of the places from `first` on.
pub(super) fn products(modulus: Modulus, pairs: &[[&[u64]; 2]], first: usize, out: &mut [u64]) {
    for (i, out) in out.iter_mut().enumerate().skip(first) {
        let sum = pairs.iter().fold(0u128, |sum, [x, y]| sum + u128::from(x[i]) * u128::from(y[i]));
        *out = modulus.reduce(sum);
    }
}

pub(super) fn subtract_and_multiply(modulus: Modulus, x: &mut [u64], y: &[u64], above: u64, factor: Factor) {
    x.iter_mut().zip(y).for_each(|(x, &y)| *x = modulus.below(modulus.times(*x + above - y, factor)));
}
