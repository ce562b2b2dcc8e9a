//! Two-party building blocks that know nothing of sets: oblivious transfer, silent VOLE, equality tests, circuits.
#![forbid(unsafe_code)]

pub mod base_ot;
mod binding;
pub mod bits;
pub mod gmw;
pub mod group;
pub mod inner_product;
pub mod kkrt16;
pub mod opprf;
pub mod oprf;
pub mod ot_extension;
pub mod peqt;
pub mod permute_share;
mod polynomials;
mod pprf;
pub mod random_one_of_n_ot;
pub mod registry;
pub mod share_conversion;
pub mod silent;
pub mod silent_ot;
pub mod small_field_vole;
pub mod tasks;
