//! CSV: splitting a stream of bytes into records (`split`), reading them in blocks (`reader`), writing fields (`field`).
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

mod field;
mod reader;
mod split;

pub(crate) use field::write_field;
pub(crate) use reader::{CsvReader, LONGEST_RECORD, Record, Records};
pub use split::{Field, Split, split_line, split_record};
