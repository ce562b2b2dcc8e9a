//! Two-party building blocks that know nothing of sets: oblivious transfer, silent VOLE, equality tests, circuits.
#![forbid(unsafe_code)]

pub mod base_ot;
mod binding;
pub mod bits;
pub mod gmw;
pub mod group;
#[doc(hidden)]
pub mod ideal;
pub mod inner_product;
pub mod kkrt16;
pub mod one_of_n;
pub mod opprf;
pub mod oprf;
pub mod ot_extension;
pub mod peqt;
pub mod permute_share;
mod polynomials;
mod pprf;
pub mod registry;
pub mod share_conversion;
pub mod silent;
pub mod silent_ot;
pub mod tasks;
pub mod vole;
