//! Peers that are absent, hang, close, send garbage or are killed, and signals.
//!
//! A sender that reads its table from a pipe that stays open is in the middle of its run for as
//! long as the test wants.

use std::io::Write;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread;

use crate::harness::{Folder, Process, RECEIVER, SENDER};

fn tables() -> Folder {
    let folder = Folder::new();
    folder.write("ours.csv", "email\na@x.org\n");
    folder
}

/// Both sides connected, the sender waiting for its table.
fn mid_run(folder: &Folder, receive: &str) -> (Process, Process) {
    let (receiver, sender) =
        folder.both(&format!("--input ours.csv --key email --output matches.csv -v {receive}"), "--input - --key mail");
    receiver.says("the partner is connected");
    (receiver, sender)
}

#[track_caller]
fn no_output(folder: &Folder) {
    assert!(
        !folder.files().iter().any(|name| name.contains("matches") || name.contains("partial")),
        "{:?}",
        folder.files()
    );
}

#[test]
fn an_absent_peer() {
    let folder = tables();
    let receive = "receive --input ours.csv --key email --output matches.csv --identity us.key --peer them.pub";
    folder
        .run(&format!("{receive} --listen 127.0.0.1:0 --wait 0.3"))
        .expect(5, &["nobody connected within 0.3 s", "--wait"]);
    let port = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a free port").port();
    folder.run(&format!("{receive} --connect 127.0.0.1:{port} --wait 0.3")).expect(5, &["nobody answers", "--wait"]);
    no_output(&folder);
}

#[test]
fn a_peer_that_accepts_and_says_nothing() {
    let folder = tables();
    let silent = TcpListener::bind("127.0.0.1:0").expect("bound");
    let address = silent.local_addr().expect("an address");
    let ended = folder.run(&format!(
        "receive --input ours.csv --key email --output matches.csv --identity us.key --peer them.pub --connect \
         {address} --wait 1"
    ));
    ended.expect(10, &["did not complete the TLS handshake"]);
    no_output(&folder);
}

#[test]
fn a_peer_that_hangs_in_mid_run_is_ended_by_the_deadline() {
    let folder = tables();
    let (receiver, sender) = mid_run(&folder, "--deadline 2");
    sender.signal("STOP");
    receiver.end().expect(10, &["--deadline"]);
    no_output(&folder);
}

#[test]
fn a_peer_that_is_killed_in_mid_run() {
    let folder = tables();
    let (receiver, mut sender) = mid_run(&folder, "");
    sender.child.kill().expect("killed");
    receiver.end().expect(10, &[]);
    no_output(&folder);
}

/// A table that comes through a pipe is read for as long as the pipe stays open.
#[test]
fn a_partner_that_is_killed_while_the_own_table_is_read() {
    for (own, other) in [("receive --output matches.csv", "send"), ("send", "receive --output theirs.csv")] {
        let folder = tables();
        let reading = folder.start(&format!("{own} --input - --key email -v {RECEIVER}"));
        let address = reading.address();
        let mut partner = folder.start(&format!("{other} --input ours.csv --key email {SENDER} --connect {address}"));
        reading.says("reading the input");
        partner.child.kill().expect("killed");
        // The pipe to its standard input is open until it has ended.
        reading
            .end()
            .expect(10, &["the connection to the partner failed", "check that the partner's vesica still runs"]);
        // A receiver that is killed cannot clear up.
        if other == "send" {
            no_output(&folder);
        }
    }
}

/// While the protocol itself runs, on a table that keeps it busy for a while.
#[test]
fn a_receiver_that_is_killed_while_the_protocol_runs() {
    let folder = Folder::new();
    let table: String = (0..60_000).map(|i| format!("{i}\n")).collect();
    folder.write("ours.csv", format!("email\n{table}"));
    let (mut receiver, sender) = folder.both(
        "--input ours.csv --key email --output matches.csv -v --protocol ecdh-hfh99 --security semi-honest",
        "--input ours.csv --key email --protocol ecdh-hfh99 --security semi-honest",
    );
    receiver.says("running ecdh-hfh99");
    receiver.child.kill().expect("killed");
    sender.end().expect(10, &[]);
    assert!(!folder.files().contains(&"matches.csv".to_owned()));
}

#[test]
fn sigint_on_one_side_tells_the_other() {
    let folder = tables();
    let (receiver, sender) = mid_run(&folder, "");
    sender.signal("INT");
    sender.end().expect(130, &["interrupted by SIGINT"]);
    receiver.end().expect(9, &["interrupted by SIGINT"]);
    no_output(&folder);
}

#[test]
fn sigterm_on_the_receiver_leaves_no_output() {
    let folder = tables();
    let (receiver, mut sender) = mid_run(&folder, "");
    receiver.signal("TERM");
    receiver.end().expect(143, &["interrupted by SIGTERM"]);
    // A sender that has heard already does not read its table any more.
    let _ = sender.stdin.take().expect("open").write_all(b"mail\na@x.org\n");
    sender.end().expect(9, &["interrupted by SIGTERM"]);
    no_output(&folder);
}

#[test]
fn a_signal_while_nobody_is_there() {
    let folder = tables();
    let receiver = folder.start(
        "receive --input ours.csv --key email --output matches.csv --listen 127.0.0.1:0 --identity us.key --peer \
         them.pub",
    );
    receiver.address();
    receiver.signal("INT");
    receiver.end().expect(130, &[]);
    no_output(&folder);
}

/// A receiver without TLS, and a peer of it that the test plays.
fn plaintext(folder: &Folder, deadline: &str) -> (Process, TcpStream) {
    let receiver = folder.start(&format!(
        "receive --input ours.csv --key email --output matches.csv --listen 127.0.0.1:0 --insecure-plaintext \
         {deadline}"
    ));
    let peer = TcpStream::connect(receiver.address()).expect("connected");
    (receiver, peer)
}

#[test]
fn a_peer_that_closes() {
    let folder = tables();
    let (receiver, peer) = plaintext(&folder, "");
    drop(peer);
    receiver.end().expect(10, &[]);
    no_output(&folder);
}

/// The table is read on a thread of its own, which the end of the run does not wait for.
#[test]
fn a_peer_that_closes_while_a_long_table_is_read() {
    let folder = Folder::new();
    let table: String = (0..1_000_000).map(|i| format!("{i}\n")).collect();
    folder.write("ours.csv", format!("email\n{table}"));
    let (receiver, peer) = plaintext(&folder, "");
    drop(peer);
    receiver.end().expect(10, &[]);
    no_output(&folder);
}

#[test]
fn a_peer_that_sends_garbage() {
    let folder = tables();
    // Of several shapes: text, zeros, what begins like a frame and claims to be 4 GiB long.
    for garbage in
        [&b"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n"[..], &[0; 4096], &[1, 1, 0, 0, 0, 0, 255, 255, 255, 255, 0, 0]]
    {
        let (receiver, mut peer) = plaintext(&folder, "");
        peer.write_all(garbage).expect("written");
        // The receiver tells this peer what is wrong, and then waits until it has hung up.
        peer.shutdown(Shutdown::Write).expect("shut down");
        receiver.end().expect(8, &["misbehaved"]);
        no_output(&folder);
    }
}

#[test]
fn a_peer_that_says_nothing_in_plaintext_is_ended_by_the_deadline() {
    let folder = tables();
    let (receiver, _peer) = plaintext(&folder, "--deadline 1");
    receiver.end().expect(10, &["--deadline"]);
}

/// Bad input that shows before the partner is there is told to a partner that comes soon after.
#[test]
fn a_partner_that_comes_late_still_learns_of_bad_input() {
    let folder = tables();
    let receiver = folder.start(
        "receive --input ours.csv --key nothing --output matches.csv --listen 127.0.0.1:0 --identity us.key --peer \
         them.pub",
    );
    let address = receiver.address();
    receiver.says("no column `nothing`");
    let sender =
        folder.run(&format!("send --input ours.csv --key email --connect {address} --identity them.key --peer us.pub"));
    sender.expect(9, &["its input table cannot be used"]);
    receiver.end().expect(3, &["no column `nothing`"]);
}

#[test]
fn two_joins_at_once_do_not_disturb_each_other() {
    let folders = [tables(), tables()];
    thread::scope(|scope| {
        for folder in &folders {
            scope.spawn(move || {
                let (receiver, sender) =
                    folder.join("--input ours.csv --key email --output matches.csv", "--input ours.csv --key email");
                receiver.expect(0, &[]);
                sender.expect(0, &[]);
            });
        }
    });
}
