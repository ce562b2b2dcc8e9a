//! The result of a union: all own rows, and behind them one row for each new key of the partner.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, FixedSizeBinaryArray, LargeBinaryArray, LargeStringArray, RecordBatch, make_array, new_null_array,
};
use arrow_cast::cast_with_options;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};

use crate::key::uuid;
use crate::table::extension::Extension;
use crate::table::formats::arrow::with_payload::EXACT;
use crate::table::payload::Value;
use crate::table::{
    Head, KeptRows, KeyTable, PayloadSchema, ROWS_PER_BATCH, RowBatch, Sink, Source, TableError, WriteStats,
};

/// What came of a union.
#[derive(Clone, Copy, Debug)]
pub struct NewKeys<'a> {
    /// Names of the own key columns, in key order.
    pub columns: &'a [String],
    /// How keys travel, as [`key_schema`](crate::table::key_schema) says.
    pub keys: &'a PayloadSchema,
    /// The columns that go along.
    pub payload: Option<&'a PayloadSchema>,
    /// The record of a key, and behind it that of its payload, for each new key. Dummies have zeros
    /// instead.
    pub records: &'a [u8],
}

/// The record of a key, and that of its payload.
type Pair<'a> = (&'a [u8], &'a [u8]);

/// What was written of a union.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnionStats {
    /// All that was written.
    pub written: WriteStats,
    /// How many of the rows are the partner's.
    pub new_rows: u64,
}

/// Writes all own rows as they stand, with nulls in the partner's columns, and behind them a row
/// for each new key, with nulls in all own columns but those of the key; and completes the result.
pub fn write_union(
    source: &dyn Source,
    table: &KeyTable,
    new: &NewKeys<'_>,
    mut sink: impl Sink,
) -> Result<UnionStats, TableError> {
    let mut widened = Widened::new(&mut sink, new.columns, new.payload)?;
    let kept = KeptRows::all(table.row_keys());
    source.keep(&kept, &mut widened)?;
    kept.check_rows(source.name())?;
    let schema = widened.schema()?;
    let new_rows = new.write(&schema, source.name(), &mut sink)?;
    Ok(UnionStats { written: sink.finish()?, new_rows })
}

/// Gives a sink some own rows of a table whose rows many machines have, as they are in a union: with nulls in the partner's
/// columns, `payload`. `columns` are those of the key.
///
/// # Errors
/// If the partner's columns are none that a sender declares, or the sink does not take the rows.
pub fn write_own_rows(
    name: &str,
    rows: &RecordBatch,
    (columns, payload): (&[String], Option<&PayloadSchema>),
    sink: &mut dyn Sink,
) -> Result<(), TableError> {
    let mut widened = Widened::new(sink, columns, payload)?;
    widened.begin(&Head::of(name, rows.schema(), None))?;
    widened.batch(&RowBatch { columns: rows, payloads: &[], row_numbers: &[] })
}

/// The same of new rows, which stand behind own ones of this `schema`.
///
/// # Errors
/// If a record is none that a sender gives, an own column does not hold its key, or the sink does not take the rows.
pub fn write_new_keys(name: &str, schema: SchemaRef, new: &NewKeys<'_>, sink: &mut dyn Sink) -> Result<(), TableError> {
    let mut widened = Widened::new(sink, new.columns, new.payload)?;
    widened.begin(&Head::of(name, schema, None))?;
    let schema = widened.schema()?;
    new.write(&schema, name, sink).map(drop)
}

impl<'a> NewKeys<'a> {
    /// Gives the sink a row for each key, behind own ones of this schema. How many these are.
    fn write(&self, schema: &SchemaRef, source: &str, sink: &mut dyn Sink) -> Result<u64, TableError> {
        self.keys.check()?;
        let records = self.split()?;
        for records in records.chunks(ROWS_PER_BATCH) {
            let columns = self.batch(records, schema, source)?;
            let payload = |&(_, payload): &Pair<'a>| self.payload.and(Some(payload));
            let payloads: Vec<Option<&[u8]>> = records.iter().map(payload).collect();
            sink.batch(&RowBatch { columns: &columns, payloads: &payloads, row_numbers: &[] })?;
        }
        Ok(records.len() as u64)
    }

    /// The records of keys and of payloads, without those of dummies.
    fn split(&self) -> Result<Vec<Pair<'a>>, TableError> {
        let (keys, payload) = (self.keys.width, self.payload.map_or(0, |payload| payload.width));
        if !self.records.len().is_multiple_of(keys + payload) {
            return Err(TableError::PeerPayload("its length is not that of whole records"));
        }
        let records = self.records.chunks_exact(keys + payload).filter_map(|record| record.split_at_checked(keys));
        // A key has a value in each of its columns, and a dummy in none.
        Ok(records.filter(|(key, _)| key.iter().any(|&byte| byte != 0)).collect())
    }

    /// Rows of the own columns.
    fn batch(&self, records: &[Pair<'_>], schema: &SchemaRef, source: &str) -> Result<RecordBatch, TableError> {
        let mut rows = Vec::with_capacity(records.len());
        for (key, _) in records {
            let mut values = Vec::with_capacity(self.columns.len());
            self.keys.decode(key, &mut values)?;
            if values.contains(&Value::Null) {
                return Err(TableError::PeerPayload("a key lacks a component"));
            }
            rows.push(values);
        }
        let column = |field: &Arc<Field>| match self.columns.iter().position(|name| name == field.name()) {
            Some(place) => key_column(&rows, place, field).map_err(|_| TableError::UnfitKey {
                path: source.to_owned(),
                column: field.name().clone(),
                found: field.data_type().to_string(),
            }),
            None => Ok(new_null_array(field.data_type(), rows.len())),
        };
        let columns = schema.fields().iter().map(column).collect::<Result<Vec<_>, _>>()?;
        RecordBatch::try_new(schema.clone(), columns).map_err(|error| TableError::unfit_result(source, error))
    }
}

/// The keys' values at `place` as a column of this type. No value becomes null.
fn key_column(rows: &[Vec<Value<'_>>], place: usize, field: &Field) -> Result<ArrayRef, ArrowError> {
    let found = field.data_type();
    let values = || rows.iter().map(|row| row.get(place).copied().unwrap_or(Value::Null));
    if values().any(|value| matches!(value, Value::Binary(_))) {
        let bytes = values().map(|value| if let Value::Binary(bytes) = value { Some(bytes) } else { None });
        let bytes: ArrayRef = Arc::new(bytes.collect::<LargeBinaryArray>());
        return cast_with_options(&bytes, found, &EXACT);
    }
    if Extension::of(field) == Some(Extension::Uuid) {
        return uuids(values());
    }
    // A zone follows from the column: what travels is in UTC.
    let is_zoned = matches!(found, DataType::Timestamp(_, Some(_)));
    let text = |value| match value {
        Value::Text(text) if is_zoned => Some(text.strip_suffix('Z').unwrap_or(text)),
        Value::Text(text) => Some(text),
        _ => None,
    };
    let texts: ArrayRef = Arc::new(values().map(text).collect::<LargeStringArray>());
    match found {
        DataType::Timestamp(unit, Some(_)) => {
            let local = cast_with_options(&texts, &DataType::Timestamp(*unit, None), &EXACT)?;
            Ok(make_array(local.to_data().into_builder().data_type(found.clone()).build()?))
        }
        found => cast_with_options(&texts, found, &EXACT),
    }
}

/// Texts of UUIDs as a column of them.
fn uuids<'a>(texts: impl Iterator<Item = Value<'a>>) -> Result<ArrayRef, ArrowError> {
    let read = |text| match text {
        Value::Text(text) => uuid::read(text).ok(),
        _ => None,
    };
    let read = texts.map(|text| read(text).ok_or_else(|| ArrowError::CastError("a key is no UUID".to_owned())));
    let read = read.collect::<Result<Vec<_>, _>>()?;
    let values = read.into_iter().map(Some);
    Ok(Arc::new(FixedSizeBinaryArray::try_from_sparse_iter_with_size(values, uuid::BYTES as i32)?))
}

/// Takes own rows, and hands them on with nulls in the partner's columns.
struct Widened<'a> {
    sink: &'a mut dyn Sink,
    keys: &'a [String],
    payload: Option<&'a PayloadSchema>,
    /// A record without values.
    nulls: Vec<u8>,
    /// The own columns as they are written.
    schema: Option<SchemaRef>,
}

impl<'a> Widened<'a> {
    fn new(sink: &'a mut dyn Sink, keys: &'a [String], payload: Option<&'a PayloadSchema>) -> Result<Self, TableError> {
        payload.map_or(Ok(()), PayloadSchema::check)?;
        let nulls = payload.map_or_else(Vec::new, PayloadSchema::null_record);
        Ok(Self { sink, keys, payload, nulls, schema: None })
    }

    /// The own columns as they are written, behind their head.
    fn schema(&self) -> Result<SchemaRef, TableError> {
        let schema = self.schema.clone();
        schema.ok_or_else(|| TableError::unfit_result(self.sink.name(), "its rows have no columns"))
    }
}

impl Sink for Widened<'_> {
    fn name(&self) -> &str {
        self.sink.name()
    }

    fn takes_records(&self, delimiter: u8) -> bool {
        self.sink.takes_records(delimiter)
    }

    fn takes_lines(&self) -> bool {
        self.sink.takes_lines()
    }

    /// New rows have no value in own columns beside the key. New keys need not be in a dictionary,
    /// nor find room in it: such a column gets the type of the dictionary's values.
    fn begin(&mut self, head: &Head<'_>) -> Result<(), TableError> {
        let field = |field: &Arc<Field>| match self.keys.contains(field.name()) {
            true => match field.data_type() {
                DataType::Dictionary(_, values) => {
                    Arc::new(field.as_ref().clone().with_data_type(values.as_ref().clone()))
                }
                _ => field.clone(),
            },
            false => Arc::new(field.as_ref().clone().with_nullable(true)),
        };
        let fields: Vec<_> = head.schema.fields().iter().map(field).collect();
        let schema = Arc::new(Schema::new_with_metadata(fields, head.schema.metadata().clone()));
        self.schema = Some(schema.clone());
        self.sink.begin(&Head { schema, payload: self.payload, ..head.clone() })
    }

    fn record(&mut self, record: &[u8], end: usize, _payload: Option<&[u8]>) -> Result<(), TableError> {
        self.sink.record(record, end, self.payload.map(|_| &self.nulls[..]))
    }

    fn batch(&mut self, rows: &RowBatch<'_>) -> Result<(), TableError> {
        let unfit = |error: ArrowError| TableError::unfit_result(self.sink.name(), error);
        let Some(schema) = &self.schema else {
            return Err(TableError::unfit_result(self.sink.name(), "rows came before their columns"));
        };
        let own = rows.columns.columns().iter().zip(schema.fields());
        let columns = own.map(|(column, field)| cast_with_options(column, field.data_type(), &EXACT));
        let columns = columns.collect::<Result<Vec<_>, _>>();
        let columns = RecordBatch::try_new(schema.clone(), columns.map_err(unfit)?).map_err(unfit)?;
        let payloads = vec![self.payload.map(|_| &self.nulls[..]); columns.num_rows()];
        self.sink.batch(&RowBatch { columns: &columns, payloads: &payloads, row_numbers: rows.row_numbers })
    }

    fn finish(&mut self) -> Result<WriteStats, TableError> {
        self.sink.finish()
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::types::Int8Type;
    use arrow_array::{DictionaryArray, Int64Array, TimestampMicrosecondArray};
    use arrow_cast::display::array_value_to_string;

    use super::*;
    use crate::key::KeySpec;
    use crate::table::{
        Batches, Collected, Delivered, Duplicates, OpenSink, PayloadSpec, ResultKind, UnionSpec, key_schema,
        read_union_within,
    };

    /// The union of two tables in memory by the key `id`, where the sender holds no common key.
    fn union(own: &RecordBatch, theirs: &RecordBatch) -> RecordBatch {
        let key = KeySpec::parse(&["id"], &[]).unwrap();
        let table = |batch: &RecordBatch| Batches::new("a table", batch.schema(), vec![batch.clone()]).unwrap();
        let spec = UnionSpec { payload: None, most_bytes: 100 };
        let sent = read_union_within(&table(theirs), &key, Some(&spec), &|| None).unwrap().union.unwrap();
        let asked = read_union_within(&table(own), &key, None, &|| None).unwrap();
        let kinds = asked.union.as_ref().unwrap().kinds.iter();
        assert!(sent.kinds.iter().zip(kinds).all(|(given, own)| given.fits(&own.kind)));
        let records = sent.records.unwrap();
        let keys = key_schema(&sent.kinds, records.schema.width);
        let new = NewKeys { columns: &["id".to_owned()], keys: &keys, payload: None, records: &records.bytes };
        let result = Collected::default();
        let source = table(own);
        let sink = result.open(ResultKind::Union, &source).unwrap();
        let stats = write_union(&source, &asked, &new, sink).unwrap();
        assert_eq!(stats.new_rows as usize, theirs.num_rows());
        let Some(Delivered::Rows { schema, batches }) = result.take() else { panic!("rows") };
        arrow_select::concat::concat_batches(&schema, &batches).unwrap()
    }

    /// Own rows and new ones, written apart as machines of a cluster write them, are those of a union that is written at once.
    #[test]
    fn rows_that_are_written_apart_are_those_of_the_union() {
        let own: DictionaryArray<Int8Type> = ["a", "b", "a"].into_iter().collect();
        let (own, theirs) = (batch(Arc::new(own)), batch(Arc::new(LargeStringArray::from(vec!["x", "yy"]))));
        let key = KeySpec::parse(&["id"], &[]).unwrap();
        let spec = PayloadSpec { columns: vec!["count".into()], duplicates: Duplicates::Refuse };
        let spec = UnionSpec { payload: Some(spec), most_bytes: 100 };
        let table = |batch: &RecordBatch| Batches::new("a table", batch.schema(), vec![batch.clone()]).unwrap();
        let sent = read_union_within(&table(&theirs), &key, Some(&spec), &|| None).unwrap();
        let (union, payload) = (sent.union.unwrap(), sent.payload.unwrap());
        let records = union.records.unwrap();
        let keys = key_schema(&union.kinds, records.schema.width);
        let of_keys = records.bytes.chunks(keys.width).zip(payload.bytes.chunks(payload.schema.width));
        // A place at which nothing is new, as a worker leaves it.
        let mut all = vec![0; keys.width + payload.schema.width];
        of_keys.for_each(|(key, payload)| all.extend([key, payload].concat()));
        let columns = ["id".to_owned()];
        let new = NewKeys { columns: &columns, keys: &keys, payload: Some(&payload.schema), records: &all };
        let collected = |write: &dyn Fn(&mut dyn Sink)| {
            let result = Collected::default();
            let mut sink = result.rows();
            write(&mut *sink);
            sink.finish().unwrap();
            let Some(Delivered::Rows { schema, batches }) = result.take() else { panic!("rows") };
            arrow_select::concat::concat_batches(&schema, &batches).unwrap()
        };
        let asked = read_union_within(&table(&own), &key, None, &|| None).unwrap();
        let result = Collected::default();
        write_union(&table(&own), &asked, &new, result.open(ResultKind::Union, &table(&own)).unwrap()).unwrap();
        let Some(Delivered::Rows { schema, batches }) = result.take() else { panic!("rows") };
        let at_once = arrow_select::concat::concat_batches(&schema, &batches).unwrap();
        let of_own = collected(&|sink| {
            write_own_rows("a table", &own, (&columns, Some(&payload.schema)), sink).unwrap();
        });
        let of_new = collected(&|sink| write_new_keys("a table", own.schema(), &new, sink).unwrap());
        assert_eq!((of_own.num_rows(), of_new.num_rows()), (3, 2));
        assert_eq!(arrow_select::concat::concat_batches(&of_own.schema(), [&of_own, &of_new]).unwrap(), at_once);
    }

    fn batch(id: ArrayRef) -> RecordBatch {
        let count: ArrayRef = Arc::new(Int64Array::from_iter_values(0..id.len() as i64));
        let field = |name: &str, array: &ArrayRef| Field::new(name, array.data_type().clone(), false);
        let schema = Schema::new(vec![field("id", &id), field("count", &count)]);
        RecordBatch::try_new(Arc::new(schema), vec![id, count]).unwrap()
    }

    fn texts(batch: &RecordBatch, column: usize) -> Vec<String> {
        let array = batch.column(column);
        (0..batch.num_rows()).map(|row| array_value_to_string(array, row).unwrap()).collect()
    }

    /// A dictionary of 8-bit places has room for 128 values.
    #[test]
    fn new_keys_need_no_room_in_the_dictionary_of_own_ones() {
        let own: DictionaryArray<Int8Type> = ["a", "b", "a"].into_iter().collect();
        let theirs = LargeStringArray::from_iter_values((0..300).map(|number| format!("k{number}")));
        let rows = union(&batch(Arc::new(own)), &batch(Arc::new(theirs)));
        assert_eq!((rows.num_rows(), rows.column(0).data_type()), (303, &DataType::Utf8));
        let (keys, counts) = (texts(&rows, 0), texts(&rows, 1));
        assert_eq!(
            (&keys[..4], &counts[..4]),
            (&["a", "b", "a", "k0"].map(str::to_owned)[..], &["0", "1", "2", ""].map(str::to_owned)[..])
        );
    }

    #[test]
    fn instants_keep_the_zone_of_the_receivers_column() {
        let instants = |seconds: [i64; 2]| {
            TimestampMicrosecondArray::from_iter_values(seconds.map(|second| second * 1_000_000))
                .with_timezone("Europe/Berlin")
        };
        let (own, theirs) = (instants([0, 1]), instants([2, 1_700_000_000]));
        let rows = union(&batch(Arc::new(own)), &batch(Arc::new(theirs)));
        let expected = TimestampMicrosecondArray::from_iter_values([0, 1_000_000, 2_000_000, 1_700_000_000_000_000]);
        assert_eq!(rows.column(0).as_ref(), &expected.with_timezone("Europe/Berlin"));
    }
}
