//! Rows of a result as record batches: the own columns, and those of the partner's payload behind them.

use std::sync::Arc;

use arrow_array::{ArrayRef, NullArray, RecordBatch, RecordBatchOptions, builder, make_array};
use arrow_buffer::MutableBuffer;
use arrow_cast::display::FormatOptions;
use arrow_cast::{CastOptions, cast_with_options};
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, DataType, FieldRef, Schema, SchemaRef};

use crate::table::extension::TypeName;
use crate::table::payload::{PayloadKind, Value};
use crate::table::{Format, PayloadSchema, RowBatch, TableError};

/// What casts to a type or fails: no value becomes null.
pub(crate) const EXACT: CastOptions<'_> = CastOptions { safe: false, format_options: FormatOptions::new() };

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
    /// The columns as a format holds them, each as `written` says; it says `None` of a type that the format does not
    /// have. `path` is the name of the output in errors.
    pub fn written_as(
        self,
        (format, path, mend): (Format, &str, &'static str),
        written: impl Fn(&FieldRef) -> Option<FieldRef>,
    ) -> Result<Self, TableError> {
        let field = |field: &FieldRef| {
            let (name, found) = (field.name(), TypeName(field));
            let reason = || format!("column `{name}` is of type {found}, which {} cannot hold", format.name());
            written(field).ok_or_else(|| TableError::OutputFormat { path: path.to_owned(), reason: reason(), mend })
        };
        let fields = self.schema.fields().iter().map(field).collect::<Result<Vec<_>, TableError>>()?;
        Ok(Self { schema: Arc::new(Schema::new_with_metadata(fields, self.schema.metadata().clone())), ..self })
    }

    /// Rows with all columns. `path` is the name of the output in errors.
    pub fn batch(&self, rows: &RowBatch<'_>, path: &str) -> Result<RecordBatch, TableError> {
        self.batch_by(rows, path, |column, to| cast_with_options(column, to, &EXACT))
    }

    /// [`Self::batch`], where `converted` brings a column to the type as which it is written.
    pub fn batch_by(
        &self,
        rows: &RowBatch<'_>,
        path: &str,
        converted: impl Fn(&ArrayRef, &DataType) -> Result<ArrayRef, ArrowError>,
    ) -> Result<RecordBatch, TableError> {
        let unfit = |error: ArrowError| TableError::unfit_result(path, error);
        let mut columns = rows.columns.columns().to_vec();
        if let Some(payload) = &self.payload {
            columns.extend(payload_columns(payload, rows.payloads)?);
        }
        let columns = columns.iter().zip(self.schema.fields());
        let columns = columns.map(|(column, field)| converted(column, field.data_type()));
        let columns = columns.collect::<Result<Vec<_>, _>>().map_err(unfit)?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows.columns.num_rows()));
        RecordBatch::try_new_with_options(self.schema.clone(), columns, &options).map_err(unfit)
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
