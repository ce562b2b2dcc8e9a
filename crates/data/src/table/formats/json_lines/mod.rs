//! JSON lines: one object a line (`object`), read in blocks of whole lines (`lines`), as a table whose columns are the
//! keys of the first lines (`read`), and written (`write`).
//!
//! A value is a cell as it is written: a number keeps its digits and is never rounded, a text loses
//! its quotes and escapes, `null` and a missing key are null.

mod lines;
mod object;
mod read;
mod write;

pub(crate) use object::{LARGEST_EXACT, is_bare, write_text};
pub(crate) use read::JsonLines;
pub(crate) use write::JsonLinesWriter;
