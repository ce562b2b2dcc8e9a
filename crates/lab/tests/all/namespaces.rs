//! Links between network namespaces: bytes as over the link that is shaped inside of the transport,
//! programs inside of them, and nothing left behind. Skipped without root, `ip` and `tc`.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;

use serde_json::Value;

use crate::harness::{Ended, Folder, Process};
use crate::programs::{begins, ends, lines, scripts, suite, with_small_tables};

/// Whether namespaces with a token bucket can be made here; if not, says why the test is skipped.
fn are_possible() -> bool {
    let name = format!("vesica-try-{}-{:?}", std::process::id(), thread::current().id());
    let name = name.replace(['(', ')'], "");
    let script = "ip netns add \"$1\" || exit; tc -n \"$1\" qdisc add dev lo root tbf rate 1mbit burst 64kb latency 400ms; \
                  code=$?; ip netns del \"$1\"; exit $code";
    let tried = Command::new("sh").args(["-c", script, "sh", &name]).output().expect("a shell");
    if !tried.status.success() {
        eprintln!("skipped: no network namespaces here: {}", String::from_utf8_lossy(&tried.stderr).trim());
    }
    tried.status.success()
}

/// The namespaces that a `vesica` of this number has made and not removed.
fn left_of(process: u32) -> Vec<String> {
    let listed = Command::new("ip").args(["netns", "list"]).output().expect("ip runs");
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    listed.lines().filter(|line| line.starts_with(&format!("vesica-{process}-"))).map(str::to_owned).collect()
}

/// Runs `vesica` to its end, after which it may have left no namespace.
fn run(folder: &Folder, arguments: &str) -> Ended {
    let mut process = folder.start(arguments);
    process.stdin = None;
    let number = process.child.id();
    let ended = process.end();
    assert_eq!(left_of(number), [""; 0], "`vesica {arguments}` left a namespace");
    ended
}

#[test]
fn a_link_of_namespaces_carries_the_bytes_of_a_shaped_one() {
    if !are_possible() {
        return;
    }
    let folder = Folder::new();
    let measured = |link: &str| -> Value {
        let bench = run(
            &folder,
            &format!(
                "bench --protocol vole-fast --security semi-honest --sender-items 2000 --receiver-items 1000 --repeat 1 \
                 --cold --json --link {link}"
            ),
        );
        bench.expect(0, &[]);
        serde_json::from_str(&bench.stdout).expect("one JSON object")
    };
    let (shaped, between) = (measured("100mbit,0ms"), measured("netns:100mbit,0ms"));
    assert_eq!(between["link"], "netns:100000000bit,0us");
    let bytes = |report: &Value| report["total_bytes"].as_f64().expect("bytes");
    // What both sides send may differ by some frames of flow control, which depends on when each reads.
    let ratio = bytes(&between) / bytes(&shaped);
    assert!((0.99..1.01).contains(&ratio), "{ratio}");
    assert!(shaped.get("link_bytes").is_none(), "{shaped}");
    // Headers of TCP, IP and Ethernet take a twentieth, and acknowledgements travel as well.
    let on_link: f64 = between["link_bytes"].as_array().expect("counted").iter().filter_map(Value::as_f64).sum();
    assert!((bytes(&between)..1.15 * bytes(&between) + 65536.0).contains(&on_link), "{on_link} for {between}");
}

#[test]
fn programs_run_in_namespaces_and_their_bytes_are_counted() {
    if !are_possible() {
        return;
    }
    let folder = Folder::new();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/suites/open-division.toml");
    let text = fs::read_to_string(file).expect("the suite");
    folder.write("small.toml", with_small_tables(&text, "links = [\"netns:100mbit,0ms\"]"));
    run(&folder, "bench suite small.toml --out runs.jsonl").expect(0, &[]);
    let recorded = lines(&folder.read("runs.jsonl"));
    assert_eq!(recorded.len(), 3);
    for line in &recorded[1..] {
        let figures = &line["program"]["outcome"]["ok"];
        // Each side sends its handshake and its part of the protocol.
        assert!(figures["sender_bytes"].as_u64() > Some(1000), "{line}");
        assert!(figures["receiver_bytes"].as_u64() > Some(1000), "{line}");
    }
    let table = folder.run("bench report runs.jsonl --markdown").stdout;
    assert!(table.contains("| 100 Mbit/s, 0 ms (netns) |") && !table.contains("not counted"), "{table}");
}

#[test]
fn an_interrupt_removes_the_namespaces() {
    if !are_possible() {
        return;
    }
    let folder = scripts();
    let hangs =
        suite(&["hangs"]).replace("timeout_seconds = 1", "timeout_seconds = 100\nlinks = [\"netns:1gbit,0ms\"]");
    folder.write("open.toml", hangs);
    let process: Process = folder.start("bench suite open.toml --out runs.jsonl");
    assert!(begins(&folder.path("sleeper")), "the program never starts");
    let number = process.child.id();
    assert_eq!(left_of(number).len(), 2);
    process.signal("TERM");
    process.end().expect(143, &["interrupted by SIGTERM"]);
    assert!(ends(&folder.path("sleeper")));
    assert_eq!(left_of(number), [""; 0]);
}

#[test]
fn links_of_namespaces_that_cannot_be_are_refused_with_their_mend() {
    let folder = scripts();
    let few = "bench --protocol ecdh --security semi-honest --sender-items 9 --receiver-items 9 --repeat 1 --cold";
    run(&folder, &format!("{few} --in-process --link netns:1gbit,0ms")).expect(11, &["a process for each party"]);
    assert_eq!(folder.run(&format!("{few} --link netns:1gbit")).code, 2);
    // Without root the first thing missing is root, otherwise it is the tools.
    let mut command = Command::new(crate::PROGRAM);
    command.env("PATH", folder.path("nothing"));
    let mut process = folder.start_under(command, &format!("{few} --link netns:1gbit,0ms"));
    process.stdin = None;
    let refused = process.end();
    refused.expect(11, &["a link of network namespaces needs", "loopback"]);
    assert!(refused.stderr.contains("install iproute2") || refused.stderr.contains("as root"), "{}", refused.stderr);
    if !are_possible() {
        return;
    }
    // Kernels without netem cannot delay, and say so before a party starts.
    let delayed = run(&folder, &format!("{few} --link netns:1gbit,4ms"));
    if delayed.code != 0 {
        delayed.expect(11, &["needs netem", "sch_netem", "0ms"]);
        folder
            .write("open.toml", suite(&["right"]).replace("cold = true", "cold = true\nlinks = [\"netns:1gbit,4ms\"]"));
        run(&folder, "bench suite open.toml --out runs.jsonl").expect(11, &["needs netem"]);
        assert_eq!(folder.read("runs.jsonl").lines().count(), 1);
    }
}
