//! The size of a union and sums over one, between two processes, against plain computations.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use vesica::receipt::Receipt;

use crate::harness::{Ended, Folder};

/// Rows of a key, a number with two decimals, and one without.
type Rows = Vec<(String, i64, i64)>;

/// 400 rows from `first` on, of which some have the same key, and one has none.
fn rows(first: i64) -> Rows {
    let mut rows: Rows =
        (first..first + 400).map(|i| (format!("k{}", i - i % 5 / 4), 7 * i - 1500, i * i % 1000)).collect();
    rows.push((String::new(), 99, 99));
    rows
}

/// The sums of both columns for each key.
fn by_key(rows: &Rows) -> BTreeMap<&str, [i64; 2]> {
    let mut sums = BTreeMap::new();
    for (key, cents, points) in rows.iter().filter(|(key, ..)| !key.is_empty()) {
        let [a, b] = sums.entry(key.as_str()).or_insert([0; 2]);
        (*a, *b) = (*a + cents, *b + points);
    }
    sums
}

fn decimal(cents: i64) -> String {
    format!("{}{}.{:02}", if cents < 0 { "-" } else { "" }, cents.abs() / 100, cents.abs() % 100)
}

fn csv(header: &str, rows: &Rows) -> String {
    let lines = rows.iter().map(|(key, cents, points)| format!("{key},{},{points}\n", decimal(*cents)));
    format!("{header}\n{}", lines.collect::<String>())
}

/// Tables of which the receiver's has keys from 0 on and the sender's from 150 on.
fn tables() -> (Folder, Rows, Rows) {
    let folder = Folder::new();
    let (ours, theirs) = (rows(0), rows(150));
    folder.write("ours.csv", csv("id,spent,visits", &ours));
    folder.write("theirs.csv", csv("mail,amount,points", &theirs));
    (folder, ours, theirs)
}

/// Both sides of `task`, semi-honest, with these arguments besides.
fn run(folder: &Folder, task: &str, receive: &str, send: &str) -> (Ended, Ended) {
    let both = format!("--task {task} --security semi-honest --force");
    folder.join(
        &format!("--input ours.csv --key id --output result.csv {both} {receive}"),
        &format!("--input theirs.csv --key mail {both} {send}"),
    )
}

fn json(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).expect("one JSON object")
}

fn union_size(ours: &Rows, theirs: &Rows) -> usize {
    by_key(ours).into_keys().chain(by_key(theirs).into_keys()).collect::<BTreeSet<_>>().len()
}

#[test]
fn the_size_of_a_union_counts_real_keys_only() {
    let (folder, ours, theirs) = tables();
    let (n_r, n_s) = (by_key(&ours).len(), by_key(&theirs).len());
    let size = union_size(&ours, &theirs);
    assert!(size > n_r.max(n_s) && size < n_r + n_s);
    for (receive, send, told) in [
        ("", "", [n_s, n_r]),
        ("--pad-to 1000", "", [n_s, 1000]),
        ("", "--pad-to 700", [700, n_r]),
        ("--pad-to 350", "--pad-to 2000", [2000, 350]),
    ] {
        let (receiver, sender) =
            run(&folder, "union-cardinality", &format!("{receive} --json"), &format!("{send} --json"));
        receiver.expect(0, &[]);
        sender.expect(0, &[]);
        assert_eq!(folder.read("result.csv"), format!("union-cardinality\n{size}\n"), "{receive} {send}");
        let (received, sent) = (json(&receiver), json(&sender));
        assert_eq!([&received["peer_items"], &sent["peer_items"]], told.map(Value::from).each_ref());
        assert_eq!((&received["matched_keys"], &sent["output"]), (&Value::Null, &Value::Null));
        assert_eq!(received["revealed"], sent["revealed"]);
        assert!(received["revealed"].to_string().contains("how many keys only the sender has"), "{received}");
    }
}

#[test]
fn every_protocol_for_the_size_of_a_union_and_for_sums_over_it_gives_the_same() {
    let (folder, ours, theirs) = tables();
    let size = union_size(&ours, &theirs);
    let values = "--payload points --payload-duplicates sum";
    let own = by_key(&ours);
    let sum: i64 = by_key(&theirs).iter().filter(|(key, _)| !own.contains_key(*key)).map(|(_, sums)| sums[1]).sum();
    for (task, send, expected) in [
        ("union-cardinality", "", format!("union-cardinality\n{size}\n")),
        ("union-sum", values, format!("new_points\n{sum}\n")),
    ] {
        for (id, counts) in [("vesica", false), ("czz24", true)] {
            let protocol = format!("--protocol {id}-{task} --pad-to 500");
            let (receiver, sender) = run(&folder, task, &protocol, &format!("{protocol} {send}"));
            sender.expect(0, &[]);
            receiver.expect(0, &[]);
            assert_eq!(folder.read("result.csv"), expected, "{id}");
            for ended in [receiver, sender] {
                assert_eq!(ended.stderr.contains("the number of common items, exactly"), counts, "{}", ended.stderr);
            }
        }
    }
}

#[test]
fn sums_over_a_union_take_the_receivers_values_for_common_keys() {
    let (folder, ours, theirs) = tables();
    let send = "--payload amount,points --scale amount=2 --clamp amount=-20..20 --clamp points=0..5000 \
                --payload-duplicates sum --receipt theirs.json";
    let (own, mut sums) = (by_key(&ours), [0; 2]);
    for (key, [cents, points]) in by_key(&theirs) {
        if !own.contains_key(key) {
            sums = [sums[0] + cents.clamp(-2000, 2000), sums[1] + points.clamp(0, 5000)];
        }
    }
    let (receiver, sender) = run(&folder, "union-sum", "--pad-to 600", send);
    receiver
        .expect(0, &["to the receiver: the sums of the sender's amount, points over the keys that only the sender"]);
    sender.expect(0, &["values were outside of the range of column amount"]);
    assert_eq!(folder.read("result.csv"), format!("new_amount,new_points\n{},{}\n", decimal(sums[0]), sums[1]));

    for [cents, points] in own.values() {
        sums = [sums[0] + cents, sums[1] + points];
    }
    let receive = "--payload spent,visits --scale spent=2 --payload-duplicates sum --partner-clamp points=0..5000 \
                   --receipt ours.json";
    let (receiver, sender) = run(&folder, "union-sum", receive, send);
    sender.expect(0, &["column `spent` has no range"]);
    receiver.expect(0, &["column `spent` has no range"]);
    assert_eq!(folder.read("result.csv"), format!("amount,points\n{},{}\n", decimal(sums[0]), sums[1]));
    let receipt: Receipt = serde_json::from_str(&folder.read("ours.json")).expect("a receipt");
    assert_eq!((receipt.verify(), receipt.statement.task.as_str()), ((true, true), "union-sum"));
    assert_eq!(receipt.statement.receiver_values[0].to_string(), "spent, scale 2, any value");
    let shown = folder.run("receipt theirs.json");
    shown.expect(0, &[]);
    assert!(shown.stdout.contains("over the keys that only the sender has"), "{}", shown.stdout);
}

#[test]
fn thresholds_and_noise_of_unions() {
    let (folder, ours, theirs) = tables();
    let values = "--payload points --payload-duplicates first --clamp points=0..1000";
    for (task, send) in [("union-cardinality", ""), ("union-sum", values)] {
        let threshold = "--reveal-if-at-least 20";
        let (receiver, sender) = run(&folder, task, threshold, &format!("{threshold} {send}"));
        for ended in [receiver, sender] {
            ended.expect(2, &["a threshold on new keys protects no key", "--epsilon"]);
        }
        let identity = folder.run("identity show --identity us.key");
        let fingerprint = identity.stdout.lines().find_map(|line| line.strip_prefix("fingerprint: "));
        let fingerprint = fingerprint.expect("a fingerprint");
        folder.write(
            "budget.json",
            format!(r#"{{"vesica_budget": 1, "peers": {{"{fingerprint}": {{"total": "1", "spent": "0"}}}}}}"#),
        );
        // Zero noise has a probability of 5 * 10^-7, or less.
        let noisy = format!("{send} --epsilon 0.000001 --budget budget.json");
        let (receiver, sender) = run(&folder, task, "", &noisy);
        receiver.expect(0, &["epsilon 0.000001 for the whole run"]);
        sender.expect(0, &[]);
        assert_ne!(folder.read("result.csv"), format!("union-cardinality\n{}\n", union_size(&ours, &theirs)));
        for exact in ["czz24"] {
            let named = format!("--protocol {exact}-{task}");
            let (receiver, sender) = run(&folder, task, &named, &format!("{noisy} {named}"));
            // Either side may come to it first, and tells the other.
            assert!([[9, 11], [11, 9], [11, 11]].contains(&[receiver.code, sender.code]), "{}", receiver.stderr);
            for ended in [receiver, sender] {
                assert!(ended.stderr.contains("noise where the receiver learns the exact number"), "{}", ended.stderr);
            }
        }
    }
}

#[test]
fn columns_of_unions_must_go_together() {
    let (folder, ..) = tables();
    folder.write("ours.csv", "id,visits,calls\na,1,2\n");
    let send = "--payload amount,points --scale amount=2 --payload-duplicates first";
    for (receive, flag, ours, theirs) in [
        ("--payload visits", "--payload", "visits", "amount, points"),
        ("--payload visits,calls", "--scale", "visits=0, calls=0", "amount=2, points=0"),
    ] {
        let (receiver, sender) = run(&folder, "union-sum", receive, send);
        for ended in [receiver, sender] {
            ended.expect(7, &[flag, ours, theirs]);
        }
    }
    assert!(!folder.files().contains(&"result.csv".into()));
}

#[test]
fn flags_that_unions_of_numbers_do_not_take() {
    let (folder, ..) = tables();
    let receive = "receive --input ours.csv --key id --output result.csv --security semi-honest --listen 127.0.0.1:0 \
                   --wait 0.1 --identity us.key --peer them.pub";
    let send = "send --input theirs.csv --key mail --security semi-honest --connect 127.0.0.1:1 --wait 0.1 --identity \
                them.key --peer us.pub";
    for (command, arguments, text) in [
        (receive, "--task union-cardinality --payload spent", "takes no columns"),
        (receive, "--task union-cardinality --group-by visits", "none of the receiver's groups"),
        (receive, "--task union-sum --group-by visits", "none of the receiver's groups"),
        (receive, "--task union-cardinality --both-learn", "--both-learn is for intersections"),
        (receive, "--task union-sum --join difference", "--join is for intersections"),
        (receive, "--task union-sum --max-item-bytes 9", "--max-item-bytes is for unions"),
        (send, "--task union-sum", "a sum needs a column"),
        (send, "--task union-cardinality --payload points", "takes no columns"),
        (send, "--task union-cardinality --max-groups 2", "--max-groups is for aggregates"),
        (send, "--task union-sum --payload points --max-groups 2", "--max-groups is for aggregates"),
    ] {
        folder.run(&format!("{command} {arguments}")).expect(2, &[text]);
    }
    for task in ["union-cardinality", "union-sum"] {
        let refused = folder
            .run(&receive.replace("semi-honest", "malicious").replace("--output", &format!("--task {task} --output")));
        refused.expect(11, &[task, "malicious", "--security semi-honest"]);
    }
    assert!(!folder.files().contains(&"result.csv".into()));
}
