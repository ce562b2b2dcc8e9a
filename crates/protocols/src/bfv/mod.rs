//! What protocols on [BFV](vesica_structures::rlwe::bfv) share: rings with what their answers need,
//! noise as it is predicted, and circuit privacy.

pub(crate) mod noise;
mod ring;

#[cfg(test)]
pub(crate) use ring::drown;
pub(crate) use ring::{Ring, hide};
