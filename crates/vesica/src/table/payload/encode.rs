//! The sender's side: rows to records.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{self, DataType, Schema, TimeUnit};

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
            let kind = kind_of(found).ok_or_else(|| TableError::ColumnType {
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
            if let Some(text) = record.cell(self.csv_columns[field], &mut self.scratch) {
                Self::bytes(&mut self.row, text.as_bytes());
                self.present(field);
            }
        }
    }

    /// The batch's payload columns in a form that [`Self::columnar_row`] reads.
    pub fn columns_of(&self, batch: &Batch) -> Result<Vec<ArrayRef>, TableError> {
        let column = |field: &PayloadField| {
            let array = batch.batch.column_by_name(&field.name).ok_or_else(|| batch.damaged("a batch lacks a column of the schema"))?;
            widen(array, field.kind).map_err(|error| batch.damaged(error))
        };
        self.fields.iter().map(column).collect()
    }

    /// Encodes a row of a batch.
    pub fn columnar_row(&mut self, columns: &[ArrayRef], row: usize) {
        self.begin();
        for (field, column) in columns.iter().enumerate() {
            if column.is_null(row) {
                continue;
            }
            self.present(field);
            let out = &mut self.row;
            match self.fields[field].kind {
                PayloadKind::Text => Self::bytes(out, column.as_string::<i64>().value(row).as_bytes()),
                PayloadKind::Binary => Self::bytes(out, column.as_binary::<i64>().value(row)),
                PayloadKind::Boolean => out.push(u8::from(column.as_boolean().value(row))),
                PayloadKind::Int => out.extend(column.as_primitive::<datatypes::Int64Type>().value(row).to_le_bytes()),
                PayloadKind::UInt => out.extend(column.as_primitive::<datatypes::UInt64Type>().value(row).to_le_bytes()),
                PayloadKind::Float => out.extend(column.as_primitive::<datatypes::Float64Type>().value(row).to_le_bytes()),
                PayloadKind::Date => {
                    out.extend(i64::from(column.as_primitive::<datatypes::Date32Type>().value(row)).to_le_bytes());
                }
                PayloadKind::Timestamp { nanos: true, .. } => {
                    out.extend(column.as_primitive::<datatypes::TimestampNanosecondType>().value(row).to_le_bytes());
                }
                PayloadKind::Timestamp { nanos: false, .. } => {
                    out.extend(column.as_primitive::<datatypes::TimestampMicrosecondType>().value(row).to_le_bytes());
                }
            }
        }
    }

    /// Keeps the current row's record when its key is new; else compares it with the key's first one. `row` counts from 1.
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

/// How a column type travels.
fn kind_of(data_type: &DataType) -> Option<PayloadKind> {
    use DataType as T;
    Some(match data_type {
        T::Null | T::Utf8 | T::LargeUtf8 | T::Utf8View => PayloadKind::Text,
        T::Decimal32(..) | T::Decimal64(..) | T::Decimal128(..) | T::Decimal256(..) => PayloadKind::Text,
        T::Binary | T::LargeBinary | T::BinaryView | T::FixedSizeBinary(_) => PayloadKind::Binary,
        T::Boolean => PayloadKind::Boolean,
        T::Int8 | T::Int16 | T::Int32 | T::Int64 => PayloadKind::Int,
        T::UInt8 | T::UInt16 | T::UInt32 | T::UInt64 => PayloadKind::UInt,
        T::Float16 | T::Float32 | T::Float64 => PayloadKind::Float,
        T::Date32 | T::Date64 => PayloadKind::Date,
        T::Timestamp(unit, zone) => PayloadKind::Timestamp { nanos: *unit == TimeUnit::Nanosecond, utc: zone.is_some() },
        T::Dictionary(_, values) => kind_of(values)?,
        _ => return None,
    })
}

/// Casts a column to the one storage type of its kind.
fn widen(array: &ArrayRef, kind: PayloadKind) -> Result<ArrayRef, arrow::error::ArrowError> {
    let target = match kind {
        PayloadKind::Text => DataType::LargeUtf8,
        PayloadKind::Binary => DataType::LargeBinary,
        PayloadKind::Boolean => DataType::Boolean,
        PayloadKind::Int => DataType::Int64,
        PayloadKind::UInt => DataType::UInt64,
        PayloadKind::Float => DataType::Float64,
        PayloadKind::Date => DataType::Date32,
        PayloadKind::Timestamp { nanos, .. } => {
            let values = match array.data_type() {
                DataType::Dictionary(_, values) => values.as_ref(),
                plain => plain,
            };
            let zone = if let DataType::Timestamp(_, zone) = values { zone.clone() } else { None };
            DataType::Timestamp(if nanos { TimeUnit::Nanosecond } else { TimeUnit::Microsecond }, zone)
        }
    };
    // Not `safe`: a value out of range is an error, never silently null.
    cast_with_options(array, &target, &CastOptions { safe: false, ..CastOptions::default() })
}
