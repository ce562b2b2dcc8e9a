//! Polynomials over `B = GF(2^64)` through given points: one of many coefficients by a tree of
//! vanishing polynomials, or many of a few by Lagrange's formula.
//!
//! In a field of characteristic two a value of 64 random bits is a uniform element, so that a
//! vector of `l` bits is a vector of `l / 64` values, and its polynomial that many *slices*
//! (PRTY19, section 5.2) which share their points. Over `GF(2^128)`, for points that are whole
//! digests: [`Interpolation`].

mod product_tree;
mod small;
mod tree;

pub use product_tree::{Interpolation, evaluate};
pub use small::{Small, evaluate_small};
pub use tree::{Interpolator, Space, Tree};
pub use vesica_kernels::gf64::{LANES, Row, inverse, scale_add};

/// Two points of an interpolation are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("two points of an interpolation are one")]
pub struct Coincidence;

#[cfg(test)]
mod tests;
