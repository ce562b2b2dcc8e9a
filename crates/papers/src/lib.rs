//! Protocols of papers that the product does not run: rows that are kept for comparison, broken rows with their attacks,
//! and variants for measuring. [`vesica_protocols`] says which rows are the product's.
//!
//! Folders are those of [`vesica_protocols`], one a paper. [`registry`] lists them all; a program that wants them
//! installs these lists, as `vesica-lab` does.
#![forbid(unsafe_code)]
// What a peer sends must not end the process. The modules of messages deny indexing as well.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

#[cfg(test)]
#[path = "../../protocols/src/bfv/testing.rs"]
mod bfv_testing;
pub mod cardinality;
mod catalogue;
pub mod circuit_psi;
mod ecdh;
pub mod membership;
pub mod ot;
pub mod psi;
pub mod recurrent;
pub mod registry;
pub mod sum;
pub mod unbalanced;
pub mod union;

pub use catalogue::{attacks_markdown, catalogue_pages};
