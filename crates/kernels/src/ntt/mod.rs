//! Polynomials over a prime field modulo `X^n + 1`, by number theoretic transforms.
//!
//! The transform gives the values at the odd powers of a `2 n`-th root of unity, in bit-reversed
//! order, where products are element by element: it is all that is needed as long as polynomials
//! travel as values and nobody asks for more than a coefficient of one. It is Harvey's ("Faster
//! arithmetic for number-theoretic transforms", 2014): butterflies leave values unreduced below
//! four times the prime.

mod modulus;

pub use modulus::{Factor, Modulus};

/// The transforms of one length and prime.
#[derive(Clone, Debug)]
pub struct Ntt {
    modulus: Modulus,
    /// Place `m + i` belongs to block `i` of the layer of `m` blocks.
    roots: Vec<Factor>,
}

impl Ntt {
    /// Tables for polynomials of `n` coefficients.
    ///
    /// # Panics
    /// If `n` is no power of two from 2 on, or the prime is not 1 modulo `2 n`.
    pub fn new(modulus: Modulus, n: usize) -> Self {
        assert!(n.is_power_of_two() && n > 1, "a power of two coefficients");
        let root = modulus.root(2 * n as u64);
        let bits = n.trailing_zeros();
        let mut roots = vec![Factor::default(); n];
        let mut power = 1;
        for i in 0..n {
            roots[i.reverse_bits() >> (usize::BITS - bits)] = modulus.factor(power);
            power = modulus.product(power, root);
        }
        Self { modulus, roots }
    }

    /// The prime.
    pub fn modulus(&self) -> Modulus {
        self.modulus
    }

    /// From coefficients, each below four times the prime, to values.
    ///
    /// # Panics
    /// If there is another number of them.
    pub fn forward(&self, x: &mut [u64]) {
        let modulus = self.modulus;
        let (p, n) = (modulus.p(), self.roots.len());
        assert_eq!(x.len(), n, "as many coefficients as the tables are for");
        let mut half = n;
        while half > 1 {
            half /= 2;
            let blocks = n / (2 * half);
            for (block, &root) in x.chunks_exact_mut(2 * half).zip(&self.roots[blocks..2 * blocks]) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::words;

    /// `x y` modulo `X^n + 1`, by the definition.
    fn product(modulus: Modulus, x: &[u64], y: &[u64]) -> Vec<u64> {
        let (n, p) = (x.len(), u128::from(modulus.p()));
        let mut product = vec![0u128; n];
        for (i, &x) in x.iter().enumerate() {
            for (j, &y) in y.iter().enumerate() {
                let term = u128::from(x) * u128::from(y) % p;
                let place = &mut product[(i + j) % n];
                *place = (*place + if i + j < n { term } else { p - term }) % p;
            }
        }
        product.into_iter().map(|x| x as u64).collect()
    }

    #[test]
    fn values_of_products_are_products_of_values() {
        for n in [2usize, 4, 8, 64, 512] {
            for modulus in Modulus::largest(50, 2 * n as u64, 2).into_iter().chain([Modulus::new(12289)]) {
                let ntt = Ntt::new(modulus, n);
                let random = |seed| words(seed, n).iter().map(|&x| x as u64 % modulus.p()).collect::<Vec<_>>();
                let largest = vec![modulus.p() - 1; n];
                for (x, y) in [(random(1), random(2)), (largest.clone(), largest), (vec![0; n], random(3))] {
                    let mut expected = product(modulus, &x, &y);
                    ntt.forward(&mut expected);
                    let (mut values, mut others) = (x.clone(), y.clone());
                    // What is not reduced has the same values.
                    values.iter_mut().enumerate().for_each(|(i, x)| *x += modulus.p() * (i as u64 % 4));
                    ntt.forward(&mut values);
                    ntt.forward(&mut others);
                    let mut acc = vec![5; n];
                    accumulate(&mut acc, &values, &others);
                    assert_eq!(
                        acc.iter().map(|&acc| modulus.reduce(acc - 5)).collect::<Vec<_>>(),
                        expected,
                        "{n} coefficients, {modulus:?}"
                    );
                    assert_eq!(dot(&values, &others), acc.iter().map(|acc| acc - 5).sum());
                }
            }
        }
    }

    #[test]
    fn values_are_those_at_the_odd_powers_of_a_root() {
        let (n, modulus) = (16, Modulus::new(12289));
        let ntt = Ntt::new(modulus, n);
        let x: Vec<u64> = words(4, n).iter().map(|&x| x as u64 % modulus.p()).collect();
        let root = modulus.root(2 * n as u64);
        let mut values = x.clone();
        ntt.forward(&mut values);
        for (i, &value) in values.iter().enumerate() {
            let point = modulus.power(root, 2 * (i as u64).reverse_bits().wrapping_shr(60) + 1);
            let expected = x.iter().rev().fold(0, |sum, &x| (modulus.product(sum, point) + x) % modulus.p());
            assert_eq!(value, expected, "place {i}");
        }
    }
}
