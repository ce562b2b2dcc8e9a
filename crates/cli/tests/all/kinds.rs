//! Tables that share rows but write a key column in different kinds: nothing matches, both sides
//! say why, and the flag that they name mends it.

use std::fs::File;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, Date32Array, Int64Array, RecordBatch, TimestampMicrosecondArray, TimestampMillisecondArray,
    TimestampNanosecondArray,
};
use parquet::arrow::ArrowWriter;
use serde_json::Value;

use crate::harness::{Ended, Folder};

fn parquet(folder: &Folder, name: &str, keys: ArrayRef) {
    let batch = RecordBatch::try_from_iter([("k", keys)]).expect("a batch");
    let mut writer =
        ArrowWriter::try_new(File::create(folder.path(name)).expect("a file"), batch.schema(), None).expect("a writer");
    writer.write(&batch).expect("written");
    writer.close().expect("closed");
}

fn report(ended: &Ended) -> Value {
    ended.expect(0, &[]);
    serde_json::from_str(&ended.stdout).expect("one JSON object")
}

fn warnings(report: &Value) -> Vec<&str> {
    report["warnings"].as_array().expect("a list").iter().map(|warning| warning.as_str().expect("text")).collect()
}

/// A CSV table and a Parquet table of three keys each, all common: first as they are, then with the
/// normalisers that the warning names.
#[track_caller]
fn meets(csv: &str, keys: ArrayRef, named: &str, ours: &str, theirs: &str) {
    let folder = Folder::new();
    folder.write("ours.csv", format!("k\n{csv}\n"));
    parquet(&folder, "theirs.parquet", keys);
    let run = |ours: &str, theirs: &str| {
        folder.join(
            &format!("--input ours.csv --key k --output matches.csv --force --json {ours}"),
            &format!("--input theirs.parquet --key k --json {theirs}"),
        )
    };
    let (receiver, sender) = run("", "");
    let (received, sent) = (report(&receiver), report(&sender));
    assert_eq!(received["matched_keys"], 0);
    for (ended, report) in [(&receiver, &received), (&sender, &sent)] {
        let kinds = warnings(report)[0];
        assert!(
            kinds.starts_with("key column 1 (`k`) holds ") && kinds.contains(&format!("--normalise k={named} (")),
            "{kinds}"
        );
        for warning in warnings(report) {
            assert_eq!(ended.stderr.matches(&format!("warning: {warning}")).count(), 1, "each once: {}", ended.stderr);
        }
    }
    assert_eq!(received["peer_key_kinds"][0], sent["input"]["columns"][0]["written"]);
    assert_eq!(warnings(&received).len(), 2, "the receiver knows that nothing matched: {:?}", warnings(&received));
    assert!(warnings(&received)[1].starts_with("no key matches"), "{:?}", warnings(&received));
    assert_eq!(warnings(&sent).len(), 1, "the sender does not: {:?}", warnings(&sent));

    let (receiver, sender) = run(&format!("--normalise k={ours}"), &format!("--normalise k={theirs}"));
    let (received, sent) = (report(&receiver), report(&sender));
    assert_eq!(received["matched_keys"], 3);
    assert!(warnings(&received).is_empty() && warnings(&sent).is_empty(), "{received} {sent}");
}

/// 2013-01-01 and the two days after it, in seconds.
const DAYS: [i64; 3] = [1_356_998_400, 1_357_084_800, 1_357_171_200];

#[test]
fn timestamps_of_csv_and_of_parquet() {
    let keys = TimestampMicrosecondArray::from(DAYS.map(|day| (day + 3_600) * 1_000_000).to_vec());
    let csv = "2013-01-01 01:00:00\n2013-01-02 01:00:00\n2013-01-03 01:00:00";
    meets(csv, Arc::new(keys), "timestamp:utc", "timestamp:utc", "timestamp:utc");
    let keys = TimestampNanosecondArray::from(DAYS.map(|day| day * 1_000_000_000).to_vec());
    let csv = "2013-01-01 00:00:00\n2013-01-02 00:00:00\n2013-01-03 00:00:00";
    meets(csv, Arc::new(keys), "timestamp:utc", "timestamp:utc", "timestamp:utc");
}

#[test]
fn timestamps_with_and_without_a_zone() {
    let keys = TimestampMillisecondArray::from(DAYS.map(|day| (day + 3_600) * 1_000).to_vec()).with_timezone("+00:00");
    let csv = "2013-01-01T02:00:00\n2013-01-02T02:00:00\n2013-01-03T02:00:00";
    meets(csv, Arc::new(keys), "timestamp:ZONE", "timestamp:+01:00", "timestamp:utc");
}

#[test]
fn dates_and_midnights() {
    let keys = Date32Array::from(DAYS.map(|day| (day / 86_400) as i32).to_vec());
    let csv = "2013-01-01 00:00:00\n2013-01-02 00:00:00\n2013-01-03 00:00:00";
    meets(csv, Arc::new(keys), "date", "date", "date");
    let keys = TimestampMillisecondArray::from(DAYS.map(|day| day * 1_000).to_vec()).with_timezone("+00:00");
    meets(
        "2013-01-01\n2013-01-02\n2013-01-03",
        Arc::new(keys),
        "timestamp:ZONE:day",
        "timestamp:utc:day",
        "timestamp:utc:day",
    );
}

#[test]
fn whole_numbers_with_a_point_and_integers() {
    meets("5.0\n6.0\n7.0", Arc::new(Int64Array::from(vec![5, 6, 7])), "int", "int", "int");
}

/// Kinds that meet are not warned of, whatever matches: a sender that is warned learns nothing from
/// it.
#[test]
fn equal_kinds_are_silent_and_only_the_receiver_hears_that_nothing_matched() {
    let folder = Folder::new();
    folder.write("ours.csv", "k\n1\n2\n");
    parquet(&folder, "theirs.parquet", Arc::new(Int64Array::from(vec![3, 4])));
    let (receiver, sender) =
        folder.join("--input ours.csv --key k --output matches.csv --json", "--input theirs.parquet --key k --json");
    let (received, sent) = (report(&receiver), report(&sender));
    assert_eq!(received["matched_keys"], 0);
    assert!(warnings(&sent).is_empty() && !sender.stderr.contains("warning"), "{}", sender.stderr);
    assert_eq!(warnings(&received).len(), 1);
    assert!(warnings(&received)[0].starts_with("no key matches"), "{received}");
}

#[test]
fn telephone_numbers_that_could_be_read_in_two_ways_are_said_once() {
    let folder = Folder::new();
    folder.write("ours.csv", "k\n49301234567\n030 7654321\n");
    folder.write("theirs.csv", "k\n+49 30 1234567\n");
    let (receiver, sender) = folder.join(
        "--input ours.csv --key k --output matches.csv --normalise k=e164:DE",
        "--input theirs.csv --key k --normalise k=e164:FR",
    );
    receiver.expect(
        0,
        &[
            "1 key matches",
            "1 telephone numbers have no + and begin with 49",
            "1 as international ones",
            ":bare=national",
        ],
    );
    assert_eq!(receiver.stderr.matches("telephone numbers have no +").count(), 1, "{}", receiver.stderr);
    sender.expect(0, &[]);
    assert!(!sender.stderr.contains("telephone"), "{}", sender.stderr);
}
