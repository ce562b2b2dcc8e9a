//! The tables for products of ciphertexts.

use vesica_kernels::ntt::{Factor, Modulus, Ntt};

use super::base::{Base, Conversion, product};
use super::params::Params;

/// Bits of the primes beside `q` in which products are scaled.
const AUXILIARY_BITS: u32 = 50;

/// A second modulus `p`, so large that a scaled product is known by its residues modulo `p`.
///
/// Halves of ciphertexts are taken next to zero, below `q / 2`. A coefficient of a product of two
/// is then below `n q^2 / 4`, of the sum of two products below `n q^2 / 2`, and scaled by `t / q`
/// below `t n q / 2`. With `p > 2 t n q` it is far from `p / 2`, where lifting could go wrong.
#[derive(Clone, Debug)]
pub(super) struct Tensor {
    pub ntts: Vec<Ntt>,
    pub base: Base,
    /// From `q` to `p`.
    pub up: Conversion,
    /// From `p` to `q`.
    pub down: Conversion,
    /// `1 / q` modulo each prime of `p`.
    pub inverses: Vec<Factor>,
}

impl Tensor {
    pub fn new(params: &Params, moduli: &[Modulus]) -> Self {
        let t: u64 = params.plain.iter().product();
        // One bit for each rounding up.
        let bits = params.modulus_bits() + (u64::BITS - t.leading_zeros()) + params.degree.ilog2() + 1;
        // Each prime is above 63/64 of its power of two: a 42nd of a bit less.
        let count = (1..).find(|&count| (AUXILIARY_BITS * count) as f64 - f64::from(count) / 42.0 > f64::from(bits));
        let count = count.map_or(0, |count| count as usize);
        let candidates = Modulus::largest(AUXILIARY_BITS, 2 * params.degree as u64, count + moduli.len());
        let auxiliary: Vec<Modulus> =
            candidates.into_iter().filter(|prime| !moduli.contains(prime)).take(count).collect();
        let (from, to) = (Base::new(moduli), Base::new(&auxiliary));
        let inverse = |modulus: &Modulus| modulus.factor(modulus.inverse(product(moduli.iter().copied(), *modulus)));
        Self {
            ntts: auxiliary.iter().map(|&modulus| Ntt::new(modulus, params.degree)).collect(),
            up: Conversion::new(&from, &auxiliary),
            down: Conversion::new(&to, moduli),
            inverses: auxiliary.iter().map(inverse).collect(),
            base: to,
        }
    }
}
