//! Writing Parquet.

use std::io::{self, Write};

use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;

use crate::table::formats::FormatWriter;
use crate::table::formats::arrow::with_payload::{WithPayload, with_payload};
use crate::table::formats::counting_writer::CountingWriter;
use crate::table::formats::parquet::footer::GEO_KEY;
use crate::table::formats::parquet::types;
use crate::table::{Format, Head, RowBatch, TableError, WriteStats};

/// Writes Parquet.
pub(crate) struct ParquetWriter<W: Write + Send> {
    path: String,
    columns: WithPayload,
    writer: ArrowWriter<CountingWriter<W>>,
    rows: u64,
}

impl<W: Write + Send> ParquetWriter<W> {
    /// Writes the head.
    pub fn new(writer: W, path: &str, head: &Head<'_>) -> Result<Self, TableError> {
        let mend = "give the output the extension .arrow, or cast the column, for example to text";
        let from_parquet = head.format == Some(Format::Parquet);
        let columns = with_payload(head.schema.clone(), head.payload)?
            .written_as((Format::Parquet, path, mend), |field| types::written(field, from_parquet))?;
        let schema = columns.schema.clone();
        let compression = head.compression.unwrap_or(Compression::SNAPPY);
        let properties = WriterProperties::builder().set_compression(compression);
        // Which columns are geometries.
        let geo = schema.metadata().get(GEO_KEY).cloned();
        let geo = geo.map(|geo| vec![KeyValue::new(GEO_KEY.to_owned(), geo)]);
        let failed = |error| failed(path, error);
        let options = ArrowWriterOptions::new()
            .with_properties(properties.set_key_value_metadata(geo).build())
            .with_parquet_schema(types::descriptor(&schema).map_err(failed)?);
        let writer = ArrowWriter::try_new_with_options(CountingWriter::new(writer), schema, options);
        Ok(Self { path: path.to_owned(), columns, writer: writer.map_err(failed)?, rows: 0 })
    }
}

impl<W: Write + Send> FormatWriter<W> for ParquetWriter<W> {
    fn batch(&mut self, rows: &RowBatch<'_>) -> Result<(), TableError> {
        let batch = self.columns.batch_by(rows, &self.path, types::converted)?;
        self.rows += batch.num_rows() as u64;
        self.writer.write(&batch).map_err(|error| failed(&self.path, error))
    }

    fn finish(mut self: Box<Self>) -> Result<(W, WriteStats), TableError> {
        // `into_inner` would hide the reason of a failure.
        self.writer.finish().map_err(|error| failed(&self.path, error))?;
        let (writer, bytes) = self.writer.inner_mut().take(&self.path)?;
        Ok((writer, WriteStats { rows: self.rows, bytes }))
    }
}

fn failed(path: &str, error: ParquetError) -> TableError {
    let error = match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(source) => return TableError::Output { path: path.to_owned(), source: *source },
            Err(other) => other.to_string(),
        },
        other => other.to_string(),
    };
    TableError::unfit_result(path, error)
}
