//! Reading CSV: a scan on several threads, and records kept byte by byte.

use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use rayon::prelude::*;

use crate::table::formats::FormatReader;
use crate::table::formats::csv::{CsvReader, Records};
use crate::table::formats::opened_file::OpenedFile;
use crate::table::source::{Cell, Scanner, ScannerPart, Wanted};
use crate::table::{CsvHead, Format, Head, KeptRows, ROWS_PER_BATCH, RowBatch, Sink, TableError, borrowed};

/// Bytes of CSV that are worth a thread.
const BYTES_PER_PART: usize = 1 << 16;

/// Reads CSV: the columns are those of the header, all of them nullable text.
#[derive(Debug)]
pub(crate) struct Csv;

impl FormatReader for Csv {
    fn schema(&self, file: &OpenedFile) -> Result<SchemaRef, TableError> {
        Ok(schema_of(CsvReader::open(file)?.header()))
    }

    fn scan(&self, file: &OpenedFile, wanted: &[Wanted], scanner: &mut dyn Scanner) -> Result<(), TableError> {
        let threads = rayon::current_num_threads();
        let mut reader = CsvReader::open_for(file, threads)?;
        let columns: Vec<usize> = wanted.iter().map(|wanted| wanted.column).collect();
        scanner.expect_rows(reader.rows_expected());
        loop {
            let mut records = reader.records();
            let most = threads.min(records.len() / BYTES_PER_PART);
            let passed = if most > 1 { in_parts(&records, &columns, most, scanner)? } else { None };
            let (bytes, lines) = match passed {
                Some(passed) => passed,
                None => {
                    let pushed =
                        scanner.parts(1).into_iter().try_for_each(|mut part| push(&mut records, &columns, &mut *part));
                    // The rows before a malformed one come first: they may hold an earlier fault.
                    scanner.commit()?;
                    pushed?;
                    records.passed()
                }
            };
            if !reader.refill(bytes, lines)? {
                return Ok(());
            }
        }
    }

    fn keep(&self, file: &OpenedFile, kept: &KeptRows<'_>, sink: &mut dyn Sink) -> Result<(), TableError> {
        if sink.takes_records(file.delimiter()) {
            keep_records(file, kept, sink)
        } else {
            keep_batches(file, kept, sink)
        }
    }

    fn sample(&self, file: &OpenedFile) -> Result<RecordBatch, TableError> {
        Ok(RecordBatch::new_empty(file.known_schema(|| self.schema(file))?))
    }
}

fn schema_of(header: &[String]) -> SchemaRef {
    Arc::new(Schema::new(header.iter().map(|name| Field::new(name, DataType::Utf8, true)).collect::<Vec<_>>()))
}

/// Pushes records on several threads, and gives the bytes and lines that they took. `None`, and
/// nothing is committed, when the scanner wants one part, or a record is malformed: only a walk from the
/// first one knows its line.
fn in_parts(
    records: &Records,
    columns: &[usize],
    most: usize,
    scanner: &mut dyn Scanner,
) -> Result<Option<(usize, u64)>, TableError> {
    let parts = scanner.parts(most);
    if parts.len() < 2 {
        return Ok(None);
    }
    let pieces = records.split(parts.len());
    let read = |(mut records, mut part): (Records, Box<dyn ScannerPart + '_>)| {
        push(&mut records, columns, &mut *part).map(|()| records.passed())
    };
    let Ok(passed) = pieces.into_par_iter().zip(parts).map(read).collect::<Result<Vec<_>, _>>() else {
        return Ok(None);
    };
    scanner.commit()?;
    Ok(Some(
        passed
            .into_iter()
            .fold((0, 0), |(bytes, lines), (more_bytes, more_lines)| (bytes + more_bytes, lines + more_lines)),
    ))
}

fn push(records: &mut Records, columns: &[usize], part: &mut dyn ScannerPart) -> Result<(), TableError> {
    let mut scratch = String::new();
    let header = records.header();
    loop {
        match records.next() {
            Ok(Some(record)) if record.repeats(header) => part.header_again(),
            Ok(Some(record)) => {
                for (place, &column) in columns.iter().enumerate() {
                    part.cell(place, record.cell(column, &mut scratch).map_or(Cell::Null, Cell::Text))?;
                }
                part.end_row()?;
            }
            Ok(None) => return Ok(()),
            // Where it ends is known.
            Err(error @ (TableError::Ragged { .. } | TableError::CsvNotUtf8 { .. })) => part.refuse(error)?,
            Err(error) => return Err(error),
        }
    }
}

/// Copies records as they stand.
fn keep_records(file: &OpenedFile, kept: &KeptRows<'_>, sink: &mut dyn Sink) -> Result<(), TableError> {
    let mut reader = CsvReader::open(file)?;
    let csv = CsvHead { byte_order_mark: reader.marked(), header: reader.header_bytes(), line_end: reader.line_end() };
    let head = Head {
        csv: Some(csv),
        format: Some(Format::Csv),
        ..Head::of(file.path(), schema_of(reader.header()), kept.payload_schema())
    };
    sink.begin(&head)?;
    let mut row = 0;
    while let Some((record, end)) = reader.next_line()? {
        if let Some(payload) = kept.row(row)? {
            sink.record(record, end, payload.as_deref())?;
        }
        row += 1;
    }
    Ok(())
}

/// Converts records to columns of text.
fn keep_batches(file: &OpenedFile, kept: &KeptRows<'_>, sink: &mut dyn Sink) -> Result<(), TableError> {
    let mut reader = CsvReader::open(file)?;
    let schema = schema_of(reader.header());
    sink.begin(&Head { format: Some(Format::Csv), ..Head::of(file.path(), schema.clone(), kept.payload_schema()) })?;
    let mut builders: Vec<StringBuilder> = schema.fields().iter().map(|_| StringBuilder::new()).collect();
    let (mut payloads, mut row_numbers) = (Vec::new(), Vec::new());
    let mut scratch = String::new();
    let mut row = 0;
    loop {
        let record = reader.next()?;
        let end = record.is_none();
        if let Some(record) = record {
            if let Some(payload) = kept.row(row)? {
                for (index, builder) in builders.iter_mut().enumerate() {
                    builder.append_option(record.cell(index, &mut scratch));
                }
                payloads.push(payload);
                row_numbers.push(row as u64 + 1);
            }
            row += 1;
        }
        if payloads.len() == ROWS_PER_BATCH || (end && !payloads.is_empty()) {
            let columns: Vec<ArrayRef> =
                builders.iter_mut().map(|builder| Arc::new(builder.finish()) as ArrayRef).collect();
            let columns = RecordBatch::try_new(schema.clone(), columns).map_err(|error| file.damaged(error))?;
            sink.batch(&RowBatch { columns: &columns, payloads: &borrowed(&payloads), row_numbers: &row_numbers })?;
            payloads.clear();
            row_numbers.clear();
        }
        if end {
            return Ok(());
        }
    }
}
