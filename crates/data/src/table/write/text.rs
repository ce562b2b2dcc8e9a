//! CSV output.

use std::fmt::Write as _;
use std::io::{self, Write};

use arrow_array::Array;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::table::columnar::{Batch, Scalars};
use crate::table::csv::write_field;
use crate::table::payload::Value;
use crate::table::write::{Selection, WriteStats, payload_names};
use crate::table::{ColumnarReader, CsvReader, Input, Output, ReceivedPayload, TableError, canonical_kind};

/// Bytes gathered before they are written.
const BLOCK: usize = 1 << 18;

/// A block of output, compressed on the way when the output is.
struct Sink<'a> {
    writer: Compressor<&'a mut (dyn Write + Send)>,
    block: Vec<u8>,
    stats: WriteStats,
}

enum Compressor<W: Write> {
    None(W),
    Gzip(Box<GzEncoder<W>>),
}

impl<'a> Sink<'a> {
    fn new(output: &'a mut Output) -> Self {
        let gzip = output.gzip();
        let writer = output.writer();
        let writer =
            if gzip { Compressor::Gzip(Box::new(GzEncoder::new(writer, Compression::default()))) } else { Compressor::None(writer) };
        Self { writer, block: Vec::with_capacity(BLOCK + (1 << 12)), stats: WriteStats::default() }
    }

    /// Ends a row.
    fn end_row(&mut self) -> io::Result<()> {
        self.stats.rows += 1;
        if self.block.len() >= BLOCK { self.drain() } else { Ok(()) }
    }

    fn drain(&mut self) -> io::Result<()> {
        match &mut self.writer {
            Compressor::None(writer) => writer.write_all(&self.block)?,
            Compressor::Gzip(writer) => writer.write_all(&self.block)?,
        }
        self.stats.bytes += self.block.len() as u64;
        self.block.clear();
        Ok(())
    }

    fn finish(mut self) -> io::Result<WriteStats> {
        self.drain()?;
        if let Compressor::Gzip(writer) = self.writer {
            writer.finish()?;
        }
        Ok(self.stats)
    }
}

pub(super) fn csv_to_csv(input: &Input, selection: &Selection, output: &mut Output) -> Result<WriteStats, TableError> {
    let path = output.path().to_owned();
    let failed = |source| TableError::Output { path: path.clone(), source };
    let mut reader = CsvReader::open(input)?;
    let delimiter = input.delimiter();
    let line_end = reader.line_end();
    let mut sink = Sink::new(output);
    if reader.marked() {
        sink.block.extend_from_slice("\u{feff}".as_bytes());
    }
    sink.block.extend_from_slice(reader.header_bytes());
    if let Some(payload) = &selection.payload {
        for name in payload_names(reader.header(), payload) {
            sink.block.push(delimiter);
            write_field(&name, delimiter, &mut sink.block);
        }
    }
    sink.block.extend_from_slice(line_end);
    let mut tail = PayloadText::new(selection.payload, delimiter);
    let mut row = 0;
    while let Some((bytes, end)) = reader.next_line()? {
        if let Some(record) = selection.row(row) {
            match record {
                None if end < bytes.len() => sink.block.extend_from_slice(bytes),
                // The last record may lack its line end, and payload goes in front of it.
                _ => {
                    sink.block.extend_from_slice(&bytes[..end]);
                    tail.append(record, &mut sink.block)?;
                    sink.block.extend_from_slice(if end < bytes.len() { &bytes[end..] } else { line_end });
                }
            }
            sink.end_row().map_err(failed)?;
        }
        row += 1;
    }
    selection.check_rows(input, row)?;
    sink.finish().map_err(failed)
}

/// Refuses columns that have no text.
pub(super) fn check(input: &Input, path: &str) -> Result<(), TableError> {
    let mut reader = ColumnarReader::open(input, None)?;
    for field in reader.schema().fields() {
        if field.data_type().is_nested() {
            let reason = format!("column `{}` is of type {}, which CSV cannot hold", field.name(), field.data_type());
            let mend = "give the output the extension .parquet or .arrow";
            return Err(TableError::OutputFormat { path: path.to_owned(), reason, mend });
        }
    }
    if let Some(batch) = reader.next()? {
        let options = FormatOptions::default();
        (0..batch.batch.num_columns()).try_for_each(|index| TextColumn::new(&batch, index, &options).map(drop))?;
    }
    Ok(())
}

pub(super) fn columns_to_csv(input: &Input, selection: &Selection, output: &mut Output) -> Result<WriteStats, TableError> {
    let path = output.path().to_owned();
    let failed = |source| TableError::Output { path: path.clone(), source };
    let mut reader = ColumnarReader::open(input, None)?;
    let names: Vec<String> = reader.schema().fields().iter().map(|field| field.name().clone()).collect();
    let delimiter = output.delimiter();
    let mut sink = Sink::new(output);
    let payload = selection.payload.iter().flat_map(|payload| payload_names(&names, payload));
    for (index, name) in names.iter().cloned().chain(payload).enumerate() {
        if index > 0 {
            sink.block.push(delimiter);
        }
        write_field(&name, delimiter, &mut sink.block);
    }
    sink.block.push(b'\n');
    let mut tail = PayloadText::new(selection.payload, delimiter);
    let mut scratch = String::new();
    let mut row = 0;
    while let Some(batch) = reader.next()? {
        let options = FormatOptions::default();
        let columns = (0..names.len()).map(|index| TextColumn::new(&batch, index, &options)).collect::<Result<Vec<_>, _>>()?;
        for in_batch in 0..batch.rows() {
            if let Some(record) = selection.row(row) {
                for (index, column) in columns.iter().enumerate() {
                    if index > 0 {
                        sink.block.push(delimiter);
                    }
                    match column.text(in_batch, &mut scratch) {
                        Ok(Some(text)) => write_field(text, delimiter, &mut sink.block),
                        // A lone null needs quotes: an empty line is no record.
                        Ok(None) if names.len() == 1 && record.is_none() => sink.block.extend_from_slice(b"\"\""),
                        Ok(None) => {}
                        Err(()) => {
                            let column = names[index].clone();
                            return Err(TableError::Value { path: input.path().to_owned(), row: row as u64 + 1, column });
                        }
                    }
                }
                tail.append(record, &mut sink.block)?;
                sink.block.push(b'\n');
                sink.end_row().map_err(failed)?;
            }
            row += 1;
        }
    }
    selection.check_rows(input, row)?;
    sink.finish().map_err(failed)
}

/// A column of a batch as text: canonical where there is a canonical form, else as Arrow displays it.
enum TextColumn<'a> {
    Text(Scalars),
    Binary(Scalars),
    Other(&'a dyn Array, ArrayFormatter<'a>),
}

impl<'a> TextColumn<'a> {
    fn new(batch: &'a Batch, index: usize, options: &'a FormatOptions<'a>) -> Result<Self, TableError> {
        let array = batch.batch.column(index);
        let damaged = |error| batch.damaged(error);
        let scalars = || Scalars::new(array).map_err(damaged);
        Ok(match canonical_kind(array.data_type()) {
            Ok("binary") => Self::Binary(scalars()?),
            Ok(_) => Self::Text(scalars()?),
            Err(_) => Self::Other(array.as_ref(), ArrayFormatter::try_new(array.as_ref(), options).map_err(damaged)?),
        })
    }

    /// The text of a row, `None` for null, an error for what is out of range.
    fn text<'b>(&'b self, row: usize, scratch: &'b mut String) -> Result<Option<&'b str>, ()> {
        match self {
            Self::Text(scalars) => match scalars.canonical(row, scratch).map_err(|_| ())? {
                Some(bytes) => std::str::from_utf8(bytes).map(Some).map_err(|_| ()),
                None => Ok(None),
            },
            Self::Binary(scalars) => {
                let mut unused = String::new();
                let Some(bytes) = scalars.canonical(row, &mut unused).map_err(|_| ())? else { return Ok(None) };
                scratch.clear();
                hexadecimal(bytes, scratch);
                Ok(Some(scratch))
            }
            Self::Other(array, _) if array.is_null(row) => Ok(None),
            Self::Other(_, formatter) => {
                scratch.clear();
                formatter.value(row).write(scratch).map_err(|_| ())?;
                Ok(Some(scratch))
            }
        }
    }
}

fn hexadecimal(bytes: &[u8], out: &mut String) {
    for byte in bytes {
        // Writing to a String cannot fail.
        let _ = write!(out, "{byte:02x}");
    }
}

/// Records as rows of a table of their own, with a header.
pub fn new_rows(records: ReceivedPayload<'_>) -> Result<(Vec<u8>, usize), TableError> {
    // Each field comes with a delimiter before it.
    let (mut text, delimiter, mut rows) = (Vec::new(), b',', 0);
    for field in &records.schema.fields {
        text.push(delimiter);
        write_field(&field.name, delimiter, &mut text);
    }
    text.remove(0);
    text.push(b'\n');
    let mut writer = PayloadText::new(Some(records), delimiter);
    let mut row = Vec::new();
    for record in records.bytes.chunks_exact(records.schema.width.max(1)) {
        row.clear();
        writer.append(Some(record), &mut row)?;
        text.extend_from_slice(row.get(1..).unwrap_or_default());
        text.push(b'\n');
        rows += 1;
    }
    Ok((text, rows))
}

/// Appends the payload of a match as CSV fields.
struct PayloadText<'a> {
    payload: Option<ReceivedPayload<'a>>,
    delimiter: u8,
    values: Vec<Value<'a>>,
    scratch: String,
}

impl<'a> PayloadText<'a> {
    fn new(payload: Option<ReceivedPayload<'a>>, delimiter: u8) -> Self {
        Self { payload, delimiter, values: Vec::new(), scratch: String::new() }
    }

    fn append(&mut self, record: Option<&'a [u8]>, out: &mut Vec<u8>) -> Result<(), TableError> {
        let (Some(payload), Some(record)) = (self.payload, record) else { return Ok(()) };
        payload.schema.decode(record, &mut self.values)?;
        for (value, field) in self.values.iter().zip(&payload.schema.fields) {
            out.push(self.delimiter);
            let text = &mut self.scratch;
            text.clear();
            let out_of_range = |()| TableError::PeerPayload("a date is out of range");
            match *value {
                Value::Null => continue,
                Value::Text(value) => text.push_str(value),
                Value::Binary(value) => hexadecimal(value, text),
                Value::Boolean(value) => _ = write!(text, "{value}"),
                Value::Fixed(bytes) => field.kind.text(bytes, text).map_err(out_of_range)?,
            }
            write_field(text, self.delimiter, out);
        }
        Ok(())
    }
}
