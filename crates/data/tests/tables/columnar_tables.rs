//! Parquet and Arrow IPC: keys that agree with CSV, refusals, damage, schemas kept.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::*;
use arrow_cast::cast;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use vesica_data::table::{Format, Join, NO_KEY, read_keys};

use super::{Folder, format_of, join, key, keys_of, open, told};

pub(super) fn parquet(path: &Path, batch: &RecordBatch) {
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_max_row_group_row_count(Some(1000))
        .build();
    let mut writer = ArrowWriter::try_new(File::create(path).unwrap(), batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
}

pub(super) fn arrow_file(path: &Path, batch: &RecordBatch) {
    let options = IpcWriteOptions::default().try_with_compression(Some(arrow_ipc::CompressionType::LZ4_FRAME)).unwrap();
    let mut writer = FileWriter::try_new_with_options(File::create(path).unwrap(), &batch.schema(), options).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
}

pub(super) fn arrow_stream(path: &Path, batch: &RecordBatch) {
    let mut writer = StreamWriter::try_new(File::create(path).unwrap(), &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
}

pub(super) fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true))).unwrap()
}

pub(super) fn read(path: &Path) -> Vec<RecordBatch> {
    let file = File::open(path).unwrap();
    match format_of(path) {
        Format::Parquet => {
            ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap().map(Result::unwrap).collect()
        }
        Format::ArrowFile => FileReader::try_new(file, None).unwrap().map(Result::unwrap).collect(),
        _ => StreamReader::try_new(file, None).unwrap().map(Result::unwrap).collect(),
    }
}

fn schema_of(path: &Path) -> SchemaRef {
    let file = File::open(path).unwrap();
    match format_of(path) {
        Format::Parquet => ParquetRecordBatchReaderBuilder::try_new(file).unwrap().schema().clone(),
        Format::ArrowFile => FileReader::try_new(file, None).unwrap().schema(),
        _ => StreamReader::try_new(file, None).unwrap().schema(),
    }
}

/// Arrays, and the CSV cells that name the same keys; an empty cell is null.
fn typed() -> Vec<(&'static str, ArrayRef, [&'static str; 3])> {
    let micros = |zone: Option<&str>| {
        let array = TimestampMicrosecondArray::from(vec![Some(1_706_659_200_000_000), None, Some(-1)]);
        Arc::new(array.with_timezone_opt(zone.map(Arc::<str>::from))) as ArrayRef
    };
    let text: ArrayRef = Arc::new(StringArray::from(vec![Some("ä,b"), None, Some("042")]));
    let text_cells = ["\"ä,b\"", "", "042"];
    let binary: ArrayRef = Arc::new(BinaryArray::from_opt_vec(vec![Some(b"abc"), None, Some(b"\xc3\xa4")]));
    let binary_cells = ["abc", "", "ä"];
    vec![
        ("text", text.clone(), text_cells),
        ("large text", cast(&text, &DataType::LargeUtf8).unwrap(), text_cells),
        ("text view", cast(&text, &DataType::Utf8View).unwrap(), text_cells),
        (
            "dictionary",
            Arc::new(vec![Some("ä,b"), None, Some("042")].into_iter().collect::<DictionaryArray<Int32Type>>()),
            text_cells,
        ),
        ("binary", binary.clone(), binary_cells),
        ("binary view", cast(&binary, &DataType::BinaryView).unwrap(), binary_cells),
        (
            "fixed binary",
            cast(
                &(Arc::new(BinaryArray::from_opt_vec(vec![Some(b"ab"), None, Some(b"cd")])) as ArrayRef),
                &DataType::FixedSizeBinary(2),
            )
            .unwrap(),
            ["ab", "", "cd"],
        ),
        ("int8", Arc::new(Int8Array::from(vec![Some(42), None, Some(-7)])), ["42", "", "-7"]),
        ("int64", Arc::new(Int64Array::from(vec![Some(i64::MIN), None, Some(0)])), ["-9223372036854775808", "", "0"]),
        ("uint32", Arc::new(UInt32Array::from(vec![Some(u32::MAX), None, Some(0)])), ["4294967295", "", "0"]),
        ("uint64", Arc::new(UInt64Array::from(vec![Some(u64::MAX), None, Some(0)])), ["18446744073709551615", "", "0"]),
        (
            "decimal",
            Arc::new(
                Decimal128Array::from(vec![Some(-42), None, Some(10i128.pow(37))])
                    .with_precision_and_scale(38, 0)
                    .unwrap(),
            ),
            ["-42", "", "10000000000000000000000000000000000000"],
        ),
        ("boolean", Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)])), ["true", "", "false"]),
        ("date", Arc::new(Date32Array::from(vec![Some(19_753), None, Some(-1)])), ["2024-01-31", "", "1969-12-31"]),
        (
            "date64",
            Arc::new(Date64Array::from(vec![Some(19_753 * 86_400_000), None, Some(0)])),
            ["2024-01-31", "", "1970-01-01"],
        ),
        ("timestamp", micros(None), ["2024-01-31T00:00:00", "", "1969-12-31T23:59:59.999999"]),
        ("instant", micros(Some("+02:00")), ["2024-01-31T00:00:00Z", "", "1969-12-31T23:59:59.999999Z"]),
        (
            "nanos",
            Arc::new(TimestampNanosecondArray::from(vec![Some(1_000_000_500), None, Some(0)])),
            ["1970-01-01T00:00:01.0000005", "", "1970-01-01T00:00:00"],
        ),
        (
            "seconds",
            Arc::new(TimestampSecondArray::from(vec![Some(1), None, Some(0)])),
            ["1970-01-01T00:00:01", "", "1970-01-01T00:00:00"],
        ),
    ]
}

#[test]
fn typed_keys_agree_with_their_text() {
    let folder = Folder::new();
    for (name, array, cells) in typed() {
        let csv = folder.write("in.csv", format!("k,x\n{},\n{},\n{},\n", cells[0], cells[1], cells[2]));
        let expected = keys_of(&csv, &key(&["k"])).unwrap();
        assert_eq!(expected.row_key, [0, NO_KEY, 1], "{name}");
        let other: ArrayRef = Arc::new(Float64Array::from(vec![0.5; 3]));
        let batch = batch(vec![("x", other), ("k", array)]);
        let writers =
            [("k.parquet", parquet as fn(&Path, &RecordBatch)), ("k.arrow", arrow_file), ("k.arrows", arrow_stream)];
        for (file, write) in writers {
            // Parquet has no seconds and no local zone names; Arrow's own schema in the file restores what it
            // can.
            write(&folder.path(file), &batch);
            let found = keys_of(&folder.path(file), &key(&["k"])).unwrap();
            assert_eq!(found.digests, expected.digests, "{name} in {file}");
            assert_eq!(found.row_key, expected.row_key, "{name} in {file}");
            assert_eq!(found.stats.columns[0].nulls, 1, "{name} in {file}");
        }
    }
}

#[test]
fn every_day_has_its_iso_text() {
    let folder = Folder::new();
    let days: Vec<i32> =
        (-719_162..=2_932_896).step_by(97).chain([2_932_896, 11_016, 11_017, -25_509, -25_508]).collect();
    let array: ArrayRef = Arc::new(Date32Array::from(days.clone()));
    let text = cast(&array, &DataType::Utf8).unwrap();
    arrow_file(&folder.path("d.arrow"), &batch(vec![("k", array)]));
    arrow_file(&folder.path("t.arrow"), &batch(vec![("k", text)]));
    let keys = |name| keys_of(&folder.path(name), &key(&["k"])).unwrap().digests;
    assert_eq!(keys("d.arrow"), keys("t.arrow"));
    for out in [-719_163, 2_932_897, i32::MAX, i32::MIN] {
        let array: ArrayRef = Arc::new(Date32Array::from(vec![0, out]));
        arrow_file(&folder.path("d.arrow"), &batch(vec![("k", array)]));
        let told = told(&keys_of(&folder.path("d.arrow"), &key(&["k"])).unwrap_err());
        assert!(told.contains("row 2 of") && told.contains("out of range"), "{told}");
    }
}

#[test]
fn types_without_equality_are_refused() {
    let folder = Folder::new();
    let list = ListArray::from_iter_primitive::<Int32Type, _, _>(vec![Some(vec![Some(1)])]);
    let cases: [(&str, ArrayRef, &str); 5] = [
        ("Float64", Arc::new(Float64Array::from(vec![1.0])), "cast the column"),
        ("Float32", Arc::new(Float32Array::from(vec![1.0])), "cast the column"),
        (
            "Decimal128(10, 2)",
            Arc::new(Decimal128Array::from(vec![1]).with_precision_and_scale(10, 2).unwrap()),
            "of cents",
        ),
        ("List", Arc::new(list), "choose a column"),
        ("Time64", Arc::new(Time64MicrosecondArray::from(vec![1])), "choose a column"),
    ];
    for (found, array, mend) in cases {
        parquet(&folder.path("in.parquet"), &batch(vec![("k", array)]));
        let told = told(&keys_of(&folder.path("in.parquet"), &key(&["k"])).unwrap_err());
        assert!(
            told.contains("column `k`")
                && told.contains(found)
                && told.contains("cannot be a key")
                && told.contains(mend),
            "{told}"
        );
    }
}

fn people(rows: usize) -> RecordBatch {
    let ids = Int64Array::from_iter((0..rows).map(|i| (i % 11 != 0).then_some((i * 7919 % 5000) as i64)));
    let names = StringArray::from_iter((0..rows).map(|i| (i % 3 != 0).then(|| format!("name, {i}"))));
    let tags = ListArray::from_iter_primitive::<Int32Type, _, _>((0..rows).map(|i| Some(vec![Some(i as i32); i % 3])));
    let fields = vec![
        Field::new("id", DataType::Int64, true).with_metadata([("unit".to_owned(), "none".to_owned())].into()),
        Field::new("name", DataType::Utf8, true),
        Field::new("tags", tags.data_type().clone(), true),
    ];
    let schema = Schema::new_with_metadata(fields, [("origin".to_owned(), "test".to_owned())].into());
    RecordBatch::try_new(Arc::new(schema), vec![Arc::new(ids), Arc::new(names), Arc::new(tags)]).unwrap()
}

#[test]
fn results_keep_rows_order_and_schema_in_every_columnar_format() {
    let folder = Folder::new();
    let whole = people(20_000);
    let writers = [("parquet", parquet as fn(&Path, &RecordBatch)), ("arrow", arrow_file), ("arrows", arrow_stream)];
    for (extension, write) in writers {
        let path = folder.path(&format!("in.{extension}"));
        write(&path, &whole);
        let input = open(&path).unwrap();
        let table = read_keys(&input, &key(&["id"]), None).unwrap();
        assert_eq!(table.stats.rows, 20_000);
        let matched: Vec<u32> = (0..table.digests.len() as u32).step_by(2).collect();
        for kind in [Join::Inner, Join::Difference] {
            let out = folder.path(&format!("{kind:?}.{extension}"));
            let count = join(&input, &table, &matched, None, kind, &out).unwrap();
            let keep: BooleanArray =
                table.row_key.iter().map(|&k| Some((k != NO_KEY && k % 2 == 0) == (kind == Join::Inner))).collect();
            let expected = arrow_select::filter::filter_record_batch(&whole, &keep).unwrap();
            let found = read(&out);
            let found = arrow_select::concat::concat_batches(&found[0].schema(), &found).unwrap();
            assert_eq!(found.columns(), expected.columns(), "{extension} {kind:?}");
            assert_eq!(schema_of(&out), whole.schema(), "{extension}");
            assert_eq!(count, expected.num_rows() as u64);
        }
    }
    let file = File::open(folder.path("Inner.parquet")).unwrap();
    let metadata = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().metadata().clone();
    assert!(matches!(metadata.row_group(0).column(0).compression(), Compression::ZSTD(_)), "the input's codec is kept");
}

#[test]
fn an_extension_converts_between_formats() {
    let folder = Folder::new();
    let csv = folder.write("in.csv", "id,x\n1,\n1,\"\"\n2,b\n");
    let input = open(&csv).unwrap();
    let table = read_keys(&input, &key(&["id"]), None).unwrap();
    join(&input, &table, &[0], None, Join::Inner, &folder.path("out.parquet")).unwrap();
    let found = read(&folder.path("out.parquet"));
    assert_eq!(
        found[0].column(1).as_string::<i32>().iter().collect::<Vec<_>>(),
        [None, Some("")],
        "bare empty is null, quoted empty is text"
    );

    let columns = typed().into_iter().map(|(name, array, _)| (name, array)).collect();
    parquet(&folder.path("in.parquet"), &batch(columns));
    let input = open(&folder.path("in.parquet")).unwrap();
    let table = read_keys(&input, &key(&["int8"]), None).unwrap();
    join(&input, &table, &[0, 1], None, Join::Inner, &folder.path("out.csv")).unwrap();
    let expected = "text,large text,text view,dictionary,binary,binary view,fixed \
                    binary,int8,int64,uint32,uint64,decimal,boolean,date,date64,timestamp,instant,nanos,seconds\n\"ä,\
                    b\",\"ä,b\",\"ä,b\",\"ä,b\",616263,616263,6162,42,-9223372036854775808,4294967295,\
                    18446744073709551615,-42,true,2024-01-31,2024-01-31,2024-01-31T00:00:00,2024-01-31T00:00:00Z,\
                    1970-01-01T00:00:01.0000005,1970-01-01T00:00:01\n042,042,042,042,c3a4,c3a4,6364,-7,0,0,0,\
                    10000000000000000000000000000000000000,false,1969-12-31,1970-01-01,1969-12-31T23:59:59.999999,\
                    1969-12-31T23:59:59.999999Z,1970-01-01T00:00:00,1970-01-01T00:00:00\n";
    assert_eq!(std::fs::read_to_string(folder.path("out.csv")).unwrap(), expected);

    let others: Vec<(&str, ArrayRef)> = vec![
        ("k", Arc::new(Int32Array::from(vec![1]))),
        ("f", Arc::new(Float64Array::from(vec![0.1]))),
        ("d", Arc::new(Decimal128Array::from(vec![-1205]).with_precision_and_scale(10, 2).unwrap())),
        ("n", new_null_array(&DataType::Float32, 1)),
        ("t", Arc::new(Time64MicrosecondArray::from(vec![3_600_000_001]))),
    ];
    parquet(&folder.path("in.parquet"), &batch(others));
    let input = open(&folder.path("in.parquet")).unwrap();
    let table = read_keys(&input, &key(&["k"]), None).unwrap();
    join(&input, &table, &[0], None, Join::Inner, &folder.path("others.csv")).unwrap();
    assert_eq!(
        std::fs::read_to_string(folder.path("others.csv")).unwrap(),
        "k,f,d,n,t\n1,0.1,-12.05,,01:00:00.000001\n"
    );

    parquet(&folder.path("in.parquet"), &people(10));
    let input = open(&folder.path("in.parquet")).unwrap();
    let table = read_keys(&input, &key(&["id"]), None).unwrap();
    let told = told(&join(&input, &table, &[0], None, Join::Inner, &folder.path("nested.csv")).unwrap_err());
    assert!(told.contains("column `tags`") && told.contains(".parquet"), "{told}");
    assert!(!folder.path("nested.csv").exists());
}

#[test]
fn empty_and_missing() {
    let folder = Folder::new();
    let schema = Arc::new(Schema::new(vec![Field::new("id", DataType::Timestamp(TimeUnit::Second, None), true)]));
    for (file, write) in
        [("e.parquet", parquet as fn(&Path, &RecordBatch)), ("e.arrow", arrow_file), ("e.arrows", arrow_stream)]
    {
        write(&folder.path(file), &RecordBatch::new_empty(schema.clone()));
        let table = keys_of(&folder.path(file), &key(&["id"])).unwrap();
        assert_eq!((table.stats.rows, table.digests.len()), (0, 0));
        let error = told(&keys_of(&folder.path(file), &key(&["it"])).unwrap_err());
        assert!(error.contains("no column `it`; did you mean `id`?"), "{error}");
        let nulls: ArrayRef = Arc::new(Int32Array::from(vec![None, None]));
        write(&folder.path(file), &batch(vec![("id", nulls)]));
        let error = told(&keys_of(&folder.path(file), &key(&["id"])).unwrap_err());
        assert!(error.contains("`id` is null or empty in every row"), "{error}");
    }
}

/// Every cut is an error (or, of a stream, a shorter table), and every flipped byte an error or
/// some table: never a panic.
#[test]
fn damaged_files_are_errors() {
    let folder = Folder::new();
    let whole = people(300);
    for (file, write) in
        [("d.parquet", parquet as fn(&Path, &RecordBatch)), ("d.arrow", arrow_file), ("d.arrows", arrow_stream)]
    {
        write(&folder.path(file), &whole);
        let bytes = std::fs::read(folder.path(file)).unwrap();
        for cut in (0..bytes.len()).step_by(1 + bytes.len() / 150) {
            let result = keys_of(&folder.write(file, &bytes[..cut]), &key(&["id"]));
            assert!(result.is_err() || file == "d.arrows", "{file} cut at {cut}");
        }
        for place in (0..bytes.len()).step_by(1 + bytes.len() / 600) {
            for flip in [0x01, 0x80, 0xff] {
                let mut bytes = bytes.clone();
                bytes[place] ^= flip;
                let _ = keys_of(&folder.write(file, &bytes), &key(&["id", "name"]));
            }
        }
    }
}
