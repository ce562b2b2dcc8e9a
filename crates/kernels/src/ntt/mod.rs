//! Polynomials over a prime field modulo `X^n + 1`, by number theoretic transforms.
//!
//! The transform gives the values at the odd powers of a `2 n`-th root of unity, in bit-reversed
//! order, where products are element by element. It is Harvey's ("Faster arithmetic for
//! number-theoretic transforms", 2014): butterflies leave values unreduced below four times the
//! prime. Results are reduced, so that they are the same on every backend.
//!
//! Primes below `2^50` have a twin with AVX-512 IFMA, which multiplies 52 bits.

mod elements;
#[cfg(target_arch = "x86_64")]
mod ifma;
mod modulus;
mod portable;
mod roots;
#[cfg(test)]
mod tests;

pub use elements::{MOST_ROWS, add, choose, subtract, subtract_and_multiply, weighted_sum};
pub use modulus::{Factor, Modulus};

#[cfg(target_arch = "x86_64")]
use self::ifma::{LANES, has_ifma};
use self::roots::Roots;

/// Products that are summed up before the sum is reduced: at 62 bits they still fit 128 bits.
const PRODUCTS: usize = 8;

/// The transforms of one length and prime.
#[derive(Clone, Debug)]
pub struct Ntt {
    modulus: Modulus,
    /// Place `m + i` belongs to block `i` of the layer of `m` blocks.
    roots: Roots,
    inverses: Roots,
    /// `1 / n`.
    scale: Factor,
}

impl Ntt {
    /// Tables for polynomials of `n` coefficients.
    ///
    /// # Panics
    /// If `n` is no power of two from 2 on, or the prime is not 1 modulo `2 n`.
    pub fn new(modulus: Modulus, n: usize) -> Self {
        assert!(n.is_power_of_two() && n > 1, "a power of two coefficients");
        Self::with_root(modulus, n, modulus.root(2 * n as u64))
    }

    /// The same with a root of one's own choice, on which the order of values depends.
    ///
    /// # Panics
    /// If `n` is no power of two from 2 on, or the root's `n`-th power is not -1.
    pub fn with_root(modulus: Modulus, n: usize, root: u64) -> Self {
        assert!(n.is_power_of_two() && n > 1, "a power of two coefficients");
        assert_eq!(modulus.power(root, n as u64), modulus.p() - 1, "a root of -1");
        Self {
            modulus,
            roots: Roots::new(modulus, n, root),
            inverses: Roots::new(modulus, n, modulus.inverse(root)),
            scale: modulus.factor(modulus.inverse(modulus.reduce(n as u128))),
        }
    }

    /// The prime.
    pub fn modulus(&self) -> Modulus {
        self.modulus
    }

    /// The factor `1 / n`.
    pub fn scale(&self) -> Factor {
        self.scale
    }

    /// From coefficients, each below four times the prime, to values.
    ///
    /// # Panics
    /// If there is another number of them.
    pub fn forward(&self, x: &mut [u64]) {
        assert_eq!(x.len(), self.roots.values.len(), "as many coefficients as the tables are for");
        #[cfg(target_arch = "x86_64")]
        if x.len() >= 2 * LANES && has_ifma(self.modulus) {
            // SAFETY: the twin is safe but for its target features, which `has_ifma` has found.
            return unsafe { ifma::forward(self.modulus, &self.roots, x) };
        }
        portable::forward(self.modulus, &self.roots, x);
    }

    /// From values, each below the prime, to coefficients.
    ///
    /// # Panics
    /// If there is another number of them.
    pub fn inverse(&self, x: &mut [u64]) {
        assert_eq!(x.len(), self.roots.values.len(), "as many values as the tables are for");
        #[cfg(target_arch = "x86_64")]
        if x.len() >= 2 * LANES && has_ifma(self.modulus) {
            // SAFETY: as above.
            return unsafe { ifma::inverse(self.modulus, &self.inverses, self.scale, x) };
        }
        portable::inverse(self.modulus, &self.inverses, self.scale, x);
    }
}

/// `out[i]` = the sum of all `x[i] * y[i]` over the pairs, reduced.
///
/// # Panics
/// If the lengths differ.
pub fn sum_of_products(modulus: Modulus, pairs: &[[&[u64]; 2]], out: &mut [u64]) {
    assert!(pairs.iter().flatten().all(|x| x.len() == out.len()), "sum_of_products takes slices of one length");
    let (first, rest) = pairs.split_at(pairs.len().min(PRODUCTS));
    few_products(modulus, first, out);
    if rest.is_empty() {
        return;
    }
    let mut part = zeroize::Zeroizing::new(vec![0; out.len()]);
    for pairs in rest.chunks(PRODUCTS) {
        few_products(modulus, pairs, &mut part);
        for (out, &part) in out.iter_mut().zip(&*part) {
            *out = modulus.sum(*out, part);
        }
    }
}

fn few_products(modulus: Modulus, pairs: &[[&[u64]; 2]], out: &mut [u64]) {
    #[cfg(target_arch = "x86_64")]
    if has_ifma(modulus) {
        // SAFETY: the twin is safe but for its target features, which `has_ifma` has found.
        return unsafe { ifma::products(modulus, pairs, out) };
    }
    portable::products(modulus, pairs, 0, out);
}

/// `acc[i] += x[i] * y[i]`, unreduced.
///
/// # Panics
/// If the lengths differ.
pub fn accumulate(acc: &mut [u128], x: &[u64], y: &[u64]) {
    assert!(acc.len() == x.len() && x.len() == y.len(), "accumulate takes slices of one length");
    for (acc, (&x, &y)) in acc.iter_mut().zip(x.iter().zip(y)) {
        *acc += u128::from(x) * u128::from(y);
    }
}

/// The sum of all `x[i] * y[i]`, unreduced.
///
/// # Panics
/// If the lengths differ.
pub fn dot(x: &[u64], y: &[u64]) -> u128 {
    assert_eq!(x.len(), y.len(), "dot takes slices of one length");
    x.iter().zip(y).fold(0, |sum, (&x, &y)| sum + u128::from(x) * u128::from(y))
}
