//! The sender's side: rows to records.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, LargeBinaryArray, LargeStringArray};
use arrow_buffer::Buffer;
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{ArrowError, DataType, Schema};

use crate::table::columnar::Batch;
use crate::table::csv::Record;
use crate::table::payload::{Duplicates, MAX_PAYLOAD_WIDTH, PayloadField, PayloadKind, PayloadSchema, PayloadSpec, PayloadTable};
use crate::table::{Input, TableError};

/// Gathers one record a distinct key while the table is read.
pub(crate) struct PayloadCollector {
    fields: Vec<PayloadField>,
    duplicates: Duplicates,
    /// Places of the columns in a CSV record.
    csv_columns: Vec<usize>,
    /// The current row's record.
    row: Vec<u8>,
    scratch: String,
    /// Unpadded records one behind the other, and where each ends.
    records: Vec<u8>,
    ends: Vec<usize>,
}

impl PayloadCollector {
    fn new(spec: &PayloadSpec, fields: Vec<PayloadField>, csv_columns: Vec<usize>) -> Self {
        let duplicates = spec.duplicates;
        Self { fields, duplicates, csv_columns, row: Vec::new(), scratch: String::new(), records: Vec::new(), ends: Vec::new() }
    }

    /// For a CSV input, whose columns are all text.
    pub fn for_csv(spec: &PayloadSpec, csv_columns: Vec<usize>) -> Self {
        let field = |name: &String| PayloadField { name: name.clone(), kind: PayloadKind::Text };
        Self::new(spec, spec.columns.iter().map(field).collect(), csv_columns)
    }

    /// For a Parquet or Arrow input; refuses columns whose type does not travel.
    pub fn for_columns(input: &Input, spec: &PayloadSpec, schema: &Schema) -> Result<Self, TableError> {
        let field = |name: &String| {
            let found = schema.field_with_name(name).map_err(|error| input.damaged(error))?.data_type();
            let kind = PayloadKind::of(found).ok_or_else(|| TableError::ColumnType {
                path: input.path().to_owned(),
                column: name.clone(),
                found: found.to_string(),
                role: "a payload",
                mend: "choose a column of text, numbers, dates, timestamps, booleans or binary",
            })?;
            Ok(PayloadField { name: name.clone(), kind })
        };
        Ok(Self::new(spec, spec.columns.iter().map(field).collect::<Result<_, TableError>>()?, Vec::new()))
    }

    fn begin(&mut self) {
        self.row.clear();
        self.row.resize(self.fields.len().div_ceil(8), 0);
    }

    #[expect(clippy::indexing_slicing, reason = "`begin` makes a bit for each field")]
    fn present(&mut self, field: usize) {
        self.row[field / 8] |= 1 << (field % 8);
    }

    fn bytes(row: &mut Vec<u8>, value: &[u8]) {
        let mut length = value.len();
        while length >= 0x80 {
            row.push(length as u8 | 0x80);
            length >>= 7;
        }
        row.push(length as u8);
        row.extend_from_slice(value);
    }

    /// Encodes a CSV row; an empty field without quotes is null.
    pub fn csv_row(&mut self, record: &Record) {
        self.begin();
        for field in 0..self.csv_columns.len() {
            let Some(&column) = self.csv_columns.get(field) else { break };
            if let Some(text) = record.cell(column, &mut self.scratch) {
                Self::bytes(&mut self.row, text.as_bytes());
                self.present(field);
            }
        }
    }

    /// The batch's payload columns in a form that [`Self::columnar_row`] reads.
    pub fn columns_of(&self, batch: &Batch) -> Result<Vec<PayloadColumn>, TableError> {
        let column = |field: &PayloadField| {
            let array = batch.batch.column_by_name(&field.name).ok_or_else(|| batch.damaged("a batch lacks a column of the schema"))?;
            PayloadColumn::of(array, &field.kind).map_err(|error| batch.damaged(error))
        };
        self.fields.iter().map(column).collect()
    }

    /// Encodes a row of a batch.
    #[expect(clippy::indexing_slicing, reason = "`PayloadColumn::of` refuses a column with fewer bytes than its rows take")]
    pub fn columnar_row(&mut self, columns: &[PayloadColumn], row: usize) {
        self.begin();
        for (field, column) in columns.iter().enumerate() {
            let out = &mut self.row;
            match column {
                PayloadColumn::Text(column) if column.is_valid(row) => Self::bytes(out, column.value(row).as_bytes()),
                PayloadColumn::Binary(column) if column.is_valid(row) => Self::bytes(out, column.value(row)),
                PayloadColumn::Boolean(column) if column.is_valid(row) => out.push(u8::from(column.value(row))),
                PayloadColumn::Fixed { column, values, width } if column.is_valid(row) => {
                    out.extend_from_slice(&values[row * width..][..*width]);
                }
                _ => continue,
            }
            self.present(field);
        }
    }

    /// Keeps the current row's record when its key is new; else compares it with the key's first one. `row` counts from 1.
    #[expect(clippy::indexing_slicing, reason = "a key that is not new has its record, which ends where the next one starts")]
    pub fn end_row(&mut self, input: &Input, key: usize, new: bool, row: u64) -> Result<(), TableError> {
        let width = self.row.len();
        if width > MAX_PAYLOAD_WIDTH {
            return Err(TableError::PayloadWidth { path: input.path().to_owned(), row, width, limit: MAX_PAYLOAD_WIDTH });
        }
        if new {
            self.records.extend_from_slice(&self.row);
            self.ends.push(self.records.len());
        } else if self.duplicates == Duplicates::Refuse {
            let start = if key == 0 { 0 } else { self.ends[key - 1] };
            if self.records[start..self.ends[key]] != self.row {
                return Err(TableError::PayloadDuplicates { path: input.path().to_owned(), row });
            }
        }
        Ok(())
    }

    /// Pads all records to the longest.
    #[expect(clippy::indexing_slicing, reason = "records lie one behind the other, and `width` is the longest")]
    pub fn finish(self) -> PayloadTable {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let width = starts.clone().zip(&self.ends).map(|(start, end)| end - start).max().unwrap_or(0);
        let mut bytes = vec![0; width * self.ends.len()];
        for ((start, &end), record) in starts.zip(&self.ends).zip(bytes.chunks_exact_mut(width.max(1))) {
            record[..end - start].copy_from_slice(&self.records[start..end]);
        }
        PayloadTable { schema: PayloadSchema { fields: self.fields, width }, bytes }
    }
}

/// A column in the form in which its values travel.
pub(crate) enum PayloadColumn {
    Null,
    Text(LargeStringArray),
    Binary(LargeBinaryArray),
    Boolean(BooleanArray),
    Fixed {
        column: ArrayRef,
        /// All values one behind the other, and the bytes of each.
        values: Buffer,
        width: usize,
    },
}

impl PayloadColumn {
    fn of(array: &ArrayRef, kind: &PayloadKind) -> Result<Self, ArrowError> {
        // Not `safe`: what cannot be cast is an error, never silently null.
        let cast = |to: &DataType| cast_with_options(array, to, &CastOptions { safe: false, ..CastOptions::default() });
        Ok(match kind {
            PayloadKind::Null => Self::Null,
            PayloadKind::Text | PayloadKind::LargeText | PayloadKind::TextView => {
                Self::Text(cast(&DataType::LargeUtf8)?.as_string().clone())
            }
            PayloadKind::Binary | PayloadKind::LargeBinary | PayloadKind::BinaryView => {
                Self::Binary(cast(&DataType::LargeBinary)?.as_binary().clone())
            }
            PayloadKind::Boolean => Self::Boolean(cast(&DataType::Boolean)?.as_boolean().clone()),
            fixed => {
                let contradiction = || ArrowError::SchemaError("a column is not of its type".to_owned());
                let column = match fixed.data_type() {
                    Some(plain) => cast(&plain)?,
                    None => return Err(contradiction()),
                };
                let width = fixed.width().ok_or_else(contradiction)?;
                let data = column.to_data();
                let values = data.buffers().first().ok_or_else(contradiction)?.slice(data.offset() * width);
                if values.len() < column.len() * width {
                    return Err(contradiction());
                }
                Self::Fixed { column, values, width }
            }
        })
    }
}
