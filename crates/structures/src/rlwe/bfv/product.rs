//! Products of ciphertexts, exact but for roundings by one.

use vesica_kernels::ntt::{Factor, Modulus, Ntt};

use super::base::{Base, Conversion, product};
use super::ciphertext::Ciphertext;
use super::keys::SwitchKey;
use super::params::Params;
use super::poly::{Poly, Values};
use super::scheme::Scheme;

/// Bits of the primes beside `q` in which products are scaled.
const AUXILIARY_BITS: u32 = 50;

/// A second modulus `p`, so large that a scaled product is known by its residues modulo `p`.
///
/// Halves of ciphertexts are taken next to zero, below `q / 2`. A coefficient of a product of two
/// is then below `n q^2 / 4`, of the sum of two products below `n q^2 / 2`, and scaled by `t / q`
/// below `t n q / 2`. With `p > 2 t n q` it is far from `p / 2`, where lifting could go wrong.
#[derive(Clone, Debug)]
pub(super) struct Tensor {
    ntts: Vec<Ntt>,
    base: Base,
    /// From `q` to `p`.
    up: Conversion,
    /// From `p` to `q`.
    down: Conversion,
    /// `1 / q` modulo each prime of `p`.
    inverses: Vec<Factor>,
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

/// A polynomial modulo `q` and `p`.
struct Wide {
    low: Vec<u64>,
    high: Vec<u64>,
}

impl Scheme {
    /// The product of two ciphertexts, under the key that `key` belongs to.
    ///
    /// # Panics
    /// If primes were dropped.
    pub fn multiply(&self, x: &Ciphertext<Values>, y: &Ciphertext<Values>, key: &SwitchKey) -> Ciphertext<Values> {
        let [x0, x1, y0, y1] = [&x.c0, &x.c1, &y.c0, &y.c1].map(|half| self.widen(half));
        let d0 = self.scaled_sum(&[[&x0, &y0]]);
        let d1 = self.scaled_sum(&[[&x0, &y1], [&x1, &y0]]);
        let d2 = self.scaled_sum(&[[&x1, &y1]]);
        let mut product = self.switch(&Poly::new(d2), key);
        self.add_into(&mut product.c0, &self.values(Poly::new(d0)));
        self.add_into(&mut product.c1, &self.values(Poly::new(d1)));
        product
    }

    /// The values modulo `p` beside those modulo `q`.
    fn widen(&self, poly: &Poly<Values>) -> Wide {
        assert_eq!(self.primes_of(poly), self.all_primes(), "products come before primes are dropped");
        let coefficients = self.coefficients(poly.clone());
        let mut high = self.tensor.up.convert(self.full_base(), &coefficients.residues, self.n);
        for (ntt, row) in self.tensor.ntts.iter().zip(high.chunks_exact_mut(self.n)) {
            ntt.forward(row);
        }
        Wide { low: poly.residues.clone(), high }
    }

    fn full_base(&self) -> &Base {
        &self.bases[self.all_primes() - 1]
    }

    /// The coefficients modulo `q` of the sum of products, scaled by `t / q`.
    fn scaled_sum(&self, products: &[[&Wide; 2]]) -> Vec<u64> {
        let (n, t) = (self.n, self.plain.t);
        let sum = |ntts: &[Ntt], part: fn(&Wide) -> &[u64]| {
            let mut sum = vec![0; ntts.len() * n];
            for (i, (ntt, out)) in ntts.iter().zip(sum.chunks_exact_mut(n)).enumerate() {
                let rows: Vec<[&[u64]; 2]> =
                    products.iter().map(|pair| pair.map(|wide| &part(wide)[i * n..(i + 1) * n])).collect();
                vesica_kernels::ntt::sum_of_products(ntt.modulus(), &rows, out);
                ntt.inverse(out);
            }
            sum
        };
        let mut low = sum(&self.ntts, |wide| &wide.low);
        let mut high = sum(&self.tensor.ntts, |wide| &wide.high);
        // round(t x / q) = (t x - r) / q, where r is the residue of t x next to zero.
        let times_t = |ntts: &[Ntt], rows: &mut [u64]| {
            for (ntt, row) in ntts.iter().zip(rows.chunks_exact_mut(n)) {
                let modulus = ntt.modulus();
                let factor = modulus.factor(t);
                row.iter_mut().for_each(|x| *x = modulus.below(modulus.times(*x, factor)));
            }
        };
        times_t(&self.ntts, &mut low);
        times_t(&self.tensor.ntts, &mut high);
        let rests = self.tensor.up.convert(self.full_base(), &low, n);
        let rows = high.chunks_exact_mut(n).zip(rests.chunks_exact(n));
        for ((ntt, &inverse), (row, rests)) in self.tensor.ntts.iter().zip(&self.tensor.inverses).zip(rows) {
            let modulus = ntt.modulus();
            for (x, &rest) in row.iter_mut().zip(rests) {
                *x = modulus.below(modulus.times(modulus.difference(*x, rest), inverse));
            }
        }
        self.tensor.down.convert(&self.tensor.base, &high, n)
    }
}
