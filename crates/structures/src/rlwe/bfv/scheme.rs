//! What both sides compute from the parameters.

use vesica_kernels::ntt::{self, Factor, Modulus, Ntt};

use super::base::Base;
use super::batching::Batching;
use super::params::Params;
use super::poly::{Coefficients, Poly, Values};
use super::tensor::Tensor;
use crate::facts::Unsupported;
use crate::secret::Secret;

/// The tables for some [`Params`]. Everything else of this module needs them; values made with one
/// scheme are used with that one only.
#[derive(Clone, Debug)]
pub struct Scheme {
    pub(super) params: Params,
    pub(super) n: usize,
    /// One for each prime of `q`.
    pub(super) ntts: Vec<Ntt>,
    /// The first primes of `q`: base `i` has `i + 1` of them.
    pub(super) bases: Vec<Base>,
    pub(super) plain: PlainModulus,
    pub(super) batching: Batching,
    pub(super) tensor: Tensor,
}

/// The plaintext modulus and what scaling needs.
#[derive(Clone, Debug)]
pub(super) struct PlainModulus {
    /// `t`.
    pub t: u64,
    /// For each number of primes kept: `q` modulo `t`.
    q: Vec<u64>,
    /// `1 / t` modulo each prime of `q`.
    inverses: Vec<Factor>,
}

impl Scheme {
    /// The tables, or why the parameters are refused.
    pub fn new(params: &Params) -> Result<Self, Unsupported> {
        params.check()?;
        let n = params.degree;
        let moduli: Vec<Modulus> = params.primes.iter().map(|&p| Modulus::new(p)).collect();
        let t: u64 = params.plain.iter().product();
        let q =
            |kept: &[Modulus]| kept.iter().fold(1, |q, m| (u128::from(q) * u128::from(m.p()) % u128::from(t)) as u64);
        let inverse = |m: &Modulus| m.factor(m.inverse(m.reduce(t.into())));
        Ok(Self {
            n,
            ntts: moduli.iter().map(|&modulus| Ntt::new(modulus, n)).collect(),
            bases: (1..=moduli.len()).map(|kept| Base::new(&moduli[..kept])).collect(),
            plain: PlainModulus {
                t,
                q: (1..=moduli.len()).map(|kept| q(&moduli[..kept])).collect(),
                inverses: moduli.iter().map(inverse).collect(),
            },
            batching: Batching::new(params),
            tensor: Tensor::new(params, &moduli),
            params: params.clone(),
        })
    }

    /// The parameters.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// Slots of a plaintext, `n`.
    pub fn slots(&self) -> usize {
        self.n
    }

    /// The plaintext modulus, `t`.
    pub fn plain_modulus(&self) -> u64 {
        self.plain.t
    }

    /// Primes of `q`: those of a fresh ciphertext.
    pub fn all_primes(&self) -> usize {
        self.ntts.len()
    }

    /// Primes that a polynomial has residues for.
    pub(super) fn primes_of<F>(&self, poly: &Poly<F>) -> usize {
        poly.residues.len() / self.n
    }

    /// Each row of a polynomial with its prime.
    pub(super) fn rows<'a, F>(&'a self, poly: &'a Poly<F>) -> impl Iterator<Item = (&'a Ntt, &'a [u64])> {
        self.ntts.iter().zip(poly.rows(self.n))
    }

    /// Each row of a polynomial with its prime.
    pub(super) fn rows_mut<'a, F>(&'a self, poly: &'a mut Poly<F>) -> impl Iterator<Item = (&'a Ntt, &'a mut [u64])> {
        self.ntts.iter().zip(poly.rows_mut(self.n))
    }

    pub(super) fn zero<F>(&self, primes: usize) -> Poly<F> {
        Poly::new(vec![0; primes * self.n])
    }

    /// The values of a polynomial.
    pub fn values(&self, mut poly: Poly<Coefficients>) -> Poly<Values> {
        self.rows_mut(&mut poly).for_each(|(ntt, row)| ntt.forward(row));
        Poly::new(std::mem::take(&mut poly.residues))
    }

    /// The coefficients of a polynomial.
    pub fn coefficients(&self, mut poly: Poly<Values>) -> Poly<Coefficients> {
        self.rows_mut(&mut poly).for_each(|(ntt, row)| ntt.inverse(row));
        Poly::new(std::mem::take(&mut poly.residues))
    }

    /// `x += y`.
    pub(super) fn add_into<F>(&self, x: &mut Poly<F>, y: &Poly<F>) {
        assert_eq!(x.residues.len(), y.residues.len(), "polynomials of one modulus");
        for ((of_row, x), y) in self.rows_mut(x).zip(y.rows(self.n)) {
            ntt::add(of_row.modulus(), x, y);
        }
    }

    /// `x -= y`.
    pub(super) fn subtract_into<F>(&self, x: &mut Poly<F>, y: &Poly<F>) {
        assert_eq!(x.residues.len(), y.residues.len(), "polynomials of one modulus");
        for ((of_row, x), y) in self.rows_mut(x).zip(y.rows(self.n)) {
            ntt::subtract(of_row.modulus(), x, y);
        }
    }

    /// The sum of all products of pairs. Secrets may have more primes than the others.
    pub(super) fn sum_of_products(&self, pairs: &[[&Poly<Values>; 2]], primes: usize) -> Poly<Values> {
        let mut sum = self.zero(primes);
        let mut rows = Vec::with_capacity(pairs.len());
        for (i, (ntt, out)) in self.rows_mut(&mut sum).enumerate() {
            let place = i * self.n..(i + 1) * self.n;
            rows.clear();
            rows.extend(pairs.iter().map(|pair| pair.map(|poly| &poly.residues[place.clone()])));
            ntt::sum_of_products(ntt.modulus(), &rows, out);
        }
        sum
    }

    /// The polynomial with these small coefficients, of magnitudes below all primes.
    pub(super) fn small(&self, coefficients: &[i64], primes: usize) -> Poly<Coefficients> {
        let mut poly = self.zero(primes);
        for (ntt, row) in self.rows_mut(&mut poly) {
            let modulus = ntt.modulus();
            row.iter_mut().zip(coefficients).for_each(|(x, &c)| *x = modulus.signed(c));
        }
        poly
    }

    /// `round(q m / t)` for coefficients `m` below `t`.
    ///
    /// With `r` the residue of `q m + floor(t / 2)` modulo `t` that is `(q m + floor(t / 2) - r) / t`.
    pub(super) fn scaled(&self, plain: &[u64], primes: usize) -> Poly<Coefficients> {
        let PlainModulus { t, q, inverses } = &self.plain;
        let (half, q) = (t / 2, q[primes - 1]);
        // Remainders by a division would take time by what is divided.
        let reciprocal = u128::MAX / u128::from(*t);
        // Each rest tells what is encrypted.
        let mut rests = Secret::new(Vec::with_capacity(plain.len()));
        rests.extend(plain.iter().map(|&m| {
            let x = u128::from(q) * u128::from(m) + u128::from(half);
            let estimate = high_product(x, reciprocal);
            let rest = (x - estimate * u128::from(*t)) as u64;
            rest.min(rest.wrapping_sub(*t)).min(rest.wrapping_sub(2 * t))
        }));
        let mut poly = self.zero(primes);
        for ((of_row, row), &inverse) in self.rows_mut(&mut poly).zip(inverses) {
            let modulus = of_row.modulus();
            // A multiple of the prime keeps the difference from being negative.
            let above = half + modulus.p() * t.div_ceil(modulus.p());
            ntt::subtract_and_multiply(modulus, row, &rests, above, inverse);
        }
        poly
    }
}

/// `floor(x y / 2^128)` for `x < 2^70`, too small by at most 1.
fn high_product(x: u128, y: u128) -> u128 {
    let (x_high, x_low) = (x >> 64, x & u128::from(u64::MAX));
    let (y_high, y_low) = (y >> 64, y & u128::from(u64::MAX));
    let middle = ((x_low * y_low) >> 64) + x_low * y_high;
    // x_high is below 2^6, so that nothing overflows.
    x_high * y_high + ((middle + x_high * y_low) >> 64)
}
