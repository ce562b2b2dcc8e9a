//! The formats in which tables are stored, a module each.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

pub(crate) mod arrow;
mod arrow_ipc;
mod bytes_at;
pub(crate) mod columnar;
pub(crate) mod columns_writer;
pub(crate) mod csv;
pub(crate) mod foreign;
mod format_reader;
pub(crate) mod json_lines;
pub(crate) mod opened_file;
pub(crate) mod parquet;
pub(crate) mod text_block;
mod text_rows;

pub(crate) use format_reader::FormatReader;

use self::arrow_ipc::{ArrowFile, ArrowStream};
use self::csv::Csv;
use self::json_lines::JsonLines;
use self::parquet::Parquet;
use crate::table::Format;

/// What reads files of this format.
pub(crate) fn reader(format: Format) -> Box<dyn FormatReader> {
    match format {
        Format::Csv => Box::new(Csv),
        Format::JsonLines => Box::new(JsonLines),
        Format::Parquet => Box::new(Parquet::default()),
        Format::ArrowFile => Box::new(ArrowFile),
        Format::ArrowStream => Box::new(ArrowStream),
    }
}
