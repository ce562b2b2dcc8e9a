//! `vesica-lab bench compare`: tables of papers, with recorded runs beside them.

use serde_json::{Value, json};

use crate::harness::Folder;
use crate::page::run;

/// A recording of one run.
fn recording(run: &Value) -> String {
    format!("{}\n", json!({ "name": "a", "run": run }))
}

#[test]
fn tables_of_papers_have_ours_beside_them() {
    let folder = Folder::new();
    // Twice the bytes and twice the online time that PsiBench has for KKRT16 on 2^16 items.
    let mut kkrt16 = run("kkrt16", 1 << 16, "loopback", 1.02, 14_180_000);
    kkrt16["samples"] = json!([{ "total_seconds": 1.02, "setup_seconds": 0.2 }]);
    kkrt16["setup_bytes"] = json!([5_000, 15_000]);
    folder.write("runs.jsonl", recording(&kkrt16));
    folder.write("README.md", "# Runs\n\n- processor: a machine of tests\n");

    let compared = folder.run("bench compare psibench runs.jsonl");
    compared.expect(0, &[]);
    for part in [
        "Ours: runs.jsonl, on a machine of tests;",
        "Ours: no recording has a run",
        "2^16 x 2^16, semi-honest: KKRT16; ours kkrt16\n",
        "cannot be read",
        "not measured",
    ] {
        assert!(compared.stdout.contains(part), "{part:?} is missing in: {}", compared.stdout);
    }
    assert!(compared.stdout.lines().all(|line| line.chars().count() <= 80), "{}", compared.stdout);

    let table = folder.run("bench compare psibench . --markdown").stdout;
    for row in [
        "| semi-honest | KKRT16 | 0 | 5.31 | 0 | 1.77 | 7.09 | 0 | 0.41 | 0.01 | 0.34 |",
        "| semi-honest | **`kkrt16`** | 0.015 | 10.6 | 0.005 | 3.54 | 14.2 | 0.20 | 0.82 | not measured |",
    ] {
        assert!(table.contains(row), "{table}");
    }

    let printed = folder.run("bench compare psibench runs.jsonl --json");
    printed.expect(0, &[]);
    let comparison: Value = serde_json::from_str(&printed.stdout).expect("one JSON object");
    assert_eq!(comparison["recordings"][0]["machine"], "a machine of tests");
    let rows = comparison["tables"][0]["rows"].as_array().expect("rows");
    let is_kkrt16 = |row: &&Value| row["theirs"] == "KKRT16" && row["sender_log2"] == 16;
    let cells = &rows.iter().find(is_kkrt16).expect("the row of KKRT16")["cells"];
    for cell in [4, 6] {
        assert!(cells[cell]["ratio"].as_f64().is_some_and(|ratio| (ratio - 2.0).abs() < 1e-9), "{cells}");
    }
    assert_eq!((&cells[8]["ours"], &cells[8]["ours_state"]), (&Value::Null, &"not-measured".into()));

    let all = folder.run("bench compare --all runs.jsonl");
    all.expect(0, &[]);
    for part in ["PsiBench: ours: 8 measured, ", "theirs: ", "Recurrent Private Set Intersection", "; ours kkrt16\n"] {
        assert!(all.stdout.contains(part), "{part:?} is missing in: {}", all.stdout);
    }
    let all: Value = serde_json::from_str(&folder.run("bench compare --all --json").stdout).expect("one JSON object");
    assert_eq!(all["papers"].as_array().map(Vec::len), Some(5));
    assert_eq!(all["papers"][4]["cells"]["ours"]["measured"], 0);
}

#[test]
fn a_comparison_says_what_it_lacks() {
    let folder = Folder::new();
    let listed = folder.run("bench compare psibench");
    listed.expect(0, &["no recording is named", "vesica-lab bench suite"]);
    assert!(
        listed.stdout.contains("7.09") && listed.stdout.contains("Ours: no recording has a run"),
        "{}",
        listed.stdout
    );
    for key in ["spot-light", "ltsxq26", "cssw25", "cm25"] {
        folder.run(&format!("bench compare {key} --markdown")).expect(0, &[]);
    }

    let unknown = folder.run("bench compare no-paper");
    let names_all =
        ["spot-light", "ltsxq26", "cssw25", "cm25", "psibench"].iter().all(|key| unknown.stderr.contains(key));
    assert!(unknown.code == 3 && names_all, "{}", unknown.stderr);
    folder.run("bench compare psibench missing.jsonl").expect(3, &["cannot read missing.jsonl"]);
    folder.write("other.jsonl", recording(&run("kkrt16", 300, "loopback", 0.1, 1_000)));
    folder
        .run("bench compare psibench other.jsonl")
        .expect(3, &["no run in these recordings", "vesica-lab bench suite --paper KEY"]);
    assert_eq!(folder.run("bench compare psibench other.jsonl --json --markdown").code, 2);
}
