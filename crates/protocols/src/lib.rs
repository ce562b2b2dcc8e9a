//! Private set protocols, one folder a paper, and their registries.
#![forbid(unsafe_code)]

mod bins;
pub mod cardinality;
mod catalogue;
pub mod circuit_psi;
mod ecdh;
mod masks;
pub mod membership;
pub mod psi;
pub mod registry;
pub mod sum;
pub mod tasks;

pub use catalogue::catalogue_markdown;
