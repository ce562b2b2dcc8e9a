//! The engine: read tables, normalise keys, choose a protocol, run it, write results.
//!
//! [`session::run`] is one whole side of a private join, as the `vesica send` and `vesica receive` commands run it.
#![forbid(unsafe_code)]

pub mod bounded;
pub mod failure;
#[doc(hidden)]
pub mod fuzzing;
pub mod handshake;
#[cfg(test)]
mod insecure;
pub mod memory;
pub mod noise;
pub mod plan;
pub mod receipt;
pub mod report;
pub mod session;
pub mod shares;
pub mod task;
pub mod threads;
pub mod toml;

pub use failure::Failure;
pub use report::Report;
pub use vesica_data::{key, profile, table};
pub use vesica_party as party;
pub use vesica_protocols as protocols;
