//! A Parquet file as it is opened: its footer, and the types as which its columns are read.
//!
//! The reader's own choice of types loses some values and many types without a word: times of 96 bits
//! wrap around outside of the years 1677 to 2262, intervals lose their months, and Arrow has no type
//! for a UUID, for JSON, or for a time of day in UTC. Here columns get types that hold their values,
//! and metadata that says what Arrow has no type for.

use std::fs::File;
use std::sync::{Arc, Mutex};

use arrow_array::cast::AsArray;
use arrow_array::types::IntervalMonthDayNanoType;
use arrow_array::{ArrayRef, PrimitiveArray, RecordBatch, RecordBatchOptions};
use arrow_buffer::IntervalMonthDayNano;
use arrow_schema::extension::EXTENSION_TYPE_NAME_KEY;
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields, IntervalUnit, Schema, SchemaRef, TimeUnit};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::arrow::{ARROW_SCHEMA_META_KEY, ProjectionMask};
use parquet::basic::{ConvertedType, LogicalType, TimeUnit as ParquetUnit, Type as PhysicalType};
use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type::Int96Type;
use parquet::errors::Result as ParquetResult;
use parquet::file::metadata::{FileMetaData, ParquetMetaData, ParquetMetaDataReader};
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::schema::types::{ColumnDescriptor, SchemaDescriptor, Type, TypePtr};
use serde_json::{Map, Value, json};

use crate::table::extension::{self, LOGICAL_TYPE_KEY, TIME_IN_UTC_KEY, extended, with_metadata};
use crate::table::formats::arrow_ipc::check::check_encoded_schema;
use crate::table::formats::opened_file::OpenedFile;
use crate::table::formats::parquet::check::{check_columns, check_footer};
use crate::table::{ROWS_PER_BATCH, TableError};

/// The key of the metadata of a file that says which columns are geometries.
pub(crate) const GEO_KEY: &str = "geo";

/// What is known of a Parquet file.
#[derive(Debug)]
pub(crate) struct ParquetFile {
    reader: ArrowReaderMetadata,
    schema: SchemaRef,
    /// For each leaf column whether its checksums have been compared.
    compared: Mutex<Vec<bool>>,
}

impl ParquetFile {
    /// Reads the footer.
    pub fn open(input: &OpenedFile, file: &File) -> Result<Self, TableError> {
        check_footer(input, file)?;
        let damaged = |error: parquet::errors::ParquetError| input.damaged(error);
        let metadata = ParquetMetaDataReader::new().parse_and_finish(file).map_err(damaged)?;
        let known = metadata.file_metadata().key_value_metadata();
        let hint = known.into_iter().flatten().find(|pair| pair.key == ARROW_SCHEMA_META_KEY);
        if let Some(hint) = hint.and_then(|pair| pair.value.as_deref()) {
            check_encoded_schema(input, hint)?;
        }
        let original = metadata.file_metadata().schema_descr_ptr();
        let metadata = Arc::new(without_intervals(metadata).map_err(damaged)?);
        let compared = Mutex::new(vec![false; original.num_columns()]);
        let units = units_of_96_bits(input, file, &metadata, &compared)?;
        let reader = ArrowReaderMetadata::try_new(metadata.clone(), ArrowReaderOptions::new()).map_err(damaged)?;
        let mut leaves = Leaves { columns: &original, units: &units, next: 0 };
        let found = reader.schema().clone();
        let typed = found.fields().iter().zip(original.root_schema().get_fields());
        let mut fields: Vec<FieldRef> = typed.map(|(field, node)| leaves.typed(field, Some(node))).collect();
        if let Some(geo) = found.metadata().get(GEO_KEY) {
            fields = with_geometries(fields, geo);
        }
        let read_as = Schema::new_with_metadata(fields, found.metadata().clone());
        let schema = Arc::new(Schema::new_with_metadata(
            read_as.fields().iter().map(with_interval).collect::<Vec<_>>(),
            found.metadata().clone(),
        ));
        let reader = if read_as == *found {
            reader
        } else {
            let options = ArrowReaderOptions::new().with_schema(Arc::new(read_as));
            ArrowReaderMetadata::try_new(metadata, options).map_err(damaged)?
        };
        Ok(Self { reader, schema, compared })
    }

    /// What a reader of batches starts with.
    pub fn reader(&self) -> ArrowReaderMetadata {
        self.reader.clone()
    }

    /// All columns.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// For each leaf column whether its checksums have been compared.
    pub fn compared(&self) -> &Mutex<Vec<bool>> {
        &self.compared
    }
}

/// A batch of the reader with the columns of `schema`: intervals are read as their bytes.
pub(crate) fn with_intervals(batch: RecordBatch, schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
    let is_interval = |field: &FieldRef| matches!(field.data_type(), DataType::Interval(_));
    if !schema.fields().iter().any(is_interval) {
        return Ok(batch);
    }
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    let columns = batch.columns().iter().zip(schema.fields());
    let columns = columns.map(|(column, field)| if is_interval(field) { interval(column) } else { Ok(column.clone()) });
    RecordBatch::try_new_with_options(schema.clone(), columns.collect::<Result<_, _>>()?, &options)
}

/// Months, days and milliseconds, each a number of 32 bits without a sign.
fn interval(bytes: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let bytes = bytes
        .as_fixed_size_binary_opt()
        .ok_or_else(|| ArrowError::SchemaError("an interval is not of its type".to_owned()))?;
    let value = |bytes: &[u8]| {
        let number = |place: usize| Some(u32::from_le_bytes(*bytes.get(4 * place..)?.first_chunk()?));
        let (months, days) = (i32::try_from(number(0)?).ok()?, i32::try_from(number(1)?).ok()?);
        Some(IntervalMonthDayNano::new(months, days, i64::from(number(2)?) * 1_000_000))
    };
    let values = bytes.iter().map(|bytes| match bytes {
        None => Ok(None),
        Some(bytes) => value(bytes)
            .map(Some)
            .ok_or_else(|| ArrowError::ComputeError("an interval is longer than those of Arrow".to_owned())),
    });
    Ok(Arc::new(values.collect::<Result<PrimitiveArray<IntervalMonthDayNanoType>, _>>()?))
}

/// The column as it is kept, where `field` is the one that is read.
fn with_interval(field: &FieldRef) -> FieldRef {
    let mut metadata = field.metadata().clone();
    if metadata.get(LOGICAL_TYPE_KEY).map(String::as_str) != Some(extension::INTERVAL) {
        return field.clone();
    }
    metadata.remove(LOGICAL_TYPE_KEY);
    let kept = field.as_ref().clone().with_data_type(DataType::Interval(IntervalUnit::MonthDayNano));
    Arc::new(kept.with_metadata(metadata))
}

/// The file's metadata with intervals as their bytes: the reader knows types of Arrow only that hold
/// a part of an interval.
fn without_intervals(metadata: ParquetMetaData) -> ParquetResult<ParquetMetaData> {
    let file = metadata.file_metadata();
    if !file.schema_descr().columns().iter().any(|column| column.converted_type() == ConvertedType::INTERVAL) {
        return Ok(metadata);
    }
    let root = plain_intervals(&file.schema_descr().root_schema_ptr())?;
    let plain = FileMetaData::new(
        file.version(),
        file.num_rows(),
        file.created_by().map(str::to_owned),
        file.key_value_metadata().cloned(),
        Arc::new(SchemaDescriptor::new(root)),
        file.column_orders().cloned(),
    );
    Ok(ParquetMetaData::new(plain, metadata.row_groups().to_vec()))
}

fn plain_intervals(node: &TypePtr) -> ParquetResult<TypePtr> {
    let info = node.get_basic_info();
    if !node.is_primitive() {
        let fields = node.get_fields().iter().map(plain_intervals).collect::<ParquetResult<_>>()?;
        return with_fields(node, fields, info.logical_type_ref().cloned());
    }
    if info.converted_type() != ConvertedType::INTERVAL {
        return Ok(node.clone());
    }
    let plain = Type::primitive_type_builder(node.name(), node.get_physical_type()).with_length(12);
    Ok(Arc::new(plain.with_repetition(info.repetition()).with_id(info.has_id().then(|| info.id())).build()?))
}

/// A group with other fields, and of this logical type.
pub(crate) fn with_fields(group: &Type, fields: Vec<TypePtr>, logical: Option<LogicalType>) -> ParquetResult<TypePtr> {
    let info = group.get_basic_info();
    let mut built = Type::group_type_builder(group.name())
        .with_fields(fields)
        .with_converted_type(info.converted_type())
        .with_logical_type(logical)
        .with_id(info.has_id().then(|| info.id()));
    if info.has_repetition() {
        built = built.with_repetition(info.repetition());
    }
    Ok(Arc::new(built.build()?))
}

/// The leaf columns of a file in their order, as a walk over the columns of Arrow meets them.
struct Leaves<'a> {
    columns: &'a SchemaDescriptor,
    /// Of each column with times of 96 bits, the unit in which it is read.
    units: &'a [Option<TimeUnit>],
    next: usize,
}

impl Leaves<'_> {
    /// The column `field` with the types of its leaves. `node` is its place in the file's schema, as
    /// far as it is known.
    fn typed(&mut self, field: &FieldRef, node: Option<&Type>) -> FieldRef {
        use DataType as T;
        let found = match field.data_type() {
            T::Struct(fields) => T::Struct(self.children(fields, node)),
            T::List(item) => T::List(self.typed(item, node.and_then(element))),
            T::LargeList(item) => T::LargeList(self.typed(item, node.and_then(element))),
            T::FixedSizeList(item, length) => T::FixedSizeList(self.typed(item, node.and_then(element)), *length),
            T::Map(entries, is_sorted) => {
                let repeated = node.and_then(|node| node.get_fields().first());
                T::Map(self.typed(entries, repeated.map(AsRef::as_ref)), *is_sorted)
            }
            _ => return self.leaf(field),
        };
        let group = field.as_ref().clone().with_data_type(found);
        let logical = node.and_then(|node| node.get_basic_info().logical_type_ref());
        Arc::new(match logical {
            Some(LogicalType::Variant(_)) if !is_extended(field) => extended(group, extension::VARIANT, ""),
            _ => group,
        })
    }

    fn children(&mut self, fields: &Fields, node: Option<&Type>) -> Fields {
        let nodes = node.filter(|node| node.is_group() && node.get_fields().len() == fields.len());
        let child = |place: usize| nodes.and_then(|node| node.get_fields().get(place)).map(AsRef::as_ref);
        fields.iter().enumerate().map(|(place, field)| self.typed(field, child(place))).collect()
    }

    fn leaf(&mut self, field: &FieldRef) -> FieldRef {
        let place = self.next;
        self.next += 1;
        let Some(column) = self.columns.columns().get(place) else { return field.clone() };
        let unit = self.units.get(place).copied().flatten();
        Arc::new(typed_leaf(field.as_ref().clone(), column, unit))
    }
}

/// The element of a list, by the format's rules for lists of older writers, too.
fn element(list: &Type) -> Option<&Type> {
    if list.is_primitive() {
        return None;
    }
    let repeated = list.get_fields().first()?;
    if repeated.is_primitive() {
        return Some(repeated);
    }
    let is_element = repeated.get_fields().len() != 1
        || repeated.name() == "array"
        || repeated.name() == format!("{}_tuple", list.name());
    if is_element { Some(repeated) } else { repeated.get_fields().first().map(AsRef::as_ref) }
}

fn is_extended(field: &Field) -> bool {
    field.metadata().contains_key(EXTENSION_TYPE_NAME_KEY)
}

/// A leaf with the type and the metadata that keep its values and its logical type.
fn typed_leaf(field: Field, column: &ColumnDescriptor, unit: Option<TimeUnit>) -> Field {
    use DataType as T;
    let of_logical = |name| with_metadata(field.clone(), &[(LOGICAL_TYPE_KEY, name)]);
    match (column.logical_type_ref(), column.converted_type()) {
        (Some(LogicalType::Uuid), _) if !is_extended(&field) => extended(field, extension::UUID, ""),
        (Some(LogicalType::Json), _) | (None, ConvertedType::JSON) if !is_extended(&field) => {
            extended(field, extension::JSON, "")
        }
        (Some(LogicalType::Geometry(geometry)), _) if !is_extended(&field) => {
            let crs = coordinates(geometry.crs.as_deref());
            extended(field, extension::GEOMETRY, &Value::Object(crs).to_string())
        }
        (Some(LogicalType::Geography(geography)), _) if !is_extended(&field) => {
            let mut crs = coordinates(geography.crs.as_deref());
            let edges = geography.algorithm().map_or_else(|| "SPHERICAL".to_owned(), |edges| format!("{edges:?}"));
            crs.insert("edges".to_owned(), json!(edges.to_lowercase()));
            extended(field, extension::GEOMETRY, &Value::Object(crs).to_string())
        }
        // The format says that it is text.
        (Some(LogicalType::Enum), _) | (None, ConvertedType::ENUM) => {
            let field = of_logical(extension::ENUM);
            if *field.data_type() == T::Binary { field.with_data_type(T::Utf8) } else { field }
        }
        (Some(LogicalType::Bson), _) | (None, ConvertedType::BSON) => of_logical(extension::BSON),
        (None, ConvertedType::INTERVAL) => of_logical(extension::INTERVAL),
        (Some(LogicalType::Time(time)), _) if time.is_adjusted_to_u_t_c => {
            with_metadata(field, &[(TIME_IN_UTC_KEY, "true")])
        }
        // Another unit that an embedded schema of Arrow names would be taken for the file's own.
        (Some(LogicalType::Timestamp(time)), _) => in_unit(
            field,
            match time.unit {
                ParquetUnit::MILLIS => TimeUnit::Millisecond,
                ParquetUnit::MICROS => TimeUnit::Microsecond,
                ParquetUnit::NANOS => TimeUnit::Nanosecond,
            },
        ),
        _ => match unit {
            Some(unit) => in_unit(field, unit),
            None => field,
        },
    }
}

/// A timestamp in another unit.
fn in_unit(field: Field, unit: TimeUnit) -> Field {
    match field.data_type() {
        DataType::Timestamp(other, zone) if *other != unit => {
            let found = DataType::Timestamp(unit, zone.clone());
            field.with_data_type(found)
        }
        _ => field,
    }
}

/// The metadata of a geometry's extension type, by the format's name of its coordinates.
fn coordinates(crs: Option<&str>) -> Map<String, Value> {
    let crs = match crs {
        Some("srid:0") => None,
        crs => Some(crs.unwrap_or("OGC:CRS84")),
    };
    crs.into_iter().map(|crs| ("crs".to_owned(), serde_json::from_str(crs).unwrap_or_else(|_| json!(crs)))).collect()
}

/// Columns that a file's own metadata calls geometries. It is that of GeoParquet.
fn with_geometries(fields: Vec<FieldRef>, geo: &str) -> Vec<FieldRef> {
    let geo: Value = serde_json::from_str(geo).unwrap_or_default();
    let crs = |field: &Field| {
        let column = geo.get("columns")?.get(field.name())?;
        let is_binary = matches!(field.data_type(), DataType::Binary | DataType::LargeBinary | DataType::BinaryView);
        let is_geometry = is_binary && column.get("encoding").and_then(Value::as_str) == Some("WKB");
        is_geometry.then(|| json!({ "crs": column.get("crs").unwrap_or(&json!("OGC:CRS84")) }))
    };
    let typed = |field: FieldRef| match crs(&field) {
        Some(crs) if !is_extended(&field) => {
            Arc::new(extended(field.as_ref().clone(), extension::GEOMETRY, &crs.to_string()))
        }
        _ => field,
    };
    fields.into_iter().map(typed).collect()
}

/// Julian day of 1970-01-01.
const FIRST_DAY: i64 = 2_440_588;
const NANOS_PER_DAY: i128 = 86_400_000_000_000;

/// For each leaf column with times of 96 bits the unit in which 64 bits hold all of them in full.
///
/// # Errors
/// Where there is none.
fn units_of_96_bits(
    input: &OpenedFile,
    file: &File,
    metadata: &ParquetMetaData,
    compared: &Mutex<Vec<bool>>,
) -> Result<Vec<Option<TimeUnit>>, TableError> {
    let columns = metadata.file_metadata().schema_descr();
    let found = columns.columns().iter().enumerate();
    let found = found.filter(|(_, column)| column.physical_type() == PhysicalType::INT96).map(|(place, _)| place);
    let places: Vec<usize> = found.collect();
    if places.is_empty() {
        return Ok(Vec::new());
    }
    let chosen = ProjectionMask::leaves(columns, places.iter().copied());
    check_columns(input, file, metadata, &chosen, compared)?;
    let mut units = vec![None; columns.num_columns()];
    for place in places {
        let needs = Needs::of(file, metadata, place).map_err(|error| input.damaged(error))?;
        if let Some(unit) = units.get_mut(place) {
            *unit = Some(needs.unit().ok_or_else(|| needs.refused(input, &columns.column(place).path().string()))?);
        }
    }
    Ok(units)
}

/// What times need.
#[derive(Clone, Copy, Default)]
struct Needs {
    /// Some of them are not whole microseconds.
    nanoseconds: bool,
    /// 64 bits of nanoseconds do not hold all of them.
    beyond_nanoseconds: bool,
    /// 64 bits of microseconds do not either.
    beyond_microseconds: bool,
}

impl Needs {
    /// Those of a leaf column of times of 96 bits.
    fn of(file: &File, metadata: &ParquetMetaData, place: usize) -> ParquetResult<Self> {
        let mut needs = Self::default();
        let (mut values, mut defined, mut repeated) = (Vec::new(), Vec::new(), Vec::new());
        let column = metadata.file_metadata().schema_descr().column(place);
        for group in metadata.row_groups() {
            let Some(chunk) = group.columns().get(place) else { continue };
            let rows = usize::try_from(group.num_rows()).unwrap_or(0);
            let pages = SerializedPageReader::new(Arc::new(file.try_clone()?), chunk, rows, None)?;
            let mut reader = ColumnReaderImpl::<Int96Type>::new(column.clone(), Box::new(pages));
            loop {
                values.clear();
                defined.clear();
                repeated.clear();
                let (records, _, levels) =
                    reader.read_records(ROWS_PER_BATCH, Some(&mut defined), Some(&mut repeated), &mut values)?;
                values.iter().for_each(|value| needs.see(value.data()));
                if records == 0 && levels == 0 {
                    break;
                }
            }
        }
        Ok(needs)
    }

    /// Looks at a time: nanoseconds of the day, and the day.
    fn see(&mut self, time: &[u32]) {
        let &[low, high, day] = time else { return };
        let nanos = i64::from(high.cast_signed()) << 32 | i64::from(low);
        let days = i128::from(i64::from(day.cast_signed()) - FIRST_DAY);
        let whole = days * NANOS_PER_DAY + i128::from(nanos);
        self.nanoseconds |= nanos % 1_000 != 0;
        self.beyond_nanoseconds |= i64::try_from(whole).is_err();
        self.beyond_microseconds |= i64::try_from(whole / 1_000).is_err();
    }

    /// The unit in which 64 bits hold all times in full. The coarser one is what most programs read.
    fn unit(self) -> Option<TimeUnit> {
        match (self.nanoseconds, self.beyond_nanoseconds, self.beyond_microseconds) {
            (false, _, false) => Some(TimeUnit::Microsecond),
            (true, false, _) => Some(TimeUnit::Nanosecond),
            _ => None,
        }
    }

    fn refused(self, input: &OpenedFile, column: &str) -> TableError {
        TableError::ColumnType {
            path: input.path().to_owned(),
            column: column.to_owned(),
            found: "INT96".to_owned(),
            role: "read: some of its times lie outside of what 64 bits of nanoseconds hold (1677-09-21 to \
                   2262-04-11), and some need nanoseconds or lie outside of what microseconds hold, too",
            mend: "write the column as timestamps of microseconds (TIMESTAMP_MICROS)",
        }
    }
}
