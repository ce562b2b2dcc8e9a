//! Polynomials under encryption, for one set that is much larger than the other: a client sends powers
//! of its items, encrypted, and the server evaluates polynomials at them whose roots are its own items.
//! One folder a paper. For intersections each is a [`Service`](vesica_party::service::Service). In the
//! union `tcl23` of the crate of papers the union's sender is the client; all but its last steps are this
//! module's.
//!
//! | what | where |
//! |---|---|
//! | limbs, bins and parts | `shape` |
//! | their choice | `choice` |
//! | which powers are sent, and how the others are computed | `powers` |
//! | which items of a bin lie in one part | `dealing` |
//! | payloads as values of polynomials | `labels` |
//! | polynomials with given roots or values | `interpolation` |
//! | a set as polynomials | `polynomials` |
//! | their evaluation | `evaluation` |
//! | noise | `noise` |
//!
//! docs/parameters/unbalanced.md derives the numbers.

mod choice;
pub mod cmdg21;
pub mod dealing;
pub mod evaluation;
mod interpolation;
pub mod labels;
pub mod noise;
pub mod polynomials;
pub mod powers;
pub mod query;
pub mod ring;
pub mod shape;
#[cfg(test)]
mod tests;

pub use ring::Form;
pub use shape::Shape;
