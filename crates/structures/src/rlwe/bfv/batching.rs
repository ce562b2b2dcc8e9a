//! The tables between slots and coefficients.

use vesica_kernels::ntt::{Factor, Modulus, Ntt};

use super::base::product;
use super::params::Params;

/// The way between slots and coefficients.
///
/// Slot `i` of the first row, `i < n / 2`, is the value at `z^(3^i)` for a fixed root `z` of -1,
/// and slot `i` of the second row the one at `z^-(3^i)`: the automorphism `X -> X^3` moves every
/// slot to the place before it, and `X -> X^-1` exchanges the rows.
#[derive(Clone, Debug)]
pub(super) struct Batching {
    /// The place of each slot among the values of a transform.
    pub places: Vec<u32>,
    pub primes: Vec<PlainPrime>,
}

/// A prime of `t`.
#[derive(Clone, Debug)]
pub(super) struct PlainPrime {
    pub ntt: Ntt,
    /// `p / t` modulo the prime `p`.
    pub inverse: Factor,
    /// `t / p`.
    pub cofactor: u64,
}

/// The generator of the rotations of a row.
pub(super) const GENERATOR: usize = 3;

impl Batching {
    pub fn new(params: &Params) -> Self {
        let n = params.degree;
        let mut places = vec![0; n];
        let mut exponent = 1;
        for i in 0..n / 2 {
            places[i] = place(n, exponent);
            places[n / 2 + i] = place(n, 2 * n - exponent);
            exponent = exponent * GENERATOR % (2 * n);
        }
        let moduli: Vec<Modulus> = params.plain.iter().map(|&p| Modulus::new(p)).collect();
        let prime = |&modulus: &Modulus| {
            let others = || moduli.iter().copied().filter(move |other| *other != modulus);
            PlainPrime {
                ntt: Ntt::new(modulus, n),
                inverse: modulus.factor(modulus.inverse(product(others(), modulus))),
                cofactor: others().map(Modulus::p).product(),
            }
        };
        Self { places, primes: moduli.iter().map(prime).collect() }
    }
}

/// Where a transform has the value at `z^exponent`, for an odd exponent.
pub(super) fn place(n: usize, exponent: usize) -> u32 {
    let bits = n.trailing_zeros();
    (((exponent - 1) / 2).reverse_bits() >> (usize::BITS - bits)) as u32
}
