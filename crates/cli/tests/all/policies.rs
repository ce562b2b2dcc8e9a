//! What may be done with a partner, between two processes.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::harness::{Ended, Folder, STATE, within};
use crate::service;

const RULES: &str = "\
[shop]
key = \"them.pub\"

[shop.policy]
tasks = [\"sum\", \"intersect\", \"query\"]
inputs = [\"*.csv\"]
runs = [\"3 per 1d\"]
least-changed-keys = 10
";

/// Both tables have the keys from 20 to 59; the receiver has a policy for the sender.
fn folder(rules: &str) -> Folder {
    let folder = Folder::new();
    let rows = |keys: std::ops::Range<u32>| keys.map(|key| format!("key-{key},{key}\n")).collect::<String>();
    folder.write("ours.csv", format!("id,n\n{}", rows(0..60)));
    folder.write("less.csv", format!("id,n\n{}", rows(1..60)));
    folder.write("theirs.csv", format!("id,n\n{}", rows(20..90)));
    folder.write("peers.toml", rules);
    folder.write("job.toml", "task = \"intersect\"\n[receiver]\ninput = \"ours.csv\"\nkey = \"id\"\noutput = \"o\"\nlisten = \"127.0.0.1:0\"\n");
    folder
}

/// A run with these flags of both sides, of the receiver, and of the sender.
fn join(folder: &Folder, both: &str, ours: &str, theirs: &str) -> [Ended; 2] {
    let (receiver, sender) = folder.join(
        &format!("--peers peers.toml --key id --output out.csv --force {both} {ours}"),
        &format!("--input theirs.csv --key id {both} {theirs}"),
    );
    [receiver, sender]
}

/// The rules count for the partner's key, whatever it is called by; the run is refused before anything leaves, the partner
/// hears that and no more, and the log says why.
#[test]
fn a_run_against_a_rule_is_refused_on_either_side() {
    let folder = folder(RULES);
    let [receiver, sender] = join(&folder, "", "--input ours.csv --receipt r.json --json", "");
    receiver.expect(0, &[]);
    sender.expect(0, &["no policy says what may be done with this partner"]);
    let report: Value = serde_json::from_str(&receiver.stdout).expect("one JSON object");
    assert_eq!(report["policy"].as_str().map(str::len), Some(64));
    for (both, ours, told) in [
        ("--task cardinality --security semi-honest", "--input ours.csv", "line 5: your policy for shop has `tasks = "),
        ("", "--input ./configuration/ours.csv", "line 6: your policy for shop has `inputs = [\"*.csv\"]`"),
        ("", "--input less.csv", "line 8: your policy for shop has `least-changed-keys = 10`"),
    ] {
        let [receiver, sender] = join(&folder, both, ours, "");
        receiver.expect(11, &["peers.toml, ", told]);
        sender.expect(9, &["its policy for this partner does not allow this run"]);
        assert!(!sender.stderr.contains("peers.toml") && !sender.stderr.contains("least-changed"), "{}", sender.stderr);
        assert!(!folder.path("r2.json").exists());
    }
    let shown = folder.run("log show").stdout;
    assert!(shown.contains("refused") && shown.contains("least-changed-keys = 10"), "{shown}");
    // As the sender, and with the partner's line in place of a name.
    folder.write(
        "peers.toml",
        RULES.replace("them.pub", "us.pub").replace("[shop", "[publisher") + "roles = \"receiver\"\n",
    );
    let (receiver, sender) = folder
        .join("--input ours.csv --key id --output out.csv --force", "--peers peers.toml --input theirs.csv --key id");
    sender.expect(11, &["line 9: your policy for publisher has `roles = [\"receiver\"]`, and this side is the sender"]);
    receiver.expect(9, &["its policy for this partner does not allow this run"]);
    // The receipt tells whether the policy was the one that is there now.
    folder.write("peers.toml", RULES);
    let receipt = |flags: &str| {
        let mut ended = folder
            .start_under(crate::jobs::vesica(&[("VESICA_PEERS", "peers.toml")]), &format!("receipt r.json {flags}"));
        ended.stdin = None;
        ended.end()
    };
    receipt("--policy shop").expect(0, &[]);
    assert!(receipt("").stdout.contains("receiver's policy"));
    receipt("--policy us.pub").expect(6, &["you have no policy for us.pub"]);
    folder.write("peers.toml", RULES.replace("3 per 1d", "4 per 1d"));
    receipt("--policy shop").expect(7, &["was another one in this run than it is now"]);
}

/// A run counts from its beginning, also if it is killed, and for all processes.
#[test]
fn a_run_that_is_killed_counts() {
    let folder = folder(RULES);
    let keys: String = (0..40_000).map(|key| format!("key-{key},{key}\n")).collect();
    folder.write("ours.csv", format!("id,n\n{keys}"));
    folder.write("theirs.csv", format!("id,n\n{keys}"));
    let counted = || folder.run("policy check shop --peers peers.toml").stdout;
    assert!(counted().contains("0 of 3 begun within 1d"), "{}", counted());
    let slow = "--protocol ecdh-hfh99 --security semi-honest";
    let (mut receiver, sender) = folder.both(
        &format!("--peers peers.toml --input ours.csv --key id --output out.csv {slow}"),
        &format!("--input theirs.csv --key id {slow}"),
    );
    assert!(within(20, || counted().contains("1 of 3 begun")), "{}", counted());
    receiver.child.kill().expect("killed");
    sender.end().expect(10, &[]);
    drop(receiver);
    for _ in 0..2 {
        join(&folder, "", "--input ours.csv", "")[0].expect(0, &[]);
    }
    let [receiver, sender] = join(&folder, "", "--input ours.csv", "");
    receiver.expect(11, &["`runs = [\"3 per 1d\"]`, and 3 runs were begun within 1d; the first of them counts until "]);
    sender.expect(9, &["its policy for this partner"]);
    folder.run("policy check shop --peers peers.toml --job job.toml").expect(11, &["3 runs were begun"]);
    // Files that others can write to, or that are not as they were left, end a run.
    let state = folder.path(STATE).join("vesica/policy");
    fs::set_permissions(&state, fs::Permissions::from_mode(0o777)).expect("set");
    join(&folder, "", "--input ours.csv", "")[0].expect(11, &["others can write to"]);
}

#[test]
fn rules_are_explained_and_a_job_is_tried_against_them() {
    let folder = folder(RULES);
    let check = |flags: &str| folder.run(&format!("policy check {flags} --peers peers.toml"));
    let shown = check("shop --job job.toml");
    shown.expect(0, &[]);
    for text in [
        "rules of peers.toml, digest ",
        "line 5: tasks = [\"sum\", \"intersect\", \"query\"]",
        "0 of 3 begun within 1d",
        "job.toml is allowed, as far as its settings and the counts tell",
        "not tried, since tables and partner decide it: least-changed-keys = 10 (line 8)",
    ] {
        assert!(shown.stdout.contains(text), "{text}: {}", shown.stdout);
    }
    let report: Value = serde_json::from_str(&check("them.pub --json").stdout).expect("one JSON object");
    assert_eq!(report["rules"][1]["rule"], "inputs = [\"*.csv\"]");
    assert!(check("us.pub").stdout.contains("there is no policy for this partner"));
    check("shp").expect(6, &["did you mean shop?"]);
    let job = folder
        .read("job.toml")
        .replace("\"intersect\"", "\"cardinality\"\nsecurity = \"semi-honest\"\nreveal-if-at-least = 5");
    folder.write("job.toml", job);
    check("shop --job job.toml").expect(11, &["line 5: ", "the task is cardinality"]);
    let config = "config job.toml --peer shop --peers peers.toml";
    folder.run(config).expect(11, &["line 5: ", "the task is cardinality"]);
    // Mistakes name the line, and nothing starts.
    for (from, to, told) in [
        ("runs", "rnus", "peers.toml, line 7: a policy has no rule `rnus`: did you mean `runs`?"),
        ("\"sum\"", "\"some\"", "peers.toml, line 5: `tasks` names \"some\""),
        (
            "[shop.policy]",
            "tasks = [\"sum\"]\n[shop.policy]",
            "line 4: `tasks` is there a second time; peers.toml, line 6 has it",
        ),
        (
            "[shop.policy]",
            "policy = \"no.toml\"\n[other]\nkey=\"us.pub\"\n[other.policy]",
            "cannot read the policy no.toml",
        ),
        (
            "[shop.policy]",
            "[other]\nkey = \"them.pub\"\ntasks = \"sum\"\n[shop.policy]",
            "two partners have the same key, and rules each",
        ),
    ] {
        folder.write("peers.toml", RULES.replacen(from, to, 1));
        let receive =
            "receive --input ours.csv --key id --output o --listen 127.0.0.1:0 --identity us.key --peer them.pub";
        let ended = folder.run(&format!("{receive} --peers peers.toml"));
        assert!(
            [2, 3].contains(&ended.code) && ended.stderr.replace("\nhelp: ", "; ").contains(told),
            "{told}: {}",
            ended.stderr
        );
        assert!(!ended.stderr.contains("listening"));
    }
}

#[test]
fn a_signed_policy_is_that_of_its_owner() {
    let folder = folder("[shop]\nkey = \"them.pub\"\npolicy = \"rules/shop.toml\"\npolicy-signer = \"owner.pub\"\n");
    folder.run("identity new --out owner.key").expect(0, &[]);
    fs::create_dir(folder.path("rules")).expect("made");
    folder.write("rules/shop.toml", "inputs = \"../*.csv\"\nown-keys = \"60..\"\n");
    let run = || join(&folder, "", "--input ours.csv", "");
    let unsigned = folder.run("policy check shop --peers peers.toml");
    unsigned.expect(3, &["cannot read the policy rules/shop.toml.sig"]);
    folder.run("policy sign rules/shop.toml --identity owner.key").expect(0, &[]);
    run()[0].expect(0, &[]);
    let [receiver, _] = join(&folder, "", "--input less.csv", "");
    receiver.expect(11, &["rules/shop.toml, line 2: ", "the table has 59 distinct keys"]);
    folder.write("rules/shop.toml", "inputs = \"../*.csv\"\nown-keys = \"59..\"\n");
    let check = || folder.run("policy check shop --peers peers.toml");
    check().expect(6, &["has not been signed by", "as it is"]);
    folder.run("policy sign rules/shop.toml --identity us.key").expect(0, &[]);
    check().expect(6, &["has not been signed by"]);
    folder.write("rules/shop.toml", "own-keys = \"many\"\n");
    folder.run("policy sign rules/shop.toml --identity owner.key").expect(2, &["rules/shop.toml, line 1: `own-keys`"]);
}

/// A query to a server, and a dry run, are under the rules as well.
#[test]
fn queries_and_dry_runs_keep_the_rules() {
    let folder = service::tables();
    let rules = RULES.replace("inputs = [\"*.csv\"]", "partner-keys = \"..100\"");
    let (_server, address) = service::serve(&folder, "");
    let query = |rules: &str| {
        folder.write("peers.toml", rules);
        service::query(&folder, &address, "--peers peers.toml")
    };
    query(&rules).expect(11, &["line 6: ", "the partner's table has ", "distinct keys"]);
    query(&rules.replace(", \"query\"", "")).expect(11, &["line 5: ", "the task is query"]);
    // What a rule refused is not counted.
    let two = rules.replace("100", "100000").replace("3 per", "2 per");
    query(&two).expect(0, &[]);
    query(&two).expect(0, &[]);
    query(&two).expect(11, &["2 runs were begun"]);
    let dry = |rules: &str, expected: &str| {
        folder.write("peers.toml", rules);
        let ours = format!("--input seen.csv --key url --output out.csv --dry-run --peers peers.toml {expected}");
        folder.join(&ours, "--input deny.csv --key url --dry-run").0
    };
    dry(&rules, "").expect(0, &[]);
    dry(&rules, "--expect-peer-items 101").expect(11, &["line 6: ", "the partner's table has 101 distinct keys"]);
    dry(&format!("{rules}own-keys = \"..299\""), "").expect(11, &["line 9: ", "the table has 300 distinct keys"]);
    folder.write("peers.toml", &rules);
    let (receiver, sender) = folder.join(
        "--input seen.csv --key url --output out.csv --task cardinality --security semi-honest --dry-run --peers peers.toml",
        "--input deny.csv --key url --task cardinality --security semi-honest --dry-run",
    );
    receiver.expect(11, &["line 5: ", "the task is cardinality"]);
    sender.expect(9, &["its policy for this partner"]);
}
