//! Bad input: each is a message with fault and mend on both sides, the exit code of the design, and
//! no file under the final name.

use std::fs::{self, File};
use std::process::Command;
use std::sync::Arc;

use arrow_array::{ArrayRef, Date32Array, Float64Array, Int64Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;

use crate::harness::{Ended, Folder, RECEIVER, SENDER};

fn tables() -> Folder {
    let folder = Folder::new();
    folder.write("ours.csv", "id,email\n1,a@x.org\n2,b@x.org\n");
    folder.write("theirs.csv", "mail\na@x.org\nc@x.org\n");
    folder
}

fn parquet(folder: &Folder, name: &str, column: ArrayRef) {
    write_parquet(folder, name, RecordBatch::try_from_iter([("mail", column)]).expect("a batch"));
}

fn write_parquet(folder: &Folder, name: &str, batch: RecordBatch) {
    let mut writer =
        ArrowWriter::try_new(File::create(folder.path(name)).expect("a file"), batch.schema(), None).expect("a writer");
    writer.write(&batch).expect("written");
    writer.close().expect("closed");
}

/// The sender's input is bad: it says why with `texts`, and the receiver learns that the partner's
/// input cannot be used.
#[track_caller]
fn bad_for_the_sender(folder: &Folder, send: &str, texts: &[&str]) {
    let (receiver, sender) = folder.join("--input ours.csv --key email --output matches.csv", send);
    sender.expect(3, texts);
    receiver.expect(9, &["its input table cannot be used"]);
    for text in texts.iter().filter(|text| text.contains("line") || text.contains("mail")) {
        assert!(!receiver.stderr.contains(text), "the peer learns no detail");
    }
    no_output(folder);
}

#[track_caller]
fn no_output(folder: &Folder) {
    let left: Vec<String> =
        folder.files().into_iter().filter(|name| name.contains("matches") || name.contains("partial")).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_missing_column_names_the_others() {
    bad_for_the_sender(&tables(), "--input theirs.csv --key email", &["no column `email`", "`mail`"]);
}

#[test]
fn a_missing_column_of_the_receiver_reaches_the_sender() {
    let folder = tables();
    let (receiver, sender) =
        folder.join("--input ours.csv --key mail --output matches.csv", "--input theirs.csv --key mail");
    receiver.expect(3, &["no column `mail`", "did you mean `email`"]);
    sender.expect(9, &["its input table cannot be used"]);
    no_output(&folder);
}

#[test]
fn a_missing_file() {
    bad_for_the_sender(&tables(), "--input nothing.csv --key mail", &["cannot open nothing.csv"]);
}

#[test]
fn a_truncated_parquet_file() {
    let folder = tables();
    parquet(&folder, "theirs.parquet", Arc::new(Int64Array::from_iter_values(0..10_000)));
    let bytes = fs::read(folder.path("theirs.parquet")).expect("read");
    folder.write("theirs.parquet", &bytes[..bytes.len() / 2]);
    bad_for_the_sender(&folder, "--input theirs.parquet --key mail", &["not a readable Parquet file"]);
}

#[test]
fn a_ragged_row_is_named_by_line_and_not_by_content() {
    let folder = tables();
    folder.write("theirs.csv", "mail\na@x.org\nsecret@x.org,private\n");
    bad_for_the_sender(&folder, "--input theirs.csv --key mail", &["line 3 of theirs.csv"]);
    let (receiver, sender) =
        folder.join("--input ours.csv --key email --output matches.csv", "--input theirs.csv --key mail");
    for ended in [receiver, sender] {
        assert!(!ended.stderr.contains("secret") && !ended.stderr.contains("private"), "{}", ended.stderr);
    }
}

#[test]
fn a_row_that_is_not_utf_8() {
    let folder = tables();
    folder.write("theirs.csv", b"mail\na@x.org\nm\xfcller@x.org\n");
    bad_for_the_sender(&folder, "--input theirs.csv --key mail", &["line 3 of theirs.csv is not UTF-8", "iconv"]);
}

#[test]
fn a_file_without_a_header_and_a_table_without_keys() {
    let folder = tables();
    folder.write("theirs.csv", "");
    bad_for_the_sender(&folder, "--input theirs.csv --key mail", &["theirs.csv is empty", "the line of its header"]);
    folder.write("theirs.csv", "mail,x\n,1\n,2\n");
    bad_for_the_sender(&folder, "--input theirs.csv --key mail", &["no row of theirs.csv has a usable key"]);
}

#[test]
fn a_float_key() {
    let folder = tables();
    parquet(&folder, "theirs.parquet", Arc::new(Float64Array::from(vec![0.5, 1.0])));
    bad_for_the_sender(&folder, "--input theirs.parquet --key mail", &["Float64", "floats have no reliable equality"]);
}

/// A name that nobody knows may be known when the partner's machine has started: it is waited for, and a scheduler may
/// try again.
#[test]
fn a_name_without_an_address_is_an_absent_partner() {
    let folder = tables();
    let shared = "--input theirs.csv --key mail --identity them.key --peer us.pub --wait 0.3";
    folder
        .run(&format!("send {shared} --connect no-such-host.invalid:7400"))
        .expect(5, &["no-such-host.invalid:7400 has no address within 0.3 s", "asking again", "DNS", "--wait"]);
    folder.run(&format!("send {shared} --connect no-such-host.invalid")).expect(2, &["host:port"]);
    folder
        .run(&format!("send {shared} --listen no-such-host.invalid:7400"))
        .expect(10, &["cannot listen on no-such-host.invalid:7400", "an address of this machine"]);
}

#[test]
fn standard_input_needs_a_temporary_folder() {
    let folder = tables();
    let mut command = Command::new(crate::PROGRAM);
    command.env("TMPDIR", folder.path("nowhere"));
    let mut check = folder.start_under(command, "check - --key id");
    check.stdin = None;
    check.end().expect(3, &["standard input is read twice", "the temporary folder", "nowhere", "set TMPDIR"]);
}

/// A name can neither steer the terminal nor begin a line that looks like one of ours.
#[test]
fn control_characters_of_names_are_shown_escaped() {
    let folder = tables();
    folder.write("bad\u{1b}[31m\u{7}.csv", "i\u{1b}[2Jd\u{85},v\n1,2\n");
    let shown = [r"bad\u{1b}[31m\u{7}.csv", r"`i\u{1b}[2Jd\u{85}`"];
    let ended = folder.run("check bad\u{1b}[31m\u{7}.csv --key nothing");
    ended.expect(3, &shown);
    assert!(!ended.stderr.contains(['\u{1b}', '\u{7}', '\u{85}']), "{:?}", ended.stderr);
}

/// An empty export is no reason for a nightly job to fail, in whatever format it comes.
#[test]
fn an_empty_table_of_any_format_gives_an_empty_result_and_a_warning() {
    let folder = tables();
    folder.write("none.csv", "id,email\n");
    folder.write("none.jsonl", "");
    let none: [(&str, ArrayRef); 2] =
        ["id", "email"].map(|name| (name, Arc::new(StringArray::from(Vec::<&str>::new())) as ArrayRef));
    write_parquet(&folder, "none.parquet", RecordBatch::try_from_iter(none).expect("a batch"));
    for (input, output, result) in [
        ("none.csv", "matches.csv", Some("id,email\n")),
        ("none.jsonl", "matches.jsonl", Some("")),
        ("none.jsonl", "matches.csv", None),
        ("none.parquet", "matches.parquet", None),
    ] {
        let (receiver, sender) = folder
            .join(&format!("--input {input} --key email --output {output} --force"), "--input theirs.csv --key mail");
        receiver.expect(0, &["the table has no rows"]);
        sender.expect(0, &[]);
        assert!(!sender.stderr.contains("no rows"), "{}", sender.stderr);
        assert!(result.is_none_or(|result| folder.read(output) == result), "{input} into {output}");
    }
    folder.write("nothing.csv", "mail\n");
    let (receiver, sender) =
        folder.join("--input ours.csv --key email --output matches.csv --force", "--input nothing.csv --key mail");
    receiver.expect(0, &["no key matches"]);
    sender.expect(0, &["the table has no rows"]);
    folder.run("check none.csv --key email").expect(0, &[]);
}

/// Room for the largest result is taken before the protocol, so that both sides hear of a disk that
/// is too full.
#[test]
fn a_disk_without_room_for_the_result() {
    let folder = tables();
    folder.write("long.csv", format!("id,email\n{}", "1,a@x.org\n".repeat(20_000)));
    let Some(mut receiver) =
        folder.start_with_tiny(&format!("receive {RECEIVER} --input long.csv --key email --output tiny/matches.csv"))
    else {
        eprintln!("skipped: this system does not let a user mount a small file system");
        return;
    };
    receiver.stdin = None;
    let address = receiver.address();
    let sender = folder.run(&format!("send {SENDER} --connect {address} --input theirs.csv --key mail"));
    receiver.end().expect(4, &["cannot write tiny/matches.csv", "the disk is full"]);
    sender.expect(9, &["it cannot write its output"]);
}

/// What fails once the protocol is over depends on what matched, and stays local: here on a device,
/// on which nothing can be reserved.
#[test]
fn a_disk_that_fills_up_while_writing() {
    let folder = tables();
    let (receiver, sender) =
        folder.join("--input ours.csv --key email --output /dev/full", "--input theirs.csv --key mail");
    receiver.expect(4, &["cannot write /dev/full", "the disk is full"]);
    sender.expect(0, &[]);
}

/// A payload cell that does not decode (a day beyond the calendar) is seen only by a receiver whose
/// rows match it. The sender must not learn whether that was so: it would be an oracle for keys of
/// its choice.
#[test]
fn a_poisoned_payload_says_nothing_to_its_sender() {
    let poisoned_join = |email: &str| {
        let folder = tables();
        folder.write("ours.csv", format!("id,email\n1,{email}\n"));
        let columns: [(&str, ArrayRef); 2] = [
            ("mail", Arc::new(StringArray::from(vec!["a@x.org", "b@x.org"]))),
            ("since", Arc::new(Date32Array::from(vec![i32::MAX, 0]))),
        ];
        write_parquet(&folder, "theirs.parquet", RecordBatch::try_from_iter(columns).expect("a batch"));
        folder.join(
            "--input ours.csv --key email --output matches.csv",
            "--input theirs.parquet --key mail --payload since --json",
        )
    };
    let (hit, sender_of_hit) = poisoned_join("a@x.org");
    let (missed, sender_of_miss) = poisoned_join("c@x.org");
    assert_eq!((hit.code, missed.code), (8, 0), "{}{}", hit.stderr, missed.stderr);
    sender_of_hit.expect(0, &[]);
    sender_of_miss.expect(0, &[]);
    let told = |ended: &Ended| (ended.stderr.clone(), ended.stdout.contains("\"warnings\":[]"));
    assert_eq!(told(&sender_of_hit), told(&sender_of_miss));
}

#[test]
fn an_existing_output_is_replaced_only_by_force() {
    let folder = tables();
    folder.write("matches.csv", "precious\n");
    let (receiver, sender) =
        folder.join("--input ours.csv --key email --output matches.csv", "--input theirs.csv --key mail");
    receiver.expect(4, &["matches.csv exists already", "--force"]);
    sender.expect(9, &["it cannot write its output"]);
    assert_eq!(folder.read("matches.csv"), "precious\n");
    let (receiver, sender) =
        folder.join("--input ours.csv --key email --output matches.csv --force", "--input theirs.csv --key mail");
    receiver.expect(0, &[]);
    sender.expect(0, &[]);
    assert_eq!(folder.read("matches.csv"), "id,email\n1,a@x.org\n");
}

#[test]
fn a_peer_with_too_many_items() {
    let folder = tables();
    let (receiver, sender) = folder
        .join("--input ours.csv --key email --output matches.csv --max-peer-items 1", "--input theirs.csv --key mail");
    receiver.expect(11, &["has 2 keys, more than the 1", "--max-peer-items"]);
    sender.expect(9, &["more than the 1", "--max-peer-items"]);
    no_output(&folder);
}

#[test]
fn padding_below_the_number_of_keys() {
    let folder = tables();
    let (receiver, sender) =
        folder.join("--input ours.csv --key email --output matches.csv", "--input theirs.csv --key mail --pad-to 1");
    sender.expect(2, &["--pad-to 1"]);
    receiver.expect(9, &["more keys than its --pad-to says"]);
    no_output(&folder);
}

#[test]
fn two_payloads_for_one_key() {
    let folder = tables();
    folder.write("theirs.csv", "mail,score\na@x.org,1\na@x.org,2\n");
    bad_for_the_sender(&folder, "--input theirs.csv --key mail --payload score", &["--payload-duplicates first"]);
}

#[test]
fn wrong_usage_is_refused_before_anything_is_opened() {
    let folder = tables();
    // The partner, who would be told, does not come.
    let base = "receive --input ours.csv --key email --output matches.csv --wait 0.1";
    for (arguments, code, text) in [
        (format!("{base} --listen 127.0.0.1:0"), 2, "--peer"),
        (format!("{base} --listen 127.0.0.1:0 --connect 127.0.0.1:1 --peer them.pub"), 2, "cannot be used with"),
        (format!("{base} --peer them.pub"), 2, "--listen"),
        (format!("{base} --listen nowhere --identity us.key --peer them.pub"), 2, "host:port"),
        (
            format!("{base} --listen 127.0.0.1:0 --identity us.key --peer them.pub --normalise email=sha256"),
            2,
            "there is no normaliser",
        ),
        (
            format!("{base} --listen 127.0.0.1:0 --identity us.key --peer them.pub --task guess"),
            11,
            "choose one of intersect, union",
        ),
        (
            format!("{base} --listen 127.0.0.1:0 --identity us.key --peer them.pub --protocol md5"),
            11,
            "there is no protocol",
        ),
        (
            format!("{base} --listen 127.0.0.1:0 --identity us.key --peer them.pub --protocol ecdh-hfh99"),
            11,
            "--security semi-honest",
        ),
        (
            "send --input theirs.csv --key mail --connect 127.0.0.1:1 --wait 0.1 --peer us.pub --identity them.key \
             --both-learn"
                .into(),
            2,
            "--output",
        ),
    ] {
        let ended = folder.run(&arguments);
        assert_eq!(ended.code, code, "{arguments}: {}", ended.stderr);
        assert!(ended.stderr.contains(text), "{arguments}: {}", ended.stderr);
    }
    no_output(&folder);
}

#[test]
fn with_json_a_failure_is_one_object_on_standard_output() {
    let folder = tables();
    let ended = folder.run(
        "receive --input ours.csv --key email --output matches.csv --listen 127.0.0.1:0 --identity us.key --peer \
         them.pub --wait 0.1 --task guess --json",
    );
    let object: serde_json::Value = serde_json::from_str(&ended.stdout).expect("one JSON object");
    assert_eq!((&object["ok"], &object["error"]["code"]), (&false.into(), &11.into()));
    assert!(object["error"]["mend"].as_str().is_some_and(|mend| mend.contains("intersect")));
}
