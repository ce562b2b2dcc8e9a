//! Everything that needs no partner: help, lists, completions, check, selftest, demo.

use serde_json::Value;

use crate::harness::Folder;

#[test]
fn the_demo_prints_a_correct_result() {
    let folder = Folder::new();
    let demo = folder.run("demo --keep kept");
    demo.expect(0, &[]);
    for text in
        ["vesica receive --input ours.csv", "vesica send --input theirs.csv", "Blaise,Blaise@Example.org,Rouen,silver", "A plain join"]
    {
        assert!(demo.stdout.contains(text), "{text:?} is missing in: {}", demo.stdout);
    }
    assert_eq!(folder.read("kept/matches.csv").lines().count(), 6);
}

#[test]
fn every_command_has_help_and_the_first_help_teaches() {
    let folder = Folder::new();
    let help = folder.run("--help");
    help.expect(0, &[]);
    for text in ["Exit codes:", "vesica demo", "vesica identity new"] {
        assert!(help.stdout.contains(text), "{text:?} is missing");
    }
    for command in ["receive", "send", "identity", "demo", "check", "protocols", "selftest", "completions", "man"] {
        folder.run(&format!("{command} --help")).expect(0, &[]);
    }
    assert!(folder.run("receive --help").stdout.contains("--join difference"));
}

#[test]
fn completions_and_manual_are_generated() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish"] {
        assert!(folder.run(&format!("completions {shell}")).stdout.contains("--normalise"), "{shell}");
    }
    assert!(folder.run("man").stdout.contains(".TH vesica"));
    folder.run("man --out pages").expect(0, &[]);
    assert!(folder.read("pages/vesica-receive.1").contains("normalise"));
}

#[test]
fn protocols_are_listed_as_the_design_says() {
    let folder = Folder::new();
    let listed = folder.run("protocols --json");
    let all: Vec<Value> = serde_json::from_str(&listed.stdout).expect("a JSON array");
    assert!(all.iter().any(|entry| entry["id"] == "ecdh-hfh99" && entry["task"] == "intersect"));
    for entry in &all {
        for field in ["id", "aliases", "task", "modes", "status"] {
            assert!(!entry[field].is_null(), "{field} of {entry}");
        }
        assert!(entry["status"] == "recommended" || entry["status"] == "sound" || entry["status"]["broken"].is_string(), "{entry}");
        assert!(entry["modes"].as_array().is_some_and(|modes| modes.iter().all(|mode| mode["security"].is_string())));
    }
    assert!(folder.run("protocols").stdout.contains("ecdh-hfh99"));
}

#[test]
fn the_machine_computes_correctly() {
    let folder = Folder::new();
    let test = folder.run("selftest --json");
    test.expect(0, &[]);
    let report: Value = serde_json::from_str(&test.stdout).expect("a JSON object");
    assert_eq!(report["ok"], true);
    let names: Vec<&str> = report["checks"].as_array().expect("checks").iter().filter_map(|check| check["name"].as_str()).collect();
    assert!(names.contains(&"kernels portable") && names.contains(&"ecdh-hfh99 (semi-honest)"), "{names:?}");
}

#[test]
fn check_counts_without_showing_values() {
    let folder = Folder::new();
    folder.write("ours.csv", "email\nAda@x.org\n\nAda@x.org\n\"\"\n bob@x.org\n");
    let checked = folder.run("check ours.csv --key email --json");
    checked.expect(0, &[]);
    let profile: Value = serde_json::from_str(&checked.stdout).expect("a JSON object");
    assert_eq!(profile["keys"]["distinct"], 2);
    assert_eq!(profile["keys"]["duplicate_rows"], 1);
    let text = folder.run("check ours.csv --key email");
    assert!(text.stdout.contains("2 distinct keys") && !text.stdout.contains("Ada"), "{}", text.stdout);
}
