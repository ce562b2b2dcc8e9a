//! Vectors over `B = GF(2^64)` (see [`crate::clmul`]): products element by element, products of
//! small matrices, and the additive Fourier transform.

mod matrix;
#[cfg(target_arch = "x86_64")]
mod pclmul;
mod portable;
#[cfg(test)]
mod tests;
mod transform;

pub use matrix::{LANES, Matrix, Row};
pub use transform::{Direction, Transform};

use zeroize::Zeroize;

use crate::clmul::gf64_mul;
use crate::dispatch::{backend, dispatch};

/// `out[i] = x[i] * y[i] + c`.
///
/// # Panics
/// If the lengths differ.
pub fn multiply_add(x: &[u64], y: &[u64], c: u64, out: &mut [u64]) {
    assert!(x.len() == y.len() && x.len() == out.len(), "multiply_add takes slices of one length");
    dispatch!(
        backend(),
        portable: portable::multiply_add(x, y, c, out),
        avx2: pclmul::multiply_add(x, y, c, out),
    );
}

/// `x[i] = (x[i] + c) * y[i]`.
///
/// # Panics
/// If the lengths differ.
pub fn multiply_into(x: &mut [u64], y: &[u64], c: u64) {
    assert_eq!(x.len(), y.len(), "multiply_into takes slices of one length");
    dispatch!(
        backend(),
        portable: portable::multiply_into(x, y, c),
        avx2: pclmul::multiply_into(x, y, c),
    );
}

/// `acc[i] += factor * x[i]`.
///
/// # Panics
/// If the lengths differ.
pub fn scale_add(acc: &mut [u64], factor: u64, x: &[u64]) {
    assert_eq!(acc.len(), x.len(), "scale_add takes slices of one length");
    dispatch!(
        backend(),
        portable: portable::scale_add(acc, factor, x),
        avx2: pclmul::scale_add(acc, factor, x),
    );
}

/// `out[i] = a[i] * b[i] + c[i] * d[i]`, reduced once.
///
/// # Panics
/// If the lengths differ.
pub fn add_products([a, b, c, d]: [&[u64]; 4], out: &mut [u64]) {
    assert!([a, b, c, d].iter().all(|x| x.len() == out.len()), "add_products takes slices of one length");
    dispatch!(
        backend(),
        portable: portable::add_products([a, b, c, d], out),
        avx2: pclmul::add_products([a, b, c, d], out),
    );
}

/// `out[r]` = the sum of `factors[r][i] * rows[i]`, in the first [`LANES`] words; each sum is
/// reduced once. The other words become 0.
///
/// # Panics
/// If the matrix is not as large as `out` and `rows` ask.
pub fn combine(factors: Matrix<'_>, rows: &[Row], out: &mut [Row]) {
    assert!(factors.holds(out.len(), rows.len()), "a factor for each row of either side");
    dispatch!(
        backend(),
        portable: portable::combine(factors, rows, out),
        avx2: pclmul::combine(factors, rows, out),
    );
}

/// Replaces each element by its inverse, 0 by 0: one inversion, and three products an element.
pub fn invert(x: &mut [u64]) {
    let mut product = 1;
    // Products of all before; where an element is 0 it is left out.
    let mut before: Vec<u64> = x
        .iter()
        .map(|&x| {
            let before = product;
            product = gf64_mul(product, one_for_zero(x));
            before
        })
        .collect();
    let mut inverse = inverse(product);
    for (x, &before) in x.iter_mut().zip(&before).rev() {
        let of_this = gf64_mul(inverse, before);
        inverse = gf64_mul(inverse, one_for_zero(*x));
        *x = if *x == 0 { 0 } else { of_this };
    }
    before.zeroize();
}

/// `x`, or 1 instead of 0.
fn one_for_zero(x: u64) -> u64 {
    x | u64::from(x == 0)
}

/// `x^(2^64 - 2)`.
pub fn inverse(x: u64) -> u64 {
    let mut product = 1;
    let mut square = x;
    for _ in 1..64 {
        square = gf64_mul(square, square);
        product = gf64_mul(product, square);
    }
    product
}
