//! Polynomials through a few dozen points, by Lagrange's formula for [`LANES`] slices at once. Most
//! of the work is a product of matrices, whose sums are reduced once each.

use vesica_kernels::gf64::{Matrix, Row, combine, invert, multiply_add, multiply_into, scale_add};
use zeroize::Zeroize;

use super::Coincidence;

/// The space that interpolations take, one after the other.
#[derive(Default)]
pub struct Small {
    /// The polynomial that vanishes on the points, and the one before it.
    vanishing: [Vec<u64>; 2],
    /// Coefficient `k` of that polynomial over `X - point i`, at `k n + i`.
    quotients: Vec<u64>,
    squares: Vec<u64>,
    weights: Vec<u64>,
}

impl Small {
    /// Coefficients of the polynomials below degree `points.len()` that take `values[i]` at
    /// `points[i]`, a word a slice. The values are lost.
    ///
    /// # Errors
    /// If two points are one.
    ///
    /// # Panics
    /// If there are not as many points, values and coefficients.
    pub fn interpolate(
        &mut self,
        points: &[u64],
        values: &mut [Row],
        coefficients: &mut [Row],
    ) -> Result<(), Coincidence> {
        let n = points.len();
        assert!(values.len() == n && coefficients.len() == n, "a value and a coefficient for each point");
        self.vanish_on(points);
        self.divide(points);
        self.differentiate(points);
        if self.weights.contains(&0) {
            return Err(Coincidence);
        }
        invert(&mut self.weights);
        for (value, &weight) in values.iter_mut().zip(&self.weights) {
            let row = std::mem::take(value);
            scale_add(value, weight, &row);
        }
        combine(Matrix { elements: &self.quotients, row: n, column: 1 }, values, coefficients);
        Ok(())
    }

    /// The product of all `X - point`.
    fn vanish_on(&mut self, points: &[u64]) {
        let [vanishing, next] = &mut self.vanishing;
        vanishing.clear();
        vanishing.push(1);
        for &point in points {
            next.clear();
            next.push(0);
            next.extend_from_slice(vanishing);
            scale_add(&mut next[..vanishing.len()], point, vanishing);
            std::mem::swap(vanishing, next);
        }
    }

    /// The quotients by each `X - point`, from the top coefficient down.
    fn divide(&mut self, points: &[u64]) {
        let n = points.len();
        self.quotients.clear();
        self.quotients.resize(n * n, 1);
        for k in (1..n).rev() {
            let (lower, upper) = self.quotients.split_at_mut(k * n);
            multiply_add(&upper[..n], points, self.vanishing[0][k], &mut lower[(k - 1) * n..]);
        }
    }

    /// The derivative of the vanishing polynomial at each point: its odd coefficients on even
    /// powers.
    fn differentiate(&mut self, points: &[u64]) {
        self.squares.clear();
        self.squares.resize(points.len(), 0);
        multiply_add(points, points, 0, &mut self.squares);
        self.weights.clear();
        self.weights.resize(points.len(), 0);
        for &coefficient in self.vanishing[0].iter().skip(3).step_by(2).rev() {
            multiply_into(&mut self.weights, &self.squares, coefficient);
        }
        let lowest = self.vanishing[0].get(1).copied().unwrap_or(0);
        self.weights.iter_mut().for_each(|weight| *weight ^= lowest);
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        self.vanishing
            .iter_mut()
            .chain([&mut self.quotients, &mut self.squares, &mut self.weights])
            .for_each(Zeroize::zeroize);
    }
}

/// `out[i]` = the values at `points[i]` of the polynomials with these coefficients. The powers of
/// the points are left in `powers`.
///
/// # Panics
/// If there are not as many points as values.
pub fn evaluate_small(coefficients: &[Row], points: &[u64], powers: &mut Vec<u64>, out: &mut [Row]) {
    let n = points.len();
    powers.clear();
    powers.resize(n * coefficients.len(), 1);
    for k in 1..coefficients.len() {
        let (before, after) = powers.split_at_mut(k * n);
        multiply_add(&before[(k - 1) * n..], points, 0, &mut after[..n]);
    }
    combine(Matrix { elements: powers, row: 1, column: n }, coefficients, out);
}
