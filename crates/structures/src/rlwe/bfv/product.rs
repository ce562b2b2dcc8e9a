//! Products of ciphertexts, exact but for roundings by one.

use vesica_kernels::ntt::{self, Ntt};

use super::base::Base;
use super::ciphertext::Ciphertext;
use super::keys::SwitchKey;
use super::poly::{Poly, Values};
use super::scheme::Scheme;

/// A polynomial modulo `q` and `p`.
#[derive(Clone, Debug)]
struct Wide {
    low: Vec<u64>,
    high: Vec<u64>,
}

/// A ciphertext as a factor: what each product with it begins with, made once for all of them.
#[derive(Clone, Debug)]
pub struct Widened([Wide; 2]);

/// A product of ciphertexts, or a sum of some, that is not yet under the key alone: `(d0, d1, d2)` with
/// `d0 + d1 s + d2 s^2 = (q / t) m + noise`.
///
/// Sums of products take one switch of keys where each alone would take its own.
#[derive(Clone, Debug)]
pub struct Product {
    parts: [Poly<Values>; 3],
}

impl Scheme {
    /// The product of two ciphertexts, under the key that `key` belongs to.
    ///
    /// # Panics
    /// If primes were dropped.
    pub fn multiply(&self, x: &Ciphertext<Values>, y: &Ciphertext<Values>, key: &SwitchKey) -> Ciphertext<Values> {
        self.multiply_widened(&self.widened(x), &self.widened(y), key)
    }

    /// A ciphertext as a factor of several products.
    ///
    /// # Panics
    /// If primes were dropped.
    pub fn widened(&self, x: &Ciphertext<Values>) -> Widened {
        Widened([&x.c0, &x.c1].map(|half| self.widen(half)))
    }

    /// As [`multiply`](Self::multiply), of factors that were made ready before.
    pub fn multiply_widened(&self, x: &Widened, y: &Widened, key: &SwitchKey) -> Ciphertext<Values> {
        self.under_key(self.scaled_tensor(x, y), key)
    }

    /// The square of a ciphertext, under the key that `key` belongs to: a quarter less work than a
    /// product.
    ///
    /// # Panics
    /// If primes were dropped.
    pub fn square(&self, x: &Ciphertext<Values>, key: &SwitchKey) -> Ciphertext<Values> {
        let x = self.widened(x);
        self.multiply_widened(&x, &x, key)
    }

    /// The product of two ciphertexts, whose keys are not switched yet.
    ///
    /// # Panics
    /// If primes were dropped.
    pub fn product(&self, x: &Ciphertext<Values>, y: &Ciphertext<Values>) -> Product {
        let parts = self.scaled_tensor(&self.widened(x), &self.widened(y));
        Product { parts: parts.map(|part| self.values(Poly::new(part))) }
    }

    /// Adds a product; the noises add up.
    pub fn add_product(&self, sum: &mut Product, other: &Product) {
        for (sum, other) in sum.parts.iter_mut().zip(&other.parts) {
            self.add_into(sum, other);
        }
    }

    /// A product times a [multiplier](Self::multiplier).
    pub fn weighted(&self, product: &Product, factor: &Poly<Values>) -> Product {
        let weigh = |part: &Poly<Values>| self.sum_of_products(&[[part, factor]], self.primes_of(part));
        let [d0, d1, d2] = &product.parts;
        Product { parts: [d0, d1, d2].map(weigh) }
    }

    /// What is encrypted, under the key that `key` belongs to.
    pub fn relinearise(&self, product: Product, key: &SwitchKey) -> Ciphertext<Values> {
        let [d0, d1, d2] = product.parts;
        let mut sum = self.switch(&self.coefficients(d2), key);
        self.add_into(&mut sum.c0, &d0);
        self.add_into(&mut sum.c1, &d1);
        sum
    }

    /// The coefficients of the three parts of a product.
    fn scaled_tensor(&self, Widened([x0, x1]): &Widened, Widened([y0, y1]): &Widened) -> [Vec<u64>; 3] {
        [self.scaled_sum(&[[x0, y0]]), self.scaled_sum(&[[x0, y1], [x1, y0]]), self.scaled_sum(&[[x1, y1]])]
    }

    fn under_key(&self, [d0, d1, d2]: [Vec<u64>; 3], key: &SwitchKey) -> Ciphertext<Values> {
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
                ntt::sum_of_products(ntt.modulus(), &rows, out);
                ntt.inverse(out);
            }
            sum
        };
        let mut low = sum(&self.ntts, |wide| &wide.low);
        let mut high = sum(&self.tensor.ntts, |wide| &wide.high);
        // round(t x / q) = (t x - r) / q, where r is the residue of t x next to zero.
        let times_t = |ntts: &[Ntt], rows: &mut [u64]| {
            for (ntt, row) in ntts.iter().zip(rows.chunks_exact_mut(n)) {
                let from = row.to_vec();
                ntt::weighted_sum(ntt.modulus(), &[&from], &[t], row);
            }
        };
        times_t(&self.ntts, &mut low);
        times_t(&self.tensor.ntts, &mut high);
        let rests = self.tensor.up.convert(self.full_base(), &low, n);
        let rows = high.chunks_exact_mut(n).zip(rests.chunks_exact(n));
        for ((ntt, &inverse), (row, rests)) in self.tensor.ntts.iter().zip(&self.tensor.inverses).zip(rows) {
            let modulus = ntt.modulus();
            ntt::subtract_and_multiply(modulus, row, rests, modulus.p(), inverse);
        }
        self.tensor.down.convert(&self.tensor.base, &high, n)
    }
}
