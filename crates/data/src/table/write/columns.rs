//! Parquet and Arrow output.

use std::io::{self, Write};
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{ArrayRef, BooleanArray, NullArray, RecordBatch, builder, make_array};
use arrow_buffer::MutableBuffer;
use arrow_cast::cast;
use arrow_data::ArrayData;
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use arrow_select::filter::filter_record_batch;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use crate::table::payload::{PayloadKind, Value};
use crate::table::write::{Selection, WriteStats, payload_names};
use crate::table::{ColumnarReader, CsvReader, Format, Input, Output, ReceivedPayload, TableError};

/// Rows written together.
const BATCH_ROWS: usize = 8192;

/// Refuses a header of CSV with a name that stands there twice.
pub(super) fn check_names(header: &[String], path: &str) -> Result<(), TableError> {
    let Some(name) = header.iter().enumerate().find(|(i, name)| header.iter().take(*i).any(|before| before == *name)).map(|(_, name)| name)
    else {
        return Ok(());
    };
    let reason = format!("the input has several columns named `{name}`");
    Err(TableError::OutputFormat { path: path.to_owned(), reason, mend: "rename one of them in the file, or write CSV" })
}

/// Refuses columns of types that `format` does not have, by writing a row to nowhere.
pub(super) fn check(input: &Input, format: Format, path: &str) -> Result<(), TableError> {
    let mut reader = ColumnarReader::open(input, None)?;
    let mut nowhere = io::sink();
    let schema = written_schema(reader.schema(), input, format);
    let mut sink = Sink::new(&mut nowhere, format, path, schema.clone(), Compression::UNCOMPRESSED)?;
    if let Some(batch) = reader.next()? {
        let columns =
            written_columns(batch.batch.slice(0, batch.rows().min(1)).columns(), &schema).map_err(|error| batch.damaged(error))?;
        sink.write(&RecordBatch::try_new(schema, columns).map_err(|error| batch.damaged(error))?)?;
    }
    sink.finish().map(drop)
}

pub(super) fn columns_to_columns(input: &Input, selection: &Selection, output: &mut Output) -> Result<WriteStats, TableError> {
    let mut reader = ColumnarReader::open(input, None)?;
    let own = written_schema(reader.schema(), input, output.format());
    let schema = with_payload(&own, selection.payload.as_ref())?;
    let mut sink = Sink::of(output, schema.clone(), reader.compression())?;
    let mut row = 0;
    while let Some(batch) = reader.next()? {
        let decisions: Vec<_> = (row..row + batch.rows()).map(|row| selection.row(row)).collect();
        row += batch.rows();
        let mask: BooleanArray = decisions.iter().map(|decision| Some(decision.is_some())).collect();
        let kept = filter_record_batch(&batch.batch, &mask).map_err(|error| batch.damaged(error))?;
        let mut columns = written_columns(kept.columns(), &own).map_err(|error| batch.damaged(error))?;
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
    let fields: Vec<Field> = header.iter().map(|name| Field::new(name, DataType::Utf8, true)).collect();
    let schema = with_payload(&Arc::new(Schema::new(fields)), selection.payload.as_ref())?;
    let mut sink = Sink::of(output, schema.clone(), Compression::SNAPPY)?;
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

/// The input's columns as they are written. An Arrow file has one dictionary for all batches of a column, which other
/// formats need not have: there a column gets the type of its dictionary's values.
fn written_schema(schema: &SchemaRef, input: &Input, format: Format) -> SchemaRef {
    if format != Format::ArrowFile || input.format() == Format::ArrowFile {
        return schema.clone();
    }
    let plain = |field: &Arc<Field>| match field.data_type() {
        DataType::Dictionary(_, values) => Arc::new(field.as_ref().clone().with_data_type(values.as_ref().clone())),
        _ => field.clone(),
    };
    Arc::new(Schema::new_with_metadata(schema.fields().iter().map(plain).collect::<Vec<_>>(), schema.metadata().clone()))
}

fn written_columns(columns: &[ArrayRef], schema: &Schema) -> Result<Vec<ArrayRef>, ArrowError> {
    columns.iter().zip(schema.fields()).map(|(column, field)| cast(column, field.data_type())).collect()
}

fn with_payload(schema: &SchemaRef, payload: Option<&ReceivedPayload<'_>>) -> Result<SchemaRef, TableError> {
    let Some(payload) = payload else { return Ok(schema.clone()) };
    let own: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
    let mut fields: Vec<Arc<Field>> = schema.fields().iter().cloned().collect();
    for (name, field) in payload_names(&own, payload).into_iter().zip(&payload.schema.fields) {
        fields.push(Arc::new(Field::new(name, data_type(&field.kind)?, true)));
    }
    Ok(Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone())))
}

fn data_type(kind: &PayloadKind) -> Result<DataType, TableError> {
    kind.data_type().ok_or(TableError::PeerPayload("a column is of a type that does not travel"))
}

/// The payload of some rows, column by column.
fn payload_columns<'a>(payload: ReceivedPayload<'a>, records: impl Iterator<Item = Option<&'a [u8]>>) -> Result<Vec<ArrayRef>, TableError> {
    let mut rows = Vec::new();
    for record in records {
        let mut values = Vec::with_capacity(payload.schema.fields.len());
        payload.schema.decode(record.unwrap_or_default(), &mut values)?;
        rows.push(values);
    }
    payload.schema.fields.iter().enumerate().map(|(index, field)| payload_column(&field.kind, &rows, index)).collect()
}

fn payload_column(kind: &PayloadKind, rows: &[Vec<Value<'_>>], index: usize) -> Result<ArrayRef, TableError> {
    let values = rows.iter().map(|values| values.get(index).copied().unwrap_or(Value::Null));
    // A value of another kind than its field cannot occur: `decode` goes by the kind.
    macro_rules! build {
        ($builder:ident, $pattern:pat => $value:expr) => {{
            let mut builder = builder::$builder::new();
            for value in values {
                builder.append_option(if let $pattern = value { Some($value) } else { None });
            }
            Arc::new(builder.finish())
        }};
    }
    Ok(match kind {
        PayloadKind::Null => Arc::new(NullArray::new(rows.len())),
        PayloadKind::Text => build!(StringBuilder, Value::Text(text) => text),
        PayloadKind::LargeText => build!(LargeStringBuilder, Value::Text(text) => text),
        PayloadKind::TextView => build!(StringViewBuilder, Value::Text(text) => text),
        PayloadKind::Binary => build!(BinaryBuilder, Value::Binary(bytes) => bytes),
        PayloadKind::LargeBinary => build!(LargeBinaryBuilder, Value::Binary(bytes) => bytes),
        PayloadKind::BinaryView => build!(BinaryViewBuilder, Value::Binary(bytes) => bytes),
        PayloadKind::Boolean => build!(BooleanBuilder, Value::Boolean(value) => value),
        fixed => {
            let width = fixed.width().unwrap_or_default();
            let mut bytes = MutableBuffer::with_capacity(rows.len() * width);
            let mut present = Vec::with_capacity(rows.len());
            for value in values {
                match value {
                    Value::Fixed(value) => bytes.extend_from_slice(value),
                    _ => bytes.extend_zeros(width),
                }
                present.push(matches!(value, Value::Fixed(_)));
            }
            let data = ArrayData::builder(data_type(fixed)?).len(rows.len()).add_buffer(bytes.into()).nulls(Some(present.into()));
            make_array(data.build().map_err(|_| TableError::PeerPayload("a value is not of its column's type"))?)
        }
    })
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
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.writer.write(bytes)?;
        self.bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

impl<'a> Sink<'a> {
    fn of(output: &'a mut Output, schema: SchemaRef, compression: Compression) -> Result<Self, TableError> {
        let (path, format) = (output.path().to_owned(), output.format());
        Self::new(output.writer(), format, &path, schema, compression)
    }

    fn new(
        writer: &'a mut (dyn Write + Send),
        format: Format,
        path: &str,
        schema: SchemaRef,
        compression: Compression,
    ) -> Result<Self, TableError> {
        let path = path.to_owned();
        let writer = Counted { writer, bytes: 0 };
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
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
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
