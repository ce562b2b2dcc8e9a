//! Sound tables of the columnar formats, for fuzzers and tests to damage.

use std::sync::Arc;

use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{
    ArrayRef, BooleanArray, Decimal128Array, DictionaryArray, Int64Array, ListArray, RecordBatch, StringArray,
    StringViewArray, TimestampMillisecondArray,
};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::ArrowError;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding};
use parquet::errors::ParquetError;
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder, WriterVersion};

/// Rows of each table.
const ROWS: usize = 24;

/// A column of each kind that is read in its own way; `email` is the key, `id` has no nulls.
fn batch() -> Result<RecordBatch, ArrowError> {
    let rows = 0..ROWS;
    let emails: StringArray =
        rows.clone().map(|row| (row % 7 != 3).then(|| format!("k{row:05}@example.org"))).collect();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("email", Arc::new(emails)),
        ("id", Arc::new(Int64Array::from_iter_values(rows.clone().map(|row| 1_000_003 * row as i64)))),
        (
            "city",
            Arc::new(
                rows.clone().map(|row| Some(["Bonn", "Lund", "Nice"][row % 3])).collect::<DictionaryArray<Int32Type>>(),
            ),
        ),
        ("paid", Arc::new(rows.clone().map(|row| (row % 5 != 0).then_some(row % 2 == 0)).collect::<BooleanArray>())),
        (
            "at",
            Arc::new(TimestampMillisecondArray::from_iter_values(
                rows.clone().map(|row| 1_700_000_000_000 + row as i64),
            )),
        ),
        (
            "price",
            Arc::new(
                Decimal128Array::from_iter_values(rows.clone().map(|row| 199 * row as i128))
                    .with_precision_and_scale(9, 2)?,
            ),
        ),
        (
            "note",
            Arc::new(StringViewArray::from_iter_values(
                rows.clone().map(|row| format!("a note of some length, {row}")),
            )),
        ),
        (
            "tags",
            Arc::new(ListArray::from_iter_primitive::<Int64Type, _, _>(
                rows.map(|row| (row % 4 != 1).then(|| (0..row as i64 % 3).map(Some).collect::<Vec<_>>())),
            )),
        ),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, name != "id")))
}

/// Files in the Parquet format: both versions of pages, all ways to encode text, several row groups
/// and codecs.
///
/// # Errors
/// Never, as a test sees to.
pub fn parquet() -> Result<Vec<Vec<u8>>, ParquetError> {
    let batch = batch().map_err(ParquetError::from)?;
    let plain = || WriterProperties::builder().set_compression(Compression::UNCOMPRESSED);
    let text = |encoding| {
        let properties = plain().set_dictionary_enabled(false).set_writer_version(WriterVersion::PARQUET_2_0);
        properties.set_column_encoding("email".into(), encoding).set_column_encoding("note".into(), encoding)
    };
    let write = |properties: WriterPropertiesBuilder| {
        let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties.build()))?;
        writer.write(&batch)?;
        writer.into_inner()
    };
    [
        plain(),
        plain().set_compression(Compression::SNAPPY).set_data_page_row_count_limit(5).set_write_batch_size(5),
        plain()
            .set_compression(Compression::LZ4_RAW)
            .set_max_row_group_row_count(Some(10))
            .set_dictionary_enabled(false),
        text(Encoding::DELTA_BYTE_ARRAY).set_compression(Compression::ZSTD(Default::default())),
        text(Encoding::DELTA_LENGTH_BYTE_ARRAY).set_compression(Compression::GZIP(Default::default())),
        text(Encoding::DELTA_BYTE_ARRAY).set_writer_version(WriterVersion::PARQUET_1_0),
    ]
    .into_iter()
    .map(write)
    .collect()
}

const CODECS: [Option<CompressionType>; 3] = [None, Some(CompressionType::LZ4_FRAME), Some(CompressionType::ZSTD)];

/// Files in the Arrow IPC format.
///
/// # Errors
/// Never, as a test sees to.
pub fn arrow_files() -> Result<Vec<Vec<u8>>, ArrowError> {
    let batch = batch()?;
    let write = |codec| {
        let options = IpcWriteOptions::default().try_with_compression(codec)?;
        let mut writer = FileWriter::try_new_with_options(Vec::new(), &batch.schema(), options)?;
        writer.write(&batch.slice(0, ROWS / 2))?;
        writer.write(&batch.slice(ROWS / 2, ROWS / 2))?;
        writer.into_inner()
    };
    CODECS.into_iter().map(write).collect()
}

/// Streams in the Arrow IPC format.
///
/// # Errors
/// Never, as a test sees to.
pub fn arrow_streams() -> Result<Vec<Vec<u8>>, ArrowError> {
    let batch = batch()?;
    let write = |codec| {
        let options = IpcWriteOptions::default().try_with_compression(codec)?;
        let mut writer = StreamWriter::try_new_with_options(Vec::new(), &batch.schema(), options)?;
        writer.write(&batch.slice(0, ROWS / 2))?;
        writer.write(&batch.slice(ROWS / 2, ROWS / 2))?;
        writer.into_inner()
    };
    CODECS.into_iter().map(write).collect()
}
