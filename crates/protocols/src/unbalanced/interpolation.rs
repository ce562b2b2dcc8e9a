//! Polynomials with given roots, and with given values.

use vesica_structures::secret::Secret;

use super::ring::PLAIN;
use crate::bfv::inverse;

/// The monic polynomial with the first so many roots as it has room for, the constant coefficient
/// first.
#[inline(always)]
pub fn expand(t: u64, roots: impl Iterator<Item = u64>, polynomial: &mut [u64]) {
    let degree = polynomial.len() - 1;
    polynomial.fill(0);
    // The polynomial so far stands at the upper end.
    polynomial[degree] = 1;
    for (count, root) in roots.take(degree).enumerate() {
        let lowest = degree - count - 1;
        for i in lowest..degree {
            polynomial[i] = (polynomial[i] + (t - root) * polynomial[i + 1]) % t;
        }
    }
}

/// Interpolation at some points, for several polynomials: each is a sum of the same basis polynomials,
/// of which each is 1 at its own point and 0 at the others (Lagrange).
pub struct Interpolation {
    count: usize,
    /// For each point the coefficients of its basis polynomial, the constant one first.
    basis: Secret<Vec<u64>>,
    points: Secret<Vec<u64>>,
    /// The monic polynomial whose roots are the points.
    product: Secret<Vec<u64>>,
    sum: Secret<Vec<u64>>,
}

impl Interpolation {
    /// For so many points, which are not known yet.
    pub fn new(count: usize) -> Self {
        let zeros = |count| Secret::new(vec![0; count]);
        Self { count, basis: zeros(count * count), points: zeros(count), product: zeros(count + 1), sum: zeros(count) }
    }

    /// Takes the points, residues of which no two are equal.
    pub fn at(&mut self, points: impl Iterator<Item = u64>) {
        self.points.iter_mut().zip(points).for_each(|(own, point)| *own = point);
        expand(PLAIN, self.points.iter().copied(), &mut self.product);
        for (&point, basis) in self.points.iter().zip(self.basis.chunks_exact_mut(self.count)) {
            // The product without the point's factor, and its value at the point, both by Horner's rule.
            let (mut coefficient, mut value) = (0, 0);
            for (basis, &of_product) in basis.iter_mut().zip(&self.product[1..]).rev() {
                coefficient = (of_product + point * coefficient) % PLAIN;
                *basis = coefficient;
                value = (coefficient + point * value) % PLAIN;
            }
            let scale = inverse(value, PLAIN);
            basis.iter_mut().for_each(|coefficient| *coefficient = *coefficient * scale % PLAIN);
        }
    }

    /// The coefficients of the polynomial with these values, which are residues; the constant one first.
    pub fn through(&mut self, values: impl Iterator<Item = u64>) -> &[u64] {
        self.sum.fill(0);
        for (value, basis) in values.zip(self.basis.chunks_exact(self.count)) {
            // Sums of hundreds of products of residues of 18 bits fit a word.
            self.sum.iter_mut().zip(basis).for_each(|(sum, coefficient)| *sum += value * coefficient);
        }
        self.sum.iter_mut().for_each(|sum| *sum %= PLAIN);
        &self.sum
    }
}

#[cfg(test)]
mod tests {
    use vesica_structures::rng::SecretRng;

    use super::*;
    use crate::recurrent::scramble::uniform;
    use crate::unbalanced::labels::no_limb;
    use crate::unbalanced::powers::BASES;
    use crate::unbalanced::ring::NO_LIMB;

    #[test]
    fn polynomials_have_their_roots_and_no_others() {
        let (t, roots) = (97, [3, 5, 5, 96]);
        let mut polynomial = [0; 5];
        expand(t, roots.into_iter().chain([1, 2]), &mut polynomial);
        for x in 0..t {
            let value = polynomial.iter().rev().fold(0, |value, &c| (value * x + c) % t);
            let product = roots.iter().fold(1, |product, &root| product * (x + t - root) % t);
            assert_eq!(value, product, "at {x}");
        }
    }

    #[test]
    fn interpolated_polynomials_have_their_values() {
        let mut rng = SecretRng::insecure_from_seed(7);
        let most = BASES.iter().map(|basis| basis.reach).max().unwrap();
        for count in [1, 2, 26, most] {
            let mut interpolation = Interpolation::new(count);
            for _ in 0..2 {
                // Limbs at some places; the others are free.
                let points: Vec<u64> =
                    (0..count as u64).map(|i| if i % 3 == 0 { no_limb(i) } else { i * 801 }).collect();
                assert!(points.iter().all(|&point| point < NO_LIMB));
                interpolation.at(points.iter().copied());
                for _ in 0..2 {
                    let values: Vec<u64> = points.iter().map(|_| uniform(&mut rng)).collect();
                    let polynomial = interpolation.through(values.iter().copied());
                    for (point, value) in points.iter().zip(values) {
                        let found = polynomial.iter().rev().fold(0, |sum, &c| (sum * point + c) % PLAIN);
                        assert_eq!(found, value, "{count} points, at {point}");
                    }
                }
            }
        }
    }
}
