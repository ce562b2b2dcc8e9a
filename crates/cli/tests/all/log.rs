//! The log of runs between two processes.

use crate::harness::{Ended, Folder, STATE};

fn tables() -> Folder {
    let folder = Folder::new();
    folder.write("ours.csv", "id\nkey-a\nkey-b\nkey-c\n");
    folder.write("theirs.csv", "id,n\nkey-b,1\nkey-c,2\nkey-d,3\n");
    folder
}

/// A run with these flags of both sides, the receiver's and the sender's. Each side has a log of its own.
fn join(folder: &Folder, both: &str, ours: &str, theirs: &str) -> [Ended; 2] {
    let log =
        |flags: &str, log: &str| if flags.contains("run-log") { String::new() } else { format!("--run-log {log}") };
    let (receiver, sender) = folder.join(
        &format!("--input ours.csv --key id --output out.csv --force {both} {ours} {}", log(ours, "our.log")),
        &format!("--input theirs.csv --key id {both} {theirs} {}", log(theirs, "their.log")),
    );
    [receiver, sender]
}

#[track_caller]
fn expect(ended: &[Ended; 2], codes: [i32; 2]) {
    ended.iter().zip(codes).for_each(|(ended, code)| ended.expect(code, &[]));
}

/// What a command about logs prints.
#[track_caller]
fn said(folder: &Folder, arguments: &str, texts: &[&str]) -> String {
    let ended = folder.run(&format!("log {arguments}"));
    ended.expect(0, &[]);
    texts.iter().for_each(|text| assert!(ended.stdout.contains(text), "{text:?} is missing in {}", ended.stdout));
    ended.stdout
}

/// Completed and refused runs are in both logs, which verify and go together, and a page shows them.
#[test]
fn each_run_is_in_both_logs() {
    let folder = tables();
    expect(&join(&folder, "", "", ""), [0, 0]);
    expect(&join(&folder, "--security semi-honest", "--task cardinality", "--task sum --payload n"), [7, 7]);
    expect(&join(&folder, "--security semi-honest --task cardinality", "", ""), [0, 0]);
    said(&folder, "verify our.log", &["5 lines", "head 5:", "signed by"]);
    said(&folder, "verify their.log --signer them.pub", &["5 lines"]);
    folder.run("log verify their.log --signer us.pub").expect(6, &["signed by another key", "--signer"]);
    said(&folder, "show our.log", &["completed", "refused", "which of its keys the sender has", "exit code 7"]);
    said(&folder, "compare our.log their.log", &["the same of 2 runs"]);
    // A run that one side keeps out of its log shows in the other one.
    expect(&join(&folder, "", "--no-run-log", ""), [0, 0]);
    folder.run("log compare our.log their.log").expect(7, &["is in the second log alone"]);
    said(&folder, "show their.log --html page.html", &[]);
    let page = folder.read("page.html");
    assert!(page.contains("<h1>Log of Vesica runs</h1>") && page.matches("<section>").count() == 4, "{page}");
    assert!(!folder.read("their.log").contains("key-"), "no key of a table");
    // The default place, in which both sides write here.
    assert!(!folder.path(STATE).join("vesica/runs.log").exists());
    let (receiver, sender) =
        folder.join("--input ours.csv --key id --output out.csv --force", "--input theirs.csv --key id");
    expect(&[receiver, sender], [0, 0]);
    said(&folder, "verify", &["4 lines"]);
}

/// Whoever changes a log is found out; a run does not write to it any more, and tells its partner.
#[test]
fn a_log_that_was_changed_is_found_out_and_ends_the_run() {
    let folder = tables();
    expect(&join(&folder, "", "", ""), [0, 0]);
    let log = folder.read("their.log");
    let first = log.split_inclusive('\n').next().expect("a line").to_owned();
    let verify = |changed: &str, what: &str| {
        folder.write("their.log", changed);
        folder.run("log verify their.log").expect(3, &["is not as it was left", what]);
    };
    verify(&log.replacen("\"begun\"", "\"failed\"", 1), "line 0 was changed");
    verify(&first, "1 lines, and had 2");
    let [receiver, sender] = join(&folder, "", "", "");
    sender.expect(3, &["their.log is not as it was left", "--run-log"]);
    receiver.expect(9, &["its log of runs cannot be written"]);
    folder.write("their.log", log);
    expect(&join(&folder, "", "", ""), [0, 0]);
    let head = said(&folder, "verify their.log", &["4 lines"]);
    let head = head.lines().find_map(|line| line.strip_prefix("head ")).expect("a head").to_owned();
    said(&folder, &format!("verify their.log --noted {head}"), &[]);
    folder.run(&format!("log verify our.log --noted {head}")).expect(3, &["its first 4 lines are not those"]);
    folder.run("log verify their.log --noted 4").expect(2, &["--noted says no head"]);
    folder.run("log verify ours.csv").expect(3, &["line 0 is no line of a log"]);
    folder.run("log verify no.log").expect(3, &["cannot read the log no.log"]);
}

/// A named log that cannot be written refuses the run; in the default place there is a warning.
#[test]
fn a_log_that_cannot_be_written_is_told() {
    let folder = tables();
    let [receiver, sender] = join(&folder, "", "", "--run-log no/such/folder.log");
    sender.expect(4, &["cannot write the log no/such/folder.log", "--run-log"]);
    receiver.expect(9, &["its log of runs cannot be written"]);
    folder.write(STATE, "no folder");
    let (receiver, sender) =
        folder.join("--input ours.csv --key id --output out.csv --force", "--input theirs.csv --key id");
    for ended in [receiver, sender] {
        ended.expect(0, &["this run is in no log"]);
    }
}
