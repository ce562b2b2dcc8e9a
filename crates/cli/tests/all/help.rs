//! Everything that needs no partner: help, lists, completions, check, selftest, demo.

use std::process::Command;

use serde_json::Value;

use crate::harness::Folder;

#[test]
fn the_demo_prints_a_correct_result() {
    let folder = Folder::new();
    let demo = folder.run("demo --keep kept");
    demo.expect(0, &[]);
    folder.run("demo --keep kept").expect(4, &["kept exists already", "name a new folder"]);
    for text in [
        "vesica receive --input ours.csv",
        "vesica send --input theirs.csv",
        "Blaise,Blaise@Example.org,Rouen,silver",
        "Verified: a local join",
    ] {
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
    for command in [
        "receive",
        "send",
        "run",
        "init",
        "config",
        "serve",
        "query",
        "relay",
        "identity",
        "receipt",
        "demo",
        "check",
        "plan",
        "protocols",
        "selftest",
        "completions",
        "man",
    ] {
        folder.run(&format!("{command} --help")).expect(0, &[]);
    }
    assert!(folder.run("receive --help").stdout.contains("--join difference"));
    let run = folder.run("run --help").stdout;
    for text in ["--role", "--group-by", "--max-groups", "[env: VESICA_IDENTITY]", "docs/jobs.md"] {
        assert!(run.contains(text), "{text:?} is missing in: {run}");
    }
}

/// The names under `Commands:` of a help text.
fn commands_of(help: &str) -> Vec<String> {
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    // A line that goes on with a description is indented further.
    let names = listed.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").map(str::to_owned).collect()
}

/// A screen of 40 lines and 100 columns shows the short help of each command, which names what a user
/// cannot do without.
#[test]
fn the_short_help_of_every_command_is_one_screen() {
    let folder = Folder::new();
    let mut left = vec![String::new()];
    let mut seen = Vec::new();
    while let Some(command) = left.pop() {
        let mut vesica = Command::new(crate::PROGRAM);
        vesica.env("COLUMNS", "100");
        let help = folder.start_under(vesica, &format!("{command} -h")).end();
        help.expect(0, &[]);
        // The line of the usage is longer than a screen is wide.
        let lines: usize = help.stdout.lines().map(|line| line.chars().count().div_ceil(100).max(1)).sum();
        assert!(lines <= 40, "{lines} lines of `{command} -h`:\n{}", help.stdout);
        left.extend(commands_of(&help.stdout).iter().map(|name| format!("{command} {name}").trim().to_owned()));
        seen.push(command);
    }
    for command in ["receive", "send", "serve", "query", "plan", "identity new"] {
        assert!(seen.iter().any(|one| one == command), "{command:?} is not in {seen:?}");
    }
    let places = |help: &str, flags: &[&str]| -> Vec<usize> {
        flags.iter().map(|flag| help.find(flag).unwrap_or_else(|| panic!("{flag} is missing in: {help}"))).collect()
    };
    for (command, rare) in [("receive", "--max-peer-items"), ("send", "--epsilon")] {
        let [short, long] = ["-h", "--help"].map(|help| folder.run(&format!("{command} {help}")).stdout);
        let (_, flags) = short.split_once("Options:").expect("a list of flags");
        let in_order = ["--input ", "--key ", "--listen ", "--connect ", "--peer ", "--task "];
        assert!(places(flags, &in_order).is_sorted(), "the required flags come first: {short}");
        assert!(!short.contains(rare) && long.contains(rare), "{rare} of {command}");
        let last = short.lines().last().unwrap_or_default();
        assert!(last.contains("--help has everything"), "{short}");
        assert!(!long.contains("--help has everything") && long.contains("for standard input"), "{long}");
    }
}

#[test]
fn completions_and_manual_are_generated() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish"] {
        assert!(folder.run(&format!("completions {shell}")).stdout.contains("normalise"), "{shell}");
    }
    assert!(folder.run("man").stdout.contains(".TH vesica"));
    folder.run("man --out pages").expect(0, &[]);
    for page in ["receive", "run", "config"] {
        assert!(folder.read(&format!("pages/vesica-{page}.1")).contains("normalise"), "{page}");
    }
}

#[test]
fn protocols_are_listed_as_the_design_says() {
    let folder = Folder::new();
    let listed = folder.run("protocols --json");
    let all: Vec<Value> = serde_json::from_str(&listed.stdout).expect("a JSON array");
    assert!(all.iter().any(|entry| entry["id"] == "ecdh-hfh99" && entry["task"] == "intersect"));
    for entry in &all {
        for field in ["id", "aliases", "task", "modes", "status", "cost"] {
            assert!(!entry[field].is_null(), "{field} of {entry}");
        }
        assert!(
            entry["status"] == "recommended" || entry["status"] == "sound" || entry["status"]["broken"].is_string(),
            "{entry}"
        );
        let has_all = |mode: &Value| mode["security"].is_string() && mode["rounds"]["most"].is_u64();
        assert!(entry["modes"].as_array().is_some_and(|modes| modes.iter().all(has_all)));
    }
    // A line each, which a terminal does not break; and more of one.
    let text = folder.run("protocols").stdout;
    for entry in &all {
        let id = entry["id"].as_str().expect("an id");
        let is_its = |line: &&str| line.split_whitespace().next() == Some(id);
        assert_eq!(text.lines().filter(|line| line.starts_with("  ")).filter(is_its).count(), 1, "{id}: {text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    for line in [
        "  ecdh-hfh99                      semi-honest group operations     recommended\n",
        "  vole-fast                       both        symmetric operations recommended\n",
        "  prty20                          both        symmetric operations\n",
    ] {
        assert!(text.contains(line), "{line} is missing in: {text}");
    }
    let unions = folder.run("protocols union").stdout;
    assert!(unions.contains("\nunion\n  vesica-union ") && !unions.contains("vole-fast  "), "{unions}");
    assert!(folder.run("protocols vole-fast").stdout.contains("8 to 12 rounds"));
}

#[test]
fn the_machine_computes_correctly() {
    let folder = Folder::new();
    let test = folder.run("selftest --json");
    test.expect(0, &[]);
    let report: Value = serde_json::from_str(&test.stdout).expect("a JSON object");
    assert_eq!(report["ok"], true);
    let names: Vec<&str> =
        report["checks"].as_array().expect("checks").iter().filter_map(|check| check["name"].as_str()).collect();
    assert!(names.contains(&"kernels portable") && names.contains(&"ecdh-hfh99 (semi-honest)"), "{names:?}");
}

#[test]
fn check_counts_and_shows_values_only_if_asked() {
    let folder = Folder::new();
    folder.write("ours.csv", "email\nAda@x.org\n\nAda@x.org\n\"\"\n bob@x.org\n");
    let checked = folder.run("check ours.csv --key email --json");
    checked.expect(0, &[]);
    let profile: Value = serde_json::from_str(&checked.stdout).expect("a JSON object");
    assert_eq!(profile["keys"]["distinct"], 2);
    assert_eq!(profile["keys"]["duplicate_rows"], 1);
    assert_eq!(profile["examples"]["keys"].as_array().map(Vec::len), Some(2));
    let text = folder.run("check ours.csv --key email --show-keys 0");
    assert!(text.stdout.contains("2 distinct keys") && !text.stdout.contains("Ada"), "{}", text.stdout);
    let text = folder.run("check ours.csv --key email --normalise email=email");
    assert!(text.stdout.contains("  row 1: \"Ada@x.org\" as \"ada@x.org\"\n"), "{}", text.stdout);
    let text = folder.run("check ours.csv --key email --normalise email=int");
    assert!(
        text.stdout.contains("4 values are refused by the normalisers of column email; the first:\n  row 1: \"Ada")
    );
    let text = folder.run("check ours.csv --key email --normalise email=int --show-keys 0");
    assert!(text.stdout.contains("the first:\n  row 1\n  row 2\n  row 3\n  row 4\n"), "{}", text.stdout);
}

/// The columns beside the key are read as the run would read them.
#[test]
fn check_reads_the_other_columns_of_a_run() {
    let folder = Folder::new();
    folder.write("sales.csv", "id,amount,region\n1,1.25,north\n2,-9,south\n3,700,north\n");
    folder.write("bad.csv", "id,amount\n1,1.25\n2,1.255\n");
    let good = "check sales.csv --key id --task sum --payload amount --scale amount=2 --clamp amount=0..500";
    let checked = folder.run(good);
    checked.expect(0, &[]);
    let texts = ["task sum: the columns are usable", "2 values are outside of the range of column amount"];
    assert!(texts.iter().all(|text| checked.stdout.contains(text)), "{}", checked.stdout);
    let json: Value = serde_json::from_str(&folder.run(&format!("{good} --json")).stdout).expect("a JSON object");
    assert_eq!(json["checked_columns"]["clamped"]["amount"], 2);
    folder
        .run("check bad.csv --key id --task sum --payload amount --scale amount=2")
        .expect(3, &["row 2 of bad.csv", "`amount`", "more than the 2 digits"]);
    folder
        .run("check sales.csv --key id --scale amount=2")
        .expect(2, &["--scale and --clamp are for tasks that compute"]);
    folder.run("check sales.csv --key id --payload nothing").expect(3, &["nothing"]);
    let groups = folder.run("check sales.csv --key id --side receive --task cardinality --group-by region");
    assert!(groups.stdout.contains("2 groups: the sender must allow that with --max-groups 2"), "{}", groups.stdout);
    let rows = folder.run("check sales.csv --key id --payload region,amount");
    assert!(rows.stdout.contains("columns: region, amount\n  the payload of each key takes"), "{}", rows.stdout);
}

#[test]
fn check_says_how_two_tables_meet() {
    let folder = Folder::new();
    folder.write("ours.csv", "id,at\n5.0,2013-01-01 10:00:00\n6.0,2013-01-02 10:00:00\n,\n");
    folder.write("theirs.csv", "nr,time\n5,2013-01-01T10:00:00\n6,2013-01-02T10:00:00\n");
    let arguments = "check ours.csv theirs.csv --key id --key at --second-key nr --second-key time";
    let checked = folder.run(arguments);
    checked.expect(0, &[]);
    for text in [
        "ours.csv and theirs.csv: 0 keys match, of 2 and 2",
        "such columns meet under int, which reads 5.0 as 5",
        "2 keys match instead of 0 (of the first 3 and 2 rows) with",
        "ours.csv: --normalise 'id=int' --normalise 'at=timestamp:utc'",
        "theirs.csv: --normalise 'nr=int' --normalise 'time=timestamp:utc'",
        "row 1 (\"5.0\", \"2013-01-01 10:00:00\") and row 1 (\"5\", \"2013-01-01T10:00:00\") both become",
    ] {
        assert!(checked.stdout.contains(text), "{text:?} is missing in {}", checked.stdout);
    }
    // What it names works.
    let flags = "--normalise id=int --normalise at=timestamp:utc \
                 --second-normalise nr=int --second-normalise time=timestamp:utc";
    let checked = folder.run(&format!("{arguments} {flags}"));
    assert!(checked.stdout.contains(": 2 keys match, of 2 and 2"), "{}", checked.stdout);
    assert!(!folder.run(&format!("{arguments} --show-keys 0")).stdout.contains("5.0\""));
    let json: Value = serde_json::from_str(&folder.run(&format!("{arguments} --json")).stdout).expect("a JSON object");
    assert_eq!(json["comparison"]["meeting"]["common"], 2);
    folder
        .run("check ours.csv theirs.csv --key id --key at --second-key nr")
        .expect(2, &["2 columns in the first table"]);
    folder.run("check - - --key id").expect(2, &["both tables are standard input"]);
}

/// Who asks for what only the program of researchers has is told its name, wherever a protocol can be named.
/// A combination of choices is described as a protocol is, under its one name.
#[test]
fn variants_are_described_by_any_of_their_names() {
    let folder = Folder::new();
    let ended = folder.run("protocols PAXOS:compare=fuse,okvs=band");
    assert!(ended.stdout.starts_with("prty20:okvs=band,compare=fuse - intersect"), "{}", ended.stdout);
    assert!(!ended.stdout.contains("malicious") && !ended.stdout.contains("choice "), "{}", ended.stdout);
    for (name, mend) in [("prty20:okvs=gbf", "okvs=clustered"), ("prty20:okvs=band,okvs=band", "one value")] {
        folder.run(&format!("protocols {name}")).expect(2, &[mend]);
    }
    let described: Value =
        serde_json::from_str(&folder.run("protocols prty20:okvs=band --json").stdout).expect("a JSON array");
    assert_eq!(described[0]["id"], "prty20:okvs=band");
    assert!(described[0]["deviations"].to_string().contains("The band OKVS"), "{described}");
}

#[test]
fn what_is_in_the_lab_alone_is_said_with_the_command() {
    let folder = Folder::new();
    folder.write("ours.csv", "email\na@x.org\n");
    let side = "--input ours.csv --key email --identity us.key --peer them.pub";
    let sizes = "--sender-items 100 --receiver-items 100";
    for (command, code) in [
        ("bench --repeat 1".to_owned(), 2),
        ("protocols KKRT16".to_owned(), 2),
        ("protocols kkrt16".to_owned(), 2),
        (format!("receive {side} --output out.csv --listen 127.0.0.1:0 --protocol kkrt16"), 11),
        (format!("receive {side} --output out.csv --listen 127.0.0.1:0 --protocol blazing-fast-psi:okvs=band"), 11),
        (format!("send {side} --connect 127.0.0.1:9 --protocol spot-low:okvs=clustered,compare=fuse"), 11),
    ] {
        folder.run(&command).expect(code, &["vesica-lab"]);
    }
    // Who types a name that nobody has is not sent there.
    for command in ["protocols kkrt17".to_owned(), format!("plan {sizes} --task guess"), "benches".to_owned()] {
        let ended = folder.run(&command);
        assert!(ended.code != 0 && !ended.stderr.contains("vesica-lab"), "{command}: {}", ended.stderr);
    }
}
