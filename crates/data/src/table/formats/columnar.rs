//! Parquet and Arrow IPC files: batches of columns, and the canonical form of their values as keys.
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
use arrow_schema::{ArrowError, DataType, Field, SchemaRef, TimeUnit};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::basic::Compression;

use crate::key::{Unmatchable, date, uuid};
use crate::table::extension::Extension;
use crate::table::formats::arrow::batches::{Columns, keep_batch};
use crate::table::formats::arrow_ipc::check as ipc_check;
use crate::table::formats::parquet::check as parquet_check;
use crate::table::formats::parquet::footer::{ParquetFile, with_intervals};
use crate::table::source::{Scanner, Wanted};
use crate::table::{Counted, Format, Head, Input, KeptRows, Sink, TableError};

enum Reader {
    Parquet(ParquetRecordBatchReader),
    File(FileReader<BufReader<File>>),
    Stream(StreamReader<BufReader<Counted<File>>>),
}

/// A Parquet or Arrow input as a stream of batches.
pub(crate) struct ColumnarReader<'a> {
    input: &'a Input,
    reader: Reader,
    schema: SchemaRef,
    compression: Compression,
    /// Rows of Parquet, or batches of an Arrow file, that were read, and all of them.
    passed: [u64; 2],
}

impl<'a> ColumnarReader<'a> {
    /// Opens the input for the columns at these places of its schema; for all when `None`.
    pub fn open(input: &'a Input, places: Option<&[usize]>) -> Result<Self, TableError> {
        guarded(input, || Self::open_unguarded(input, places))
    }

    fn open_unguarded(input: &'a Input, places: Option<&[usize]>) -> Result<Self, TableError> {
        let file = input.rewind()?;
        let mut compression = Compression::SNAPPY;
        let mut known_schema = None;
        let mut all = 0;
        let damaged = |error: ArrowError| input.damaged(error);
        let places = places.map(ascending);
        let reader = match input.format() {
            Format::Parquet => {
                let known = input.known_parquet(|| ParquetFile::open(input, &file))?;
                let own = file.try_clone().map_err(|source| input.unreadable(source))?;
                let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(own, known.reader());
                known_schema = Some(match &places {
                    Some(places) => Arc::new(known.schema().project(places).map_err(damaged)?),
                    None => known.schema().clone(),
                });
                all = u64::try_from(builder.metadata().file_metadata().num_rows()).unwrap_or(0);
                if let Some(column) = builder.metadata().row_groups().first().and_then(|group| group.columns().first())
                {
                    compression = column.compression();
                }
                let chosen = match &places {
                    Some(places) => ProjectionMask::roots(builder.parquet_schema(), places.iter().copied()),
                    None => ProjectionMask::all(),
                };
                let rows = parquet_check::check_columns(input, &file, builder.metadata(), &chosen, known.compared())?;
                let builder = builder.with_projection(chosen).with_batch_size(rows);
                Reader::Parquet(builder.build().map_err(|error| input.damaged(error))?)
            }
            Format::ArrowStream => {
                ipc_check::check(input, &file)?;
                Reader::Stream(StreamReader::try_new(BufReader::new(input.counted(file)), places).map_err(damaged)?)
            }
            Format::ArrowFile => {
                ipc_check::check(input, &file)?;
                let reader = FileReader::try_new(BufReader::new(file), places).map_err(damaged)?;
                all = reader.num_batches() as u64;
                Reader::File(reader)
            }
            Format::Csv | Format::JsonLines => return Err(not_columnar(input)),
        };
        let schema = match &reader {
            Reader::Parquet(reader) => arrow_array::RecordBatchReader::schema(reader),
            Reader::File(reader) => reader.schema(),
            Reader::Stream(reader) => reader.schema(),
        };
        // The reader drops the file's own metadata from its schema.
        let schema = known_schema.unwrap_or(schema);
        Ok(Self { input, reader, schema, compression, passed: [0, all] })
    }

    /// The columns read.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Codec of the first column of a Parquet input.
    pub fn compression(&self) -> Compression {
        self.compression
    }

    /// The next batch.
    pub fn next(&mut self) -> Result<Option<RecordBatch>, TableError> {
        let input = self.input;
        guarded(input, || {
            let batch = match &mut self.reader {
                Reader::Parquet(reader) => reader.next(),
                Reader::File(reader) => reader.next(),
                Reader::Stream(reader) => reader.next(),
            };
            let batch = batch.transpose().and_then(|batch| match batch {
                Some(batch) if matches!(self.reader, Reader::Parquet(_)) => {
                    with_intervals(batch, &self.schema).map(Some)
                }
                batch => Ok(batch),
            });
            let batch = batch.map_err(|error| input.damaged(error))?;
            let [done, all] = &mut self.passed;
            *done += match (&self.reader, &batch) {
                (_, None) => 0,
                (Reader::Parquet(_), Some(batch)) => batch.num_rows() as u64,
                (Reader::File(_) | Reader::Stream(_), Some(_)) => 1,
            };
            // A stream counts its bytes by itself.
            if !matches!(self.reader, Reader::Stream(_)) {
                input.passed(*done, *all);
            }
            Ok(batch)
        })
    }
}

/// Places ascending and each once, as readers of files take them.
fn ascending(places: &[usize]) -> Vec<usize> {
    let mut places = places.to_vec();
    places.sort_unstable();
    places.dedup();
    places
}

/// The columns of a file, by its metadata alone.
pub(crate) fn schema(input: &Input) -> Result<SchemaRef, TableError> {
    guarded(input, || {
        let file = input.rewind()?;
        let damaged = |error: ArrowError| input.damaged(error);
        match input.format() {
            Format::Parquet => Ok(input.known_parquet(|| ParquetFile::open(input, &file))?.schema().clone()),
            Format::ArrowStream => {
                ipc_check::check(input, &file)?;
                Ok(StreamReader::try_new(BufReader::new(file), None).map_err(damaged)?.schema())
            }
            Format::ArrowFile => {
                ipc_check::check(input, &file)?;
                Ok(FileReader::try_new(BufReader::new(file), None).map_err(damaged)?.schema())
            }
            Format::Csv | Format::JsonLines => Err(not_columnar(input)),
        }
    })
}

/// The error of an input of text.
fn not_columnar(input: &Input) -> TableError {
    input.damaged("it has no typed columns")
}

/// See [`crate::table::Source::scan`].
pub(crate) fn scan(input: &Input, wanted: &[Wanted], scanner: &mut dyn Scanner) -> Result<(), TableError> {
    let places: Vec<usize> = wanted.iter().map(|wanted| wanted.column).collect();
    let mut reader = ColumnarReader::open(input, Some(&places))?;
    let read = ascending(&places);
    let in_batch = |wanted: &Wanted| Wanted { column: read.partition_point(|&place| place < wanted.column), ..*wanted };
    let wanted: Vec<Wanted> = wanted.iter().map(in_batch).collect();
    while let Some(batch) = reader.next()? {
        let columns = guarded(input, || Columns::new(&batch, &wanted).map_err(|error| input.damaged(error)))?;
        columns.scan(scanner)?;
    }
    Ok(())
}

/// See [`crate::table::Source::keep`].
pub(crate) fn keep(input: &Input, kept: &KeptRows<'_>, sink: &mut dyn Sink) -> Result<(), TableError> {
    let mut reader = ColumnarReader::open(input, None)?;
    let head = Head::of(input.path(), reader.schema().clone(), kept.payload_schema());
    sink.begin(&Head { format: Some(input.format()), compression: Some(reader.compression()), ..head })?;
    let mut rows = 0;
    while let Some(batch) = reader.next()? {
        keep_batch(input.path(), &batch, rows, kept, sink)?;
        rows += batch.num_rows();
    }
    Ok(())
}

/// See [`crate::table::Source::sample`].
pub(crate) fn sample(input: &Input) -> Result<RecordBatch, TableError> {
    let mut reader = ColumnarReader::open(input, None)?;
    let first = reader.next()?;
    Ok(first.map_or_else(
        || RecordBatch::new_empty(reader.schema().clone()),
        |batch| batch.slice(0, batch.num_rows().min(1)),
    ))
}

thread_local! {
    /// Whether a panic on this thread is an answer about a damaged file, not a fault of the program.
    static EXPECTED: Cell<bool> = const { Cell::new(false) };
}

/// Runs a step of the Parquet or Arrow reader. On some damaged files these panic; that becomes the
/// error that it is. The process's panic hook is wrapped once, so that such a panic prints nothing.
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

/// The kind of a column's canonical form, or the mend for a type that has none.
pub(crate) fn canonical_kind(field: &Field) -> Result<&'static str, &'static str> {
    match Extension::of(field) {
        None => kind_of(field.data_type()),
        Some(Extension::Uuid) => Ok("uuid"),
        Some(Extension::Json) => Ok("text"),
        Some(Extension::Other(_)) => Err(NO_KIND),
    }
}

/// What to do about a type without a canonical form.
const NO_KIND: &str =
    "choose a column of text, integers, dates, timestamps, booleans, UUIDs or binary, or write it as text";

fn kind_of(data_type: &DataType) -> Result<&'static str, &'static str> {
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
        T::Dictionary(_, values) if !matches!(**values, T::Dictionary(..)) => kind_of(values),
        T::RunEndEncoded(_, values) => canonical_kind(values),
        T::Float16 | T::Float32 | T::Float64 => {
            Err("floats have no reliable equality: cast the column to an integer, a date or text in both tables")
        }
        T::Decimal32(..) | T::Decimal64(..) | T::Decimal128(..) | T::Decimal256(..) => {
            Err("cast the decimal to an integer (of cents, for example) or to text in both tables")
        }
        _ => Err(NO_KIND),
    }
}

/// An array of scalars that have a canonical text or bytes.
pub(crate) struct Scalars {
    array: ArrayRef,
    /// Of a dictionary, where each row's value stands in `array`. Its values are not written out
    /// for each row: one of them may be long.
    places: Option<UInt64Array>,
    is_uuid: bool,
}

impl Scalars {
    /// Takes the array of a column that [`canonical_kind`] accepts; types that differ in storage
    /// only are brought to one.
    pub fn new(array: &ArrayRef, field: &Field) -> Result<Self, ArrowError> {
        use DataType as T;
        if let T::RunEndEncoded(_, values) = array.data_type() {
            return Self::new(&cast(array, values.data_type())?, values);
        }
        let is_uuid = Extension::of(field) == Some(Extension::Uuid);
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
            _ => return Ok(Self { array, places, is_uuid }),
        };
        Ok(Self { array: cast(&array, &target)?, places, is_uuid })
    }

    /// The canonical form of a row's value; `None` is null. Numbers and dates are written to
    /// `scratch`.
    pub fn canonical<'b>(&'b self, row: usize, scratch: &'b mut String) -> Result<Option<&'b [u8]>, Unmatchable> {
        use DataType as T;
        let array = self.array.as_ref();
        let row = match &self.places {
            Some(places) if places.is_null(row) => return Ok(None),
            Some(places) => {
                usize::try_from(places.value(row)).ok().filter(|&place| place < array.len()).ok_or(Unmatchable)?
            }
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
            T::FixedSizeBinary(_) if self.is_uuid => uuid::write(array.as_fixed_size_binary().value(row), scratch),
            T::FixedSizeBinary(_) => return Ok(Some(array.as_fixed_size_binary().value(row))),
            T::Int64 => _ = write!(scratch, "{}", array.as_primitive::<datatypes::Int64Type>().value(row)),
            T::UInt64 => _ = write!(scratch, "{}", array.as_primitive::<datatypes::UInt64Type>().value(row)),
            T::Decimal128(_, 0) => {
                _ = write!(scratch, "{}", array.as_primitive::<datatypes::Decimal128Type>().value(row))
            }
            T::Decimal256(_, 0) => {
                _ = write!(scratch, "{}", array.as_primitive::<datatypes::Decimal256Type>().value(row))
            }
            T::Boolean => scratch.push_str(if array.as_boolean().value(row) { "true" } else { "false" }),
            T::Date32 => {
                date::Date::from_days(i64::from(array.as_primitive::<datatypes::Date32Type>().value(row)))?
                    .write(scratch);
            }
            T::Date64 => {
                let millis = array.as_primitive::<datatypes::Date64Type>().value(row);
                date::Date::from_days(millis.div_euclid(86_400_000))?.write(scratch);
            }
            T::Timestamp(unit, zone) => {
                let (value, per_second) = match unit {
                    TimeUnit::Second => (array.as_primitive::<datatypes::TimestampSecondType>().value(row), 1),
                    TimeUnit::Millisecond => {
                        (array.as_primitive::<datatypes::TimestampMillisecondType>().value(row), 1_000)
                    }
                    TimeUnit::Microsecond => {
                        (array.as_primitive::<datatypes::TimestampMicrosecondType>().value(row), 1_000_000)
                    }
                    TimeUnit::Nanosecond => {
                        (array.as_primitive::<datatypes::TimestampNanosecondType>().value(row), 1_000_000_000)
                    }
                };
                let nanos = value.rem_euclid(per_second) * (1_000_000_000 / per_second);
                date::write_timestamp(value.div_euclid(per_second), nanos as u32, zone.is_some(), scratch)?;
            }
            _ => return Err(Unmatchable),
        }
        Ok(Some(scratch.as_bytes()))
    }
}
