//! The open division of `vesica-lab bench suite`: programs of others, CSV to CSV.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::harness::{Folder, within};

/// Receivers, by what they do. Their arguments: both tables, the output, the folder of the suite.
const RECEIVERS: [(&str, &str); 5] = [
    (
        "right",
        "tail -n +2 \"$1\" | sort > sorted; { echo key; tail -n +2 \"$2\" | sort | comm -12 sorted -; } > \"$3\"",
    ),
    ("wrong", "cp \"$1\" \"$3\""),
    // It waits for a process of its own, which has to end with it.
    ("hangs", "sleep 600 & echo $! > \"$4/sleeper\"; wait"),
    ("fails", "echo 'no luck today' >&2; exit 3"),
    ("silent", "true"),
];

/// A folder with the receivers as scripts, and a sender that only waits until the port is told.
pub fn scripts() -> Folder {
    let folder = Folder::new();
    for (name, script) in RECEIVERS.into_iter().chain([("idle", "test \"$2\" -gt 0")]) {
        let file = format!("{name}.sh");
        folder.write(&file, format!("#!/bin/sh\n{script}\n"));
        fs::set_permissions(folder.path(&file), fs::Permissions::from_mode(0o755)).expect("executable");
    }
    folder
}

/// A suite of these receivers.
pub fn suite(receivers: &[&str]) -> String {
    let programs = receivers.iter().map(|name| {
        format!(
            "[[programs]]\nname = \"{name}\"\nversion = \"of <b>tests</b>\"\nsizes = [\"20 x 10\"]\nrepeat = 2\ncold = true\n\
             timeout_seconds = 1\nsender = [\"{{suite}}/idle.sh\", \"{{sender_csv}}\", \"{{port}}\"]\n\
             receiver = [\"{{suite}}/{name}.sh\", \"{{receiver_csv}}\", \"{{sender_csv}}\", \"{{output_csv}}\", \"{{suite}}\", \
             \"{{port}}\"]\n"
        )
    });
    format!("name = \"open\"\n{}", programs.collect::<String>())
}

pub fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// Whether the process whose number is in the file has ended; a zombie has.
fn has_ended(file: &Path) -> bool {
    let number = fs::read_to_string(file).expect("a number");
    // The state is the first word behind the program's name. The command line would not do: it is
    // empty while a program is being replaced.
    let status = fs::read_to_string(format!("/proc/{}/stat", number.trim())).unwrap_or_default();
    status.rsplit_once(") ").is_none_or(|(_, state)| state.starts_with(['Z', 'X']))
}

/// Whether a process writes its number to the file within a minute.
pub fn begins(file: &Path) -> bool {
    within(60, || fs::read_to_string(file).is_ok_and(|text| text.ends_with('\n')))
}

/// Whether that process ends within seconds: one that was killed takes a moment.
pub fn ends(file: &Path) -> bool {
    within(10, || has_ended(file))
}

#[test]
fn each_outcome_of_a_program_is_recorded_and_shown() {
    let folder = scripts();
    folder.write("open.toml", suite(&["right", "wrong", "hangs", "fails", "silent"]));
    let run = "bench suite open.toml --out runs.jsonl";
    folder.run(run).expect(
        11,
        &[
            "open-program-wrong-20x10-loopback: wrong output: 5 rows of the output differ from the intersection: row ",
            "warning: open-program-hangs-20x10-loopback: timeout: after 1 s, the receiver had not ended",
            "failed: the receiver ended with exit status: 3 and said: no luck today",
            "failed: both sides ended well, but the receiver wrote no output",
            "(3 more have no right output",
            "take its line out of runs.jsonl",
        ],
    );
    assert!(ends(&folder.path("sleeper")), "the program's own child was left");

    let recorded = lines(&folder.read("runs.jsonl"));
    assert_eq!(recorded.len(), 1 + 5);
    let [right, wrong, hangs, fails] = [1, 2, 3, 4].map(|place| &recorded[place]["program"]);
    assert_eq!((&right["program"], &right["intersection"]), (&"right".into(), &5.into()));
    let figures = &right["outcome"]["ok"];
    assert_eq!((figures["samples"].as_array().map(Vec::len), &figures["sender_bytes"]), (Some(2), &Value::Null));
    assert!(
        figures["total_seconds"].as_f64() > Some(0.0) && figures["peak_rss_receiver"].as_u64() > Some(0),
        "{figures}"
    );
    let differing = wrong["outcome"]["wrong-output"]["differing"].as_array().expect("rows");
    assert!(differing.len() == 3 && differing.iter().all(|row| row["not-common"].as_u64() >= Some(1)), "{wrong}");
    assert!(hangs["outcome"]["timeout"]["mend"].as_str().is_some_and(|mend| mend.contains("timeout_seconds")));
    assert!(fails["outcome"]["failed"]["fault"].is_string(), "{fails}");

    // What is recorded is not run again.
    folder.run(run).expect(0, &["5 of 5 runs are recorded already"]);
    assert_eq!(lines(&folder.read("runs.jsonl")).len(), 6);

    let table = folder.run("bench report runs.jsonl --markdown").stdout;
    let rows: Vec<&str> = table.lines().filter(|line| line.starts_with("| runs.jsonl ")).collect();
    assert!(rows.len() == 5 && rows.iter().all(|row| row.contains("| program, CSV to CSV |")), "{table}");
    assert!(rows[0].contains("| not counted |") && rows[0].ends_with("| output checked |"), "{table}");
    assert!(rows[1].contains("| **wrong output**: 5 rows") && rows[2].contains("**timeout**"), "{table}");
    assert!(!table.contains("bytes = formula"), "rows of protocols have a table of their own: {table}");
    folder.run("bench report runs.jsonl --html page.html --svg plots").expect(0, &[]);
    let page = folder.read("page.html");
    assert!(page.contains("\"program, CSV to CSV\"") && !page.contains("<b>tests"), "{page}");
    let plot = folder.read("plots/runs.jsonl-programs-csv-to-csv-size.svg");
    assert!(plot.contains("program, CSV to CSV") && plot.contains("right of") && !plot.contains("wrong of"), "{plot}");

    let compared = folder.run("bench diff runs.jsonl runs.jsonl");
    compared.expect(0, &[]);
    let failed = "not compared: open-program-hangs-20x10-loopback: timeout in the first, timeout in the second\n";
    assert!(
        compared.stdout.contains(failed) && compared.stdout.contains("–       open-program-right"),
        "{}",
        compared.stdout
    );
    let only_failed: String = folder
        .read("runs.jsonl")
        .lines()
        .filter(|line| !line.contains("\"right\""))
        .map(|line| format!("{line}\n"))
        .collect();
    folder.write("failed.jsonl", only_failed);
    folder
        .run("bench diff failed.jsonl failed.jsonl")
        .expect(3, &["no run has times in both", "wrong output in the first"]);
}

#[test]
fn programs_that_cannot_run_are_named_before_anything_is_measured() {
    let folder = scripts();
    let right = suite(&["right"]);
    for (from, to, fault, mend) in [
        ("{suite}/right.sh", "{suite}/none.sh", "none.sh\" of right does not exist here", "install it"),
        ("{suite}/right.sh", "no-such-program-of-vesica", "no-such-program-of-vesica", "install it"),
        ("{suite}/right.sh", "./right.sh", "is relative", "{suite}/right.sh"),
        ("{output_csv}", "{output}", "there is no placeholder {output}", "{output_csv}"),
        ("\"{output_csv}\", ", "", "where to write the common keys", "{output_csv}"),
        ("cold = true", "links = [\"100mbit,10ms\"]", "100mbit,10ms", "loopback"),
    ] {
        folder.write("open.toml", right.replacen(from, to, 1));
        folder.run("bench suite open.toml --out none.jsonl").expect(3, &[fault, mend]);
        assert!(!folder.path("none.jsonl").exists() || folder.read("none.jsonl").lines().count() == 1, "{to}");
    }
    // A script without the line of its interpreter starts nowhere; that shows only when it is started.
    folder.write("right.sh", "#!/no/such/interpreter\n");
    folder.write("open.toml", &right);
    folder.run("bench suite open.toml --out runs.jsonl").expect(11, &["the receiver cannot start", "interpreter"]);
}

#[test]
fn an_interrupted_program_leaves_nothing() {
    let folder = scripts();
    folder.write("open.toml", suite(&["hangs"]).replace("timeout_seconds = 1", "timeout_seconds = 100"));
    fs::create_dir(folder.path("tmp")).expect("a folder");
    let mut command = Command::new(crate::PROGRAM);
    command.env("TMPDIR", folder.path("tmp"));
    let suite = folder.start_under(command, "bench suite open.toml --out runs.jsonl");
    assert!(begins(&folder.path("sleeper")), "the program never starts");
    assert!(!has_ended(&folder.path("sleeper")));
    suite.signal("INT");
    suite.end().expect(130, &["interrupted by SIGINT"]);
    assert!(ends(&folder.path("sleeper")));
    assert_eq!(fs::read_dir(folder.path("tmp")).expect("a folder").count(), 0);
    assert_eq!(folder.read("runs.jsonl").lines().count(), 1, "nothing is recorded of it");
}

/// A suite's text with small tables, one repeat each, and more lines in each table.
pub fn with_small_tables(text: &str, more: &str) -> String {
    let small = format!("sizes = [\"90 x 100\"]\nrepeat = 1\ncold = true\n{more}");
    let lines = text.lines().map(|line| if line.starts_with("sizes = ") { &small } else { line });
    lines.map(|line| format!("{line}\n")).collect()
}

/// The suite of the tree, with smaller tables: `receive` and `send` as programs. The system counts
/// their processor time in ticks of 10 ms, and a run of 100 rows takes less than one.
#[test]
fn vesica_itself_runs_in_the_open_division() {
    let folder = Folder::new();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/suites/open-division.toml");
    let text = fs::read_to_string(file).expect("the suite");
    folder.write("small.toml", with_small_tables(&text, "").replace("90 x 100", "65536 x 65536"));
    folder.run("bench suite small.toml --out runs.jsonl").expect(0, &[]);
    let recorded = lines(&folder.read("runs.jsonl"));
    assert_eq!(recorded.len(), 3);
    for line in &recorded[1..] {
        let figures = &line["program"]["outcome"]["ok"];
        assert!(
            figures["total_seconds"].as_f64() > Some(0.0) && figures["peak_rss_sender"].as_u64() > Some(0),
            "{line}"
        );
        assert!(figures["cpu_seconds_receiver"].as_f64() > Some(0.0), "{line}");
    }
}
