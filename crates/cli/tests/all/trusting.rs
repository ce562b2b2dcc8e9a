//! `serve` and `query` by a protocol that trusts its clients: digests and integers, compared with a
//! plain join, and what goes wrong on either side.

use std::collections::HashSet;

use serde_json::Value;

use crate::harness::{Ended, Folder, Process};

/// Every third id of the client is on the server's list, and so is the largest one of 33 bits, which the
/// client has. Two rows of either table have the same id, and one has none.
fn tables() -> Folder {
    let folder = Folder::new();
    write_list(&folder, 0..200, "0\n8589934591\n3\n\"\"\n");
    write_seen(&folder, 20);
    folder.write("clients.txt", folder.read("us.pub"));
    folder
}

/// The server's table: these multiples of three, and more rows.
fn write_list(folder: &Folder, numbers: std::ops::Range<u64>, more: &str) {
    let listed = numbers.map(|i| format!("{}\n", 3 * i));
    folder.write("deny.csv", format!("id\n{}{more}", listed.collect::<String>()));
}

/// The client's table: the first integers, and some more rows.
fn write_seen(folder: &Folder, count: u64) {
    let seen = (1..=count).map(|i| format!("{i},{i}\n"));
    folder.write("seen.csv", format!("when,id\na,8589934591\nb,3\nc,\n{}d,8589934590\n", seen.collect::<String>()));
}

const SERVE: &str = "serve --input deny.csv --key id --identity them.key --listen 127.0.0.1:0";
const TRUSTING: &str = "--clients clients.txt --no-quota --protocol cm25-select --security semi-honest --trust-clients";
const QUERY: &str =
    "query --input seen.csv --key id --output hits.csv --force --identity us.key --peer them.pub --wait 20";

fn serve(folder: &Folder, arguments: &str) -> (Process, String) {
    let server = folder.start(&format!("{SERVE} {TRUSTING} {arguments}"));
    let line = server.says("listening on ");
    let address = line.split("listening on ").nth(1).and_then(|rest| rest.split(';').next()).expect("an address");
    (server, address.to_owned())
}

fn query(folder: &Folder, address: &str, arguments: &str) -> Ended {
    folder.run(&format!("{QUERY} --connect {address} --security semi-honest --trust-server {arguments}"))
}

/// The report of a query that worked; its rows are those of a plain join.
#[track_caller]
fn report(folder: &Folder, address: &str) -> Value {
    let ended = query(folder, address, "--json --state deny.cache --post-quantum");
    ended.expect(0, &["warning: a server that does not follow cm25-select can find out what you ask about"]);
    assert_eq!(folder.read("hits.csv"), expected(folder));
    serde_json::from_str(&ended.stdout).expect("one JSON object")
}

/// The rows that a plain join gives.
fn expected(folder: &Folder) -> String {
    let deny = folder.read("deny.csv");
    let listed: HashSet<&str> = deny.lines().skip(1).filter(|id| !id.is_empty()).collect();
    let is_kept = |line: &&str| line.split_once(',').is_some_and(|(_, id)| id == "id" || listed.contains(id));
    folder.read("seen.csv").lines().filter(is_kept).map(|line| format!("{line}\n")).collect()
}

fn kill(mut server: Process) {
    server.child.kill().expect("killed");
    server.child.wait().expect("gone");
}

fn terminate(server: Process) -> Ended {
    server.signal("TERM");
    let ended = server.end();
    ended.expect(0, &["stopped"]);
    ended
}

#[test]
fn integers_and_digests_are_compared_as_a_plain_join_compares_them() {
    let folder = tables();
    for (integers, bits) in [("--integer-bits 33", Some(33)), ("--integer-bits 64", Some(64)), ("", None)] {
        let options = format!("{integers} --items-per-query 4 --state deny.state --post-quantum");
        let (server, address) = serve(&folder, &options);
        // The state of other settings is of no use.
        for enrolment in ["new", "kept"] {
            let told = report(&folder, &address);
            assert_eq!((told["enrolment"].as_str(), told["matched_keys"].as_u64()), (Some(enrolment), Some(7)));
            assert_eq!((told["keys"].as_u64(), told["queries"].as_u64()), (Some(22), Some(6)));
            assert_eq!(told["integer_bits"].as_u64(), bits);
            assert!(told["trusted"][0].as_str().is_some_and(|text| text.contains("It trusts you likewise")), "{told}");
        }
        terminate(server).expect(0, &["warning: a client that does not follow cm25-select can read the whole set"]);
        // The same set after a restart; another one after a reload.
        let (server, address) = serve(&folder, &format!("{options} --max-shrink 100"));
        assert_eq!(report(&folder, &address)["enrolment"], "kept");
        server.signal("HUP");
        server.says("has not changed");
        write_list(&folder, 1..4, "1\n");
        server.signal("HUP");
        server.says("this protocol has no updates");
        let told = report(&folder, &address);
        assert_eq!((told["enrolment"].as_str(), told["matched_keys"].as_u64()), (Some("renewed"), Some(4)));
        query(&folder, &address, "").expect(0, &["trusted: a server that does not follow cm25-select"]);
        terminate(server);
        write_list(&folder, 0..200, "0\n8589934591\n3\n\"\"\n");
        std::fs::remove_file(folder.path("deny.state")).expect("there");
        std::fs::remove_file(folder.path("deny.state.answered")).expect("there");
    }
}

/// Of integers with three bits, what fills up a query or a set would often be a key.
#[test]
fn what_fills_up_queries_and_sets_matches_nothing() {
    let folder = tables();
    folder.write("deny.csv", "id\n0\n1\n2\n3\n4\n5\n6\n7\n");
    folder.write("seen.csv", "when,id\na,6\n");
    let (server, address) = serve(&folder, "--integer-bits 3 --items-per-query 16");
    for _ in 0..3 {
        let told = report(&folder, &address);
        assert_eq!((told["matched_keys"].as_u64(), told["set_items"].as_u64()), (Some(1), Some(1024)));
    }
    terminate(server);
    folder.write("deny.csv", "id\n5\n");
    folder.write("seen.csv", "when,id\na,0\nb,1\nc,2\nd,3\ne,4\nf,5\ng,6\nh,7\n");
    let (server, address) = serve(&folder, "--integer-bits 3 --items-per-query 8");
    assert_eq!(report(&folder, &address)["matched_keys"].as_u64(), Some(1));
    terminate(server);
}

#[test]
fn a_value_that_is_no_such_integer_is_named_by_its_row_on_either_side() {
    let folder = tables();
    let wrong = [
        ("-1", "", "it is negative", "without --integer-bits"),
        ("8589934592", "", "it is larger", "larger --integer-bits"),
        ("5.0", "", "a point", "--normalise COLUMN=int"),
        ("007", "", "a leading zero", "--normalise COLUMN=int"),
        ("seven", "", "it is no number", "take such rows out"),
        ("5.5", "--normalise id=int", "a normaliser of the column refuses it", "take such rows out"),
        ("-7", "--normalise id=int", "it is negative", "take such rows out"),
    ];
    for (value, normalise, fault, mend) in wrong {
        write_list(&folder, 0..200, &format!("{value}\n8\n"));
        let refused = folder.run(&format!("{SERVE} {TRUSTING} --integer-bits 33 {normalise}"));
        refused.expect(3, &["row 201 of", "column `id`", "no integer from 0 to 2^33 - 1", fault, mend]);
        assert!(!refused.stderr.contains(value), "no key in an error: {}", refused.stderr);
    }
    for normalise in ["", "--normalise id=int"] {
        write_list(&folder, 0..200, "");
        let (server, address) = serve(&folder, &format!("--integer-bits 33 --items-per-query 4 {normalise}"));
        for (value, _, fault, mend) in wrong.into_iter().filter(|(_, with, ..)| *with == normalise) {
            write_seen(&folder, 2);
            folder.write("seen.csv", format!("{}e,{value}\n", folder.read("seen.csv")));
            let refused = query(&folder, &address, normalise);
            refused.expect(3, &["row 7 of seen.csv", "no integer from 0 to 2^33 - 1", fault, mend]);
        }
        // The set before stays where a reload finds such a value.
        write_list(&folder, 0..200, "x\n");
        server.signal("HUP");
        assert!(server.says("the set stays as it was").contains("row 201"));
        write_list(&folder, 0..200, "");
        // What a normaliser makes an integer is one.
        let other = if normalise.is_empty() { "e,6\n" } else { "e,+006.0\n" };
        folder.write("seen.csv", format!("when,id\n{other}f,1\n"));
        query(&folder, &address, normalise).expect(0, &["1 key matches"]);
        assert_eq!(folder.read("hits.csv"), format!("when,id\n{other}"));
        terminate(server);
    }
}

#[test]
fn a_server_that_is_killed_forgets_no_item_that_it_has_answered() {
    let folder = tables();
    write_seen(&folder, 150);
    let options = "--integer-bits 33 --items-per-query 4 --state deny.state --log json";
    let start = |listen: &str| {
        let server = folder.start(&format!("{} {TRUSTING} {options}", SERVE.replace("127.0.0.1:0", listen)));
        let line: Value = serde_json::from_str(&server.says("\"listening\"")).expect("a JSON line");
        (server, line["address"].as_str().expect("an address").to_owned())
    };
    let (server, address) = start("127.0.0.1:0");
    let client =
        folder.start(&format!("{QUERY} --connect {address} --security semi-honest --trust-server --state deny.cache"));
    server.says("\"query\":5,");
    kill(server);
    let answered = || -> Vec<u64> {
        let counts: Value = serde_json::from_str(&folder.read("deny.state.answered")).expect("JSON");
        counts.as_object().expect("by set").values().map(|count| count.as_u64().expect("a count")).collect()
    };
    // A sixty-fourth of 2^22 is booked ahead.
    assert_eq!(answered(), [4 + (1 << 16)]);
    client.says("the connection was lost");
    let (server, _) = start(&address);
    client.end().expect(0, &["trusted: "]);
    assert_eq!(folder.read("hits.csv"), expected(&folder));
    terminate_json(server);
    // 152 keys are 38 queries. At most one was answered twice.
    let counts = answered();
    let after = 4 + (1 << 16);
    assert!(counts.len() == 1 && counts[0] > after + 4 * 25 && counts[0] <= after + 4 * 39, "{counts:?}");

    // Without a count the state is not served, but may be replaced.
    let kept = folder.read("deny.state.answered");
    std::fs::remove_file(folder.path("deny.state.answered")).expect("there");
    let run = |more: &str| folder.run(&format!("{SERVE} {TRUSTING} {options} {more}"));
    run("").expect(3, &["does not say how many items the set in the state file has answered", "--replace-state"]);
    folder.write("deny.state.answered", "{");
    run("").expect(3, &["deny.state.answered: it is not what `vesica serve` writes"]);
    // With the flag that the message names, another set is prepared, and clients fetch it.
    for damage in ["no file", "a damaged file that was removed"] {
        let _ = std::fs::remove_file(folder.path("deny.state.answered"));
        let state = std::fs::read(folder.path("deny.state")).expect("there");
        let server = folder.start(&format!("{SERVE} {TRUSTING} {options} --replace-state"));
        assert!(server.says("\"listening\"").contains("\"prepared_before\":false"), "{damage}");
        terminate_json(server);
        assert_eq!(answered(), [0], "{damage}");
        std::fs::write(folder.path("deny.state"), state).expect("the state of before");
    }
    let set = kept.split('"').nth(1).expect("the set");
    folder.write("deny.state.answered", format!("{{\"{set}\":{}}}", (1 << 22) - 5));

    // The last four items of this key; then none, until there is another key.
    let (server, address) = start("127.0.0.1:0");
    write_seen(&folder, 1);
    assert_eq!(report(&folder, &address)["enrolment"], "kept");
    server.says("little is left");
    let refused = query(&folder, &address, "--state deny.cache");
    refused.expect(11, &["answered 4194303 items, and may answer 4194304 for all clients", "SIGUSR1"]);
    server.says("no query is answered any more");
    server.signal("USR1");
    server.says("\"rotated\"");
    assert_eq!(report(&folder, &address)["enrolment"], "renewed");
    terminate_json(server);
    assert_eq!(answered(), [4]);
}

fn terminate_json(server: Process) {
    server.signal("TERM");
    server.end().expect(0, &["\"stopped\""]);
}

#[test]
fn clients_are_trusted_only_by_who_says_so_and_names_them() {
    let folder = tables();
    let refuse = |arguments: &str, code: i32, said: &[&str]| {
        folder.run(&format!("{SERVE} {arguments}")).expect(code, said);
    };
    let listed = "--clients clients.txt --no-quota";
    let select = "--protocol cm25-select --security semi-honest";
    refuse(
        &format!("{listed} {select}"),
        7,
        &["cm25-select: a client that does not follow it can read the whole set", "--trust-clients", "cmdg21"],
    );
    let anybody = "--trust-clients where anybody can ask";
    refuse(&format!("--any-client {select} --trust-clients"), 2, &[anybody, "--clients"]);
    let plain = SERVE.replace("--identity them.key", "");
    folder
        .run(&format!("{plain} --insecure-plaintext --no-quota {select} --trust-clients"))
        .expect(2, &[anybody, "--clients"]);
    refuse(&format!("{listed} --trust-clients"), 2, &["--trust-clients with oprf-rfc9497", "omit --trust-clients"]);
    let auto = format!("{listed} --protocol auto --security semi-honest");
    refuse(&format!("{auto} --trust-clients"), 2, &["--protocol auto never takes a protocol that trusts its clients"]);
    refuse(&format!("{auto} --integer-bits 33"), 2, &["--protocol auto never takes a protocol that compares integers"]);
    refuse(
        &format!("{listed} --protocol cm25-select --trust-clients"),
        11,
        &["cm25-select has no malicious mode", "semi-honest"],
    );
    refuse(&format!("{listed} --integer-bits 33"), 11, &["--integer-bits with oprf-rfc9497", "cm25-select"]);
    let trusting = format!("{listed} {select} --trust-clients --integer-bits 33");
    refuse(&format!("{trusting} --slow-hash 64KiB,1"), 2, &["--slow-hash with --integer-bits"]);
    refuse(&format!("{trusting} --payload id"), 2, &["--payload with --integer-bits"]);
    refuse(&format!("{listed} {select} --trust-clients --payload id"), 11, &["payloads"]);
    refuse(&format!("{trusting} --leak-prefix 8"), 11, &["--leak-prefix with cm25-select"]);
    folder.write("deny.csv", "id,day\n1,2\n");
    refuse(&format!("{trusting} --key day"), 2, &["--integer-bits with a key of 2 columns"]);
    write_list(&folder, 0..200, "");

    let (server, address) = serve(&folder, "--integer-bits 33 --items-per-query 4 --state deny.state");
    let careful = folder.run(&format!("{QUERY} --connect {address}"));
    careful
        .expect(7, &["its protocol, cm25-select, has no other", "a server that does not follow cm25-select can find"]);
    let unsure = folder.run(&format!("{QUERY} --connect {address} --security semi-honest"));
    unsure.expect(11, &["the server offers cm25-select, and a server that does not follow", "say --trust-server"]);
    query(&folder, &address, "--key when").expect(7, &["number of --key columns"]);
    let ended = terminate(server);
    assert!(!ended.stderr.contains("joined"), "who does not trust the server sends it nothing: {}", ended.stderr);
    refuse(&format!("{auto} --state deny.state"), 2, &["auto never takes cm25-select", "--trust-clients"]);
    refuse(
        &format!("{listed} {select} --trust-clients --integer-bits 34 --items-per-query 4 --state deny.state"),
        2,
        &["prepared with other settings: --integer-bits"],
    );
}
