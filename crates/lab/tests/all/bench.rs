//! `vesica-lab bench` as its users meet it.

use serde_json::Value;
use vesica::task;

use crate::harness::{Ended, Folder};

fn json(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).expect("one JSON object")
}

/// The JSON objects of standard error.
fn objects(ended: &Ended) -> Vec<Value> {
    ended.stderr.lines().map(|line| serde_json::from_str(line).expect("an object")).collect()
}

fn of<'a>(all: &'a [Value], event: &'a str) -> impl Iterator<Item = &'a Value> {
    all.iter().filter(move |object| object["event"] == event)
}

/// The fields that the design lists, each there and of its kind.
#[test]
fn bench_measures_two_processes_and_prints_one_object() {
    let folder = Folder::new();
    for options in [
        "--protocol rr22 --security semi-honest",
        "--protocol ecdh --security semi-honest --in-process",
        "--link 1gbit,2ms",
    ] {
        let bench = folder.run(&format!("bench --sender-items 900 --receiver-items 1000 --repeat 1 --json {options}"));
        bench.expect(0, &[]);
        let report: Value = serde_json::from_str(&bench.stdout).expect("one JSON object");
        for field in ["protocol", "task", "security", "link"] {
            assert!(report[field].is_string(), "{field} in {report}");
        }
        let numbers = [
            "sender_items",
            "receiver_items",
            "intersection",
            "threads_per_party",
            "repeats",
            "setup_seconds",
            "online_seconds",
            "total_seconds",
            "cpu_seconds_sender",
            "cpu_seconds_receiver",
            "sender_bytes",
            "receiver_bytes",
            "total_bytes",
            "bits_per_item",
            "peak_rss_sender",
            "peak_rss_receiver",
        ];
        for field in numbers {
            assert!(report[field].is_number(), "{field} in {report}");
        }
        assert_eq!((&report["correct"], &report["intersection"]), (&true.into(), &450.into()));
        assert!(report["samples"].is_array() && report["predicted_bytes"].is_array() && report["cost_usd"].is_null());
        for party in ["sender", "receiver"] {
            assert!(report["phases"][party].is_object(), "{party} in {report}");
        }
    }
    folder.run("bench --protocol ecdh --repeat 1").expect(11, &["no malicious mode"]);
    assert_eq!(folder.run("bench --link fast").code, 2);
}

/// Each block is measured between two processes, and a suite may have blocks.
#[test]
fn building_blocks_are_measured() {
    let folder = Folder::new();
    let measured = folder.run("bench block --task okvs --items 500 --repeat 1 --json");
    measured.expect(0, &[]);
    let reports: Vec<Value> = measured.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(reports.len(), 4);
    for report in &reports {
        assert_eq!(
            (&report["task"], &report["correct"], &report["receiver_bytes"]),
            (&"okvs".into(), &true.into(), &0.into())
        );
    }
    folder.run("bench block --task random-ot --protocol ot-silent --items 300 --repeat 1").expect(0, &[]);
    folder
        .run("bench block --task random-ot --protocol vole-fast --items 9")
        .expect(11, &["no \"vole-fast\" of random-ot"]);
    folder.run("bench block --task opprf --security malicious --items 9").expect(3, &["nothing of opprf serves that"]);
    assert_eq!(folder.run("bench block --task intersect").code, 2);
    folder.write(
        "blocks.toml",
        "name = \"b\"\n[[runs]]\ntask = \"filter\"\nprotocols = [\"fuse\"]\nsizes = [\"200\"]\nrepeat = 1\n",
    );
    folder.run("bench suite blocks.toml --out runs.jsonl").expect(0, &[]);
    assert!(folder.read("runs.jsonl").contains("b-filter-fuse-semi-honest-200x200-loopback-1t"));
    assert_eq!(folder.run("bench suite blocks.toml --paper cm25 --out x.jsonl").code, 2);
    assert_eq!(folder.run("bench suite --paper none --out x.jsonl").code, 2);
    assert_eq!(folder.run("bench suite --out x.jsonl").code, 2);
}

/// A suite that is stopped goes on where it was, what is not served is recorded as refused, and a
/// comparison fails where all of a run's time is above the limit.
#[test]
fn suites_are_recorded_taken_up_again_and_compared() {
    let folder = Folder::new();
    let suite = "name = \"small\"\n[[runs]]\nprotocols = [\"vole-fast\", \"ecdh\"]\nsecurity = [\"semi-honest\", \
                 \"malicious\"]\nsizes = [\"100 x 50\"]\nrepeat = 2\n";
    folder.write("small.toml", suite);
    let run = "bench suite small.toml --out before.jsonl";
    folder.run(run).expect(0, &[]);
    let recorded = folder.read("before.jsonl");
    let lines: Vec<Value> = recorded.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!((lines.len(), &lines[0]["suite"]), (5, &"small".into()));
    assert_eq!(lines.iter().filter(|line| line["run"]["correct"] == true).count(), 3);
    let refused: Vec<_> = lines.iter().filter(|line| line["refused"].is_string()).collect();
    assert!(
        refused.len() == 1 && refused[0]["name"].as_str().is_some_and(|name| name.contains("ecdh-hfh99-malicious"))
    );

    // The last run was cut off in the middle of its line.
    folder.write("before.jsonl", &recorded[..recorded.len() - 20]);
    folder.run(run).expect(0, &["3 of 4 runs are recorded already"]);
    assert_eq!(folder.read("before.jsonl").lines().count(), 5);

    folder.run("bench suite small.toml --out after.jsonl").expect(0, &[]);
    let compared = folder.run("bench diff before.jsonl after.jsonl --json");
    compared.expect(0, &[]);
    let difference: Value = serde_json::from_str(&compared.stdout).expect("one JSON object");
    assert_eq!(difference["pairs"].as_array().map(Vec::len), Some(3));
    assert!(difference["pairs"][0]["ratio"].as_f64().is_some_and(|ratio| ratio > 0.0), "{difference}");
    // A recording in which all was a million times faster.
    let quick: String = lines
        .iter()
        .map(|line| {
            let mut line = line.clone();
            for sample in line["run"]["samples"].as_array_mut().into_iter().flatten() {
                sample["total_seconds"] = (sample["total_seconds"].as_f64().unwrap_or(1.0) / 1e6).into();
            }
            format!("{line}\n")
        })
        .collect();
    folder.write("quick.jsonl", &quick);
    folder.run("bench diff before.jsonl quick.jsonl --fail-above 5%").expect(0, &[]);
    folder.run("bench diff quick.jsonl before.jsonl --fail-above 5%").expect(11, &["3 runs are slower"]);

    folder.run("bench diff before.jsonl small.toml").expect(3, &["line 1"]);
    folder.run("bench suite none.toml --out x.jsonl").expect(3, &["none.toml"]);
    folder.write("bad.toml", suite.replace("vole-fast", "vole-slow"));
    folder.run("bench suite bad.toml --out x.jsonl").expect(3, &["vole-slow"]);
    folder.write("other.toml", suite.replace("small", "other"));
    folder.run("bench suite other.toml --out before.jsonl").expect(3, &["was recorded with other facts"]);
    assert_eq!(folder.run("bench diff before.jsonl after.jsonl --fail-above much").code, 2);
}

#[test]
fn bench_times_whole_commands() {
    let folder = Folder::new();
    let run = "bench --commands --sender-items 700 --receiver-items 500 --overlap 123 --key-bytes 8..64 --repeat 2";
    for security in ["semi-honest", "malicious"] {
        let bench = folder.run(&format!("{run} --security {security} --json"));
        bench.expect(0, &[]);
        let report: Value = serde_json::from_str(&bench.stdout).expect("one JSON object");
        assert_eq!(
            (&report["task"], &report["security"], &report["intersection"]),
            (&"commands".into(), &security.into(), &123.into())
        );
        assert_eq!(report["samples"].as_array().map(Vec::len), Some(2));
        assert!(
            report["peak_rss_sender"].as_u64() > Some(0) && report["total_spread"]["median"].as_f64() > Some(0.0),
            "{report}"
        );
    }
    folder.run("bench --commands --protocol ecdh --repeat 1").expect(11, &["no malicious mode"]);
    assert_eq!(folder.run("bench --commands --key-bytes 4").code, 2);
    assert_eq!(folder.run("bench --commands --in-process").code, 2);
}

#[test]
fn benchmarks_of_the_tasks_are_checked() {
    let folder = Folder::new();
    let groups = if task::find("cardinality").is_ok() { "--groups 2" } else { "" };
    for (task, more) in [
        ("cardinality", groups),
        ("sum", "--columns 2"),
        ("union-cardinality", ""),
        ("union-sum", "--columns 2"),
        ("shares", "--payload-bytes 8 --receiver-payload-bytes 4"),
    ] {
        let bench = folder.run(&format!(
            "bench --task {task} --security semi-honest --sender-items 700 --receiver-items 500 --overlap 99 --repeat \
             1 --json {more}"
        ));
        bench.expect(0, &[]);
        let report = json(&bench);
        assert_eq!(
            (&report["task"], &report["correct"], &report["intersection"]),
            (&task.into(), &true.into(), &99.into())
        );
    }
    folder.run("bench --task sum --repeat 1").expect(11, &["--security semi-honest"]);
    // A threshold on new keys protects no key.
    folder
        .run("bench --task union-cardinality --security semi-honest --at-least 3 --repeat 1")
        .expect(11, &["thresholds for these"]);
    folder.run("bench --task cardinality --security semi-honest --columns 1 --repeat 1").expect(11, &["does not take"]);
}

#[test]
fn a_benchmark_checks_every_new_record() {
    let folder = Folder::new();
    for protocol in [
        "gmr21-union",
        "czz24-union",
        "cssw25",
        "jsz22-r",
        "jszg24",
        "tcl23",
        "zcl23-pk",
        "zcl23-sk",
        "bpsy23-union",
        "vesica-union-both --both-learn",
        "pt26 --both-learn",
    ] {
        let bench = folder.run(&format!(
            "bench --task union --protocol {protocol} --security semi-honest --sender-items 300 --receiver-items 200 \
             --payload-bytes 5 --repeat 1 --json"
        ));
        bench.expect(0, &[]);
        let report: Value = serde_json::from_str(&bench.stdout).expect("one JSON object");
        assert_eq!((&report["correct"], &report["task"]), (&true.into(), &"union".into()));
    }
}

#[test]
fn suites_show_their_progress() {
    let folder = Folder::new();
    let table = "[[runs]]\nprotocols = [\"ecdh-hfh99\"]\nsecurity = [\"semi-honest\"]\nrepeat = 1\n\
                 links = [\"loopback\"]\nsizes = [\"16\", \"32\"]\n";
    folder.write("suite.toml", format!("name = \"small\"\n{table}"));
    let measured = folder.run("bench suite suite.toml --out plain.jsonl --progress plain");
    measured.expect(0, &["1 of 2: small-ecdh-hfh99", "2 of 2: small-ecdh-hfh99", " left\n"]);
    let measured = objects(&folder.run("bench suite suite.toml --out json.jsonl --progress json"));
    let fractions: Vec<_> = of(&measured, "progress").map(|object| object["fraction"].as_f64()).collect();
    assert_eq!(fractions, [Some(0.0), Some(0.5)]);
}

#[test]
fn short_help_fits_a_screen() {
    let folder = Folder::new();
    for command in ["bench", "bench block", "bench suite", "bench diff", "bench compare", "bench report"] {
        let help = folder.run(&format!("{command} -h"));
        help.expect(0, &[]);
        assert!(help.stdout.lines().count() <= 40, "{command}: {}", help.stdout);
        let shell = folder.run("completions bash").stdout;
        assert!(shell.contains("vesica-lab") && shell.contains("bench"), "{command}");
    }
}
