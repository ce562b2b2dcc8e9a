//! What protocols on [BFV](vesica_structures::rlwe::bfv) share: rings with what their answers need,
//! noise as it is predicted, keys as they travel, and circuit privacy.

pub mod ciphertexts;
pub mod keys;
pub mod noise;
pub mod ring;
#[cfg(test)]
pub(crate) mod testing;

pub use ring::{Ring, drown, hide, inverse, residue};
