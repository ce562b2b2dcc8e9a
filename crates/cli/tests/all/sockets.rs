//! Once a conversation is over, its socket is closed: while it stays open in a process, the partner's system can tell
//! when the process lets go of it, and so how long this side went on to read its table or to write its result.

use std::fs::{self, File};
use std::process::Command;
use std::thread;

use crate::harness::{Folder, Process, RECEIVER, SENDER, within};

/// How many sockets the process holds, but for those to itself, by which it hears of signals. One that is shut down
/// stands in no table of the system any more, but counts.
fn sockets(process: &Process) -> usize {
    let folder = format!("/proc/{}", process.child.id());
    let own = fs::read_to_string(format!("{folder}/net/unix")).expect("a table");
    // The seventh field of a line.
    let own: Vec<&str> = own.lines().filter_map(|line| line.split_whitespace().nth(6)).collect();
    let links = fs::read_dir(format!("{folder}/fd")).expect("descriptors").flatten();
    let names = links.filter_map(|link| fs::read_link(link.path()).ok()).map(|to| to.to_string_lossy().into_owned());
    let counts = |name: &String| {
        let inode = name.strip_prefix("socket:[").and_then(|rest| rest.strip_suffix(']'));
        inode.is_some_and(|inode| !own.contains(&inode))
    };
    names.filter(counts).count()
}

#[track_caller]
fn assert_lets_go(process: &Process) {
    assert!(within(60, || sockets(process) == 0), "the socket stays open");
}

#[test]
fn a_dry_run_reads_its_table_without_a_connection() {
    let folder = Folder::new();
    folder.write("theirs.csv", "mail\na@x.org\n");
    let dry = "--key email --output matches.csv --dry-run";
    let mut receiver = folder.start(&format!("receive {RECEIVER} --input - --format csv {dry}"));
    let address = receiver.address();
    assert_eq!(sockets(&receiver), 1, "it listens");
    let send = format!("send {SENDER} --connect {address} --input theirs.csv --key mail --dry-run");
    folder.run(&send).expect(0, &[]);
    assert_lets_go(&receiver);
    drop(receiver.stdin.take());
    receiver.end();
}

#[test]
fn a_result_is_written_without_a_connection() {
    let folder = Folder::new();
    let keys: String = (0..20_000).map(|key| format!("person{key}@example.org\n")).collect();
    folder.write("ours.csv", format!("email\n{keys}"));
    folder.write("theirs.csv", format!("mail\n{keys}"));
    // Nobody reads it, and the result is longer than what the system keeps of it.
    assert!(Command::new("mkfifo").arg(folder.path("pipe.csv")).status().expect("mkfifo runs").success());
    let pipe = folder.path("pipe.csv");
    let reader = thread::spawn(move || File::open(pipe).expect("opened"));
    let (receiver, sender) =
        folder.both("--input ours.csv --key email --output pipe.csv", "--input theirs.csv --key mail");
    sender.end().expect(0, &[]);
    let mut reader = reader.join().expect("opened");
    assert_lets_go(&receiver);
    let read = std::io::copy(&mut reader, &mut std::io::sink()).expect("read");
    assert_eq!(read as usize, "email\n".len() + keys.len());
    receiver.end().expect(0, &[]);
}
