//! Private set protocols, one folder a paper, and their registries.
#![forbid(unsafe_code)]
// What a peer sends must not end the process. The modules of messages deny indexing as well.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod any;
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
