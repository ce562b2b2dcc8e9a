//! `--dry-run`: both sides meet and compare their settings, and nothing of a table reaches the partner.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::Command;
use std::thread::{self, JoinHandle};

use serde_json::Value;

use crate::harness::{Ended, Folder, RECEIVER, SENDER};

const RECEIVE: &str = "--input ours.csv --key email --output matches.csv --dry-run";
const SEND: &str = "--input theirs.csv --key mail --dry-run";

fn tables() -> Folder {
    let folder = Folder::new();
    folder.write("ours.csv", "email,region,spent\na@x.org,n,1\nb@x.org,s,2\n,s,3\n");
    folder.write("theirs.csv", "mail,score,amount\na@x.org,9,1.25\nb@x.org,8,-3\nz@x.org,7,2\n");
    folder
}

/// Nothing but what was there before, and what the first use of an identity or a calibration makes.
#[track_caller]
fn assert_nothing_written(folder: &Folder) {
    let known = ["cache", "configuration", "ours.csv", "theirs.csv", "them.key", "them.pub", "us.key", "us.pub"];
    let files = folder.files();
    let new: Vec<&String> = files.iter().filter(|file| !known.contains(&file.as_str())).collect();
    assert!(new.is_empty(), "{new:?}");
}

fn json(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {} {}", ended.stdout, ended.stderr))
}

#[test]
fn each_task_is_tried_and_nothing_is_written() {
    let semi = "--security semi-honest";
    for (task, receive, send, revealed) in [
        (
            "intersect",
            "--receipt r.json",
            "--payload score",
            "which of its keys the sender has, and the sender's score",
        ),
        ("union", semi, &*format!("{semi} --payload score"), "to the receiver"),
        (
            "cardinality",
            &*format!("{semi} --group-by region"),
            &*format!("{semi} --max-groups 5"),
            "how many keys are common",
        ),
        ("sum", semi, &*format!("{semi} --payload amount --scale amount=2"), "sums of the sender's amount"),
        (
            "join-and-compute",
            &*format!("{semi} --payload spent"),
            &*format!("{semi} --payload amount --scale amount=2"),
            "amount",
        ),
        ("union-cardinality", semi, semi, "to the receiver"),
        ("union-sum", &*format!("{semi} --payload spent"), &*format!("{semi} --payload score"), "to the receiver"),
        (
            "shares",
            &*format!("{semi} --payload spent"),
            &*format!("{semi} --payload score --output s.shares"),
            "shares",
        ),
    ] {
        let folder = tables();
        // The protocols of these two were never measured.
        let has_time = !task.starts_with("union-");
        let receive = format!("{RECEIVE} --task {task} {receive}");
        let receive = if task == "shares" { receive.replace("matches.csv", "r.shares") } else { receive };
        let (receiver, sender) =
            folder.join(&format!("{receive} --expect-peer-items 1e6"), &format!("{SEND} --task {task} {send} --json"));
        receiver.expect(
            0,
            &[
                "the partner has the key ",
                "as it should, and the same settings",
                "own table: 3 rows, 2 distinct keys (1 row without a usable key, 0 duplicates)",
                "a run would reveal:\n  to ",
                revealed,
                "1000000 of the sender and 2 of the receiver",
                "estimate for 2 own keys and 1000000 of the partner (as you expect):",
                " over 1 Gbit/s with a round trip of 10 ms, ",
                if has_time { " MB, receives " } else { "an unknown time over " },
                "of memory beside the table",
                "dry run: your partner learned your settings and nothing of your table; no file was written",
            ],
        );
        sender.expect(0, &[]);
        let report = json(&sender);
        assert_eq!((&report["ok"], &report["dry_run"], &report["task"]), (&true.into(), &true.into(), &task.into()));
        assert_eq!(report["input"]["distinct"], 3, "{task}");
        let estimate = &report["estimate"];
        assert_eq!((&estimate["own_items"], &estimate["peer_items"]), (&3.into(), &3.into()), "{task}: {report}");
        assert_eq!(estimate["peer_items_are_own"], true);
        assert_eq!(estimate["seconds"].as_f64().is_some_and(|seconds| seconds > 0.0), has_time, "{task}: {report}");
        assert!(estimate["total_bytes"].as_u64().is_some_and(|bytes| bytes > 0), "{task}: {report}");
        assert_nothing_written(&folder);
    }
}

/// What only the receiver's table tells is bounded by what the sender allows.
#[test]
fn both_sides_hear_of_groups_and_thresholds_as_in_a_run() {
    let folder = tables();
    let shared = "--task cardinality --security semi-honest --reveal-if-at-least 2";
    let (receive, send) = (format!("{shared} --group-by region"), format!("{shared} --max-groups 5"));
    let (receiver, sender) = folder.join(&format!("{RECEIVE} {receive}"), &format!("{SEND} {send}"));
    receiver.expect(
        0,
        &["how many keys are common, in each of 2 groups of the receiver's keys, where at least 2 keys are common"],
    );
    sender.expect(
        0,
        &[
            "how many keys are common, in each of up to 5 groups of the receiver's keys, where at least 2 keys are common",
            "to the sender: that the receiver's keys are in up to 5 groups",
        ],
    );
    let run = |flags: &str| flags.replace("--dry-run", "");
    let (receiver, sender) = folder.join(&run(&format!("{RECEIVE} {receive}")), &run(&format!("{SEND} {send}")));
    for ended in [receiver, sender] {
        ended.expect(0, &["in each of 2 groups of the receiver's keys, where at least 2 keys are common"]);
    }
}

#[test]
fn settings_that_differ_are_named_on_both_sides() {
    let folder = tables();
    let (receiver, sender) = folder.join(&format!("{RECEIVE} --normalise email=lower"), &format!("{SEND} --json"));
    receiver.expect(7, &["--normalise", "lower@1", "the two sides did not agree", "own table: 3 rows"]);
    sender.expect(7, &["--normalise", "lower@1"]);
    let report = json(&sender);
    assert_eq!((&report["ok"], &report["disagreement"]["code"]), (&false.into(), &7.into()));
    assert_nothing_written(&folder);
}

/// In either direction, whichever side connects.
#[test]
fn one_side_alone_cannot_try() {
    let folder = tables();
    for (receive, send) in [(RECEIVE, &*SEND.replace(" --dry-run", "")), (&*RECEIVE.replace(" --dry-run", ""), SEND)] {
        let (receiver, sender) = folder.join(receive, send);
        for ended in [receiver, sender] {
            ended.expect(7, &["--dry-run is ", "\"true\" on the ", "\"false\" on the ", "say --dry-run on both sides"]);
        }
        assert_nothing_written(&folder);
    }
}

#[test]
fn a_partner_with_another_key_is_refused() {
    let folder = tables();
    let other = folder.run("identity new --out other.key");
    assert_eq!(other.code, 0, "{}", other.stderr);
    let receiver = folder.start(&format!("receive {} {RECEIVE}", RECEIVER.replace("--wait 20", "--wait 3")));
    let address = receiver.address();
    let sender = SENDER.replace("them.key", "other.key").replace("--wait 20", "--wait 3");
    let sender = folder.run(&format!("send {sender} --connect {address} {SEND}"));
    assert_ne!(sender.code, 0, "{}", sender.stderr);
    assert!(!sender.stderr.contains("as it should"), "{}", sender.stderr);
    let receiver = receiver.end();
    assert_ne!(receiver.code, 0);
    // The own table is looked at all the same.
    receiver.expect(receiver.code, &["the two sides did not agree", "own table: 3 rows, 2 distinct keys"]);
}

/// The receiver of a sum does not hear of the sender's faults, whose own exit code is that of a run.
#[test]
fn faults_are_counted_with_their_first_rows_and_stay_at_home() {
    let folder = tables();
    let good = "k1,1.25,secret\n".to_owned();
    let rows: String = (2..=40).map(|row| format!("k{row},{},x\n", if row % 2 == 0 { "oops" } else { "3" })).collect();
    let bad = "k3,4,x\nk5,1.234,x\n,bad,x\nk99,\n";
    folder.write("theirs.csv", format!("mail,amount,note\n{good}{rows}{bad}"));
    let sum = "--task sum --security semi-honest";
    let send = format!("{SEND} {sum} --payload amount --scale amount=2");
    let (receiver, sender) = folder.join(&format!("{RECEIVE} {sum}"), &send);
    receiver.expect(0, &["and the same settings"]);
    assert!(!receiver.stderr.contains("fault"), "{}", receiver.stderr);
    sender.expect(
        3,
        &[
            "own table: 44 rows, 40 distinct keys",
            "column `amount`: 20 times a value that is not a decimal number",
            "first in rows 2, 4, 6, 8, 10, 12, 14, 16, 18, 20\n",
            "column `amount`: once a value that has more than the 2 digits after the point of --scale, in row 42\n",
            "once a row that has the key of an earlier row, and other values or another group, in row 41\n",
            "once a row that has not as many columns as the header, which has 3, in line 45 of theirs.csv\n",
            "correct the value, or remove the row",
            "and the same settings",
            "error: a run would end at your own table, which has 23 faults",
        ],
    );
    assert!(
        ["oops", "secret", "k99"].iter().all(|value| !sender.stderr.contains(value)),
        "no value: {}",
        sender.stderr
    );
    assert_nothing_written(&folder);
    // A run ends at the first.
    let (_, sender) =
        folder.join(&format!("{RECEIVE} {sum}").replace(" --dry-run", ""), &send.replace(" --dry-run", ""));
    sender.expect(3, &["row 2 of theirs.csv"]);
}

#[test]
fn what_keeps_a_side_from_a_run_without_a_fault_is_told() {
    let folder = tables();
    folder.write("matches.csv", "is kept");
    let (receiver, sender) = folder.join(RECEIVE, &format!("{SEND} --pad-to 2"));
    receiver.expect(4, &["matches.csv exists already", "and the same settings"]);
    sender.expect(2, &["--pad-to 2 is less than the 3 distinct keys"]);
    assert_eq!(folder.read("matches.csv"), "is kept");
    let missing = SEND.replace("theirs.csv", "missing.csv");
    let (receiver, sender) = folder.join(&format!("{RECEIVE} --force"), &missing);
    receiver.expect(0, &["and the same settings"]);
    sender.expect(3, &["and the same settings", "cannot open missing.csv", "which has 1 fault\n", "check the path"]);
    let refused = "--normalise email=date";
    let (receiver, sender) =
        folder.join(&format!("{RECEIVE} --force {refused}"), &format!("{SEND} --normalise mail=date"));
    receiver
        .expect(3, &["a run would leave out the rows of these values", "is refused by a normaliser, in rows 1, 2\n"]);
    sender.expect(3, &["column `mail`: 3 times", "no row of theirs.csv has a usable key"]);
}

#[test]
fn an_output_that_cannot_be_written_is_told() {
    let folder = tables();
    for (output, code, text) in [
        ("nowhere/out.csv", 4, "nowhere/out.csv"),
        ("out.xyz", 2, "files with this ending are not written"),
        ("out.csv --receipt nowhere/r.json", 4, "nowhere/r.json"),
    ] {
        let (receiver, sender) = folder.join(&RECEIVE.replace("matches.csv", output), SEND);
        receiver.expect(code, &[text, "and the same settings"]);
        sender.expect(0, &[]);
        assert_nothing_written(&folder);
    }
}

/// The table comes from a pipe that stays open: the partner ends all the same.
#[test]
fn the_partner_does_not_wait_for_the_table() {
    let folder = tables();
    let mut receiver = folder.start(&format!("receive {RECEIVER} {RECEIVE}"));
    receiver.stdin = None;
    let address = receiver.address();
    let mut sender = folder.start(&format!("send {SENDER} --connect {address} {}", SEND.replace("theirs.csv", "-")));
    receiver.end().expect(0, &["and the same settings"]);
    let mut table = sender.stdin.take().expect("open");
    table.write_all(b"mail\nq@x.org\n").expect("written");
    drop(table);
    sender.end().expect(0, &["own table: 1 row, 1 distinct key"]);
}

/// Passes on one connection to `address`, and gives what the side that listens there received and sent.
fn relay(address: String) -> (String, JoinHandle<[Vec<u8>; 2]>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("bound");
    let here = listener.local_addr().expect("an address").to_string();
    let relayed = thread::spawn(move || {
        let (near, _) = listener.accept().expect("a connection");
        let far = TcpStream::connect(address).expect("connected");
        let copy = |mut from: TcpStream, mut to: TcpStream| {
            thread::spawn(move || {
                let (mut all, mut block) = (Vec::new(), [0; 4096]);
                while let Ok(count @ 1..) = from.read(&mut block) {
                    all.extend_from_slice(&block[..count]);
                    if to.write_all(&block[..count]).is_err() {
                        break;
                    }
                }
                let _ = to.shutdown(Shutdown::Write);
                all
            })
        };
        let there = copy(near.try_clone().expect("a handle"), far.try_clone().expect("a handle"));
        let back = copy(far, near);
        [there, back].map(|copied| copied.join().expect("copied"))
    });
    (here, relayed)
}

/// A conversation without what is drawn at random or is the time: the bytes beside the settings, and the settings.
fn told(bytes: &[u8]) -> (usize, Value) {
    let text = String::from_utf8_lossy(bytes);
    let start = text.find("{\"role\"").expect("settings");
    let mut objects = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
    let mut settings = objects.next().expect("an object").expect("JSON");
    let length = objects.byte_offset();
    for random in ["clock", "nonce", "salt_commitment"] {
        settings.as_object_mut().expect("an object").remove(random).expect(random);
    }
    (bytes.len() - length, settings)
}

/// Over plaintext, so that the bytes show: a small sound table and a large one full of faults say the same.
#[test]
fn what_the_partner_receives_does_not_depend_on_the_table() {
    let folder = tables();
    let sum = "--task sum --security semi-honest --insecure-plaintext --wait 20";
    let faulty: String = (0..50_000).map(|row| format!("key{row},word\n")).collect();
    let mut conversations = Vec::new();
    for (table, code) in [("mail,amount\nq,1\n".to_owned(), 0), (format!("mail,amount\n{faulty}"), 3)] {
        folder.write("theirs.csv", table);
        let receiver = folder.start(&format!("receive --listen 127.0.0.1:0 {RECEIVE} {sum}"));
        let (address, relayed) = relay(receiver.address());
        let sender = folder.run(&format!("send --connect {address} {SEND} {sum} --payload amount"));
        let ended = receiver.end();
        ended.expect(0, &["the partner has the same settings; nothing proves who it is"]);
        assert_eq!(sender.code, code, "{}", sender.stderr);
        conversations.push(relayed.join().expect("relayed").map(|bytes| told(&bytes)));
    }
    assert_eq!(conversations[0], conversations[1]);
    // Settings and goodbye, without sizes.
    let (beside, settings) = &conversations[0][0];
    assert!(*beside < 1000 && settings["dry_run"] == true && settings.get("items").is_none(), "{beside} {settings}");
}

#[test]
fn only_the_command_line_makes_a_run_a_dry_one() {
    let folder = tables();
    folder.write(
        "job.toml",
        "task = \"intersect\"\n[receiver]\ninput = \"ours.csv\"\nkey = \"email\"\noutput = \"matches.csv\"\n\
         [sender]\ninput = \"theirs.csv\"\nkey = \"mail\"\n",
    );
    let mut receiver = folder.start(&format!("run job.toml --role receiver {RECEIVER} --dry-run"));
    receiver.stdin = None;
    let address = receiver.address();
    let sender = folder.run(&format!("run job.toml --role sender {SENDER} --connect {address} --dry-run"));
    sender.expect(0, &["dry run:"]);
    receiver.end().expect(0, &["dry run:"]);
    assert!(!folder.files().contains(&"matches.csv".to_owned()));

    let line = "receive --listen 127.0.0.1:0 --identity us.key --input ours.csv --key email --output o.csv";
    folder.write("job.toml", folder.read("job.toml").replace("task =", "dry-run = true\ntask ="));
    let refused = folder.run(&format!("run job.toml --role receiver {RECEIVER}"));
    refused.expect(2, &["line 1: `dry-run` cannot stand in a file", "type --dry-run"]);
    let key = folder.read("them.pub");
    folder.write("peers.toml", format!("[them]\nkey = \"{}\"\n[them.defaults]\ndry-run = true\n", key.trim()));
    let refused = folder.run(&format!("{line} --peers peers.toml --peer them"));
    refused.expect(2, &["line 4: `dry-run` cannot stand in a file", "type --dry-run"]);
    let refused = folder.run(&format!("{line} --peer them.pub --expect-peer-items 5"));
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("--dry-run"), "{}", refused.stderr);
    let mut command = Command::new(crate::PROGRAM);
    command.env("VESICA_DRY_RUN", "1");
    let refused = folder.start_under(command, &format!("{line} --peer them.pub")).end();
    refused.expect(2, &["the environment has VESICA_DRY_RUN, which means nothing", "type --dry-run"]);
}
