//! The log of runs between two processes, and of a server and its clients.

use std::fs::File;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::harness::{Ended, Folder, STATE, within};
use crate::service;

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
    for wrong in [
        "verify their.log --signer us.pub",
        "show their.log --signer us.pub",
        "compare our.log their.log --signer us.pub",
    ] {
        folder.run(&format!("log {wrong}")).expect(6, &["their.log are signed by another key", "--signer"]);
    }
    said(&folder, "show their.log --signer us.pub --signer them.pub", &[]);
    said(&folder, "show our.log", &["completed", "refused", "which of its keys the sender has", "exit code 7"]);
    said(&folder, "compare our.log their.log --signer them.pub", &["the same of 2 runs"]);
    // A run that one side keeps out of its log shows in the other one.
    expect(&join(&folder, "", "--no-run-log", ""), [0, 0]);
    let alone =
        ["the same of 2 runs, and differ: intersect of 20", "is in the second log alone", "ends earlier", "--from"];
    folder.run("log compare our.log their.log").expect(7, &alone);
    let ended = folder.run("log compare our.log their.log --json");
    ended.expect(7, &[]);
    let told: Value = serde_json::from_str(&ended.stdout).expect("one JSON object");
    assert_eq!(
        (&told["ok"], &told["same"], &told["differences"][0]["only_in"]),
        (&false.into(), &2.into(), &"second".into())
    );
    assert_eq!(told["error"]["code"], 7);
    folder
        .run("log compare our.log their.log --to 2026-01-01")
        .expect(7, &["from --from to --to: nothing was compared"]);
    let ended = folder.run("log compare our.log their.log --from 2026-02-30");
    assert!(ended.code == 2 && ended.stderr.contains("not a day"), "{}", ended.stderr);
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

/// A side that waits for its log goes no further than its deadline.
#[test]
fn a_run_waits_for_its_log_until_the_deadline() {
    let folder = tables();
    expect(&join(&folder, "", "", ""), [0, 0]);
    let lock = |name: &str| {
        let held = File::open(folder.path(name)).expect("there");
        held.lock().expect("locked");
        held
    };
    let held = lock("our.log");
    let since = Instant::now();
    let [receiver, sender] = join(&folder, "", "--deadline 1", "--wait 3");
    receiver.expect(10, &["the deadline of 1 s passed while another process used the log", "--deadline"]);
    assert!(sender.code != 0 && since.elapsed() < Duration::from_secs(20), "{}", sender.stderr);
    drop(held);
    // Whoever has the log for a moment keeps no run from its end.
    let held = lock("our.log");
    std::thread::scope(|scope| {
        scope.spawn(move || {
            std::thread::sleep(Duration::from_millis(500));
            drop(held);
        });
        expect(&join(&folder, "", "--deadline 60", ""), [0, 0]);
    });
    said(&folder, "verify our.log", &["4 lines"]);
}

/// Keys that are on the list of revoked ones are marked in logs and receipts, which stay what they are.
#[test]
fn a_key_that_was_revoked_since_is_marked() {
    let folder = tables();
    expect(&join(&folder, "", "--receipt run.json", "--receipt theirs.json"), [0, 0]);
    for shown in [said(&folder, "show our.log", &[]), folder.run("receipt run.json").stdout] {
        assert!(!shown.contains("revoked by now"), "{shown}");
    }
    std::fs::create_dir_all(folder.path("configuration/vesica")).expect("a folder");
    folder.write("configuration/vesica/peers.toml", "revoked = \"revoked.txt\"\n");
    folder.write("configuration/vesica/revoked.txt", folder.read("them.pub"));
    said(&folder, "show our.log", &["revoked by now (", "revoked.txt, line 1)", "completed"]);
    let receipt = folder.run("receipt run.json");
    receipt.expect(0, &[]);
    assert_eq!(receipt.stdout.matches("revoked by now (").count(), 1, "{}", receipt.stdout);
    for json in ["receipt run.json --json", "log show our.log --json"] {
        let told: Value = serde_json::from_str(&folder.run(json).stdout).expect("one JSON object");
        assert_eq!(told["revoked"].as_array().map(Vec::len), Some(1), "{told}");
    }
    said(&folder, "verify their.log --signer them.pub", &[]);
}

/// What both sides log of queries goes together: those that were answered, and those that were refused.
#[test]
fn a_server_and_its_clients_log_each_conversation() {
    let folder = service::tables();
    let (server, address) =
        service::serve(&folder, "--run-log their.log --payload label --state deny.state --quota 1000/day");
    let log = "--run-log our.log";
    service::report(&folder, &address, log);
    // Three at a time, which write to one log.
    let few: String = folder.read("seen.csv").lines().take(33).map(|line| format!("{line}\n")).collect();
    folder.write("few.csv", few);
    let ask = |number: usize| {
        folder.start(&format!(
            "query --input few.csv --key url --output hits{number}.csv --identity us.key --peer them.pub --wait 20 \
             --connect {address} {log}"
        ))
    };
    let clients: Vec<_> = (0..3).map(ask).collect();
    clients.into_iter().for_each(|client| client.end().expect(0, &[]));
    // More than what is left of the quota.
    for _ in 0..2 {
        service::query(&folder, &address, log);
    }
    service::query(&folder, &address, &format!("{log} --security semi-honest --leak-prefix 3 --max-peer-items 5"))
        .expect(11, &["--max-peer-items"]);
    let refused = service::query(&folder, &address, log);
    refused.expect(11, &["of this client's quota of 1000/day"]);
    server.signal("TERM");
    server.end().expect(0, &["stopped"]);
    said(&folder, "verify their.log --signer them.pub", &["head "]);
    let shown = said(&folder, "show their.log", &["query, as the server", "completed", "refused"]);
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    for text in [
        "304 items in 19 queries, dummies included",
        "32 items in 2 queries",
        "to the client: which of the keys that it asks about the server has, and the server's label of these",
        "to the server: how many queries the client asks, of 16 items each",
        "of its quota (exit code 11)",
        "1000/day, of which 696 items were left by then",
    ] {
        assert!(shown.contains(text), "{text:?} is missing in {shown}");
    }
    let shown = said(&folder, "show our.log", &["query, as the client", "refused"]);
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    for text in ["1000/day, of which 1000 items were left before it", "room for 1024 items, more than 5 (exit code 11)"]
    {
        assert!(shown.contains(text), "{text:?} is missing in {shown}");
    }
    folder.run("log show our.log --html page.html").expect(0, &[]);
    said(&folder, "compare our.log their.log --signer them.pub", &["the same of 5 runs"]);
    assert!(
        !folder.read("their.log").contains("example") && !folder.read("our.log").contains("http"),
        "no key of a table"
    );
}

/// A server that is killed while it answers leaves a log that holds together, and says what had begun. The next one goes on
/// with it.
#[test]
fn the_log_of_a_killed_server_holds_together_and_goes_on() {
    let folder = service::tables();
    let many: String = (0..50_000).map(|row| format!("{row},http://{row}.example/\n")).collect();
    folder.write("many.csv", format!("when,url\n{many}"));
    let serve = || service::serve(&folder, "--run-log their.log --items-per-query 1");
    let (server, address) = serve();
    let client = folder.start(&format!(
        "query --input many.csv --key url --output hits.csv --identity us.key --peer them.pub --wait 1 --connect \
         {address} --run-log our.log"
    ));
    let begun = || folder.path("our.log").metadata().is_ok_and(|log| log.len() > 0);
    assert!(within(60, begun), "the client is about to ask");
    // Some of its queries are answered meanwhile.
    std::thread::sleep(Duration::from_millis(300));
    server.signal("KILL");
    assert_ne!(server.end().code, 0);
    assert_ne!(client.end().code, 0);
    let verified = said(&folder, "verify their.log --signer them.pub", &["1 line", "1 run has begun and not ended"]);
    assert!(!verified.contains("behind"), "{verified}");
    let same = ["the same of 1 run (of 1 of them one of the logs has no end"];
    said(&folder, "compare our.log their.log", &same);
    // One that is killed a moment earlier leaves the head behind.
    let (_server, address) = serve();
    let head = folder.read("their.log.head");
    service::query(&folder, &address, "--run-log our.log").expect(0, &["100 keys match"]);
    // The head is written behind the lines.
    let has_lines = |count: usize| {
        let is_whole = |said: &str| said.contains(&format!("{count} lines")) && !said.contains("behind");
        within(60, || is_whole(&folder.run("log verify their.log").stdout))
    };
    assert!(has_lines(3), "{}", folder.read("their.log"));
    folder.write("their.log.head", head);
    said(&folder, "verify their.log", &["3 lines", "1 run has begun and not ended", "is 2 lines behind"]);
    service::query(&folder, &address, "--run-log our.log").expect(0, &["100 keys match"]);
    assert!(has_lines(5), "{}", folder.read("their.log"));
    assert!(!said(&folder, "verify their.log", &["5 lines"]).contains("behind"));
    said(&folder, "compare our.log their.log --json", &["\"same\":3", "\"without_end\":1"]);
}

/// A server whose named log cannot be written does not start, or refuses clients; in the default place there is a warning.
#[test]
fn a_server_that_cannot_write_its_log_says_so() {
    let folder = service::tables();
    let start = format!("{} --no-quota --listen 127.0.0.1:0", service::SERVE);
    folder.run(&format!("{start} --run-log no/such.log")).expect(4, &["cannot write the log no/such.log", "--run-log"]);
    // So often is it asked with success: a client that is refused for the log has used nothing up.
    let (server, address) = service::serve(&folder, "--run-log their.log --enrolments 3/day");
    let ask = |flags: &str| service::query(&folder, &address, flags);
    ask("--run-log our.log").expect(0, &["100 keys match"]);
    let log = folder.read("their.log");
    folder.write("their.log", &log[..log.len() - 10]);
    ask("--run-log our.log").expect(9, &["the server's log of runs cannot be written"]);
    let warned = server.says("clients are refused until it can be written");
    assert!(warned.contains("their.log is not as it was left"), "{warned}");
    folder.write("their.log", log);
    ask("--run-log our.log").expect(0, &["100 keys match"]);
    server.says("the log of runs is written again");
    ask("--run-log no/such.log").expect(4, &["cannot write the log no/such.log"]);
    ask("--no-run-log").expect(0, &[]);
    said(&folder, "show our.log", &["failed", "the server's log of runs cannot be written"]);
    server.signal("TERM");
    server.end().expect(0, &["stopped"]);
    folder.run("log compare our.log their.log").expect(7, &["the same of 2 runs", "is in the second log alone"]);
    folder.write(STATE, "no folder");
    let (server, address) = service::serve(&folder, "");
    service::query(&folder, &address, "").expect(0, &["this run is in no log"]);
    server.signal("TERM");
    server.end().expect(0, &["the conversations of this server are in no log of runs"]);
}
