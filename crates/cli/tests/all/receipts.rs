//! Receipts: both sides sign the same statement, and `vesica receipt` tells a right one from a
//! wrong one.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;
use vesica::receipt::Receipt;

use crate::harness::Folder;

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

/// Whatever order and alias each side types.
#[test]
fn a_variant_of_a_protocol_is_agreed_and_stated() {
    let folder = Folder::new();
    folder.write("ours.csv", "email\na@x.org\nb@x.org\n");
    let join = |ours: &str, theirs: &str| {
        folder.join(
            &format!("--input ours.csv --key email --output matches.csv --force --receipt ours.json --protocol {ours}"),
            &format!("--input ours.csv --key email --protocol {theirs}"),
        )
    };
    let (receiver, sender) = join("rr22:okvs=band,tags=sorted", "blazing-fast-psi:tags=sorted,okvs=band");
    receiver.expect(0, &["rr22:okvs=band,tags=sorted"]);
    sender.expect(0, &[]);
    let receipt: Receipt = serde_json::from_str(&folder.read("ours.json")).expect("a receipt");
    assert_eq!((receipt.statement.protocol.as_str(), receipt.verify()), ("rr22:okvs=band,tags=sorted", (true, true)));

    let (receiver, sender) = join("rr22:okvs=band", "rr22");
    receiver.expect(7, &["--protocol", "rr22:okvs=band"]);
    sender.expect(7, &["--protocol", "rr22:okvs=band"]);
    let (receiver, _) = join("rr22:okvs=paxos", "rr22");
    receiver.expect(11, &["paxos", "okvs=clustered or okvs=band"]);
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
