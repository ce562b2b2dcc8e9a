//! The ring `Z_q[x] / (x^N + 1)` with `q = p_0 p_1`: residue by residue, and mostly by its values
//! at the odd powers of a root of -1.
//!
//! A polynomial is `2 N` residues, those modulo `p_0` first.

use std::sync::OnceLock;

use vesica_kernels::ntt::{Modulus, Ntt};

/// `N`.
pub(super) const DEGREE: usize = 1 << 13;
/// The two largest primes below `2^62` that are 1 modulo `2 N`.
pub(super) const PRIMES: [u64; 2] = [0x3fff_ffff_ffff_0001, 0x3fff_ffff_fffe_8001];
/// Elements whose `N`-th powers are -1: they decide the order of values, and so which polynomial a seed stands for.
const ROOTS: [u64; 2] = [0x1a78_d634_355f_76dd, 0x24ae_4d59_4be8_8230];

/// `a b mod p`.
pub(super) const fn multiply(a: u64, b: u64, p: u64) -> u64 {
    (a as u128 * b as u128 % p as u128) as u64
}

/// `a + b mod p`, of reduced ones.
pub(super) fn add(a: u64, b: u64, p: u64) -> u64 {
    reduce_once(a + b, p)
}

/// `a - b mod p`, of reduced ones.
pub(super) fn subtract(a: u64, b: u64, p: u64) -> u64 {
    reduce_once(a + p - b, p)
}

/// `a mod p` for `a < 2 p < 2^63`, without a branch.
fn reduce_once(a: u64, p: u64) -> u64 {
    let less = a.wrapping_sub(p);
    less.wrapping_add(p & ((less as i64 >> 63) as u64))
}

/// `a^e mod p`.
pub(super) const fn power(a: u64, mut e: u64, p: u64) -> u64 {
    let (mut square, mut power) = (a, 1);
    while e > 0 {
        if e & 1 == 1 {
            power = multiply(power, square, p);
        }
        square = multiply(square, square, p);
        e >>= 1;
    }
    power
}

/// `1 / a mod p`.
pub(super) const fn inverse(a: u64, p: u64) -> u64 {
    power(a, p - 2, p)
}

/// The tables of both primes.
fn transforms() -> &'static [Ntt; 2] {
    static TRANSFORMS: OnceLock<[Ntt; 2]> = OnceLock::new();
    TRANSFORMS.get_or_init(|| [0, 1].map(|i| Ntt::with_root(Modulus::new(PRIMES[i]), DEGREE, ROOTS[i])))
}

/// Coefficients to values.
pub(super) fn forward(poly: &mut [u64]) {
    for (transform, residues) in transforms().iter().zip(poly.chunks_exact_mut(DEGREE)) {
        transform.forward(residues);
    }
}

/// Values to coefficients.
pub(super) fn backward(poly: &mut [u64]) {
    for (transform, residues) in transforms().iter().zip(poly.chunks_exact_mut(DEGREE)) {
        transform.inverse(residues);
    }
}

/// `sum += a b`, all by values.
pub(super) fn add_product(sum: &mut [u64], a: &[u64], b: &[u64]) {
    let factors = a.chunks_exact(DEGREE).zip(b.chunks_exact(DEGREE));
    for ((sum, (a, b)), p) in sum.chunks_exact_mut(DEGREE).zip(factors).zip(PRIMES) {
        for ((sum, &a), &b) in sum.iter_mut().zip(a).zip(b) {
            *sum = add(*sum, multiply(a, b, p), p);
        }
    }
}

pub(super) fn add_all(sum: &mut [u64], a: &[u64]) {
    for ((sum, a), p) in sum.chunks_exact_mut(DEGREE).zip(a.chunks_exact(DEGREE)).zip(PRIMES) {
        for (sum, &a) in sum.iter_mut().zip(a) {
            *sum = add(*sum, a, p);
        }
    }
}

/// The constant coefficient of `a b`, both by values: the mean of the values, since all other
/// powers of `x` have mean zero over the odd powers of the root.
pub(super) fn constant_of_product(a: &[u64], b: &[u64]) -> [u64; 2] {
    [0, 1].map(|i| {
        let (p, residues) = (PRIMES[i], i * DEGREE..(i + 1) * DEGREE);
        let sum = a[residues.clone()].iter().zip(&b[residues]).fold(0, |sum, (&a, &b)| add(sum, multiply(a, b, p), p));
        let (modulus, scale) = (transforms()[i].modulus(), transforms()[i].scale());
        modulus.below(modulus.times(sum, scale))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `sum of c x^i` over the terms.
    fn poly(terms: &[(usize, u64)]) -> Vec<u64> {
        let mut poly = vec![0; 2 * DEGREE];
        for &(i, c) in terms {
            poly[i] = c % PRIMES[0];
            poly[DEGREE + i] = c % PRIMES[1];
        }
        poly
    }

    #[test]
    fn the_roots_are_roots_of_minus_one_modulo_primes() {
        for (p, root) in PRIMES.into_iter().zip(ROOTS) {
            assert_eq!(power(root, DEGREE as u64, p), p - 1);
            // Miller and Rabin with twelve bases decides below 2^64.
            let odd = (p - 1) >> (p - 1).trailing_zeros();
            for base in [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37] {
                let mut x = power(base, odd, p);
                let mut passes = x == 1 || x == p - 1;
                for _ in 1..(p - 1).trailing_zeros() {
                    x = multiply(x, x, p);
                    passes |= x == p - 1;
                }
                assert!(passes, "{p} to base {base}");
            }
        }
    }

    #[test]
    fn products_by_values_are_products_of_polynomials() {
        let n = DEGREE;
        let (a, b) = ([(0, 3), (n - 1, u64::MAX), (77, 12)], [(0, 5), (1, 1 << 60), (n - 77, 9)]);
        let mut expected = vec![0; 2 * n];
        for (i, p) in PRIMES.into_iter().enumerate() {
            for (j, c) in a {
                for (k, d) in b {
                    let product = multiply(c % p, d % p, p);
                    let cell = &mut expected[i * n + (j + k) % n];
                    *cell = if j + k < n { add(*cell, product, p) } else { subtract(*cell, product, p) };
                }
            }
        }
        let (mut a, mut b) = (poly(&a), poly(&b));
        forward(&mut a);
        forward(&mut b);
        let mut product = vec![0; 2 * n];
        add_product(&mut product, &a, &b);
        assert_eq!(constant_of_product(&a, &b), [expected[0], expected[n]]);
        backward(&mut product);
        assert!(product == expected);
    }

    #[test]
    fn transforms_come_back() {
        let there: Vec<u64> = (0..2 * DEGREE as u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 3).collect();
        let mut back = there.clone();
        forward(&mut back);
        assert!(back != there);
        backward(&mut back);
        assert!(back == there);
    }
}
