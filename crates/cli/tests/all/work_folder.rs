//! Tables that are kept in a work folder (`--work`), between two processes.

use std::fs;

use serde_json::Value;

use crate::harness::{Folder, RECEIVER, SENDER};

const RECEIVE: &str = "--input ours.csv --key id --output matches.csv --force";
const SEND: &str = "--input theirs.csv --key id --payload score";

/// 9000 rows of 3000 keys here, and 2000 keys there, of which 1000 are common.
fn tables() -> Folder {
    let folder = Folder::new();
    let ours: String = (0..9000).map(|row| format!("{},{row}\n", row * 7 % 3000)).collect();
    let theirs: String = (2000..4000).rev().map(|key| format!("{key},s{key}\n")).collect();
    folder.write("ours.csv", format!("id,row\n{ours}"));
    folder.write("theirs.csv", format!("id,score\n{theirs}"));
    fs::create_dir(folder.path("scratch")).expect("made");
    folder
}

fn expected() -> String {
    let rows = (0..9000).filter(|row| row * 7 % 3000 >= 2000);
    let line = |row: usize| format!("{0},{row},s{0}\n", row * 7 % 3000);
    format!("id,row,score\n{}", rows.map(line).collect::<String>())
}

fn is_empty(folder: &Folder, name: &str) -> bool {
    fs::read_dir(folder.path(name)).expect("a folder").next().is_none()
}

#[test]
fn a_join_by_flags_or_a_job_file_leaves_nothing_in_the_work_folder() {
    let folder = tables();
    let (receiver, sender) = folder.join(
        &format!("{RECEIVE} --buckets 8 --work scratch --memory 1GiB"),
        &format!("{SEND} --buckets 8 --work scratch --memory 1GiB"),
    );
    receiver.expect(0, &["1000 keys match; wrote 3000 rows"]);
    sender.expect(0, &[]);
    assert_eq!(folder.read("matches.csv"), expected());
    assert!(is_empty(&folder, "scratch"));

    // The path in a job file starts at its folder.
    fs::create_dir(folder.path("jobs")).expect("made");
    fs::create_dir(folder.path("jobs/scratch")).expect("made");
    folder.write(
        "jobs/job.toml",
        "task = \"intersect\"\n[receiver]\ninput = \"../ours.csv\"\nkey = \"id\"\noutput = \"../again.csv\"\nbuckets = \"auto\"\n\
         work = \"scratch\"\n[sender]\ninput = \"../theirs.csv\"\nkey = \"id\"\npayload = [\"score\"]\nbuckets = \"auto\"\n",
    );
    let receiver = folder.start(&format!("run jobs/job.toml --role receiver {RECEIVER}"));
    let address = receiver.address();
    folder.run(&format!("run jobs/job.toml --role sender {SENDER} --connect {address}")).expect(0, &[]);
    receiver.end().expect(0, &[]);
    assert_eq!(folder.read("again.csv"), expected());
}

/// Both sides come to the number by their sizes; a run that does not fit in memory says what to type.
#[test]
fn the_number_of_buckets_goes_by_the_sizes_where_both_sides_say_auto() {
    let folder = tables();
    let (receiver, sender) = folder.join(
        &format!("{RECEIVE} --buckets auto --work scratch --receipt r.json --json"),
        &format!("{SEND} --buckets auto --json"),
    );
    for side in [&receiver, &sender] {
        let report: Value = serde_json::from_str(&side.stdout).expect("one JSON object");
        assert_eq!(report["buckets"], 2, "{}", side.stderr);
    }
    let receipt: Value = serde_json::from_str(&folder.read("r.json")).expect("a receipt");
    assert_eq!(receipt["statement"]["buckets"], 2);
    let (receiver, sender) = folder.join(&format!("{RECEIVE} --buckets auto"), SEND);
    for side in [receiver, sender] {
        side.expect(7, &["--buckets is", "\"auto\" on the receiver's", "\"1\" on the sender's"]);
    }
    let (receiver, sender) = folder.join(&format!("{RECEIVE} --memory 1MiB"), SEND);
    receiver.expect(11, &["--buckets auto on both sides", "--work FOLDER on this one"]);
    sender.expect(9, &["may take more memory than the other side has"]);
}

/// Of a folder's disk that takes no more, its own side hears with the mend, and the partner that there is a fault.
#[test]
fn a_disk_that_is_full_ends_both_sides_without_a_result() {
    // Of eight keys each is in a file of its own at most, which take half of that disk.
    for (rows, buckets, said) in [(3000, 8, "the disk is full: free space"), (8, 1024, "more in the work folder tiny")]
    {
        let folder = tables();
        let ours: String = (0..rows).map(|row| format!("{row},{row}\n")).collect();
        folder.write("ours.csv", format!("id,row\n{ours}"));
        let receive = format!("receive {RECEIVER} {RECEIVE} --work tiny --buckets {buckets}");
        let Some(mut receiver) = folder.start_with_tiny(&receive) else {
            eprintln!("skipped: no file system can be mounted here");
            return;
        };
        receiver.stdin = None;
        let address = receiver.address();
        let sender = folder.run(&format!("send {SENDER} --connect {address} {SEND} --buckets {buckets}"));
        receiver.end().expect(4, &[said, "--work"]);
        sender.expect(9, &["it cannot use its work folder"]);
        assert!(!sender.stderr.contains("tiny"), "{}", sender.stderr);
        assert!(!folder.files().contains(&"matches.csv".to_owned()));
    }
}

#[test]
fn a_killed_side_leaves_nothing_in_the_work_folder() {
    let folder = tables();
    let table: String = (0..60_000).map(|key| format!("{key},1\n")).collect();
    folder.write("ours.csv", format!("id,row\n{table}"));
    folder.write("theirs.csv", format!("id,score\n{table}"));
    let flags = "--work scratch --buckets 64";
    let (receiver, mut sender) = folder.both(&format!("{RECEIVE} {flags} -v"), &format!("{SEND} {flags}"));
    receiver.says("running vole-");
    std::thread::sleep(std::time::Duration::from_millis(100));
    sender.child.kill().expect("killed");
    receiver.end().expect(10, &["the connection to the partner failed"]);
    assert!(is_empty(&folder, "scratch"));
    assert!(!folder.files().contains(&"matches.csv".to_owned()));
}

#[test]
fn a_plan_and_a_dry_run_say_what_a_work_folder_takes() {
    let folder = Folder::calibrated();
    let plan = "plan --sender-items 1000000 --receiver-items 1000000 --buckets 16";
    let shown = folder.run(plan);
    shown.expect(0, &[]);
    let text = shown.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("With --work FOLDER, it takes up to") && text.contains("of disk at the receiver"), "{text}");
    let json: Value = serde_json::from_str(&folder.run(&format!("{plan} --json")).stdout).expect("one JSON object");
    let disk = json["with_work"]["receiver_disk_bytes"].as_u64().expect("a number");
    assert!((70_000_000..80_000_000).contains(&disk), "{disk}");
    let alone = folder.run("plan --sender-items 1000000 --receiver-items 1000000 --json");
    let alone: Value = serde_json::from_str(&alone.stdout).expect("one JSON object");
    assert_eq!(alone["with_work"], Value::Null);

    let folder = tables();
    let (receiver, sender) = folder
        .join(&format!("{RECEIVE} --buckets 8 --work scratch --dry-run"), &format!("{SEND} --buckets 8 --dry-run"));
    receiver.expect(0, &[]);
    sender.expect(0, &[]);
    assert!(receiver.stderr.contains("in the work folder"), "{}", receiver.stderr);
    assert!(sender.stderr.contains("of memory beside the table"), "{}", sender.stderr);
    assert!(is_empty(&folder, "scratch"));
}

/// Neither side says --buckets: what does not fit on one of them is divided on both, or refused if a side says so.
#[test]
fn a_run_that_does_not_fit_in_memory_is_divided_by_itself() {
    let folder = tables();
    let keys = |range: std::ops::Range<u32>| range.map(|key| format!("{key}\n")).collect::<String>();
    folder.write("ours.csv", format!("id\n{}", keys(0..800_000)));
    folder.write("theirs.csv", format!("id\n{}", keys(799_000..1_599_000)));
    let flags = "--security semi-honest --protocol vole-fast --force";
    let (receive, send) = (format!("{RECEIVE} {flags}"), SEND.replace("--payload score", "") + " " + flags);
    let receive = receive.replacen("--force ", "", 1);
    for little in ["sender", "receiver"] {
        let of = |role| if role == little { "--memory 180MiB" } else { "--memory 2GiB" };
        let (receive, send) = (format!("{receive} {}", of("receiver")), format!("{send} {}", of("sender")));
        let (receiver, sender) = folder.join(&receive, &send);
        let divided = "both sides divide their keys into 4 buckets";
        receiver.expect(0, &["1000 keys match", divided]);
        sender.expect(0, &[divided]);
        let expected: String = (799_000..800_000).map(|key| format!("{key}\n")).collect();
        assert_eq!(folder.read("matches.csv"), format!("id\n{expected}"));
        let (receiver, sender) = folder.join(&receive, &format!("{send} --buckets 1"));
        let codes = [receiver.code, sender.code];
        assert!(codes.contains(&11) && codes.contains(&9), "{codes:?}");
        let (receiver, sender) = folder.join(&format!("{receive} --dry-run"), &format!("{send} --dry-run"));
        for (side, role) in [(receiver, "receiver"), (sender, "sender")] {
            side.expect(0, &[]);
            let says = side.stderr.contains("would divide their keys into 4 buckets");
            assert_eq!(says, role == little, "{}", side.stderr);
        }
    }
}

/// A table that does not fit by itself goes to the folder for large temporary files.
#[test]
fn a_table_that_does_not_fit_in_memory_goes_to_disk_by_itself() {
    let folder = tables();
    let keys = |range: std::ops::Range<u32>| range.map(|key| format!("{key}\n")).collect::<String>();
    folder.write("ours.csv", format!("id\n{}", keys(0..3_000_000)));
    folder.write("theirs.csv", format!("id\n{}", keys(2_999_000..4_000_000)));
    let flags = "--security semi-honest --protocol vole-fast";
    let receive = format!("{RECEIVE} {flags} --memory 280MiB");
    let (receiver, sender) = folder.join(&receive, &(SEND.replace("--payload score", "") + " " + flags));
    receiver.expect(0, &["1000 keys match", "its keys are in encrypted files without a name in "]);
    sender.expect(0, &["both sides divide their keys into 16 buckets"]);
    let expected: String = (2_999_000..3_000_000).map(|key| format!("{key}\n")).collect();
    assert_eq!(folder.read("matches.csv"), format!("id\n{expected}"));
}
