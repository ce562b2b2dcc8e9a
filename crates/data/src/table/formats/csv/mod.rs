//! CSV: splitting a stream of bytes into records (`split`), reading them in blocks (`reader`),
//! scanning and keeping the rows of a file (`source`), writing fields (`field`).
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

mod field;
mod read;
mod records;
mod separator;
mod split;
pub(crate) mod write;

pub(crate) use field::write_field;
pub(crate) use read::{keep, scan, schema};
pub(crate) use records::{CsvReader, Records};
pub(crate) use separator::separator_line;
pub(crate) use split::MOST_COLUMNS;
pub use split::{Field, Split, split_line, split_record};
