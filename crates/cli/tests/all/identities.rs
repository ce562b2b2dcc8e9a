//! Identities: files, pinning, refusals with both fingerprints.

use std::fs;
use std::io::Write;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;

use crate::harness::Folder;

const RECEIVE: &str = "receive --input ours.csv --key email --output matches.csv --identity us.key";
const SEND: &str = "send --input ours.csv --key email --identity them.key";

fn tables() -> Folder {
    let folder = Folder::new();
    folder.write("ours.csv", "email\na@x.org\n");
    folder.run("identity new --out stranger.key").expect(0, &[]);
    folder
}

fn fingerprint(folder: &Folder, name: &str) -> String {
    let shown = folder.run(&format!("identity show --peer {name}.pub"));
    shown.stdout.lines().find_map(|line| line.strip_prefix("fingerprint: ")).expect("a fingerprint").to_owned()
}

#[test]
fn a_wrong_key_of_the_listener_ends_both_sides_with_fingerprints() {
    let folder = tables();
    let receiver = folder.start(&format!("{RECEIVE} --listen 127.0.0.1:0 --peer them.pub --wait 2"));
    let address = receiver.address();
    let sender = folder.run(&format!("{SEND} --connect {address} --peer stranger.pub"));
    let (us, stranger) = (fingerprint(&folder, "us"), fingerprint(&folder, "stranger"));
    sender.expect(6, &[&us, &stranger]);
    receiver.end().expect(6, &[&us, "refused our key"]);
}

#[test]
fn a_wrong_key_of_the_connector_ends_both_sides_with_fingerprints() {
    let folder = tables();
    let receiver = folder.start(&format!("{RECEIVE} --listen 127.0.0.1:0 --peer stranger.pub --wait 2"));
    let address = receiver.address();
    let sender = folder.run(&format!("{SEND} --connect {address} --peer us.pub"));
    let (them, stranger) = (fingerprint(&folder, "them"), fingerprint(&folder, "stranger"));
    sender.expect(6, &[&them, "refused our key"]);
    receiver.end().expect(6, &[&them, &stranger]);
}

/// Strangers of all kinds come first: with a wrong key, with garbage, with silence, and one that
/// leaves at once.
#[test]
fn a_refused_or_silent_peer_does_not_keep_the_right_one_out() {
    let folder = tables();
    let receiver = folder.start(&format!("{RECEIVE} --listen 127.0.0.1:0 --peer them.pub --wait 20"));
    let address = receiver.address();
    let _silent = TcpStream::connect(&address).expect("connected");
    let mut garbling = TcpStream::connect(&address).expect("connected");
    garbling.write_all(b"GET / HTTP/1.1\r\n\r\n").expect("written");
    drop(TcpStream::connect(&address).expect("connected"));
    let stranger = folder
        .run(&format!("send --input ours.csv --key email --identity stranger.key --connect {address} --peer us.pub"));
    stranger.expect(6, &[]);
    let sender = folder.run(&format!("{SEND} --connect {address} --peer us.pub"));
    sender.expect(0, &[]);
    receiver.end().expect(0, &["refused a connection from"]);
}

#[test]
fn a_private_key_that_others_can_read_is_refused() {
    let folder = tables();
    fs::set_permissions(folder.path("us.key"), fs::Permissions::from_mode(0o644)).expect("permissions");
    folder.run(&format!("{RECEIVE} --listen 127.0.0.1:0 --peer them.pub")).expect(6, &["chmod 600"]);
}

#[test]
fn keys_are_made_private_shown_and_never_overwritten() {
    let folder = tables();
    let mode = fs::metadata(folder.path("us.key")).expect("a file").permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
    folder.run("identity new --out us.key").expect(6, &["exists already"]);
    let shown = folder.run("identity show --identity us.key");
    let line = shown.stdout.lines().next().expect("a line").to_owned();
    assert!(folder.read("us.pub").starts_with(&line));
    assert!(shown.stdout.contains(&fingerprint(&folder, "us")));
}

/// Each mistake with a key is named with its own mend.
#[test]
fn mistakes_with_keys_are_told_apart() {
    let folder = tables();
    let run = |flags: &str| {
        let flags = format!("--input ours.csv --key email --wait 0.1 --connect 127.0.0.1:1 {flags}");
        folder.run(&format!("receive {flags} --output matches.csv"))
    };
    for (flags, expected) in [
        ("--identity us.key --peer nope.pub", &["nope.pub: No such file", "your partner's .pub file"][..]),
        ("--identity us.pub --peer them.pub", &["us.pub is a public key", "the .key file that was made with it"]),
        ("--identity nope.key --peer them.pub", &["nope.key: No such file", "with --identity"]),
        ("--identity us.key --peer them.key", &["them.key is a private key", "the partner's .pub file"]),
        ("--identity us.key --peer us.pub", &["--peer is your own public key", "your partner's .pub file"]),
        ("--identity us.key --peer ours.csv", &["ours.csv is no public key line", "the partner's .pub file"]),
    ] {
        run(flags).expect(6, expected);
    }
    let query = "query --input ours.csv --key email --output m.csv --connect 127.0.0.1:1 --wait 0.1";
    folder.run(&format!("{query} --identity us.key --peer us.pub")).expect(6, &["your own public key"]);
}

#[test]
fn a_byte_order_mark_is_no_part_of_a_key_or_a_list() {
    let folder = tables();
    for name in ["us.pub", "them.pub"] {
        folder.write(name, format!("\u{feff}{}", folder.read(name)));
    }
    folder.write("peers.toml", "\u{feff}[acme]\nkey = \"them.pub\"\n");
    folder.run("identity show --peer them.pub").expect(0, &[]);
    let ended = folder.run(&format!("{RECEIVE} --peers peers.toml --peer acme --connect 127.0.0.1:1 --wait 0.1"));
    ended.expect(5, &["nobody answers"]);
}
