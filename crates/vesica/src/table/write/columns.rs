//! Parquet and Arrow output.

use std::io::Write;
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, RecordBatch, StringBuilder, builder};
use arrow::compute::filter_record_batch;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};
use arrow::error::ArrowError;
use arrow::ipc::writer::{FileWriter, StreamWriter};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use crate::table::payload::{PayloadKind, Value};
use crate::table::write::{Selection, WriteStats, payload_names};
use crate::table::{ColumnarReader, CsvReader, Format, Input, Output, ReceivedPayload, TableError};

/// Rows written together.
const BATCH_ROWS: usize = 8192;

pub(super) fn columns_to_columns(input: &Input, selection: &Selection, output: &mut Output) -> Result<WriteStats, TableError> {
    let mut reader = ColumnarReader::open(input, None)?;
    let schema = with_payload(reader.schema(), selection.payload.as_ref());
    let mut sink = Sink::new(output, schema.clone(), reader.compression())?;
    let mut row = 0;
    while let Some(batch) = reader.next()? {
        let decisions: Vec<_> = (row..row + batch.rows()).map(|row| selection.row(row)).collect();
        row += batch.rows();
        let mask: BooleanArray = decisions.iter().map(|decision| Some(decision.is_some())).collect();
        let kept = filter_record_batch(&batch.batch, &mask).map_err(|error| batch.damaged(error))?;
        let mut columns = kept.columns().to_vec();
        if let Some(payload) = selection.payload {
            columns.extend(payload_columns(payload, decisions.into_iter().flatten())?);
        }
        sink.write(&RecordBatch::try_new(schema.clone(), columns).map_err(|error| batch.damaged(error))?)?;
    }
    selection.check_rows(input, row)?;
    sink.finish()
}

pub(super) fn csv_to_columns(input: &Input, selection: &Selection, output: &mut Output) -> Result<WriteStats, TableError> {
    let mut reader = CsvReader::open(input)?;
    let header = reader.header().to_vec();
    if let Some(name) = header.iter().enumerate().find(|(i, name)| header[..*i].contains(name)).map(|(_, name)| name) {
        let reason = format!("the input has several columns named `{name}`");
        let mend = "rename one of them in the file, or write CSV";
        return Err(TableError::OutputFormat { path: output.path().to_owned(), reason, mend });
    }
    let fields: Vec<Field> = header.iter().map(|name| Field::new(name, DataType::Utf8, true)).collect();
    let schema = with_payload(&Arc::new(Schema::new(fields)), selection.payload.as_ref());
    let mut sink = Sink::new(output, schema.clone(), Compression::SNAPPY)?;
    let mut builders: Vec<StringBuilder> = header.iter().map(|_| StringBuilder::new()).collect();
    let mut records = Vec::new();
    let mut scratch = String::new();
    let mut row = 0;
    loop {
        let record = reader.next()?;
        let end = record.is_none();
        if let Some(record) = record {
            if let Some(payload) = selection.row(row) {
                for (index, builder) in builders.iter_mut().enumerate() {
                    builder.append_option(record.cell(index, &mut scratch));
                }
                records.push(payload);
            }
            row += 1;
        }
        if records.len() == BATCH_ROWS || (end && !records.is_empty()) {
            let mut columns: Vec<ArrayRef> = builders.iter_mut().map(|builder| Arc::new(builder.finish()) as ArrayRef).collect();
            if let Some(payload) = selection.payload {
                columns.extend(payload_columns(payload, records.iter().copied())?);
            }
            sink.write(&RecordBatch::try_new(schema.clone(), columns).map_err(|error| input.damaged(error))?)?;
            records.clear();
        }
        if end {
            break;
        }
    }
    selection.check_rows(input, row)?;
    sink.finish()
}

fn with_payload(schema: &SchemaRef, payload: Option<&ReceivedPayload<'_>>) -> SchemaRef {
    let Some(payload) = payload else { return schema.clone() };
    let own: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
    let mut fields: Vec<Arc<Field>> = schema.fields().iter().cloned().collect();
    for (name, field) in payload_names(&own, payload).into_iter().zip(&payload.schema.fields) {
        fields.push(Arc::new(Field::new(name, arrow_type(field.kind), true)));
    }
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

fn arrow_type(kind: PayloadKind) -> DataType {
    match kind {
        PayloadKind::Text => DataType::Utf8,
        PayloadKind::Binary => DataType::Binary,
        PayloadKind::Boolean => DataType::Boolean,
        PayloadKind::Int => DataType::Int64,
        PayloadKind::UInt => DataType::UInt64,
        PayloadKind::Float => DataType::Float64,
        PayloadKind::Date => DataType::Date32,
        PayloadKind::Timestamp { nanos, utc } => {
            DataType::Timestamp(if nanos { TimeUnit::Nanosecond } else { TimeUnit::Microsecond }, utc.then(|| "UTC".into()))
        }
    }
}

/// The payload of some rows, column by column.
fn payload_columns<'a>(payload: ReceivedPayload<'a>, records: impl Iterator<Item = Option<&'a [u8]>>) -> Result<Vec<ArrayRef>, TableError> {
    let mut rows = Vec::new();
    for record in records {
        let mut values = Vec::with_capacity(payload.schema.fields.len());
        payload.schema.decode(record.unwrap_or_default(), &mut values)?;
        rows.push(values);
    }
    let column = |index: usize, kind: PayloadKind| -> ArrayRef {
        let values = rows.iter().map(|values| values.get(index).copied().unwrap_or(Value::Null));
        // A value of another kind than its field cannot occur: `decode` goes by the kind.
        macro_rules! build {
            ($builder:expr, $pattern:pat => $value:expr) => {{
                let mut builder = $builder;
                for value in values {
                    builder.append_option(if let $pattern = value { Some($value) } else { None });
                }
                Arc::new(builder.finish())
            }};
        }
        match kind {
            PayloadKind::Text => build!(builder::StringBuilder::new(), Value::Text(text) => text),
            PayloadKind::Binary => build!(builder::BinaryBuilder::new(), Value::Binary(bytes) => bytes),
            PayloadKind::Boolean => build!(builder::BooleanBuilder::new(), Value::Boolean(value) => value),
            PayloadKind::Int => build!(builder::Int64Builder::new(), Value::Int(value) => value),
            PayloadKind::UInt => build!(builder::UInt64Builder::new(), Value::UInt(value) => value),
            PayloadKind::Float => build!(builder::Float64Builder::new(), Value::Float(value) => value),
            PayloadKind::Date => build!(builder::Date32Builder::new(), Value::Date(value) => value),
            PayloadKind::Timestamp { nanos: true, .. } => {
                build!(builder::TimestampNanosecondBuilder::new().with_data_type(arrow_type(kind)), Value::Timestamp(value) => value)
            }
            PayloadKind::Timestamp { nanos: false, .. } => {
                build!(builder::TimestampMicrosecondBuilder::new().with_data_type(arrow_type(kind)), Value::Timestamp(value) => value)
            }
        }
    };
    Ok(payload.schema.fields.iter().enumerate().map(|(index, field)| column(index, field.kind)).collect())
}

/// Writes batches in one of the columnar formats.
struct Sink<'a> {
    path: String,
    writer: Writer<Counted<'a>>,
    rows: u64,
}

enum Writer<W: Write + Send> {
    Parquet(Box<ArrowWriter<W>>),
    File(FileWriter<W>),
    Stream(StreamWriter<W>),
}

/// Counts what passes.
struct Counted<'a> {
    writer: &'a mut (dyn Write + Send),
    bytes: u64,
}

impl Write for Counted<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let count = self.writer.write(bytes)?;
        self.bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.writer.flush()
    }
}

impl<'a> Sink<'a> {
    fn new(output: &'a mut Output, schema: SchemaRef, compression: Compression) -> Result<Self, TableError> {
        let path = output.path().to_owned();
        let format = output.format();
        let writer = Counted { writer: output.writer(), bytes: 0 };
        let writer = match format {
            Format::Parquet => {
                let properties = WriterProperties::builder().set_compression(compression).build();
                let writer = ArrowWriter::try_new(writer, schema, Some(properties)).map_err(|error| of_parquet(&path, error))?;
                Writer::Parquet(Box::new(writer))
            }
            Format::ArrowStream => Writer::Stream(StreamWriter::try_new(writer, &schema).map_err(|error| of_arrow(&path, error))?),
            Format::ArrowFile | Format::Csv => Writer::File(FileWriter::try_new(writer, &schema).map_err(|error| of_arrow(&path, error))?),
        };
        Ok(Self { path, writer, rows: 0 })
    }

    fn write(&mut self, batch: &RecordBatch) -> Result<(), TableError> {
        self.rows += batch.num_rows() as u64;
        match &mut self.writer {
            Writer::Parquet(writer) => writer.write(batch).map_err(|error| of_parquet(&self.path, error)),
            Writer::File(writer) => writer.write(batch).map_err(|error| of_arrow(&self.path, error)),
            Writer::Stream(writer) => writer.write(batch).map_err(|error| of_arrow(&self.path, error)),
        }
    }

    fn finish(self) -> Result<WriteStats, TableError> {
        let path = self.path;
        let counted = match self.writer {
            Writer::Parquet(mut writer) => {
                // `into_inner` would hide the reason of a failure.
                writer.finish().map_err(|error| of_parquet(&path, error))?;
                return Ok(WriteStats { rows: self.rows, bytes: writer.bytes_written() as u64 });
            }
            Writer::File(writer) => writer.into_inner().map_err(|error| of_arrow(&path, error))?,
            Writer::Stream(writer) => writer.into_inner().map_err(|error| of_arrow(&path, error))?,
        };
        Ok(WriteStats { rows: self.rows, bytes: counted.bytes })
    }
}

fn of_arrow(path: &str, error: ArrowError) -> TableError {
    match error {
        ArrowError::IoError(_, source) => TableError::Output { path: path.to_owned(), source },
        other => refused(path, other.to_string()),
    }
}

fn of_parquet(path: &str, error: ParquetError) -> TableError {
    let error = match error {
        ParquetError::External(inner) => match inner.downcast::<std::io::Error>() {
            Ok(source) => return TableError::Output { path: path.to_owned(), source: *source },
            Err(other) => other.to_string(),
        },
        other => other.to_string(),
    };
    refused(path, error)
}

fn refused(path: &str, reason: String) -> TableError {
    TableError::OutputFormat { path: path.to_owned(), reason, mend: "choose another format by the extension of the output" }
}
