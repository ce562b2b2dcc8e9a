//! CSV: splitting bytes into records (`split`), reading these in blocks (`records`), scanning and keeping the rows of a
//! file (`read`), the line that names the delimiter (`separator`), fields (`field`) and rows (`write`) as text.

mod field;
mod read;
mod records;
mod separator;
mod split;
mod write;

pub(crate) use field::write_field;
pub(crate) use read::Csv;
pub(crate) use records::{CsvReader, Records};
pub(crate) use separator::separator_line;
pub(crate) use split::MOST_COLUMNS;
pub use split::{Field, Split, split_line, split_record};
pub(crate) use write::CsvWriter;
