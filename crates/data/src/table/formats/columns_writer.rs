//! Parquet and Arrow output.

use std::io::{self, Write};
use std::sync::Arc;

use arrow_array::{ArrayRef, NullArray, RecordBatch, RecordBatchOptions, builder, make_array};
use arrow_buffer::MutableBuffer;
use arrow_cast::can_cast_types;
use arrow_data::ArrayData;
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{ArrowError, DataType, FieldRef, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;

use crate::table::extension::TypeName;
use crate::table::formats::parquet::footer::GEO_KEY;
use crate::table::formats::parquet::types as parquet_types;
use crate::table::payload::{PayloadKind, Value};
use crate::table::{Format, Head, PayloadSchema, RowBatch, Source, TableError, WriteStats};

/// Refuses a header of CSV with a name that stands there twice.
pub(crate) fn check_names(schema: &Schema, path: &str) -> Result<(), TableError> {
    let names: Vec<&String> = schema.fields().iter().map(|field| field.name()).collect();
    let Some(name) = names
        .iter()
        .enumerate()
        .find(|(i, name)| names.iter().take(*i).any(|before| before == *name))
        .map(|(_, name)| name)
    else {
        return Ok(());
    };
    let reason = format!("the input has several columns named `{name}`");
    Err(TableError::OutputFormat {
        path: path.to_owned(),
        reason,
        mend: "rename one of them in the file, or write CSV",
    })
}

/// Refuses columns of types that `format` does not have, by writing a row to nowhere.
pub(crate) fn check(source: &dyn Source, format: Format, path: &str) -> Result<(), TableError> {
    let sample = source.sample()?;
    let head =
        Head { format: source.stored().map(|stored| stored.format), ..Head::of(source.name(), sample.schema(), None) };
    let mut writer = ColumnsWriter::new(io::sink(), format, path, &head)?;
    if sample.num_rows() > 0 {
        writer.batch(&RowBatch { columns: &sample, payloads: &[], row_numbers: &[] })?;
    }
    writer.finish().map(drop)
}

/// Own columns with those of a payload behind them.
pub(crate) struct WithPayload {
    /// All columns.
    pub schema: SchemaRef,
    payload: Option<PayloadSchema>,
}

/// The columns of rows that are written as `own`, with those of the payload.
pub(crate) fn with_payload(own: SchemaRef, payload: Option<&PayloadSchema>) -> Result<WithPayload, TableError> {
    let mut fields: Vec<FieldRef> = own.fields().iter().cloned().collect();
    if let Some(payload) = payload {
        for (name, field) in payload.names_beside(&own).into_iter().zip(&payload.fields) {
            fields.push(Arc::new(field.kind.field(&name).ok_or(TableError::PeerPayload(UNKNOWN_TYPE))?));
        }
    }
    let schema = Arc::new(Schema::new_with_metadata(fields, own.metadata().clone()));
    Ok(WithPayload { schema, payload: payload.cloned() })
}

impl WithPayload {
    /// Rows with all columns. `path` is the name of the output in errors.
    pub fn batch(&self, rows: &RowBatch<'_>, path: &str) -> Result<RecordBatch, TableError> {
        let unfit = |error: ArrowError| TableError::unfit_result(path, error);
        let mut columns = rows.columns.columns().to_vec();
        if let Some(payload) = &self.payload {
            columns.extend(payload_columns(payload, rows.payloads)?);
        }
        let columns = columns.iter().zip(self.schema.fields());
        let columns = columns.map(|(column, field)| parquet_types::converted(column, field.data_type()));
        let columns = columns.collect::<Result<Vec<_>, _>>().map_err(unfit)?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows.columns.num_rows()));
        RecordBatch::try_new_with_options(self.schema.clone(), columns, &options).map_err(unfit)
    }
}

/// The columns of rows from `from` as `format` holds them. An Arrow file has one dictionary for all
/// batches of a column, which other sources need not have: there a column gets the type of its
/// dictionary's values.
///
/// # Errors
/// If the format has no type for a column.
fn written_schema(
    schema: &SchemaRef,
    from: Option<Format>,
    format: Format,
    path: &str,
) -> Result<SchemaRef, TableError> {
    let field = |field: &FieldRef| {
        let written = match format {
            Format::Csv | Format::JsonLines | Format::ArrowStream => Some(field.clone()),
            Format::ArrowFile if from == Some(format) => Some(field.clone()),
            Format::ArrowFile => plain(field),
            Format::Parquet => parquet_types::written(field, from == Some(format)),
        };
        written.ok_or_else(|| TableError::OutputFormat {
            path: path.to_owned(),
            reason: format!(
                "column `{}` is of type {}, which {} cannot hold",
                field.name(),
                TypeName(field),
                format.name()
            ),
            mend: match format {
                Format::ArrowFile => "give the output the extension .arrows, or cast the column to another type",
                _ => "give the output the extension .arrow, or cast the column, for example to text",
            },
        })
    };
    let fields = schema.fields().iter().map(field).collect::<Result<Vec<_>, TableError>>()?;
    Ok(Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone())))
}

/// The column without dictionaries, if its values can be so.
fn plain(field: &FieldRef) -> Option<FieldRef> {
    let found = plain_type(field.data_type());
    can_cast_types(field.data_type(), &found).then(|| Arc::new(field.as_ref().clone().with_data_type(found)))
}

fn plain_type(found: &DataType) -> DataType {
    use DataType as T;
    let plain = |field: &FieldRef| Arc::new(field.as_ref().clone().with_data_type(plain_type(field.data_type())));
    match found {
        T::Dictionary(_, values) => plain_type(values),
        T::List(item) => T::List(plain(item)),
        T::LargeList(item) => T::LargeList(plain(item)),
        T::ListView(item) => T::ListView(plain(item)),
        T::LargeListView(item) => T::LargeListView(plain(item)),
        T::FixedSizeList(item, length) => T::FixedSizeList(plain(item), *length),
        T::Struct(fields) => T::Struct(fields.iter().map(plain).collect()),
        T::Map(entries, is_sorted) => T::Map(plain(entries), *is_sorted),
        T::RunEndEncoded(ends, values) => T::RunEndEncoded(ends.clone(), plain(values)),
        T::Union(members, mode) => {
            T::Union(members.iter().map(|(number, member)| (number, plain(member))).collect(), *mode)
        }
        other => other.clone(),
    }
}

/// What is wrong with a payload's column of which no type is known.
const UNKNOWN_TYPE: &str = "a column is of a type that does not travel";

/// The payload of some rows, column by column.
fn payload_columns(schema: &PayloadSchema, records: &[Option<&[u8]>]) -> Result<Vec<ArrayRef>, TableError> {
    let mut rows = Vec::with_capacity(records.len());
    for record in records {
        let mut values = Vec::with_capacity(schema.fields.len());
        schema.decode(record.unwrap_or_default(), &mut values)?;
        rows.push(values);
    }
    schema.fields.iter().enumerate().map(|(index, field)| payload_column(&field.kind, &rows, index)).collect()
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
        PayloadKind::Text | PayloadKind::Json => build!(StringBuilder, Value::Text(text) => text),
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
            let data = ArrayData::builder(fixed.data_type().ok_or(TableError::PeerPayload(UNKNOWN_TYPE))?)
                .len(rows.len())
                .add_buffer(bytes.into())
                .nulls(Some(present.into()));
            make_array(data.build().map_err(|_| TableError::PeerPayload("a value is not of its column's type"))?)
        }
    })
}

/// Writes batches in one of the columnar formats.
pub(crate) struct ColumnsWriter<W: Write + Send> {
    path: String,
    columns: WithPayload,
    writer: Writer<Counted<W>>,
    rows: u64,
}

enum Writer<W: Write + Send> {
    Parquet(Box<ArrowWriter<W>>),
    File(FileWriter<W>),
    Stream(StreamWriter<W>),
}

/// Counts what passes.
struct Counted<W> {
    /// Taken out in the end.
    writer: Option<W>,
    bytes: u64,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(writer) = &mut self.writer else { return Err(io::ErrorKind::BrokenPipe.into()) };
        let count = writer.write(bytes)?;
        self.bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.as_mut().map_or(Ok(()), Write::flush)
    }
}

impl<W: Write + Send> ColumnsWriter<W> {
    /// Writes the head.
    pub fn new(writer: W, format: Format, path: &str, head: &Head<'_>) -> Result<Self, TableError> {
        let mut columns = with_payload(head.schema.clone(), head.payload)?;
        columns.schema = written_schema(&columns.schema, head.format, format, path)?;
        let (schema, path) = (columns.schema.clone(), path.to_owned());
        let writer = Counted { writer: Some(writer), bytes: 0 };
        let writer = match format {
            Format::Parquet => {
                let compression = head.compression.unwrap_or(Compression::SNAPPY);
                let properties = WriterProperties::builder().set_compression(compression);
                // Which columns are geometries.
                let geo = schema.metadata().get(GEO_KEY).cloned();
                let geo = geo.map(|geo| vec![KeyValue::new(GEO_KEY.to_owned(), geo)]);
                let properties = properties.set_key_value_metadata(geo).build();
                let failed = |error| of_parquet(&path, error);
                let options = ArrowWriterOptions::new()
                    .with_properties(properties)
                    .with_parquet_schema(parquet_types::descriptor(&schema).map_err(failed)?);
                Writer::Parquet(Box::new(ArrowWriter::try_new_with_options(writer, schema, options).map_err(failed)?))
            }
            Format::ArrowStream => {
                Writer::Stream(StreamWriter::try_new(writer, &schema).map_err(|error| of_arrow(&path, error))?)
            }
            Format::Csv | Format::JsonLines => {
                return Err(TableError::unfit_result(&path, "text has no typed columns"));
            }
            Format::ArrowFile => {
                Writer::File(FileWriter::try_new(writer, &schema).map_err(|error| of_arrow(&path, error))?)
            }
        };
        Ok(Self { path, columns, writer, rows: 0 })
    }

    /// Writes rows.
    pub fn batch(&mut self, rows: &RowBatch<'_>) -> Result<(), TableError> {
        let batch = &self.columns.batch(rows, &self.path)?;
        self.rows += batch.num_rows() as u64;
        match &mut self.writer {
            Writer::Parquet(writer) => writer.write(batch).map_err(|error| of_parquet(&self.path, error)),
            Writer::File(writer) => writer.write(batch).map_err(|error| of_arrow(&self.path, error)),
            Writer::Stream(writer) => writer.write(batch).map_err(|error| of_arrow(&self.path, error)),
        }
    }

    /// Writes the end, and gives the writer back.
    pub fn finish(self) -> Result<(W, WriteStats), TableError> {
        let path = self.path;
        let counted = match self.writer {
            Writer::Parquet(mut writer) => {
                // `into_inner` would hide the reason of a failure.
                writer.finish().map_err(|error| of_parquet(&path, error))?;
                let Counted { writer, bytes } = writer.inner_mut();
                Counted { writer: writer.take(), bytes: *bytes }
            }
            Writer::File(writer) => writer.into_inner().map_err(|error| of_arrow(&path, error))?,
            Writer::Stream(writer) => writer.into_inner().map_err(|error| of_arrow(&path, error))?,
        };
        let writer = counted.writer.ok_or_else(|| TableError::unfit_result(&path, "it was completed twice"))?;
        Ok((writer, WriteStats { rows: self.rows, bytes: counted.bytes }))
    }
}

fn of_arrow(path: &str, error: ArrowError) -> TableError {
    match error {
        ArrowError::IoError(_, source) => TableError::Output { path: path.to_owned(), source },
        other => TableError::unfit_result(path, other),
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
    TableError::unfit_result(path, error)
}
