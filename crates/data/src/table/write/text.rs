//! CSV output.

use std::fmt::Write as _;
use std::io::{self, Write};

use arrow_array::{Array, ArrayRef};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::ArrowError;

use crate::table::columnar::Scalars;
use crate::table::csv::write_field;
use crate::table::ending::RowsAs;
use crate::table::packing::Packer;
use crate::table::payload::Value;
use crate::table::write::{WriteStats, payload_names};
use crate::table::{Head, PayloadSchema, RowBatch, Source, TableError, canonical_kind};

/// Bytes that are gathered before they are written.
const BLOCK_BYTES: usize = 1 << 18;

/// Writes rows as CSV.
pub(crate) struct TextWriter<W: Write> {
    /// The name that errors show.
    path: String,
    /// The name of the rows' source in errors.
    source: String,
    writer: Packer<W>,
    block: Vec<u8>,
    delimiter: u8,
    /// Whether there are columns before those of the payload.
    own_columns: bool,
    /// What follows a record that has no line end of its own.
    line_end: Vec<u8>,
    payload: Option<PayloadSchema>,
    scratch: String,
    stats: WriteStats,
}

impl<W: Write> TextWriter<W> {
    /// Writes the header.
    pub fn new(writer: W, rows: RowsAs, path: &str, head: &Head<'_>) -> Result<Self, TableError> {
        let writer =
            Packer::new(writer, rows.packing).map_err(|source| TableError::Output { path: path.to_owned(), source })?;
        let delimiter = rows.delimiter;
        let mut block = Vec::with_capacity(BLOCK_BYTES + (1 << 12));
        let line_end = match &head.csv {
            Some(csv) => {
                if csv.byte_order_mark {
                    block.extend_from_slice("\u{feff}".as_bytes());
                }
                block.extend_from_slice(csv.header);
                csv.line_end
            }
            None => {
                for (index, field) in head.schema.fields().iter().enumerate() {
                    if index > 0 {
                        block.push(delimiter);
                    }
                    write_field(field.name(), delimiter, &mut block);
                }
                b"\n"
            }
        };
        let own_columns = head.csv.is_some() || !head.schema.fields().is_empty();
        for (index, name) in head.payload.iter().flat_map(|payload| payload_names(&head.schema, payload)).enumerate() {
            if own_columns || index > 0 {
                block.push(delimiter);
            }
            write_field(&name, delimiter, &mut block);
        }
        block.extend_from_slice(line_end);
        Ok(Self {
            path: path.to_owned(),
            source: head.source.to_owned(),
            writer,
            block,
            delimiter,
            own_columns,
            line_end: line_end.to_vec(),
            payload: head.payload.cloned(),
            scratch: String::new(),
            stats: WriteStats::default(),
        })
    }

    /// Writes a record as it stands, and the payload behind it.
    pub fn record(&mut self, record: &[u8], end: usize, payload: Option<&[u8]>) -> Result<(), TableError> {
        let (fields, own_end) = record.split_at_checked(end).unwrap_or((record, &[]));
        match payload {
            None if !own_end.is_empty() => self.block.extend_from_slice(record),
            // The last record may lack its line end, and payload goes in front of it.
            _ => {
                self.block.extend_from_slice(fields);
                self.append(payload)?;
                self.block.extend_from_slice(if own_end.is_empty() { &self.line_end } else { own_end });
            }
        }
        self.end_row()
    }

    /// Writes rows of columns as text.
    pub fn batch(&mut self, rows: &RowBatch<'_>) -> Result<(), TableError> {
        let options = FormatOptions::default();
        let columns =
            rows.columns.columns().iter().map(|array| TextColumn::new(array, &options)).collect::<Result<Vec<_>, _>>();
        let columns = columns.map_err(|error| TableError::unfit_result(&self.path, error))?;
        let mut text = std::mem::take(&mut self.scratch);
        for row in 0..rows.columns.num_rows() {
            let payload = rows.payloads.get(row).copied().flatten();
            for (index, column) in columns.iter().enumerate() {
                if index > 0 {
                    self.block.push(self.delimiter);
                }
                match column.text(row, &mut text) {
                    Ok(Some(text)) => write_field(text, self.delimiter, &mut self.block),
                    // A lone null needs quotes: an empty line is no record.
                    Ok(None) if columns.len() == 1 && payload.is_none() => self.block.extend_from_slice(b"\"\""),
                    Ok(None) => {}
                    Err(()) => {
                        let column = rows.columns.schema_ref().field(index).name().clone();
                        let row = rows.row_numbers.get(row).copied().unwrap_or(row as u64 + 1);
                        return Err(TableError::Value { path: self.source.clone(), row, column });
                    }
                }
            }
            self.append(payload)?;
            self.block.extend_from_slice(&self.line_end);
            self.end_row()?;
        }
        self.scratch = text;
        Ok(())
    }

    /// Appends the payload of a match as fields.
    fn append(&mut self, record: Option<&[u8]>) -> Result<(), TableError> {
        let (Some(schema), Some(record)) = (&self.payload, record) else { return Ok(()) };
        let (block, text, delimiter) = (&mut self.block, &mut self.scratch, self.delimiter);
        let mut delimits = self.own_columns;
        schema.decode_each(record, |field, value| {
            if std::mem::replace(&mut delimits, true) {
                block.push(delimiter);
            } else if value == Value::Null && schema.fields.len() == 1 {
                // A lone null needs quotes: an empty line is no record.
                block.extend_from_slice(b"\"\"");
            }
            text.clear();
            match value {
                Value::Null => return Ok(()),
                Value::Text(value) => text.push_str(value),
                Value::Binary(value) => hexadecimal(value, text),
                Value::Boolean(value) => _ = write!(text, "{value}"),
                Value::Fixed(bytes) => {
                    field.kind.text(bytes, text).map_err(|()| TableError::PeerPayload("a date is out of range"))?;
                }
            }
            write_field(text, delimiter, block);
            Ok(())
        })
    }

    fn end_row(&mut self) -> Result<(), TableError> {
        self.stats.rows += 1;
        if self.block.len() >= BLOCK_BYTES { self.drain() } else { Ok(()) }
    }

    fn drain(&mut self) -> Result<(), TableError> {
        self.writer.write_all(&self.block).map_err(|source| self.failed(source))?;
        self.stats.bytes += self.block.len() as u64;
        self.block.clear();
        Ok(())
    }

    /// Writes what is gathered, and gives the writer back.
    pub fn finish(mut self) -> Result<(W, WriteStats), TableError> {
        self.drain()?;
        let Self { path, writer, stats, .. } = self;
        let writer = writer.finish().map_err(|source| TableError::Output { path, source })?;
        Ok((writer, stats))
    }

    fn failed(&self, source: io::Error) -> TableError {
        TableError::Output { path: self.path.clone(), source }
    }
}

/// Refuses columns that have no text.
pub(super) fn check(source: &dyn Source, path: &str) -> Result<(), TableError> {
    for field in source.schema()?.fields() {
        if field.data_type().is_nested() {
            let reason = format!("column `{}` is of type {}, which CSV cannot hold", field.name(), field.data_type());
            let mend = "give the output the extension .parquet or .arrow";
            return Err(TableError::OutputFormat { path: path.to_owned(), reason, mend });
        }
    }
    let sample = source.sample()?;
    let options = FormatOptions::default();
    let text =
        |array| TextColumn::new(array, &options).map(drop).map_err(|error| TableError::unfit_result(path, error));
    sample.columns().iter().try_for_each(text)
}

/// A column of a batch as text: canonical where there is a canonical form, else as Arrow displays
/// it.
enum TextColumn<'a> {
    Text(Scalars),
    Binary(Scalars),
    Other(&'a dyn Array, ArrayFormatter<'a>),
}

impl<'a> TextColumn<'a> {
    fn new(array: &'a ArrayRef, options: &'a FormatOptions<'a>) -> Result<Self, ArrowError> {
        let scalars = || Scalars::new(array);
        Ok(match canonical_kind(array.data_type()) {
            Ok("binary") => Self::Binary(scalars()?),
            Ok(_) => Self::Text(scalars()?),
            Err(_) => Self::Other(array.as_ref(), ArrayFormatter::try_new(array.as_ref(), options)?),
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
