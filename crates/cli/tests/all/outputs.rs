//! Results under their final names: what may be there, what is there meanwhile, what a killed run
//! leaves.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, Decimal128Array, Int16Array, Int32Array, ListArray, RecordBatch, StringArray, TimestampSecondArray,
};
use arrow_schema::{DataType, TimeUnit};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::harness::{Folder, Process, RECEIVER, SENDER, by_shell, within};

fn tables() -> Folder {
    let folder = Folder::new();
    folder.write("ours.csv", "id,email\n1,a@x.org\n2,b@x.org\n");
    folder.write("theirs.csv", "mail\na@x.org\nc@x.org\n");
    folder
}

fn parquet(path: &Path, columns: Vec<(&str, ArrayRef)>) {
    let batch = RecordBatch::try_from_iter(columns).expect("a batch");
    let mut writer = ArrowWriter::try_new(File::create(path).expect("a file"), batch.schema(), None).expect("a writer");
    writer.write(&batch).expect("written");
    writer.close().expect("closed");
}

/// The receiver's side is refused with `code` and `texts` before the protocol, its partner hears
/// `told`, and no file is made or changed.
#[track_caller]
fn refused(folder: &Folder, receive: &str, code: i32, texts: &[&str], told: &str) {
    let contents = || folder.files().into_iter().map(|name| fs::read(folder.path(&name)).ok()).collect::<Vec<_>>();
    let before = (folder.files(), contents());
    let (receiver, sender) = folder.join(&format!("--key email {receive}"), "--input theirs.csv --key mail");
    receiver.expect(code, texts);
    sender.expect(9, &[told]);
    assert!(before == (folder.files(), contents()), "{before:?} {:?}", folder.files());
}

#[test]
fn endings_that_are_not_written_are_refused() {
    let folder = tables();
    for name in ["m.json", "m.tsv"] {
        refused(
            &folder,
            &format!("--input ours.csv --output {name}"),
            2,
            &[name, "--output"],
            "its command line is not valid",
        );
    }
}

#[test]
fn two_names_of_one_file_are_refused() {
    let folder = tables();
    symlink("ours.csv", folder.path("link.csv")).expect("linked");
    for (receive, flags) in [
        ("--input ours.csv --output link.csv --force", "--input and --output"),
        ("--input ours.csv --output m.csv --receipt ./m.csv", "--output and --receipt"),
    ] {
        refused(&folder, receive, 2, &[flags, "name the same file"], "its command line is not valid");
    }
}

#[test]
fn what_cannot_be_written_is_refused_before_the_protocol() {
    let folder = tables();
    let list = ListArray::from_iter_primitive::<Int32Type, _, _>(vec![Some(vec![Some(1)])]);
    parquet(
        &folder.path("ours.parquet"),
        vec![("email", Arc::new(StringArray::from(vec!["a@x.org"]))), ("l", Arc::new(list))],
    );
    symlink("nowhere/m.csv", folder.path("dangling.csv")).expect("linked");
    let told = "it cannot write its output";
    refused(&folder, "--input ours.parquet --output m.csv", 4, &["column `l`", "which CSV cannot hold"], told);
    refused(
        &folder,
        "--input ours.csv --output dangling.csv --force",
        4,
        &["a link to a file that does not exist"],
        told,
    );
    refused(
        &folder,
        "--input ours.csv --output m.csv --receipt no/such/r.json",
        4,
        &["no/such/r.json", "create the folder first"],
        told,
    );
}

/// Where the system shows the file that a process has open and that is to become the output.
fn partial(process: &Process, folder: &Folder) -> PathBuf {
    let folder = folder.path("").canonicalize().expect("a folder").display().to_string();
    let end = Instant::now() + Duration::from_secs(60);
    while Instant::now() < end {
        let open = fs::read_dir(format!("/proc/{}/fd", process.child.id())).expect("Linux");
        let found = open.flatten().map(|entry| entry.path()).find(|path| {
            let target = fs::read_link(path).map(|target| target.display().to_string()).unwrap_or_default();
            target.starts_with(&folder) && (target.ends_with(" (deleted)") || target.ends_with(".partial"))
        });
        match found {
            Some(path) => return path,
            None => thread::sleep(Duration::from_millis(5)),
        }
    }
    panic!("no file is open that could become the output");
}

/// A receiver that has made its output, started by a line of the shell, and a sender that waits for
/// its table.
fn mid_run(folder: &Folder, script: &str) -> (Process, Process, PathBuf) {
    let receive = format!("receive {RECEIVER} --input ours.csv --key email --output matches.csv");
    let mut receiver = folder.start_under(by_shell(script), &receive);
    receiver.stdin = None;
    let address = receiver.address();
    let sender = folder.start(&format!("send {SENDER} --connect {address} --input - --key mail"));
    let partial = partial(&receiver, folder);
    (receiver, sender, partial)
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("there").permissions().mode() & 0o777
}

#[test]
fn a_result_is_private_until_it_is_complete() {
    use std::io::Write;
    let folder = tables();
    // Neither the default of most systems nor a mask that hides all.
    let (receiver, mut sender, partial) = mid_run(&folder, "umask 0026; exec \"$@\"");
    // Empty, it has the user's mode for a moment, which the program reads.
    within(60, || mode(&partial) == 0o600);
    assert_eq!(mode(&partial), 0o600);
    sender.stdin.take().expect("open").write_all(b"mail\na@x.org\n").expect("read");
    sender.end().expect(0, &[]);
    receiver.end().expect(0, &[]);
    assert_eq!(folder.read("matches.csv"), "id,email\n1,a@x.org\n");
    assert_eq!(mode(&folder.path("matches.csv")), 0o640);
}

#[test]
fn a_killed_run_leaves_nothing_or_what_the_next_one_sweeps() {
    let folder = tables();
    let before = folder.files();
    let (mut receiver, sender, partial) = mid_run(&folder, "exec \"$@\"");
    let unnamed = fs::read_link(partial).expect("open").display().to_string().ends_with(" (deleted)");
    receiver.child.kill().expect("killed");
    receiver.child.wait().expect("ended");
    drop(sender);
    if unnamed {
        assert_eq!(folder.files(), before);
    }
    // As such a run leaves it where files must have names, and what another run is writing to at this
    // moment.
    folder.write(".vesica-output-left.partial", "secret");
    let other = File::create(folder.path(".vesica-output-other.partial")).expect("made");
    other.lock().expect("locked");
    for name in [".vesica-output-left.partial", ".vesica-output-other.partial"] {
        fs::set_permissions(folder.path(name), Permissions::from_mode(0o600)).expect("a mode");
    }
    let (receiver, sender) =
        folder.join("--input ours.csv --key email --output matches.csv", "--input theirs.csv --key mail");
    receiver.expect(0, &["removed what a killed run had left", ".vesica-output-left.partial"]);
    assert!(!receiver.stderr.contains("other.partial"), "{}", receiver.stderr);
    sender.expect(0, &[]);
    drop(other);
    fs::remove_file(folder.path(".vesica-output-other.partial")).expect("still there");
    assert!(!folder.files().iter().any(|name| name.contains("partial")), "{:?}", folder.files());
}

#[test]
fn payload_columns_with_commas_keep_their_names_and_types() {
    let folder = tables();
    let amounts = Decimal128Array::from(vec![1025, -50]).with_precision_and_scale(12, 2).expect("a type");
    let times = TimestampSecondArray::from(vec![0, 1]).with_timezone("+02:00");
    parquet(
        &folder.path("theirs.parquet"),
        vec![
            ("mail", Arc::new(StringArray::from(vec!["a@x.org", "c@x.org"]))),
            ("Umsatz, netto", Arc::new(amounts)),
            ("n \"5\"", Arc::new(Int16Array::from(vec![7, 8]))),
            ("since", Arc::new(times)),
        ],
    );
    let mut receiver =
        folder.start(&format!("receive {RECEIVER} --input ours.csv --key email --output matches.parquet"));
    receiver.stdin = None;
    let address = receiver.address();
    let mut command = Command::new(crate::PROGRAM);
    command.args(["send", "--payload", "\"Umsatz, netto\",\"n \"\"5\"\"\",since"]);
    let sender =
        folder.start_under(command, &format!("{SENDER} --connect {address} --input theirs.parquet --key mail"));
    sender.end().expect(0, &[]);
    receiver.end().expect(0, &[]);
    let file = File::open(folder.path("matches.parquet")).expect("there");
    let found = ParquetRecordBatchReaderBuilder::try_new(file)
        .expect("Parquet")
        .build()
        .expect("Parquet")
        .next()
        .expect("a batch")
        .expect("sound");
    let column = |name: &str| found.column_by_name(name).unwrap_or_else(|| panic!("no {name} in {:?}", found.schema()));
    assert_eq!(
        column("Umsatz, netto").as_primitive::<arrow_array::types::Decimal128Type>().value_as_string(0),
        "10.25"
    );
    assert_eq!(column("n \"5\"").as_primitive::<arrow_array::types::Int16Type>().values(), &[7]);
    // Parquet has no seconds.
    assert_eq!(*column("since").data_type(), DataType::Timestamp(TimeUnit::Millisecond, Some("+02:00".into())));
    let ids: Int32Array = column("id").as_string::<i32>().iter().map(|id| id.and_then(|id| id.parse().ok())).collect();
    assert_eq!(ids.values(), &[1]);
    let ended = folder.run("send --payload \"a");
    assert!(ended.code == 2 && ended.stderr.contains("in double quotes has no closing quote"), "{}", ended.stderr);
}

#[test]
fn numbers_that_readers_would_round_and_a_lone_withheld_one() {
    let folder = Folder::new();
    folder.write("ours.csv", "id\na\nb\nc\n");
    folder.write("theirs.csv", "id,amount\na,9007199254740992\nb,1\nd,1\n");
    let both = "--key id --task sum --security semi-honest";
    let (receiver, sender) = folder.join(
        &format!("--input ours.csv --output sum.json {both}"),
        &format!("--input theirs.csv --payload amount {both}"),
    );
    sender.expect(0, &[]);
    receiver.expect(0, &[]);
    let result: serde_json::Value = serde_json::from_str(&folder.read("sum.json")).expect("JSON");
    assert_eq!(result, serde_json::json!([{ "amount": "9007199254740993" }]));
    let both = format!("{both} --reveal-if-at-least 3");
    let (receiver, sender) = folder.join(
        &format!("--input ours.csv --output sum.csv {both}"),
        &format!("--input theirs.csv --payload amount {both}"),
    );
    sender.expect(0, &[]);
    receiver.expect(0, &[]);
    assert_eq!(folder.read("sum.csv"), "amount\n\"\"\n");
}
