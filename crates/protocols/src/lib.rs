//! Private set protocols, one folder a paper, and their registries.
#![forbid(unsafe_code)]

pub mod any;
mod catalogue;
pub mod circuit_psi;
pub mod psi;
pub mod registry;
pub mod tasks;

pub use catalogue::catalogue_markdown;
