//! CSV: splitting a stream of bytes into records (`split`), reading them in blocks (`reader`),
//! scanning and keeping the rows of a file (`source`), writing fields (`field`).
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

mod field;
mod reader;
mod separator;
mod source;
mod split;

pub(crate) use field::write_field;
pub(crate) use reader::{CsvReader, Records};
pub(crate) use separator::separator_line;
pub(crate) use source::{keep, scan, schema};
pub(crate) use split::MOST_COLUMNS;
pub use split::{Field, Split, split_line, split_record};
