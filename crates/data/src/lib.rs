//! Tables, the keys in them, and the rows of a result. This crate knows neither protocols nor partners.
//!
//! - [`table`] reads CSV, Parquet and Arrow, and writes the rows that a session keeps.
//! - [`key`] says which columns form the key, brings their values to one canonical form, and derives digests from them.
//! - [`profile`] reports on the key columns of a table in counts, as `vesica check` prints it.
#![forbid(unsafe_code)]
// What a file says must not end the process. The modules that parse it deny indexing as well.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod error;
#[doc(hidden)]
#[cfg_attr(not(test), expect(clippy::expect_used, clippy::panic, reason = "a finding of the fuzzer is a panic"))]
pub mod fuzzing;
pub mod key;
pub mod profile;
pub mod table;

pub use error::UsageError;
