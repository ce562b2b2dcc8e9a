//! Ciphertexts and what is computed with them.

use std::hint::black_box;

use vesica_kernels::ntt;
use zeroize::Zeroize;

use super::plain::Plain;
use super::poly::{Coefficients, Poly, Values};
use super::scheme::Scheme;
use crate::rng::SecretRng;
use crate::secret::Secret;

/// An encryption `(c0, c1)` of `m`: `c0 + c1 s = (q / t) m + noise`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ciphertext<F> {
    /// The half with the message.
    pub c0: Poly<F>,
    /// The half that is multiplied by the secret.
    pub c1: Poly<F>,
}

impl<F> Zeroize for Ciphertext<F> {
    fn zeroize(&mut self) {
        self.c0.zeroize();
        self.c1.zeroize();
    }
}

impl Scheme {
    /// Transforms both halves to values.
    pub fn ciphertext_values(&self, ciphertext: Ciphertext<Coefficients>) -> Ciphertext<Values> {
        Ciphertext { c0: self.values(ciphertext.c0), c1: self.values(ciphertext.c1) }
    }

    /// Transforms both halves to coefficients.
    pub fn ciphertext_coefficients(&self, ciphertext: Ciphertext<Values>) -> Ciphertext<Coefficients> {
        Ciphertext { c0: self.coefficients(ciphertext.c0), c1: self.coefficients(ciphertext.c1) }
    }

    /// Zero without noise, a ciphertext under every key, which hides nothing.
    pub fn nothing(&self) -> Ciphertext<Values> {
        Ciphertext { c0: self.zero(self.all_primes()), c1: self.zero(self.all_primes()) }
    }

    /// Adds a ciphertext; the noises add up.
    pub fn add<F>(&self, sum: &mut Ciphertext<F>, other: &Ciphertext<F>) {
        self.add_into(&mut sum.c0, &other.c0);
        self.add_into(&mut sum.c1, &other.c1);
    }

    /// Subtracts a ciphertext; the noises add up.
    pub fn subtract<F>(&self, difference: &mut Ciphertext<F>, other: &Ciphertext<F>) {
        self.subtract_into(&mut difference.c0, &other.c0);
        self.subtract_into(&mut difference.c1, &other.c1);
    }

    /// Adds a small multiple of a ciphertext: the noise grows by the magnitude of `factor`.
    pub fn add_multiple<F>(&self, sum: &mut Ciphertext<F>, other: &Ciphertext<F>, factor: i64) {
        for (sum, other) in [(&mut sum.c0, &other.c0), (&mut sum.c1, &other.c1)] {
            assert_eq!(self.primes_of(sum), self.primes_of(other), "ciphertexts of one modulus");
            for ((ntt, sum), other) in self.rows_mut(sum).zip(other.rows(self.n)) {
                let modulus = ntt.modulus();
                let factor = modulus.factor(modulus.signed(factor));
                sum.iter_mut()
                    .zip(other)
                    .for_each(|(sum, &x)| *sum = modulus.sum(*sum, modulus.below(modulus.times(x, factor))));
            }
        }
    }

    /// Adds a plaintext.
    pub fn add_plain(&self, sum: &mut Ciphertext<Values>, plain: &Plain) {
        let scaled = Secret::new(self.scaled_values(plain, self.primes_of(&sum.c0)));
        self.add_into(&mut sum.c0, &scaled);
    }

    /// Subtracts a plaintext.
    pub fn subtract_plain(&self, difference: &mut Ciphertext<Values>, plain: &Plain) {
        let scaled = Secret::new(self.scaled_values(plain, self.primes_of(&difference.c0)));
        self.subtract_into(&mut difference.c0, &scaled);
    }

    fn scaled_values(&self, plain: &Plain, primes: usize) -> Poly<Values> {
        self.values(self.scaled(&plain.coefficients, primes))
    }

    /// The sum of all products of a ciphertext and a [multiplier](Self::multiplier), which has as
    /// many primes.
    ///
    /// # Panics
    /// If there are no products.
    pub fn combine(&self, products: &[(&Ciphertext<Values>, &Poly<Values>)]) -> Ciphertext<Values> {
        assert!(!products.is_empty(), "a product at least");
        let primes = self.primes_of(products[0].1);
        let sum = |half: fn(&Ciphertext<Values>) -> &Poly<Values>| {
            let pairs: Vec<[&Poly<Values>; 2]> =
                products.iter().map(|(ciphertext, factor)| [half(ciphertext), *factor]).collect();
            self.sum_of_products(&pairs, primes)
        };
        Ciphertext { c0: sum(|ciphertext| &ciphertext.c0), c1: sum(|ciphertext| &ciphertext.c1) }
    }

    /// Drowns the noise: adds to each coefficient the sum of four uniform numbers of `bits` bits,
    /// less its mean.
    ///
    /// # Panics
    /// If there are more than [`MOST_FLOOD_BITS`](super::MOST_FLOOD_BITS).
    pub fn flood(&self, ciphertext: &mut Ciphertext<Coefficients>, bits: u32, rng: &mut SecretRng) {
        let noise = self.flood_noise(bits, self.primes_of(&ciphertext.c0), rng);
        self.add_into(&mut ciphertext.c0, &noise);
    }

    /// Drops primes until so many are left: what is encrypted stays, `q` and the noise shrink.
    ///
    /// # Panics
    /// If `primes` is 0, or more than there are.
    pub fn switch_down(&self, ciphertext: &mut Ciphertext<Coefficients>, primes: usize) {
        for half in [&mut ciphertext.c0, &mut ciphertext.c1] {
            assert!((1..=self.primes_of(half)).contains(&primes), "some primes of those there are");
            while self.primes_of(half) > primes {
                self.drop_prime(half);
            }
        }
    }

    /// `round(x / p)` for the last prime `p`.
    fn drop_prime(&self, poly: &mut Poly<Coefficients>) {
        let kept = self.primes_of(poly) - 1;
        let mut last = poly.residues.split_off(kept * self.n);
        let dropped = self.ntts[kept].modulus();
        let p = dropped.p();
        // x - [x]_p with the residue next to zero, by a shift of half a prime.
        last.iter_mut().for_each(|rest| *rest = dropped.sum(*rest, p / 2));
        for (of_row, row) in self.ntts.iter().zip(poly.rows_mut(self.n)) {
            let modulus = of_row.modulus();
            let inverse = modulus.factor(modulus.inverse(modulus.reduce(p.into())));
            // A multiple of the prime keeps the difference from being negative.
            let above = p / 2 + modulus.p() * p.div_ceil(modulus.p());
            ntt::subtract_and_multiply(modulus, row, &last, above, inverse);
        }
    }

    /// `a` where `choose` is true, else `b`, in the same time.
    pub fn select<F>(&self, choose: bool, a: &Ciphertext<F>, b: &mut Ciphertext<F>) {
        // The compiler is not to find out that the mask has two values, and to branch by it.
        let mask = black_box(u64::from(choose).wrapping_neg());
        for (from, to) in [(&a.c0, &mut b.c0), (&a.c1, &mut b.c1)] {
            to.residues.iter_mut().zip(&from.residues).for_each(|(to, &from)| *to ^= (*to ^ from) & mask);
        }
    }
}
