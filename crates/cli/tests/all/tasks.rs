//! The tasks that compute on the intersection, between two processes over TLS, with the registry's
//! own protocols.

use std::fs::{self, File};
use std::sync::Arc;

use arrow_array::{ArrayRef, Decimal128Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use serde_json::Value;
use vesica::party::Security;
use vesica::protocols::tasks::Extent;
use vesica::receipt::Receipt;
use vesica::shares::{ShareFile, reconstruct};
use vesica::task::{self, Amounts};

use crate::harness::{Ended, Folder};

const OURS: &str = "id,quantity,region\na,2,north\nb,-3,south\nc,5,\nq,7,north\n,9,west\n";
const THEIRS: &str = "id,amount,points\nb,10.25,1\nc,-0.5,2\nz,99,3\na,1,4\n";

fn tables() -> Folder {
    let folder = Folder::new();
    folder.write("ours.csv", OURS);
    folder.write("theirs.csv", THEIRS);
    folder
}

/// Both sides of `task`, semi-honest, with these arguments besides.
fn run(folder: &Folder, task: &str, receive: &str, send: &str) -> (Ended, Ended) {
    let both = format!("--key id --task {task} --security semi-honest");
    let output = if task == "shares" { "ours.shares" } else { "result.csv" };
    folder.join(
        &format!("--input ours.csv --output {output} {both} {receive}"),
        &format!("--input theirs.csv {both} {send}"),
    )
}

fn json(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).expect("one JSON object")
}

#[test]
fn the_sum_of_a_column_in_fixed_point() {
    let folder = tables();
    let (receiver, sender) = run(
        &folder,
        "sum",
        "--partner-clamp amount=-50..50 --receipt ours.json",
        "--payload amount,points --scale amount=2 --clamp amount=-50..50 --clamp points=0..3",
    );
    sender.expect(
        0,
        &["1 value was outside of the range of column amount", "1 value was outside of the range of column points"],
    );
    receiver.expect(
        0,
        &[
            "revealed to the receiver: the sums of the sender's amount, points over common keys",
            "amount: 10.75\npoints: 6\nwrote result.csv",
        ],
    );
    assert_eq!(folder.read("result.csv"), "amount,points\n10.75,6\n");
    let receipt: Receipt = serde_json::from_str(&folder.read("ours.json")).expect("a receipt");
    assert_eq!((receipt.verify(), receipt.statement.task.as_str()), ((true, true), "sum"));
    assert_eq!(receipt.statement.sender_values[0].to_string(), "amount=-50.00..50.00");
    let shown = folder.run("receipt ours.json");
    shown.expect(0, &[]);
    assert!(shown.stdout.contains("the sums of the sender's amount, points"), "{}", shown.stdout);
}

#[test]
fn a_cardinality_says_nothing_of_single_rows() {
    let folder = tables();
    let (receiver, sender) = run(&folder, "cardinality", "--json --pad-to 9", "--json");
    let (received, sent) = (json(&receiver), json(&sender));
    assert_eq!(folder.read("result.csv"), "cardinality\n3\n");
    assert_eq!((&received["task"], &received["matched_keys"]), (&"cardinality".into(), &Value::Null));
    assert_eq!(received["revealed"], sent["revealed"]);
    assert_eq!((&sent["output"], &sent["peer_items"]), (&Value::Null, &9.into()));
    let both = "--key id --task cardinality --security semi-honest";
    let (receiver, sender) =
        folder.join(&format!("--input ours.csv --output result.json {both}"), &format!("--input theirs.csv {both}"));
    sender.expect(0, &[]);
    receiver.expect(0, &["wrote result.json"]);
    assert_eq!(
        serde_json::from_str::<Value>(&folder.read("result.json")).expect("JSON"),
        serde_json::json!([{ "cardinality": 3 }])
    );
}

/// Both sides hear before the protocol runs that an exact result about few keys may tell of single ones, and which
/// flag prevents that. With that flag, neither side hears it.
#[test]
fn a_result_without_a_threshold_is_warned_of_on_both_sides() {
    let warned = |ended: &Ended| ended.stderr.matches("may tell the receiver about single keys").count();
    for (task, ours, theirs, flag) in [
        ("cardinality", "", "", "--reveal-if-at-least"),
        ("sum", "", "--payload points", "--reveal-if-at-least"),
        ("join-and-compute", "--payload quantity", "--payload points", "--reveal-if-at-least"),
        ("union-cardinality", "", "", "--epsilon"),
    ] {
        let folder = tables();
        let (receiver, sender) = run(&folder, task, &format!("{ours} -v"), &format!("{theirs} -v"));
        for ended in [&receiver, &sender] {
            ended.expect(0, &[flag]);
            assert_eq!(warned(ended), 1, "{task}: {}", ended.stderr);
            let place = |text: &str| ended.stderr.find(text).unwrap_or_else(|| panic!("{text}: {}", ended.stderr));
            assert!(place("about single keys") < place("running "), "before the run: {}", ended.stderr);
        }
    }
    let folder = tables();
    let threshold = "--reveal-if-at-least 2";
    let (receiver, sender) = run(&folder, "cardinality", threshold, threshold);
    for ended in [&receiver, &sender] {
        ended.expect(0, &[]);
        assert_eq!(warned(ended), 0, "{}", ended.stderr);
    }
}

/// Whether some protocol of `task` has groups and thresholds.
fn has_groups(task: &str) -> bool {
    let task = task::find(task).expect("a task");
    let amounts = Amounts { groups: 3, at_least: 2, ..task.least_amounts() };
    let workload = task.workload(&Extent::new(100, 100, Security::SemiHonest), &amounts).expect("groups");
    task.entries().into_iter().any(|entry| workload.predicted_bytes(entry).is_ok())
}

#[test]
fn groups_and_thresholds() {
    let folder = tables();
    if has_groups("cardinality") {
        let (receiver, sender) = run(&folder, "cardinality", "--group-by region", "--max-groups 3");
        sender.expect(0, &["to the sender: that the receiver's keys are in 3 groups"]);
        receiver.expect(0, &[]);
        assert_eq!(folder.read("result.csv"), "region,cardinality\n,1\nnorth,1\nsouth,1\n");
    }
    if has_groups("sum") {
        let (receiver, sender) = run(
            &folder,
            "sum",
            "--group-by region --reveal-if-at-least 2 --force",
            "--max-groups 3 --reveal-if-at-least 2 --payload points",
        );
        sender.expect(0, &[]);
        receiver.expect(0, &["where at least 2 keys are common"]);
        assert_eq!(folder.read("result.csv"), "region,points\n,\nnorth,\nsouth,\n");
    }
    for (task, own, theirs, expected) in [
        ("cardinality", "", "", "region,cardinality\n,1\nnorth,1\nsouth,1\n"),
        (
            "join-and-compute",
            "--payload quantity",
            "--payload points",
            "region,points_times_quantity\n,10\nnorth,8\nsouth,-3\n",
        ),
    ] {
        let (receiver, sender) = run(
            &folder,
            task,
            &format!("--group-by region --buckets 3 --max-peer-items 1000 --force {own}"),
            &format!("--max-groups 3 --buckets 3 --max-peer-items 1000 {theirs}"),
        );
        sender.expect(0, &["to the sender: that the receiver's keys are in 3 groups"]);
        receiver.expect(0, &["--reveal-if-at-least K on both sides"]);
        assert_eq!(folder.read("result.csv"), expected, "in buckets");
    }
    let few = "--reveal-if-at-least 2 --buckets 3 --max-peer-items 1000";
    let of_groups = format!("--group-by region --force {few}");
    let (receiver, sender) = run(&folder, "cardinality", &of_groups, &format!("--max-groups 3 {few}"));
    sender.expect(0, &[]);
    receiver.expect(0, &["where at least 2 keys are common"]);
    assert_eq!(folder.read("result.csv"), "region,cardinality\n,\nnorth,\nsouth,\n", "in buckets");
    let (receiver, sender) = run(&folder, "cardinality", "--group-by region --force", "");
    sender.expect(11, &["3 groups", "--max-groups"]);
    receiver.expect(9, &["3 groups", "--max-groups"]);
    let (receiver, sender) = run(&folder, "cardinality", "--reveal-if-at-least 3 --force", "--reveal-if-at-least 4");
    for ended in [receiver, sender] {
        ended.expect(7, &["--reveal-if-at-least"]);
    }
}

#[test]
fn join_and_compute_on_a_parquet_table() {
    if task::find("join-and-compute").expect("a task").entries().is_empty() {
        return;
    }
    let folder = tables();
    let decimals = Decimal128Array::from(vec![1025, -50, 100]).with_precision_and_scale(12, 2).expect("a type");
    let columns: [(&str, ArrayRef); 2] =
        [("id", Arc::new(StringArray::from(vec!["b", "c", "a"]))), ("amount", Arc::new(decimals))];
    let batch = RecordBatch::try_from_iter(columns).expect("a batch");
    let mut writer =
        ArrowWriter::try_new(File::create(folder.path("theirs.parquet")).expect("a file"), batch.schema(), None)
            .expect("a writer");
    writer.write(&batch).expect("written");
    writer.close().expect("closed");
    let (receiver, sender) = folder.join(
        "--input ours.csv --output result.json --key id --task join-and-compute --security semi-honest --payload \
         quantity --clamp quantity=-9..9",
        "--input theirs.parquet --key id --task join-and-compute --security semi-honest --payload amount --scale \
         amount=2 --clamp amount=-50..50",
    );
    sender.expect(0, &[]);
    receiver.expect(0, &["the sums of the products of the sender's amount with the receiver's quantity"]);
    // 1 * 2 - 10.25 * 3 - 0.5 * 5.
    let result: Value = serde_json::from_str(&folder.read("result.json")).expect("JSON");
    assert_eq!(result[0]["amount_times_quantity"], "-31.25");
}

#[test]
fn shares_of_two_processes_reconstruct() {
    let folder = tables();
    let (receiver, sender) = run(
        &folder,
        "shares",
        "--payload quantity --clamp quantity=0..4",
        "--output theirs.shares --payload amount --scale amount=2",
    );
    sender.expect(0, &["revealed to neither side"]);
    receiver.expect(0, &["revealed to neither side"]);
    let read = |name| ShareFile::from_bytes(&fs::read(folder.path(name)).expect("there")).expect("shares");
    let (theirs, ours) = (read("theirs.shares"), read("ours.shares"));
    let bins = reconstruct(&theirs, &ours).expect("one run");
    let mut common: Vec<_> = bins.iter().filter(|bin| bin.common).map(|bin| (bin.row, bin.values.clone())).collect();
    common.sort();
    assert_eq!(common, [(0, vec![100, 2]), (1, vec![1025, 0]), (2, vec![-50, 4])]);
    assert!(bins.iter().filter(|bin| !bin.common).all(|bin| bin.values == [0, 0]));
    // Either side's share alone is noise: about half of all bits are set.
    for file in [&theirs, &ours] {
        let ones: u32 = file.values.iter().map(|byte| byte.count_ones()).sum();
        let share = f64::from(ones) / (8 * file.values.len()) as f64;
        assert!((0.3..0.7).contains(&share), "{share}");
    }
}

#[test]
fn the_malicious_default_is_refused_and_names_the_flag() {
    let folder = tables();
    for task in ["cardinality", "sum", "join-and-compute", "shares"] {
        let values = if task == "sum" || task == "cardinality" { "" } else { "--payload quantity" };
        let ended = folder.run(&format!(
            "receive --input ours.csv --key id --output result.csv --task {task} {values} --listen 127.0.0.1:0 --wait \
             0.1 --identity us.key --peer them.pub"
        ));
        ended.expect(11, &[task, "malicious"]);
        if !task::find(task).expect("a task").entries().is_empty() {
            ended.expect(11, &["--security semi-honest"]);
        }
    }
    assert!(!folder.files().contains(&"result.csv".into()));
}

#[test]
fn bad_decimals_are_named_by_row_and_column_and_not_shown() {
    let folder = tables();
    folder.write("theirs.csv", "id,amount\na,1\nb,98.765\n");
    let (receiver, sender) = run(&folder, "sum", "", "--payload amount --scale amount=2");
    sender.expect(3, &["row 2 of theirs.csv", "`amount`", "more than the 2 digits", "--scale"]);
    receiver.expect(9, &["its input table cannot be used"]);
    assert!(!sender.stderr.contains("98.765") && !receiver.stderr.contains("amount"), "{}", sender.stderr);
    for bad in
        ["--scale amount=x", "--scale other=2", "--clamp amount=5..1", "--clamp amount=0", "--partner-clamp amount"]
    {
        let ended = folder.run(&format!(
            "send --input theirs.csv --key id --task sum --security semi-honest --payload amount {bad} --connect \
             127.0.0.1:1 --identity them.key --peer us.pub"
        ));
        ended.expect(2, &[bad.split(' ').next().unwrap_or_default()]);
    }
}

#[test]
fn ranges_that_differ_are_named_on_both_sides() {
    let folder = tables();
    let (receiver, sender) = run(&folder, "sum", "--partner-clamp points=0..9", "--payload points --clamp points=0..8");
    for ended in [receiver, sender] {
        ended.expect(7, &["--clamp", "expected points=0..9", "points=0..8"]);
    }
    let (receiver, sender) = run(&folder, "sum", "", "--payload points --clamp points=0..9000000000000000000");
    for ended in [receiver, sender] {
        assert!([9, 11].contains(&ended.code) && ended.stderr.contains("may not fit 64 bits"), "{}", ended.stderr);
    }
    let (receiver, sender) = run(&folder, "sum", "", "--payload points");
    for ended in [receiver, sender] {
        ended.expect(0, &["column `points` has no range"]);
    }
}

#[test]
fn tasks_and_flags_that_do_not_go_together() {
    let folder = tables();
    // The partner, who would be told, does not come.
    let receive = "receive --input ours.csv --key id --output result.csv --security semi-honest --listen 127.0.0.1:0 \
                   --wait 0.1 --identity us.key --peer them.pub";
    for (arguments, text) in [
        ("--task sum --payload quantity", "the sender's columns"),
        ("--task join-and-compute", "one column of the receiver"),
        ("--task shares --group-by region", "--group-by is for aggregates"),
        ("--group-by region", "--group-by is for aggregates"),
        ("--reveal-if-at-least 5", "omit --reveal-if-at-least"),
        ("--partner-clamp amount=0..5", "omit --partner-clamp"),
        ("--payload score --payload-duplicates first", "--payload-duplicates is for the side that gives"),
        ("--task cardinality --payload-duplicates sum", "--payload-duplicates needs columns"),
        ("--task cardinality --both-learn", "--both-learn is for intersections and unions"),
        ("--task cardinality --join difference", "--join is for intersections"),
        ("--task sum --join left", "--join is for intersections"),
    ] {
        folder.run(&format!("{receive} {arguments}")).expect(2, &[text]);
    }
    let send = "send --input theirs.csv --key id --security semi-honest --connect 127.0.0.1:1 --wait 0.1 --identity \
                them.key --peer us.pub";
    for (arguments, text) in [
        ("--max-groups 3", "--max-groups is for aggregates"),
        ("--payload-duplicates first", "--payload-duplicates needs columns"),
        ("--task shares --output theirs.shares --max-groups 3", "--max-groups is for aggregates"),
    ] {
        folder.run(&format!("{send} {arguments}")).expect(2, &[text]);
    }
    let (receiver, sender) = folder.join(
        "--input ours.csv --key id --output result.csv --task cardinality --security semi-honest",
        "--input theirs.csv --key id --task sum --payload points --security semi-honest",
    );
    for ended in [receiver, sender] {
        ended.expect(7, &["--task", "cardinality", "sum"]);
    }
}

/// Once, and without names of groups, which are cells of the table.
#[test]
fn a_total_is_printed_on_the_terminal() {
    let folder = tables();
    let count = |receive: &str, send: &str| {
        let (receiver, sender) = run(&folder, "cardinality", &format!("--force {receive}"), send);
        sender.expect(0, &[]);
        assert!(!sender.stderr.contains("cardinality:"), "{}", sender.stderr);
        receiver.expect(0, &[]);
        receiver
    };
    count("", "").expect(0, &["cardinality: 3\nwrote result.csv"]);
    let few = "--reveal-if-at-least 4";
    count(few, few).expect(0, &["cardinality: withheld (--reveal-if-at-least)\nwrote result.csv"]);
    let groups = count("--group-by region", "--max-groups 4");
    assert!(folder.read("result.csv").contains("north,1"));
    assert!(!groups.stderr.contains("north") && !groups.stderr.contains("cardinality:"), "{}", groups.stderr);
    let report = count("--json", "");
    assert!(json(&report)["output"].get("totals").is_none() && !report.stderr.contains("cardinality:"));
    let streamed = folder.join(
        "--input ours.csv --key id --output - --task cardinality --security semi-honest",
        "--input theirs.csv --key id --task cardinality --security semi-honest",
    );
    assert_eq!(streamed.0.stdout, "cardinality\n3\n");
    assert!(!streamed.0.stderr.contains("cardinality: 3"), "{}", streamed.0.stderr);
}

#[test]
fn noise_is_paid_from_a_budget() {
    let folder = tables();
    let shown = folder.run("identity show --identity us.key");
    let fingerprint = shown.stdout.lines().find_map(|line| line.strip_prefix("fingerprint: ")).expect("a fingerprint");
    folder.write(
        "budget.json",
        format!(r#"{{"vesica_budget": 1, "peers": {{"{fingerprint}": {{"total": "0.15", "spent": "0.05"}}}}}}"#),
    );
    let noisy = "--payload amount --scale amount=2 --clamp amount=-50..50 --epsilon 0.1 --budget budget.json";
    let (receiver, sender) = run(&folder, "sum", "", noisy);
    sender.expect(0, &["epsilon 0.1 for the whole run"]);
    receiver.expect(0, &["epsilon 0.1 for the whole run"]);
    assert!(folder.read("budget.json").contains(r#""spent": "0.15""#));
    // Scale 50,000 in cents: zero noise has a probability of 10^-5.
    assert_ne!(folder.read("result.csv"), "amount\n10.75\n");
    let ended = folder.run(&format!(
        "send --input theirs.csv --key id --task sum --security semi-honest {noisy} --connect 127.0.0.1:1 --wait 0.1 \
         --identity them.key --peer us.pub"
    ));
    ended.expect(11, &["of which 0.15 are spent"]);
}

#[test]
fn a_run_that_names_a_budget_and_adds_no_noise_is_refused() {
    let folder = tables();
    let ended = folder.run(
        "send --input theirs.csv --key id --task sum --security semi-honest --payload amount --scale amount=2 \
         --budget budget.json --connect 127.0.0.1:1 --identity them.key --peer us.pub",
    );
    ended.expect(2, &["--epsilon", "exact results", "omit --budget"]);
}

/// Small sets and a slow link, where protocols that show the count are much faster.
#[test]
fn protocols_that_show_the_count_run_only_if_both_sides_say_so() {
    let folder = tables();
    let plan = "plan --task sum --security semi-honest --sender-items 4 --receiver-items 4 --json";
    for (flag, fastest) in [("", "vesica-sum"), ("--allow-count", "czz24-sum")] {
        assert_eq!(json(&folder.run(&format!("{plan} {flag}")))["choice"], fastest);
    }
    for (ours, theirs, shows) in
        [("--allow-count", "", false), ("", "--allow-count", false), ("--allow-count", "--allow-count", true)]
    {
        let slow = "--link 1mbit,40ms --json --force";
        let send = format!("--payload points --link 1mbit,40ms --json {theirs}");
        let (receiver, sender) = run(&folder, "sum", &format!("{slow} {ours}"), &send);
        for ended in [receiver, sender] {
            ended.expect(0, &[]);
            let report = json(&ended);
            let revealed = report["revealed"].as_array().expect("a list");
            let says = revealed
                .iter()
                .any(|what| what.as_str().is_some_and(|what| what.contains("the number of common items")));
            assert_eq!((says, report["protocol"] != "vesica-sum"), (shows, shows), "{ours:?} and {theirs:?}: {report}");
        }
        assert_eq!(folder.read("result.csv"), "points\n7\n");
    }
    // Who names such a protocol has said enough.
    let (receiver, sender) =
        run(&folder, "sum", "--protocol czz24-sum --force", "--payload points --protocol czz24-sum");
    for ended in [receiver, sender] {
        ended.expect(0, &["the number of common items, exactly"]);
    }
}
