//! Words for a missing value and other contents of key columns that match strangers, or nothing: what a run, a service
//! and `check` say of them, and what the partner hears.

use serde_json::Value;

use crate::harness::{Ended, Folder};

fn report(ended: &Ended) -> Value {
    ended.expect(0, &[]);
    serde_json::from_str(&ended.stdout).expect("one JSON object")
}

/// All warnings of a report in one text.
fn warnings(report: &Value) -> String {
    report["warnings"].to_string()
}

/// A side whose table has a word on many rows is refused before the protocol, whichever side it is; the partner hears
/// that its table cannot be used, and neither word nor column.
#[test]
fn a_run_is_refused_until_somebody_says_what_the_word_is() {
    let folder = Folder::new();
    folder.write("copy.tsv", "id\tv\nk1\t1\n\\N\t2\n\\N\t3\nk4\t4\n");
    folder.write("plain.csv", "number,seg\nk1,gold\nk5,x\n");
    folder.write("theirs.tsv", "number\tseg\nk1\tgold\n\\N\tsilver\n\\N\tbronze\nk5\tx\n");
    let told = ["2 of 4 rows of", "`\\N`", "--null-words '\\N'", "--null-words keep"];
    let other = ["its input table cannot be used"];
    let (receiver, sender) =
        folder.join("--input copy.tsv --key id --output out.csv", "--input plain.csv --key number --payload seg");
    receiver.expect(3, &told);
    sender.expect(9, &other);
    let (receiver, sender) = folder.join(
        "--input plain.csv --key number --output out.csv",
        "--input theirs.tsv --key number --payload seg --payload-duplicates first",
    );
    receiver.expect(9, &other);
    sender.expect(3, &told[1..]);
    assert!(!receiver.stderr.contains("\\N") && !receiver.stderr.contains("rows"), "{}", receiver.stderr);
    assert!(!folder.path("out.csv").exists());

    // As nulls on both sides, on one side, and as the values that they are.
    for (ours, theirs, matched) in [("\\N", "\\N,NULL", 1), ("\\N", "keep", 1), ("keep", "\\N", 1), ("keep", "keep", 2)]
    {
        let (receiver, sender) = folder.join(
            &format!("--input copy.tsv --key id --output out.csv --force --json --null-words {ours}"),
            &format!(
                "--input theirs.tsv --key number --payload seg --payload-duplicates first --json --null-words {theirs}"
            ),
        );
        let (received, sent) = (report(&receiver), report(&sender));
        assert_eq!(received["matched_keys"], matched, "{ours} {theirs}");
        let nulls = if ours == "keep" { 0 } else { 2 };
        assert_eq!(received["input"]["null_rows"], nulls);
        assert!(!warnings(&received).contains("is missing") && !warnings(&sent).contains("is missing"));
    }
}

/// A dry run has it among the faults, and a job file can say what the words are.
#[test]
fn a_dry_run_and_a_job_know_of_words() {
    let folder = Folder::new();
    folder.write("ours.csv", "id\na\nNULL\nNULL\n");
    folder.write("theirs.csv", "id\na\nb\n");
    let (receiver, _) =
        folder.join("--input ours.csv --key id --output out.csv --dry-run", "--input theirs.csv --key id --dry-run");
    receiver.expect(3, &["2 of 3 rows of ours.csv", "--null-words 'NULL'"]);
    let job = "task = \"intersect\"\n[receiver]\ninput = \"ours.csv\"\nkey = \"id\"\noutput = \"out.csv\"\n\
               listen = \"127.0.0.1:0\"\nidentity = \"us.key\"\npeer = \"them.pub\"\nwait = 20\nnull_words = [\"NULL\", \"a,b\"]\n";
    folder.write("job.toml", job);
    let shown = folder.run("config job.toml");
    shown.expect(0, &[]);
    assert!(shown.stdout.contains("null-words = "), "{}", shown.stdout);
    let mut receiver = folder.start("run job.toml");
    receiver.stdin = None;
    let address = receiver.address();
    let send = "send --input theirs.csv --key id --identity them.key --peer us.pub --wait 20";
    folder.run(&format!("{send} --connect {address}")).expect(0, &[]);
    receiver.end().expect(0, &["out.csv"]);
    assert_eq!(folder.read("out.csv"), "id\na\n");
    folder.run("check ours.csv --key id --null-words NULL,keep").expect(2, &["`keep` beside others"]);
}

/// What a run warns of, on the pass that it makes anyway: `check` says the same.
#[test]
fn runs_warn_of_what_check_warns_of() {
    let folder = Folder::new();
    let numbers: String = (0..200).map(|n| format!("{},x\n", 123_456_780_000u64 + n)).collect();
    folder.write("ours.csv", format!("id,v\n{numbers}1.23457E+11,x\nid,v\nNULL,y\n12\u{200b}3,y\n124\0\0,z\n"));
    folder.write("theirs.csv", format!("id,v\n{numbers}"));
    let told = [
        "1 record repeats the header row",
        "1 value is a word that programs write where a value is missing (`NULL`)",
        "1 value is a number with an exponent (1.23457E+11)",
        "1 value has characters that nobody sees (U+200B)",
        "1 value ends in NUL bytes",
    ];
    let checked = folder.run("check ours.csv --key id --show-keys 0");
    checked.expect(0, &[]);
    let (receiver, sender) =
        folder.join("--input ours.csv --key id --output out.csv --json", "--input theirs.csv --key id --json");
    let (received, sent) = (report(&receiver), report(&sender));
    for part in told {
        assert!(checked.stdout.contains(part), "{part}: {}", checked.stdout);
        assert!(warnings(&received).contains(part) && receiver.stderr.contains(part), "{part}: {received}");
        assert!(!sent.to_string().contains(part) && !sender.stderr.contains(part), "{part}: {sent}");
    }
    assert_eq!((&received["matched_keys"], &received["input"]["header_rows"]), (&200.into(), &1.into()));
    // Under a normaliser, which refuses the number.
    let (receiver, _) = folder.join(
        "--input ours.csv --key id --normalise id=int --output out.csv --force",
        "--input theirs.csv --key id --normalise id=int",
    );
    receiver.expect(0, &["1 value is a number with an exponent"]);
}

/// One word on a deny list is a match for every client's row without a value: the server warns, and the client is refused
/// before it asks. A mark is no entry of a list.
#[test]
fn a_service_warns_and_its_clients_are_refused() {
    let folder = Folder::new();
    let listed: String = (0..300).map(|n| format!("http://{n}.example/\n")).collect();
    folder.write("deny.csv", format!("url\nNULL\n{listed}"));
    folder.write("seen.csv", "url\nhttp://7.example/\nNULL\nNULL\n");
    folder.write("clients.txt", folder.read("us.pub"));
    let serve =
        "serve --input deny.csv --key url --identity them.key --clients clients.txt --no-quota --listen 127.0.0.1:0";
    let server = folder.start(serve);
    let line = server.says("listening on ");
    let address = line.split("listening on ").nth(1).and_then(|rest| rest.split(';').next()).expect("an address");
    let query = format!(
        "query --input seen.csv --key url --output hits.csv --identity us.key --peer them.pub --connect {address}"
    );
    folder.run(&query).expect(3, &["2 of 3 rows of seen.csv", "--null-words 'NULL'"]);
    folder.run(&format!("{query} --null-words NULL")).expect(0, &[]);
    assert_eq!(folder.read("hits.csv"), "url\nhttp://7.example/\n");
    // A table that a reload refuses leaves the set as it was.
    folder.write("deny.csv", format!("url\n\\N\n{listed}"));
    server.signal("HUP");
    let line = server.says("the set stays as it was");
    assert!(line.contains("--null-words '\\N'"), "{line}");
    server.signal("TERM");
    server.end().expect(0, &["`url`: 1 value is a word that programs write where a value is missing (`NULL`)"]);
    folder.run(serve).expect(3, &["1 of 301 rows of deny.csv"]);
}

/// A name with a character that nobody sees is named as such, and no name is proposed in its own place.
#[test]
fn marks_in_names_and_values_are_named() {
    let folder = Folder::new();
    folder.write("ours.csv", "v,\u{feff}id,na\u{200b}me\n1,k\u{200b}1,x\n");
    let missing = folder.run("check ours.csv --key id");
    missing.expect(
        3,
        &["its column `<U+FEFF>id` looks like that", "the name in the table has characters that nobody sees (U+FEFF)"],
    );
    assert!(!missing.stderr.contains("did you mean"), "{}", missing.stderr);
    folder.run("check ours.csv --key nmae").expect(3, &["`<U+FEFF>id`, `na<U+200B>me`"]);
    folder.run("check ours.csv --key v\u{ad}").expect(3, &["no column `v<U+00AD>`", "the name asked for"]);
    let shown = folder.run("check ours.csv --key \u{feff}id");
    shown.expect(0, &[]);
    assert!(shown.stdout.contains("\"k<U+200B>1\"") && shown.stdout.contains("column <U+FEFF>id"), "{}", shown.stdout);
    assert!(shown.stdout.contains("characters that nobody sees (U+200B)"), "{}", shown.stdout);
}

/// Each side is told what its digests look like and what the partner's do.
#[test]
fn digests_in_two_notations_are_told_apart() {
    let folder = Folder::new();
    let hex: Vec<String> =
        (0..20).map(|n| format!("{:064x}", 0xe3b0_c442_98fc_1c14u64 + n).replace("000", "a1b")).collect();
    folder.write("hex.csv", format!("h\n{}\n", hex.join("\n")));
    folder.write("upper.csv", format!("h\n{}\n", hex.join("\n").to_uppercase()));
    let base64: String = (0..20).map(|n| format!("47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hS{n:02}U=\n")).collect();
    folder.write("base64.csv", format!("h\n{base64}"));
    let run = |ours: &str, theirs: &str, normalise: &str| {
        let (receiver, sender) = folder.join(
            &format!("--input {ours} --key h --output out.csv --force {normalise}"),
            &format!("--input {theirs} --key h {normalise}"),
        );
        (receiver, sender)
    };
    let (receiver, sender) = run("hex.csv", "base64.csv", "");
    for side in [&receiver, &sender] {
        side.expect(0, &["256 bits (SHA-256) in hexadecimal", "256 bits (SHA-256) in base64", "lower spoils base64"]);
    }
    let (receiver, sender) = run("hex.csv", "upper.csv", "");
    for side in [&receiver, &sender] {
        side.expect(0, &["in upper-case hexadecimal", "--normalise h=lower"]);
    }
    run("hex.csv", "upper.csv", "--normalise h=lower").0.expect(0, &["20 rows"]);
    let checked = folder.run("check base64.csv --key h");
    checked.expect(0, &[]);
    assert!(!checked.stdout.contains("h=lower on both sides"), "{}", checked.stdout);
    assert!(checked.stdout.contains("written as digests of 256 bits (SHA-256) in base64"), "{}", checked.stdout);
}
