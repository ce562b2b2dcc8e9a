//! Joins in buckets (`--buckets`) between two processes.

use serde_json::{Value, json};

use crate::harness::{Ended, Folder};

const SEMI: &str = "--security semi-honest";
/// The default, said.
const MALICIOUS: &str = "--security malicious";
const RECEIVE: &str = "--input ours.csv --key id --output matches.csv --force";
const SEND: &str = "--input theirs.csv --key id";

/// 3000 keys here and 2000 there, 1000 of them common; each key twice on this side.
fn tables() -> Folder {
    let folder = Folder::new();
    let ours: String = (0..6000).map(|row| format!("{},{row}\n", row * 7 % 3000)).collect();
    let theirs: String = (2000..4000).rev().map(|key| format!("{key},s{key}\n")).collect();
    folder.write("ours.csv", format!("id,row\n{ours}"));
    folder.write("theirs.csv", format!("id,score\n{theirs}"));
    folder
}

/// The receiver's rows, with the sender's column if it gives it.
fn expected(with_score: bool) -> String {
    let rows = (0..6000).filter(|row| row * 7 % 3000 >= 2000);
    let line = |row: usize| match with_score {
        true => format!("{0},{row},s{0}\n", row * 7 % 3000),
        false => format!("{},{row}\n", row * 7 % 3000),
    };
    format!("id,row{}\n", if with_score { ",score" } else { "" }) + &rows.map(line).collect::<String>()
}

fn report(ended: &Ended) -> Value {
    ended.expect(0, &[]);
    serde_json::from_str(&ended.stdout).expect("one JSON object")
}

#[test]
fn a_join_in_buckets_gives_the_rows_in_order_and_one_receipt() {
    let folder = tables();
    for (buckets, score, security) in
        [(1, "", SEMI), (3, "--payload score", SEMI), (64, "", SEMI), (4, "--payload score", MALICIOUS), (9, "", "")]
    {
        let (receiver, sender) = folder.join(
            &format!("{RECEIVE} {security} --buckets {buckets} --receipt r{buckets}.json --json"),
            &format!("{SEND} {security} --buckets {buckets} {score} --json"),
        );
        let (received, sent) = (report(&receiver), report(&sender));
        assert_eq!(folder.read("matches.csv"), expected(!score.is_empty()), "{buckets} buckets");
        assert_eq!([&received["buckets"], &sent["buckets"]], [&json!(buckets), &json!(buckets)]);
        assert_eq!([&received["own_items"], &received["peer_items"]], [&json!(3000), &json!(2000)]);
        assert_eq!((&received["matched_keys"], &sent["matched_keys"]), (&json!(1000), &Value::Null));
        assert_eq!(received["revealed"], sent["revealed"]);
        let receipt: Value = serde_json::from_str(&folder.read(&format!("r{buckets}.json"))).expect("a receipt");
        let stated = (buckets > 1).then_some(buckets);
        assert_eq!(receipt["statement"]["buckets"], json!(stated), "absent where it is 1");
        let withstood = if security == SEMI { "semi-honest" } else { "malicious" };
        assert_eq!([&received["security"], &receipt["statement"]["security"]], [withstood; 2]);
        let shown = folder.run(&format!("receipt r{buckets}.json"));
        shown.expect(0, &[]);
        assert_eq!(shown.stdout.contains(&format!("{buckets} of one size")), buckets > 1, "{}", shown.stdout);
    }
}

#[test]
fn both_sides_must_say_the_same() {
    let folder = tables();
    let (receiver, sender) =
        folder.join(&format!("{RECEIVE} {SEMI} --buckets 3"), &format!("{SEND} {SEMI} --buckets 4"));
    for side in [receiver, sender] {
        side.expect(7, &["--buckets is", "\"3\" on the receiver's", "\"4\" on the sender's"]);
    }
    assert!(!folder.files().contains(&"matches.csv".to_owned()));
}

/// The third pass: the sender hears of its matches when all else is done.
#[test]
fn both_sides_learn_in_buckets_against_a_malicious_partner() {
    let folder = tables();
    let flags = format!("{MALICIOUS} --buckets 5 --both-learn --json");
    let (receiver, sender) =
        folder.join(&format!("{RECEIVE} {flags}"), &format!("{SEND} {flags} --output theirs-matched.csv"));
    let (received, sent) = (report(&receiver), report(&sender));
    assert_eq!([&received["matched_keys"], &sent["matched_keys"]], [&json!(1000); 2]);
    assert_eq!(folder.read("matches.csv"), expected(false));
    let theirs: String = (2000..3000).rev().map(|key| format!("{key},s{key}\n")).collect();
    assert_eq!(folder.read("theirs-matched.csv"), format!("id,score\n{theirs}"));
}

#[test]
fn a_sender_that_is_killed_between_buckets_leaves_no_result() {
    let folder = Folder::new();
    let table: String = (0..60_000).map(|key| format!("{key}\n")).collect();
    folder.write("ours.csv", format!("id\n{table}"));
    folder.write("theirs.csv", format!("id\n{table}"));
    let flags = format!("{MALICIOUS} --buckets 64");
    let (receiver, mut sender) = folder.both(&format!("{RECEIVE} {flags} -v"), &format!("{SEND} {flags}"));
    receiver.says("running vole-");
    std::thread::sleep(std::time::Duration::from_millis(300));
    sender.child.kill().expect("killed");
    receiver.end().expect(10, &["the connection to the partner failed"]);
    assert!(!folder.files().contains(&"matches.csv".to_owned()));
}

#[test]
fn other_tasks_protocols_and_numbers_are_refused_on_both_sides() {
    let folder = tables();
    for (flags, code, fault) in [
        ("--buckets 2 --protocol ecdh-hfh99", 11, "ecdh-hfh99 has no malicious mode"),
        ("--buckets 2 --security semi-honest --task shares", 2, "--buckets is not for this task"),
        ("--buckets 2 --security semi-honest --task union --work .", 2, "--work is not for this task"),
        ("--buckets 2 --security semi-honest --task union --work . --resume", 2, "--resume is not for this task"),
        ("--buckets 2 --security malicious --task union", 11, "malicious"),
        ("--buckets 0", 2, "invalid value '0' for '--buckets <N|auto>'"),
        ("--buckets 65537", 2, "65537 is not in 1..=65536"),
    ] {
        for side in [format!("receive {RECEIVE} --listen 127.0.0.1:0"), format!("send {SEND} --connect 127.0.0.1:1")] {
            let (key, peer) = if side.starts_with("receive") { ("us.key", "them.pub") } else { ("them.key", "us.pub") };
            let ended = folder.run(&format!("{side} --identity {key} --peer {peer} --wait 0.2 {flags}"));
            assert!(ended.code == code && ended.stderr.contains(fault), "{flags}: {}", ended.stderr);
        }
    }
}

/// A job file has the setting, too, and a dry run counts all buckets.
#[test]
fn a_dry_run_in_buckets_estimates_all_of_them() {
    let folder = tables();
    let bytes = |buckets: u32| {
        let dry = format!("{SEMI} --protocol ecdh-hfh99 --buckets {buckets} --dry-run --json");
        let (receiver, sender) = folder.join(&format!("{RECEIVE} {dry}"), &format!("{SEND} {dry}"));
        let found = report(&receiver);
        report(&sender);
        found["estimate"]["total_bytes"].as_u64().expect("an estimate")
    };
    let (whole, divided) = (bytes(1), bytes(10));
    // 3000 keys in 10 buckets of 434: the bound at 2^-44.
    assert!(divided > whole * 13 / 10 && divided < whole * 16 / 10, "{whole} {divided}");
}
