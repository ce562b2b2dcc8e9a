//! Identities: files, pinning, refusals with both fingerprints.

use std::fs;
use std::io::Write;
use std::net::TcpStream;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use rustix::fs::{FlockOperation, flock};
use vesica::party::transport::tls::{Day, Identity, Succession};

use crate::harness::{Ended, Folder, by_shell, within};

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
/// A disk that takes no byte leaves no file that would be in the way of the next attempt.
#[test]
fn a_key_that_cannot_be_written_leaves_no_file() {
    let folder = Folder::new();
    let full = || by_shell("ulimit -f 0; exec \"$@\"");
    for command in [
        "identity new --out new.key",
        "identity rotate --identity us.key --out new.key --until 2999-12-31",
        "identity revoke --identity us.key --out new.revocation",
    ] {
        let before = folder.files();
        folder.start_under(full(), command).end().expect(6, &["new."]);
        assert_eq!(folder.files(), before, "{command}");
        folder.run(command).expect(0, &[]);
        folder.files().iter().filter(|name| name.starts_with("new.")).for_each(|name| {
            fs::remove_file(folder.path(name)).expect("removed");
        });
    }
}

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

/// Makes the successor `them-2` of `them`, with this last day.
fn rotate(folder: &Folder, until: &str) {
    says(&folder.run(&format!("identity rotate --identity them.key --out them-2.key --until {until}")), &[until]);
}

#[test]
fn partners_accept_a_successor_and_its_predecessor_until_the_last_day() {
    let folder = tables();
    rotate(&folder, "2999-12-31");
    let [them, second] = ["them", "them-2"].map(|name| fingerprint(&folder, name));
    let (them, second) = (them.as_str(), second.as_str());
    folder.run("identity accept them-2.succession --peer us.pub").expect(6, &["it is a successor of the key", them]);
    folder.run("identity accept them-2.pub --peer them.pub").expect(6, &["not a line of the form"]);
    let forged = folder.read("them-2.succession");
    let at = "vesica-succession ".len() + 60;
    let other = if &forged[at..=at] == "A" { "B" } else { "A" };
    folder.write("forged.succession", format!("{}{other}{}", &forged[..at], &forged[at + 1..]));
    folder.run("identity accept forged.succession --peer them.pub").expect(6, &["its signature is wrong"]);
    let before = folder.read("them.pub");
    let run = |key: &str| {
        let receive = format!("{RECEIVE} --force --listen 127.0.0.1:0 --peer them.pub --receipt run.json --wait 2");
        let receiver = folder.start(&receive);
        let address = receiver.address();
        let send = format!("send --input ours.csv --key email --identity {key}.key --connect {address} --peer us.pub");
        (folder.run(&send), receiver.end())
    };
    run("them-2").0.expect(6, &["refused our key"]);
    for _ in 0..2 {
        let accepted = folder.run("identity accept them-2.succession --peer them.pub");
        says(&accepted, &[second, them, "accepted until 2999-12-31", "known as"]);
    }
    assert!(folder.read("them.pub").starts_with(&before) && folder.read("them.pub").lines().count() == 2);
    for (key, shown) in [("them", them), ("them-2", second)] {
        let (sender, receiver) = run(key);
        sender.expect(0, &[]);
        receiver.expect(0, &[]);
        // The receipt names the key that was there.
        says(&folder.run(&format!("receipt run.json --peer {key}.pub")), &[shown]);
    }
    let past = "identity rotate --identity us.key --out us-2.key --until 2026-01-01";
    folder.run(past).expect(2, &["--until 2026-01-01 is over"]);
    assert!(!folder.files().contains(&"us-2.key".to_owned()));

    // The last day of a statement that was made long ago is over.
    let [old, new] =
        ["them", "them-2"].map(|name| Identity::load(&folder.path(&format!("{name}.key"))).expect("a key"));
    let until: Day = "2026-01-01".parse().expect("a day");
    let statement = Succession::sign(&old, &new, until).expect("signed");
    folder.write("them.pub", format!("{before}{statement}\n"));
    let (sender, receiver) = run("them");
    sender.expect(6, &["refused our key", "if you have announced a successor of this key, use that one"]);
    receiver.expect(6, &[them, "was replaced by another one, and was good until 2026-01-01"]);
    run("them-2").0.expect(0, &[]);
}

/// Whoever has protected a key wants its successor protected as well.
#[test]
fn the_successor_of_an_encrypted_key_has_its_passphrase_or_a_new_one() {
    let folder = locked();
    folder.write_secret("next", "battery staple\n");
    let rotate = |flags: &str| {
        folder.run(&format!("identity rotate --identity us.key --passphrase-file pass --until 2999-12-31 {flags}"))
    };
    let show = |key: &str, pass: &str| folder.run(&format!("identity show --identity {key} --passphrase-file {pass}"));
    says(&rotate("--out us-2.key"), &["us-2.key (encrypted with the passphrase of your present key"]);
    show("us-2.key", "pass").expect(0, &[]);
    show("us-2.key", "next").expect(6, &["the passphrase of us-2.key is wrong"]);
    says(&rotate("--out us-3.key --new-passphrase-file next"), &["us-3.key (encrypted; without its passphrase"]);
    show("us-3.key", "next").expect(0, &[]);
    show("us-3.key", "pass").expect(6, &["the passphrase of us-3.key is wrong"]);
    // No passphrase, no successor, and no key without one.
    folder.write_secret("wrong", "cow\n");
    let wrong = "identity rotate --identity us.key --passphrase-file wrong --until 2999-12-31 --out us-4.key";
    folder.run(wrong).expect(6, &["the passphrase of us.key is wrong"]);
    assert!(!folder.files().iter().any(|name| name.starts_with("us-4")));
}

#[test]
fn a_key_is_shown_with_its_file_what_replaces_it_and_whether_it_is_revoked() {
    let folder = locked();
    let us = fingerprint(&folder, "us");
    // No passphrase is needed for what the public file says; nobody could be asked for it here.
    let shown = folder.run("identity show --identity us.key");
    says(&shown, &[&us, "private key: us.key (encrypted; the public key is what us.pub says"]);
    assert!(!shown.stdout.contains("replace"), "{}", shown.stdout);
    let checked = folder.run("identity show --identity us.key --passphrase-file pass");
    says(&checked, &[&us, "private key: us.key (encrypted)\n"]);
    rotate(&folder, "2999-12-31");
    let [them, second] = ["them", "them-2"].map(|name| fingerprint(&folder, name));
    let shown = folder.run("identity show --identity them.key");
    says(&shown, &["private key: them.key (not encrypted)\n"]);
    says(&shown, &[&format!("replaced by: {second} (this key is accepted until 2999-12-31; them-2.succession)\n")]);
    folder.write("peers.toml", "revoked = \"revoked.txt\"\n");
    folder.write("revoked.txt", format!("{them} stolen\n"));
    let show = |arguments: &str| {
        let mut command = Command::new(crate::PROGRAM);
        command.env("VESICA_PEERS", "peers.toml");
        let mut shown = folder.start_under(command, &format!("identity show {arguments}"));
        shown.stdin = None;
        shown.end()
    };
    says(
        &show("--identity them-2.key"),
        &[
            &format!("replaces:    {them} (accepted until 2999-12-31; them-2.succession)\n"),
            &format!("revoked:     {them} (revoked.txt, line 1)\n"),
        ],
    );
    let shown = show("--identity them.key --json");
    shown.expect(0, &[]);
    let shown: serde_json::Value = serde_json::from_str(&shown.stdout).expect("one JSON object");
    assert_eq!((&shown["fingerprint"], &shown["replaced_by"][0]["fingerprint"]), (&them.into(), &second.into()));
    assert_eq!(
        (&shown["private_key"]["is_encrypted"], &shown["revoked"][0]["place"]),
        (&false.into(), &"revoked.txt, line 1".into())
    );
    fs::remove_file(folder.path("us.pub")).expect("removed");
    if fs::File::open("/dev/tty").is_err() {
        folder.run("identity show --identity us.key").expect(6, &["us.key is encrypted", "--passphrase-file"]);
    }
}

/// Of two processes that change the file of a partner's keys at a time, neither loses what the other writes.
#[test]
fn a_successor_is_accepted_after_whoever_changes_the_same_file() {
    let folder = tables();
    rotate(&folder, "2999-12-30");
    says(&folder.run("identity rotate --identity them-2.key --out them-3.key --until 2999-12-31"), &["2999-12-31"]);
    let lock = fs::File::create(folder.path("them.pub.lock")).expect("a file");
    flock(&lock, FlockOperation::LockExclusive).expect("locked");
    // It follows the key that is written meanwhile.
    let mut waiting = folder.start("identity accept them-3.succession --peer them.pub");
    assert!(!within(1, || waiting.child.try_wait().expect("a status").is_some()), "it does not wait");
    folder.write("them.pub", format!("{}{}", folder.read("them.pub"), folder.read("them-2.succession")));
    drop(lock);
    waiting.end().expect(0, &[]);
    assert_eq!(folder.read("them.pub").lines().count(), 3);
    assert_eq!(fingerprint(&folder, "them"), fingerprint(&folder, "them-3"));
}

/// A new key is no new partner: what was spent stays spent.
#[test]
fn a_budget_counts_a_partner_under_its_first_key() {
    let folder = tables();
    folder.run("identity rotate --identity us.key --out us-2.key --until 2999-12-31").expect(0, &[]);
    folder.run("identity accept us-2.succession --peer us.pub").expect(0, &[]);
    let first = fingerprint_line(&folder, "us", "known as:    ");
    let first = first.split(' ').next().expect("a fingerprint");
    folder.write(
        "budget.json",
        format!("{{ \"vesica_budget\": 1, \"peers\": {{ \"{first}\": {{ \"total\": \"1.5\", \"spent\": \"0\" }} }} }}"),
    );
    let task = "--task cardinality --security semi-honest --wait 20";
    for (key, code) in [("us", 0), ("us-2", 2)] {
        let receiver = folder.start(&format!(
            "receive --input ours.csv --key email --output count.csv --force --identity {key}.key --peer them.pub \
             --listen 127.0.0.1:0 {task}"
        ));
        let address = receiver.address();
        let sender =
            folder.run(&format!("{SEND} --connect {address} --peer us.pub {task} --epsilon 1 --budget budget.json"));
        assert_eq!(sender.code == 0, code == 0, "{key}: {sender:?}");
        assert_eq!(receiver.end().code == 0, code == 0, "{key}");
    }
    assert!(folder.read("budget.json").contains("\"spent\": \"1\""), "{}", folder.read("budget.json"));
}

fn fingerprint_line(folder: &Folder, name: &str, label: &str) -> String {
    let shown = folder.run(&format!("identity show --peer {name}.pub"));
    shown.stdout.lines().find_map(|line| line.strip_prefix(label)).expect(label).to_owned()
}

#[test]
fn a_revoked_key_is_refused_on_either_side_before_anything_starts() {
    let folder = tables();
    let revoked = folder.run("identity revoke --identity stranger.key --out stranger.revocation");
    says(&revoked, &["nothing takes it back"]);
    let [us, them] = ["us", "them"].map(|name| fingerprint(&folder, name));
    folder
        .write("peers.toml", "revoked = \"revoked.txt\"\n[acme]\nkey = \"them.pub\"\n[odd]\nkey = \"stranger.pub\"\n");
    let receive = |list: &str, peer: &str| {
        folder.write("revoked.txt", list);
        folder.run(&format!("{RECEIVE} --peers peers.toml --peer {peer} --connect 127.0.0.1:1 --wait 0.1"))
    };
    let statement = folder.read("stranger.revocation");
    receive(&statement, "acme").expect(5, &["nobody answers"]);
    receive(&format!("# gone\n{statement}"), "odd").expect(6, &["is revoked (revoked.txt, line 2)", "by phone"]);
    receive(&statement, "stranger.pub").expect(6, &["is revoked (revoked.txt, line 1)"]);
    receive(&format!("{them} stolen\n"), "acme").expect(6, &[&them, "is revoked (revoked.txt, line 1)"]);
    receive(&folder.read("us.pub"), "acme").expect(6, &["your own key", &us, "is revoked"]);
    receive("rubbish\n", "acme").expect(6, &["line 1 says no key"]);
    let at = "vesica-revocation ".len() + 10;
    let other = if &statement[at..=at] == "A" { "B" } else { "A" };
    receive(&format!("{}{other}{}", &statement[..at], &statement[at + 1..]), "acme").expect(6, &["damaged or forged"]);
    fs::remove_file(folder.path("revoked.txt")).expect("removed");
    let missing = folder.run(&format!("{RECEIVE} --peers peers.toml --peer acme --connect 127.0.0.1:1 --wait 0.1"));
    missing.expect(6, &["the list of revoked keys revoked.txt", "No such file"]);
    // A key that a revoked one has named is no better.
    folder.run("identity rotate --identity them.key --out them-2.key --until 2999-12-31").expect(0, &[]);
    folder.run("identity accept them-2.succession --peer them.pub").expect(0, &[]);
    receive(&format!("{them}\n"), "acme").expect(6, &[&them, "is revoked"]);
}
