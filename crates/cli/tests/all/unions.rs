//! Unions of two real files, checked row by row against plain ones, and what is refused.

use std::collections::HashMap;
use std::fs::File;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value;

use crate::harness::{Ended, Folder};

/// Both sides of a union, with these arguments besides.
fn run(folder: &Folder, receive: &str, send: &str) -> (Ended, Ended) {
    let both = "--task union --security semi-honest";
    folder.join(&format!("{both} {receive}"), &format!("{both} {send}"))
}

fn json(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).expect("one JSON object")
}

/// A table of a key and a text, of which the key may be an integer.
struct Table {
    file: &'static str,
    columns: [&'static str; 2],
    is_number: bool,
    rows: Vec<(String, String)>,
}

impl Table {
    fn write(&self, folder: &Folder) {
        if self.file.ends_with(".csv") {
            let lines = self.rows.iter().map(|(key, text)| format!("{key},{text}\n"));
            return folder.write(self.file, format!("{}\n{}", self.columns.join(","), lines.collect::<String>()));
        }
        let keys: ArrayRef = match self.is_number {
            true => {
                Arc::new(self.rows.iter().map(|(key, _)| key.parse::<i64>().expect("a number")).collect::<Int64Array>())
            }
            false => Arc::new(StringArray::from_iter_values(self.rows.iter().map(|(key, _)| key))),
        };
        let texts: ArrayRef = Arc::new(StringArray::from_iter_values(self.rows.iter().map(|(_, text)| text)));
        // No column takes nulls: the result must, where the other side's rows have no value.
        let field = |name: &str, array: &ArrayRef| Field::new(name, array.data_type().clone(), false);
        let schema = Schema::new(vec![field(self.columns[0], &keys), field(self.columns[1], &texts)]);
        let batch = RecordBatch::try_new(Arc::new(schema), vec![keys, texts]).expect("a batch");
        let file = File::create(folder.path(self.file)).expect("a file");
        let mut writer = ArrowWriter::try_new(file, batch.schema(), None).expect("a writer");
        writer.write(&batch).expect("written");
        writer.close().expect("closed");
    }
}

/// The column names of a file, the types of its columns, and its rows as text.
fn read(folder: &Folder, file: &str) -> (Vec<String>, Vec<DataType>, Vec<Vec<Option<String>>>) {
    if file.ends_with(".csv") {
        let text = folder.read(file);
        let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
        let names = lines.next().expect("a header");
        let value = |text: String| (!text.is_empty()).then_some(text);
        let rows = lines.map(|line| line.into_iter().map(value).collect()).collect();
        return (names.clone(), vec![DataType::Utf8; names.len()], rows);
    }
    let reader =
        ParquetRecordBatchReaderBuilder::try_new(File::open(folder.path(file)).expect("a file")).expect("sound");
    let schema = reader.schema().clone();
    let mut rows = Vec::new();
    for batch in reader.build().expect("a reader") {
        let batch = batch.expect("a batch");
        for row in 0..batch.num_rows() {
            let value = |array: &ArrayRef| match array.data_type() {
                _ if array.is_null(row) => None,
                DataType::Int64 => Some(array.as_primitive::<Int64Type>().value(row).to_string()),
                _ => Some(array.as_string::<i32>().value(row).to_owned()),
            };
            rows.push(batch.columns().iter().map(value).collect());
        }
    }
    let fields = schema.fields();
    let names = fields.iter().map(|field| field.name().clone()).collect();
    (names, fields.iter().map(|field| field.data_type().clone()).collect(), rows)
}

/// Runs the union of two tables, and compares it with a plain one.
fn check(receivers: &Table, senders: &Table, arguments: &str) {
    let folder = Folder::new();
    receivers.write(&folder);
    senders.write(&folder);
    let output = if receivers.file.ends_with(".csv") { "union.csv" } else { "union.parquet" };
    let (receiver, sender) = run(
        &folder,
        &format!("--input {} --key {} --output {output} {arguments} --json", receivers.file, receivers.columns[0]),
        &format!(
            "--input {} --key {} --payload {} --payload-duplicates first {arguments} --json",
            senders.file, senders.columns[0], senders.columns[1]
        ),
    );
    receiver.expect(0, &[]);
    sender.expect(0, &[]);
    let (names, types, rows) = read(&folder, output);
    assert_eq!(names, [receivers.columns[0], receivers.columns[1], senders.columns[1]]);
    if output.ends_with(".parquet") {
        let key = if receivers.is_number { DataType::Int64 } else { DataType::Utf8 };
        assert_eq!(types, [key, DataType::Utf8, DataType::Utf8]);
    }
    // The receiver's rows come first, in their order.
    let own: Vec<Vec<Option<String>>> =
        receivers.rows.iter().map(|(key, text)| vec![Some(key.clone()), Some(text.clone()), None]).collect();
    assert_eq!(rows[..own.len()], own);
    // One row for each other key, with the payload of its first row.
    let mut expected: HashMap<&str, &str> = HashMap::new();
    for (key, text) in &senders.rows {
        if receivers.rows.iter().all(|(own, _)| own != key) {
            expected.entry(key).or_insert(text);
        }
    }
    let mut expected: Vec<Vec<Option<String>>> =
        expected.into_iter().map(|(key, text)| vec![Some(key.to_owned()), None, Some(text.to_owned())]).collect();
    let mut new = rows[own.len()..].to_vec();
    expected.sort_unstable();
    new.sort_unstable();
    assert_eq!(new, expected);
    let (received, sent) = (json(&receiver), json(&sender));
    assert_eq!((&received["output"]["rows"], &received["output"]["new_rows"]), (&rows.len().into(), &new.len().into()));
    assert!(sent["output"].is_null() && received["matched_keys"].is_null(), "the sender learns nothing");
    assert_eq!(received["revealed"], sent["revealed"]);
}

/// Runs a union that both sides learn, and compares each side's file with a plain one.
fn check_both(receivers: &Table, senders: &Table, arguments: &str) {
    let folder = Folder::new();
    receivers.write(&folder);
    senders.write(&folder);
    let output = |table: &Table| table.file.replace('.', "-union.");
    let side = |table: &Table| {
        let key = table.columns[0];
        format!("--input {} --key {key} --output {} --both-learn {arguments} --json", table.file, output(table))
    };
    let (receiver, sender) =
        run(&folder, &side(receivers), &format!("{} --payload {}", side(senders), senders.columns[1]));
    receiver.expect(0, &[]);
    sender.expect(0, &[]);
    // The sender's payload goes along; the receiver gives its keys alone.
    for (own, other, given, ended) in [(receivers, senders, true, &receiver), (senders, receivers, false, &sender)] {
        let (names, _, rows) = read(&folder, &output(own));
        let mut expected_names = own.columns.map(str::to_owned).to_vec();
        expected_names.extend(given.then(|| other.columns[1].to_owned()));
        assert_eq!(names, expected_names);
        let row = |key: &str, text: Option<&str>, payload: Option<&str>| {
            let mut row = vec![Some(key.to_owned()), text.map(str::to_owned)];
            row.extend(given.then(|| payload.map(str::to_owned)));
            row
        };
        let expected: Vec<_> = own.rows.iter().map(|(key, text)| row(key, Some(text), None)).collect();
        assert_eq!(rows[..own.rows.len()], expected);
        let is_new = |key: &str| own.rows.iter().all(|(own, _)| own != key);
        let mut expected: Vec<_> =
            other.rows.iter().filter(|(key, _)| is_new(key)).map(|(key, text)| row(key, None, Some(text))).collect();
        let mut new = rows[own.rows.len()..].to_vec();
        expected.sort_unstable();
        new.sort_unstable();
        assert_eq!(new, expected, "{}", own.file);
        assert_eq!(json(ended)["output"]["new_rows"], new.len());
    }
    assert_eq!(json(&receiver)["revealed"], json(&sender)["revealed"]);
}

#[test]
fn both_sides_get_the_union_if_both_ask_for_it() {
    for ([ours, theirs], is_number) in
        [["ours.csv", "theirs.csv"], ["ours.csv", "theirs.parquet"], ["ours.parquet", "theirs.csv"]]
            .into_iter()
            .zip([true, false, true])
    {
        for first in [1, 20, 60] {
            let receivers = Table { file: ours, columns: ["id", "name"], is_number, rows: rows(1..60, is_number, "n") };
            let sent = rows(first..first + 40, is_number, "s");
            let senders = Table { file: theirs, columns: ["number", "score"], is_number, rows: sent };
            check_both(&receivers, &senders, "");
        }
    }
}

/// Keys of either side may be the longer ones, and dummies of neither become rows.
#[test]
fn records_of_both_sides_have_the_wider_width_and_dummies_are_no_rows() {
    for (ours, theirs) in [("k", "a-long-prefix-of-keys-"), ("a-long-prefix-of-keys-", "k")] {
        let of = |file, columns, prefix: &str, keys: std::ops::Range<u32>| {
            let mut rows = rows(keys, false, "t");
            rows.push((format!("{prefix}{}", 77), "long".into()));
            Table { file, columns, is_number: false, rows }
        };
        let receivers = of("ours.csv", ["id", "name"], ours, 1..9);
        check_both(&receivers, &of("theirs.csv", ["id", "score"], theirs, 5..14), "--pad-to 30");
    }
}

#[test]
fn reports_and_receipts_of_a_mutual_union_say_what_each_side_learns() {
    let folder = small();
    let (receiver, sender) = run(
        &folder,
        "--input ours.csv --key id --output union.csv --both-learn --receipt run.json",
        "--input theirs.csv --key id --output union-too.csv --both-learn",
    );
    for ended in [&receiver, &sender] {
        ended.expect(
            0,
            &[
                "1 key of the partner is new; wrote 2 rows",
                "revealed to the sender: the keys of the receiver that it does not have",
            ],
        );
    }
    assert_eq!(folder.read("union.csv"), "id,name\n1,a\n2,\n");
    assert_eq!(folder.read("union-too.csv"), "id,score\n2,7\n1,\n");
    let receipt = folder.run("receipt run.json");
    receipt.expect(0, &[]);
    for text in
        ["the sender gets\n", "the same of its own table (union)", "the keys of the receiver that it does not have"]
    {
        assert!(receipt.stdout.contains(text), "{text:?} is missing in: {}", receipt.stdout);
    }
}

/// Rows of these keys, which are numbers or texts.
fn rows(keys: impl Iterator<Item = u32>, is_number: bool, text: &str) -> Vec<(String, String)> {
    let key = |key: u32| if is_number { key.to_string() } else { format!("k{key}") };
    keys.map(|number| (key(number), format!("{text}{}", "x".repeat(number as usize % 7)))).collect()
}

#[test]
fn unions_of_files_of_either_kind_are_those_of_plain_tables() {
    let kinds = [["ours.csv", "theirs.csv"], ["ours.csv", "theirs.parquet"], ["ours.parquet", "theirs.csv"]];
    for ([ours, theirs], is_number) in
        kinds.into_iter().chain([["ours.parquet", "theirs.parquet"]]).zip([true, false, true, false])
    {
        for first in [1, 20, 60] {
            let receivers = Table { file: ours, columns: ["id", "name"], is_number, rows: rows(1..60, is_number, "n") };
            // The first key comes twice, the second time with another payload.
            let mut sent = rows(first..first + 40, is_number, "s");
            sent.push((sent[0].0.clone(), "another".into()));
            let senders = Table { file: theirs, columns: ["number", "score"], is_number, rows: sent };
            check(&receivers, &senders, "");
        }
    }
}

/// Text keys where the file has numbers, and the other way round.
#[test]
fn keys_of_another_type_come_in_the_receivers() {
    for (ours, theirs) in [("ours.parquet", "theirs.csv"), ("ours.csv", "theirs.parquet")] {
        let receivers = Table { file: ours, columns: ["id", "name"], is_number: true, rows: rows(1..9, true, "n") };
        let senders = Table { file: theirs, columns: ["id", "score"], is_number: true, rows: rows(5..14, true, "s") };
        check(&receivers, &senders, "--protocol czz24-union");
    }
}

#[test]
fn dummies_are_no_rows() {
    let of = |file, columns, keys| Table { file, columns, is_number: false, rows: rows(keys, false, "t") };
    check(&of("ours.csv", ["id", "name"], 1..9), &of("theirs.csv", ["id", "score"], 5..14), "--pad-to 30");
}

/// A bucket's dummies are no rows either, nor those of `--pad-to`.
#[test]
fn unions_in_buckets_are_those_of_plain_tables() {
    let kinds = [["ours.csv", "theirs.parquet"], ["ours.parquet", "theirs.csv"]];
    for (([ours, theirs], is_number), more) in kinds.into_iter().zip([true, false]).zip(["", "--pad-to 300"]) {
        let receivers = Table { file: ours, columns: ["id", "name"], is_number, rows: rows(1..60, is_number, "n") };
        let mut sent = rows(40..90, is_number, "s");
        sent.push((sent[0].0.clone(), "another".into()));
        let senders = Table { file: theirs, columns: ["number", "score"], is_number, rows: sent };
        check(&receivers, &senders, &format!("--buckets 3 {more}"));
        let senders = Table { rows: rows(40..90, is_number, "s"), ..senders };
        check_both(&receivers, &senders, &format!("--buckets 3 {more}"));
    }
}

/// Own rows stay as they are, rows without a key among them; new keys come as the normaliser has
/// them, and the line ends are those of the file.
#[test]
fn own_rows_are_verbatim_and_new_keys_normalised() {
    let folder = Folder::new();
    folder.write("ours.csv", "email,city\r\nA@x.org,\"Rouen, FR\"\r\n,Nowhere\r\nb@x.org,Bern\r\n");
    folder.write("theirs.csv", "mail,city\na@X.org,Ulm\nC@x.org,Graz\n");
    let (receiver, sender) = run(
        &folder,
        "--input ours.csv --key email --normalise email=email --output union.csv --receipt run.json",
        "--input theirs.csv --key mail --normalise mail=email --payload city",
    );
    receiver.expect(
        0,
        &[
            "1 key of the partner is new; wrote 4 rows to union.csv, 3 own and 1 new",
            "revealed to the receiver: the keys of the sender that it does not have, with the sender's city of these",
        ],
    );
    sender.expect(0, &["revealed to the receiver: how many keys are common"]);
    assert_eq!(
        folder.read("union.csv"),
        "email,city,partner_city\r\nA@x.org,\"Rouen, FR\",\r\n,Nowhere,\r\nb@x.org,Bern,\r\nc@x.org,,Graz\r\n"
    );
    let receipt = folder.run("receipt run.json");
    receipt.expect(0, &[]);
    assert!(receipt.stdout.contains("the keys of the sender that it does not have"), "{}", receipt.stdout);
    assert!(!sender.stderr.contains("new;"), "the sender does not learn how many keys are new: {}", sender.stderr);
}

#[test]
fn keys_of_several_columns_travel_without_a_payload() {
    let folder = Folder::new();
    folder.write("ours.csv", "a,b,c\n1,2,x\n1,3,y\n");
    folder.write("theirs.csv", "p,q,secret\n3,1,s\n2,1,t\n4,1,u\n");
    let (receiver, sender) =
        run(&folder, "--input ours.csv --key b --key a --output union.csv", "--input theirs.csv --key p --key q");
    receiver.expect(0, &["1 key of the partner is new"]);
    sender.expect(0, &[]);
    assert_eq!(folder.read("union.csv"), "a,b,c\n1,2,x\n1,3,y\n1,4,\n");
}

fn small() -> Folder {
    let folder = Folder::new();
    folder.write("ours.csv", "id,name\n1,a\n");
    folder.write("theirs.csv", "id,score\n2,7\n");
    folder.write("words.csv", "id,score\ntwo,7\n");
    folder.write("long.csv", format!("id,score\n2,{}\n", "secret".repeat(60)));
    folder.write("empty.csv", "");
    Table { file: "ours.parquet", columns: ["id", "name"], is_number: true, rows: vec![("1".into(), "a".into())] }
        .write(&folder);
    folder
}

#[test]
fn what_no_union_can_be_made_of_is_refused_on_both_sides() {
    let folder = small();
    let ours = "--input ours.csv --key id --output union.csv";
    let theirs = "--input theirs.csv --key id";
    let wide = "wider than its --max-item-bytes";
    for (receive, send, receivers, senders) in [
        // Records that are wider than one side allows.
        (
            ours.to_owned(),
            "--input long.csv --key id --payload score".to_owned(),
            (9, wide),
            (3, "the longest value has 360 bytes and stands in column `score`"),
        ),
        (
            ours.into(),
            "--input long.csv --key id --payload score --max-item-bytes 1000".into(),
            (11, "more than the 256 of the receiver's --max-item-bytes"),
            (11, "more than the 256 of the receiver's --max-item-bytes"),
        ),
        // Other columns, other types.
        (format!("{ours} --payload points"), format!("{theirs} --payload score"), (7, "--payload"), (7, "--payload")),
        (
            "--input ours.parquet --key id --output union.parquet".into(),
            "--input words.csv --key id".into(),
            (7, "key column 1 is Utf8 on the sender's side and Int64 on the receiver's"),
            (7, "key column 1 is Utf8 on the sender's side and Int64 on the receiver's"),
        ),
        // What the task does not take.
        (ours.into(), format!("{theirs} --both-learn --output x.csv"), (7, "--both-learn"), (7, "--both-learn")),
        (
            "--input ours.parquet --key id --output union.parquet --both-learn".into(),
            "--input words.csv --key id --both-learn --output union-too.csv".into(),
            (7, "key column 1 is Utf8 on the sender's side and Int64 on the receiver's"),
            (7, "key column 1 is Utf8 on the sender's side and Int64 on the receiver's"),
        ),
        (format!("{ours} --join difference"), theirs.into(), (2, "a union writes all rows"), (9, "settings")),
        (format!("{ours} --join left"), theirs.into(), (2, "a union writes all rows"), (9, "settings")),
        (format!("{ours} --max-item-bytes 0"), theirs.into(), (2, "--max-item-bytes"), (9, "settings")),
        // A table without a header, and one of too many rows.
        (ours.into(), "--input empty.csv --key id".into(), (9, "input"), (3, "empty.csv is empty")),
        (
            format!("{ours} --max-peer-items 1 "),
            format!("{theirs} --pad-to 2"),
            (11, "--max-peer-items"),
            (9, "2 keys"),
        ),
    ] {
        let (receiver, sender) = run(&folder, &receive, &send);
        // Where both sides find the fault, one may hear of it from the other before it has looked.
        let both_find_it = receivers == senders;
        for (ended, other, (code, text)) in [(&receiver, &sender, receivers), (&sender, &receiver, senders)] {
            let was_told = both_find_it && ended.code == 9 && other.code == code;
            ended.expect(if was_told { 9 } else { code }, &[text]);
        }
        for ended in [&receiver, &sender] {
            assert!(!ended.stderr.contains("secret"), "a value shows: {}", ended.stderr);
        }
        assert!(folder.files().iter().all(|name| !name.starts_with("union")), "{:?}", folder.files());
    }
}

#[test]
fn flags_of_unions_are_for_unions_and_malicious_ones_are_refused() {
    let folder = small();
    let (receiver, sender) = folder
        .join("--input ours.csv --key id --output union.csv --task union", "--input theirs.csv --key id --task union");
    for ended in [receiver, sender] {
        assert!(ended.code == 11 || ended.code == 9, "{ended:?}");
        assert!(ended.code == 9 || ended.stderr.contains("--security semi-honest"), "{ended:?}");
    }
    let (receiver, _) =
        folder.join("--input ours.csv --key id --output union.csv --max-item-bytes 9", "--input theirs.csv --key id");
    receiver.expect(2, &["--max-item-bytes is for unions"]);
}

#[test]
fn a_plan_knows_the_protocols_of_unions() {
    let folder = Folder::new();
    let plan = "plan --task union --security semi-honest --sender-items 1e5 --receiver-items 1e5 --json";
    let plan: Value = serde_json::from_str(&folder.run(plan).stdout).expect("one JSON object");
    let listed = plan.to_string();
    assert!(["vesica-union", "czz24-union"].iter().all(|id| listed.contains(id)), "{listed}");
}

/// A protocol gives the union to one side or to both: with the flag only the latter serve, and without
/// it never.
#[test]
fn a_plan_takes_protocols_for_both_sides_with_the_flag_and_only_then() {
    let folder = Folder::new();
    let refused = |flag: &str| {
        let plan =
            format!("plan --task union --security semi-honest --sender-items 1e4 --receiver-items 1e4 --json {flag}");
        let plan: Value = serde_json::from_str(&folder.run(&plan).stdout).expect("one JSON object");
        let refused = plan["refused"].as_array().expect("a list").iter();
        let for_others = refused.filter(|one| one["why"].as_str().expect("a reason").contains("gives the union to"));
        for_others.map(|one| one["protocol"].as_str().expect("an id").to_owned()).collect::<Vec<_>>()
    };
    let (one, both) = (refused(""), refused("--both-learn"));
    assert!(one.contains(&"vesica-union-both".to_owned()) && both.contains(&"vesica-union".to_owned()));
    assert!(both.iter().all(|id| !one.contains(id)), "{one:?} and {both:?}");
}
