//! The formats in which tables are stored, a module each: `csv`, `json_lines`, `parquet`, `arrow_ipc`; and `arrow`,
//! the record batches in memory.
//!
//! What a new file format provides:
//!
//! 1. A variant of [`Format`], with its names, the endings of its files and their first bytes, in `table/format.rs`.
//! 2. A module here. Its `read.rs` implements [`FormatReader`], and [`reader()`] names it. A library that hands out
//!    record batches is read by [`FormatReader::batches`]; text by `scan` and `keep`, which copies records as they
//!    stand to a [`Sink`](crate::table::Sink) that takes them.
//! 3. Bounds for every length that a file states, before anything is allocated by it, as `check` has them in `parquet`
//!    and `arrow_ipc`. No code here may panic on what a file says.
//! 4. A `write.rs` that implements [`FormatWriter`], and [`writer()`] names it. Columns are tried on a row before the
//!    protocol starts: the writer refuses what its format cannot hold. A format of text is checked in
//!    `table/write/check.rs`, too. If the format is not written, `table/write/ending.rs` refuses it.
//! 5. For text, what `table/files/recognise.rs` looks for in its beginning, and how `table/files/parts.rs` puts the
//!    columns of folders behind a record. A format that `formats/foreign.rs` names is refused by its first bytes, with
//!    the way to convert it: take it out there, and in `docs/limits.md`.
//! 6. Its name in texts for users: `table/write/ending.rs`, and in `crates/cli/src` the help in `args` and the error in
//!    `commands/sides.rs`; the README, `docs/keys.md` (the table of types) and `docs/limits.md`.
//! 7. Tests: its files in `crates/data/tests/tables/types.rs`, which has a case of every type; a target in
//!    `crates/fuzz/src/lib.rs`, whose first inputs `crates/fuzz/src/seeds.rs` calls for: those of text it writes itself,
//!    others are made by `fuzzing/seeds.rs` here, and `vesica/src/fuzzing/seeds.rs` hands them on.
//! 8. The library that reads it, pinned in the root `Cargo.toml`, with a line in `docs/dependencies.md`; the lock files of
//!    the root and of `fuzz` change with it.
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
