//! Results by group and sums of products, in buckets, against a plain computation.

use std::collections::{BTreeMap, HashSet};

use super::buckets::run_total;
use super::*;

/// The group of a key among so many; one of several is null.
fn region(key: usize, groups: usize) -> Option<String> {
    match (key % groups, groups) {
        (0, 2..) => None,
        (group, _) => Some(format!("r{group}")),
    }
}

/// The number below `count` at this place of an order without a pattern.
fn scattered(place: usize, count: usize) -> usize {
    place * 7919 % count
}

/// The receiver's rows: a key's number, its quantity and its region.
pub(super) fn ours(count: usize, groups: usize) -> impl Iterator<Item = (usize, i64, Option<String>)> {
    (0..count).map(move |place| scattered(place, count)).map(move |key| (key, key as i64 % 9 - 4, region(key, groups)))
}

/// The amount of the sender's key of this number.
fn amount_of(number: usize) -> i64 {
    number as i64 % 1000 - 300
}

/// Tables of the receiver and the sender with `common` common keys: the receiver's have `quantity`, and `region` with so
/// many values; the sender's have `amount`.
pub(super) fn write_tables(folder: &Folder, sizes: [usize; 2], common: usize, groups: usize) {
    let row = |(key, quantity, region): (usize, i64, Option<String>)| {
        format!("k{key},{quantity},{}\n", region.unwrap_or_default())
    };
    let rows: String = ours(sizes[0], groups).map(row).collect();
    let key = |number: usize| if number < common { format!("k{number}") } else { format!("t{number}") };
    let place = |place| scattered(place, sizes[1]);
    let theirs: String =
        (0..sizes[1]).map(place).map(|number| format!("{},{}\n", key(number), amount_of(number))).collect();
    fs::write(folder.path("ours.csv"), format!("id,quantity,region\n{rows}")).expect("written");
    fs::write(folder.path("theirs.csv"), format!("id,amount\n{theirs}")).expect("written");
}

/// What the result of a task is over the tables of these sizes; by region, or of all. Of fewer than `at_least` keys, it is
/// withheld.
pub(super) fn plain(
    task: &str,
    size: usize,
    common: usize,
    (groups, by_region): (usize, bool),
    at_least: u64,
) -> String {
    let mut results: BTreeMap<Option<String>, (u64, i64)> = BTreeMap::new();
    if !by_region {
        results.insert(None, (0, 0));
    }
    for (key, quantity, region) in ours(size, groups) {
        let (count, result) = results.entry(region.filter(|_| by_region)).or_default();
        if key < common {
            *count += 1;
            *result += match task {
                "cardinality" => 1,
                "sum" => amount_of(key),
                _ => amount_of(key) * quantity,
            };
        }
    }
    let column = match task {
        "cardinality" => task,
        "sum" => "amount",
        _ => "amount_times_quantity",
    };
    let header = if by_region { format!("region,{column}\n") } else { format!("{column}\n") };
    let row = |(region, (count, result)): (Option<String>, (u64, i64))| {
        let result = if count >= at_least { result.to_string() } else { String::new() };
        match by_region {
            true => format!("{},{result}\n", region.unwrap_or_default()),
            false if result.is_empty() => "\"\"\n".to_owned(),
            false => format!("{result}\n"),
        }
    };
    header + &results.into_iter().map(row).collect::<String>()
}

/// The settings of either side for a task on these tables.
pub(super) fn settings(config: &mut Config, by_region: bool, groups: u32) {
    let task = config.task.name();
    config.settings.values = match config.role {
        Role::Sender if task != "cardinality" => columns(&["amount"], &[], &[]),
        Role::Receiver if task == "join-and-compute" => columns(&["quantity"], &[], &[]),
        _ => ValueSpec::default(),
    };
    match config.role {
        Role::Receiver => config.settings.values.group_by = by_region.then(|| "region".into()),
        Role::Sender => config.settings.max_groups = groups,
    }
}

#[track_caller]
fn check(task: &str, sizes: [usize; 2], common: usize, groups: usize, by_region: bool, buckets: u32) {
    check_withheld(task, sizes, common, (groups, by_region), buckets, 0);
}

#[track_caller]
fn check_withheld(
    task: &str,
    sizes: [usize; 2],
    common: usize,
    (groups, by_region): (usize, bool),
    buckets: u32,
    at_least: u64,
) {
    let folder = Folder::new();
    write_tables(&folder, sizes, common, groups);
    let (received, sent) = run_total(&folder, task, buckets, |config| {
        settings(config, by_region, groups as u32);
        config.settings.at_least = at_least;
    });
    let case = format!("{task}, {sizes:?}, {common} common, {groups} groups, {buckets} buckets, from {at_least} on");
    assert_eq!(folder.read("result.csv"), plain(task, sizes[0], common, (groups, by_region), at_least), "{case}");
    assert_eq!([received.reveal_if_at_least, sent.reveal_if_at_least], [at_least; 2]);
    assert_eq!([received.buckets, sent.buckets], [buckets; 2]);
    assert_eq!(received.revealed, sent.revealed, "{case}");
    let own: Vec<usize> = [received.own_items, sent.own_items].map(|items| items as usize).to_vec();
    // A table without rows takes part with a dummy.
    assert_eq!(own, sizes.map(|size| size.max(1)), "{case}");
}

#[test]
fn small_tables_in_buckets_give_the_plain_result_of_each_group() {
    for (sizes, overlaps) in [
        ([0, 5], &[0][..]),
        ([5, 0], &[0]),
        ([1, 1], &[0, 1]),
        ([2, 1], &[0, 1]),
        ([1, 100], &[1]),
        ([90, 120], &[0, 1, 89, 90]),
    ] {
        for &common in overlaps {
            for task in ["cardinality", "sum", "join-and-compute"] {
                for groups in [1, 2, 5] {
                    check(task, sizes, common, groups, true, 2);
                }
            }
            check("join-and-compute", sizes, common, 1, false, 3);
        }
    }
}

#[test]
fn large_tables_in_buckets_give_the_plain_result_of_each_group() {
    let n = 1 << 14;
    check("cardinality", [n, n], n - 1, 40, true, 4);
    check("sum", [n, 1 << 12], 1 << 12, 3, true, 3);
    check("join-and-compute", [n, n], n, 7, true, 4);
    check("join-and-compute", [1 << 10, n], 1, 1, false, 5);
}

/// The threshold is for a group in all buckets together: one less, as many, one more. No bucket has as many.
#[test]
fn thresholds_go_by_all_buckets_together() {
    let groups = 3;
    // Of the keys below 20, every third is in each group, from the first on: 7, 7 and 6.
    for at_least in [6, 7, 8] {
        for task in ["cardinality", "sum", "join-and-compute"] {
            check_withheld(task, [40, 50], 20, (groups, true), 9, at_least);
        }
    }
    for at_least in [19, 20, 21] {
        for task in ["cardinality", "sum", "join-and-compute"] {
            check_withheld(task, [40, 50], 20, (1, false), 9, at_least);
        }
    }
    for (sizes, common) in [([0, 5], 0), ([5, 0], 0), ([2, 1], 1)] {
        check_withheld("sum", sizes, common, (2, true), 2, 2);
    }
    check_withheld("sum", [1 << 14, 1 << 12], 1 << 12, (1000, true), 4, 5);
}

#[test]
fn several_columns_and_padding_go_through_buckets_by_group() {
    let (folder, received, sent) = {
        let folder = Folder::new();
        let change = |config: &mut Config| {
            config.pad_to = Some(40);
            config.settings.values = match config.role {
                Role::Sender => columns(&["amount", "id"], &["amount=2"], &["amount=-50..50"]),
                Role::Receiver => ValueSpec {
                    group_by: Some("region".into()),
                    ..columns(&["quantity"], &["quantity=1"], &["quantity=-9..4"])
                },
            };
            config.settings.max_groups = if config.role == Role::Sender { 3 } else { 1 };
        };
        fs::write(folder.path("ours.csv"), OURS.replace("a,", "1,").replace("b,", "2,").replace("c,", "3,"))
            .expect("written");
        fs::write(folder.path("theirs.csv"), "id,amount\n2,10.25\n3,-0.5\n9,99\n1,1\n").expect("written");
        let (received, sent) = run_total(&folder, "join-and-compute", 3, change);
        (folder, received, sent)
    };
    // 1: (1, 1) * 2; 2: (10.25, 2) * -3; 3: (-0.5, 3) * 4, clamped from 5.
    let expected =
        "region,amount_times_quantity,id_times_quantity\n,-2.000,12.0\nnorth,2.000,2.0\nsouth,-30.750,-6.0\n";
    assert_eq!(folder.read("result.csv"), expected);
    assert_eq!((received.own_items, received.revealed), (40, sent.revealed));
}

/// Noise is in the total of each group once, and taken from the budget once, whatever the number of buckets.
#[test]
fn noise_is_added_to_each_group() {
    let run = |epsilon: &str| {
        let folder = Folder::new();
        write_tables(&folder, [300, 300], 100, 3);
        let (budget, peer) = (folder.path("budget.json"), folder.us.public().fingerprint().to_string());
        let content = serde_json::json!({ "vesica_budget": 1, "peers": { peer: { "total": "900", "spent": "0" } } });
        fs::write(&budget, content.to_string()).expect("written");
        run_total(&folder, "cardinality", 7, |config| {
            settings(config, true, 3);
            if config.role == Role::Sender {
                let epsilon = Epsilon::parse(epsilon).expect("an epsilon");
                config.settings.noise = Some(NoiseConfig { epsilon, budget: budget.clone() });
            }
        });
        assert!(fs::read_to_string(&budget).expect("there").contains(&format!("\"spent\": \"{epsilon}\"")));
        folder.read("result.csv")
    };
    // With scale 1/800, noise other than 0 has probability e^-800.
    let exact = plain("cardinality", 300, 100, (3, true), 0);
    assert_eq!(run("800"), exact);
    let counts = |text: &str| -> Vec<i64> {
        let count = |line: &str| line.rsplit(',').next().expect("a cell").parse().expect("a number");
        text.lines().skip(1).map(count).collect()
    };
    // Discrete Laplace noise of scale 10^6 is 0 with probability 5 10^-7, and beyond 3 10^7 with e^-30.
    for (noisy, exact) in counts(&run("0.000001")).into_iter().zip(counts(&exact)) {
        assert!(noisy != exact && noisy.abs() < 30_000_000, "{noisy}");
    }
}

/// What goes over the wire is by sizes, buckets and the number of groups, whatever keys are in which.
#[test]
fn traffic_does_not_depend_on_who_is_in_a_group() {
    let bytes = |common: usize, swap: &dyn Fn(&str) -> String| {
        let folder = Folder::new();
        write_tables(&folder, [16_000, 20_000], common, 3);
        let text = folder.read("ours.csv");
        fs::write(folder.path("ours.csv"), swap(&text)).expect("written");
        let (received, _) = run_total(&folder, "sum", 3, |config| settings(config, true, 3));
        (received.bytes_sent, received.bytes_received)
    };
    let first = bytes(0, &str::to_owned);
    // All keys but two are in one group.
    let uneven = |text: &str| {
        let mut seen = HashSet::new();
        let line = |line: &str| match line.rsplit_once(',') {
            Some((rest, region)) if line.starts_with('k') && !seen.insert(region.to_owned()) => {
                format!("{rest},r1\n")
            }
            _ => format!("{line}\n"),
        };
        text.lines().map(line).collect()
    };
    for other in [bytes(16_000, &str::to_owned), bytes(13, &uneven)] {
        // Between two runs on one input, too, up to 3,000 bytes differ by chance. A byte for each key would be 16,000.
        assert!(first.0.abs_diff(other.0) < 9000 && first.1.abs_diff(other.1) < 9000, "{first:?} {other:?}");
    }
}

#[test]
fn more_groups_in_buckets_than_the_sender_allows_are_refused() {
    let folder = Folder::new();
    write_tables(&folder, [20, 20], 5, 4);
    let [receiver, sender] = [Role::Receiver, Role::Sender].map(|role| {
        let mut config = Config { buckets: 2, protocol: None, ..folder.config(role, "cardinality") };
        settings(&mut config, true, 3);
        config
    });
    let (received, sent) = both(receiver, sender);
    let (received, sent) = (received.expect_err("refused"), sent.expect_err("refused"));
    assert_eq!((received.code, sent.code), (9, 11));
    assert!(sent.fault.contains("4 groups") && received.mend.contains("--max-groups"), "{received}");
}

/// What a side compares with `--memory`: products of groups are of one bucket at a time.
#[test]
fn groups_take_memory_for_a_bucket() {
    use vesica_protocols::tasks::Extent;

    let task = task::find("sum").expect("a task");
    let whole = Extent::new(1 << 22, 1 << 22, Security::SemiHonest);
    let memory = |buckets, groups| {
        let run = crate::buckets::extent(&whole, buckets).expect("served");
        let workload = task.workload(&run, &task::Amounts { groups, columns: 1, ..task::Amounts::NONE });
        crate::plan::memory("vesica-sum", workload.expect("groups").workload()).expect("measured").receiver
    };
    let of_groups = |buckets| memory(buckets, 50) - memory(buckets, 1);
    assert!(of_groups(1) > 20 * of_groups(64), "{} {}", of_groups(1), of_groups(64));
}
