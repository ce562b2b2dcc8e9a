//! Identities: files, pinning, refusals with both fingerprints.

use std::fs;
use std::io::Write;
use std::net::TcpStream;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use crate::harness::{Ended, Folder, by_shell};

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

/// That a command has worked, and has said this.
#[track_caller]
fn says(ended: &Ended, texts: &[&str]) {
    ended.expect(0, &[]);
    let said = format!("{}{}", ended.stdout, ended.stderr);
    assert!(texts.iter().all(|text| said.contains(text)), "{texts:?}: {said}");
}

/// A folder where `us.key` is encrypted, and `pass` opens it.
fn locked() -> Folder {
    let folder = tables();
    folder.write_secret("pass", "correct horse\nmore lines count for nothing\n");
    folder.run("identity passphrase us.key --new-passphrase-file pass").expect(0, &[]);
    assert!(folder.read("us.key").starts_with("-----BEGIN ENCRYPTED PRIVATE KEY-----\n"));
    folder
}

#[test]
fn a_key_under_a_passphrase_runs_with_it_and_not_without() {
    let folder = locked();
    folder.write_secret("wrong", "wrong horse\n");
    folder.write_secret("empty", "\n");
    folder.write("readable", "correct horse\n");
    let receive = format!("{RECEIVE} --listen 127.0.0.1:0 --peer them.pub --wait 20");
    for (flags, told) in [
        ("--passphrase-file wrong", &["the passphrase of us.key is wrong"][..]),
        ("--passphrase-file empty", &["empty has no passphrase on its first line"]),
        ("--passphrase-file readable", &["readable can be read by others", "chmod 600 readable"]),
        ("--passphrase-file none", &["the passphrase in none", "--passphrase-file"]),
    ] {
        let ended = folder.run(&format!("{receive} {flags}"));
        ended.expect(6, told);
        assert!(!ended.stderr.contains("listening"), "{flags}: {}", ended.stderr);
    }
    // A terminal would be asked.
    if fs::File::open("/dev/tty").is_err() {
        folder.run(&receive).expect(6, &["us.key is encrypted", "--passphrase-file"]);
    }
    folder.write(
        "job.toml",
        "task = \"intersect\"\n[receiver]\ninput = \"ours.csv\"\nkey = \"email\"\noutput = \"m.csv\"\n\
         listen = \"127.0.0.1:0\"\nidentity = \"us.key\"\npassphrase-file = \"pass\"\npeer = \"them.pub\"\n",
    );
    for started in [folder.start(&format!("{receive} --passphrase-file pass")), folder.start("run job.toml --wait 20")]
    {
        let sender = folder.run(&format!("{SEND} --connect {} --peer us.pub", started.address()));
        sender.expect(0, &[]);
        started.end().expect(0, &[]);
    }
}

/// The key stays the same under each passphrase, and OpenSSL opens it.
#[test]
fn a_passphrase_is_given_changed_and_taken_off() {
    let folder = locked();
    let fingerprint = fingerprint(&folder, "us");
    let show = |pass: &str| folder.run(&format!("identity show --identity us.key --passphrase-file {pass}"));
    says(&show("pass"), &[&fingerprint]);
    folder.write_secret("next", "battery staple");
    let change = "identity passphrase us.key --new-passphrase-file next --passphrase-file";
    folder.run(&format!("{change} next")).expect(6, &["the passphrase of us.key is wrong"]);
    says(&show("pass"), &[&fingerprint]);
    says(&folder.run(&format!("{change} pass")), &["encrypted"]);
    show("pass").expect(6, &["the passphrase of us.key is wrong"]);
    says(&show("next"), &[&fingerprint]);
    if Command::new("openssl").arg("version").output().is_ok_and(|output| output.status.success()) {
        let mut openssl = Command::new("openssl");
        openssl.args(["pkey", "-noout", "-passin", "pass:battery staple", "-in"]).arg(folder.path("us.key"));
        let output = openssl.output().expect("it runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    says(&folder.run("identity passphrase us.key --remove --passphrase-file next"), &["whoever has it"]);
    says(&show("next"), &[&fingerprint, "is not encrypted"]);
    let mode = fs::metadata(folder.path("us.key")).expect("a file").permissions().mode() & 0o777;
    assert_eq!((mode, folder.files().iter().any(|name| name.contains(".new"))), (0o600, false));
    says(&folder.run("identity new --out new.key --passphrase-file pass"), &["encrypted"]);
    folder.run("identity show --identity new.key --passphrase-file pass").expect(0, &[]);
}

#[test]
fn a_key_comes_from_a_descriptor_a_credential_or_a_pods_volume() {
    let folder = locked();
    let fingerprint = fingerprint(&folder, "us");
    let show = |script: &str, flags: &str| {
        let mut command = by_shell(script);
        command.env("CREDENTIALS_DIRECTORY", folder.path("credentials"));
        let mut process = folder.start_under(command, &format!("identity show {flags}"));
        process.stdin = None;
        process.end()
    };
    says(&show("exec \"$@\" 3< us.key 4< pass", "--identity fd:3 --passphrase-file fd:4"), &[&fingerprint]);
    says(&show("cat us.key | \"$@\"", "--identity fd:0 --passphrase-file pass"), &[&fingerprint]);
    fs::create_dir(folder.path("credentials")).expect("a folder");
    for (from, to) in [("us.key", "credentials/key"), ("pass", "credentials/pass")] {
        fs::copy(folder.path(from), folder.path(to)).expect("copied");
        fs::set_permissions(folder.path(to), fs::Permissions::from_mode(0o400)).expect("permissions");
    }
    let named = "--identity credential:key --passphrase-file credential:pass";
    says(&show("exec \"$@\"", named), &[&fingerprint]);
    show("exec env -u CREDENTIALS_DIRECTORY \"$@\"", named).expect(2, &["LoadCredential="]);
    show("exec \"$@\"", "--identity credential:../us.key").expect(2, &["no name of a credential"]);
    show("exec \"$@\"", "--identity fd:three").expect(2, &["no number of a file descriptor"]);
    // A pod's volume: links to a folder that is exchanged as a whole.
    fs::create_dir_all(folder.path("volume/..data")).expect("a folder");
    fs::rename(folder.path("us.key"), folder.path("volume/..data/us.key")).expect("moved");
    symlink("..data/us.key", folder.path("volume/us.key")).expect("a link");
    says(&show("exec \"$@\"", "--identity volume/us.key --passphrase-file pass"), &[&fingerprint]);
    folder.run("identity passphrase volume/us.key --remove --passphrase-file pass").expect(0, &[]);
    assert!(fs::symlink_metadata(folder.path("volume/us.key")).expect("a link").is_symlink());
}
