//! Private set protocols, one folder a paper, and their registries.
#![forbid(unsafe_code)]

pub mod any;
mod bins;
pub mod cardinality;
mod catalogue;
pub mod circuit_psi;
mod ecdh;
pub mod membership;
pub mod psi;
pub mod registry;
pub mod sum;
mod tags;
pub mod tasks;

pub use catalogue::catalogue_markdown;
