//! Reading JSON lines: a scan on several threads, and lines kept byte by byte.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use rayon::prelude::*;

use super::lines::{LineReader, Lines};
use super::object::{Keys, LineFault, SAMPLED_LINES, any, check, scalar};
use crate::table::formats::FormatReader;
use crate::table::formats::opened_file::OpenedFile;
use crate::table::source::{Cell, Scanner, ScannerPart, Wanted};
use crate::table::{Format, Head, KeptRows, ROWS_PER_BATCH, RowBatch, Sink, TableError, borrowed};

/// Bytes that are worth a thread.
const BYTES_PER_PART: usize = 1 << 16;

/// Bytes of lines that become one batch, at most, but for the last line: Arrow counts the bytes of a
/// column of text in 31 bits.
const BATCH_BYTES: usize = 1 << 28;

/// What the first lines say.
struct Sample {
    schema: SchemaRef,
    /// For each column whether it has a value there, and none but numbers and truth values.
    bare: Vec<bool>,
}

/// Reads JSON lines: the columns are the keys of the first lines, in the order in which they come, all of them nullable
/// text. A file without lines names no columns.
#[derive(Debug)]
pub(crate) struct JsonLines;

impl FormatReader for JsonLines {
    fn schema(&self, file: &OpenedFile) -> Result<SchemaRef, TableError> {
        Ok(sample(file)?.schema)
    }

    fn scan(&self, file: &OpenedFile, wanted: &[Wanted], scanner: &mut dyn Scanner) -> Result<(), TableError> {
        let schema = file.known_schema(|| self.schema(file))?;
        let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
        let columns = WantedKeys { names: &names, wanted };
        let threads = rayon::current_num_threads();
        let mut reader = LineReader::open(file, threads)?;
        let mut is_first = true;
        while let Some(mut lines) = reader.next()? {
            if std::mem::replace(&mut is_first, false) {
                scanner.expect_rows(lines.expected_in(file.len()));
            }
            let most = threads.min(lines.len() / BYTES_PER_PART);
            if most > 1 {
                let parts = scanner.parts(most);
                // One part would do for a walk from the first line.
                let is_split = parts.len() > 1;
                let pieces = if is_split { lines.split(parts.len()) } else { Vec::new() };
                let read = |(mut lines, mut part): (Lines<'_>, Box<dyn ScannerPart + '_>)| {
                    columns.push(file, &mut lines, &mut *part)
                };
                if is_split && pieces.into_par_iter().zip(parts).map(read).collect::<Result<Vec<()>, _>>().is_ok() {
                    scanner.commit()?;
                    continue;
                }
            }
            // Only a walk from the first line knows the number of the faulty one.
            let pushed =
                scanner.parts(1).into_iter().try_for_each(|mut part| columns.push(file, &mut lines, &mut *part));
            // The rows before a malformed one come first: they may hold an earlier fault.
            scanner.commit()?;
            pushed?;
        }
        Ok(())
    }

    fn keep(&self, file: &OpenedFile, kept: &KeptRows<'_>, sink: &mut dyn Sink) -> Result<(), TableError> {
        let Sample { schema, bare } = sample(file)?;
        let head = Head::of(file.path(), schema.clone(), kept.payload_schema());
        sink.begin(&Head { format: Some(Format::JsonLines), bare: &bare, ..head })?;
        if sink.takes_lines() { keep_lines(file, kept, sink) } else { keep_batches(file, &schema, kept, sink) }
    }

    fn sample(&self, file: &OpenedFile) -> Result<RecordBatch, TableError> {
        Ok(RecordBatch::new_empty(file.known_schema(|| self.schema(file))?))
    }
}

fn sample(file: &OpenedFile) -> Result<Sample, TableError> {
    let mut reader = LineReader::open(file, 1)?;
    let (mut keys, mut bare) = (Keys::growing(), Vec::<Option<bool>>::new());
    let mut sampled = 0;
    'blocks: while let Some(mut lines) = reader.next()? {
        let mut values = Vec::new();
        while let Some((line, number)) = lines.next() {
            keys.read(line, &mut values).map_err(|fault| at_line(file, number, fault))?;
            bare.resize(values.len(), None);
            for (bare, value) in bare.iter_mut().zip(&values) {
                if let Some(first) = value.and_then(|value| value.bytes().next()).filter(|&first| first != b'n') {
                    *bare = Some(bare.unwrap_or(true) && !matches!(first, b'"' | b'{' | b'['));
                }
            }
            sampled += 1;
            if sampled == SAMPLED_LINES {
                break 'blocks;
            }
        }
    }
    if sampled > 0 && keys.names().is_empty() {
        // It is no empty part: what follows may have keys.
        let what = format!("has no key, nor has any other of the first {sampled} lines");
        return Err(at_line(
            file,
            1,
            LineFault {
                what,
                mend: "write the keys of the table in the first lines, with null where they are missing",
            },
        ));
    }
    let fields: Vec<_> = keys.names().iter().map(|name| Field::new(name, DataType::Utf8, true)).collect();
    Ok(Sample {
        schema: Arc::new(Schema::new(fields)),
        bare: bare.into_iter().map(|bare| bare == Some(true)).collect(),
    })
}

/// The error of a line.
fn at_line(file: &OpenedFile, line: u64, LineFault { what, mend }: LineFault) -> TableError {
    TableError::JsonLine { path: file.path().to_owned(), line, what, mend }
}

/// What a scan reads of a line.
struct WantedKeys<'a> {
    names: &'a [String],
    wanted: &'a [Wanted],
}

impl WantedKeys<'_> {
    fn push(&self, file: &OpenedFile, lines: &mut Lines<'_>, part: &mut dyn ScannerPart) -> Result<(), TableError> {
        let mut keys = Keys::fixed(self.names.iter());
        let (mut values, mut scratch) = (Vec::new(), String::new());
        while let Some((line, number)) = lines.next() {
            let mut row = || {
                let failed = |fault| at_line(file, number, fault);
                keys.read(line, &mut values).map_err(failed)?;
                // A result may be written in another format, which takes all columns.
                values.iter().flatten().try_for_each(|value| check(value, &mut scratch)).map_err(failed)?;
                for (place, wanted) in self.wanted.iter().enumerate() {
                    let value = values.get(wanted.column).copied().flatten().unwrap_or("null");
                    let name = self.names.get(wanted.column).map_or("", String::as_str);
                    let text = scalar(value, name, &mut scratch).map_err(failed)?;
                    part.cell(place, text.map_or(Cell::Null, Cell::Text))?;
                }
                part.end_row()
            };
            match row() {
                Err(error @ TableError::JsonLine { .. }) => part.refuse(error)?,
                other => other?,
            }
        }
        Ok(())
    }
}

/// Copies lines as they stand.
fn keep_lines(file: &OpenedFile, kept: &KeptRows<'_>, sink: &mut dyn Sink) -> Result<(), TableError> {
    let mut reader = LineReader::open(file, 1)?;
    let mut row = 0;
    while let Some(mut lines) = reader.next()? {
        while let Some((line, _)) = lines.next() {
            if let Some(payload) = kept.row(row)? {
                sink.record(line, line.trim_ascii_end().len(), payload.as_deref())?;
            }
            row += 1;
        }
    }
    Ok(())
}

/// Converts lines to columns of text. What is nested becomes its JSON.
fn keep_batches(
    file: &OpenedFile,
    schema: &SchemaRef,
    kept: &KeptRows<'_>,
    sink: &mut dyn Sink,
) -> Result<(), TableError> {
    let mut reader = LineReader::open(file, 1)?;
    let mut keys = Keys::fixed(schema.fields().iter().map(|field| field.name()));
    let mut builders: Vec<StringBuilder> = schema.fields().iter().map(|_| StringBuilder::new()).collect();
    let (mut payloads, mut row_numbers) = (Vec::new(), Vec::new());
    let (mut row, mut bytes, mut scratch) = (0, 0, String::new());
    let mut flush =
        |builders: &mut Vec<StringBuilder>, payloads: &mut Vec<Option<Cow<'_, [u8]>>>, row_numbers: &mut Vec<u64>| {
            let columns = builders.iter_mut().map(|builder| Arc::new(builder.finish()) as ArrayRef).collect();
            let options = RecordBatchOptions::new().with_row_count(Some(payloads.len()));
            let columns = RecordBatch::try_new_with_options(schema.clone(), columns, &options)
                .map_err(|error| file.damaged(error))?;
            sink.batch(&RowBatch { columns: &columns, payloads: &borrowed(payloads), row_numbers })?;
            payloads.clear();
            row_numbers.clear();
            Ok::<(), TableError>(())
        };
    while let Some(mut lines) = reader.next()? {
        let mut values = Vec::new();
        while let Some((line, number)) = lines.next() {
            if let Some(payload) = kept.row(row)? {
                let failed = |fault| at_line(file, number, fault);
                keys.read(line, &mut values).map_err(failed)?;
                for (builder, value) in builders.iter_mut().zip(&values) {
                    builder.append_option(any(value.unwrap_or("null"), &mut scratch).map_err(failed)?);
                }
                bytes += line.len();
                payloads.push(payload);
                row_numbers.push(row as u64 + 1);
            }
            row += 1;
            if payloads.len() == ROWS_PER_BATCH || bytes >= BATCH_BYTES {
                flush(&mut builders, &mut payloads, &mut row_numbers)?;
                bytes = 0;
            }
        }
    }
    if payloads.is_empty() { Ok(()) } else { flush(&mut builders, &mut payloads, &mut row_numbers) }
}
