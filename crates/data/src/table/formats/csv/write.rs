//! CSV output.

use std::fmt::Write as _;
use std::io::Write;

use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_buffer::NullBuffer;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{ArrowError, Field};

use crate::table::extension::{Extension, TypeName};
use crate::table::formats::arrow::scalars::{Scalars, canonical_kind};
use crate::table::formats::csv::write_field;
use crate::table::formats::text_rows::Rows;
use crate::table::payload::Value;
use crate::table::write::ending::RowsAs;
use crate::table::{Format, Head, PayloadSchema, RowBatch, Source, TableError, WriteStats};

/// Writes rows as CSV.
pub(crate) struct TextWriter<W: Write> {
    out: Rows<W>,
    /// The name of the rows' source in errors.
    source: String,
    delimiter: u8,
    /// Whether there are columns before those of the payload.
    own_columns: bool,
    /// What follows a record that has no line end of its own.
    line_end: Vec<u8>,
    payload: Option<PayloadSchema>,
    scratch: String,
}

impl<W: Write> TextWriter<W> {
    /// Writes the header.
    pub fn new(writer: W, rows: RowsAs, path: &str, head: &Head<'_>) -> Result<Self, TableError> {
        let delimiter = rows.delimiter;
        let mut out = Rows::new(writer, rows.packing, path)?;
        let block = &mut out.block;
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
                    write_field(field.name(), delimiter, block);
                }
                b"\n"
            }
        };
        let own_columns = head.csv.is_some() || !head.schema.fields().is_empty();
        for (index, name) in head.payload.iter().flat_map(|payload| payload.names_beside(&head.schema)).enumerate() {
            if own_columns || index > 0 {
                block.push(delimiter);
            }
            write_field(&name, delimiter, block);
        }
        block.extend_from_slice(line_end);
        Ok(Self {
            out,
            source: head.source.to_owned(),
            delimiter,
            own_columns,
            line_end: line_end.to_vec(),
            payload: head.payload.cloned(),
            scratch: String::new(),
        })
    }

    /// Writes a record as it stands, and the payload behind it.
    pub fn record(&mut self, record: &[u8], end: usize, payload: Option<&[u8]>) -> Result<(), TableError> {
        let (fields, own_end) = record.split_at_checked(end).unwrap_or((record, &[]));
        match payload {
            None if !own_end.is_empty() => self.out.block.extend_from_slice(record),
            // The last record may lack its line end, and payload goes in front of it.
            _ => {
                self.out.block.extend_from_slice(fields);
                self.append(payload)?;
                self.out.block.extend_from_slice(if own_end.is_empty() { &self.line_end } else { own_end });
            }
        }
        self.out.end_row()
    }

    /// Writes rows of columns as text.
    pub fn batch(&mut self, rows: &RowBatch<'_>) -> Result<(), TableError> {
        let options = FormatOptions::default();
        let columns = TextColumn::all(rows.columns, &options, self.out.path())?;
        let mut text = std::mem::take(&mut self.scratch);
        for row in 0..rows.columns.num_rows() {
            let payload = rows.payloads.get(row).copied().flatten();
            for (index, column) in columns.iter().enumerate() {
                if index > 0 {
                    self.out.block.push(self.delimiter);
                }
                match column.text(row, &mut text) {
                    Ok(Some(text)) => write_field(text, self.delimiter, &mut self.out.block),
                    // A lone null needs quotes: an empty line is no record.
                    Ok(None) if columns.len() == 1 && payload.is_none() => self.out.block.extend_from_slice(b"\"\""),
                    Ok(None) => {}
                    Err(()) => return Err(no_text(&self.source, rows, row, index)),
                }
            }
            self.append(payload)?;
            self.out.block.extend_from_slice(&self.line_end);
            self.out.end_row()?;
        }
        self.scratch = text;
        Ok(())
    }

    /// Appends the payload of a match as fields.
    fn append(&mut self, record: Option<&[u8]>) -> Result<(), TableError> {
        let (Some(schema), Some(record)) = (&self.payload, record) else { return Ok(()) };
        let (block, text, delimiter) = (&mut self.out.block, &mut self.scratch, self.delimiter);
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

    /// Writes what is gathered, and gives the writer back.
    pub fn finish(self) -> Result<(W, WriteStats), TableError> {
        self.out.finish()
    }
}

/// Refuses columns that have no text.
pub(crate) fn check(source: &dyn Source, format: Format, path: &str) -> Result<(), TableError> {
    for field in source.schema()?.fields() {
        // What is stored of another type is not what its own text would be.
        let is_other = matches!(Extension::of(field), Some(Extension::Other(_)));
        if is_other || field.data_type().is_nested() {
            let (name, found) = (field.name(), TypeName(field));
            let reason = format!("column `{name}` is of type {found}, which {} cannot hold", format.name());
            let mend = "give the output the extension .parquet or .arrow";
            return Err(TableError::OutputFormat { path: path.to_owned(), reason, mend });
        }
    }
    TextColumn::all(&source.sample()?, &FormatOptions::default(), path).map(drop)
}

/// The value in this row and column of a batch has no text.
pub(crate) fn no_text(source: &str, rows: &RowBatch<'_>, row: usize, column: usize) -> TableError {
    let column = rows.columns.schema_ref().field(column).name().clone();
    let row = rows.row_numbers.get(row).copied().unwrap_or(row as u64 + 1);
    TableError::Value { path: source.to_owned(), row, column }
}

/// A column of a batch as text: canonical where there is a canonical form, else as Arrow displays
/// it.
pub(crate) enum TextColumn<'a> {
    Text(Scalars),
    Binary(Scalars),
    Other { values: ArrayFormatter<'a>, nulls: Option<NullBuffer> },
}

impl<'a> TextColumn<'a> {
    /// Those of a batch, for the output `path`.
    ///
    /// # Errors
    /// If a column has a type that has no text.
    pub fn all(batch: &'a RecordBatch, options: &'a FormatOptions<'a>, path: &str) -> Result<Vec<Self>, TableError> {
        let columns = batch.columns().iter().zip(batch.schema_ref().fields());
        let columns: Result<_, _> = columns.map(|(array, field)| Self::new(array, field, options)).collect();
        columns.map_err(|error| TableError::unfit_result(path, error))
    }

    fn new(array: &'a ArrayRef, field: &Field, options: &'a FormatOptions<'a>) -> Result<Self, ArrowError> {
        let scalars = || Scalars::new(array, field);
        Ok(match canonical_kind(field) {
            Ok("binary") => Self::Binary(scalars()?),
            Ok(_) => Self::Text(scalars()?),
            // Nulls may be those of a dictionary's values, or of runs.
            Err(_) => {
                Self::Other { values: ArrayFormatter::try_new(array.as_ref(), options)?, nulls: array.logical_nulls() }
            }
        })
    }

    /// The text of a row, `None` for null, an error for what is out of range.
    pub fn text<'b>(&'b self, row: usize, scratch: &'b mut String) -> Result<Option<&'b str>, ()> {
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
            Self::Other { nulls: Some(nulls), .. } if nulls.is_null(row) => Ok(None),
            Self::Other { values, .. } => {
                scratch.clear();
                values.value(row).write(scratch).map_err(|_| ())?;
                Ok(Some(scratch))
            }
        }
    }
}

/// Appends bytes as hexadecimal digits.
pub(crate) fn hexadecimal(bytes: &[u8], out: &mut String) {
    for byte in bytes {
        // Writing to a String cannot fail.
        let _ = write!(out, "{byte:02x}");
    }
}
