//! The formats in which tables are stored, a module each.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

pub(crate) mod arrow;
mod arrow_ipc;
mod bytes_at;
pub(crate) mod columnar;
mod counting_writer;
pub(crate) mod csv;
pub(crate) mod foreign;
mod format_reader;
mod format_writer;
pub(crate) mod json_lines;
pub(crate) mod opened_file;
pub(crate) mod parquet;
pub(crate) mod text_block;
pub(crate) mod text_columns;
mod text_rows;

pub(crate) use format_reader::FormatReader;
pub(crate) use format_writer::{FormatWriter, RowsAs};

use std::io::Write;

use self::arrow_ipc::{ArrowFile, ArrowStream, ArrowWriter};
use self::csv::{Csv, CsvWriter};
use self::json_lines::{JsonLines, JsonLinesWriter};
use self::parquet::{Parquet, ParquetWriter};
use crate::table::{Format, Head, TableError};

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

/// Begins to write rows to `writer`, which errors call `path`.
pub(crate) fn writer<W: Write + Send + 'static>(
    writer: W,
    rows: RowsAs,
    path: &str,
    head: &Head<'_>,
) -> Result<Box<dyn FormatWriter<W>>, TableError> {
    Ok(match rows.format {
        Format::Csv => Box::new(CsvWriter::new(writer, rows, path, head)?),
        Format::JsonLines => Box::new(JsonLinesWriter::new(writer, rows, path, head)?),
        Format::Parquet => Box::new(ParquetWriter::new(writer, path, head)?),
        Format::ArrowFile => Box::new(ArrowWriter::file(writer, path, head)?),
        Format::ArrowStream => Box::new(ArrowWriter::stream(writer, path, head)?),
    })
}
