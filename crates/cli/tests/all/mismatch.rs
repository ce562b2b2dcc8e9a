//! Two sides that want different things: both name the field and both values, and both exit with
//! code 7.

use crate::harness::Folder;

const RECEIVE: &str = "--input ours.csv --key email --output matches.csv";
const SEND: &str = "--input theirs.csv --key mail";

fn tables() -> Folder {
    let folder = Folder::new();
    folder.write("ours.csv", "email,born\na@x.org,1\n");
    folder.write("theirs.csv", "mail,score\na@x.org,9\n");
    folder
}

#[track_caller]
fn differ(receive: &str, send: &str, texts: &[&str]) {
    let folder = tables();
    let (receiver, sender) = folder.join(&format!("{RECEIVE} {receive}"), &format!("{SEND} {send}"));
    receiver.expect(7, texts);
    sender.expect(7, texts);
    assert!(!folder.files().contains(&"matches.csv".to_owned()));
}

#[test]
fn normalisers() {
    differ("--normalise email=lower", "--normalise mail=email", &["--normalise", "lower@1", "email@2"]);
}

#[test]
fn number_of_key_columns() {
    differ("--key born", "", &["number of --key columns", "\"2\"", "\"1\""]);
}

#[test]
fn both_learn() {
    differ("--both-learn", "", &["--both-learn", "true", "false"]);
}

#[test]
fn payload_that_is_insisted_on() {
    differ("--payload segment", "--payload score", &["--payload", "segment", "score"]);
}

#[test]
fn security() {
    differ("--security semi-honest", "--security malicious", &["--security", "malicious", "semi-honest"]);
}

#[test]
fn protocols() {
    differ("--protocol vole-fast", "--protocol vole-lean", &["--protocol", "vole-fast", "vole-lean"]);
}

#[test]
fn roles() {
    let folder = tables();
    let first =
        folder.start("send --input theirs.csv --key mail --listen 127.0.0.1:0 --identity us.key --peer them.pub");
    let address = first.address();
    let second = folder.run(&format!("send {SEND} --connect {address} --identity them.key --peer us.pub"));
    second.expect(7, &["both sides run `send`", "one side must run `receive`"]);
    first.end().expect(7, &["both sides run `send`", "one side must run `receive`"]);
}

#[test]
fn encryption() {
    let folder = tables();
    let receiver = folder.start(&format!("receive {RECEIVE} --listen 127.0.0.1:0 --insecure-plaintext --wait 3"));
    let address = receiver.address();
    let sender = folder.run(&format!("send {SEND} --connect {address} --identity them.key --peer us.pub --wait 3"));
    sender.expect(8, &["does not speak TLS", "--insecure-plaintext"]);
    receiver.end().expect(8, &[]);
}
