//! Parquet and Arrow IPC: batches of columns, and the canonical form of their values as keys.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use std::cell::Cell;
use std::fmt::Write;
use std::fs::File;
use std::io::BufReader;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Once};

use arrow_array::cast::AsArray;
use arrow_array::types as datatypes;
use arrow_array::{Array, ArrayRef, RecordBatch, UInt64Array};
use arrow_cast::cast;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, DataType, Schema, SchemaRef, TimeUnit};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::basic::Compression;

use crate::key::{Unmatchable, date};
use crate::table::{Format, Input, TableError, ipc_check, parquet_check};

/// Rows decoded at once.
pub(super) const BATCH_ROWS: usize = 8192;

enum Source {
    Parquet(ParquetRecordBatchReader),
    File(FileReader<BufReader<File>>),
    Stream(StreamReader<BufReader<File>>),
}

/// A Parquet or Arrow input as a stream of batches.
pub(crate) struct ColumnarReader<'a> {
    input: &'a Input,
    source: Source,
    schema: SchemaRef,
    compression: Compression,
}

impl<'a> ColumnarReader<'a> {
    /// Opens the input for the columns `names` (all when `None`), each of which must stand there once.
    pub fn open(input: &'a Input, names: Option<&[&str]>) -> Result<Self, TableError> {
        guarded(input, || Self::open_unguarded(input, names))
    }

    fn open_unguarded(input: &'a Input, names: Option<&[&str]>) -> Result<Self, TableError> {
        let file = input.rewind()?;
        if input.format() != Format::Parquet {
            ipc_check::check(input, &file)?;
        }
        let mut compression = Compression::SNAPPY;
        let mut metadata = None;
        let damaged = |error: ArrowError| input.damaged(error);
        let source = match input.format() {
            Format::Parquet => {
                parquet_check::check_footer(input, &file)?;
                let own = file.try_clone().map_err(|source| input.unreadable(source))?;
                let builder = ParquetRecordBatchReaderBuilder::try_new(own).map_err(|error| input.damaged(error))?;
                let places = Self::places(input, builder.schema(), names)?;
                // The reader drops the file's own metadata from its schema.
                metadata = Some(builder.schema().metadata().clone());
                if let Some(column) = builder.metadata().row_groups().first().and_then(|group| group.columns().first()) {
                    compression = column.compression();
                }
                let chosen = match places {
                    Some(places) => ProjectionMask::roots(builder.parquet_schema(), places),
                    None => ProjectionMask::all(),
                };
                let rows = parquet_check::check_columns(input, &file, builder.metadata(), &chosen, BATCH_ROWS)?;
                let builder = builder.with_projection(chosen).with_batch_size(rows);
                Source::Parquet(builder.build().map_err(|error| input.damaged(error))?)
            }
            Format::ArrowStream => {
                let all = StreamReader::try_new(BufReader::new(file), None).map_err(damaged)?;
                match Self::places(input, &all.schema(), names)? {
                    None => Source::Stream(all),
                    places => {
                        drop(all);
                        Source::Stream(StreamReader::try_new(BufReader::new(input.rewind()?), places).map_err(damaged)?)
                    }
                }
            }
            Format::ArrowFile | Format::Csv => {
                let all = FileReader::try_new(BufReader::new(file), None).map_err(damaged)?;
                match Self::places(input, &all.schema(), names)? {
                    None => Source::File(all),
                    places => {
                        drop(all);
                        Source::File(FileReader::try_new(BufReader::new(input.rewind()?), places).map_err(damaged)?)
                    }
                }
            }
        };
        let schema = match &source {
            Source::Parquet(reader) => arrow_array::RecordBatchReader::schema(reader),
            Source::File(reader) => reader.schema(),
            Source::Stream(reader) => reader.schema(),
        };
        let schema = match metadata {
            Some(metadata) => Arc::new(Schema::new_with_metadata(schema.fields().clone(), metadata)),
            None => schema,
        };
        Ok(Self { input, source, schema, compression })
    }

    /// Places of the named columns, ascending and each once.
    fn places(input: &Input, schema: &Schema, names: Option<&[&str]>) -> Result<Option<Vec<usize>>, TableError> {
        let Some(names) = names else { return Ok(None) };
        let existing: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        let mut places = names.iter().map(|name| input.column(&existing, name)).collect::<Result<Vec<_>, _>>()?;
        places.sort_unstable();
        places.dedup();
        Ok(Some(places))
    }

    /// The columns read.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Codec of the first column of a Parquet input.
    pub fn compression(&self) -> Compression {
        self.compression
    }

    /// Kind of a key column, or why it can be no key.
    pub fn key_kind(&self, name: &str) -> Result<&'static str, TableError> {
        let field = self.schema.field_with_name(name).map_err(|error| self.input.damaged(error))?;
        canonical_kind(field.data_type()).map_err(|mend| TableError::ColumnType {
            path: self.input.path().to_owned(),
            column: name.to_owned(),
            found: field.data_type().to_string(),
            role: "a key",
            mend,
        })
    }

    /// The next batch.
    pub fn next(&mut self) -> Result<Option<Batch<'a>>, TableError> {
        let input = self.input;
        let batch = guarded(input, || {
            let batch = match &mut self.source {
                Source::Parquet(reader) => reader.next(),
                Source::File(reader) => reader.next(),
                Source::Stream(reader) => reader.next(),
            };
            batch.transpose().map_err(|error| input.damaged(error))
        })?;
        Ok(batch.map(|batch| Batch { input, batch }))
    }
}

thread_local! {
    /// Whether a panic on this thread is an answer about a damaged file, not a fault of the program.
    static EXPECTED: Cell<bool> = const { Cell::new(false) };
}

/// Runs a step of the Parquet or Arrow reader. On some damaged files these panic; that becomes the error that it is. The process's
/// panic hook is wrapped once, so that such a panic prints nothing.
fn guarded<T>(input: &Input, step: impl FnOnce() -> Result<T, TableError>) -> Result<T, TableError> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let others = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !EXPECTED.get() {
                others(info);
            }
        }));
    });
    EXPECTED.set(true);
    // A reader that panicked is never used again.
    let result = panic::catch_unwind(AssertUnwindSafe(step));
    EXPECTED.set(false);
    result.unwrap_or_else(|_| Err(input.damaged("its content contradicts its metadata")))
}

/// Some rows of a columnar input.
pub(crate) struct Batch<'a> {
    input: &'a Input,
    pub batch: RecordBatch,
}

impl Batch<'_> {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.batch.num_rows()
    }

    /// A column whose values have canonical forms.
    pub fn key_column(&self, name: &str) -> Result<Scalars, TableError> {
        let array = self.batch.column_by_name(name).ok_or_else(|| self.input.damaged("a batch lacks a column of the schema"))?;
        guarded(self.input, || Scalars::new(array).map_err(|error| self.input.damaged(error)))
    }

    pub fn damaged(&self, reason: impl ToString) -> TableError {
        self.input.damaged(reason)
    }
}

/// The kind of a type's canonical form, or the mend for a type that has none.
pub(crate) fn canonical_kind(data_type: &DataType) -> Result<&'static str, &'static str> {
    use DataType as T;
    match data_type {
        T::Null => Ok("null"),
        T::Utf8 | T::LargeUtf8 | T::Utf8View => Ok("text"),
        T::Int8 | T::Int16 | T::Int32 | T::Int64 | T::UInt8 | T::UInt16 | T::UInt32 | T::UInt64 => Ok("integer"),
        T::Decimal32(_, 0) | T::Decimal64(_, 0) | T::Decimal128(_, 0) | T::Decimal256(_, 0) => Ok("integer"),
        T::Boolean => Ok("boolean"),
        T::Date32 | T::Date64 => Ok("date"),
        T::Timestamp(_, None) => Ok("timestamp"),
        T::Timestamp(_, Some(_)) => Ok("timestamp with time zone"),
        T::Binary | T::LargeBinary | T::BinaryView | T::FixedSizeBinary(_) => Ok("binary"),
        T::Dictionary(_, values) if !matches!(**values, T::Dictionary(..)) => canonical_kind(values),
        T::Float16 | T::Float32 | T::Float64 => {
            Err("floats have no reliable equality: cast the column to an integer, a date or text in both tables")
        }
        T::Decimal32(..) | T::Decimal64(..) | T::Decimal128(..) | T::Decimal256(..) => {
            Err("cast the decimal to an integer (of cents, for example) or to text in both tables")
        }
        _ => Err("choose a column of text, integers, dates, timestamps, booleans or binary, or write it as text"),
    }
}

/// An array of scalars that have a canonical text or bytes.
pub(crate) struct Scalars {
    array: ArrayRef,
    /// Of a dictionary, where each row's value stands in `array`. Its values are not written out for each row: one of them may be long.
    places: Option<UInt64Array>,
}

impl Scalars {
    /// Takes an array whose type [`canonical_kind`] accepts; types that differ in storage only are brought to one.
    pub fn new(array: &ArrayRef) -> Result<Self, ArrowError> {
        use DataType as T;
        let (array, places) = match array.as_any_dictionary_opt() {
            Some(dictionary) => {
                let places = cast(dictionary.keys(), &T::UInt64)?;
                (dictionary.values().clone(), Some(places.as_primitive::<datatypes::UInt64Type>().clone()))
            }
            None => (array.clone(), None),
        };
        let target = match array.data_type() {
            T::Int8 | T::Int16 | T::Int32 => T::Int64,
            T::UInt8 | T::UInt16 | T::UInt32 => T::UInt64,
            T::Decimal32(p, s) | T::Decimal64(p, s) => T::Decimal128(*p, *s),
            _ => return Ok(Self { array, places }),
        };
        Ok(Self { array: cast(&array, &target)?, places })
    }

    /// The canonical form of a row's value; `None` is null. Numbers and dates are written to `scratch`.
    pub fn canonical<'b>(&'b self, row: usize, scratch: &'b mut String) -> Result<Option<&'b [u8]>, Unmatchable> {
        use DataType as T;
        let array = self.array.as_ref();
        let row = match &self.places {
            Some(places) if places.is_null(row) => return Ok(None),
            Some(places) => usize::try_from(places.value(row)).ok().filter(|&place| place < array.len()).ok_or(Unmatchable)?,
            None => row,
        };
        if array.is_null(row) || *array.data_type() == T::Null {
            return Ok(None);
        }
        scratch.clear();
        // Writing to a String cannot fail.
        match array.data_type() {
            T::Utf8 => return Ok(Some(array.as_string::<i32>().value(row).as_bytes())),
            T::LargeUtf8 => return Ok(Some(array.as_string::<i64>().value(row).as_bytes())),
            T::Utf8View => return Ok(Some(array.as_string_view().value(row).as_bytes())),
            T::Binary => return Ok(Some(array.as_binary::<i32>().value(row))),
            T::LargeBinary => return Ok(Some(array.as_binary::<i64>().value(row))),
            T::BinaryView => return Ok(Some(array.as_binary_view().value(row))),
            T::FixedSizeBinary(_) => return Ok(Some(array.as_fixed_size_binary().value(row))),
            T::Int64 => _ = write!(scratch, "{}", array.as_primitive::<datatypes::Int64Type>().value(row)),
            T::UInt64 => _ = write!(scratch, "{}", array.as_primitive::<datatypes::UInt64Type>().value(row)),
            T::Decimal128(_, 0) => _ = write!(scratch, "{}", array.as_primitive::<datatypes::Decimal128Type>().value(row)),
            T::Decimal256(_, 0) => _ = write!(scratch, "{}", array.as_primitive::<datatypes::Decimal256Type>().value(row)),
            T::Boolean => scratch.push_str(if array.as_boolean().value(row) { "true" } else { "false" }),
            T::Date32 => {
                date::Date::from_days(i64::from(array.as_primitive::<datatypes::Date32Type>().value(row)))?.write(scratch);
            }
            T::Date64 => {
                let millis = array.as_primitive::<datatypes::Date64Type>().value(row);
                date::Date::from_days(millis.div_euclid(86_400_000))?.write(scratch);
            }
            T::Timestamp(unit, zone) => {
                let (value, per_second) = match unit {
                    TimeUnit::Second => (array.as_primitive::<datatypes::TimestampSecondType>().value(row), 1),
                    TimeUnit::Millisecond => (array.as_primitive::<datatypes::TimestampMillisecondType>().value(row), 1_000),
                    TimeUnit::Microsecond => (array.as_primitive::<datatypes::TimestampMicrosecondType>().value(row), 1_000_000),
                    TimeUnit::Nanosecond => (array.as_primitive::<datatypes::TimestampNanosecondType>().value(row), 1_000_000_000),
                };
                let nanos = value.rem_euclid(per_second) * (1_000_000_000 / per_second);
                date::write_timestamp(value.div_euclid(per_second), nanos as u32, zone.is_some(), scratch)?;
            }
            _ => return Err(Unmatchable),
        }
        Ok(Some(scratch.as_bytes()))
    }
}
