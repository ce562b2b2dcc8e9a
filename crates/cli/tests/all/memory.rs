//! `--memory`: a run that a side cannot afford is refused on both sides before it starts.

use crate::harness::Folder;

const RECEIVE: &str = "--input ours.csv --key email --output matches.csv";
const SEND: &str = "--input theirs.csv --key mail";

fn tables() -> Folder {
    let folder = Folder::new();
    folder.write("ours.csv", "email\na@x.org\nb@x.org\n");
    folder.write("theirs.csv", "mail\nb@x.org\nc@x.org\n");
    folder
}

#[test]
fn a_side_that_has_too_little_refuses_and_the_partner_hears_why() {
    let own = [
        "on 2 keys of the sender and 2 of the receiver may take",
        "0 MiB are left of --memory 1 MiB",
        "--max-peer-items",
    ];
    let told = ["more memory than the other side has for it"];
    for (receive, send) in [("--memory 1MiB", "--memory 64GiB"), ("--memory 64GiB", "--memory 1048576")] {
        let folder = tables();
        let (receiver, sender) = folder.join(&format!("{RECEIVE} {receive}"), &format!("{SEND} {send}"));
        let (poor, other) = if receive.ends_with("1MiB") { (&receiver, &sender) } else { (&sender, &receiver) };
        poor.expect(11, &own);
        other.expect(9, &told);
        assert!(!other.stderr.contains("MiB"), "the partner learns a figure: {}", other.stderr);
        assert!(!folder.files().contains(&"matches.csv".to_owned()));
    }
}

#[test]
fn enough_is_enough() {
    let folder = tables();
    let (receiver, sender) = folder.join(&format!("{RECEIVE} --memory 64GiB"), &format!("{SEND} --memory 64GiB"));
    receiver.expect(0, &["1 key matches"]);
    sender.expect(0, &[]);
}

#[test]
fn a_plan_bounds_the_memory_of_either_side() {
    let folder = Folder::new();
    let plan = folder.run("plan --sender-items 1000 --receiver-items 2e6");
    plan.expect(0, &[]);
    assert!(plan.stdout.contains("at the sender and") && plan.stdout.contains("(--memory)"), "{}", plan.stdout);
    assert_eq!(folder.run("receive --memory much").code, 2);
}

/// Every record is as long as the longest one: a single long cell makes a small table a large
/// payload, which is refused before it is made.
#[test]
fn a_payload_is_not_padded_beyond_the_memory() {
    let folder = tables();
    let rows: String = (0..3000).map(|row| format!("k{row}@x.org,y\n")).collect();
    folder.write("theirs.csv", format!("mail,note\nb@x.org,{}\n{rows}", "x".repeat(60_000)));
    let (receiver, sender) = folder.join(RECEIVE, &format!("{SEND} --payload note --memory 128MiB"));
    sender.expect(3, &["takes 60004 bytes for each of 3001 keys", "--memory"]);
    receiver.expect(9, &[]);
    assert!(!receiver.stderr.contains("60004"), "the partner learns a figure: {}", receiver.stderr);
}
