//! Columns as Parquet holds them: as a type that every reader of Parquet takes for what it is, or not
//! at all.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::IntervalMonthDayNanoType;
use arrow_array::{ArrayRef, FixedSizeBinaryArray};
use arrow_cast::{can_cast_types, cast_with_options};
use arrow_schema::extension::{EXTENSION_TYPE_METADATA_KEY, EXTENSION_TYPE_NAME_KEY};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, IntervalUnit, Schema, TimeUnit};
use parquet::arrow::ArrowSchemaConverter;
use parquet::basic::{ConvertedType, EdgeInterpolationAlgorithm as Edges, LogicalType, Type as PhysicalType};
use parquet::errors::Result as ParquetResult;
use parquet::schema::types::{SchemaDescriptor, Type, TypePtr};
use serde_json::Value;

use crate::table::extension::{self, LOGICAL_TYPE_KEY, with_metadata};
use crate::table::formats::arrow::with_payload::EXACT;
use crate::table::formats::parquet::footer::{GEO_KEY, with_fields};

/// Bytes of an interval of Parquet.
const INTERVAL_BYTES: i32 = 12;

/// The column that is written for `field`, if Parquet has a type for it. What comes from Parquet can be
/// written as it was read.
pub(super) fn written(field: &FieldRef, from_parquet: bool) -> Option<FieldRef> {
    let found = match field.data_type() {
        DataType::Interval(IntervalUnit::MonthDayNano) if from_parquet => {
            let bytes = field.as_ref().clone().with_data_type(DataType::FixedSizeBinary(INTERVAL_BYTES));
            return Some(Arc::new(with_metadata(bytes, &[(LOGICAL_TYPE_KEY, extension::INTERVAL)])));
        }
        found => written_type(found, from_parquet)?,
    };
    can_cast_types(field.data_type(), &found).then(|| Arc::new(field.as_ref().clone().with_data_type(found)))
}

/// The type that is written for another one. There is no arm for all others, so that a type that Arrow
/// gets one day is thought of.
fn written_type(found: &DataType, from_parquet: bool) -> Option<DataType> {
    use DataType as T;
    let inner = |field: &FieldRef| {
        let found = written_type(field.data_type(), from_parquet)?;
        Some(Arc::new(field.as_ref().clone().with_data_type(found)))
    };
    Some(match found {
        T::Null | T::Boolean => found.clone(),
        T::Int8 | T::Int16 | T::Int32 | T::Int64 | T::UInt8 | T::UInt16 | T::UInt32 | T::UInt64 => found.clone(),
        T::Float16 | T::Float32 | T::Float64 => found.clone(),
        T::Utf8 | T::LargeUtf8 | T::Utf8View | T::Binary | T::LargeBinary | T::BinaryView => found.clone(),
        T::FixedSizeBinary(length) => (*length > 0).then(|| found.clone())?,
        T::Decimal32(precision, scale)
        | T::Decimal64(precision, scale)
        | T::Decimal128(precision, scale)
        | T::Decimal256(precision, scale) => {
            u8::try_from(*scale).is_ok_and(|scale| scale <= *precision).then(|| found.clone())?
        }
        // Seconds would be numbers of no meaning.
        T::Timestamp(TimeUnit::Second, zone) => T::Timestamp(TimeUnit::Millisecond, zone.clone()),
        T::Time32(TimeUnit::Second) => T::Time32(TimeUnit::Millisecond),
        T::Date64 => T::Date32,
        T::Timestamp(..) | T::Time32(_) | T::Time64(_) | T::Date32 => found.clone(),
        // Only programs that read the embedded schema of Arrow take it for a duration, as in the source.
        T::Duration(_) => from_parquet.then(|| found.clone())?,
        T::Interval(_) | T::Union(..) => return None,
        T::List(item) => T::List(inner(item)?),
        T::LargeList(item) => T::LargeList(inner(item)?),
        T::ListView(item) => T::List(inner(item)?),
        T::LargeListView(item) => T::LargeList(inner(item)?),
        T::FixedSizeList(item, length) => T::FixedSizeList(inner(item)?, *length),
        T::Struct(fields) if fields.is_empty() => return None,
        T::Struct(fields) => T::Struct(fields.iter().map(inner).collect::<Option<_>>()?),
        T::Map(entries, is_sorted) => T::Map(inner(entries)?, *is_sorted),
        T::Dictionary(keys, values) => {
            let plain = written_type(values, from_parquet)?;
            let of = |values| T::Dictionary(keys.clone(), Box::new(values));
            match plain {
                // The writer knows no dictionaries of views.
                T::Utf8View => of(T::LargeUtf8),
                T::BinaryView => of(T::LargeBinary),
                T::Utf8 | T::LargeUtf8 | T::Binary | T::LargeBinary | T::Float32 | T::Float64 => found.clone(),
                T::Int8 | T::Int16 | T::Int32 | T::Int64 => found.clone(),
                T::UInt8 | T::UInt16 | T::UInt32 | T::UInt64 => found.clone(),
                // The writer or the reader knows none of others.
                plain => plain,
            }
        }
        T::RunEndEncoded(_, values) => written_type(values.data_type(), from_parquet)?,
    })
}

/// The values of a column as one of the type `to`. None becomes null.
pub(super) fn converted(column: &ArrayRef, to: &DataType) -> Result<ArrayRef, ArrowError> {
    match (column.data_type(), to) {
        (DataType::Interval(IntervalUnit::MonthDayNano), DataType::FixedSizeBinary(INTERVAL_BYTES)) => {
            intervals(column)
        }
        _ => cast_with_options(column, to, &EXACT),
    }
}

/// Months, days and milliseconds, as they were read.
fn intervals(column: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let unfit = || ArrowError::ComputeError("an interval is none of Parquet's".to_owned());
    let values = column.as_primitive_opt::<IntervalMonthDayNanoType>().ok_or_else(unfit)?;
    let bytes = values.iter().map(|value| {
        let Some(value) = value else { return Ok(None) };
        let millis = u32::try_from(value.nanoseconds / 1_000_000).map_err(|_| unfit())?;
        let mut bytes = [0; INTERVAL_BYTES as usize];
        let parts = [value.months.cast_unsigned(), value.days.cast_unsigned(), millis];
        bytes.chunks_exact_mut(4).zip(parts).for_each(|(bytes, part)| bytes.copy_from_slice(&part.to_le_bytes()));
        Ok(Some(bytes))
    });
    let bytes = bytes.collect::<Result<Vec<_>, ArrowError>>()?;
    Ok(Arc::new(FixedSizeBinaryArray::try_from_sparse_iter_with_size(bytes.into_iter(), INTERVAL_BYTES)?))
}

/// The file's columns, with the logical types that the metadata of the fields names.
pub(super) fn descriptor(schema: &Schema) -> ParquetResult<SchemaDescriptor> {
    let plain = ArrowSchemaConverter::new().convert(schema)?;
    let geo = schema.metadata().get(GEO_KEY).map(String::as_str).unwrap_or_default();
    let geo: Value = serde_json::from_str(geo).unwrap_or_default();
    let columns = plain.root_schema().get_fields().iter().zip(schema.fields());
    let columns = columns.map(|(node, field)| {
        let is_named = geo.get("columns").is_some_and(|columns| columns.get(field.name()).is_some());
        if is_named { Ok(node.clone()) } else { typed(node, field) }
    });
    let root = with_fields(plain.root_schema(), columns.collect::<ParquetResult<_>>()?, None)?;
    Ok(SchemaDescriptor::new(root))
}

/// `node` with the logical types of `field`, which became this node.
fn typed(node: &TypePtr, field: &Field) -> ParquetResult<TypePtr> {
    use DataType as T;
    let logical = logical_type(node, field);
    if node.is_primitive() {
        return match logical {
            Some(Logical::Of(logical)) => primitive(node, ConvertedType::NONE, Some(logical)),
            Some(Logical::Interval) => primitive(node, ConvertedType::INTERVAL, None),
            None => Ok(node.clone()),
        };
    }
    let children: Vec<&FieldRef> = match field.data_type() {
        T::Struct(fields) => fields.iter().collect(),
        T::List(item) | T::LargeList(item) | T::FixedSizeList(item, _) | T::Map(item, _) => vec![item],
        _ => return Ok(node.clone()),
    };
    // A list has a group between itself and its element.
    let is_list = !matches!(field.data_type(), T::Struct(_) | T::Map(..));
    let fields = node.get_fields().iter().zip(children).map(|(node, field)| {
        if !is_list {
            return typed(node, field);
        }
        let elements = node.get_fields().iter().map(|element| typed(element, field));
        with_fields(node, elements.collect::<ParquetResult<_>>()?, None)
    });
    let logical = match logical {
        Some(Logical::Of(logical)) => Some(logical),
        _ => node.get_basic_info().logical_type_ref().cloned(),
    };
    with_fields(node, fields.collect::<ParquetResult<_>>()?, logical)
}

/// A type of Parquet that has no type of Arrow.
enum Logical {
    Of(LogicalType),
    Interval,
}

fn logical_type(node: &Type, field: &Field) -> Option<Logical> {
    let metadata = |key| field.metadata().get(key).map(String::as_str);
    let named = metadata(EXTENSION_TYPE_NAME_KEY).or_else(|| metadata(LOGICAL_TYPE_KEY))?;
    if node.is_group() {
        return (named == extension::VARIANT).then(|| Logical::Of(LogicalType::variant(Some(1))));
    }
    let is_bytes = node.get_physical_type() == PhysicalType::BYTE_ARRAY;
    let length = match node {
        Type::PrimitiveType { type_length, .. } => *type_length,
        Type::GroupType { .. } => 0,
    };
    Some(match named {
        extension::UUID if length == 16 => Logical::Of(LogicalType::Uuid),
        extension::JSON if is_bytes => Logical::Of(LogicalType::Json),
        extension::ENUM if is_bytes => Logical::Of(LogicalType::Enum),
        extension::BSON if is_bytes => Logical::Of(LogicalType::Bson),
        extension::GEOMETRY if is_bytes => Logical::Of(geometry(metadata(EXTENSION_TYPE_METADATA_KEY))?),
        extension::INTERVAL if length == INTERVAL_BYTES => Logical::Interval,
        _ => return None,
    })
}

/// The logical type of a geometry with this metadata of its extension type; none where there are
/// edges that Parquet does not know.
fn geometry(metadata: Option<&str>) -> Option<LogicalType> {
    let metadata: Value = serde_json::from_str(metadata.unwrap_or_default()).unwrap_or_default();
    let crs = match metadata.get("crs") {
        None | Some(Value::Null) => Some("srid:0".to_owned()),
        Some(Value::String(crs)) if crs == "OGC:CRS84" => None,
        Some(Value::String(crs)) => Some(crs.clone()),
        Some(crs) => Some(crs.to_string()),
    };
    let edges = match metadata.get("edges").and_then(Value::as_str) {
        None | Some("planar") => return Some(LogicalType::geometry(crs)),
        Some("spherical") => Edges::SPHERICAL,
        Some("vincenty") => Edges::VINCENTY,
        Some("thomas") => Edges::THOMAS,
        Some("andoyer") => Edges::ANDOYER,
        Some("karney") => Edges::KARNEY,
        Some(_) => return None,
    };
    Some(LogicalType::geography(crs, Some(edges)))
}

fn primitive(node: &Type, converted: ConvertedType, logical: Option<LogicalType>) -> ParquetResult<TypePtr> {
    let Type::PrimitiveType { basic_info, physical_type, type_length, .. } = node else {
        return Ok(Arc::new(node.clone()));
    };
    let built = Type::primitive_type_builder(node.name(), *physical_type)
        .with_length(*type_length)
        .with_repetition(basic_info.repetition())
        .with_id(basic_info.has_id().then(|| basic_info.id()))
        .with_converted_type(converted)
        .with_logical_type(logical);
    Ok(Arc::new(built.build()?))
}
