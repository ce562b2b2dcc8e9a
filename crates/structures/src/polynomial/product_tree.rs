//! Interpolation over `F = GF(2^128)`: the polynomial through as many points as it has
//! coefficients, a power of two.
//!
//! `P = sum c_i M / (x + x_i)` with `M = prod (x + x_i)` and `c_i = v_i / M'(x_i)` (Lagrange),
//! added up over a binary tree of products by Karatsuba. In characteristic two `M'` is a polynomial
//! in `x^2`, with half the coefficients.

use vesica_kernels::clmul::{gf128_inner_product, gf128_powers};
use zeroize::Zeroize;

use crate::fields::{Gf128, Value};
use crate::secret::Secret;

/// Products of this many coefficients and fewer go term by term.
const TERM_BY_TERM: usize = 32;

/// Powers of a point that are made at a time.
const POWERS: usize = 32;

/// What only the points decide, for any number of interpolations through them.
pub struct Interpolation {
    /// For each level with nodes of 1, 2, 4, .. points: `prod (x + x_i)` over a node without its
    /// leading coefficient, node after node.
    levels: Vec<Vec<Gf128>>,
    /// `1 / M'(x_i)`.
    weights: Vec<Gf128>,
}

impl Interpolation {
    /// Through these points; nothing if two of them are equal.
    ///
    /// # Panics
    /// If their number is no power of two.
    pub fn new(points: &[Gf128]) -> Option<Self> {
        assert!(points.len().is_power_of_two(), "{} points", points.len());
        let mut scratch = Scratch::new(points.len());
        let mut levels = vec![points.to_vec()];
        for level in 0..points.len().trailing_zeros() as usize {
            let (size, below) = (1 << level, &levels[level]);
            let mut above = vec![Gf128::default(); points.len()];
            for (node, halves) in above.chunks_exact_mut(2 * size).zip(below.chunks_exact(2 * size)) {
                // (x^k + a) (x^k + b) = x^2k + (a + b) x^k + a b.
                let (a, b) = halves.split_at(size);
                multiply_add(a, b, node, &mut scratch.0);
                add(&mut node[size..], a);
                add(&mut node[size..], b);
            }
            levels.push(above);
        }
        // The derivative of M, as a polynomial in x^2; the leading term of M is even but for one point
        // alone, where M' = 1.
        let top = &levels[levels.len() - 1];
        let derivative = Secret::new(top.iter().skip(1).step_by(2).copied().collect::<Vec<_>>());
        let mut weights: Vec<Gf128> = match points {
            [_] => vec![Gf128(1)],
            _ => points.iter().map(|&x| evaluate(&derivative, x * x)).collect(),
        };
        let found = invert(&mut weights);
        let interpolation = Self { levels, weights };
        found.then_some(interpolation)
    }

    /// The coefficients of the polynomial that takes `values` at the points, the lowest one first.
    ///
    /// # Panics
    /// If there is not one value a point.
    pub fn through(&self, values: &[Gf128]) -> Vec<Gf128> {
        assert_eq!(values.len(), self.weights.len(), "a value for each point");
        let mut scratch = Scratch::new(values.len());
        let mut sums: Vec<Gf128> = values.iter().zip(&self.weights).map(|(&value, &weight)| value * weight).collect();
        for (level, products) in self.levels[..self.levels.len() - 1].iter().enumerate() {
            let size = 1 << level;
            let mut above = vec![Gf128::default(); values.len()];
            let halves = sums.chunks_exact(2 * size).zip(products.chunks_exact(2 * size));
            for (node, (sums, products)) in above.chunks_exact_mut(2 * size).zip(halves) {
                let ((p, q), (a, b)) = (sums.split_at(size), products.split_at(size));
                // p (x^k + b) + q (x^k + a).
                multiply_add(p, b, node, &mut scratch.0);
                multiply_add(q, a, node, &mut scratch.0);
                add(&mut node[size..], p);
                add(&mut node[size..], q);
            }
            sums.zeroize();
            sums = above;
        }
        sums
    }
}

impl Drop for Interpolation {
    fn drop(&mut self) {
        self.levels.zeroize();
        self.weights.zeroize();
    }
}

/// The polynomial's value at `x`.
pub fn evaluate(coefficients: &[Gf128], x: Gf128) -> Gf128 {
    let mut powers = Secret::new([1u128; POWERS + 1]);
    gf128_powers(x.0, &mut powers[1..]);
    let (powers, giant) = (&powers[..POWERS], Gf128(powers[POWERS]));
    coefficients.chunks(POWERS).rev().fold(Gf128(0), |sum, coefficients| {
        let coefficients: &[u128] = bytemuck::cast_slice(coefficients);
        sum * giant + Gf128(gf128_inner_product(coefficients, &powers[..coefficients.len()]))
    })
}

fn add(sum: &mut [Gf128], terms: &[Gf128]) {
    sum.iter_mut().zip(terms).for_each(|(sum, &term)| *sum += term);
}

/// Inverts all elements; false if one of them is zero.
fn invert(elements: &mut [Gf128]) -> bool {
    // The product of all elements before each.
    let mut before = Secret::new(Vec::with_capacity(elements.len()));
    let mut product = Gf128(1);
    for &element in &*elements {
        before.push(product);
        product = product * element;
    }
    if product == Gf128(0) {
        return false;
    }
    // Of one, by x^(2^128 - 2).
    let (mut inverse, mut power) = (Gf128(1), product);
    for _ in 1..128 {
        power = power * power;
        inverse = inverse * power;
    }
    for (element, &before) in elements.iter_mut().zip(before.iter()).rev() {
        let inverted = inverse * before;
        inverse = inverse * *element;
        *element = inverted;
    }
    true
}

/// Room for products; wiped on drop.
struct Scratch(Vec<Gf128>);

impl Scratch {
    /// For factors of at most half of `len` coefficients.
    fn new(len: usize) -> Self {
        Self(vec![Gf128::default(); len])
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

/// `sum += a b` for factors of `k` coefficients, a power of two, and `2 k` of the sum.
fn multiply_add(a: &[Gf128], b: &[Gf128], sum: &mut [Gf128], scratch: &mut [Gf128]) {
    let k = a.len();
    if k <= TERM_BY_TERM {
        for (i, &a) in a.iter().enumerate() {
            Gf128::scale_add(&mut sum[i..i + k], a, b);
        }
        return;
    }
    // Karatsuba: a1 b1 (x^k + x^h) + a0 b0 (1 + x^h) + (a0 + a1) (b0 + b1) x^h.
    let h = k / 2;
    let ((a0, a1), (b0, b1)) = (a.split_at(h), b.split_at(h));
    let (product, scratch) = scratch.split_at_mut(k);
    for (a, b, places) in [(a0, b0, [0, h]), (a1, b1, [h, k])] {
        product.fill(Gf128(0));
        multiply_add(a, b, product, scratch);
        places.into_iter().for_each(|place| add(&mut sum[place..place + k], product));
    }
    let (a_sum, b_sum) = product.split_at_mut(h);
    a_sum.copy_from_slice(a0);
    b_sum.copy_from_slice(b0);
    add(a_sum, a1);
    add(b_sum, b1);
    multiply_add(a_sum, b_sum, &mut sum[h..h + k], scratch);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::SecretRng;

    fn elements(count: usize, rng: &mut SecretRng) -> Vec<Gf128> {
        (0..count).map(|_| Gf128(rng.block())).collect()
    }

    #[test]
    fn evaluation_is_the_sum_of_terms() {
        let mut rng = SecretRng::insecure_from_seed(1);
        for count in [0, 1, 2, 31, 32, 33, 100] {
            let (coefficients, x) = (elements(count, &mut rng), Gf128(rng.block()));
            let mut power = Gf128(1);
            let mut sum = Gf128(0);
            for &coefficient in &coefficients {
                sum += coefficient * power;
                power = power * x;
            }
            assert_eq!(evaluate(&coefficients, x), sum);
        }
    }

    #[test]
    fn a_polynomial_goes_through_its_points() {
        let mut rng = SecretRng::insecure_from_seed(2);
        for log in 0..=9 {
            let points = elements(1 << log, &mut rng);
            let interpolation = Interpolation::new(&points).unwrap();
            for _ in 0..2 {
                let values = elements(1 << log, &mut rng);
                let coefficients = interpolation.through(&values);
                assert_eq!(coefficients.len(), 1 << log);
                for (&point, &value) in points.iter().zip(&values) {
                    assert_eq!(evaluate(&coefficients, point), value, "2^{log} points");
                }
            }
        }
    }

    #[test]
    fn equal_points_are_refused() {
        let mut points = elements(64, &mut SecretRng::insecure_from_seed(3));
        points[40] = points[7];
        assert!(Interpolation::new(&points).is_none());
        assert!(Interpolation::new(&[Gf128(0), Gf128(0)]).is_none());
        assert!(Interpolation::new(&[Gf128(0), Gf128(1)]).is_some());
    }
}
