//! Joins on a key with alternatives (`--or-key`), against a plain join of the test.

use serde_json::Value;

use crate::harness::{Ended, Folder};

const BOTH: &str = "--or-key phone";

/// Row 2 matches by its telephone number, row 3 by both, row 4 by its e-mail address, row 6 (whose
/// address is row 5's number) by nothing: an address never meets a number.
fn tables() -> Folder {
    let folder = Folder::new();
    folder.write(
        "ours.csv",
        "id,email,phone\n1,a@x.org,10\n2,b@x.org,20\n3,c@x.org,30\n4,d@x.org,\n5,,77\n6,55,\n7,,\n8,b@x.org,20\n",
    );
    folder.write("theirs.csv", "tel,mail,score\n20,z@x.org,1\n30,c@x.org,2\n,d@x.org,3\n55,77,4\n20,,5\n,,6\n");
    folder
}

fn report(ended: &Ended) -> Value {
    ended.expect(0, &[]);
    serde_json::from_str(&ended.stdout).expect("one JSON object")
}

#[test]
fn rows_match_by_either_column_in_both_modes() {
    let folder = tables();
    for (mode, more) in [("malicious", "--json"), ("semi-honest", "--json --pad-to 50")] {
        let (receiver, sender) = folder.join(
            &format!(
                "--input ours.csv --key email {BOTH} --output m.csv --force --receipt r.json --security {mode} {more}"
            ),
            &format!("--input theirs.csv --key mail --or-key tel --security {mode} {more}"),
        );
        let (received, sent) = (report(&receiver), report(&sender));
        assert_eq!(
            folder.read("m.csv"),
            "id,email,phone\n2,b@x.org,20\n3,c@x.org,30\n4,d@x.org,\n8,b@x.org,20\n",
            "{mode}"
        );
        // Keys, not rows: 5 addresses and 4 numbers here, 4 and 3 there.
        let padded = mode == "semi-honest";
        let items = if padded { [50, 50] } else { [9, 7] };
        assert_eq!([&received["own_items"], &received["peer_items"]], [&items[0].into(), &Value::from(items[1])]);
        assert_eq!((&received["input"]["rows"], &received["input"]["null_rows"]), (&8.into(), &1.into()));
        assert_eq!((&received["input"]["distinct"], &received["input"]["duplicate_rows"]), (&9.into(), &1.into()));
        assert_eq!(received["input"]["alternatives"][1]["columns"], serde_json::json!(["phone"]));
        assert_eq!((&received["matched_keys"], &received["output"]["rows"]), (&4.into(), &4.into()));
        assert_eq!(received["matched_by_alternative"], serde_json::json!([2, 2]));
        assert!(sent["matched_by_alternative"].is_null() && sent["matched_keys"].is_null());
        assert_eq!(received["revealed"], sent["revealed"]);
        let revealed = received["revealed"].to_string();
        assert!(revealed.contains("to the receiver: by which of the 2 alternatives"), "{revealed}");
        assert!(revealed.contains("keys of all alternatives together"), "{revealed}");
        assert!(!revealed.contains("to the sender: by which"), "{revealed}");
        // Both sides read it before the protocol runs.
        for ended in [&receiver, &sender] {
            assert!(ended.stderr.contains("the key has 2 alternatives, and the run reveals"), "{}", ended.stderr);
        }
        let receipt: Value = serde_json::from_str(&folder.read("r.json")).expect("a receipt");
        assert_eq!(receipt["statement"]["or_keys"], serde_json::json!([["as it is"]]));
        folder.run("receipt r.json").expect(0, &[]);
        let shown = folder.run("receipt r.json").stdout;
        assert!(shown.contains("alternative 1 (--or-key)"), "{shown}");
    }
}

/// A plain run of the same tables has no trace of alternatives.
#[test]
fn a_key_alone_is_as_before() {
    let folder = tables();
    let (receiver, sender) = folder.join(
        "--input ours.csv --key email --output m.csv --receipt r.json",
        "--input theirs.csv --key mail --security malicious",
    );
    receiver.expect(0, &["2 keys match; wrote 2 rows"]);
    assert!(!(receiver.stderr + &sender.stderr).contains("alternative"));
    assert!(!folder.read("r.json").contains("or_keys"));
}

#[test]
fn three_alternatives_of_several_columns_and_the_other_rows() {
    let folder = Folder::new();
    folder.write("ours.csv", "m,p,f,l\nx,1,Ann,Lee\n,2,Bob,Ray\n,,Cy,Dee\n,,Ann,\n");
    folder.write("theirs.csv", "last,first,tel,mail1,mail2\nLee,Zoe,9,y,X\nRay,Bob,,,\nDee,,3,,\nx,,2,,\n");
    let (receiver, sender) = folder.join(
        "--input ours.csv --key m --or-key p --or-key f,l --or-key m --normalise m=lower --output m.csv",
        "--input theirs.csv --key mail1 --or-key tel --or-key first,last --or-key mail2 --normalise mail1=lower \
         --normalise mail2=lower",
    );
    sender.expect(0, &["of 4 alternatives"]);
    // The first row by the partner's second address, the second by its number and by its name.
    receiver.expect(0, &["3 keys match (0 by m; 1 by p; 1 by f, l; 1 by m); wrote 2 rows"]);
    assert_eq!(folder.read("m.csv"), "m,p,f,l\nx,1,Ann,Lee\n,2,Bob,Ray\n");
    let (receiver, _) = folder.join(
        "--input ours.csv --key m --or-key p --output d.csv --join difference",
        "--input theirs.csv --key mail1 --or-key tel",
    );
    receiver.expect(0, &[]);
    assert_eq!(folder.read("d.csv"), "m,p,f,l\nx,1,Ann,Lee\n,,Cy,Dee\n,,Ann,\n");
}

#[test]
fn both_learn_shows_the_sender_its_rows_and_says_so() {
    let folder = tables();
    let (receiver, sender) = folder.join(
        &format!("--input ours.csv --key email {BOTH} --output m.csv --both-learn"),
        "--input theirs.csv --key mail --or-key tel --output t.csv --both-learn",
    );
    receiver.expect(0, &["to the sender: by which of the 2 alternatives"]);
    sender.expect(0, &["to the sender: by which of the 2 alternatives", "4 keys match (2 by mail; 2 by tel)"]);
    assert_eq!(folder.read("t.csv"), "tel,mail,score\n20,z@x.org,1\n30,c@x.org,2\n,d@x.org,3\n20,,5\n");
}

/// Random tables of a few sizes, against a plain join.
#[test]
fn random_tables_match_as_a_plain_join_says() {
    let mut state = 1u64;
    let mut next = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let folder = Folder::new();
    for (round, (ours, theirs)) in [(1, 1), (1, 40), (2, 2), (60, 1), (300, 900)].into_iter().enumerate() {
        let mut table = |rows: usize| {
            let mut cell = || match next(3 * rows as u64 + 2) {
                0 => String::new(),
                value => format!("k{}", value / 2),
            };
            (0..rows).map(|_| [cell(), cell()]).collect::<Vec<_>>()
        };
        let (mut ours, mut theirs) = (table(ours), table(theirs));
        // At least one usable key a side.
        ours[0][1] = "k1".into();
        theirs[0][1] = "k1".into();
        let text = |rows: &[[String; 2]]| -> String {
            rows.iter().enumerate().map(|(row, [a, b])| format!("{row},{a},{b}\n")).collect()
        };
        folder.write("ours.csv", format!("row,a,b\n{}", text(&ours)));
        folder.write("theirs.csv", format!("row,a,b\n{}", text(&theirs)));
        let mode = if round.is_multiple_of(2) { "malicious" } else { "semi-honest" };
        let (receiver, sender) = folder.join(
            &format!("--input ours.csv --key a --or-key b --output m.csv --force --security {mode}"),
            &format!("--input theirs.csv --key a --or-key b --security {mode}"),
        );
        receiver.expect(0, &[]);
        sender.expect(0, &[]);
        let matches = |row: &[String; 2]| {
            let by = |column: usize| !row[column].is_empty() && theirs.iter().any(|other| other[column] == row[column]);
            by(0) || by(1)
        };
        let expected = ours.iter().enumerate().filter(|(_, row)| matches(row));
        let expected: String = expected.map(|(row, [a, b])| format!("{row},{a},{b}\n")).collect();
        assert_eq!(folder.read("m.csv"), format!("row,a,b\n{expected}"), "{} and {} rows", ours.len(), theirs.len());
    }
}

#[test]
fn both_sides_name_what_differs() {
    let cases = [
        ("", "--or-key tel", vec!["number of --or-key alternatives", "\"0\"", "\"1\""]),
        (BOTH, "", vec!["number of --or-key alternatives", "\"1\"", "\"0\""]),
        ("--or-key phone --or-key id", "--or-key tel", vec!["number of --or-key alternatives"]),
        ("--or-key phone,id", "--or-key tel", vec!["columns of an --or-key", "--or-key number 1"]),
        (
            "--or-key phone --normalise phone=digits",
            "--or-key tel --normalise tel=int",
            vec!["--normalise of an --or-key", "digits@2", "int@3"],
        ),
    ];
    for (ours, theirs, texts) in cases {
        let folder = tables();
        let (receiver, sender) = folder.join(
            &format!("--input ours.csv --key email --output m.csv {ours}"),
            &format!("--input theirs.csv --key mail {theirs}"),
        );
        receiver.expect(7, &texts);
        sender.expect(7, &texts);
        assert!(!folder.files().contains(&"m.csv".to_owned()));
    }
}

/// Telephone numbers of one side have a decimal point: both sides hear it, for that column.
#[test]
fn kinds_that_differ_in_an_alternative_are_named() {
    let folder = tables();
    folder.write("theirs.csv", "tel,mail\n20.0,z@x.org\n30.0,c@x.org\n");
    let (receiver, sender) = folder.join(
        &format!("--input ours.csv --key email {BOTH} --output m.csv"),
        "--input theirs.csv --key mail --or-key tel",
    );
    receiver.expect(0, &["column 1 of alternative 2 (`phone`) holds integers", "--normalise phone=int", "wrote 1 row"]);
    sender.expect(0, &["column 1 of alternative 2 (`tel`) holds numbers with a decimal point", "--normalise tel=int"]);
    let (receiver, sender) = folder.join(
        &format!("--input ours.csv --key email {BOTH} --normalise phone=int --output m2.csv"),
        "--input theirs.csv --key mail --or-key tel --normalise tel=int",
    );
    sender.expect(0, &[]);
    receiver.expect(0, &["3 keys match (1 by email; 2 by phone); wrote 3 rows"]);
}

#[test]
fn other_tasks_and_payload_are_refused_and_the_partner_is_told() {
    let folder = tables();
    for task in ["union", "cardinality", "sum", "join-and-compute", "union-cardinality", "union-sum", "shares"] {
        let task =
            format!("--task {task} --security semi-honest --insecure-plaintext --wait 0.1 --connect 127.0.0.1:1");
        let refused = folder.run(&format!("receive --input ours.csv --key email {BOTH} --output m.csv {task}"));
        refused.expect(2, &["--or-key is for intersections", "or say --task intersect"]);
    }
    let (receiver, sender) = folder.join(
        &format!("--input ours.csv --key email {BOTH} --output m.csv"),
        "--input theirs.csv --key mail --or-key tel --payload score",
    );
    sender.expect(2, &["--payload together with --or-key", "may match two rows of the sender", "omit --payload"]);
    receiver.expect(9, &[]);
    let arguments = "--input ours.csv --key email --output m.csv --connect 127.0.0.1:1 --insecure-plaintext --wait 0.1";
    folder.run(&format!("receive {arguments} {BOTH} --payload score")).expect(2, &["--payload together with --or-key"]);
    folder.run(&format!("receive {arguments} --or-key phone,phone")).expect(2, &["names column `phone` twice"]);
    folder.run(&format!("receive {arguments} --or-key nothing")).expect(3, &["has no column `nothing`"]);
    let served = folder.run("serve --input ours.csv --key email --or-key phone --no-quota --listen 127.0.0.1:0");
    assert!(served.code == 2 && served.stderr.contains("--or-key"), "{}", served.stderr);
}

#[test]
fn a_job_file_says_alternatives() {
    let folder = tables();
    folder.write(
        "job.toml",
        "[receiver]\ninput = \"ours.csv\"\nkey = [\"email\"]\nor-key = [\"phone\", \"id,phone\"]\noutput = \"m.csv\"\n\
         connect = \"127.0.0.1:1\"\npeer = \"them.pub\"\nidentity = \"us.key\"\nwait = \"0.1\"\n",
    );
    let shown = folder.run("config job.toml");
    shown.expect(0, &[]);
    assert!(shown.stdout.contains("or-key = [\"phone\", \"id,phone\"]"), "{}", shown.stdout);
    folder.run("run job.toml --task union --security semi-honest").expect(2, &["--or-key is for intersections"]);
}

#[test]
fn check_shows_each_alternative_and_compares_them() {
    let folder = tables();
    let checked = folder.run(&format!("check ours.csv --key email {BOTH}"));
    checked.expect(0, &[]);
    for text in [
        "8 rows, 9 distinct keys\n",
        "alternative 1 (email): 6 rows have a key, 5 distinct keys\n",
        "alternative 2 (phone): 5 rows have a key, 4 distinct keys\n",
        "column phone (text)",
        "  row 1, alternative 1: \"a@x.org\"\n  row 1, alternative 2: \"10\"\n",
    ] {
        assert!(checked.stdout.contains(text), "{text:?} is missing in {}", checked.stdout);
    }
    let compared = "check ours.csv theirs.csv --key email --or-key phone --second-key mail --second-or-key tel";
    let compared = folder.run(compared);
    compared.expect(0, &[]);
    for text in [
        ": 4 keys match, of 9 and 7\n",
        "alternative 1 (email and mail): 2 keys match, of 5 and 4\n",
        "alternative 2 (phone and tel): 2 keys match, of 4 and 3\n",
    ] {
        assert!(compared.stdout.contains(text), "{text:?} is missing in {}", compared.stdout);
    }
    folder.run("check ours.csv --key email --or-key phone --task sum").expect(2, &["--or-key is for intersections"]);
    folder
        .run("check ours.csv theirs.csv --key email --or-key phone --second-key mail")
        .expect(2, &["2 alternatives in the first table and 1 in the second", "--second-or-key"]);
}
