//! JSON lines in and out.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Decimal128Array, Float64Array, Int64Array, RecordBatch, StringArray, UInt64Array,
};
use vesica_data::key::KeySpec;
use vesica_data::table::{
    Blame, Duplicates, Format, Head, Input, InputOptions, Join, Matches, NO_KEY, Output, OutputOptions, PayloadSpec,
    ReceivedPayload, Sink, Source, read_keys, write_matches,
};

use super::columnar_tables::parquet;
use super::{Folder, join, key, keys_of, open, told};

const ROWS: &str = "{\"id\":1,\"name\":\"a\\u00e4\",\"tags\":[1,2]}\n\
    { \"name\" : null , \"id\" : 12345678901234567890123 }\r\n\
    \n\
    {\"id\":\"1\",\"more\":{}}\n\
    {\"id\":null}\n\
    {}\n\
    {\"id\":1.0,\"name\":\"\"}";

#[test]
fn lines_are_kept_as_they_stand() {
    let folder = Folder::new();
    let input = open(&folder.write("in.jsonl", ROWS)).unwrap();
    assert_eq!(input.stored().unwrap().format, Format::JsonLines);
    let table = read_keys(&input, &key(&["id"]), None).unwrap();
    // A number is its text, as it is written.
    assert_eq!(table.row_key, [0, 1, 0, NO_KEY, NO_KEY, 2]);
    let written = |kind, to: &str| {
        join(&input, &table, &[0, 1, 2], None, kind, &folder.path(to)).unwrap();
        std::fs::read_to_string(folder.path(to)).unwrap()
    };
    assert_eq!(
        written(Join::Inner, "out.jsonl"),
        "{\"id\":1,\"name\":\"a\\u00e4\",\"tags\":[1,2]}\n{ \"name\" : null , \"id\" : 12345678901234567890123 }\r\n\
         {\"id\":\"1\",\"more\":{}}\n{\"id\":1.0,\"name\":\"\"}\n"
    );
    assert_eq!(written(Join::Difference, "rest.ndjson"), "{\"id\":null}\n{}\n");
    assert_eq!(
        written(Join::Inner, "out.csv"),
        "id,name,tags,more\n1,aä,\"[1,2]\",\n12345678901234567890123,,,\n1,,,{}\n1.0,\"\",,\n"
    );
    join(&input, &table, &[0, 1, 2], None, Join::Inner, &folder.path("out.parquet")).unwrap();
    assert_eq!(keys_of(&folder.path("out.parquet"), &key(&["id"])).unwrap().stats.distinct, 3);
}

#[test]
fn keys_agree_with_those_of_csv() {
    let folder = Folder::new();
    let lines = "{\"a\":\"x \\\"y\\\"\",\"b\":7}\n{\"b\":true,\"a\":\"\\ud83d\\ude00\"}\n{\"a\":\"\",\"b\":-0.50}\n";
    let csv = "b,a\n7,\"x \"\"y\"\"\"\ntrue,😀\n-0.50,\"\"\n";
    let spec = key(&["a", "b"]);
    let digests = |name: &str, text: &str| keys_of(&folder.write(name, text), &spec).unwrap().digests;
    assert_eq!(digests("in.jsonl", lines), digests("in.csv", csv));
    // Without a name that says it, by the first byte.
    assert_eq!(digests("in", &format!("\u{feff} {lines}")), digests("in.csv", csv));
    let packed = folder.write("in.jsonl.zst", zstd::encode_all(lines.as_bytes(), 1).unwrap());
    assert_eq!(keys_of(&packed, &spec).unwrap().digests, digests("in.csv", csv));
}

#[test]
fn payload_goes_into_the_object_and_keeps_its_types() {
    let folder = Folder::new();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", Arc::new(StringArray::from(vec!["1", "2"]))),
        ("name", Arc::new(StringArray::from(vec![Some("q\"\\"), None]))),
        ("whole", Arc::new(Int64Array::from(vec![(1 << 53) - 1, 1 << 53]))),
        ("large", Arc::new(UInt64Array::from(vec![5, u64::MAX]))),
        ("real", Arc::new(Float64Array::from(vec![1.5, f64::NAN]))),
        ("flag", Arc::new(BooleanArray::from(vec![true, false]))),
        ("price", Arc::new(Decimal128Array::from(vec![150, -5]).with_precision_and_scale(9, 2).unwrap())),
    ];
    let batch = RecordBatch::try_from_iter_with_nullable(columns.iter().map(|(n, c)| (*n, c.clone(), true))).unwrap();
    let theirs = folder.path("theirs.parquet");
    parquet(&theirs, &batch);
    let spec = PayloadSpec {
        columns: columns[1..].iter().map(|(name, _)| (*name).to_owned()).collect(),
        duplicates: Duplicates::Refuse,
    };
    let sent = read_keys(&open(&theirs).unwrap(), &key(&["id"]), Some(&spec)).unwrap().payload.unwrap();
    let received = ReceivedPayload { schema: &sent.schema, bytes: &sent.bytes };
    let values = [
        r#""whole":9007199254740991,"large":5,"real":1.5,"flag":true,"price":"1.50"}"#,
        r#""whole":"9007199254740992","large":"18446744073709551615","real":"NaN","flag":false,"price":"-0.05"}"#,
    ];

    let ours = open(&folder.write("ours.jsonl", "{\"id\":1,\"name\":\"n\"} \n{ \"id\" : \"2\" }")).unwrap();
    let table = read_keys(&ours, &key(&["id"]), None).unwrap();
    join(&ours, &table, &[0, 1], Some(received), Join::Inner, &folder.path("out.jsonl")).unwrap();
    assert_eq!(
        std::fs::read_to_string(folder.path("out.jsonl")).unwrap(),
        format!(
            "{{\"id\":1,\"name\":\"n\",\"partner_name\":\"q\\\"\\\\\",{} \n{{ \"id\" : \"2\",\"partner_name\":null,{}\n",
            values[0], values[1]
        )
    );
    // Rows of typed columns: the same values.
    let ours = open(&theirs).unwrap();
    let table = read_keys(&ours, &key(&["id"]), None).unwrap();
    join(&ours, &table, &[0, 1], None, Join::Inner, &folder.path("typed.jsonl")).unwrap();
    assert_eq!(
        std::fs::read_to_string(folder.path("typed.jsonl")).unwrap(),
        format!("{{\"id\":\"1\",\"name\":\"q\\\"\\\\\",{}\n{{\"id\":\"2\",\"name\":null,{}\n", values[0], values[1])
    );
}

/// An object without values of its own.
#[test]
fn payload_goes_into_an_empty_object() {
    let folder = Folder::new();
    let csv = open(&folder.write("theirs.csv", "id,n\n1,x\n")).unwrap();
    let spec = PayloadSpec { columns: vec!["n".into()], duplicates: Duplicates::Refuse };
    let sent = read_keys(&csv, &key(&["id"]), Some(&spec)).unwrap().payload.unwrap();
    let payload = Some(ReceivedPayload { schema: &sent.schema, bytes: &sent.bytes });
    let ours = open(&folder.write("ours.jsonl", "{\"id\":1}\n")).unwrap();
    let table = read_keys(&ours, &key(&["id"]), None).unwrap();
    let to = folder.path("out.jsonl");
    let mut output = Output::create(to.to_str().unwrap(), &OutputOptions::default(), &ours).unwrap();
    let schema = Arc::new(arrow_schema::Schema::empty());
    output.begin(&Head::of("a table", schema, Some(&sent.schema))).unwrap();
    output.record(b"{ }\n", 3, Some(&sent.bytes)).unwrap();
    output.finish().unwrap();
    assert_eq!(std::fs::read_to_string(to).unwrap(), "{\"n\":\"x\"}\n");
    write_matches(
        &ours,
        &table,
        &Matches { keys: &[0], payload },
        Join::Inner,
        Output::create(folder.path("o2.jsonl").to_str().unwrap(), &OutputOptions::default(), &ours).unwrap(),
    )
    .unwrap();
    assert_eq!(std::fs::read_to_string(folder.path("o2.jsonl")).unwrap(), "{\"id\":1,\"n\":\"x\"}\n");
}

fn refused(path: &Path, spec: &KeySpec) -> String {
    let error = keys_of(path, spec).unwrap_err();
    assert_eq!(error.blame(), Blame::Input);
    told(&error)
}

#[test]
fn each_fault_names_its_line_and_its_mend() {
    let folder = Folder::new();
    for (text, expected) in [
        ("{\"id\":1}\n\n[\"s3cr3t\"]\n", &["line 3 of ", "is no JSON object", "jq -c"][..]),
        ("{\"id\":1}\n{\"id\":\"s3cr3t\n", &["line 2 of ", "control character"]),
        ("{\"id\":1}\n{\"id\":\"s3cr3t\"", &["line 2 of ", "cut off"]),
        ("{\"id\":1}\n{\"id\":s3cr3t}\n", &["line 2 of ", "not valid JSON"]),
        ("{\"id\":1}\n{\"x\":\"s3cr3t\",\"x\":1}\n", &["line 2 of ", "same key twice"]),
        ("{\"id\":1}\n{\"id\":[\"s3cr3t\"]}\n", &["line 2 of ", "object or array in column `id`"]),
        ("{\"id\":1,\"x\":\"s3cr3t\\ud800\"}\n", &["line 1 of ", "surrogate"]),
        ("{\"Id\":1}\n", &["no column `id`", "did you mean `Id`?"]),
        ("{\"id\":null}\n{}\n", &["`id` is null or empty in every row"]),
    ] {
        let told = refused(&folder.write("in.jsonl", text), &key(&["id"]));
        for part in expected {
            assert!(told.contains(part), "`{part}` is not in: {told}");
        }
        assert!(!told.contains("s3cr3t"), "{told}");
    }
    // Without a line there is nothing wrong, whatever columns are asked for.
    for text in ["", " \n\r\n"] {
        let table = keys_of(&folder.write("in.jsonl", text), &key(&["id"])).unwrap();
        assert_eq!((table.stats.rows, table.digests.len()), (0, 0));
    }
    assert!(refused(&folder.write("in.jsonl", b"{\"id\":\"\xff\"}\n"), &key(&["id"])).contains("line 1 of "));
    let error = open(&folder.write("in.jsonl", "PAR1 and more")).unwrap_err();
    assert!(error.to_string().contains("its first bytes are those of a Parquet file"), "{error}");
}

/// The first lines say which columns there are, at any number of threads; a line behind them is
/// named by its number in the file.
#[test]
fn a_key_that_comes_too_late_is_refused() {
    let folder = Folder::new();
    let line = |n: usize| format!("{{\"id\":{n},\"text\":\"some more text to fill the blocks\"}}\n");
    let rows = |last: &str| (1..=20_000).map(line).collect::<String>() + last;
    let late = folder.write("late.jsonl", rows("{\"id\":1,\"other\":2}\n"));
    let early = (1..1024).map(line).collect::<String>() + "{\"id\":1,\"other\":2}\n" + &rows("");
    let early = folder.write("early.jsonl", early);
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let told = refused(&late, &key(&["id"]));
            assert!(told.contains("line 20001 of ") && told.contains("key `other`"), "{told}");
            let keys = keys_of(&early, &key(&["id"])).unwrap();
            assert_eq!((keys.stats.rows, keys.stats.distinct), (21_024, 20_000));
            assert_eq!(keys.row_key[..3], [0, 1, 2]);
            assert_eq!(keys.row_key[21_023], 19_999);
        });
    }
}

#[test]
fn names_that_stand_twice_cannot_be_keys() {
    let folder = Folder::new();
    let input = open(&folder.write("in.csv", "id,n,n\n1,2,3\n")).unwrap();
    let to = folder.path("out.jsonl");
    let error = Output::create(to.to_str().unwrap(), &OutputOptions::default(), &input).unwrap_err();
    assert!(error.to_string().contains("several columns named `n`"), "{error}");
    let options = InputOptions { format: Format::parse("jsonl"), delimiter: None };
    assert_eq!(
        Input::open(folder.path("in.csv").to_str().unwrap(), &options).unwrap().stored().unwrap().format,
        Format::JsonLines
    );
}
