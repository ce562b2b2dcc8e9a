//! Runs that break off and go on (`--resume`), between two processes.

use std::fs::{self, DirEntry, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::harness::{Ended, Folder, Process};

const SEMI: &str = "--security semi-honest --protocol vole-fast";
const BUCKETS: u64 = 16;

/// 40,000 rows of 30,000 keys here, and 30,000 keys there, of which 15,000 are common.
fn tables() -> Folder {
    let folder = Folder::new();
    let ours: String = (0..40_000).map(|row| format!("{},{row}\n", row * 7 % 30_000)).collect();
    let theirs: String = (15_000..45_000).rev().map(|key| format!("{key},s{key}\n")).collect();
    folder.write("ours.csv", format!("id,row\n{ours}"));
    folder.write("theirs.csv", format!("id,score\n{theirs}"));
    for name in ["mine", "their"] {
        fs::create_dir(folder.path(name)).expect("made");
    }
    folder
}

fn expected(with_score: bool) -> String {
    let rows = (0..40_000).filter(|row| row * 7 % 30_000 >= 15_000);
    let line = |row: usize| match with_score {
        true => format!("{0},{row},s{0}\n", row * 7 % 30_000),
        false => format!("{},{row}\n", row * 7 % 30_000),
    };
    format!("id,row{}\n{}", if with_score { ",score" } else { "" }, rows.map(line).collect::<String>())
}

fn receive(more: &str) -> String {
    format!(
        "--input ours.csv --key id --output matches.csv --force {SEMI} --buckets {BUCKETS} --work mine --resume {more}"
    )
}

fn send(more: &str) -> String {
    format!("--input theirs.csv --key id {SEMI} --buckets {BUCKETS} --work their --resume {more}")
}

/// The records in a side's work folder.
fn records(folder: &Folder, work: &str) -> Vec<String> {
    let entries = fs::read_dir(folder.path(work)).expect("a folder");
    entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
}

/// How many buckets a side has finished.
fn finished(folder: &Folder, work: &str) -> usize {
    kept(folder, work, "bucket-").len()
}

/// The files of a side's record whose names begin so.
fn kept(folder: &Folder, work: &str, name: &str) -> Vec<PathBuf> {
    let records = records(folder, work);
    // A run may remove its record at any time.
    let files =
        records.iter().flat_map(|name| fs::read_dir(folder.path(work).join(name)).into_iter().flatten().flatten());
    let is_so_named = |file: &DirEntry| file.file_name().to_string_lossy().starts_with(name);
    files.filter(is_so_named).map(|file| file.path()).collect()
}

/// Kills one side once the other has finished so many buckets, and gives how the other side ended.
fn kill_after(folder: &Folder, buckets: usize, sides: (Process, Process), watched: &str) -> Ended {
    kill_at(folder, sides, (watched, "bucket-", buckets))
}

#[test]
fn a_run_that_was_killed_on_either_side_goes_on_and_leaves_nothing() {
    for (with_payload, both_learn, protocol) in [
        (false, false, "ecdh-hfh99"),
        (true, false, "vole-fast"),
        (true, true, "ecdh-hfh99"),
        (true, true, "vole-fast"),
    ] {
        let folder = tables();
        let payload = if with_payload { "--payload score" } else { "" };
        let both = if both_learn { "--both-learn" } else { "" };
        let (receive, send) = (
            receive(&format!("{both} --receipt r.json")).replace("vole-fast", protocol),
            send(&format!("{payload} {both} {}", if both_learn { "--output sent.csv --force" } else { "" }))
                .replace("vole-fast", protocol),
        );
        // First the sender is killed, then the receiver.
        let (receiver, sender) = folder.both(&receive, &send);
        let ended = kill_after(&folder, 3, (sender, receiver), "mine");
        ended.expect(10, &["the run is kept in", "the connection to the partner failed"]);
        let before = finished(&folder, "mine");
        assert!((3..BUCKETS as usize).contains(&before), "{before}");
        let (receiver, sender) = folder.both(&receive, &send);
        let ended = kill_after(&folder, before + 3, (receiver, sender), "their");
        ended.expect(10, &[&format!("of {BUCKETS} buckets are finished")]);
        assert!(!folder.files().contains(&"matches.csv".to_owned()));
        let (receiver, sender) = folder.join(&receive, &send);
        let rows = expected(false).lines().count() - 1;
        receiver
            .expect(0, &[&format!("15000 keys match; wrote {rows} rows"), "going on with the run in mine/vesica-run-"]);
        sender.expect(0, &["going on with the run"]);
        assert_eq!(folder.read("matches.csv"), expected(with_payload));
        if both_learn {
            assert_eq!(folder.read("sent.csv").lines().count(), 15_001);
        }
        assert!(records(&folder, "mine").is_empty() && records(&folder, "their").is_empty());
        let receipt: Value = serde_json::from_str(&folder.read("r.json")).expect("a receipt");
        let attempts = receipt["statement"]["attempts"].as_u64().expect("a number");
        // Of each kill at most one bucket's work, and one that the other side had begun.
        assert!((BUCKETS..=BUCKETS + 4).contains(&attempts), "{attempts}");
        let shown = folder.run("receipt r.json");
        shown.expect(0, &[]);
        assert!(shown.stdout.contains(&format!("in {attempts} attempts")), "{}", shown.stdout);
    }
}

/// Kills one side when so many files of this name are in a record, unless it has ended before.
fn kill_at(
    folder: &Folder,
    (mut killed, other): (Process, Process),
    (work, name, count): (&str, &str, usize),
) -> Ended {
    while kept(folder, work, name).len() < count && killed.child.try_wait().expect("a process").is_none() {
        thread::sleep(Duration::from_millis(1));
    }
    killed.child.kill().expect("killed");
    drop(killed);
    other.end()
}

/// Against a malicious partner a run goes on within each of its two passes. Both sides are killed in both.
#[test]
fn a_run_against_a_malicious_partner_goes_on_in_both_passes() {
    let malicious = |flags: String| flags.replace("--security semi-honest", "");
    for payload in ["", "--payload score"] {
        let folder = tables();
        let (receive, send) =
            (malicious(receive("--receipt r.json")), malicious(send(&format!("{payload} --pad-to 31000"))));
        let (receiver, sender) = folder.both(&receive, &send);
        kill_at(&folder, (sender, receiver), ("mine", "commit-", 3)).expect(10, &["the run is kept in"]);
        let committed = kept(&folder, "mine", "commit-").len();
        assert!((3..16).contains(&committed) && finished(&folder, "mine") == 0);
        let (receiver, sender) = folder.both(&receive, &send);
        let ended = kill_at(&folder, (receiver, sender), ("mine", "commit-", committed + 2));
        ended.expect(10, &["buckets are through the first pass"]);
        let (receiver, sender) = folder.both(&receive, &send);
        kill_at(&folder, (sender, receiver), ("mine", "bucket-", 4))
            .expect(10, &["buckets are through the first pass"]);
        assert_eq!(kept(&folder, "their", "commit-").len(), 16);
        let before = finished(&folder, "mine");
        let (receiver, sender) = folder.both(&receive, &send);
        kill_at(&folder, (receiver, sender), ("mine", "bucket-", before + 2))
            .expect(10, &["of 16 buckets are finished"]);
        let (receiver, sender) = folder.join(&receive, &send);
        receiver.expect(0, &["15000 keys match", "going on with the run in mine/vesica-run-"]);
        sender.expect(0, &["going on with the run"]);
        assert_eq!(folder.read("matches.csv"), expected(!payload.is_empty()));
        assert!(records(&folder, "mine").is_empty() && records(&folder, "their").is_empty());
        let receipt: Value = serde_json::from_str(&folder.read("r.json")).expect("a receipt");
        let attempts = receipt["statement"]["attempts"].as_u64().expect("a number");
        // First passes alone: two breaks in them cost one or two each, and a conversation without any counts as one.
        assert!((BUCKETS..=BUCKETS + 6).contains(&attempts), "{attempts}");
    }
}

/// Counts and sums go on as well, and what single buckets give is never shown: not of buckets that are run again either.
#[test]
fn totals_go_on_and_are_those_of_the_whole_tables() {
    let (of_sum, of_both) = ("--payload amount --payload-duplicates sum", "--payload-duplicates sum --payload row");
    for (task, both, ours, theirs) in [
        ("cardinality", "", "", ""),
        // Shown, and withheld.
        ("cardinality", "--reveal-if-at-least 2", "", ""),
        ("sum", "--reveal-if-at-least 29000", "", of_sum),
        ("union-cardinality", "", "", ""),
        ("union-sum", "", of_both, "--payload row"),
        ("join-and-compute", "--reveal-if-at-least 2", "--payload-duplicates first --payload row", "--payload amount"),
    ] {
        let folder = tables();
        let amounts: String = (15_000..45_000).rev().map(|key| format!("{key},{},{}\n", key % 90, key % 7)).collect();
        folder.write(
            "theirs.csv",
            format!("id,amount,row\n{amounts}15000,1,1\n").replace(
                "\n15000,1,1",
                match theirs {
                    // Of a key with two rows.
                    theirs if theirs == of_sum => "\n15000,1,1",
                    _ => "",
                },
            ),
        );
        let of_task = |line: String, flags: &str| {
            format!("{line} --task {task} {both} {flags}").replace("--protocol vole-fast", "--protocol auto")
        };
        let (receive, send) = (of_task(receive("--receipt r.json"), ours), of_task(send(""), theirs));
        let plain = |line: &str, work: &str| line.replace(&format!("--buckets 16 --work {work} --resume"), "");
        let (receiver, sender) = folder.join(&plain(&receive, "mine"), &plain(&send, "their"));
        receiver.expect(0, &[]);
        sender.expect(0, &[]);
        let expected = folder.read("matches.csv");
        fs::remove_file(folder.path("matches.csv")).expect("removed");
        // First the sender is killed, then the receiver.
        let (receiver, sender) = folder.both(&receive, &send);
        kill_after(&folder, 3, (sender, receiver), "mine").expect(10, &["the run is kept in"]);
        let before = finished(&folder, "mine");
        assert!((3..BUCKETS as usize).contains(&before), "{before}");
        let (receiver, sender) = folder.both(&receive, &send);
        let ended = kill_after(&folder, before + 3, (receiver, sender), "their");
        ended.expect(10, &[&format!("of {BUCKETS} buckets are finished")]);
        assert!(!folder.files().contains(&"matches.csv".to_owned()));
        let (receiver, sender) = folder.join(&receive, &send);
        receiver.expect(0, &["going on with the run in mine/vesica-run-"]);
        sender.expect(0, &["going on with the run"]);
        assert_eq!(folder.read("matches.csv"), expected, "{task} {both}");
        assert_eq!(expected.lines().nth(1) == Some("\"\""), both.contains("29000"), "{expected}");
        assert!(records(&folder, "mine").is_empty() && records(&folder, "their").is_empty());
        let receipt: Value = serde_json::from_str(&folder.read("r.json")).expect("a receipt");
        let attempts = receipt["statement"]["attempts"].as_u64().expect("a number");
        assert!((BUCKETS + 1..=BUCKETS + 4).contains(&attempts), "{attempts}");
    }
}

/// Once totals have been shown no bucket is run again; and a receiver that cannot write them has them all the same.
#[test]
fn totals_that_were_shown_are_kept_and_no_bucket_is_run_again() {
    let folder = tables();
    let receive = receive("--task cardinality").replace("vole-fast", "auto");
    let send = send("--task cardinality").replace("vole-fast", "auto");
    let (receiver, sender) = folder.both(&receive, &send);
    kill_after(&folder, 3, (sender, receiver), "mine").expect(10, &["the run is kept in"]);
    // As if the receiver had seen the totals, and has lost buckets.
    let state = kept(&folder, "mine", "run.json").remove(0);
    let text = fs::read_to_string(&state).expect("there");
    fs::write(&state, text.replace("\"compares\":false", "\"compares\":true")).expect("written");
    let (receiver, sender) = folder.join(&receive, &send);
    for side in [receiver, sender] {
        side.expect(7, &["cannot go on with one run"]);
    }
    fs::write(&state, text).expect("written");
    let (receiver, sender) = folder.join(&receive.replace("matches.csv", "/dev/full"), &send);
    receiver.expect(4, &[]);
    sender.expect(0, &[]);
    assert!(records(&folder, "their").is_empty() && finished(&folder, "mine") == BUCKETS as usize + 1);
    let (receiver, sender) = folder.join(&receive, &send);
    receiver.expect(0, &[&format!("{BUCKETS} of {BUCKETS} buckets are finished")]);
    sender.expect(0, &[]);
    assert!(folder.read("matches.csv").contains("15000"));
    assert!(records(&folder, "mine").is_empty() && records(&folder, "their").is_empty());
}

/// Once a side has begun to compare, no first pass is taken anew: a receiver would choose its keys by what it has seen.
#[test]
fn a_first_pass_is_not_taken_anew_when_the_second_has_begun() {
    let malicious = |flags: String| flags.replace("--security semi-honest", "");
    let folder = tables();
    let (receive, send) = (malicious(receive("")), malicious(send("")));
    let (receiver, sender) = folder.both(&receive, &send);
    kill_at(&folder, (receiver, sender), ("mine", "bucket-", 2)).expect(10, &["the run is kept in"]);
    // The receiver takes back what it has committed to in one bucket that is due, and that it has begun to compare.
    let due = kept(&folder, "mine", "commit-").into_iter().filter(|commit| {
        let name = commit.file_name().unwrap_or_default().to_string_lossy().replace("commit", "bucket");
        !commit.with_file_name(name).exists()
    });
    let due: Vec<PathBuf> = due.collect();
    fs::remove_file(&due[0]).expect("removed");
    let state = kept(&folder, "mine", "run.json").remove(0);
    let text = fs::read_to_string(&state).expect("there");
    fs::write(&state, text.replace("\"compares\":true", "\"compares\":false")).expect("written");
    let (receiver, sender) = folder.join(&receive, &send);
    for ended in [receiver, sender] {
        let text = format!("{}{}", ended.stderr, ended.stdout);
        assert!(text.contains("cannot go on with one run"), "{text}");
    }
    assert_eq!(kept(&folder, "their", "commit-").len(), 16, "nothing is lost");
    // What is changed is no pass either.
    let folder = tables();
    let (receiver, sender) = folder.both(&receive, &send);
    kill_at(&folder, (receiver, sender), ("mine", "bucket-", 2)).expect(10, &["the run is kept in"]);
    let file = &kept(&folder, "their", "commit-")[3];
    let mut bytes = fs::read(file).expect("there");
    bytes[100] ^= 1;
    fs::write(file, bytes).expect("written");
    let (_, sender) = folder.join(&receive, &send);
    assert!(sender.stderr.contains("cannot go on with one run"), "{}", sender.stderr);
}

/// With `--buckets auto` the number of buckets goes by the partner's size, too: it cannot have a record begin anew.
#[test]
fn a_record_of_another_number_of_buckets_is_no_record_of_nothing() {
    let folder = Folder::new();
    let keys = |count: usize| (0..count).map(|key| format!("{key}\n")).collect::<String>();
    folder.write("ours.csv", format!("id\n{}", keys(20_000)));
    folder.write("theirs.csv", format!("id\n{}", keys(300_000)));
    for name in ["mine", "their"] {
        fs::create_dir(folder.path(name)).expect("made");
    }
    let auto = |flags: String| flags.replace("--security semi-honest", "").replace("--buckets 16", "--buckets auto");
    let (receive, send) = (auto(receive("")), auto(send("")));
    let (receiver, sender) = folder.both(&receive, &send);
    kill_at(&folder, (receiver, sender), ("their", "bucket-", 1)).expect(10, &["the run is kept in"]);
    // The receiver has no record any more, and enough keys for four buckets.
    fs::remove_dir_all(folder.path("mine")).expect("removed");
    fs::create_dir(folder.path("mine")).expect("made");
    folder.write("ours.csv", format!("id\n{}", keys(530_000)));
    let (_, sender) = folder.join(&receive, &send);
    sender.expect(7, &["cannot go on with one run: sizes or columns are not those of the record"]);
    assert_eq!(kept(&folder, "their", "commit-").len(), 2, "nothing is lost");
    // Nor does it with as many keys as before.
    folder.write("ours.csv", format!("id\n{}", keys(20_000)));
    let (_, sender) = folder.join(&receive, &send);
    sender.expect(7, &["cannot go on with one run"]);
    assert_eq!(kept(&folder, "their", "commit-").len(), 2, "nothing is lost");
}

/// A run of which both sides have finished some buckets.
fn broken_off() -> Folder {
    let folder = tables();
    let (receiver, sender) = folder.both(&receive(""), &send(""));
    kill_after(&folder, 3, (sender, receiver), "mine");
    assert!(finished(&folder, "their") > 0);
    folder
}

#[test]
fn what_does_not_go_on_with_the_run_is_refused_on_both_sides_and_loses_nothing() {
    let folder = broken_off();
    let before = finished(&folder, "mine");
    let kept = |why: &str| assert_eq!(finished(&folder, "mine"), before, "{why}");

    // A changed table.
    let ours = folder.read("ours.csv");
    folder.write("ours.csv", ours.replacen("7,1\n", "8,1\n", 1));
    let (receiver, sender) = folder.join(&receive(""), &send(""));
    receiver.expect(3, &["the table is not the one with which the run in mine/vesica-run-", "put that table back"]);
    sender.expect(9, &["its table is not the one with which the run was begun"]);
    folder.write("ours.csv", ours);
    kept("a changed table");

    // Another work folder of one side: its partner has buckets of a run that it does not know.
    fs::create_dir(folder.path("other")).expect("made");
    let (receiver, sender) = folder.join(&receive(""), &send("").replace("--work their", "--work other"));
    // One of them may hear of it from the other first.
    assert!([&receiver, &sender].iter().any(|side| side.stderr.contains("vesica-run-")), "{}", receiver.stderr);
    for side in [receiver, sender] {
        side.expect(7, &["cannot go on with one run"]);
    }
    kept("another folder");

    // Without the flag on one side.
    let (receiver, sender) = folder.join(&receive(""), &send("").replace("--resume", ""));
    for side in [receiver, sender] {
        side.expect(7, &["--resume is"]);
    }
    kept("without the flag");

    // Another release.
    let state = folder.path("mine").join(&records(&folder, "mine")[0]).join("run.json");
    let text = fs::read_to_string(&state).expect("a state");
    fs::write(&state, text.replace("\"release\":\"", "\"release\":\"9.")).expect("written");
    let (receiver, sender) = folder.join(&receive(""), &send(""));
    receiver.expect(11, &["was begun by release 9."]);
    sender.expect(9, &["it cannot use its record of the run"]);
    fs::write(&state, text).expect("written");

    // Which rows are the result may change: these are those of the buckets that are finished, and of the others.
    let (receiver, sender) = folder.both(&receive("--join difference"), &send(""));
    kill_after(&folder, before + 2, (sender, receiver), "mine");

    // A folder that others may write to.
    fs::set_permissions(folder.path("mine"), Permissions::from_mode(0o777)).expect("set");
    let (receiver, _) = folder.join(&receive(""), &send(""));
    receiver.expect(4, &["others could replace what is in the work folder mine"]);
    fs::set_permissions(folder.path("mine"), Permissions::from_mode(0o700)).expect("set");

    let (receiver, sender) = folder.join(&receive(""), &send(""));
    receiver.expect(0, &["15000 keys match"]);
    sender.expect(0, &[]);
    assert_eq!(folder.read("matches.csv"), expected(false));
    assert!(records(&folder, "mine").is_empty());
}

#[test]
fn a_record_that_is_damaged_or_set_back_gives_no_wrong_row() {
    let folder = broken_off();
    let record = folder.path("mine").join(&records(&folder, "mine")[0]);
    let bucket = |number: usize| record.join(format!("bucket-{number:05}"));
    let first = fs::read(bucket(0)).expect("finished");
    let earlier = [0, 1].map(|number| fs::read(bucket(number)).expect("finished"));
    // What one side has lost, has of another bucket, or has in part, is run again.
    fs::remove_file(bucket(1)).expect("removed");
    fs::write(bucket(0), &first[..first.len() - 1]).expect("written");
    let (receiver, sender) = folder.both(&receive(""), &send(""));
    kill_after(&folder, 6, (receiver, sender), "their");
    fs::write(bucket(2), &first).expect("written");
    // So is what is set back to an attempt of which the other side has a later one.
    for (number, earlier) in earlier.iter().enumerate() {
        fs::write(bucket(number), earlier).expect("written");
    }
    let (receiver, sender) = folder.join(&receive(""), &send(""));
    receiver.expect(0, &["15000 keys match"]);
    sender.expect(0, &[]);
    assert_eq!(folder.read("matches.csv"), expected(false));
    assert!(records(&folder, "mine").is_empty() && records(&folder, "their").is_empty());
}

/// The receiver is killed while it writes, when the sender has ended: what it has is enough.
#[test]
fn a_result_that_could_not_be_written_is_written_when_the_same_command_is_typed_again() {
    let folder = tables();
    let made = std::process::Command::new("mkfifo").arg(folder.path("pipe")).status().expect("mkfifo");
    assert!(made.success());
    // Somebody has opened the pipe, and reads nothing from it.
    let reader = thread::spawn({
        let pipe = folder.path("pipe");
        move || fs::File::open(pipe).expect("opened")
    });
    let (mut receiver, sender) = folder.both(&receive("").replace("matches.csv", "pipe"), &send(""));
    sender.end().expect(0, &[]);
    assert!(records(&folder, "their").is_empty() && finished(&folder, "mine") == BUCKETS as usize);
    receiver.child.kill().expect("killed");
    drop((receiver, reader.join().expect("opened")));
    let (receiver, sender) = folder.join(&receive(""), &send(""));
    receiver.expect(0, &[&format!("{BUCKETS} of {BUCKETS} buckets are finished"), "15000 keys match"]);
    sender.expect(0, &[]);
    assert_eq!(folder.read("matches.csv"), expected(false));
    assert!(records(&folder, "mine").is_empty() && records(&folder, "their").is_empty());
}

/// Records of two runs of the same settings, one of each: what one side has finished is nothing to the other.
#[test]
fn records_of_two_runs_do_not_go_together() {
    let folder = broken_off();
    let of_first = folder.path("mine");
    fs::rename(&of_first, folder.path("first")).expect("kept");
    fs::rename(folder.path("their"), folder.path("first-their")).expect("kept");
    for name in ["mine", "their"] {
        fs::create_dir(folder.path(name)).expect("made");
    }
    let (receiver, sender) = folder.both(&receive(""), &send(""));
    kill_after(&folder, 3, (receiver, sender), "their");
    let (receiver, sender) = folder.join(&receive("").replace("--work mine", "--work first"), &send(""));
    receiver.expect(7, &["cannot go on with one run", "vesica-run-"]);
    sender.expect(7, &["cannot go on with one run"]);
    let (receiver, _) = folder.join(&receive(""), &send(""));
    receiver.expect(0, &["15000 keys match"]);
    assert_eq!(folder.read("matches.csv"), expected(false));
}

/// A partner that says that it has finished all makes no side forget what it has begun; and buckets whose state is lost
/// are refused, and stay.
#[test]
fn what_was_begun_is_not_forgotten_on_a_partners_word() {
    let folder = tables();
    let (receive, send) = (receive("--task cardinality"), send("--task cardinality"));
    let [receive, send] = [receive, send].map(|line| line.replace("vole-fast", "auto"));
    // The receiver has all of a first run, and the sender has ended.
    let (receiver, sender) = folder.join(&receive.replace("matches.csv", "/dev/full"), &send);
    receiver.expect(4, &[]);
    sender.expect(0, &[]);
    // The sender has begun a second one, and finished nothing.
    fs::create_dir(folder.path("second")).expect("made");
    let (receiver, sender) = folder.both(&receive.replace("--work mine", "--work second"), &send);
    kill_after(&folder, 2, (receiver, sender), "their");
    for bucket in kept(&folder, "their", "bucket-") {
        fs::remove_file(bucket).expect("removed");
    }
    let (receiver, sender) = folder.join(&receive, &send);
    for side in [receiver, sender] {
        side.expect(7, &["cannot go on with one run"]);
    }
    assert!(!records(&folder, "their").is_empty() && finished(&folder, "mine") == BUCKETS as usize + 1);
    // Without its state.
    fs::remove_file(&kept(&folder, "mine", "run.json")[0]).expect("removed");
    let (receiver, _) = folder.join(&receive, &send);
    receiver.expect(7, &["cannot go on with one run"]);
    assert_eq!(finished(&folder, "mine"), BUCKETS as usize + 1);
    // A removal that broke off is ended by the next run.
    fs::remove_dir_all(folder.path("mine").join(&records(&folder, "mine")[0])).expect("removed");
    fs::remove_dir_all(folder.path("their").join(&records(&folder, "their")[0])).expect("removed");
    fs::create_dir(folder.path("mine/vesica-gone-0123456789abcdef")).expect("made");
    fs::write(folder.path("mine/vesica-gone-0123456789abcdef/bucket-00001"), "x").expect("written");
    let (receiver, _) = folder.join(&receive, &send);
    receiver.expect(0, &["are common"]);
    assert!(records(&folder, "mine").is_empty());
}

#[test]
fn a_record_that_cannot_be_kept_is_refused_before_anything_is_opened() {
    let folder = tables();
    for (change, said) in [
        (&(|line: String| line.replace("--work mine", "")) as &dyn Fn(String) -> String, "--resume without --work"),
        (&|line: String| format!("{} --both-learn", line.replace(SEMI, "")), "--resume with --both-learn"),
        (&|line: String| format!("{line} --task sum --group-by row"), "--work does not keep groups"),
    ] {
        let line = change(receive(""));
        let ended =
            folder.run(&format!("receive {line} --listen 127.0.0.1:0 --identity us.key --peer them.pub --wait 0.2"));
        ended.expect(2, &[said]);
    }
    assert!(records(&folder, "mine").is_empty());
    // A partner that never comes leaves no record either, even if the table is still being read when the run ends.
    for wait in ["0.2", "0.01", "0.001"] {
        let line = receive("");
        let ended =
            folder.run(&format!("receive {line} --listen 127.0.0.1:0 --identity us.key --peer them.pub --wait {wait}"));
        ended.expect(5, &[]);
        assert!(records(&folder, "mine").is_empty(), "{wait}");
    }
}
