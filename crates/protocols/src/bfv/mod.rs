//! What protocols on [BFV](vesica_structures::rlwe::bfv) share: rings with what their answers need,
//! noise as it is predicted, keys as they travel, and circuit privacy.

pub(crate) mod keys;
pub(crate) mod noise;
mod ring;
#[cfg(test)]
pub(crate) mod testing;

#[cfg(test)]
pub(crate) use ring::drown;
pub(crate) use ring::{Ring, hide, inverse, residue};
