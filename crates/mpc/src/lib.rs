//! Two-party building blocks that know nothing of sets: oblivious transfer, silent VOLE.
#![forbid(unsafe_code)]

pub mod base_ot;
mod binding;
pub mod group;
pub mod inner_product;
pub mod one_of_n;
pub mod ot_extension;
mod pprf;
pub mod registry;
pub mod share_conversion;
pub mod silent;
pub mod tasks;
pub mod vole;
