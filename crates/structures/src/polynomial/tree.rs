//! Polynomials through many points, by a tree of vanishing polynomials, as in Moenck and Borodin
//! (1972), with every polynomial given by its values on a space `W_j` of the additive
//! Fourier transform (see `kernels::gf64::Transform`), so that products are element by element.
//!
//! Let node `v` have the points `Y_v`, at most `m = 2^j`, and `M_v` vanish on them. Going up from
//! weights `c_i`,
//!
//! ```text
//!     N_v = sum over i in v of c_i M_v / (X - y_i),      N_parent = N_left M_right + N_right M_left,
//! ```
//!
//! where the children's values on `W_j` are first extended to `2^j + W_j`, the other half of
//! `W_(j+1)`, by an inverse transform and a transform. With the weights `value_i / M'(y_i)` the
//! root's `N` is Lagrange's interpolation; with the weights 1 it is `M'`. Going down, the
//! transposed steps take values `v_w` on `W_k` to `sum over w of v_w M(w) / (w - y_i)`; since `P(x) =
//! s_k(x) / s_k' * sum over w of P(w) / (x - w)` for `P` below degree `2^k`, that evaluates `P`
//! from its values over `M(w)`. No division of polynomials, and nothing but the tree depends on the
//! points: all slices share it (PRTY19, section 5.2).

use rayon::prelude::*;
use vesica_kernels::gf64::{Direction, Transform, add_products, invert, multiply_add, multiply_into};
use vesica_kernels::xor::xor_into_u64;

use super::Coincidence;
use crate::secret::Secret;

const WORDS_PER_THREAD_TASK: usize = 1 << 14;

type Words = Secret<Vec<u64>>;

/// The space `W_k` on which polynomials below degree `2^k` are given.
#[derive(Clone, Debug)]
pub struct Space(Transform);

impl Space {
    /// The least one for polynomials of `coefficients` coefficients, and of at least two elements.
    pub fn new(coefficients: usize) -> Self {
        Self(Transform::new(crate::facts::ceil_log2(coefficients).max(1)))
    }

    /// The number of elements. They are the numbers below it; no point may be among them.
    pub fn len(&self) -> usize {
        1 << self.0.log_len()
    }

    /// Never.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The values on the space of the polynomial with these coefficients on the transform's basis,
    /// of which element `i` has degree `i`.
    pub fn values(&self, coefficients: &mut [u64]) {
        self.0.apply(Direction::Forward, self.0.log_len(), 0, coefficients);
    }

    /// Back from [`Space::values`].
    pub fn coefficients(&self, values: &mut [u64]) {
        self.0.apply(Direction::Inverse, self.0.log_len(), 0, values);
    }

    /// `direction` on all blocks of `2^log`, on `W_log` or on its neighbour.
    fn apply(&self, direction: Direction, log: u32, first: usize, x: &mut [u64]) {
        x.par_chunks_mut(WORDS_PER_THREAD_TASK.max(1 << log)).for_each(|x| self.0.apply(direction, log, first, x));
    }

    /// From values on `W_log` to those on `2^log + W_log`, block by block.
    fn extend(&self, log: u32, x: &mut [u64]) {
        self.apply(Direction::Inverse, log, 0, x);
        self.apply(Direction::Forward, log, 1 << log, x);
    }

    /// The transpose of [`Space::extend`].
    fn extend_transposed(&self, log: u32, x: &mut [u64]) {
        self.apply(Direction::ForwardTransposed, log, 1 << log, x);
        self.apply(Direction::InverseTransposed, log, 0, x);
    }
}

/// Points, ready for evaluations.
pub struct Tree<'a> {
    space: &'a Space,
    points: usize,
    /// For each `j` below `k`, and each node of up to `2^j` points, its vanishing polynomial on
    /// `W_(j+1)`.
    levels: Vec<Words>,
    /// The inverse of the root's on `W_k`.
    root: Words,
    /// `s_k / s_k'` at each point.
    scales: Words,
}

impl<'a> Tree<'a> {
    /// The tree of at most `2^k` points outside of `W_k`; some may be equal.
    ///
    /// # Panics
    /// If there are more points than that, or one of them is in the space.
    pub fn new(space: &'a Space, points: &[u64]) -> Self {
        assert!(
            points.len() <= space.len() && points.iter().all(|&point| point >= space.len() as u64),
            "points outside of the space"
        );
        let log = space.0.log_len();
        let mut levels = Vec::new();
        let mut products = Secret::new(points.to_vec());
        for j in 0..log {
            let size = 1 << j;
            let mut far = products.clone();
            space.extend(j, &mut far);
            // A node with all its points has a polynomial of degree 2^j: s_j and a rest that its values give,
            // for s_j is 0 on W_j.
            let full = points.len() >> j << j;
            far[..full].iter_mut().for_each(|value| *value ^= space.0.steps()[j as usize]);
            let mut level = Secret::new(vec![0; 2 * products.len()]);
            for ((both, near), far) in
                level.chunks_exact_mut(2 * size).zip(products.chunks_exact(size)).zip(far.chunks_exact(size))
            {
                both[..size].copy_from_slice(near);
                both[size..].copy_from_slice(far);
            }
            drop(far);
            products = Secret::new(vec![0; points.len().div_ceil(2 * size) * 2 * size]);
            products
                .par_chunks_mut(WORDS_PER_THREAD_TASK.max(2 * size))
                .zip(level.par_chunks((2 * WORDS_PER_THREAD_TASK).max(4 * size)))
                .for_each(|(parents, children)| {
                    for (parent, children) in parents.chunks_exact_mut(2 * size).zip(children.chunks(4 * size)) {
                        let (left, right) = children.split_at(2 * size);
                        if right.is_empty() {
                            parent.copy_from_slice(left)
                        } else {
                            multiply_add(left, right, 0, parent)
                        }
                    }
                });
            levels.push(level);
        }
        products.resize(space.len(), 1);
        invert(&mut products);
        Self { space, points: points.len(), levels, root: products, scales: scales(space, points) }
    }

    /// Going up: the values on the space of `N` for these weights.
    fn combine(&self, weights: &[u64]) -> Words {
        let mut below = Secret::new(weights.to_vec());
        for (j, level) in self.levels.iter().enumerate() {
            let size = 1 << j;
            let mut far = below.clone();
            self.space.extend(j as u32, &mut far);
            let mut above = Secret::new(vec![0; self.points.div_ceil(2 * size) * 2 * size]);
            let piece = WORDS_PER_THREAD_TASK.max(2 * size);
            above
                .par_chunks_mut(piece)
                .zip(below.par_chunks(piece))
                .zip(far.par_chunks(piece))
                .zip(level.par_chunks(2 * piece))
                .for_each(|(((above, near), far), level)| go_up(size, [near, far], level, above));
            below = above;
        }
        below.resize(self.space.len(), 0);
        below
    }

    /// Going down: from values on the space of a polynomial below degree `2^k` to its values at the
    /// points.
    ///
    /// # Panics
    /// If there are not `2^k` values.
    pub fn evaluate(&self, values: &[u64]) -> Words {
        let mut above = Secret::new(vec![0; self.space.len()]);
        multiply_add(values, &self.root, 0, &mut above);
        for (j, level) in self.levels.iter().enumerate().rev() {
            let size = 1 << j;
            let length = self.points.div_ceil(size) * size;
            let (mut near, mut far) = (Secret::new(vec![0; length]), Secret::new(vec![0; length]));
            let piece = WORDS_PER_THREAD_TASK.max(2 * size);
            near.par_chunks_mut(piece)
                .zip(far.par_chunks_mut(piece))
                .zip(above.par_chunks(piece))
                .zip(level.par_chunks(2 * piece))
                .for_each(|(((near, far), above), level)| go_down(size, above, level, [near, far]));
            self.space.extend_transposed(j as u32, &mut far);
            xor_into_u64(&mut near, &far);
            above = near;
        }
        above.truncate(self.points);
        multiply_into(&mut above, &self.scales, 0);
        above
    }
}

/// `N` of parents of up to `2 size` points each from that of their children, near and far.
fn go_up(size: usize, [near, far]: [&[u64]; 2], level: &[u64], above: &mut [u64]) {
    let families = above
        .chunks_exact_mut(2 * size)
        .zip(near.chunks(2 * size))
        .zip(far.chunks(2 * size))
        .zip(level.chunks(4 * size));
    for (((parent, near), far), vanishing) in families {
        let (to_near, to_far) = parent.split_at_mut(size);
        if vanishing.len() == 2 * size {
            // No right child, whose N would be 0 and M would be 1.
            to_near.copy_from_slice(near);
            to_far.copy_from_slice(far);
            continue;
        }
        let (left, right) = vanishing.split_at(2 * size);
        add_products([&near[..size], &right[..size], &near[size..], &left[..size]], to_near);
        add_products([&far[..size], &right[size..], &far[size..], &left[size..]], to_far);
    }
}

/// The transpose of [`go_up`].
fn go_down(size: usize, above: &[u64], level: &[u64], [near, far]: [&mut [u64]; 2]) {
    let families = above
        .chunks_exact(2 * size)
        .zip(near.chunks_mut(2 * size))
        .zip(far.chunks_mut(2 * size))
        .zip(level.chunks(4 * size));
    for (((parent, near), far), vanishing) in families {
        let (from_near, from_far) = parent.split_at(size);
        if vanishing.len() == 2 * size {
            near.copy_from_slice(from_near);
            far.copy_from_slice(from_far);
            continue;
        }
        let (left, right) = vanishing.split_at(2 * size);
        let ((near_left, near_right), (far_left, far_right)) = (near.split_at_mut(size), far.split_at_mut(size));
        multiply_add(from_near, &right[..size], 0, near_left);
        multiply_add(from_near, &left[..size], 0, near_right);
        multiply_add(from_far, &right[size..], 0, far_left);
        multiply_add(from_far, &left[size..], 0, far_right);
    }
}

/// `s_k(x) / s_k'` at each point: `s_(j+1) = s_j (s_j + s_j(2^j))`, and `s_k'` is the product of
/// all `s_j(2^j)`.
fn scales(space: &Space, points: &[u64]) -> Words {
    let mut values = Secret::new(points.to_vec());
    let mut derivative = vec![1];
    for &step in space.0.steps() {
        let before = values.clone();
        multiply_into(&mut values, &before, step);
        drop(before);
        multiply_into(&mut derivative, &[step], 0);
    }
    invert(&mut derivative);
    let all = vec![derivative[0]; values.len()];
    multiply_into(&mut values, &all, 0);
    values
}

/// Distinct points, ready for interpolations.
pub struct Interpolator<'a> {
    tree: Tree<'a>,
    /// `1 / M'` at each point.
    weights: Words,
}

impl<'a> Interpolator<'a> {
    /// For at most `2^k` distinct points outside of `W_k`.
    ///
    /// # Errors
    /// If two points are one.
    ///
    /// # Panics
    /// Fails as [`Tree::new`] does.
    pub fn new(space: &'a Space, points: &[u64]) -> Result<Self, Coincidence> {
        let tree = Tree::new(space, points);
        let derivative = tree.combine(&vec![1; points.len()]);
        let mut weights = tree.evaluate(&derivative);
        if weights.contains(&0) {
            return Err(Coincidence);
        }
        invert(&mut weights);
        Ok(Self { tree, weights })
    }

    /// The polynomial of as many coefficients as there are points, and of zeros up to `2^k`, that
    /// takes `values[i]` at point `i`. The values are lost.
    ///
    /// # Panics
    /// If there is not a value for each point.
    pub fn coefficients(&self, values: &mut [u64]) -> Words {
        multiply_into(values, &self.weights, 0);
        let mut coefficients = self.tree.combine(values);
        self.tree.space.coefficients(&mut coefficients);
        coefficients
    }
}
