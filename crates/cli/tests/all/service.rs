//! `serve` and `query` as processes: compared with a plain join, and what goes wrong on either side.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::Value;

use crate::harness::{Ended, Folder, Process, by_shell, within};

/// Every third url of the client is on the server's list, of which every second has label `a`.
pub fn tables() -> Folder {
    let folder = Folder::new();
    let listed = (0..600).map(|i| format!("http://{}.example/,{}\n", 3 * i, if i % 2 == 0 { "a" } else { "b" }));
    folder.write("deny.csv", format!("url,label\n{}", listed.collect::<String>()));
    let seen = (0..300).map(|i| format!("{i},http://{i}.example/\n"));
    folder.write("seen.csv", format!("when,url\n{}", seen.collect::<String>()));
    folder.write("clients.txt", format!("# who may ask\n\n{}", folder.read("us.pub")));
    folder
}

pub const SERVE: &str = "serve --input deny.csv --key url --identity them.key --clients clients.txt";
const QUERY: &str =
    "query --input seen.csv --key url --output hits.csv --force --identity us.key --peer them.pub --wait 20";

/// A server at a free port, and its address.
pub fn serve(folder: &Folder, arguments: &str) -> (Process, String) {
    let quota = if arguments.contains("--quota") { "" } else { "--no-quota" };
    let server = folder.start(&format!("{SERVE} {quota} --listen 127.0.0.1:0 {arguments}"));
    let line = server.says("listening on ");
    let address = line.split("listening on ").nth(1).and_then(|rest| rest.split(';').next()).expect("an address");
    (server, address.to_owned())
}

pub fn query(folder: &Folder, address: &str, arguments: &str) -> Ended {
    folder.run(&format!("{QUERY} --connect {address} {arguments}"))
}

/// The report of a query that worked.
#[track_caller]
pub fn report(folder: &Folder, address: &str, arguments: &str) -> Value {
    let ended = query(folder, address, &format!("--json {arguments}"));
    ended.expect(0, &[]);
    serde_json::from_str(&ended.stdout).expect("one JSON object")
}

/// The rows that a plain join gives.
pub fn expected(folder: &Folder, with_label: bool) -> String {
    let deny = folder.read("deny.csv");
    let labels: HashMap<&str, &str> = deny.lines().skip(1).filter_map(|line| line.split_once(',')).collect();
    let mut rows = String::new();
    for line in folder.read("seen.csv").lines() {
        let url = line.split_once(',').expect("two columns").1;
        match (url, labels.get(url), with_label) {
            ("url", _, true) => rows.push_str(&format!("{line},label\n")),
            ("url", _, false) => rows.push_str(&format!("{line}\n")),
            (_, Some(label), true) => rows.push_str(&format!("{line},{label}\n")),
            (_, Some(_), false) => rows.push_str(&format!("{line}\n")),
            (_, None, _) => {}
        }
    }
    rows
}

#[test]
fn answers_are_those_of_a_plain_join_in_both_modes_with_and_without_labels() {
    let folder = tables();
    for (security, payload) in [("malicious", "--payload label"), ("semi-honest", "--payload label"), ("malicious", "")]
    {
        let (server, address) = serve(&folder, &format!("--security {security} {payload} --items-per-query 7"));
        let told = report(&folder, &address, &format!("--security {security}"));
        assert_eq!(folder.read("hits.csv"), expected(&folder, !payload.is_empty()), "{security} {payload}");
        let left = query(&folder, &address, &format!("--security {security} --join left"));
        if payload.is_empty() {
            left.expect(11, &["--join left", "the server gives none"]);
        } else {
            left.expect(0, &["100 keys match; wrote 300 rows"]);
            let hits = folder.read("hits.csv");
            assert_eq!(
                hits.lines().filter(|line| !line.ends_with(',')).collect::<Vec<_>>(),
                expected(&folder, true).lines().collect::<Vec<_>>()
            );
            assert_eq!(hits.lines().count(), 301);
        }
        let figures = ["keys", "matched_keys", "queries", "items_per_query"].map(|name| told[name].as_u64());
        assert_eq!(figures, [Some(300), Some(100), Some(43), Some(7)]);
        assert_eq!(told["security"], security);
        server.signal("TERM");
        server.end().expect(0, &["stopped"]);
    }
}

#[test]
fn a_clients_state_spares_the_tags_and_follows_a_replaced_set() {
    let folder = tables();
    let (server, address) = serve(&folder, "--payload label --state deny.state --max-shrink 100");
    let enrolment = |told: &Value| told["enrolment"].as_str().map(str::to_owned).expect("a word");
    let first = report(&folder, &address, "--state deny.cache");
    let second = report(&folder, &address, "--state deny.cache");
    assert_eq!([enrolment(&first), enrolment(&second)], ["new", "kept"]);
    let received = |told: &Value| told["bytes_received"].as_u64().expect("a number");
    assert!(received(&second) * 2 < received(&first), "{first} {second}");

    server.signal("HUP");
    server.says("has not changed");
    folder.write("deny.csv", "url,label\nhttp://1.example/,c\nhttp://2.example/,d\n");
    server.signal("HUP");
    // Most of the set: more than is kept for clients that come later.
    server.says("2 added, 600 removed, 0 with other values");
    let third = report(&folder, &address, "--state deny.cache");
    assert_eq!((enrolment(&third).as_str(), third["matched_keys"].as_u64()), ("renewed", Some(2)));
    assert_eq!(folder.read("hits.csv"), expected(&folder, true));

    folder.write("deny.csv", "address\nx\n");
    server.signal("HUP");
    assert!(server.says("the set stays as it was").contains("url"));
    assert_eq!(enrolment(&report(&folder, &address, "--state deny.cache")), "kept");
    server.signal("INT");
    server.end().expect(0, &["stopped"]);

    // Another process, with the same state: nobody enrols anew.
    folder.write("deny.csv", "url,label\nhttp://2.example/,d\nhttp://1.example/,c\n");
    let (server, address) = serve(&folder, "--payload label --state deny.state");
    assert_eq!(
        enrolment(&report(&folder, &address, "--state deny.cache")),
        "kept",
        "rows in another order are one set"
    );
    server.signal("TERM");
    server.end().expect(0, &["the state file holds them"]);
}

/// Writes the server's table: 600 urls, every third of the client's, but those with a number in
/// `without`; and the rows `also`.
fn write_table(folder: &Folder, without: std::ops::Range<u32>, also: &str) {
    let rows = (0..600).filter(|i| !without.contains(i)).map(|i| format!("http://{}.example/,a\n", 3 * i));
    folder.write("deny.csv", format!("url,label\n{}{also}", rows.collect::<String>()));
}

#[test]
fn a_changed_table_reaches_clients_as_a_small_update() {
    let folder = tables();
    write_table(&folder, 0..0, "");
    let options = "--payload label --state deny.state";
    let (server, address) = serve(&folder, options);
    let told = |address: &str| {
        let told = report(&folder, address, "--state deny.cache");
        assert_eq!(folder.read("hits.csv"), expected(&folder, true));
        (told["enrolment"].as_str().expect("a word").to_owned(), told["bytes_received"].as_u64().expect("a number"))
    };
    let (first, everything) = told(&address);
    let (second, queries) = told(&address);
    assert_eq!((&*first, &*second), ("new", "kept"));
    folder.write("old.cache", std::fs::read(folder.path("deny.cache")).expect("readable"));
    restrict(&folder, "old.cache");
    let changes = [
        (0..0, "http://1.example/,b\nhttp://2.example/,b\n", "2 added, 0 removed, 0 with other values"),
        (2..7, "http://1.example/,b\n", "0 added, 6 removed, 0 with other values"),
        (2..7, "http://1.example/,c\n", "0 added, 0 removed, 1 with other values"),
        (0..4, "http://1.example/,c\nhttp://4.example/,d\n", "4 added, 2 removed, 0 with other values"),
    ];
    for (without, also, said) in changes {
        write_table(&folder, without, also);
        server.signal("HUP");
        server.says(said);
        let (enrolment, received) = told(&address);
        assert_eq!(enrolment, "updated", "{said}");
        assert!(
            received < queries + 2000 && received * 3 < queries * 3 + everything,
            "{received} {queries} {everything}"
        );
    }
    // A client that was not there for some versions gets all of it at once.
    let late = report(&folder, &address, "--state old.cache");
    assert_eq!(late["enrolment"], "updated");
    assert_eq!(folder.read("hits.csv"), expected(&folder, true));
    server.signal("TERM");
    server.end().expect(0, &[]);
    // The table changes while no server is there.
    write_table(&folder, 10..12, "http://1.example/,c\n");
    let (server, address) = serve(&folder, options);
    assert_eq!(told(&address).0, "updated");
    // More changes than are kept: each of 60 rows, and the client with the old state has none of them.
    for (without, said) in [(100..160, "2 added, 60 removed"), (200..270, "60 added, 70 removed")] {
        write_table(&folder, without, "http://1.example/,c\n");
        server.signal("HUP");
        server.says(said);
    }
    assert_eq!(report(&folder, &address, "--state old.cache")["enrolment"], "renewed");
    assert_eq!(folder.read("hits.csv"), expected(&folder, true));
    server.signal("TERM");
    server.end().expect(0, &["the state file was updated: 4 added, 3 removed"]);
}

/// As a state file must be: for its owner alone.
fn restrict(folder: &Folder, name: &str) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(folder.path(name), std::fs::Permissions::from_mode(0o600)).expect("allowed");
}

#[test]
fn a_client_in_the_middle_of_its_queries_takes_an_update_and_asks_again_about_all() {
    let folder = tables();
    write_table(&folder, 0..0, "");
    write_many_rows(&folder);
    let (server, address) =
        serve_json(&folder, "--listen 127.0.0.1:0", "--payload label --items-per-query 4 --log json");
    let client = folder.start(&format!("{QUERY} --connect {address} --state deny.cache --json"));
    server.says("\"query\":20,");
    // A row that the client has asked about already, and one that it has not.
    write_table(&folder, 1..2, "http://19999.example/,z\n");
    server.signal("HUP");
    server.says("\"reloaded\"");
    client.says("asking again about all keys");
    let ended = client.end();
    ended.expect(0, &[]);
    let told: Value = serde_json::from_str(&ended.stdout).expect("one JSON object");
    assert_eq!((told["matched_keys"].as_u64(), told["queries"].as_u64()), (Some(600), Some(5000)));
    assert_eq!(folder.read("hits.csv"), expected(&folder, true));
    server.signal("TERM");
    server.end().expect(0, &[]);
}

#[test]
fn a_server_that_is_killed_while_it_reloads_goes_on_from_a_version_that_clients_know() {
    let folder = tables();
    write_table(&folder, 0..0, "");
    let options = "--payload label --state deny.state";
    let (mut server, address) = serve(&folder, options);
    assert_eq!(report(&folder, &address, "--state deny.cache")["enrolment"], "new");
    // The state cannot be written, as on a full disk: nobody may see a version that is in no file.
    std::fs::create_dir_all(folder.path("deny.state.new/full")).expect("a folder");
    write_table(&folder, 5..9, "");
    server.signal("HUP");
    server.says("the set stays as it was: the state file");
    assert_eq!(report(&folder, &address, "--state deny.cache")["enrolment"], "kept");
    server.child.kill().expect("killed");
    server.child.wait().expect("gone");
    std::fs::remove_dir_all(folder.path("deny.state.new")).expect("removed");
    let (next, address) = serve(&folder, options);
    server = next;
    assert_eq!(report(&folder, &address, "--state deny.cache")["enrolment"], "updated");
    assert_eq!(folder.read("hits.csv"), expected(&folder, true));
    // Killed at some point of a reload: whichever version stands then, clients come to the present one
    // by an update.
    for (round, pause) in [0, 2, 5, 10, 20, 40].into_iter().enumerate() {
        write_table(&folder, round as u32..round as u32 + 3, &format!("http://{}.example/,x\n", 3 * round + 1));
        server.signal("HUP");
        std::thread::sleep(std::time::Duration::from_millis(pause));
        server.child.kill().expect("killed");
        server.child.wait().expect("gone");
        let (next, address) = serve(&folder, options);
        server = next;
        assert_eq!(report(&folder, &address, "--state deny.cache")["enrolment"], "updated", "{pause} ms");
        assert_eq!(folder.read("hits.csv"), expected(&folder, true));
    }
    server.signal("TERM");
    server.end().expect(0, &[]);
}

#[test]
fn a_server_that_is_killed_in_the_middle_of_a_query_costs_nothing_but_time() {
    let folder = tables();
    let many = (0..20_000).map(|i| format!("http://{i}.example/\n"));
    folder.write("seen.csv", format!("url\n{}", many.collect::<String>()));
    let options = "--state deny.state --items-per-query 4 --log json";
    let (mut server, address) = serve_json(&folder, "--listen 127.0.0.1:0", options);
    let client = folder.start(&format!("{QUERY} --connect {address} --state deny.cache"));
    server.says("\"query\":20,");
    server.child.kill().expect("killed");
    server.child.wait().expect("gone");
    client.says("the connection was lost");
    let (server, _) = serve_json(&folder, &format!("--listen {address}"), options);
    client.end().expect(0, &["600 keys match"]);
    assert_eq!(folder.read("hits.csv").lines().count(), 601);
    server.signal("TERM");
    server.end().expect(0, &[]);
}

/// 20,000 rows, which take 5,000 queries of 4 items.
fn write_many_rows(folder: &Folder) {
    let many = (0..20_000).map(|i| format!("{i},http://{i}.example/\n"));
    folder.write("seen.csv", format!("when,url\n{}", many.collect::<String>()));
}

#[test]
fn a_new_secret_key_leaves_clients_their_time_and_then_they_enrol_again() {
    let folder = tables();
    write_many_rows(&folder);
    let options = "--state deny.state --payload label --items-per-query 4 --log json";
    for (overlap, restarts) in [("1h", false), ("0", true)] {
        let (server, address) = serve_json(&folder, "--listen 127.0.0.1:0", &format!("{options} --overlap {overlap}"));
        let before = std::fs::read(folder.path("deny.state")).expect("a state");
        let client = folder.start(&format!("{QUERY} --connect {address} --state deny.cache"));
        server.says("\"query\":20,");
        server.signal("USR1");
        server.says("\"rotated\"");
        let ended = client.end();
        ended.expect(0, &["600 keys match"]);
        assert_eq!(ended.stderr.contains("asking again about all keys"), restarts, "{overlap}: {}", ended.stderr);
        assert_eq!(folder.read("hits.csv"), expected(&folder, true));
        let next = report(&folder, &address, "--state deny.cache");
        assert_eq!(next["enrolment"], if restarts { "kept" } else { "renewed" }, "{overlap}");
        assert_eq!(folder.read("hits.csv"), expected(&folder, true));
        assert_ne!(std::fs::read(folder.path("deny.state")).expect("a state"), before);
        server.signal("TERM");
        server.end().expect(0, &[]);
    }
    // By age, which outlives the process: the key is older than a second, or becomes so.
    let (server, address) = serve_json(&folder, "--listen 127.0.0.1:0", &format!("{options} --rotate-after 1"));
    server.says("\"rotated\"");
    query(&folder, &address, "--state deny.cache").expect(0, &["600 keys match"]);
    server.signal("TERM");
    server.end().expect(0, &[]);
}

/// Empty in, empty out; but a list that answers everything with no match is a mistake that clients cannot see.
#[test]
fn an_empty_table_asks_about_nothing_and_an_empty_list_is_not_served() {
    let folder = tables();
    folder.write("clients.txt", format!("\u{feff}{}", folder.read("clients.txt")));
    let (server, address) = serve(&folder, "");
    folder.write("seen.csv", "when,url\n");
    let asked = report(&folder, &address, "");
    assert_eq!((&asked["rows"], &asked["queries"], &asked["matched_keys"]), (&0.into(), &0.into(), &0.into()));
    assert!(asked["warnings"][0].as_str().is_some_and(|warning| warning.contains("the table has no rows")), "{asked}");
    assert_eq!(folder.read("hits.csv"), "when,url\n");
    folder.write("deny.csv", "url,label\n");
    server.signal("HUP");
    server.says("an empty list is not served");
    folder
        .run(&format!("{SERVE} --no-quota --listen 127.0.0.1:0"))
        .expect(3, &["deny.csv has no rows", "one key that no client has"]);
}

#[test]
fn a_client_that_is_taken_off_the_list_is_disconnected() {
    let folder = tables();
    write_many_rows(&folder);
    let (server, address) = serve_json(&folder, "--listen 127.0.0.1:0", "--items-per-query 4 --log json");
    let client = folder.start(&format!("{QUERY} --connect {address}"));
    server.says("\"query\":20,");
    // A file that cannot be read changes nothing.
    folder.write("clients.txt", "rubbish\n");
    server.signal("HUP");
    server.says("\"clients-failed\"");
    folder.write("clients.txt", folder.read("them.pub"));
    server.signal("HUP");
    let line: Value = serde_json::from_str(&server.says("\"clients\"")).expect("a JSON line");
    assert_eq!((line["clients"].as_u64(), line["removed"].as_u64()), (Some(1), Some(1)));
    client.end().expect(9, &["does not accept the client any more"]);
    query(&folder, &address, "").expect(6, &["refused our key", "adds its line to the file of --clients"]);
    folder.write("clients.txt", folder.read("us.pub"));
    server.signal("HUP");
    server.says("\"clients\"");
    query(&folder, &address, "").expect(0, &["600 keys match"]);
    server.signal("TERM");
    server.end().expect(0, &[]);
}

#[test]
fn health_is_answered_while_the_set_is_still_prepared() {
    let folder = tables();
    // Its table comes from standard input, and does not end yet.
    let serve = SERVE.replace("deny.csv", "-");
    let mut server = folder.start(&format!("{serve} --no-quota --listen 127.0.0.1:0 --metrics 127.0.0.1:0"));
    let line = server.says("answering at http://");
    let page = line.split("http://").nth(1).and_then(|rest| rest.split('/').next()).expect("an address").to_owned();
    let health = || {
        let mut socket = TcpStream::connect(&page).expect("connected");
        socket.write_all(b"GET /healthz HTTP/1.1\r\n\r\n").expect("sent");
        let mut answer = String::new();
        socket.read_to_string(&mut answer).expect("an answer");
        answer
    };
    let early = health();
    assert!(early.starts_with("HTTP/1.1 503 ") && early.ends_with("preparing\n"), "{early}");
    let mut input = server.stdin.take().expect("piped");
    input.write_all(folder.read("deny.csv").as_bytes()).expect("written");
    drop(input);
    server.says("listening on ");
    let ready = health();
    assert!(ready.starts_with("HTTP/1.1 200 ") && ready.ends_with("ok\n"), "{ready}");
    server.signal("TERM");
    server.end().expect(0, &[]);
}

/// The units are to be copied: their command lines must be ours. What they name is not there, which they say.
#[test]
fn the_systemd_units_have_command_lines_of_ours() {
    for (name, code, missing) in [("serve", 6, "/etc/vesica/server.key"), ("relay", 2, "credential:relay.key")] {
        let unit = std::fs::read_to_string(format!("../../packaging/vesica-{name}.service")).expect("the unit");
        let unit = unit.replace("\\\n", " ");
        let line = unit.lines().find_map(|line| line.strip_prefix("ExecStart=")).expect("a command");
        let (program, arguments) = line.split_once(' ').expect("arguments");
        assert!(program.ends_with("/vesica"), "{program}");
        let ended = tables().run(arguments);
        assert!(ended.code == code && ended.stderr.contains(missing), "{ended:?}");
        assert_eq!(unit.contains("ExecReload=/bin/kill -HUP $MAINPID"), name == "serve");
    }
}

/// As `serve`, with a log of JSON lines, which name the address otherwise.
fn serve_json(folder: &Folder, listen: &str, arguments: &str) -> (Process, String) {
    let server = folder.start(&format!("{SERVE} --no-quota {listen} {arguments}"));
    let line: Value = serde_json::from_str(&server.says("\"listening\"")).expect("a JSON line");
    let address = line["address"].as_str().expect("an address").to_owned();
    (server, address)
}

#[test]
fn a_quota_outlives_a_kill_and_is_known_before_the_first_query() {
    let folder = tables();
    // 300 keys are 19 queries of 16 items: 304 items.
    let (server, address) = serve(&folder, "--state deny.state --quota 303/day");
    query(&folder, &address, "").expect(11, &["300 keys take 304 items", "303/day"]);
    server.signal("TERM");
    server.end().expect(0, &[]);
    let options = "--state deny.state --quota 310/day";
    let (mut server, address) = serve(&folder, options);
    query(&folder, &address, "--state deny.cache").expect(0, &["100 keys match"]);
    server.child.kill().expect("killed");
    server.child.wait().expect("gone");
    drop(server);
    folder.write("seen.csv", "when,url\n1,http://3.example/\n");
    let (server, address) = serve(&folder, options);
    let other = QUERY.replace("hits.csv", "other.csv");
    let refused = folder.run(&format!("{other} --connect {address} --state deny.cache"));
    if refused.code == 0 {
        // Midnight has passed in between, by a chance of some seconds in a day.
        return;
    }
    refused.expect(11, &["this client's quota of 310/day", "left; nothing was asked", "in the next day of UTC"]);
    assert!(!folder.files().contains(&"other.csv".to_owned()), "no partial result");
    server.signal("TERM");
    server.end().expect(0, &["up to 19 items more than that count as used", "stopped by SIGTERM"]);
}

#[test]
fn a_query_that_is_too_long_for_the_rest_of_a_quota_costs_nothing() {
    let folder = tables();
    folder.write("short.csv", "when,url\n1,http://3.example/\n");
    let (server, address) = serve(&folder, "--state deny.state --quota 320/day");
    let short = QUERY.replace("seen.csv", "short.csv");
    folder.run(&format!("{short} --connect {address}")).expect(0, &["1 key matches"]);
    query(&folder, &address, "").expect(0, &["100 keys match"]);
    let refused = folder.run(&format!("{short} --connect {address}"));
    if refused.code == 0 {
        // Midnight has passed in between.
        return;
    }
    refused.expect(11, &["1 key takes 16 items in whole queries", "only 0 are left"]);
    server.signal("TERM");
    server.end().expect(0, &[]);
    let (server, address) = serve(&folder, "--state deny.state --quota 352/day");
    for _ in 0..2 {
        query(&folder, &address, "").expect(11, &["300 keys take 304 items", "only 32 are left"]);
    }
    folder.run(&format!("{short} --connect {address}")).expect(0, &["1 key matches"]);
    server.signal("TERM");
    server.end().expect(0, &[]);
}

#[test]
fn a_table_that_was_cut_short_is_not_served() {
    let folder = tables();
    let whole = folder.read("deny.csv");
    let cut: String = whole.lines().take(400).map(|line| format!("{line}\n")).collect();
    for options in ["--state deny.state", "--protocol oprf-pir --security semi-honest --state pir.state"] {
        folder.write("deny.csv", whole.as_str());
        let (server, address) = serve(&folder, options);
        folder.write("deny.csv", cut.as_str());
        server.signal("HUP");
        let line = server.says("the set stays as it was");
        assert!(line.contains("the table has 399 keys, and had 600 before: more than 20 percent"), "{line}");
        query(&folder, &address, "--security semi-honest").expect(0, &["100 keys match"]);
        server.signal("TERM");
        server.end().expect(0, &["reading the table again"]);
    }
    let start = format!("{SERVE} --no-quota --listen 127.0.0.1:0 --state deny.state");
    folder.run(&start).expect(11, &["had 600 before", "--max-shrink 100"]);
    folder.run(&format!("{start} --max-shrink 33")).expect(11, &["more than 33 percent"]);
    let (server, _) = serve(&folder, "--state deny.state --max-shrink 34");
    server.signal("TERM");
    server.end().expect(0, &["0 added, 201 removed"]);
}

#[test]
fn a_damaged_state_is_replaced_if_that_is_asked_for_and_another_file_never() {
    let folder = tables();
    let (server, _) = serve(&folder, "--state deny.state");
    server.signal("TERM");
    server.end().expect(0, &[]);
    let state = folder.path("deny.state");
    let mut bytes = std::fs::read(&state).expect("a state");
    bytes.truncate(bytes.len() - 100);
    std::fs::write(&state, &bytes).expect("written");
    let start = format!("{SERVE} --no-quota --listen 127.0.0.1:0 --state deny.state");
    folder.run(&start).expect(3, &["damaged", "--replace-state"]);
    let (server, address) = serve(&folder, "--state deny.state --replace-state");
    query(&folder, &address, "").expect(0, &["100 keys match"]);
    server.signal("INT");
    server.end().expect(0, &["damaged", "the set is prepared anew", "stopped by SIGINT"]);
    folder.write("notes.txt", "these are notes\n");
    restrict(&folder, "notes.txt");
    let notes = start.replace("deny.state", "notes.txt");
    folder.run(&format!("{notes} --replace-state")).expect(3, &["notes.txt"]);
    assert_eq!(folder.read("notes.txt"), "these are notes\n");
}

#[test]
fn a_client_that_asks_about_much_is_named_in_the_log_and_goes_on() {
    let folder = tables();
    let (server, address) = serve_json(&folder, "--listen 127.0.0.1:0", "--log json --alert-volume 100/day");
    query(&folder, &address, "").expect(0, &["100 keys match"]);
    let alert: Value = serde_json::from_str(&server.says("\"volume\"")).expect("a JSON line");
    // 300 keys are 19 queries of 16 items, and the seventh passes the threshold.
    assert_eq!((&alert["items"], &alert["threshold"]), (&Value::from(112), &Value::from("100/day")), "{alert}");
    assert!(alert["client"].as_str().is_some_and(|client| client.len() > 16), "{alert}");
    server.signal("TERM");
    let log = server.end();
    log.expect(0, &[]);
}

#[test]
fn keys_are_hashed_slowly_on_both_sides_and_only_once() {
    let folder = tables();
    let slow = "--slow-hash 64KiB,1 --payload label --state deny.state";
    let (server, address) = serve(&folder, slow);
    let told = report(&folder, &address, "--state deny.cache");
    assert_eq!(folder.read("hits.csv"), expected(&folder, true));
    assert_eq!((told["slow_hash"].as_str(), told["matched_keys"].as_u64()), (Some("64KiB,1"), Some(100)));
    let deny = folder.read("deny.csv");
    folder.write("deny.csv", format!("{deny}http://1.example/,c\n"));
    server.signal("HUP");
    server.says("hashing 1 key");
    server.says("1 added, 0 removed");
    let told = report(&folder, &address, "--state deny.cache");
    assert_eq!(told["enrolment"].as_str(), Some("updated"));
    assert_eq!(folder.read("hits.csv"), expected(&folder, true));
    server.signal("TERM");
    let ended = server.end();
    ended.expect(0, &["hashing 600 keys with --slow-hash 64KiB,1"]);

    // The same table needs no hash, and another one all of them.
    let (server, address) = serve(&folder, slow);
    let told = report(&folder, &address, "--state deny.cache");
    assert_eq!(told["enrolment"].as_str(), Some("kept"));
    folder.write("deny.csv", deny);
    server.signal("HUP");
    server.says("hashing 600 keys");
    server.says("0 added, 1 removed");
    server.signal("TERM");
    server.end().expect(0, &[]);
    for (cost, code, said) in [
        ("64KiB,1 --replace-state --memory 1KiB", 11, "the slow hash takes"),
        ("64KiB,2", 2, "--slow-hash"),
        ("19", 2, "for example 19MiB,2"),
    ] {
        let start = format!("{SERVE} --no-quota --listen 127.0.0.1:0 --state deny.state --slow-hash {cost}");
        let refused = folder.run(&start);
        assert!(refused.code == code && refused.stderr.contains(said), "{refused:?}");
    }
}

#[test]
fn a_set_may_get_longer_labels_and_refuses_what_does_not_fit() {
    let folder = tables();
    let (server, address) = serve(&folder, "--payload label --state deny.state --max-shrink 100");
    report(&folder, &address, "--state deny.cache");
    folder.write("deny.csv", "url,label\nhttp://1.example/,longer\nhttp://2.example/,b\n");
    server.signal("HUP");
    server.says("2 keys, 600 before");
    report(&folder, &address, "--state deny.cache");
    assert_eq!(folder.read("hits.csv"), expected(&folder, true));
    folder.write("deny.csv", format!("url,label\nhttp://1.example/,{}\n", "long".repeat(100)));
    server.signal("HUP");
    server.says("longer values than there is room for");
    folder.write("deny.csv", "url,label\n17,b\n18,c\n");
    server.signal("HUP");
    server.says("written in another way than before");
    folder.write("deny.csv", "url,label\nhttp://1.example/,b\n");
    let second = folder.run(&format!("{SERVE} --no-quota --listen 127.0.0.1:0 --payload label --state deny.state"));
    second.expect(11, &["another server uses the state file"]);
    server.signal("TERM");
    server.end().expect(0, &[]);
    let other = format!("{SERVE} --no-quota --listen 127.0.0.1:0 --state deny.state");
    folder.run(&other).expect(2, &["prepared with other settings: --payload", "--replace-state"]);
    let many: String = (0..2000).map(|i| format!("http://{i}.example/,b\n")).collect();
    folder.write("deny.csv", format!("url,label\n{many}"));
    folder
        .run(&format!("{other} --payload label"))
        .expect(11, &["the table has 2000 keys now, and the set has room for 1024", "--replace-state"]);
    let (server, address) = serve(&folder, "--state deny.state --replace-state");
    assert_eq!(report(&folder, &address, "--state deny.cache")["enrolment"], "new", "what was kept is of no use");
    server.signal("TERM");
    server.end().expect(0, &[]);
}

#[test]
fn a_set_is_looked_up_privately_without_fetching_its_tags() {
    let folder = tables();
    folder.write("seen.csv", "when,url\n1,http://3.example/\n2,http://4.example/\n3,http://6.example/\n");
    let options = "--protocol oprf-pir --security semi-honest --items-per-query 2 --payload label --state deny.state";
    let (server, address) = serve(&folder, options);
    query(&folder, &address, "").expect(7, &["the server offers semi-honest security"]);
    for enrolment in ["new", "kept"] {
        let told = report(&folder, &address, "--security semi-honest --state deny.cache");
        assert_eq!((told["enrolment"].as_str(), told["matched_keys"].as_u64()), (Some(enrolment), Some(2)));
        assert_eq!(folder.read("hits.csv"), expected(&folder, true));
    }
    write_table(&folder, 1..2, "");
    server.signal("HUP");
    server.says("this protocol has no updates");
    let told = report(&folder, &address, "--security semi-honest --state deny.cache");
    assert_eq!((told["enrolment"].as_str(), told["matched_keys"].as_u64()), (Some("renewed"), Some(1)));
    server.signal("TERM");
    server.end().expect(0, &[]);
    // Another protocol at the same place: what the client has kept is of no use, and does no harm.
    let (server, address) = serve(&folder, "--payload label");
    assert_eq!(report(&folder, &address, "--state deny.cache")["enrolment"], "new");
    server.signal("TERM");
    server.end().expect(0, &[]);
    let malicious = format!("{SERVE} --no-quota --listen 127.0.0.1:0 --protocol oprf-pir");
    folder.run(&malicious).expect(11, &["oprf-pir"]);
    folder
        .run(&format!("{SERVE} --no-quota --listen 127.0.0.1:0 --protocol vole-fast"))
        .expect(7, &["oprf-rfc9497, oprf-pir"]);
}

#[test]
fn the_protocol_is_chosen_by_what_clients_will_exchange_and_kept_with_the_state() {
    let folder = tables();
    let auto = "--protocol auto --security semi-honest --state deny.state";
    // Tags of a small set are cheap.
    let (server, address) = serve(&folder, auto);
    query(&folder, &address, "--security semi-honest").expect(0, &[]);
    server.signal("TERM");
    let ended = server.end();
    ended.expect(0, &["--protocol auto takes oprf-rfc9497: 100 queries of 16 items", "with oprf-pir", "with cmdg21"]);
    // What the state was prepared for stays, though one query of many items would go another way.
    let other = format!("{auto} --expect-queries 1 --items-per-query 1024 --capacity 4000000");
    let (server, _) = serve(&folder, auto);
    server.signal("TERM");
    server.end().expect(0, &["auto takes oprf-rfc9497: the set in the state file"]);
    folder
        .run(&format!("{SERVE} --no-quota --listen 127.0.0.1:0 {other}"))
        .expect(2, &["auto takes oprf-rfc9497", "prepared with other settings"]);
    // Only one withstands servers that do not follow it.
    let (server, _) = serve(&folder, "--protocol auto");
    server.signal("TERM");
    server.end().expect(0, &["auto takes oprf-rfc9497: no other protocol", "--security malicious"]);
    let trusting = format!("{SERVE} --no-quota --listen 127.0.0.1:0 --security semi-honest --protocol cm25-select");
    folder.run(&trusting).expect(7, &["cm25-select", "a client that does not follow it", "cmdg21"]);
}

#[test]
fn a_set_is_asked_by_polynomials() {
    let folder = tables();
    let options = "--protocol cmdg21 --security semi-honest --items-per-query 3 --state deny.state";
    let (server, address) = serve(&folder, options);
    for enrolment in ["new", "kept"] {
        let told = report(&folder, &address, "--security semi-honest --state deny.cache");
        assert_eq!(told["enrolment"].as_str(), Some(enrolment));
        assert_eq!(folder.read("hits.csv"), expected(&folder, false));
    }
    server.signal("TERM");
    server.end().expect(0, &[]);
    // The same set after a restart.
    let (server, address) = serve(&folder, options);
    assert_eq!(report(&folder, &address, "--security semi-honest --state deny.cache")["enrolment"], "kept");
    write_table(&folder, 1..2, "");
    server.signal("HUP");
    server.says("this protocol has no updates");
    let told = report(&folder, &address, "--security semi-honest --state deny.cache");
    assert_eq!(told["enrolment"].as_str(), Some("renewed"));
    server.signal("TERM");
    server.end().expect(0, &[]);
}

#[test]
fn labels_come_by_polynomials() {
    let folder = tables();
    let options = "--protocol cmdg21 --security semi-honest --items-per-query 100 --payload label --state deny.state";
    let (server, address) = serve(&folder, options);
    for enrolment in ["new", "kept"] {
        let told = report(&folder, &address, "--security semi-honest --state deny.cache");
        assert_eq!(told["enrolment"].as_str(), Some(enrolment));
        assert_eq!(folder.read("hits.csv"), expected(&folder, true));
    }
    server.signal("TERM");
    server.end().expect(0, &[]);
    // The same set after a restart; then one whose labels are others.
    let (server, address) = serve(&folder, options);
    assert_eq!(report(&folder, &address, "--security semi-honest --state deny.cache")["enrolment"], "kept");
    assert_eq!(folder.read("hits.csv"), expected(&folder, true));
    folder.write("deny.csv", folder.read("deny.csv").replace(",a\n", ",c\n"));
    server.signal("HUP");
    server.says("this protocol has no updates");
    assert_eq!(report(&folder, &address, "--security semi-honest --state deny.cache")["enrolment"], "renewed");
    assert_eq!(folder.read("hits.csv"), expected(&folder, true));
    assert!(folder.read("hits.csv").contains(",c\n"));
    server.signal("TERM");
    server.end().expect(0, &[]);
    // Without the column, the state is of other settings. Records that are too long are refused.
    let bare = options.replace("--payload label ", "");
    folder.run(&format!("{SERVE} --no-quota --listen 127.0.0.1:0 {bare}")).expect(2, &["prepared with other settings"]);
    folder.write("deny.csv", format!("url,label\nhttp://a.example/,{}\n", "x".repeat(1100)));
    let fresh = options.replace("--state deny.state", "");
    folder.run(&format!("{SERVE} --no-quota --listen 127.0.0.1:0 {fresh}")).expect(11, &["at most 1024 bytes"]);
}

/// What a monitoring system reads.
fn metrics_at(page: &str) -> String {
    let mut socket = TcpStream::connect(page).expect("connected");
    socket.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").expect("sent");
    let mut metrics = String::new();
    socket.read_to_string(&mut metrics).expect("a page");
    metrics
}

/// A server at a free port with a page for monitors: the process and both addresses.
fn serve_with_page(folder: &Folder, arguments: &str) -> (Process, String, String) {
    let server = folder.start(&format!("{SERVE} --listen 127.0.0.1:0 --metrics 127.0.0.1:0 {arguments}"));
    let line = server.says("listening on ");
    let address = line.split("listening on ").nth(1).and_then(|rest| rest.split(';').next()).expect("an address");
    let page = line.split("http://").nth(1).and_then(|rest| rest.strip_suffix("/metrics")).expect("a page");
    (server, address.to_owned(), page.to_owned())
}

/// A client that leaves because it was told what is left is refused no less than one that asks all the
/// same, and the server does not hear how many keys it has.
#[test]
fn a_client_that_is_over_its_quota_is_counted_wherever_it_is_refused() {
    let folder = tables();
    let quota = "--state deny.state --quota 310/day";
    let (server, address, page) = serve_with_page(&folder, quota);
    query(&folder, &address, "").expect(0, &["100 keys match"]);
    let refused = query(&folder, &address, "");
    if refused.code == 0 {
        // Midnight has passed in between, by a chance of some seconds in a day.
        return;
    }
    refused.expect(11, &["300 keys take 304 items", "only 6 are left"]);
    let is_counted = || metrics_at(&page).lines().any(|line| line == "vesica_over_quota_total 1");
    assert!(within(20, is_counted), "{}", metrics_at(&page));
    server.signal("TERM");
    let ended = server.end();
    ended.expect(0, &["this client asks about more items than are left of its quota"]);
    assert!(!ended.stderr.contains("300 keys"), "{}", ended.stderr);
}

#[test]
fn fetching_the_set_is_bounded_for_each_client_and_a_state_spares_it() {
    let folder = tables();
    // One of them by each of two clients, and whoever has the set goes on.
    let options = "--no-quota --enrolments 2/day --alert-volume 303/day";
    let (server, address, page) = serve_with_page(&folder, options);
    for _ in 0..3 {
        query(&folder, &address, "--state deny.cache").expect(0, &["100 keys match"]);
    }
    query(&folder, &address, "").expect(0, &["100 keys match"]);
    let refused = query(&folder, &address, "");
    if refused.code == 0 {
        // Midnight has passed in between.
        return;
    }
    refused.expect(11, &["the server refused to answer", "2 times in this day", "name a file with --state"]);
    query(&folder, &address, "--state deny.cache").expect(0, &["100 keys match"]);
    folder.run("identity new --out other.key").expect(0, &[]);
    folder.write("clients.txt", format!("{}{}", folder.read("us.pub"), folder.read("other.pub")));
    server.signal("HUP");
    server.says("the clients' keys were read again");
    let other = QUERY.replace("us.key", "other.key");
    folder.run(&format!("{other} --connect {address}")).expect(0, &["100 keys match"]);
    let metrics = metrics_at(&page);
    let has = |line: &str| metrics.lines().any(|found| found == line);
    // Five runs of 304 items and two enrolments of 16 pass 303 five times; the other's 320 once.
    assert!(has("vesica_over_enrolments_total 1") && has("vesica_volume_alerts_total 6"), "{metrics}");
    server.signal("TERM");
    server.end().expect(0, &["2 times in this day"]);
}

/// Two names of one state are one state: one server at a time, and one count of what was used.
#[test]
fn a_state_is_one_by_whichever_name() {
    let folder = tables();
    std::fs::create_dir(folder.path("real")).expect("made");
    std::os::unix::fs::symlink("real", folder.path("folder")).expect("linked");
    std::os::unix::fs::symlink("real/deny.state", folder.path("link.state")).expect("linked");
    let absolute = std::env::temp_dir().join(format!("vesica-test-{}.state", std::process::id()));
    std::os::unix::fs::symlink(folder.path("real/deny.state"), &absolute).expect("linked");
    let names = ["link.state", "folder/deny.state", "real/../real/deny.state", absolute.to_str().expect("text")];
    folder.write("short.csv", "when,url\n1,http://3.example/\n");
    let short = QUERY.replace("seen.csv", "short.csv");
    for (used, name) in names.into_iter().enumerate() {
        let (server, address) = serve(&folder, &format!("--state {name} --quota 64/day"));
        for other in names {
            let second = folder.run(&format!("{SERVE} --no-quota --listen 127.0.0.1:0 --state {other}"));
            second.expect(11, &["another server uses the state file", "/real/deny.state"]);
        }
        let asked = folder.run(&format!("{short} --connect {address}"));
        asked.expect(0, &["1 key matches"]);
        if used == 3 {
            let refused = folder.run(&format!("{short} --connect {address}"));
            if refused.code != 0 {
                refused.expect(11, &["only 0 are left"]);
            }
        }
        server.signal("TERM");
        let ended = server.end();
        ended.expect(0, &["stopped"]);
        assert!(!ended.stderr.contains("quotas are counted"), "{name}: {}", ended.stderr);
    }
    std::fs::remove_file(&absolute).expect("removed");
    let mut beside: Vec<_> = std::fs::read_dir(folder.path("real"))
        .expect("a folder")
        .map(|entry| entry.expect("one").file_name())
        .collect();
    beside.sort();
    assert_eq!(beside, ["deny.state", "deny.state.lock", "deny.state.quota"]);
    assert!(folder.path("link.state").is_symlink(), "replaced where it lies");
    assert!(
        !folder.files().iter().any(|name| name.ends_with(".quota") || name.ends_with(".lock")),
        "{:?}",
        folder.files()
    );
}

#[test]
fn a_count_of_quotas_that_is_gone_or_left_beside_a_link_is_told() {
    let folder = tables();
    let quota = "--state deny.state --quota 1000/day";
    let warning = "deny.state.quota, in which quotas are counted: each client has its whole quota in this day";
    let told = |arguments: &str| {
        let (server, _) = serve(&folder, arguments);
        server.signal("TERM");
        server.end()
    };
    // The first start, and a second one.
    for _ in 0..2 {
        assert!(!told(quota).stderr.contains(warning));
    }
    std::fs::remove_file(folder.path("deny.state.quota")).expect("removed");
    told(quota).expect(0, &[warning, "restore that file"]);
    assert!(!told(quota).stderr.contains(warning), "once");
    // A server that was stopped by nobody has written it too.
    std::fs::remove_file(folder.path("deny.state.quota")).expect("removed");
    let (mut server, _) = serve(&folder, quota);
    server.child.kill().expect("killed");
    server.child.wait().expect("gone");
    drop(server);
    assert!(!told(quota).stderr.contains(warning));
    // Without a quota nothing is counted, and nothing is said.
    std::fs::remove_file(folder.path("deny.state.quota")).expect("removed");
    assert!(!told("--state deny.state").stderr.contains("quota"));

    // As earlier releases left it, which went by the name of the link.
    std::fs::create_dir(folder.path("real")).expect("made");
    std::fs::rename(folder.path("deny.state"), folder.path("real/deny.state")).expect("moved");
    std::os::unix::fs::symlink("real/deny.state", folder.path("deny.state")).expect("linked");
    folder.write("deny.state.quota", "{\"since\":0,\"items\":{},\"ahead\":false}");
    let start = format!("{SERVE} {quota} --listen 127.0.0.1:0");
    folder.run(&start).expect(3, &["deny.state.quota stands beside a link", "move it to", "real/deny.state.quota"]);
    std::fs::rename(folder.path("deny.state.quota"), folder.path("real/deny.state.quota")).expect("moved");
    assert!(!told(quota).stderr.contains(warning));
}

#[test]
fn metrics_count_and_strangers_harm_nobody() {
    let folder = tables();
    let (server, address, page) = serve_with_page(&folder, "--no-quota --alert-volume 200/day");
    let mut stranger = TcpStream::connect(&address).expect("connected");
    stranger.write_all(b"GET / HTTP/1.1\r\n\r\n").expect("sent");
    folder.run("identity new --out stranger.key").expect(0, &[]);
    query(&folder, &address, "").expect(0, &[]);
    let unknown = QUERY.replace("us.key", "stranger.key");
    folder.run(&format!("{unknown} --connect {address}")).expect(6, &["refused our key"]);
    let metrics = metrics_at(&page);
    for line in [
        "vesica_joined_total 1",
        "vesica_items_total 304",
        "vesica_volume_alerts_total 1",
        "vesica_answer_seconds_count 19",
        "vesica_capacity 1024",
    ] {
        assert!(metrics.lines().any(|found| found == line), "{line} in {metrics}");
    }
    // How many keys there are is what the room for more of them hides.
    assert!(!metrics.contains("example") && !metrics.contains("600"), "{metrics}");
    server.signal("TERM");
    let ended = server.end();
    // To its end: what to do about it stands there.
    ended.expect(0, &["which this server does not accept", "if it belongs there"]);
    assert!(!ended.stderr.contains(".example"), "no key in the log: {}", ended.stderr);
}

#[test]
fn mistakes_are_named_on_both_sides() {
    let folder = tables();
    let refuse = |arguments: &str, code: i32, said: &str| {
        let ended = folder.run(&format!("{SERVE} --listen 127.0.0.1:0 {arguments}"));
        assert!(ended.code == code && ended.stderr.contains(said), "{ended:?}");
    };
    refuse("", 2, "say --quota, for example --quota 1000/day with --state FILE; or --no-quota");
    refuse("--no-quota --capacity 10", 2, "--capacity 10 is less than the 600 distinct keys");
    refuse("--quota 10 --state deny.state", 2, "1000/day");
    refuse("--quota 10/day", 2, "--state");
    refuse("--quota 10/day --state deny.state", 2, "does not allow one query of 16 items");
    refuse("--no-quota --payload nothing", 3, "nothing");
    refuse("--no-quota --items-per-query 0", 2, "--items-per-query");
    folder.write("bad.state", "not a state");
    refuse("--no-quota --state bad.state", 3, "bad.state");
    for (clients, said) in [("", "has no key"), ("rubbish\n", "line 1: no public key")] {
        folder.write("bad.txt", clients);
        let serve = SERVE.replace("clients.txt", "bad.txt");
        let ended = folder.run(&format!("{serve} --no-quota --listen 127.0.0.1:0"));
        assert!([2, 6].contains(&ended.code) && ended.stderr.contains(said), "{ended:?}");
    }
    let anybody = folder.run("serve --input deny.csv --key url --listen 127.0.0.1:0 --no-quota");
    assert!(anybody.code == 2 && anybody.stderr.contains("with --clients; --any-client"), "{anybody:?}");

    let (server, address) = serve(&folder, "--security semi-honest");
    query(&folder, &address, "").expect(7, &["the server offers semi-honest security, and malicious is asked for"]);
    let weak = "--security semi-honest";
    query(&folder, &address, &format!("{weak} --normalise url=lower")).expect(7, &["--normalise is \"lower@1\" here"]);
    query(&folder, &address, &format!("{weak} --key when")).expect(7, &["number of --key columns"]);
    query(&folder, &address, &format!("{weak} --max-peer-items 100"))
        .expect(11, &["room for 1024 items, more than 100"]);
    query(&folder, &address, &format!("{weak} --state seen.csv")).expect(2, &["name the same file"]);
    query(&folder, &address, &format!("{weak} --state clients.txt")).expect(3, &["clients.txt"]);
    folder.run("identity new --out other.key").expect(0, &[]);
    let imposter = QUERY.replace("them.pub", "other.pub");
    folder.run(&format!("{imposter} --connect {address}")).expect(6, &["fingerprint"]);
    assert!(!folder.files().contains(&"hits.csv".to_owned()), "nothing was written: {:?}", folder.files());
    // A join's receiver is no client of a service.
    let joined = folder.run(&format!(
        "receive --input seen.csv --key url --output hits.csv --connect {address} --identity us.key --peer them.pub --wait 5"
    ));
    assert_ne!(joined.code, 0, "{joined:?}");
    query(&folder, &address, weak).expect(0, &["100 keys match"]);
    server.signal("TERM");
    server.end().expect(0, &[]);
}

#[test]
fn no_match_and_differing_kinds_come_with_a_hint() {
    let folder = tables();
    let (server, address) = serve(&folder, "");
    folder.write("seen.csv", "url\nnowhere\n");
    query(&folder, &address, "").expect(0, &["no key matches: if some should"]);
    assert_eq!(folder.read("hits.csv"), "url\n");
    server.signal("TERM");
    server.end().expect(0, &[]);
}

/// What a server sees is said on both sides before it sees it, and only a client that agrees to it asks.
#[test]
fn a_prefix_leaks_only_where_both_sides_agree_to_it() {
    let folder = tables();
    let serve_by = |options: &str| folder.run(&format!("{SERVE} --no-quota --listen 127.0.0.1:0 {options}"));
    let buckets = "--protocol oprf-buckets --security semi-honest";
    serve_by(buckets).expect(11, &["the first bits of a hash of each key", "--leak-prefix N"]);
    let most = serve_by(&format!("{buckets} --leak-prefix 21"));
    assert!(most.stderr.contains("21 is not in 1..=20"), "{}", most.stderr);
    serve_by("--leak-prefix 12").expect(11, &["oprf-rfc9497, which shows the server nothing of a key"]);
    serve_by("--protocol auto --security semi-honest --leak-prefix 12").expect(2, &["auto never takes"]);
    serve_by("--protocol oprf-buckets --leak-prefix 12").expect(11, &["no malicious mode"]);

    let leak = "the server sees the first 12 bits of a hash of each key";
    let options = format!("{buckets} --leak-prefix 12 --payload label --items-per-query 7 --state deny.state");
    let (server, address) = serve(&folder, &options);
    let agreed = "--security semi-honest --leak-prefix 12 --state deny.cache";
    query(&folder, &address, "--security semi-honest").expect(11, &[leak, "say --leak-prefix 12"]);
    query(&folder, &address, "--security semi-honest --leak-prefix 11").expect(11, &[leak, "--leak-prefix 11 agrees"]);
    for enrolment in ["new", "kept"] {
        let ended = query(&folder, &address, &format!("--json {agreed}"));
        ended.expect(0, &[&format!("warning: {leak}")]);
        let told: Value = serde_json::from_str(&ended.stdout).expect("one JSON object");
        assert_eq!((told["enrolment"].as_str(), told["matched_keys"].as_u64()), (Some(enrolment), Some(100)));
        assert_eq!((told["leak_prefix"].as_u64(), told["queries"].as_u64()), (Some(12), Some(43)));
        assert!(told["leaked"][0].as_str().is_some_and(|said| said.starts_with(leak)), "{told}");
        assert_eq!(folder.read("hits.csv"), expected(&folder, true));
    }
    query(&folder, &address, agreed).expect(0, &[&format!("leaked: {leak}")]);
    write_table(&folder, 1..2, "http://1.example/,z\n");
    server.signal("HUP");
    server.says("this protocol has no updates");
    let told = report(&folder, &address, agreed);
    assert_eq!((told["enrolment"].as_str(), told["matched_keys"].as_u64()), (Some("renewed"), Some(100)));
    assert_eq!(folder.read("hits.csv"), expected(&folder, true));
    server.signal("TERM");
    let ended = server.end();
    ended.expect(0, &[&format!("warning: {leak}")]);
    let said = |what: &str| ended.stderr.find(what).unwrap_or_else(|| panic!("{what}: {}", ended.stderr));
    assert!(said(leak) < said("listening on"), "said before anybody can ask");
    // Those that did not agree never joined.
    assert_eq!(ended.stderr.matches("joined").count(), 4, "{}", ended.stderr);

    // The same set after a restart; another number of bits is another set; auto takes neither.
    let (server, address) = serve(&folder, &options);
    assert_eq!(report(&folder, &address, agreed)["enrolment"], "kept");
    server.signal("TERM");
    server.end().expect(0, &["the state file holds them"]);
    let other = options.replace("prefix 12", "prefix 13");
    serve_by(&other).expect(2, &["prepared with other settings: --leak-prefix"]);
    let auto = "--protocol auto --security semi-honest --payload label --items-per-query 7 --state deny.state";
    serve_by(auto).expect(2, &["auto never takes oprf-buckets", "--leak-prefix"]);

    // A server that sees nothing: what was allowed is not used.
    let (server, address) = serve(&folder, "");
    let ended = query(&folder, &address, "--leak-prefix 12");
    ended.expect(0, &["--leak-prefix 12 was not needed"]);
    assert!(!ended.stderr.contains("leaked:"), "{}", ended.stderr);
    server.signal("TERM");
    server.end().expect(0, &[]);
}

/// A client with a successor of its key has what is left of its quota; one whose key is revoked is none.
#[test]
fn a_clients_successor_has_its_quota_and_a_revoked_client_is_none() {
    let folder = tables();
    folder.run("identity rotate --identity us.key --out us-2.key --until 2999-12-31").expect(0, &[]);
    let clients = format!("{}{}", folder.read("clients.txt"), folder.read("us-2.succession"));
    folder.write("clients.txt", &clients);
    let (server, address) = serve(&folder, "--state deny.state --quota 310/day");
    query(&folder, &address, "").expect(0, &[]);
    let second = QUERY.replace("us.key", "us-2.key");
    folder.run(&format!("{second} --connect {address}")).expect(11, &["this client's quota of 310/day"]);
    drop(server);
    folder.run("identity new --out other.key").expect(0, &[]);
    folder.run("identity revoke --identity us.key --out us.revocation").expect(0, &[]);
    folder.write("clients.txt", format!("{clients}{}{}", folder.read("other.pub"), folder.read("us.revocation")));
    let (_server, address) = serve(&folder, "");
    for asker in [QUERY, &second] {
        folder.run(&format!("{asker} --connect {address}")).expect(6, &["refused our key"]);
    }
    let third = QUERY.replace("us.key", "other.key");
    folder.run(&format!("{third} --connect {address}")).expect(0, &[]);
    folder.write("clients.txt", folder.read("us-2.succession"));
    folder
        .run(&format!("{SERVE} --no-quota --listen 127.0.0.1:0"))
        .expect(6, &["no earlier line has the key that is replaced"]);
}

/// A key that is taken out of the clients' file behind an earlier key of the same client is not used to its end.
#[test]
fn a_key_that_is_taken_out_behind_an_earlier_one_goes_at_once() {
    let folder = tables();
    folder.run("identity rotate --identity us.key --out us-2.key --until 2999-12-31").expect(0, &[]);
    let clients = folder.read("clients.txt");
    folder.write("clients.txt", format!("{clients}{}", folder.read("us-2.succession")));
    let (server, address) = serve(&folder, "--items-per-query 1");
    let many: String = (0..50_000).map(|row| format!("{row},http://{row}.example/\n")).collect();
    folder.write("many.csv", format!("when,url\n{many}"));
    let ask = |key: &str| {
        let query = QUERY.replace("us.key", key).replace("seen.csv", "many.csv").replace("hits", key);
        folder.start(&format!("{query} --connect {address} --run-log {key}.log"))
    };
    let both = ["us.key", "us-2.key"].map(|key| (key, ask(key)));
    for (key, _) in &both {
        let begun = || folder.path(&format!("{key}.log")).metadata().is_ok_and(|log| log.len() > 0);
        assert!(within(60, begun), "{key}");
    }
    folder.write("clients.txt", clients);
    server.signal("HUP");
    server.says("1 may ask, 1 may not any more");
    let [(_, first), (_, second)] = both;
    second.end().expect(9, &["this server does not accept the client any more"]);
    first.end().expect(0, &[]);
}

/// The list of revoked keys of the user who runs the server counts for its clients, too.
#[test]
fn a_server_holds_its_clients_against_its_users_list() {
    let folder = tables();
    folder.run("identity new --out other.key").expect(0, &[]);
    folder.write("clients.txt", format!("{}{}", folder.read("us.pub"), folder.read("other.pub")));
    folder.write("servers-peers.toml", "revoked = \"revoked.txt\"\n");
    folder.write("revoked.txt", "# none\n");
    let start = || {
        let under = by_shell("VESICA_PEERS=servers-peers.toml exec \"$@\"");
        folder.start_under(under, &format!("{SERVE} --no-quota --listen 127.0.0.1:0"))
    };
    let server = start();
    let line = server.says("listening on ");
    let address = line.split("listening on ").nth(1).and_then(|rest| rest.split(';').next()).expect("an address");
    let asks = |name: &str| folder.run(&format!("{} --connect {address}", QUERY.replace("us.key", name)));
    let reload = |file: &str, text: &str, said: &str| {
        folder.write(file, text);
        server.signal("HUP");
        server.says(said);
    };
    asks("us.key").expect(0, &[]);
    reload("revoked.txt", &folder.read("us.pub"), "1 may ask, 1 may not any more");
    asks("us.key").expect(6, &["refused our key"]);
    asks("other.key").expect(0, &[]);
    // Nothing takes a revocation back: not a line that is gone, nor a list that nothing names, nor one that cannot be read.
    for (file, text, said) in [
        ("revoked.txt", "# none\n", "1 may ask"),
        ("servers-peers.toml", "", "1 may ask"),
        ("servers-peers.toml", "revoked = \"revoked.txt\"\n", "1 may ask"),
        ("revoked.txt", "rubbish\n", "the list of revoked keys"),
    ] {
        reload(file, text, said);
        asks("us.key").expect(6, &["refused our key"]);
        asks("other.key").expect(0, &[]);
    }
    // What else the list says counts behind a damaged line, also where the file of clients cannot be read.
    folder.write("clients.txt", "rubbish\n");
    let list = format!("rubbish\n# \u{fffd}\n{}", folder.read("other.pub"));
    reload("revoked.txt", &list, "1 revoked key may not ask any more, and the other clients stay");
    asks("other.key").expect(6, &["refused our key"]);
    folder.write("revoked.txt", folder.read("other.pub"));
    folder.write("clients.txt", folder.read("other.pub"));
    start().end().expect(2, &["the keys of all --clients are revoked"]);
}

/// What a server cannot read of its clients' file leaves the clients as they were, but not those whose revocation it reads.
#[test]
fn a_damaged_line_hides_no_revocation_from_a_server() {
    let folder = tables();
    for name in ["other", "third"] {
        folder.run(&format!("identity new --out {name}.key")).expect(0, &[]);
    }
    folder.run("identity rotate --identity other.key --out other-2.key --until 2999-12-31").expect(0, &[]);
    for name in ["us", "other-2", "third"] {
        folder.run(&format!("identity revoke --identity {name}.key --out {name}.revocation")).expect(0, &[]);
    }
    let clients: String = ["us.pub", "other.pub", "third.pub"].map(|name| folder.read(name)).concat();
    folder.write("clients.txt", &clients);
    let (server, address) = serve_json(&folder, "--listen 127.0.0.1:0", "--log json");
    let asks = |name: &str| folder.run(&format!("{} --connect {address}", QUERY.replace("us.key", name)));
    let reload = |behind: &[u8]| -> Value {
        folder.write("clients.txt", [clients.as_bytes(), b"rubb\xffish\n".as_slice(), behind].concat());
        server.signal("HUP");
        serde_json::from_str(&server.says("\"clients-failed\"")).expect("a JSON line")
    };
    let line = reload(folder.read("us.revocation").as_bytes());
    assert_eq!(line["removed"], 1, "{line}");
    assert!(line["fault"].as_str().is_some_and(|fault| fault.contains("line 4: no public key")), "{line}");
    asks("us.key").expect(6, &["refused our key"]);
    asks("other.key").expect(0, &[]);
    // Of a successor, which the server did not know before.
    let line = reload(format!("{}{}", folder.read("other-2.succession"), folder.read("other-2.revocation")).as_bytes());
    assert_eq!(line["removed"], 1, "{line}");
    asks("other.key").expect(6, &["refused our key"]);
    let damaged = folder.read("third.revocation").replace("vesica-revocation ", "vesica-revocation A");
    folder.write("clients.txt", format!("{clients}{damaged}"));
    server.signal("HUP");
    server.says("a damaged revocation, which does not show whose key it revokes");
    asks("third.key").expect(0, &[]);
}
