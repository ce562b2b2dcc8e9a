//! Receipts: both sides sign the same statement, and `vesica receipt` tells a right one from a
//! wrong one.

use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;
use vesica::party::transport::tls::PublicKey;
use vesica::receipt::Receipt;

use crate::harness::{Folder, RECEIVER, SENDER};

/// A join that leaves ours.json and theirs.json.
fn joined(folder: &Folder) -> (Receipt, Receipt) {
    folder.write("ours.csv", "id,email\n1,a@x.org\n2,b@x.org\n3,\n4,a@x.org\n5,c@x.org\n");
    folder.write("theirs.csv", "mail,score\nc@x.org,7\na@x.org,9\nz@x.org,1\n,5\n");
    let (receiver, sender) = folder.join(
        "--input ours.csv --key email --output matches.csv --force --receipt ours.json",
        "--input theirs.csv --key mail --force --receipt theirs.json",
    );
    receiver.expect(0, &["receipt: ours.json"]);
    sender.expect(0, &[]);
    let read = |name| serde_json::from_str(&folder.read(name)).expect("a receipt");
    (read("ours.json"), read("theirs.json"))
}

#[test]
fn both_sides_sign_the_same_statement_which_holds_no_result() {
    let folder = Folder::new();
    let (ours, theirs) = joined(&folder);
    assert_eq!(ours.statement.signed_bytes(), theirs.statement.signed_bytes());
    assert_eq!(folder.read("ours.json"), folder.read("theirs.json"));
    assert_eq!(ours.verify(), (true, true));
    assert_eq!((ours.statement.sender_items, ours.statement.receiver_items), (3, 3));
    assert_eq!(ours.statement.broken, None);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs();
    assert!(ours.statement.started_at.abs_diff(now) < 600, "dated by the clock");
    let (again, _) = joined(&folder);
    assert_eq!((again.statement.transcript.len(), again.statement.session.len()), (64, 64));
    assert_ne!(ours.statement.transcript, again.statement.transcript, "every run has its own");
}

#[test]
fn one_side_may_keep_a_receipt_alone() {
    let folder = Folder::new();
    folder.write("ours.csv", "email\na@x.org\n");
    let (receiver, sender) = folder.join(
        "--input ours.csv --key email --output matches.csv",
        "--input ours.csv --key email --receipt theirs.json",
    );
    receiver.expect(0, &[]);
    sender.expect(0, &[]);
    folder.run("receipt theirs.json --peer us.pub").expect(0, &[]);
    assert!(!folder.files().contains(&"ours.json".into()));
}

#[test]
fn a_right_receipt_is_told_from_a_wrong_one() {
    let folder = Folder::new();
    joined(&folder);
    for (file, peer) in [("ours.json", "them.pub"), ("theirs.json", "us.pub")] {
        let shown = folder.run(&format!("receipt {file} --peer {peer}"));
        shown.expect(0, &[]);
        for text in
            ["intersect", "3 of the sender, 3 of the receiver", "the sender's signature is valid, the receiver's valid"]
        {
            assert!(shown.stdout.contains(text), "{text:?} is missing in: {}", shown.stdout);
        }
    }
    let shown = folder.run("receipt ours.json --json");
    shown.expect(0, &[]);
    let report: Value = serde_json::from_str(&shown.stdout).expect("one JSON object");
    assert_eq!((&report["ok"], &report["receipt"]["statement"]["receiver_items"]), (&true.into(), &3.into()));

    let right = folder.read("ours.json");
    let transcript = serde_json::from_str::<Receipt>(&right).expect("a receipt").statement.transcript;
    let other = if transcript.starts_with('0') { "1" } else { "0" };
    let changes = [
        (
            "\"sender_items\": 3",
            "\"sender_items\": 4".to_owned(),
            "the sender's signature is WRONG, the receiver's WRONG",
        ),
        (transcript.as_str(), format!("{other}{}", &transcript[1..]), "WRONG"),
        (
            "\"sender_signature\": \"",
            "\"sender_signature\": \"zz".to_owned(),
            "the sender's signature is WRONG, the receiver's valid",
        ),
    ];
    for (from, to, says) in changes {
        assert!(right.contains(from), "{from}");
        folder.write("wrong.json", right.replacen(from, &to, 1));
        folder.run("receipt wrong.json").expect(6, &["the receipt is not valid", says]);
        let report: Value =
            serde_json::from_str(&folder.run("receipt wrong.json --json").stdout).expect("one JSON object");
        assert_eq!((&report["ok"], &report["error"]["code"]), (&false.into(), &6.into()));
    }
    let mut half: Value = serde_json::from_str(&right).expect("JSON");
    half["receiver_signature"] = Value::Null;
    folder.write("half.json", half.to_string());
    folder.run("receipt half.json").expect(6, &["the sender's signature is valid, the receiver's missing"]);

    folder.run("identity new --out third.key").expect(0, &[]);
    folder.run("receipt ours.json --peer third.pub").expect(6, &["is neither side of the receipt"]);
    half["approved_by"] = "nobody signed this".into();
    folder.write("more.json", half.to_string());
    folder.run("receipt more.json").expect(3, &["it is no receipt"]);
    folder.run("receipt absent.json").expect(3, &["absent.json"]);
}

/// What an auditor asks for stands on the page, in words.
#[test]
fn a_receipt_is_shown_in_words() {
    let folder = Folder::new();
    let (ours, _) = joined(&folder);
    let shown = folder.run("receipt ours.json");
    shown.expect(0, &[]);
    let text = shown.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let fingerprint = |line: &str| line.parse::<PublicKey>().expect("a key").fingerprint().to_string();
    let wanted = [
        "Both signatures are valid",
        "The receiver finds out which of its keys the sender has too (intersect)",
        "secure against a partner that breaks the rules (malicious)",
        "3 of the sender, 3 of the receiver: distinct keys, padding included",
        "receiver learned which of its keys the sender has",
        "kept from receiver beyond the above: any other key of the sender",
        "kept from sender beyond the above: any key of the receiver",
        "2^128 work",
        "at most 2^-40",
        "assumptions",
        &ours.statement.transcript,
        &fingerprint(&ours.statement.sender_key),
        &fingerprint(&ours.statement.receiver_key),
    ];
    for wanted in wanted {
        assert!(text.contains(wanted), "{wanted:?} is missing in: {}", shown.stdout);
    }
    let (_, date) = text.split_once(" date ").expect("a date");
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs();
    assert_eq!(date.as_bytes().get(10..20).map(|rest| (rest[0], rest[9])), Some((b'T', b'Z')), "{date}");
    assert!((now / 31_557_600 + 1970).abs_diff(date[..4].parse().expect("a year")) <= 1, "{date}");
    assert!(shown.stdout.lines().all(|line| line.chars().count() <= 130), "{}", shown.stdout);
}

/// Old receipts whose terms are known: what was asked for, and bounds in words.
#[test]
fn receipts_of_other_tasks_are_shown_in_words() {
    let folder = Folder::new();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../vesica/tests/receipts/");
    for (name, wanted) in [
        (
            "wire-5-intersect.json",
            ["2026-11-23T03:10:48Z", "2^124 calls of AES", "amount of the sender, 7 bytes a key"],
        ),
        (
            "wire-5-sum.json",
            ["secure against a partner that follows the rules", "2^124 calls of AES", "amount=-50.00..50.00"],
        ),
    ] {
        folder.write(name, std::fs::read(format!("{path}{name}")).expect("a receipt"));
        let shown = folder.run(&format!("receipt {name}"));
        shown.expect(0, &[]);
        for wanted in wanted {
            assert!(shown.stdout.contains(wanted), "{wanted:?} is missing in: {}", shown.stdout);
        }
    }
}

/// Names come from the partner: nothing of them may become markup, and nothing may be fetched.
#[test]
fn a_page_of_a_receipt_is_plain_whatever_the_partner_called_its_columns() {
    let folder = Folder::new();
    let hostile = "<script>alert(1)</script><img src='//evil.example/x' onerror=alert(2)>&\"\u{202e}";
    let quoted = format!("\"{}\"", hostile.replace('"', "\"\""));
    folder.write("theirs.csv", format!("mail,{quoted}\na@x.org,1\n"));
    folder.write("ours.csv", "email\na@x.org\n");
    let mut receiver =
        folder.start(&format!("receive {RECEIVER} --input ours.csv --key email --output m.csv --receipt r.json"));
    receiver.stdin = None;
    let address = receiver.address();
    let mut send = Command::new(crate::PROGRAM);
    send.args(["send", "--payload", &quoted]);
    let sender = folder.start_under(send, &format!("{SENDER} --connect {address} --input theirs.csv --key mail"));
    sender.end().expect(0, &[]);
    receiver.end().expect(0, &[]);
    let receipt: Receipt = serde_json::from_str(&folder.read("r.json")).expect("a receipt");
    assert_eq!(receipt.statement.payload_columns, [hostile]);

    folder.run("receipt r.json --html page.html").expect(0, &[]);
    let page = folder.read("page.html");
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "the name is shown: {page}");
    for bad in ["<script", "<img", "\u{202e}", "<link", "url("] {
        assert!(!page.contains(bad), "{bad:?} in: {page}");
    }
    for wanted in ["default-src 'none'", "prefers-color-scheme: dark", "@media print", "Both signatures are valid"] {
        assert!(page.contains(wanted), "{wanted:?} is missing in: {page}");
    }
    // Words first: figures, keys and hashes are folded away.
    let unfolded: String =
        page.split("<details>").map(|part| part.rsplit("</details>").next().unwrap_or(part)).collect();
    let figures = ["2^", "log2", "corrupt", "vesica-ed25519", &receipt.statement.transcript, "ideal cipher"];
    for figure in figures {
        assert!(page.contains(figure) && !unfolded.contains(figure), "{figure} in: {unfolded}");
    }
    for words in
        ["which of its keys the sender has", "if it breaks the rules", "fingerprint", "A receipt is a statement"]
    {
        assert!(unfolded.contains(words), "{words} is missing in: {unfolded}");
    }
    folder.run("receipt r.json --html page.html").expect(4, &["page.html exists already"]);
    folder.write("page.html", "old");
    folder.run("receipt r.json --html page.html --force").expect(0, &[]);
    assert_eq!(folder.read("page.html"), page, "the same receipt gives the same page");
    assert_eq!(folder.run("receipt r.json --html page.html --json").code, 2);

    // A page of a receipt that proves nothing says so first.
    folder.write("wrong.json", folder.read("r.json").replacen("\"groups\": 1", "\"groups\": 2", 1));
    folder.run("receipt wrong.json --html wrong.html").expect(6, &["the receipt is not valid"]);
    let wrong = folder.read("wrong.html");
    assert!(wrong.contains("DO NOT RELY ON THIS RECEIPT") && !wrong.contains("Both signatures are valid"), "{wrong}");
}

/// The commits of a cluster's run, which tests of the engine and of Spark make, and folders that are none.
#[test]
fn commits_that_are_not_those_of_the_run_are_refused() {
    let folder = Folder::new();
    joined(&folder);
    folder.run("receipt ours.json --commits none").expect(3, &["cannot read the commits in none", "a driver left"]);
    std::fs::create_dir(folder.path("commits")).expect("a folder");
    folder
        .run("receipt ours.json --commits commits")
        .expect(6, &["do not belong to this receipt", "0 of 1 buckets count"]);
    folder.write("commits/0.json", "{\"wave\": 0, \"key\": \"a@x.org\"}");
    let refused = folder.run("receipt ours.json --commits commits");
    refused.expect(3, &["0.json", "no commit (line 1)"]);
    assert!(!refused.stderr.contains("a@x.org"), "a file that is named by mistake is not shown");
}
