//! Tables, the keys in them, and the rows of a result. This crate knows neither protocols nor
//! partners.
//!
//! - [`table`] reads CSV, JSON lines, Parquet and Arrow, and writes the rows that a session keeps.
//! - [`key`] says which columns form the key, brings their values to one canonical form, and
//!   derives digests from them.
//! - [`spill`] keeps what outgrows memory in a private file.
//! - [`profile`] reports on the key columns of a table in counts, as `vesica check` prints it.
//!
//! A table is a [`table::Source`], and a result goes to a [`table::Sink`]. Files, standard input
//! and output, and Arrow record batches in memory are both:
//!
//! ```
//! use std::sync::Arc;
//!
//! use arrow_array::{ArrayRef, Int64Array, RecordBatch};
//! use vesica_data::key::KeySpec;
//! use vesica_data::table::{
//!     Batches, Collected, Delivered, Join, Matches, OpenSink, OpenSource, ResultKind, read_keys, write_matches,
//! };
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let ids: ArrayRef = Arc::new(Int64Array::from(vec![4, 7, 4]));
//! let rows = RecordBatch::try_from_iter([("id", ids)])?;
//! let source = Batches::new("our rows", rows.schema(), vec![rows])?.open()?;
//! let keys = read_keys(&*source, &KeySpec::parse(&["id"], &[])?, None)?;
//! assert_eq!(keys.stats.distinct, 2);
//!
//! // A protocol runs on the digests of the two keys. Say it found that the partner has the first one, too.
//! let result = Collected::default();
//! let sink = result.open(ResultKind::OwnRows, &*source)?;
//! write_matches(&*source, &keys, &Matches { keys: &[0], payload: None }, Join::Inner, sink)?;
//! let Some(Delivered::Rows { batches, .. }) = result.take() else { unreachable!("rows were asked for") };
//! assert_eq!(batches[0].num_rows(), 2);
//! # Ok(())
//! # }
//! ```
//!
//! To add a kind of table, implement [`table::Source`] in one file; [`table::scan_batch`] and
//! [`table::keep_batch`] do it for record batches. What a new file format provides is listed in
//! `table/formats/mod.rs`.
#![forbid(unsafe_code)]
// What a file says must not end the process. The modules that parse it deny indexing as well.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod error;
#[doc(hidden)]
#[cfg_attr(not(test), expect(clippy::expect_used, clippy::panic, reason = "a finding of the fuzzer is a panic"))]
pub mod fuzzing;
pub mod invisible;
pub mod key;
pub mod nearest;
pub mod profile;
pub mod spill;
pub mod table;
pub mod words;

pub use error::UsageError;
