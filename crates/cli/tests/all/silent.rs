//! Tables that share rows of which none would match: what each side is told, and that the flags
//! which it is told make them match.
//!
//! The texts are those that DuckDB 1.4 (`COPY t TO 'x.csv'`) and pandas 2.3 (`to_csv(index=False)`)
//! write; the Parquet files have the types that the same table has there.

use std::fs::File;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Date32Array, Int64Array, RecordBatch, TimestampMicrosecondArray};
use parquet::arrow::ArrowWriter;
use serde_json::Value;

use crate::harness::{Ended, Folder};

/// Rows of each table.
const ROWS: i64 = 12;

/// 2013-01-01 in days after 1970.
const FIRST_DAY: i64 = 15_706;

fn days() -> impl Iterator<Item = i64> {
    FIRST_DAY..FIRST_DAY + ROWS
}

fn parquet(folder: &Folder, name: &str, columns: Vec<(&str, ArrayRef)>) {
    let batch = RecordBatch::try_from_iter(columns).expect("a batch");
    let mut writer =
        ArrowWriter::try_new(File::create(folder.path(name)).expect("a file"), batch.schema(), None).expect("a writer");
    writer.write(&batch).expect("written");
    writer.close().expect("closed");
}

fn microseconds(hours: i64) -> TimestampMicrosecondArray {
    days().map(|day| (day * 24 + hours) * 3_600_000_000).collect::<Vec<_>>().into()
}

fn csv(head: &str, row: impl Fn(i64) -> String) -> String {
    let rows: Vec<String> = (1..=ROWS).map(row).collect();
    format!("{head}\n{}\n", rows.join("\n"))
}

fn report(ended: &Ended) -> Value {
    ended.expect(0, &[]);
    serde_json::from_str(&ended.stdout).expect("one JSON object")
}

fn run(folder: &Folder, keys: &str, receive: &str, send: &str) -> (Ended, Ended) {
    folder.join(
        &format!("--input ours.csv {keys} --output matches.csv --force --json {receive}"),
        &format!("--input theirs.parquet {keys} --json {send}"),
    )
}

/// Without flags nothing matches and both sides name `named`; with `ours` and `theirs` all rows do.
#[track_caller]
fn meets(folder: &Folder, keys: &str, named: &[&str], ours: &str, theirs: &str) {
    let (receiver, sender) = run(folder, keys, "", "");
    let (received, sent) = (report(&receiver), report(&sender));
    assert_eq!(received["matched_keys"], 0);
    assert_eq!(sent["matched_keys"], Value::Null);
    for ended in [&receiver, &sender] {
        for flag in named {
            assert!(ended.stderr.contains(&format!("--normalise {flag}")), "{flag} is missing in: {}", ended.stderr);
        }
    }
    assert!(receiver.stderr.contains("no key matches") && !sender.stderr.contains("no key matches"));
    let (receiver, sender) = run(folder, keys, ours, theirs);
    assert_eq!(report(&receiver)["matched_keys"], ROWS, "{}", receiver.stderr);
    for report in [report(&receiver), report(&sender)] {
        assert_eq!(report["warnings"].as_array().map(Vec::len), Some(0), "{report}");
    }
}

/// DuckDB writes a timestamp with a space and without a zone, integers, dates and booleans as Parquet
/// columns become keys.
#[test]
fn a_csv_file_of_duckdb_beside_its_parquet_file() {
    let folder = Folder::new();
    let head = "id,at,born,active";
    folder.write("ours.csv", csv(head, |n| format!("{n},2013-01-{n:02} 10:00:00,2013-01-{n:02},{}", n % 2 == 0)));
    let parity: Vec<bool> = (1..=ROWS).map(|n| n % 2 == 0).collect();
    let born: Vec<i32> = days().map(|day| day as i32).collect();
    parquet(
        &folder,
        "theirs.parquet",
        vec![
            ("id", Arc::new(Int64Array::from((1..=ROWS).collect::<Vec<_>>()))),
            ("at", Arc::new(microseconds(10))),
            ("born", Arc::new(Date32Array::from(born))),
            ("active", Arc::new(BooleanArray::from(parity))),
        ],
    );
    let keys = "--key id --key at --key born --key active";
    let flag = "--normalise at=timestamp:utc";
    meets(&folder, keys, &["at=timestamp:utc "], flag, flag);
    // All but the timestamp match as they are.
    let (receiver, sender) = run(&folder, "--key id --key born --key active", "", "");
    assert_eq!(report(&receiver)["matched_keys"], ROWS);
    assert!(report(&sender)["warnings"].as_array().is_some_and(Vec::is_empty), "{}", sender.stderr);
}

/// An integer column with a missing value is one of floats in pandas, and `5` is written `5.0`.
#[test]
fn a_csv_file_of_pandas_whose_integers_have_a_point() {
    let folder = Folder::new();
    folder.write("ours.csv", csv("k,other", |n| format!("{n}.0,x")) + ",missing\n");
    parquet(&folder, "theirs.parquet", vec![("k", Arc::new(Int64Array::from((1..=ROWS).collect::<Vec<_>>())))]);
    meets(&folder, "--key k", &["k=int "], "--normalise k=int", "--normalise k=int");
}

/// `True` and `False` of pandas, beside a boolean column; and a value that is the same kind but for
/// its capitals.
#[test]
fn booleans_of_pandas_beside_those_of_parquet() {
    let folder = Folder::new();
    folder.write("ours.csv", csv("id,k", |n| format!("{n},{}", if n % 2 == 0 { "True" } else { "False" })));
    let parity: Vec<bool> = (1..=ROWS).map(|n| n % 2 == 0).collect();
    let ids = Int64Array::from((1..=ROWS).collect::<Vec<_>>());
    parquet(&folder, "theirs.parquet", vec![("id", Arc::new(ids)), ("k", Arc::new(BooleanArray::from(parity)))]);
    meets(&folder, "--key id --key k", &["k=bool "], "--normalise k=bool", "--normalise k=bool");
}

#[test]
fn timestamps_without_a_zone_beside_those_in_utc() {
    let folder = Folder::new();
    // pandas writes a column of local times so.
    folder.write("ours.csv", csv("k", |n| format!("2013-01-{n:02} 12:00:00")));
    parquet(&folder, "theirs.parquet", vec![("k", Arc::new(microseconds(10).with_timezone("UTC")))]);
    let (receiver, sender) = run(&folder, "--key k", "", "");
    receiver.expect(0, &["It is your column that has none"]);
    sender.expect(0, &["It is your partner's column that has none; you may say utc"]);
    meets(&folder, "--key k", &["k=timestamp:ZONE "], "--normalise k=timestamp:+02:00", "--normalise k=timestamp:utc");
}

#[test]
fn dates_beside_midnights() {
    let folder = Folder::new();
    folder.write("ours.csv", csv("k", |n| format!("2013-01-{n:02}")));
    parquet(&folder, "theirs.parquet", vec![("k", Arc::new(microseconds(0)))]);
    meets(&folder, "--key k", &["k=date "], "--normalise k=date", "--normalise k=date");
    parquet(&folder, "theirs.parquet", vec![("k", Arc::new(microseconds(0).with_timezone("UTC")))]);
    let flag = "--normalise k=timestamp:utc:day";
    meets(&folder, "--key k", &["k=timestamp:ZONE:day "], flag, flag);
}

/// Standard error without what differs from run to run.
fn lasting(ended: &Ended) -> String {
    let lines = ended.stderr.lines().filter(|line| !line.contains(" s, sent ") && !line.starts_with("receipt"));
    lines.map(|line| format!("{line}\n")).collect()
}

/// The sender's text follows from its own table and the agreed kinds: it is the same whether all rows
/// match or none.
#[test]
fn the_sender_reads_the_same_whatever_matched() {
    let folder = Folder::new();
    let table = |who: &str| csv("k", |n| format!("{}{who}{n:02}", if n % 3 == 0 { "X" } else { "x" }));
    folder.write("theirs.csv", table("a"));
    folder.write("same.csv", table("a"));
    folder.write("other.csv", table("b"));
    let run = |input: &str| {
        folder.join(&format!("--input {input} --key k --output matches.csv --force"), "--input theirs.csv --key k")
    };
    let ((many, sender_of_many), (none, sender_of_none)) = (run("same.csv"), run("other.csv"));
    many.expect(0, &["12 keys match", "note: `k`: 4 values have upper-case letters and 8 have not"]);
    assert!(!many.stderr.contains("likely cause"), "{}", many.stderr);
    let flag = "--normalise k=lower (your partner with its own column's name)";
    none.expect(
        0,
        &["0 keys match", "warning: no key matches", "warning: likely cause: `k`: 4 values have upper", flag],
    );
    sender_of_none.expect(0, &["note: `k`: 4 values have upper-case letters", flag]);
    assert_eq!(lasting(&sender_of_many), lasting(&sender_of_none));
    let reports = ["same.csv", "other.csv"].map(|input| {
        let (receiver, sender) = folder.join(
            &format!("--input {input} --key k --output matches.csv --force"),
            "--input theirs.csv --key k --json",
        );
        receiver.expect(0, &[]);
        let mut report = report(&sender);
        // Random numbers travel as JSON, whose length varies.
        for varying in ["session", "seconds", "phases", "bytes_sent", "bytes_received"] {
            report[varying] = Value::Null;
        }
        report
    });
    assert_eq!(reports[0], reports[1]);
    assert_eq!(reports[0]["key_notes"].as_array().map(Vec::len), Some(1));
}

/// Less than one in a hundred keys of the smaller side is suspicious; one in a hundred is not.
#[test]
fn few_matches_are_explained_to_the_receiver_alone() {
    let folder = Folder::new();
    let table = |common: i64, who: &str| {
        let rows = (1..=200).map(|n| if n <= common { format!("both{n}") } else { format!("{who}{n}") });
        format!("k\n{}\n", rows.collect::<Vec<_>>().join("\n"))
    };
    for (common, is_suspicious) in [(1, true), (2, false)] {
        folder.write("ours.csv", table(common, "a"));
        folder.write("theirs.csv", table(common, "b"));
        for task in ["", "--task cardinality --security semi-honest", "--task union --security semi-honest"] {
            let (receiver, sender) = folder.join(
                &format!("--input ours.csv --key k --output matches.csv --force {task}"),
                &format!("--input theirs.csv --key k {task}"),
            );
            receiver.expect(0, &[]);
            sender.expect(0, &[]);
            let told = receiver.stderr.contains("only 1 key matches, of 200 own ones and 200 of the partner");
            let why = receiver.stderr.contains("likely cause: `k`: the partner's text may have capitals");
            assert_eq!((told, why), (is_suspicious, is_suspicious), "{task}: {}", receiver.stderr);
            assert!(!sender.stderr.contains("cause") && !sender.stderr.contains("only 1"), "{}", sender.stderr);
        }
    }
}

/// What a normaliser refuses is named by its count, and no value of either side is printed.
#[test]
fn refused_values_are_a_likely_cause_and_are_never_printed() {
    let folder = Folder::new();
    folder.write("ours.csv", csv("k", |n| if n > 10 { format!("{n}") } else { format!("s3cr3t{n}") }));
    folder.write("theirs.csv", csv("k", |n| format!("9{n}")));
    let (receiver, sender) = folder.join(
        "--input ours.csv --key k --normalise k=int --output matches.csv",
        "--input theirs.csv --key k --normalise k=int",
    );
    receiver.expect(0, &["no key matches"]);
    for ended in [&receiver, &sender] {
        assert!(!ended.stderr.contains("s3cr3t"), "{}", ended.stderr);
    }
    folder.write("ours.csv", csv("k", |n| format!("{n}")) + "s3cr3t\ns3cr3t2\ns3cr3t3\n");
    let (receiver, _) = folder.join(
        "--input ours.csv --key k --normalise k=int --output matches.csv --force",
        "--input theirs.csv --key k --normalise k=int",
    );
    receiver.expect(0, &["likely cause: `k`: the normalisers refuse 3 of 15 values"]);
    assert!(!receiver.stderr.contains("s3cr3t"), "{}", receiver.stderr);
}
