//! Writing JSON lines.

use std::io::Write;

use arrow_cast::display::FormatOptions;
use arrow_schema::DataType;

use crate::table::formats::json_lines::{LARGEST_EXACT, is_bare, write_text};
use crate::table::formats::text_columns::{TextColumn, hexadecimal, no_text};
use crate::table::formats::text_rows::TextRows;
use crate::table::formats::{FormatWriter, RowsAs};
use crate::table::payload::Value;
use crate::table::{Head, PayloadKind, PayloadSchema, RowBatch, TableError, WriteStats};

/// Writes rows as JSON lines.
pub(crate) struct JsonLinesWriter<W: Write> {
    out: TextRows<W>,
    /// The name of the rows' source in errors.
    source: String,
    /// How values of the own columns are written.
    own: Vec<OwnColumn>,
    /// The names of the payload's columns, as JSON.
    payload_names: Vec<Vec<u8>>,
    payload: Option<PayloadSchema>,
    scratch: String,
}

struct OwnColumn {
    /// As JSON.
    name: Vec<u8>,
    unquoted: Unquoted,
}

/// Which values of a column are written without quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unquoted {
    /// None.
    None,
    /// Integers that every reader takes exactly, as in results of numbers.
    Integer,
    /// All that are a number or a truth value of JSON.
    Bare,
}

impl Unquoted {
    fn of(data_type: &DataType) -> Self {
        use DataType as T;
        match data_type {
            T::Int8 | T::Int16 | T::Int32 | T::Int64 | T::UInt8 | T::UInt16 | T::UInt32 | T::UInt64 => Self::Integer,
            T::Boolean | T::Float16 | T::Float32 | T::Float64 => Self::Bare,
            T::Dictionary(_, values) => Self::of(values),
            T::RunEndEncoded(_, values) => Self::of(values.data_type()),
            _ => Self::None,
        }
    }

    fn of_payload(kind: &PayloadKind) -> Self {
        match kind {
            PayloadKind::Int { .. } | PayloadKind::UInt { .. } => Self::Integer,
            PayloadKind::Float { .. } => Self::Bare,
            _ => Self::None,
        }
    }

    fn write(self, text: &str, out: &mut Vec<u8>) {
        let is_bare = match self {
            Self::None => false,
            Self::Integer => text.parse::<i64>().is_ok_and(|number| number.unsigned_abs() <= LARGEST_EXACT),
            Self::Bare => is_bare(text),
        };
        if is_bare { out.extend_from_slice(text.as_bytes()) } else { write_text(text, out) }
    }
}

/// A name as JSON.
fn quoted(name: &str) -> Vec<u8> {
    let mut quoted = Vec::with_capacity(name.len() + 2);
    write_text(name, &mut quoted);
    quoted
}

impl<W: Write> JsonLinesWriter<W> {
    /// Takes over the names of the columns.
    pub fn new(writer: W, rows: RowsAs, path: &str, head: &Head<'_>) -> Result<Self, TableError> {
        let own = head.schema.fields().iter().enumerate().map(|(place, field)| OwnColumn {
            name: quoted(field.name()),
            unquoted: if head.bare.get(place) == Some(&true) {
                Unquoted::Bare
            } else {
                Unquoted::of(field.data_type())
            },
        });
        let names = head.payload.iter().flat_map(|payload| payload.names_beside(&head.schema));
        Ok(Self {
            out: TextRows::new(writer, rows.packing, path)?,
            source: head.source.to_owned(),
            own: own.collect(),
            payload_names: names.map(|name| quoted(&name)).collect(),
            payload: head.payload.cloned(),
            scratch: String::new(),
        })
    }

    /// Appends the payload of a match to an object that is open, and has values before it or not.
    fn append(&mut self, record: Option<&[u8]>, has_values: bool) -> Result<(), TableError> {
        let (Some(schema), Some(record)) = (&self.payload, record) else { return Ok(()) };
        let (block, text) = (&mut self.out.block, &mut self.scratch);
        let (mut names, mut delimits) = (self.payload_names.iter(), has_values);
        schema.decode_each(record, |field, value| {
            if std::mem::replace(&mut delimits, true) {
                block.push(b',');
            }
            block.extend_from_slice(names.next().map_or(&[], Vec::as_slice));
            block.push(b':');
            text.clear();
            match value {
                Value::Null => block.extend_from_slice(b"null"),
                Value::Text(value) => write_text(value, block),
                Value::Boolean(value) => block.extend_from_slice(if value { b"true" } else { b"false" }),
                Value::Binary(value) => {
                    hexadecimal(value, text);
                    write_text(text, block);
                }
                Value::Fixed(bytes) => {
                    field.kind.text(bytes, text).map_err(|()| TableError::PeerPayload("a date is out of range"))?;
                    Unquoted::of_payload(&field.kind).write(text, block);
                }
            }
            Ok(())
        })
    }
}

impl<W: Write + Send> FormatWriter<W> for JsonLinesWriter<W> {
    /// Writes a line as it stands, with the payload behind its own values.
    fn record(&mut self, line: &[u8], end: usize, payload: Option<&[u8]>) -> Result<(), TableError> {
        let (object, line_end) = line.split_at_checked(end).unwrap_or((line, &[]));
        if payload.is_none() {
            self.out.block.extend_from_slice(object);
        } else {
            let Some(open) = object.strip_suffix(b"}") else {
                return Err(TableError::Changed { path: self.source.clone() });
            };
            let open = open.trim_ascii_end();
            self.out.block.extend_from_slice(open);
            self.append(payload, !open.ends_with(b"{"))?;
            self.out.block.push(b'}');
        }
        self.out.block.extend_from_slice(if line_end.is_empty() { b"\n" } else { line_end });
        self.out.end_row()
    }

    /// Writes rows of columns.
    fn batch(&mut self, rows: &RowBatch<'_>) -> Result<(), TableError> {
        let options = FormatOptions::default();
        let columns = TextColumn::all(rows.columns, &options, self.out.path())?;
        let mut text = std::mem::take(&mut self.scratch);
        for row in 0..rows.columns.num_rows() {
            let block = &mut self.out.block;
            block.push(b'{');
            for (place, (values, column)) in columns.iter().zip(&self.own).enumerate() {
                if place > 0 {
                    block.push(b',');
                }
                block.extend_from_slice(&column.name);
                block.push(b':');
                match values.text(row, &mut text) {
                    Ok(Some(text)) => column.unquoted.write(text, block),
                    Ok(None) => block.extend_from_slice(b"null"),
                    Err(()) => return Err(no_text(&self.source, rows, row, place)),
                }
            }
            self.append(rows.payloads.get(row).copied().flatten(), !self.own.is_empty())?;
            self.out.block.extend_from_slice(b"}\n");
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
