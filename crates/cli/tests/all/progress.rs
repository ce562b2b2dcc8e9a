//! What a run says of its progress: objects for schedulers, lines for logs, a bar on a terminal.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::harness::{Ended, Folder, RECEIVER, SENDER, by_shell};

/// Rows of either table: some seconds of work for curves.
const ROWS: usize = 40_000;

/// A protocol on which these take long enough to be looked at.
const SLOW: &str = "--key id --security semi-honest --protocol ecdh-hfh99 --threads 1";

/// How a side meets a partner that never comes.
const MEETS_NOBODY: &str = "--listen 127.0.0.1:0 --identity us.key --peer them.pub --wait 0.2";

fn tables() -> Folder {
    let folder = Folder::new();
    let rows = |from: usize| (from..from + ROWS).map(|id| format!("{id},x\n")).collect::<String>();
    folder.write("ours.csv", format!("id,city\n{}", rows(0)));
    folder.write("theirs.csv", format!("id,city\n{}", rows(ROWS - 100)));
    folder
}

/// Both sides of a join that takes a while, each with its own flags.
fn join(folder: &Folder, receive: &str, send: &str) -> (Ended, Ended) {
    folder.join(
        &format!("--input ours.csv --output matches.csv {SLOW} {receive}"),
        &format!("--input theirs.csv {SLOW} {send}"),
    )
}

/// Each line of standard error as an object.
#[track_caller]
fn objects(ended: &Ended) -> Vec<Value> {
    let object = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {line:?}"));
    ended.stderr.lines().map(object).collect()
}

fn text<'a>(object: &'a Value, field: &str) -> &'a str {
    object.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// The objects of a kind.
fn of<'a>(objects: &'a [Value], event: &'a str) -> impl Iterator<Item = &'a Value> {
    objects.iter().filter(move |object| text(object, "event") == event)
}

#[test]
fn a_scheduler_reads_objects_that_go_on_and_come_to_an_end() {
    let folder = tables();
    let mut receiver =
        folder.start(&format!("receive {RECEIVER} --input ours.csv --output matches.csv {SLOW} --progress json -v"));
    receiver.stdin = None;
    let listening: Value = serde_json::from_str(&receiver.says("listening")).expect("an object");
    let address = text(&listening, "address");
    let sender = folder.run(&format!("send {SENDER} --connect {address} --input theirs.csv {SLOW} --progress json"));
    let receiver = receiver.end();
    for (ended, result) in [(&receiver, true), (&sender, false)] {
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        let all = objects(ended);
        let stages: Vec<&str> = of(&all, "stage").map(|object| text(object, "stage")).collect();
        let common = ["waiting", "comparing", "reading", "settling", "running", "closing"];
        assert_eq!(stages, common.into_iter().chain(result.then_some("writing")).collect::<Vec<_>>());
        let running = of(&all, "stage").find(|object| text(object, "stage") == "running").expect("it runs");
        assert_eq!((text(running, "protocol"), text(running, "text")), ("ecdh-hfh99", "running ecdh-hfh99"));

        let of_protocol: Vec<&Value> =
            of(&all, "progress").filter(|object| text(object, "stage") == "running").collect();
        assert!(!of_protocol.is_empty(), "no progress in {}", ended.stderr);
        let mut before = [0.0; 4];
        for object in of_protocol {
            let number = |field: &str| object[field].as_f64().unwrap_or_else(|| panic!("{field} of {object}"));
            let now = ["fraction", "sent_bytes", "received_bytes", "elapsed_seconds"].map(number);
            assert!(now.iter().zip(before).all(|(now, before)| *now >= before), "{before:?}, then {now:?}");
            assert!(now[0] < 1.0 && number("expected_bytes") > 1e6, "{object}");
            assert!(object["seconds_left"].as_f64().is_none_or(|left| (0.0..1000.0).contains(&left)), "{object}");
            before = now;
        }
        let end = all.last().expect("an object");
        assert_eq!((text(end, "event"), end["exit_code"].as_u64()), ("end", Some(0)));
        assert_eq!(of(&all, "end").count(), 1);
    }
    // What else stands on standard error: what -v adds, and the report for people.
    let all = objects(&receiver);
    assert!(of(&all, "message").any(|object| text(object, "text").contains("phase")), "{}", receiver.stderr);
    assert!(of(&all, "message").any(|object| text(object, "text").starts_with("100 keys match")));
    assert_eq!(folder.read("matches.csv").lines().count(), 101);
}

#[test]
fn a_log_has_a_line_for_each_stage_and_never_has_none() {
    let folder = tables();
    let (receiver, sender) = join(&folder, "--progress plain", "--progress never");
    receiver.expect(
        0,
        &["reading the input ...\n", "running ecdh-hfh99 ...\n", "closing ...\n", "writing the output ...\n"],
    );
    sender.expect(0, &[]);
    // Nobody asked for it, and the run is short.
    let (quiet, _) = join(&folder, "--force", "");
    quiet.expect(0, &["100 keys match"]);
    for ended in [&sender, &quiet] {
        assert!(!ended.stderr.contains(" ...") && !ended.stderr.contains('%'), "{}", ended.stderr);
        assert!(!ended.stderr.contains('\u{1b}') && !ended.stderr.contains('{'), "{}", ended.stderr);
    }
}

/// Whatever goes wrong, and wherever.
#[test]
fn a_failure_is_an_object_with_its_exit_code() {
    let folder = tables();
    let flags = "--input ours.csv --key id --output matches.csv --progress json";
    folder
        .write("job.toml", "key = \"id\"\nprogress = \"json\"\n[receiver]\ninput = \"none.csv\"\noutput = \"x.csv\"\n");
    for (arguments, code, fault) in [
        (format!("receive {MEETS_NOBODY} {flags}"), 5, "nobody connected within 0.2 s"),
        (format!("receive {MEETS_NOBODY} {flags} --protocol md5"), 11, "there is no protocol"),
        (format!("receive {flags} --no-such-flag"), 2, "unexpected argument '--no-such-flag'"),
        (format!("run job.toml {MEETS_NOBODY}"), 3, "cannot open"),
    ] {
        let ended = folder.run(&arguments);
        assert_eq!(ended.code, code, "{arguments}: {}", ended.stderr);
        let all = objects(&ended);
        let errors: Vec<&Value> = of(&all, "error").collect();
        let [error] = errors.as_slice() else { panic!("{arguments}: {}", ended.stderr) };
        assert!(text(error, "fault").contains(fault) && !text(error, "mend").is_empty(), "{error}");
        assert_eq!(error["exit_code"].as_i64(), Some(code.into()));
        let end = all.last().expect("an object");
        assert_eq!((text(end, "event"), end["exit_code"].as_i64()), ("end", Some(code.into())), "{arguments}");
    }
    // The variable counts like the flag, and a warning is an object too.
    let mut command = Command::new(crate::PROGRAM);
    command.env("VESICA_PROGRESS", "json");
    let mut process = folder.start_under(
        command,
        "receive --input ours.csv --key id --output matches.csv --listen 127.0.0.1:0 --insecure-plaintext --wait 0.2",
    );
    process.stdin = None;
    let all = objects(&process.end());
    assert!(of(&all, "warning").any(|object| text(object, "text").contains("is not encrypted")), "{all:?}");
}

/// Within `script`, which gives the command a terminal; without it, nothing is tried.
#[test]
fn a_terminal_shows_a_bar_and_colours_unless_they_are_unwanted() {
    if !Command::new("script").arg("--version").output().is_ok_and(|output| output.status.success()) {
        return;
    }
    let folder = tables();
    let shown = |settings: &str, flags: &str| {
        let receive = "receive --input ours.csv --key id --output matches.csv --listen 127.0.0.1:0 \
                       --insecure-plaintext --wait 0.7";
        let line =
            format!("{settings} script -qec \"stty cols 100; '$1' {receive} {flags}\" typescript; cat typescript >&2");
        let mut process = folder.start_under(by_shell(&line), "");
        process.stdin = None;
        process.end().stderr
    };
    let coloured = shown("TERM=xterm NO_COLOR=", "");
    assert!(coloured.contains("\u{1b}[33m\u{1b}[1mwarning:\u{1b}[0m"), "{coloured:?}");
    assert!(coloured.contains("\u{1b}[31m\u{1b}[1merror:\u{1b}[0m") && coloured.contains("nobody connected"));
    assert!(coloured.contains("waiting for the partner"), "{coloured:?}");
    for settings in ["TERM=xterm NO_COLOR=1", "TERM=dumb NO_COLOR="] {
        let plain = shown(settings, "--progress never");
        assert!(plain.contains("warning: ") && plain.contains("error: "), "{plain:?}");
        assert!(!plain.contains("\u{1b}["), "{settings}: {plain:?}");
    }
}

/// The example of docs/operating.md has the fields of a real run, kind by kind.
#[test]
fn the_page_on_operating_shows_the_objects_as_they_are() {
    let page =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/operating.md")).expect("a page");
    let (_, example) = page.split_once("```json\n").expect("an example");
    let (example, _) = example.split_once("```").expect("its end");
    let fields =
        |object: &Value| -> BTreeSet<String> { object.as_object().expect("an object").keys().cloned().collect() };
    let folder = tables();
    let (receiver, sender) = join(&folder, "", "--progress json");
    receiver.expect(0, &[]);
    let failed = folder.run(&format!("receive {MEETS_NOBODY} --input no.csv --key id --output x.csv --progress json"));
    let real = [objects(&sender), objects(&failed)].concat();
    for line in example.lines() {
        let shown: Value = serde_json::from_str(line).expect("an object");
        let kind = text(&shown, "event");
        let real = of(&real, kind).next().unwrap_or_else(|| panic!("no object of the kind {kind}"));
        assert_eq!(fields(&shown), fields(real), "{kind}");
    }
}

/// Other commands that take long tell what they are at, too.
#[test]
fn a_query_and_a_suite_say_how_far_they_are() {
    let folder = Folder::new();
    let rows = |count: usize| (0..count).map(|id| format!("{id}\n")).collect::<String>();
    folder.write("list.csv", format!("id\n{}", rows(2000)));
    folder.write("seen.csv", format!("id\n{}", rows(200)));
    let mut server = folder.start(
        "serve --input list.csv --key id --listen 127.0.0.1:0 --insecure-plaintext --no-quota --items-per-query 10",
    );
    server.stdin = None;
    let line = server.says("listening on ");
    let address = line.split("listening on ").nth(1).and_then(|rest| rest.split(';').next()).expect("an address");
    let asked = folder.run(&format!(
        "query --input seen.csv --key id --output hits.csv --connect {address} --insecure-plaintext --progress json"
    ));
    assert_eq!(asked.code, 0, "{}", asked.stderr);
    let all = objects(&asked);
    let stages: Vec<&str> = of(&all, "stage").map(|object| text(object, "stage")).collect();
    assert_eq!(stages, ["reading", "reaching", "enrolling", "asking", "writing"]);
}
