//! Where a result goes: rows of the own table, new rows, numbers, or shares.
//!
//! A sink for rows alone implements [`Sink::name`], [`Sink::begin`], [`Sink::batch`] and
//! [`Sink::finish`].

use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::{Schema, SchemaRef};
use parquet::basic::Compression;

use crate::table::{Format, PayloadSchema, ReceivedPayload, ResultTable, TableError};

/// Rows that become columns together, in either direction.
pub(crate) const ROWS_PER_BATCH: usize = 8192;

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct WriteStats {
    /// Rows of the result.
    pub rows: u64,
    /// Their bytes, before compression.
    pub bytes: u64,
}

/// What a result is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultKind {
    /// Rows of the own table.
    OwnRows,
    /// Rows of the own table, and rows with the same columns that it does not have.
    Union,
    /// Rows that the own table does not have.
    NewRows,
    /// A small table of numbers.
    Numbers,
    /// A file of secret shares.
    Shares,
}

/// Takes one result: rows ([`Sink::begin`], then records or batches), numbers, or shares; then
/// [`Sink::finish`]. A sink that is dropped before that leaves nothing behind.
pub trait Sink: Send {
    /// The name that errors and reports show.
    fn name(&self) -> &str;

    /// What the user should hear about the place of the result before it is written.
    fn notice(&self) -> Option<String> {
        None
    }

    /// Whether it takes the records of a CSV table with this delimiter as they stand, by
    /// [`Sink::record`]. Otherwise a CSV table comes in batches of text.
    fn takes_records(&self, _delimiter: u8) -> bool {
        false
    }

    /// Whether it takes the lines of a table of JSON lines as they stand, by [`Sink::record`].
    /// Otherwise such a table comes in batches of text.
    fn takes_lines(&self) -> bool {
        false
    }

    /// Begins a result of rows.
    fn begin(&mut self, head: &Head<'_>) -> Result<(), TableError>;

    /// Takes a CSV record or a line of JSON, of which `end` bytes come before its line end, with the payload of its
    /// match.
    fn record(&mut self, _record: &[u8], _end: usize, _payload: Option<&[u8]>) -> Result<(), TableError> {
        Err(TableError::unfit_result(self.name(), "it takes no records of text"))
    }

    /// Takes rows.
    fn batch(&mut self, rows: &RowBatch<'_>) -> Result<(), TableError>;

    /// Takes numbers.
    fn numbers(&mut self, _numbers: &ResultTable<'_>) -> Result<(), TableError> {
        Err(TableError::unfit_result(self.name(), "it takes rows only"))
    }

    /// Takes a file of shares.
    fn shares(&mut self, _bytes: &[u8]) -> Result<(), TableError> {
        Err(TableError::unfit_result(self.name(), "it takes rows only"))
    }

    /// Completes the result, and makes it visible.
    fn finish(&mut self) -> Result<WriteStats, TableError>;
}

impl<S: Sink + ?Sized> Sink for Box<S> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn notice(&self) -> Option<String> {
        (**self).notice()
    }

    fn takes_records(&self, delimiter: u8) -> bool {
        (**self).takes_records(delimiter)
    }

    fn takes_lines(&self) -> bool {
        (**self).takes_lines()
    }

    fn begin(&mut self, head: &Head<'_>) -> Result<(), TableError> {
        (**self).begin(head)
    }

    fn record(&mut self, record: &[u8], end: usize, payload: Option<&[u8]>) -> Result<(), TableError> {
        (**self).record(record, end, payload)
    }

    fn batch(&mut self, rows: &RowBatch<'_>) -> Result<(), TableError> {
        (**self).batch(rows)
    }

    fn numbers(&mut self, numbers: &ResultTable<'_>) -> Result<(), TableError> {
        (**self).numbers(numbers)
    }

    fn shares(&mut self, bytes: &[u8]) -> Result<(), TableError> {
        (**self).shares(bytes)
    }

    fn finish(&mut self) -> Result<WriteStats, TableError> {
        (**self).finish()
    }
}

/// What a sink learns of rows before they come.
#[derive(Clone, Debug)]
pub struct Head<'a> {
    /// The name of the rows' source in errors.
    pub source: &'a str,
    /// The columns of the rows, without those of the payload.
    pub schema: SchemaRef,
    /// The partner's columns, which are appended to the own ones.
    pub payload: Option<&'a PayloadSchema>,
    /// Present when CSV records follow.
    pub csv: Option<CsvHead<'a>>,
    /// The format of the source, if it is a file.
    pub format: Option<Format>,
    /// The codec of a Parquet source.
    pub compression: Option<Compression>,
    /// For each column of a table of JSON lines, whether its values are numbers or truth values.
    /// Values in new rows are then written so as well. Empty for other tables.
    pub bare: &'a [bool],
}

impl<'a> Head<'a> {
    /// For rows with these columns that come from no file.
    pub fn of(source: &'a str, schema: SchemaRef, payload: Option<&'a PayloadSchema>) -> Self {
        Self { source, schema, payload, csv: None, format: None, compression: None, bare: &[] }
    }
}

/// How a CSV table begins.
#[derive(Clone, Copy, Debug)]
pub struct CsvHead<'a> {
    /// Whether the file starts with a byte-order mark.
    pub byte_order_mark: bool,
    /// The header as it stands in the file, without byte-order mark and line end.
    pub header: &'a [u8],
    /// The line end of the header, for records that have none of their own.
    pub line_end: &'a [u8],
}

/// Some consecutive rows of a result.
#[derive(Clone, Copy, Debug)]
pub struct RowBatch<'a> {
    /// The own columns.
    pub columns: &'a RecordBatch,
    /// For each row the payload of its match; empty where no payload came.
    pub payloads: &'a [Option<&'a [u8]>],
    /// For each row its number in the source, from 1, for errors; empty for new rows.
    pub row_numbers: &'a [u64],
}

/// Writes new rows to a sink, all of them with the columns `schema`.
pub fn write_rows(schema: SchemaRef, batches: &[RecordBatch], sink: &mut dyn Sink) -> Result<WriteStats, TableError> {
    sink.begin(&Head::of("the result", schema, None))?;
    for columns in batches {
        sink.batch(&RowBatch { columns, payloads: &[], row_numbers: &[] })?;
    }
    sink.finish()
}

/// Writes new rows to a sink that come as records of a payload.
pub fn write_new_rows(records: ReceivedPayload<'_>, sink: &mut dyn Sink) -> Result<WriteStats, TableError> {
    let schema = records.schema;
    schema.check()?;
    sink.begin(&Head::of("the result", Arc::new(Schema::empty()), Some(schema)))?;
    let records: Vec<Option<&[u8]>> = records.bytes.chunks_exact(schema.width.max(1)).map(Some).collect();
    for payloads in records.chunks(ROWS_PER_BATCH) {
        let options = RecordBatchOptions::new().with_row_count(Some(payloads.len()));
        let columns = RecordBatch::try_new_with_options(Arc::new(Schema::empty()), Vec::new(), &options);
        let columns = &columns.map_err(|error| TableError::unfit_result(sink.name(), error))?;
        sink.batch(&RowBatch { columns, payloads, row_numbers: &[] })?;
    }
    sink.finish()
}
