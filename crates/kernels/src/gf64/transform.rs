//! The additive Fourier transform: Lin, Chung, Han, "Novel polynomial basis and its application to
//! Reed-Solomon erasure codes" (FOCS 2014).
//!
//! `W_j` are the `2^j` elements of `B` below `2^j`, a space over GF(2), and `s_j` is the polynomial
//! that vanishes on it, which is linear over GF(2). With `t_j = s_j / s_j(2^j)`, so that `t_j(x +
//! 2^j) = t_j(x) + 1`, the polynomial `X_i` is the product of all `t_j` for which bit `j` of `i` is
//! set; its degree is `i`. A polynomial below degree `2^j` is given by its coefficients on `X_0 ..
//! X_(2^j - 1)`, or by its values at the elements of `b + W_j` for a `b` of which the low `j`
//! bits are 0, in their order as numbers. Where it is `f + t_(j-1) g`, its values on the lower half
//! of `b + W_j` are those of `f + t_(j-1)(b) g`, and on the upper half those of `f + (t_(j-1)(b) + 1)
//! g`: one butterfly with one product.

use super::{inverse, portable};
use crate::clmul::gf64_mul;
use crate::dispatch::{backend, dispatch};

/// The factors of all transforms on `W_k` and on the parts of it.
#[derive(Clone)]
pub struct Transform {
    /// `factors[j][i] = t_j(i 2^(j + 1))`.
    factors: Vec<Vec<u64>>,
    /// `s_j(2^j)`.
    steps: Vec<u64>,
}

impl std::fmt::Debug for Transform {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Transform on 2^{} elements", self.log_len())
    }
}

/// Which linear map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From coefficients to values.
    Forward,
    /// From values to coefficients.
    Inverse,
    /// Like `Forward`, by the transposed matrix.
    ForwardTransposed,
    /// Like `Inverse`, by the transposed matrix.
    InverseTransposed,
}

impl Direction {
    /// Whether layers come largest first, each butterfly product first.
    fn top_first(self) -> bool {
        matches!(self, Self::Forward | Self::InverseTransposed)
    }

    /// A transposed butterfly is one of the opposite direction between exchanged halves.
    fn swapped(self) -> bool {
        matches!(self, Self::ForwardTransposed | Self::InverseTransposed)
    }
}

/// `log2` of the length up to which transforms go layer by layer: 16 KiB.
const LOG_FLAT: u32 = 11;

impl Transform {
    /// Factors for `W_k`, `k` of 1 to 32.
    ///
    /// # Panics
    /// If `k` is another number.
    pub fn new(k: u32) -> Self {
        assert!((1..=32).contains(&k), "a space of 2 to 2^32 elements");
        // s_j at the powers of 2.
        let mut at: Vec<u64> = (0..k).map(|bit| 1 << bit).collect();
        let (mut factors, mut steps) = (Vec::new(), Vec::new());
        for j in 0..k as usize {
            let step = at[j];
            let scale = inverse(step);
            let mut of_layer = vec![0];
            for &at in &at[j + 1..] {
                let value = gf64_mul(at, scale);
                of_layer.extend_from_within(..);
                let half = of_layer.len() / 2;
                of_layer[half..].iter_mut().for_each(|factor| *factor ^= value);
            }
            factors.push(of_layer);
            steps.push(step);
            // s_(j+1) = s_j^2 + s_j(2^j) s_j.
            at.iter_mut().for_each(|at| *at = gf64_mul(*at, *at ^ step));
        }
        Self { factors, steps }
    }

    /// `k`.
    pub fn log_len(&self) -> u32 {
        self.steps.len() as u32
    }

    /// `s_j(2^j)` for each `j` below `k`: what `s_j` is on all of `2^j + W_j`.
    pub fn steps(&self) -> &[u64] {
        &self.steps
    }

    /// Replaces each block of `2^log` elements by its image, as of a polynomial on `first + W_log`.
    ///
    /// # Panics
    /// If `x` is not of whole blocks, or `first + W_log` is not a part of `W_k`.
    pub fn apply(&self, direction: Direction, log: u32, first: usize, x: &mut [u64]) {
        assert!(x.len().is_multiple_of(1 << log), "whole blocks");
        assert!(
            log <= self.log_len() && first >> self.log_len() == 0 && first.is_multiple_of(1 << log),
            "a part of the space"
        );
        if log <= LOG_FLAT {
            x.chunks_mut(1 << LOG_FLAT).for_each(|x| self.flat(direction, log, first, x));
        } else {
            x.chunks_exact_mut(1 << log).for_each(|x| self.halved(direction, log, first, x));
        }
    }

    /// One long block.
    fn halved(&self, direction: Direction, log: u32, first: usize, x: &mut [u64]) {
        if log <= LOG_FLAT {
            return self.flat(direction, log, first, x);
        }
        let factor = self.factors[log as usize - 1][first >> log];
        let middle = 1 << (log - 1);
        let (low, high) = x.split_at_mut(middle);
        if direction.top_first() {
            butterflies(direction, low, high, factor);
        }
        self.halved(direction, log - 1, first, low);
        self.halved(direction, log - 1, first + middle, high);
        if !direction.top_first() {
            butterflies(direction, low, high, factor);
        }
    }

    /// Blocks that fit the first-level cache together.
    fn flat(&self, direction: Direction, log: u32, first: usize, x: &mut [u64]) {
        let factors = |layer: u32| &self.factors[layer as usize][first >> (layer + 1)..][..1 << (log - 1 - layer)];
        dispatch!(
            backend(),
            portable: flat_portable(direction, log, factors, x),
            avx2: flat_pclmul(direction, log, factors, x),
        );
    }
}

/// The butterflies between two halves.
fn butterflies(direction: Direction, low: &mut [u64], high: &mut [u64], factor: u64) {
    let (a, b) = if direction.swapped() { (high, low) } else { (low, high) };
    if direction.top_first() {
        dispatch!(
            backend(),
            portable: portable::halves::<true>(a, b, factor),
            avx2: super::pclmul::halves::<true>(a, b, factor),
        );
    } else {
        dispatch!(
            backend(),
            portable: portable::halves::<false>(a, b, factor),
            avx2: super::pclmul::halves::<false>(a, b, factor),
        );
    }
}

/// All layers of all blocks, layer by layer.
#[inline(always)]
fn layers<'a>(
    direction: Direction,
    log: u32,
    factors: impl Fn(u32) -> &'a [u64],
    x: &mut [u64],
    halves: impl Fn(&mut [u64], &mut [u64], u64),
    neighbours: impl Fn(&mut [u64], &[u64]),
) {
    for step in 0..log {
        let layer = if direction.top_first() { log - 1 - step } else { step };
        let factors = factors(layer);
        if layer == 0 {
            neighbours(x, factors);
            continue;
        }
        for (block, &factor) in x.chunks_exact_mut(2 << layer).zip(factors.iter().cycle()) {
            let (low, high) = block.split_at_mut(1 << layer);
            if direction.swapped() { halves(high, low, factor) } else { halves(low, high, factor) }
        }
    }
}

/// [`layers`] with the butterflies of one twin.
macro_rules! flat {
    ($twin:ident, $direction:ident, $log:ident, $factors:ident, $x:ident) => {
        if $direction.top_first() {
            let neighbours =
                |x: &mut [u64], factors: &[u64]| $twin::neighbours::<true>(x, factors, $direction.swapped());
            layers($direction, $log, $factors, $x, |a, b, w| $twin::halves::<true>(a, b, w), neighbours)
        } else {
            let neighbours =
                |x: &mut [u64], factors: &[u64]| $twin::neighbours::<false>(x, factors, $direction.swapped());
            layers($direction, $log, $factors, $x, |a, b, w| $twin::halves::<false>(a, b, w), neighbours)
        }
    };
}

fn flat_portable<'a>(direction: Direction, log: u32, factors: impl Fn(u32) -> &'a [u64], x: &mut [u64]) {
    flat!(portable, direction, log, factors, x);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "pclmulqdq,avx2")]
fn flat_pclmul<'a>(direction: Direction, log: u32, factors: impl Fn(u32) -> &'a [u64], x: &mut [u64]) {
    use super::pclmul;
    flat!(pclmul, direction, log, factors, x);
}
