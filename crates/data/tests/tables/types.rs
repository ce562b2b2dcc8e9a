//! Every type of Arrow as a key, as a kept column and as a payload, through every output: equal cell by
//! cell, or refused by the names of column and type before a partner is asked.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::{FixedSizeBinaryBuilder, MapBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::*;
use arrow_buffer::{IntervalDayTime, IntervalMonthDayNano, NullBuffer, OffsetBuffer, ScalarBuffer, i256};
use arrow_cast::cast;
use arrow_schema::{DataType, Field, FieldRef, IntervalUnit, Schema, TimeUnit, UnionFields, UnionMode};
use arrow_select::concat::concat_batches;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use vesica_data::table::{
    Batches, Collected, Delivered, Duplicates, Join, Matches, NO_KEY, OpenSink, OpenSource, Output, OutputOptions,
    PayloadSpec, ReceivedPayload, ResultKind, Source, TableError, read_keys, write_matches,
};

use super::columnar_tables::{arrow_file, arrow_stream, parquet, read};
use super::{Folder, key, open, reference, told};

/// What becomes of a column.
#[derive(Clone, Debug, PartialEq)]
enum As {
    /// It keeps its type.
    Same,
    /// It gets this type, which holds the same values.
    Of(DataType),
    /// It is refused.
    Refused,
}

/// A column of three rows, of which the second is null.
struct Case {
    name: &'static str,
    /// Metadata of the field: an extension type.
    metadata: Vec<(&'static str, &'static str)>,
    array: ArrayRef,
    /// Its cells in CSV and JSON lines; `None` if it is refused there.
    text: Option<[&'static str; 2]>,
    /// Whether it can be a key, and what its keys are where they are not its text.
    key: Option<[&'static str; 2]>,
    payload: As,
    parquet: As,
}

/// The name of a type in errors.
fn type_name(case: &Case) -> String {
    case.metadata.first().map_or_else(
        || case.array.data_type().to_string(),
        |(_, name)| match *name {
            "arrow.uuid" => "UUID".to_owned(),
            "arrow.json" => "JSON".to_owned(),
            "arrow.parquet.variant" => "VARIANT".to_owned(),
            "geoarrow.wkb" => "GEOMETRY".to_owned(),
            other => other.to_owned(),
        },
    )
}

/// Which kind of type it is. A type that Arrow gets one day does not compile here, and then lacks a case below.
fn kind(data_type: &DataType) -> &'static str {
    use DataType as T;
    match data_type {
        T::Null => "null",
        T::Boolean => "boolean",
        T::Int8 | T::Int16 | T::Int32 | T::Int64 => "int",
        T::UInt8 | T::UInt16 | T::UInt32 | T::UInt64 => "uint",
        T::Float16 | T::Float32 | T::Float64 => "float",
        T::Timestamp(_, None) => "timestamp",
        T::Timestamp(_, Some(_)) => "instant",
        T::Date32 => "date32",
        T::Date64 => "date64",
        T::Time32(_) => "time32",
        T::Time64(_) => "time64",
        T::Duration(_) => "duration",
        T::Interval(_) => "interval",
        T::Binary => "binary",
        T::FixedSizeBinary(_) => "fixed binary",
        T::LargeBinary => "large binary",
        T::BinaryView => "binary view",
        T::Utf8 => "text",
        T::LargeUtf8 => "large text",
        T::Utf8View => "text view",
        T::List(_) => "list",
        T::ListView(_) => "list view",
        T::FixedSizeList(..) => "fixed list",
        T::LargeList(_) => "large list",
        T::LargeListView(_) => "large list view",
        T::Struct(_) => "struct",
        T::Union(_, UnionMode::Sparse) => "sparse union",
        T::Union(_, UnionMode::Dense) => "dense union",
        T::Dictionary(..) => "dictionary",
        T::Decimal32(..) => "decimal32",
        T::Decimal64(..) => "decimal64",
        T::Decimal128(..) => "decimal128",
        T::Decimal256(..) => "decimal256",
        T::Map(..) => "map",
        T::RunEndEncoded(..) => "runs",
    }
}

const KINDS: usize = 35;

fn extension(name: &'static str) -> Vec<(&'static str, &'static str)> {
    vec![("ARROW:extension:name", name)]
}

fn fixed(values: [&[u8]; 2]) -> ArrayRef {
    let mut built = FixedSizeBinaryBuilder::new(values[0].len() as i32);
    built.append_value(values[0]).unwrap();
    built.append_null();
    built.append_value(values[1]).unwrap();
    Arc::new(built.finish())
}

/// `values` as the items of lists: the first alone, null, the third alone.
fn lists(values: &ArrayRef) -> ArrayRef {
    let nulls = NullBuffer::from(vec![true, false, true]);
    let item = Arc::new(Field::new("item", values.data_type().clone(), true));
    Arc::new(ListArray::new(item, OffsetBuffer::from_lengths([1, 1, 1]), values.clone(), Some(nulls)))
}

fn structs(fields: Vec<(Field, ArrayRef)>) -> ArrayRef {
    let nulls = NullBuffer::from(vec![true, false, true]);
    let (fields, columns): (Vec<Field>, Vec<ArrayRef>) = fields.into_iter().unzip();
    Arc::new(StructArray::new(fields.into(), columns, Some(nulls)))
}

fn unions(mode: UnionMode) -> ArrayRef {
    let fields: UnionFields =
        [(0, Arc::new(Field::new("n", DataType::Int32, true))), (1, Arc::new(Field::new("t", DataType::Utf8, true)))]
            .into_iter()
            .collect();
    let types = ScalarBuffer::from(vec![0i8, 0, 1]);
    let (offsets, numbers, texts) = match mode {
        UnionMode::Sparse => (None, vec![Some(1), None, None], vec![None, None, Some("a")]),
        UnionMode::Dense => (Some(ScalarBuffer::from(vec![0, 1, 0])), vec![Some(1), None], vec![Some("a")]),
    };
    let members: Vec<ArrayRef> = vec![Arc::new(Int32Array::from(numbers)), Arc::new(StringArray::from(texts))];
    Arc::new(UnionArray::try_new(fields, types, offsets, members).unwrap())
}

fn maps() -> ArrayRef {
    let mut built = MapBuilder::new(None, StringBuilder::new(), StringBuilder::new());
    built.keys().append_value("a");
    built.values().append_value("b");
    built.append(true).unwrap();
    built.append(false).unwrap();
    built.keys().append_value("c");
    built.values().append_null();
    built.append(true).unwrap();
    Arc::new(built.finish())
}

fn runs(values: &ArrayRef) -> ArrayRef {
    Arc::new(RunArray::<Int32Type>::try_new(&Int32Array::from(vec![1, 2, 3]), values).unwrap())
}

/// A dictionary one of whose values is null, to which a row refers.
fn dictionary_with_null_value() -> ArrayRef {
    let values: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), None, Some("b")]));
    Arc::new(DictionaryArray::<Int8Type>::new(Int8Array::from(vec![0, 1, 2]), values))
}

const UUIDS: [&str; 2] = ["78dde6e5-fd29-f057-ce73-018173b720d4", "00000000-0000-0000-0000-0000000000ff"];

fn uuids() -> ArrayRef {
    let bytes = UUIDS.map(|text| u128::from_str_radix(&text.replace('-', ""), 16).unwrap().to_be_bytes());
    fixed([&bytes[0], &bytes[1]])
}

/// A value, none, and another.
fn two<T>(first: T, second: T) -> Vec<Option<T>> {
    vec![Some(first), None, Some(second)]
}

/// One of each type. Their own text, as they are written here, is the reference.
fn cases() -> Vec<Case> {
    use As::{Of, Refused, Same};
    use DataType as T;
    let of = |name, array: ArrayRef, text: [&'static str; 2]| Case {
        name,
        metadata: Vec::new(),
        array,
        text: Some(text),
        key: Some(text),
        payload: Same,
        parquet: Same,
    };
    let no_key = |case: Case| Case { key: None, ..case };
    let alone = |case: Case| Case { key: None, payload: Refused, ..case };
    let nested = |name, array: ArrayRef| Case { text: None, ..alone(of(name, array, ["", ""])) };
    let text: ArrayRef = Arc::new(StringArray::from(two("ä,b", "042")));
    let binary: ArrayRef = Arc::new(BinaryArray::from(two(&b"ab"[..], &b"\xc3\xa4"[..])));
    let seconds: ArrayRef = Arc::new(TimestampSecondArray::from(two(1_706_659_200, -1)));
    let times: ArrayRef = Arc::new(Time32SecondArray::from(two(1, 86_399)));
    let zoned = |array: &ArrayRef, unit| cast(array, &T::Timestamp(unit, Some("+02:00".into()))).unwrap();
    let in_unit = |unit| cast(&seconds, &T::Timestamp(unit, None)).unwrap();
    let dictionary = |values: &ArrayRef| {
        cast(values, &T::Dictionary(Box::new(T::Int8), Box::new(values.data_type().clone()))).unwrap()
    };
    let decimals: ArrayRef = Arc::new(Decimal128Array::from(two(-125, 5)).with_precision_and_scale(9, 2).unwrap());
    let floats: ArrayRef = Arc::new(Float64Array::from(two(0.1, -2.5)));
    let with = |case: Case, name| Case { metadata: extension(name), ..case };
    // Midnight in a zone of two hours.
    let instants = ["2024-01-30T22:00:00Z", "1969-12-31T21:59:59Z"];
    let local = ["2024-01-31T00:00:00", "1969-12-31T23:59:59"];
    let json: ArrayRef = Arc::new(StringArray::from(two("{\"a\":1}", "[]")));
    let durations =
        |array: ArrayRef, text: [&'static str; 2]| Case { parquet: Refused, ..alone(of("duration", array, text)) };
    let intervals =
        |name, array: ArrayRef, text: [&'static str; 2]| Case { parquet: Refused, ..alone(of(name, array, text)) };
    vec![
        Case { payload: Same, text: Some(["", ""]), ..no_key(of("null", Arc::new(NullArray::new(3)), ["", ""])) },
        of("boolean", Arc::new(BooleanArray::from(two(true, false))), ["true", "false"]),
        of("int8", Arc::new(Int8Array::from(two(42, -7))), ["42", "-7"]),
        of("int16", Arc::new(Int16Array::from(two(i16::MAX, i16::MIN))), ["32767", "-32768"]),
        of("int32", Arc::new(Int32Array::from(two(i32::MAX, i32::MIN))), ["2147483647", "-2147483648"]),
        of(
            "int64",
            Arc::new(Int64Array::from(two(i64::MAX, i64::MIN))),
            ["9223372036854775807", "-9223372036854775808"],
        ),
        of("uint8", Arc::new(UInt8Array::from(two(255, 0))), ["255", "0"]),
        of("uint16", Arc::new(UInt16Array::from(two(u16::MAX, 0))), ["65535", "0"]),
        of("uint32", Arc::new(UInt32Array::from(two(u32::MAX, 0))), ["4294967295", "0"]),
        of("uint64", Arc::new(UInt64Array::from(two(u64::MAX, 0))), ["18446744073709551615", "0"]),
        no_key(of("float16", cast(&floats, &T::Float16).unwrap(), ["0.099975586", "-2.5"])),
        no_key(of("float32", cast(&floats, &T::Float32).unwrap(), ["0.1", "-2.5"])),
        no_key(of("float64", floats.clone(), ["0.1", "-2.5"])),
        Case { parquet: Of(T::Timestamp(TimeUnit::Millisecond, None)), ..of("seconds", seconds.clone(), local) },
        of("milliseconds", in_unit(TimeUnit::Millisecond), local),
        of("microseconds", in_unit(TimeUnit::Microsecond), local),
        of("nanoseconds", in_unit(TimeUnit::Nanosecond), local),
        Case {
            parquet: Of(T::Timestamp(TimeUnit::Millisecond, Some("+02:00".into()))),
            ..of("instants of seconds", zoned(&seconds, TimeUnit::Second), instants)
        },
        of("instants", zoned(&seconds, TimeUnit::Microsecond), instants),
        of("date32", Arc::new(Date32Array::from(two(19_753, -1))), ["2024-01-31", "1969-12-31"]),
        Case {
            parquet: Of(T::Date32),
            ..of(
                "date64",
                Arc::new(Date64Array::from(two(19_753 * 86_400_000, -86_400_000))),
                ["2024-01-31", "1969-12-31"],
            )
        },
        Case {
            parquet: Of(T::Time32(TimeUnit::Millisecond)),
            ..alone(of("time32 of seconds", times.clone(), ["00:00:01", "23:59:59"]))
        },
        alone(of("time32", cast(&times, &T::Time32(TimeUnit::Millisecond)).unwrap(), ["00:00:01", "23:59:59"])),
        alone(of("time64", cast(&times, &T::Time64(TimeUnit::Microsecond)).unwrap(), ["00:00:01", "23:59:59"])),
        alone(of(
            "time64 of nanoseconds",
            cast(&times, &T::Time64(TimeUnit::Nanosecond)).unwrap(),
            ["00:00:01", "23:59:59"],
        )),
        durations(Arc::new(DurationSecondArray::from(two(90, -1))), ["PT90S", "-PT1S"]),
        intervals("months", Arc::new(IntervalYearMonthArray::from(two(14, 1))), ["1 years 2 mons", "0 years 1 mons"]),
        intervals(
            "days",
            Arc::new(IntervalDayTimeArray::from(two(IntervalDayTime::new(3, 0), IntervalDayTime::new(0, 1500)))),
            ["3 days", "1.500 secs"],
        ),
        intervals(
            "interval",
            Arc::new(IntervalMonthDayNanoArray::from(two(
                IntervalMonthDayNano::new(14, 3, 0),
                IntervalMonthDayNano::new(0, 0, 1),
            ))),
            ["14 mons 3 days", "0.000000001 secs"],
        ),
        Case { key: Some(["ab", "ä"]), ..of("binary", binary.clone(), ["6162", "c3a4"]) },
        Case {
            key: Some(["ab", "ä"]),
            ..of("large binary", cast(&binary, &T::LargeBinary).unwrap(), ["6162", "c3a4"])
        },
        Case { key: Some(["ab", "ä"]), ..of("binary view", cast(&binary, &T::BinaryView).unwrap(), ["6162", "c3a4"]) },
        Case { key: Some(["ab", "ä"]), ..of("fixed binary", fixed([b"ab", "ä".as_bytes()]), ["6162", "c3a4"]) },
        of("text", text.clone(), ["ä,b", "042"]),
        of("large text", cast(&text, &T::LargeUtf8).unwrap(), ["ä,b", "042"]),
        of("text view", cast(&text, &T::Utf8View).unwrap(), ["ä,b", "042"]),
        nested("list", lists(&text)),
        Case {
            parquet: Of(lists(&in_unit(TimeUnit::Millisecond)).data_type().clone()),
            ..nested("list of seconds", lists(&seconds))
        },
        nested("large list", cast(&lists(&text), &T::LargeList(item(T::Utf8))).unwrap()),
        Case {
            parquet: Of(T::List(item(T::Utf8))),
            ..nested("list view", cast(&lists(&text), &T::ListView(item(T::Utf8))).unwrap())
        },
        Case {
            parquet: Of(T::LargeList(item(T::Utf8))),
            ..nested("large list view", cast(&lists(&text), &T::LargeListView(item(T::Utf8))).unwrap())
        },
        nested("fixed list", cast(&lists(&text), &T::FixedSizeList(item(T::Utf8), 1)).unwrap()),
        nested("list of dictionaries", lists(&dictionary(&text))),
        nested(
            "struct",
            structs(vec![
                (Field::new("t", T::Utf8, true), text.clone()),
                (
                    Field::new("u", T::FixedSizeBinary(16), true)
                        .with_metadata([("ARROW:extension:name".to_owned(), "arrow.uuid".to_owned())].into()),
                    uuids(),
                ),
            ]),
        ),
        Case {
            parquet: Refused,
            ..nested(
                "struct of nothing",
                Arc::new(StructArray::new_empty_fields(3, Some(NullBuffer::from(vec![true, false, true])))),
            )
        },
        nested("map", maps()),
        Case { parquet: Refused, ..nested("sparse union", unions(UnionMode::Sparse)) },
        Case { parquet: Refused, ..nested("dense union", unions(UnionMode::Dense)) },
        Case { parquet: Refused, ..nested("list of unions", lists(&unions(UnionMode::Dense))) },
        Case { payload: Of(T::Utf8), ..of("dictionary", dictionary(&text), ["ä,b", "042"]) },
        Case {
            payload: Of(T::Timestamp(TimeUnit::Second, None)),
            parquet: Of(T::Timestamp(TimeUnit::Millisecond, None)),
            ..of("dictionary of seconds", dictionary(&seconds), local)
        },
        Case {
            payload: Of(T::Utf8View),
            parquet: Of(T::Dictionary(Box::new(T::Int8), Box::new(T::LargeUtf8))),
            ..of("dictionary of views", dictionary(&cast(&text, &T::Utf8View).unwrap()), ["ä,b", "042"])
        },
        Case {
            payload: Of(T::Boolean),
            parquet: Of(T::Boolean),
            ..of(
                "dictionary of booleans",
                Arc::new(DictionaryArray::<Int8Type>::new(
                    Int8Array::from(two(1, 0)),
                    Arc::new(BooleanArray::from(vec![false, true])),
                )),
                ["true", "false"],
            )
        },
        Case {
            key: Some(["ab", "ä"]),
            payload: Of(T::FixedSizeBinary(2)),
            parquet: Of(T::FixedSizeBinary(2)),
            ..of(
                "dictionary of fixed binary",
                Arc::new(DictionaryArray::<Int8Type>::new(Int8Array::from(two(0, 2)), fixed([b"ab", "ä".as_bytes()]))),
                ["6162", "c3a4"],
            )
        },
        Case { payload: Of(T::Float64), ..no_key(of("dictionary of floats", dictionary(&floats), ["0.1", "-2.5"])) },
        Case { payload: Of(T::Utf8), ..of("dictionary with a null", dictionary_with_null_value(), ["a", "b"]) },
        no_key(of("decimal32", cast(&decimals, &T::Decimal32(9, 2)).unwrap(), ["-1.25", "0.05"])),
        no_key(of("decimal64", cast(&decimals, &T::Decimal64(18, 2)).unwrap(), ["-1.25", "0.05"])),
        no_key(of("decimal128", decimals.clone(), ["-1.25", "0.05"])),
        of(
            "decimal128 of integers",
            Arc::new(Decimal128Array::from(two(-125, 10i128.pow(37))).with_precision_and_scale(38, 0).unwrap()),
            ["-125", "10000000000000000000000000000000000000"],
        ),
        no_key(of(
            "decimal256",
            Arc::new(
                Decimal256Array::from(two(i256::from(-125), i256::from(5))).with_precision_and_scale(50, 2).unwrap(),
            ),
            ["-1.25", "0.05"],
        )),
        Case {
            parquet: Refused,
            ..alone(of(
                "decimal128 of hundreds",
                Arc::new(Decimal128Array::from(two(-1, 5)).with_precision_and_scale(9, -2).unwrap()),
                ["-100", "500"],
            ))
        },
        Case { payload: Of(T::Utf8), parquet: Of(T::Utf8), ..of("runs", runs(&text), ["ä,b", "042"]) },
        Case {
            payload: Of(T::Float64),
            parquet: Of(T::Float64),
            ..no_key(of("runs of floats", runs(&floats), ["0.1", "-2.5"]))
        },
        with(of("uuid", uuids(), UUIDS), "arrow.uuid"),
        with(of("json", json.clone(), ["{\"a\":1}", "[]"]), "arrow.json"),
        Case { text: None, ..with(alone(of("geometry", binary.clone(), ["", ""])), "geoarrow.wkb") },
        Case {
            text: None,
            ..with(alone(of("period", Arc::new(Int64Array::from(two(1, 2))), ["", ""])), "pandas.period")
        },
        with(
            nested(
                "variant",
                structs(vec![
                    (Field::new("metadata", T::Binary, false), Arc::new(BinaryArray::from(vec![&b"\x01"[..]; 3]))),
                    (Field::new("value", T::Binary, true), binary.clone()),
                ]),
            ),
            "arrow.parquet.variant",
        ),
    ]
}

fn item(data_type: DataType) -> FieldRef {
    Arc::new(Field::new("item", data_type, true))
}

fn field(case: &Case) -> Field {
    let metadata = case.metadata.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    Field::new(case.name, case.array.data_type().clone(), true).with_metadata(metadata.collect())
}

/// A table of a column `id`, 1 to 3, and these.
fn table<'a>(cases: impl IntoIterator<Item = &'a Case>) -> RecordBatch {
    let ids: (Field, ArrayRef) = (Field::new("id", DataType::Int32, false), Arc::new(Int32Array::from(vec![1, 2, 3])));
    let columns = cases.into_iter().map(|case| (field(case), case.array.clone()));
    let (fields, columns): (Vec<Field>, Vec<ArrayRef>) = [ids].into_iter().chain(columns).unzip();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap()
}

#[test]
fn there_is_a_case_of_every_type() {
    let cases = cases();
    let kinds: BTreeSet<&str> = cases.iter().map(|case| kind(case.array.data_type())).collect();
    assert_eq!(kinds.len(), KINDS, "{kinds:?}");
    let names: BTreeSet<&str> = cases.iter().map(|case| case.name).collect();
    assert_eq!(names.len(), cases.len(), "each case has a name of its own");
    for case in &cases {
        assert_eq!(
            case.array.logical_nulls().map_or(0, |nulls| nulls.null_count()).max(1),
            match case.name {
                "null" => 3,
                _ => 1,
            }
        );
    }
    let units = |found: fn(&DataType) -> Option<TimeUnit>| {
        cases.iter().filter_map(|case| found(case.array.data_type())).map(|unit| format!("{unit:?}")).collect()
    };
    let stamps: BTreeSet<String> = units(|found| match found {
        DataType::Timestamp(unit, None) => Some(*unit),
        _ => None,
    });
    assert_eq!(stamps.len(), 4);
    let intervals = [IntervalUnit::YearMonth, IntervalUnit::DayTime, IntervalUnit::MonthDayNano];
    let has = |unit: &IntervalUnit| cases.iter().any(|case| *case.array.data_type() == DataType::Interval(*unit));
    assert!(intervals.iter().all(has));
}

/// What a table is stored as.
type Writer = (&'static str, fn(&Path, &RecordBatch));

const OUTPUTS: [&str; 5] = ["out.csv", "out.jsonl", "out.parquet", "out.arrow", "out.arrows"];

/// What becomes of a column of `input` in an output that is not text.
fn written(case: &Case, input: &str, output: &str) -> As {
    match (output, case.array.data_type()) {
        ("out.parquet", _) => case.parquet.clone(),
        // An Arrow file has one dictionary for a column, and a source may have several.
        ("out.arrow", DataType::Dictionary(_, values)) if input != "in.arrow" => As::Of(values.as_ref().clone()),
        ("out.arrow", DataType::List(of)) if input != "in.arrow" => match of.data_type() {
            DataType::Dictionary(_, values) => As::Of(DataType::List(item(values.as_ref().clone()))),
            _ => As::Same,
        },
        _ => As::Same,
    }
}

/// Whether the output takes the column.
fn fits(case: &Case, output: &str) -> bool {
    match output {
        "out.csv" | "out.jsonl" => case.text.is_some(),
        "out.parquet" => case.parquet != As::Refused,
        _ => true,
    }
}

/// Cells of an output of text, by column: `None` is null.
fn cells(path: &Path) -> Vec<(String, Vec<Option<String>>)> {
    let text = std::fs::read_to_string(path).unwrap();
    if path.extension().unwrap() == "jsonl" {
        let rows: Vec<serde_json::Map<String, serde_json::Value>> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let cell = |value: &serde_json::Value| match value {
            serde_json::Value::Null => None,
            serde_json::Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        };
        return rows[0].keys().map(|name| (name.clone(), rows.iter().map(|row| cell(&row[name])).collect())).collect();
    }
    // An empty field is null, unless it is quoted.
    assert!(!text.contains("\"\"\n") && !text.contains(",\"\","), "{text}");
    let (names, rows) = reference::rows(&text);
    let cell = |text: &String| (!text.is_empty()).then(|| text.clone());
    let column = |(place, name): (usize, &String)| (name.clone(), rows.iter().map(|row| cell(&row[place])).collect());
    names.iter().enumerate().map(column).collect()
}

/// What is wrong: a line for each column.
type Wrong = Vec<String>;

fn assert_none(wrong: Wrong) {
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Compares the columns of an output with those of the cases. `expected` is what becomes of each.
fn compare(path: &Path, cases: &[&Case], expected: impl Fn(&Case) -> As, context: &str) -> Wrong {
    let extension = path.extension().unwrap();
    if extension == "csv" || extension == "jsonl" {
        let found = cells(path);
        let compare = |case: &&Case| {
            let (_, cells) = found.iter().find(|(name, _)| name == case.name).unwrap();
            let [first, third] = case.text.unwrap().map(|text| (!text.is_empty()).then(|| text.to_owned()));
            (*cells != [first, None, third]).then(|| format!("{} in {context}: {cells:?}", case.name))
        };
        return cases.iter().filter_map(compare).collect();
    }
    let batches = read(path);
    let whole = concat_batches(&batches[0].schema(), &batches).unwrap();
    let mut wrong = compare_columns(&whole, cases, expected, context);
    if extension == "parquet" {
        wrong.extend(compare_logical_types(path, cases, context));
    }
    wrong
}

fn compare_columns(whole: &RecordBatch, cases: &[&Case], expected: impl Fn(&Case) -> As, context: &str) -> Wrong {
    let compare = |case: &&Case| {
        let (name, column) = (case.name, whole.column_by_name(case.name).unwrap());
        let to = match expected(case) {
            As::Of(to) => to,
            _ => case.array.data_type().clone(),
        };
        if *column.data_type() != to {
            return Some(format!("{name} in {context}: is of type {}", column.data_type()));
        }
        // Runs may be cut in other places, and values have another order in a dictionary.
        let plain = match &to {
            DataType::RunEndEncoded(_, values) => values.data_type(),
            DataType::Dictionary(_, values) => values,
            other => other,
        };
        if cast(column, plain).unwrap().as_ref() != cast(&case.array, plain).unwrap().as_ref() {
            return Some(format!("{name} in {context}: {column:?}"));
        }
        let field = whole.schema_ref().field_with_name(name).unwrap();
        let lost =
            case.metadata.iter().find(|(key, value)| field.metadata().get(*key).map(String::as_str) != Some(value));
        lost.map(|lost| format!("{name} in {context}: lost {lost:?}"))
    };
    cases.iter().filter_map(compare).collect()
}

/// What a reader that knows nothing of Arrow takes the columns for.
fn compare_logical_types(path: &Path, cases: &[&Case], context: &str) -> Wrong {
    let file = std::fs::File::open(path).unwrap();
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    let root = builder.metadata().file_metadata().schema().clone();
    let compare = |case: &&Case| {
        let column = root.get_fields().iter().find(|column| column.name() == case.name).unwrap();
        let shown = {
            let mut shown = Vec::new();
            parquet::schema::printer::print_schema(&mut shown, column);
            String::from_utf8(shown).unwrap()
        };
        let wanted = match (case.metadata.first(), kind(case.array.data_type())) {
            (Some((_, "arrow.uuid")), _) => "(UUID)",
            (Some((_, "arrow.json")), _) => "(JSON)",
            (Some((_, "arrow.parquet.variant")), _) => "(VARIANT(",
            (Some((_, "geoarrow.wkb")), _) => "(GEOMETRY",
            (_, "struct") => "(UUID)",
            (_, "timestamp" | "instant") => "(TIMESTAMP(",
            (_, "date32" | "date64") => "(DATE)",
            (_, "time32" | "time64") => "(TIME(",
            (_, "decimal32" | "decimal64" | "decimal128" | "decimal256") => "(DECIMAL(",
            (_, "text" | "large text" | "text view") => "(STRING)",
            _ => return None,
        };
        (!shown.contains(wanted)).then(|| format!("{} in {context}: {shown}", case.name))
    };
    cases.iter().filter_map(compare).collect()
}

/// The rows of `source` whose ids are 1 to 3, written to `path`.
fn kept(source: &dyn Source, path: &Path) -> Result<(), TableError> {
    let output = Output::create(path.to_str().unwrap(), &OutputOptions { force: true, format: None }, source)?;
    let table = read_keys(source, &key(&["id"]), None)?;
    write_matches(source, &table, &Matches { keys: &[0, 1, 2], payload: None }, Join::Inner, output).map(drop)
}

#[test]
fn kept_columns_are_equal_in_every_output_or_refused_by_name() {
    let folder = Folder::new();
    let all = cases();
    let mut wrong = Wrong::new();
    let inputs: [Writer; 3] = [("in.arrow", arrow_file), ("in.arrows", arrow_stream), ("in.parquet", parquet)];
    for (name, write) in inputs {
        for output in OUTPUTS {
            // Parquet itself cannot hold some, and holds others as another type.
            let stored = |case: &&Case| name != "in.parquet" || case.parquet == As::Same;
            let (fit, unfit): (Vec<&Case>, Vec<&Case>) = all.iter().filter(stored).partition(|case| fits(case, output));
            write(&folder.path(name), &table(fit.iter().copied()));
            kept(&open(&folder.path(name)).unwrap(), &folder.path(output)).unwrap();
            let context = format!("{output} of {name}");
            wrong.extend(compare(&folder.path(output), &fit, |case| written(case, name, output), &context));
            for case in unfit {
                write(&folder.path(name), &table([case]));
                std::fs::remove_file(folder.path(output)).ok();
                let input = open(&folder.path(name)).unwrap();
                let refused = Output::create(folder.path(output).to_str().unwrap(), &OutputOptions::default(), &input);
                let told = refused.map_or_else(|error| told(&error), |_| "it is taken".to_owned());
                let names = [format!("`{}`", case.name), type_name(case)];
                if !names.iter().all(|name| told.contains(name)) {
                    wrong.push(format!("{} in {context}: {told}", case.name));
                }
            }
        }
    }
    assert_none(wrong);
}

#[test]
fn rows_in_memory_keep_every_type() {
    let all = cases();
    let whole = table(&all);
    let source = Batches::new("a table", whole.schema(), vec![whole.clone()]).unwrap().open().unwrap();
    let found = read_keys(&*source, &key(&["id"]), None).unwrap();
    let result = Collected::default();
    let sink = result.open(ResultKind::OwnRows, &*source).unwrap();
    write_matches(&*source, &found, &Matches { keys: &[0, 1, 2], payload: None }, Join::Inner, sink).unwrap();
    let Some(Delivered::Rows { schema, batches }) = result.take() else { panic!("rows") };
    assert_eq!((schema, batches), (whole.schema(), vec![whole]));
}

#[test]
fn payloads_are_equal_in_every_output_or_refused_by_name() {
    let folder = Folder::new();
    let all = cases();
    let (fit, unfit): (Vec<&Case>, Vec<&Case>) = all.iter().partition(|case| case.payload != As::Refused);
    let theirs = table(&all);
    let sent = |names: Vec<String>| {
        let source = Batches::new("their table", theirs.schema(), vec![theirs.clone()]).unwrap().open().unwrap();
        let spec = PayloadSpec { columns: names, duplicates: Duplicates::Refuse };
        read_keys(&*source, &key(&["id"]), Some(&spec))
    };
    for case in unfit {
        let told = told(&sent(vec![case.name.to_owned()]).expect_err(case.name));
        let names = [format!("`{}`", case.name), type_name(case), "cannot be a payload".to_owned()];
        assert!(names.iter().all(|name| told.contains(name)), "{told}");
    }
    let payload = sent(fit.iter().map(|case| case.name.to_owned()).collect()).unwrap().payload.unwrap();
    let received = ReceivedPayload { schema: &payload.schema, bytes: &payload.bytes };
    for (place, case) in fit.iter().enumerate() {
        let shown = payload.schema.fields[place].kind.name();
        let expected = match &case.payload {
            As::Of(to) => to.to_string(),
            _ => type_name(case),
        };
        assert_eq!(shown, expected, "{} is told to the partner", case.name);
    }
    let mut wrong = Wrong::new();
    let ours = open(&folder.write("ours.csv", "id\n1\n2\n3\n")).unwrap();
    let found = read_keys(&ours, &key(&["id"]), None).unwrap();
    for output in OUTPUTS {
        super::join(&ours, &found, &[0, 1, 2], Some(received), Join::Inner, &folder.path(output)).unwrap();
        let expected = |case: &Case| match (output, &case.parquet, &case.payload) {
            ("out.parquet", As::Of(to), _) if kind(to) != "dictionary" => As::Of(to.clone()),
            (_, _, payload) => payload.clone(),
        };
        wrong.extend(compare(&folder.path(output), &fit, expected, &format!("{output} as a payload")));
    }
    assert_none(wrong);
}

#[test]
fn keys_are_equal_to_their_text_or_refused_by_name() {
    let folder = Folder::new();
    let all = cases();
    let inputs: [Writer; 3] = [("in.arrow", arrow_file), ("in.arrows", arrow_stream), ("in.parquet", parquet)];
    let mut wrong = Wrong::new();
    for case in &all {
        for (name, write) in inputs {
            if name == "in.parquet" && case.parquet != As::Same {
                continue;
            }
            write(&folder.path(name), &table([case]));
            let found = super::keys_of(&folder.path(name), &key(&[case.name]));
            let Some(cells) = case.key else {
                let told = found.map_or_else(|error| told(&error), |_| "it is taken".to_owned());
                let names = [format!("`{}`", case.name), type_name(case), "cannot be a key".to_owned()];
                // A column of nulls is one without keys.
                if case.name != "null" && !names.iter().all(|name| told.contains(name)) {
                    wrong.push(format!("{} in {name}: {told}", case.name));
                }
                continue;
            };
            let [first, third] = cells.map(|cell| cell.replace('"', "\"\""));
            let text = folder.write("text.csv", format!("k,x\n\"{first}\",\n,\n\"{third}\",\n"));
            let expected = super::keys_of(&text, &key(&["k"])).unwrap();
            match found {
                Err(error) => wrong.push(format!("{} in {name}: {}", case.name, told(&error))),
                Ok(found) if found.row_key != [0, NO_KEY, 1] || found.digests != expected.digests => {
                    wrong.push(format!("{} in {name}: {:?}", case.name, found.stats.columns));
                }
                Ok(_) => {}
            }
        }
    }
    assert_none(wrong);
}

/// An Arrow file has one dictionary a column. Those of a stream may change from batch to batch, in lists, too.
#[test]
fn dictionaries_that_change_become_an_arrow_file() {
    let folder = Folder::new();
    let batch = |values: [&str; 3]| {
        let texts: ArrayRef = Arc::new(StringArray::from(values.to_vec()));
        let to = DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8));
        let dictionary = cast(&texts, &to).unwrap();
        let array = lists(&dictionary);
        table([&Case { array, ..nested_case() }])
    };
    let batches = [batch(["a", "b", "c"]), batch(["d", "e", "f"])];
    let file = std::fs::File::create(folder.path("in.arrows")).unwrap();
    let mut writer = arrow_ipc::writer::StreamWriter::try_new(file, &batches[0].schema()).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.finish().unwrap();
    for output in ["out.arrow", "out.arrows", "out.parquet"] {
        kept(&open(&folder.path("in.arrows")).unwrap(), &folder.path(output)).unwrap();
        let found = read(&folder.path(output));
        let found = concat_batches(&found[0].schema(), &found).unwrap();
        let texts = cast(found.column(1), &DataType::List(item(DataType::Utf8))).unwrap();
        let texts = texts.as_list::<i32>().values().as_string::<i32>().clone();
        assert_eq!(texts.iter().flatten().filter(|text| "acdf".contains(text)).count(), 4, "{output}");
    }
}

fn nested_case() -> Case {
    cases().into_iter().find(|case| case.name == "list of dictionaries").unwrap()
}
