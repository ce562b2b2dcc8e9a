//! Writing CSV.

use std::fmt::Write as _;
use std::io::Write;

use arrow_cast::display::FormatOptions;

use crate::table::formats::csv::write_field;
use crate::table::formats::text_columns::{TextColumn, hexadecimal, no_text};
use crate::table::formats::text_rows::TextRows;
use crate::table::formats::{FormatWriter, RowsAs};
use crate::table::payload::Value;
use crate::table::{Head, PayloadSchema, RowBatch, TableError, WriteStats};

/// Writes rows as CSV.
pub(crate) struct CsvWriter<W: Write> {
    out: TextRows<W>,
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

impl<W: Write> CsvWriter<W> {
    /// Writes the header.
    pub fn new(writer: W, rows: RowsAs, path: &str, head: &Head<'_>) -> Result<Self, TableError> {
        let delimiter = rows.delimiter;
        let mut out = TextRows::new(writer, rows.packing, path)?;
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
}

impl<W: Write + Send> FormatWriter<W> for CsvWriter<W> {
    /// Writes a record as it stands, and the payload behind it.
    fn record(&mut self, record: &[u8], end: usize, payload: Option<&[u8]>) -> Result<(), TableError> {
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
    fn batch(&mut self, rows: &RowBatch<'_>) -> Result<(), TableError> {
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

    /// Writes what is gathered, and gives the writer back.
    fn finish(self: Box<Self>) -> Result<(W, WriteStats), TableError> {
        self.out.finish()
    }
}
