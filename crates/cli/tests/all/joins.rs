//! Joins that succeed, checked against plain ones.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::Write;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;

use crate::harness::{Folder, RECEIVER, SENDER};

const OURS: &str = "id,email\n1,a@x.org\n2,b@x.org\n3,\n4,a@x.org\n5,c@x.org\n";
const THEIRS: &str = "mail,score\nc@x.org,7\na@x.org,9\nz@x.org,1\n,5\n";

fn tables() -> Folder {
    let folder = Folder::new();
    folder.write("ours.csv", OURS);
    folder.write("theirs.csv", THEIRS);
    folder
}

#[test]
fn two_csv_tables_join() {
    let folder = tables();
    let (receiver, sender) =
        folder.join("--input ours.csv --key email --output matches.csv", "--input theirs.csv --key mail");
    receiver.expect(0, &["2 keys match; wrote 3 rows", "(malicious)"]);
    sender.expect(0, &["(malicious)"]);
    assert_eq!(folder.read("matches.csv"), "id,email\n1,a@x.org\n4,a@x.org\n5,c@x.org\n");
}

#[test]
fn the_semi_honest_mode_runs_where_both_ask_for_it() {
    let folder = tables();
    let (receiver, sender) = folder.join(
        "--input ours.csv --key email --output matches.csv --security semi-honest",
        "--input theirs.csv --key mail --security semi-honest",
    );
    receiver.expect(0, &["ecdh-hfh99 (semi-honest)"]);
    sender.expect(0, &[]);
    assert_eq!(folder.read("matches.csv").lines().count(), 4);
}

#[test]
fn who_listens_is_independent_of_who_learns() {
    let folder = tables();
    let sender =
        folder.start("send --input theirs.csv --key mail --listen 127.0.0.1:0 --identity them.key --peer us.pub");
    let address = sender.address();
    let receiver = folder.run(&format!(
        "receive --input ours.csv --key email --join difference --output rest.csv --connect {address} --identity \
         us.key --peer them.pub"
    ));
    receiver.expect(0, &[]);
    sender.end().expect(0, &[]);
    assert_eq!(folder.read("rest.csv"), "id,email\n2,b@x.org\n3,\n");
}

/// By flags, in buckets, where both learn, and by a job file: every own row once, beside the partner's columns.
#[test]
fn a_left_join_keeps_all_own_rows() {
    let folder = tables();
    let expected = "id,email,score\n1,a@x.org,9\n2,b@x.org,\n3,,\n4,a@x.org,9\n5,c@x.org,7\n";
    let left = "--input ours.csv --key email --join left --output left.csv --force";
    let sender = "--input theirs.csv --key mail --payload score";
    for (more, senders) in [("", ""), ("--buckets 2", ""), ("--both-learn", "--output theirs-too.csv --force")] {
        let (receiver, sender) = folder.join(&format!("{left} {more}"), &format!("{sender} {more} {senders}"));
        receiver.expect(0, &["2 keys match; wrote 5 rows"]);
        sender.expect(0, &[]);
        assert_eq!(folder.read("left.csv"), expected, "{more}");
    }
    let job = "task = \"intersect\"\n[receiver]\ninput = \"ours.csv\"\nkey = \"email\"\njoin = \"left\"\noutput = \"left.jsonl\"\n\
               [sender]\ninput = \"theirs.csv\"\nkey = \"mail\"\npayload = \"score\"\n";
    folder.write("job.toml", job);
    let receiver = folder.start(&format!("run job.toml --role receiver {RECEIVER}"));
    let address = receiver.address();
    folder.run(&format!("run job.toml --role sender {SENDER} --connect {address}")).expect(0, &[]);
    receiver.end().expect(0, &[]);
    let lines = folder.read("left.jsonl");
    assert_eq!(lines.lines().nth(1), Some("{\"id\":\"2\",\"email\":\"b@x.org\",\"score\":null}"), "{lines}");
}

/// Without a column of the partner's, a left join would be a copy of the own table.
#[test]
fn a_left_join_without_columns_of_the_partner_is_refused() {
    let folder = tables();
    let receive = "--input ours.csv --key email --join left --output left.csv";
    let send = "--input theirs.csv --key mail";
    let nothing = "this side gets no columns";
    for (receive, send, receivers, senders) in [
        (receive.to_owned(), send.to_owned(), (7, "any columns, for --join left"), (7, "any columns")),
        (format!("{receive} --dry-run"), format!("{send} --dry-run"), (7, "any columns"), (7, "any columns")),
        (format!("{receive} --or-key id"), format!("{send} --or-key score"), (2, nothing), (9, "settings")),
        (
            "--input ours.csv --key email --output inner.csv --both-learn".into(),
            format!("{send} --both-learn --join left --output theirs-too.csv"),
            (9, "settings"),
            (2, nothing),
        ),
    ] {
        let (receiver, sender) = folder.join(&receive, &send);
        receiver.expect(receivers.0, &[receivers.1]);
        sender.expect(senders.0, &[senders.1]);
    }
    assert!(!folder.files().iter().any(|name| name.ends_with("left.csv") || name.ends_with("inner.csv")));
}

#[test]
fn plaintext_joins_when_it_is_typed_out() {
    let folder = tables();
    let receiver = folder
        .start("receive --input ours.csv --key email --output matches.csv --listen 127.0.0.1:0 --insecure-plaintext");
    let address = receiver.address();
    let sender = folder.run(&format!("send --input theirs.csv --key mail --connect {address} --insecure-plaintext"));
    sender.expect(0, &["not encrypted"]);
    receiver.end().expect(0, &["not encrypted"]);
    assert_eq!(folder.read("matches.csv").lines().count(), 4);
}

#[test]
fn padding_hides_the_number_of_keys_and_changes_no_result() {
    let folder = tables();
    let (receiver, sender) = folder.join(
        "--input ours.csv --key email --output matches.csv --pad-to 50 --json",
        "--input theirs.csv --key mail --pad-to 1e2 --json",
    );
    let report = |ended: &crate::harness::Ended| {
        serde_json::from_str::<serde_json::Value>(&ended.stdout).expect("one JSON object")
    };
    let (received, sent) = (report(&receiver), report(&sender));
    assert_eq!((&received["own_items"], &received["peer_items"]), (&50.into(), &100.into()));
    assert_eq!((&sent["own_items"], &sent["peer_items"]), (&100.into(), &50.into()));
    assert_eq!((&received["matched_keys"], &received["output"]["rows"]), (&2.into(), &3.into()));
    assert!(sent["matched_keys"].is_null(), "the sender does not learn the size of the result");
    assert_eq!(received["session"], sent["session"]);
    // Frames without a message, such as signs of life, may still be on their way when a side counts.
    let (there, here) =
        (received["bytes_sent"].as_u64().expect("a count"), sent["bytes_received"].as_u64().expect("a count"));
    assert!(there.abs_diff(here) < 200, "{there} sent, {here} received");
}

#[test]
fn the_default_identity_is_made_on_first_use() {
    let folder = tables();
    let shown = folder.run("identity show");
    shown.expect(0, &["made your default identity"]);
    folder.write("default.pub", shown.stdout.lines().next().unwrap_or_default());
    let receiver =
        folder.start("receive --input ours.csv --key email --output matches.csv --listen 127.0.0.1:0 --peer them.pub");
    let address = receiver.address();
    let sender = folder
        .run(&format!("send --input theirs.csv --key mail --connect {address} --identity them.key --peer default.pub"));
    sender.expect(0, &[]);
    receiver.end().expect(0, &[]);
}

#[test]
fn both_learn_gives_the_sender_its_rows() {
    let folder = tables();
    let (receiver, sender) = folder.join(
        "--input ours.csv --key email --output matches.csv --both-learn",
        "--input theirs.csv --key mail --output theirs-too.csv --both-learn",
    );
    receiver.expect(0, &[]);
    sender.expect(0, &["2 keys match"]);
    assert_eq!(folder.read("theirs-too.csv"), "mail,score\nc@x.org,7\na@x.org,9\n");
}

#[test]
fn packed_csv_goes_in_and_out() {
    let folder = tables();
    fs::write(folder.path("ours.csv.zst"), zstd::encode_all(OURS.as_bytes(), 1).expect("packed")).expect("written");
    let mut packer = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    packer.write_all(THEIRS.as_bytes()).expect("packed");
    fs::write(folder.path("theirs.csv.bz2"), packer.finish().expect("packed")).expect("written");
    let (receiver, sender) =
        folder.join("--input ours.csv.zst --key email --output m.csv.zst", "--input theirs.csv.bz2 --key mail");
    receiver.expect(0, &["wrote 3 rows"]);
    sender.expect(0, &[]);
    let packed = fs::read(folder.path("m.csv.zst")).expect("a result");
    let text = zstd::decode_all(&packed[..]).expect("zstd");
    assert_eq!(text, b"id,email\n1,a@x.org\n4,a@x.org\n5,c@x.org\n");
}

#[test]
fn json_lines_go_in_and_out() {
    let folder = tables();
    folder
        .write("ours.jsonl", "{\"id\":1.50,\"email\":\"a@x.org\"}\n{\"email\":\"b@x.org\"}\n{\"email\":\"c@x.org\"}\n");
    folder.write("theirs.ndjson", "{\"mail\":\"a@x.org\",\"score\":9}\n{\"mail\":\"z@x.org\",\"score\":4}\n");
    let ours = "--input ours.jsonl --key email";
    let theirs = "--input theirs.ndjson --key mail";
    let (receiver, sender) = folder.join(&format!("{ours} --output m.jsonl"), &format!("{theirs} --payload score"));
    receiver.expect(0, &["wrote 1 row"]);
    sender.expect(0, &[]);
    assert_eq!(folder.read("m.jsonl"), "{\"id\":1.50,\"email\":\"a@x.org\",\"score\":\"9\"}\n");

    let union = "--task union --security semi-honest";
    let (receiver, _) = folder.join(&format!("{ours} --output u.jsonl {union}"), &format!("{theirs} {union}"));
    receiver.expect(0, &[]);
    let rows = folder.read("u.jsonl");
    assert!(rows.starts_with(&folder.read("ours.jsonl")), "{rows}");
    assert!(rows.ends_with("\n{\"id\":null,\"email\":\"z@x.org\"}\n"), "{rows}");

    let sum = "--task sum --security semi-honest";
    let (receiver, _) =
        folder.join(&format!("{ours} --output s.jsonl {sum}"), &format!("{theirs} --payload score {sum}"));
    receiver.expect(0, &[]);
    let numbers: serde_json::Value = serde_json::from_str(folder.read("s.jsonl").trim_end()).expect("one line");
    assert!(numbers.as_object().is_some_and(|object| object.values().any(|value| *value == 9)), "{numbers}");

    folder.write("bad.jsonl", "{\"email\":\"a@x.org\"}\n{\"email\":{\"s3cr3t\":1}}\n");
    let (receiver, sender) =
        folder.join("--input bad.jsonl --key email --output n.jsonl", "--input theirs.csv --key mail");
    receiver.expect(3, &["line 2 of bad.jsonl has an object or array in column `email`"]);
    assert!(!receiver.stderr.contains("s3cr3t"));
    sender.expect(9, &["its input table cannot be used"]);
}

#[test]
fn a_folder_and_a_pattern_are_one_table() {
    let folder = tables();
    fs::create_dir(folder.path("ours")).expect("made");
    for (name, text) in [
        ("ours/part-2.csv", "id,email\n5,c@x.org\n"),
        ("ours/part-1.csv", "id,email\n1,a@x.org\n2,b@x.org\n"),
        ("ours/_SUCCESS", ""),
        ("theirs-1.csv", "mail,score\nc@x.org,7\n"),
        ("theirs-2.csv", "mail,score\na@x.org,9\n"),
        ("other-1.csv", "mail,score\na@x.org,9\n"),
        ("other-2.csv", "mail,points\na@x.org,9\n"),
    ] {
        folder.write(name, text);
    }
    let (receiver, sender) =
        folder.join("--input ours/ --key email --output m.csv", "--input theirs-?.csv --key mail --payload score");
    receiver.expect(0, &["wrote 2 rows"]);
    sender.expect(0, &[]);
    assert_eq!(folder.read("m.csv"), "id,email,score\n1,a@x.org,9\n5,c@x.org,7\n");

    let (receiver, sender) = folder.join("--input ours --key email --output m2.csv", "--input other-*.csv --key mail");
    sender.expect(3, &["other-1.csv and other-2.csv", "only the first has a column `score`"]);
    receiver.expect(9, &["its input table cannot be used"]);
    let part = "ours/part-1.csv";
    let (receiver, _) =
        folder.join(&format!("--input ours --key email --output {part} --force"), "--input theirs.csv --key mail");
    receiver.expect(2, &["--input and --output", "name the same file"]);
}

const ROWS: usize = 100_000;

/// A CSV table with duplicates, empty keys and numbers that the Parquet table holds as INT64.
fn large_csv() -> (String, Vec<Option<i64>>) {
    let keys: Vec<Option<i64>> = (0..ROWS as i64).map(|i| (i % 97 != 0).then_some((i * 7919) % 60_000)).collect();
    let mut text = String::from("row,customer,note\n");
    for (row, key) in keys.iter().enumerate() {
        let key = key.map(|key| key.to_string()).unwrap_or_default();
        text.push_str(&format!("{row},{key},\"a, \"\"quoted\"\" note\"\n"));
    }
    (text, keys)
}

fn large_parquet(folder: &Folder, name: &str) -> HashMap<i64, String> {
    let keys: Vec<Option<i64>> =
        (0..ROWS as i64).map(|i| (i % 89 != 0).then_some((i * 6007) % 90_000 + 20_000)).collect();
    let segments: Vec<String> = keys.iter().map(|key| format!("segment {}", key.unwrap_or(0) % 13)).collect();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("client", Arc::new(Int64Array::from(keys.clone()))),
        ("segment", Arc::new(StringArray::from(segments.clone()))),
    ];
    let batch = RecordBatch::try_from_iter(columns).expect("a batch");
    let mut writer =
        ArrowWriter::try_new(File::create(folder.path(name)).expect("a file"), batch.schema(), None).expect("a writer");
    writer.write(&batch).expect("written");
    writer.close().expect("closed");
    keys.into_iter().zip(segments).filter_map(|(key, segment)| Some((key?, segment))).collect()
}

#[test]
fn a_csv_table_joins_a_parquet_table_with_payload_row_by_row() {
    let folder = Folder::new();
    let (csv, keys) = large_csv();
    folder.write("ours.csv", &csv);
    let segment_of = large_parquet(&folder, "theirs.parquet");
    let (receiver, sender) = folder.join(
        "--input ours.csv --key customer --output matches.csv",
        "--input theirs.parquet --key client --payload segment --payload-duplicates first",
    );
    receiver.expect(0, &["100000 rows"]);
    sender.expect(0, &["100000 rows"]);

    let mut expected = String::from("row,customer,note,segment\n");
    for (key, line) in keys.iter().zip(csv.lines().skip(1)) {
        if let Some(segment) = key.and_then(|key| segment_of.get(&key)) {
            expected.push_str(&format!("{line},{segment}\n"));
        }
    }
    let matched: HashSet<i64> = keys.iter().flatten().copied().filter(|key| segment_of.contains_key(key)).collect();
    assert!(matched.len() > 10_000, "the test joins something");
    assert!(receiver.stderr.contains(&format!("{} keys match", matched.len())), "{}", receiver.stderr);
    let result = folder.read("matches.csv");
    for (number, (line, expected)) in result.lines().zip(expected.lines()).enumerate() {
        assert_eq!(line, expected, "line {number}");
    }
    assert_eq!(result.lines().count(), expected.lines().count());
}

/// Reading, the protocol and writing on one thread and on three, against each other and against the
/// default.
#[test]
fn the_number_of_threads_changes_no_result() {
    let folder = Folder::new();
    folder.write("ours.csv", large_csv().0);
    large_parquet(&folder, "theirs.parquet");
    let mut results = Vec::new();
    for (ours, theirs) in
        [("--threads 1", "--threads 1"), ("--threads 3", "--threads 1"), ("--threads 1", "--threads 3"), ("", "")]
    {
        let (receiver, sender) = folder.join(
            &format!("--input ours.csv --key customer --output matches.csv --force --json {ours}"),
            &format!(
                "--input theirs.parquet --key client --payload segment --payload-duplicates first --json {theirs}"
            ),
        );
        for (ended, flag) in [(receiver, ours), (sender, theirs)] {
            ended.expect(0, &[]);
            let report: serde_json::Value = serde_json::from_str(&ended.stdout).expect("one JSON object");
            let cores = std::thread::available_parallelism().expect("a number of cores").to_string();
            assert_eq!(report["threads"].to_string(), flag.strip_prefix("--threads ").unwrap_or(&cores));
        }
        results.push(folder.read("matches.csv"));
    }
    assert!(results.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn a_parquet_table_receives_as_well() {
    let folder = Folder::new();
    let segment_of = large_parquet(&folder, "ours.parquet");
    folder.write("theirs.csv", "client\n20000\n21001\n5\n");
    let (receiver, sender) =
        folder.join("--input ours.parquet --key client --output matches.csv", "--input theirs.csv --key client");
    receiver.expect(0, &[]);
    sender.expect(0, &[]);
    let result = folder.read("matches.csv");
    let found: HashSet<i64> = result.lines().skip(1).filter_map(|line| line.split(',').next()?.parse().ok()).collect();
    let expected: HashSet<i64> = [20_000, 21_001, 5].into_iter().filter(|key| segment_of.contains_key(key)).collect();
    assert_eq!(found, expected);
}
