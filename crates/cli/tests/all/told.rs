//! A side that cannot start tells its partner what class of thing is at fault, and no more; each
//! fault is printed once on each side.

use std::net::TcpListener;

use crate::harness::{Ended, Folder};

fn tables() -> Folder {
    let folder = Folder::new();
    folder.write("ours.csv", "id,email\n1,a@x.org\n");
    folder.write("theirs.csv", "mail,amount\na@x.org,1\n");
    folder.write("unfit.csv", "mail,amount\na@x.org,many\n");
    folder.write("matches.csv", "precious\n");
    folder.write("old.json", "{}");
    folder.write("broken-budget.json", "{");
    folder
}

/// Own words that the partner must not hear.
const OWN: [&str; 9] = ["theirs", "unfit", "mail", "amount", "matches", "old.json", "budget.json", "nowhere", "md5"];

#[track_caller]
fn expect(failed: &Ended, code: i32, fault: &str, partner: &Ended, told: &str) {
    failed.expect(code, &[fault, "the partner has been told"]);
    assert_eq!(failed.stderr.matches("error: ").count(), 1, "{}", failed.stderr);
    assert_eq!(failed.stderr.matches(fault).count(), 1, "{}", failed.stderr);
    partner.expect(9, &[told, "follow the error message there"]);
    assert_eq!(partner.stderr.matches("the partner failed").count(), 1, "{}", partner.stderr);
    for word in OWN {
        assert!(!partner.stderr.contains(word), "the partner hears {word:?}: {}", partner.stderr);
    }
}

const SETTINGS: &str = "its settings are not usable";
const INPUT: &str = "its input table cannot be used";
const OUTPUT: &str = "it cannot write its output";

#[test]
fn a_receiver_that_waits_hears_why_the_sender_cannot_start() {
    let folder = tables();
    let sum = "--input theirs.csv --key mail --task sum --security semi-honest";
    let epsilon = "--payload amount --clamp amount=0..5 --epsilon 0.1 --budget";
    for (send, code, fault, told) in [
        ("--input theirs.csv --key mail --protocol md5".to_owned(), 11, "there is no protocol", SETTINGS),
        ("--input theirs.csv --key mail --task guess".into(), 11, "guess", SETTINGS),
        ("--input theirs.csv --key mail --normalise mail=sha256".into(), 2, "there is no normaliser", SETTINGS),
        ("--input theirs.csv --key mail --output x.csv".into(), 2, "this side has no result", SETTINGS),
        (sum.into(), 2, "a sum needs a column", SETTINGS),
        (format!("{sum} --payload amount --scale amount=many"), 2, "amount=many", SETTINGS),
        (
            format!("{sum} {epsilon} none.json"),
            3,
            "cannot use the budget none.json",
            "its privacy budget cannot be used",
        ),
        (
            format!("{sum} {epsilon} broken-budget.json"),
            3,
            "cannot use the budget",
            "its privacy budget cannot be used",
        ),
        ("--input nowhere.csv --key mail".into(), 3, "cannot open nowhere.csv", INPUT),
        (
            "--input unfit.csv --key mail --task sum --security semi-honest --payload amount".into(),
            3,
            "not a decimal number",
            INPUT,
        ),
        ("--input theirs.csv --key mail --receipt old.json".into(), 4, "old.json exists already", OUTPUT),
    ] {
        // Were the sides to differ in their tasks, they might find that out before a bad table.
        let task = if send.contains("--task sum") { "--task sum --security semi-honest" } else { "" };
        let meeting = "--listen 127.0.0.1:0 --identity us.key --peer them.pub --wait 50";
        let mut receiver =
            folder.start(&format!("receive --input ours.csv --key email --output result.csv {meeting} {task}"));
        receiver.stdin = None;
        let address = receiver.address();
        let sender =
            folder.run(&format!("send --connect {address} --identity them.key --peer us.pub --wait 50 {send}"));
        let receiver = receiver.end();
        if sender.stderr.contains("the partner has been told") {
            expect(&sender, code, fault, &receiver, told);
        } else {
            // The table is read, and places for results are made, while the sides meet: they may have met
            // before a fault was found.
            assert!([INPUT, OUTPUT].contains(&told), "{send}: {}", sender.stderr);
            sender.expect(code, &[fault]);
            assert_eq!(sender.stderr.matches(fault).count(), 1, "{}", sender.stderr);
            receiver.expect(9, &[told]);
        }
        assert!(!folder.files().contains(&"result.csv".to_owned()));
    }
}

/// The side that cannot start listens, and the partner comes later.
#[test]
fn a_sender_that_connects_hears_why_the_receiver_cannot_start() {
    let folder = tables();
    for (receive, code, fault, told) in [
        ("--input ours.csv --key email --output result.csv --protocol md5", 11, "there is no protocol", SETTINGS),
        ("--input ours.csv --key email --output - --json", 2, "--output - and --json", SETTINGS),
        ("--input ours.csv --key email --output matches.csv", 4, "matches.csv exists already", OUTPUT),
        ("--input ours.csv --key email --output nowhere/result.csv", 4, "nowhere/result.csv", OUTPUT),
        ("--input nowhere.csv --key email --output result.csv", 3, "cannot open nowhere.csv", INPUT),
    ] {
        let mut receiver = folder
            .start(&format!("receive --listen 127.0.0.1:0 --identity us.key --peer them.pub --wait 50 {receive}"));
        receiver.stdin = None;
        // It says what is wrong before anybody comes, whatever the order of that and the address.
        let mut address = None;
        while address.is_none() {
            let line = receiver.says("");
            address = line.strip_prefix("listening on ").map(str::to_owned);
        }
        let address = address.expect("an address");
        let sender = folder.run(&format!(
            "send --input theirs.csv --key mail --connect {address} --identity them.key --peer us.pub --wait 50"
        ));
        let receiver = receiver.end();
        receiver.expect(code, &[fault]);
        assert_eq!(receiver.stderr.matches(fault).count(), 1, "{}", receiver.stderr);
        assert_eq!(receiver.stderr.matches("error: ").count(), 1, "{}", receiver.stderr);
        sender.expect(9, &[told, "follow the error message there"]);
        assert!(!sender.stderr.contains("nowhere") && !sender.stderr.contains("matches"), "{}", sender.stderr);
    }
    assert_eq!(folder.read("matches.csv"), "precious\n");
}

#[test]
fn the_attempt_to_tell_is_bounded_and_a_signal_ends_it() {
    let folder = tables();
    let base =
        "receive --input ours.csv --key email --output result.csv --protocol md5 --identity us.key --peer them.pub";
    let ended = folder.run(&format!("{base} --listen 127.0.0.1:0 --wait 0.2"));
    ended.expect(
        11,
        &["there is no protocol", "for up to 0.2 s", "Ctrl-C", "the partner was not reached and does not know"],
    );
    // A partner that takes the connection and says nothing holds it up no longer than that.
    let silent = TcpListener::bind("127.0.0.1:0").expect("bound");
    let address = silent.local_addr().expect("an address");
    folder.run(&format!("{base} --connect {address} --wait 0.2")).expect(11, &["does not know"]);
    let waiting = folder.start(&format!("{base} --listen 127.0.0.1:0 --wait 50"));
    waiting.says("for up to 5 s");
    waiting.signal("INT");
    waiting.end().expect(11, &["there is no protocol"]);
    // Neither the address nor the identity is usable: nothing is tried for long.
    folder
        .run(&format!("{base} --listen nowhere --wait 50"))
        .expect(11, &["there is no protocol", "cannot use the address"]);
    let ended = folder.run(
        "receive --input ours.csv --key email --output result.csv --protocol md5 --listen 127.0.0.1:0 --identity \
         no.key --peer them.pub",
    );
    ended.expect(6, &["no.key"]);
    assert!(!ended.stderr.contains("to tell the partner"), "{}", ended.stderr);
}

/// What may go wrong in a run that goes on is said when it begins, and not once more at its end.
#[test]
fn a_warning_is_printed_once() {
    let folder = tables();
    let sum = "--task sum --security semi-honest --key";
    let (receiver, sender) = folder.join(
        &format!("--input ours.csv --output sum.csv {sum} email"),
        &format!("--input theirs.csv --payload amount {sum} mail"),
    );
    for ended in [receiver, sender] {
        ended.expect(0, &["warning: "]);
        assert_eq!(ended.stderr.matches("wraps around").count(), 1, "{}", ended.stderr);
    }
}
