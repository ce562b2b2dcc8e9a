//! Tasks in buckets by the registry's protocols, against a plain computation.

use std::collections::{HashMap, HashSet};

use vesica_protocols::tasks::Extent;

use super::*;
use crate::plan;
use crate::table::{Duplicates, PayloadSpec};

/// The numbers below `count` in an order without a pattern.
fn scattered(count: usize) -> impl Iterator<Item = usize> {
    // 7919 is a prime, and divides none of the counts here.
    (0..count).map(move |number| number * 7919 % count)
}

/// Tables of the receiver and the sender with `common` common keys; the sender's have a column `amount`.
pub(super) fn write_tables(folder: &Folder, [ours, theirs]: [usize; 2], common: usize) {
    let ours: String = scattered(ours).map(|key| format!("k{key},{}\n", key % 9)).collect();
    let key = |number: usize| if number < common { format!("k{number}") } else { format!("t{number}") };
    let theirs: String = scattered(theirs).map(|number| format!("{},{}\n", key(number), number % 1000)).collect();
    fs::write(folder.path("ours.csv"), format!("id,quantity\n{ours}")).expect("written");
    fs::write(folder.path("theirs.csv"), format!("id,amount\n{theirs}")).expect("written");
}

/// The lines of table `name` whose key is in table `other`, behind `header`.
fn plain_join(folder: &Folder, name: &str, other: &str) -> String {
    let key = |line: &str| line.split(',').next().expect("a key").to_owned();
    let other: HashSet<String> = folder.read(other).lines().map(key).collect();
    // Both headers begin with `id`.
    folder.read(name).lines().filter(|line| other.contains(&key(line))).map(|line| format!("{line}\n")).collect()
}

/// Runs both sides on the tables that are there.
pub(super) fn run_both(
    folder: &Folder,
    buckets: u32,
    protocol: &str,
    change: impl Fn(&mut Config),
) -> (Report, Report) {
    let [receiver, sender] = [Role::Receiver, Role::Sender].map(|role| {
        let mut config = folder.config(role, "intersect");
        config.buckets = buckets;
        config.protocol = Some(protocol.into());
        config.max_peer_items = 1 << 20;
        change(&mut config);
        config
    });
    let (received, sent) = both(receiver, sender);
    (received.expect("a result"), sent.expect("sent"))
}

#[track_caller]
fn check(sizes: [usize; 2], common: usize, buckets: u32, protocol: &str) {
    check_against(Security::SemiHonest, sizes, common, buckets, protocol);
}

/// [`check`] with this much security.
#[track_caller]
fn check_against(security: Security, sizes: [usize; 2], common: usize, buckets: u32, protocol: &str) {
    let folder = Folder::new();
    write_tables(&folder, sizes, common);
    let (received, sent) = run_both(&folder, buckets, protocol, |config| config.security = security);
    let case = format!("{security}, {sizes:?}, {common} common, {buckets} buckets, {protocol}");
    assert_eq!(folder.read("result.csv"), plain_join(&folder, "ours.csv", "theirs.csv"), "{case}");
    assert_eq!(received.matched_keys, Some(common as u64), "{case}");
    assert_eq!([received.own_items, received.peer_items].map(|items| items as usize), sizes, "{case}");
    assert_eq!([received.buckets, sent.buckets], [buckets; 2]);
    assert_eq!(received.revealed, sent.revealed);
}

#[test]
fn small_sets_in_any_number_of_buckets_give_the_plain_join() {
    for (sizes, overlaps) in [
        ([1, 1], &[0, 1][..]),
        ([2, 1], &[0, 1]),
        ([2, 2], &[0, 1, 2]),
        ([1, 100], &[0, 1]),
        ([100, 2], &[0, 1, 2]),
        ([120, 120], &[0, 1, 119, 120]),
    ] {
        for &common in overlaps {
            for buckets in [1, 2, 3, 64] {
                check(sizes, common, buckets, "ecdh-hfh99");
            }
        }
    }
    for protocol in ["vole-fast", "vole-lean"] {
        check([70, 300], 33, 3, protocol);
    }
}

#[test]
fn large_sets_in_any_number_of_buckets_give_the_plain_join() {
    let n = 1 << 14;
    for buckets in [1, 2, 3] {
        for common in [0, 1, n - 1, n] {
            check([n, n], common, buckets, "vole-fast");
        }
    }
    check([n, n], n - 1, 64, "vole-fast");
    check([1 << 10, n], 1, 64, "vole-fast");
}

#[test]
fn buckets_against_a_malicious_partner_give_the_plain_join() {
    let check = |sizes, common, buckets, protocol| check_against(Security::Malicious, sizes, common, buckets, protocol);
    for (sizes, overlaps) in
        [([1, 1], &[0, 1][..]), ([2, 1], &[1]), ([1, 100], &[0, 1]), ([120, 120], &[0, 1, 119, 120])]
    {
        for &common in overlaps {
            for buckets in [2, 3] {
                check(sizes, common, buckets, "vole-fast");
            }
        }
    }
    check([120, 120], 70, 64, "vole-fast");
    check([70, 300], 33, 3, "vole-lean");
    let n = 1 << 14;
    for common in [0, 1, n - 1, n] {
        check([n, n], common, 3, "vole-fast");
    }
    check([n, 1 << 10], 1, 5, "vole-lean");
}

/// Without a name, both sides take a row that withstands a malicious partner, in passes.
#[test]
fn the_protocol_that_is_chosen_runs_in_passes() {
    let folder = Folder::new();
    write_tables(&folder, [300, 200], 100);
    let (received, sent) = run_both(&folder, 2, "vole-fast", |config| {
        config.security = Security::Malicious;
        config.protocol = None;
    });
    assert_eq!((received.matched_keys, received.protocol), (Some(100), sent.protocol));
    let in_passes = vesica_protocols::registry::intersect_in_passes();
    assert!(in_passes.iter().any(|row| row.entry().id == received.protocol), "{}", received.protocol);
}

#[test]
fn payloads_padding_and_the_senders_matches_go_through_buckets() {
    for security in [Security::SemiHonest, Security::Malicious] {
        check_payloads(security);
    }
}

fn check_payloads(security: Security) {
    let folder = Folder::new();
    write_tables(&folder, [500, 900], 77);
    let (received, sent) = run_both(&folder, 5, "vole-fast", |config| {
        config.security = security;
        config.settings.both_learn = true;
        config.pad_to = Some(1000);
        if config.role == Role::Sender {
            let columns = vec!["amount".into()];
            config.settings.payload = Some(PayloadSpec { columns, duplicates: Duplicates::Refuse });
            let sink = SinkFile {
                path: folder.path("sent.csv").display().to_string(),
                options: OutputOptions { force: true, format: None },
            };
            config.destination = Some(Destination { sink: Arc::new(sink), join: Join::Inner });
        }
    });
    assert_eq!((received.matched_keys, sent.matched_keys), (Some(77), Some(77)));
    assert_eq!((received.own_items, received.peer_items), (1000, 1000));
    let ours = plain_join(&folder, "ours.csv", "theirs.csv");
    let amount = |line: &str| match line.split_once(',').expect("two cells").0 {
        "id" => "amount".to_owned(),
        key => (key[1..].parse::<usize>().expect("a number") % 1000).to_string(),
    };
    let expected: String = ours.lines().map(|line| format!("{line},{}\n", amount(line))).collect();
    assert_eq!(folder.read("result.csv"), expected);
    assert_eq!(folder.read("sent.csv"), plain_join(&folder, "theirs.csv", "ours.csv"));
}

/// What the result of a task over these tables is, computed in the plain: cells of `quantity` and `amount` of one key.
pub(super) fn plain_total(folder: &Folder, task: &str) -> String {
    let cells = |name: &str| -> HashMap<String, u64> {
        let text = folder.read(name);
        let row =
            |line: &str| line.split_once(',').map(|(key, cell)| (key.to_owned(), cell.parse().expect("a number")));
        text.lines().skip(1).map(|line| row(line).expect("two cells")).collect()
    };
    let (ours, theirs) = (cells("ours.csv"), cells("theirs.csv"));
    let (common, new): (Vec<_>, Vec<_>) = theirs.iter().partition(|(key, _)| ours.contains_key(*key));
    let sum = |rows: &[(&String, &u64)]| rows.iter().map(|(_, amount)| *amount).sum::<u64>();
    match task {
        "cardinality" => format!("cardinality\n{}\n", common.len()),
        "union-cardinality" => format!("union-cardinality\n{}\n", ours.len() + new.len()),
        "sum" => format!("amount\n{}\n", sum(&common)),
        _ => format!("new_amount\n{}\n", sum(&new)),
    }
}

/// Runs `task` in buckets on the tables that are there.
pub(super) fn run_total(folder: &Folder, task: &str, buckets: u32, change: impl Fn(&mut Config)) -> (Report, Report) {
    run_both(folder, buckets, "auto", |config| {
        config.task = task::find(task).expect("a task");
        config.protocol = None;
        if config.role == Role::Sender && task.contains("sum") {
            config.settings.values = columns(&["amount"], &[], &[]);
        }
        change(config);
    })
}

/// Adds to the tables of [`write_tables`]: a row again, and rows without a key.
fn repeat_rows(folder: &Folder) {
    for name in ["ours.csv", "theirs.csv"] {
        let mut text = folder.read(name);
        let again = text.lines().nth(1).expect("a row").to_owned();
        text.push_str(&format!("{again}\n,5\n,6\n"));
        fs::write(folder.path(name), text).expect("written");
    }
}

/// The own rows of a union as they are written, and the new ones sorted: keys of `other` that `own` lacks, with the cell
/// beside them if it is `given`.
fn plain_union(folder: &Folder, own: &str, other: &str, given: bool) -> (Vec<String>, Vec<String>) {
    let (own, other) = (folder.read(own), folder.read(other));
    let mut keys: HashSet<&str> = own.lines().filter_map(|line| line.split(',').next()).chain([""]).collect();
    let rows = other.lines().skip(1).filter_map(|line| line.split_once(','));
    let row = |(key, cell): (&str, &str)| format!("{key},{}", if given { format!(",{cell}") } else { String::new() });
    let mut new: Vec<String> = rows.filter(|(key, _)| keys.insert(key)).map(row).collect();
    new.sort_unstable();
    let own = own.lines().skip(1).map(|line| format!("{line}{}", if given { "," } else { "" })).collect();
    (own, new)
}

/// The own rows of a union's result, and the new ones sorted.
fn written_union(folder: &Folder, name: &str, own: usize) -> (Vec<String>, Vec<String>) {
    let mut rows: Vec<String> = folder.read(name).lines().skip(1).map(str::to_owned).collect();
    let mut new = rows.split_off(own);
    new.sort_unstable();
    (rows, new)
}

/// Runs a union in buckets on the tables that are there, of which the sender gives the column `amount`, and compares
/// each side's result with a plain one.
fn check_union(folder: &Folder, buckets: u32, both_learn: bool, change: impl Fn(&mut Config)) -> (Report, Report) {
    let (received, sent) = run_both(folder, buckets, "auto", |config| {
        config.task = task::find("union").expect("a task");
        (config.protocol, config.settings.both_learn) = (None, both_learn);
        if config.role == Role::Sender {
            let columns = vec!["amount".into()];
            config.settings.payload = Some(PayloadSpec { columns, duplicates: Duplicates::Refuse });
            if both_learn {
                let options = OutputOptions { force: true, format: None };
                let path = folder.path("sent.csv").display().to_string();
                let destination = Destination { sink: Arc::new(SinkFile { path, options }), join: Join::Inner };
                config.destination = Some(destination);
            }
        }
        change(config);
    });
    let mut sides = vec![("result.csv", "ours.csv", "theirs.csv", true, &received)];
    sides.extend(both_learn.then_some(("sent.csv", "theirs.csv", "ours.csv", false, &sent)));
    for (result, own, other, given, report) in sides {
        let plain = plain_union(folder, own, other, given);
        assert_eq!(written_union(folder, result, plain.0.len()), plain, "{result} of {buckets} buckets");
        assert_eq!(report.output.as_ref().expect("a result").new_rows, Some(plain.1.len() as u64));
    }
    assert_eq!(received.revealed, sent.revealed);
    (received, sent)
}

#[test]
fn unions_in_any_number_of_buckets_are_those_of_the_plain_tables() {
    for (sizes, common, buckets) in [([1, 1], 0, 2), ([1, 1], 1, 2), ([1, 100], 1, 3), ([120, 90], 89, 3)] {
        let folder = Folder::new();
        write_tables(&folder, sizes, common);
        repeat_rows(&folder);
        let (received, sent) = check_union(&folder, buckets, false, |_| {});
        assert_eq!([received.buckets, sent.buckets], [buckets; 2]);
        assert_eq!((received.protocol, sent.output.is_none()), ("vesica-union", true));
        let revealed = received.revealed.join("; ");
        assert!(revealed.contains("how many of the sender's items are common or dummies"), "{revealed}");
    }
}

#[test]
fn unions_of_large_sets_with_padding_are_right_in_buckets_at_both_sides() {
    let n = 1 << 12;
    let folder = Folder::new();
    write_tables(&folder, [n, 3 * n], n / 2);
    repeat_rows(&folder);
    for both_learn in [false, true] {
        let (received, _) = check_union(&folder, 3, both_learn, |config| config.pad_to = Some(4 * n as u64));
        assert_eq!([received.own_items, received.peer_items], [4 * n as u64; 2]);
    }
}

pub(super) const TOTALS: [&str; 4] = ["cardinality", "sum", "union-cardinality", "union-sum"];

#[test]
fn totals_of_any_number_of_buckets_are_those_of_the_plain_tables() {
    for task in TOTALS {
        for (sizes, overlaps) in [([1, 1], &[0, 1][..]), ([1, 100], &[1]), ([120, 90], &[0, 89, 90])] {
            for &common in overlaps {
                let folder = Folder::new();
                write_tables(&folder, sizes, common);
                for buckets in [2, 3] {
                    let (received, sent) = run_total(&folder, task, buckets, |config| config.force = true);
                    let case = format!("{task}, {sizes:?}, {common} common, {buckets} buckets");
                    assert_eq!(folder.read("result.csv"), plain_total(&folder, task), "{case}");
                    assert_eq!([received.buckets, sent.buckets], [buckets; 2]);
                    assert_eq!(received.revealed, sent.revealed);
                    fs::remove_file(folder.path("result.csv")).expect("there");
                }
            }
        }
    }
}

#[test]
fn totals_of_large_sets_with_padding_are_right_in_buckets() {
    let n = 1 << 12;
    for task in TOTALS {
        let folder = Folder::new();
        write_tables(&folder, [n, 3 * n], n / 2);
        let (received, _) = run_total(&folder, task, 3, |config| config.pad_to = Some(4 * n as u64));
        assert_eq!(folder.read("result.csv"), plain_total(&folder, task), "{task}");
        assert_eq!([received.own_items, received.peer_items], [4 * n as u64; 2]);
    }
}

/// The noise of the total is taken from the budget once. That it is added once follows from `buckets::masks`.
#[test]
fn noise_is_added_to_the_total() {
    let folder = Folder::new();
    write_tables(&folder, [300, 300], 100);
    let (budget, peer) = (folder.path("budget.json"), folder.us.public().fingerprint().to_string());
    let content = serde_json::json!({ "vesica_budget": 1, "peers": { peer: { "total": "1", "spent": "0" } } });
    fs::write(&budget, content.to_string()).expect("written");
    let (received, _) = run_total(&folder, "cardinality", 7, |config| {
        if config.role == Role::Sender {
            let epsilon = Epsilon::parse("0.000001").expect("an epsilon");
            config.settings.noise = Some(NoiseConfig { epsilon, budget: budget.clone() });
        }
    });
    let result = folder.read("result.csv");
    let count: i64 = result.lines().nth(1).expect("a row").parse().expect("a number");
    // Discrete Laplace noise of scale 10^6 is 0 with probability 5 10^-7, and beyond 3 10^7 with e^-30.
    assert!(count != 100 && count.abs() < 30_000_000, "{count}");
    assert_eq!(received.noise_epsilon.as_deref(), Some("0.000001"));
    assert!(fs::read_to_string(&budget).expect("there").contains("\"spent\": \"0.000001\""));
}

/// What goes over the wire is by the formula of the bound and of the widths for all buckets together, whatever is
/// in them.
#[test]
fn traffic_follows_the_sizes_and_the_number_of_buckets_alone() {
    let bytes = |common: usize, key_length: usize| {
        let folder = Folder::new();
        write_tables(&folder, [2000, 3000], common);
        for name in ["ours.csv", "theirs.csv"] {
            let longer = folder.read(name).replace('k', &"k".repeat(key_length));
            fs::write(folder.path(name), longer).expect("written");
        }
        let (received, sent) = run_both(&folder, 7, "ecdh-hfh99", |_| {});
        let phases = |report: &Report| report.phases.iter().map(|phase| phase.name).collect::<Vec<_>>();
        assert_eq!(phases(&received), phases(&sent));
        for report in [&received, &sent] {
            let [first, .., last] = &phases(report)[..] else { panic!("a phase before and one behind") };
            assert_eq!((*first, *last), ("connect", "write"));
            assert!(phases(report).contains(&"read"));
            let all: f64 = report.phases.iter().map(|phase| phase.seconds).sum();
            assert!((all - report.seconds).abs() < 1e-3 * report.seconds, "{all} of {}", report.seconds);
        }
        received.bytes_sent
    };
    // Two points for each item of all buckets: 32 bytes of it from the receiver.
    let size = crate::buckets::bound(2000, 7, 44);
    let first = bytes(0, 1);
    assert!((7 * size * 32..7 * size * 32 + 4000).contains(&(first as usize)), "{first} {size}");
    for other in [bytes(2000, 1), bytes(13, 5)] {
        assert!(first.abs_diff(other) < 32, "{first} {other}");
    }
}

#[test]
fn sides_that_say_other_numbers_of_buckets_both_name_the_difference() {
    let folder = Folder::new();
    let [receiver, sender] = [(Role::Receiver, 1), (Role::Sender, 64)].map(|(role, buckets)| {
        let protocol = Some("ecdh-hfh99".into());
        Config { buckets, protocol, ..folder.config(role, "intersect") }
    });
    let (received, sent) = both(receiver, sender);
    for failure in [received.expect_err("differs"), sent.expect_err("differs")] {
        assert_eq!(failure.code, 7);
        // Either side names its own value first, and one may hear of it from the other.
        for text in ["--buckets is", "\"1\" on the receiver's", "\"64\" on the sender's"] {
            assert!(failure.fault.contains(text), "{failure}");
        }
    }
}

#[test]
fn what_buckets_do_not_serve_is_refused() {
    let folder = Folder::new();
    for (change, text) in [
        (
            &(|config: &mut Config| config.task = task::find("shares").expect("a task")) as &dyn Fn(&mut Config),
            "--buckets is not for this task",
        ),
        (
            &|config| {
                config.task = task::find("union").expect("a task");
                config.work = Some(".".into());
            },
            "--work is not for this task",
        ),
        (
            &|config| {
                config.task = task::find("union").expect("a task");
                (config.work, config.resume) = (Some(".".into()), true);
            },
            "--resume is not for this task",
        ),
        (
            &|config| {
                config.task = task::find("cardinality").expect("a task");
                config.buckets = 1 << 14;
            },
            "--buckets 16384 is more than 8192",
        ),
        (&|config| config.buckets = 1 << 17, "--buckets 131072"),
    ] {
        let mut config = Config { buckets: 2, protocol: None, ..folder.config(Role::Receiver, "intersect") };
        change(&mut config);
        let refused = super::super::check(&config).expect_err(text);
        assert!(refused.code == 2 && refused.fault.contains(text), "{refused}");
    }
    // A protocol whose bounds are for one run, which against a malicious partner are those that do not run in passes,
    // too: both sides come to it by themselves.
    write_tables(&folder, [5, 5], 1);
    for (security, protocol) in
        [(Security::SemiHonest, "oprf-rfc9497"), (Security::SemiHonest, "prty20"), (Security::Malicious, "prty20")]
    {
        let [receiver, sender] = [Role::Receiver, Role::Sender].map(|role| {
            let protocol = Some(protocol.into());
            Config { buckets: 2, protocol, security, ..folder.config(role, "intersect") }
        });
        let (received, sent) = both(receiver, sender);
        for failure in [received.expect_err("refused"), sent.expect_err("refused")] {
            assert!(failure.fault.contains("2 runs, one for each bucket"), "{failure}");
            assert!(failure.mend.contains("vole-fast") && failure.mend.contains("--buckets"), "{failure}");
        }
    }
}

/// A protocol that shows the count of a bucket does not run in buckets.
#[test]
fn protocols_that_show_counts_refuse_buckets() {
    let folder = Folder::new();
    write_tables(&folder, [5, 5], 1);
    for (task, protocol) in [("cardinality", "cgt12"), ("union", "czz24-union")] {
        let [receiver, sender] = [Role::Receiver, Role::Sender].map(|role| {
            let protocol = Some(protocol.into());
            let config = folder.config(role, task);
            Config { buckets: 2, protocol, allow_count: true, ..config }
        });
        let (received, sent) = both(receiver, sender);
        for failure in [received.expect_err("refused"), sent.expect_err("refused")] {
            assert!(
                failure.fault.contains("2 buckets by a protocol") && failure.mend.contains("--buckets"),
                "{failure}"
            );
        }
    }
}

/// Rows without a malicious mode are refused by either side alone.
#[test]
fn protocols_for_honest_partners_stay_so_in_buckets() {
    let folder = Folder::new();
    for protocol in ["ecdh-hfh99", "cmdg21"] {
        let config = Config {
            buckets: 2,
            protocol: Some(protocol.into()),
            security: Security::Malicious,
            ..folder.config(Role::Receiver, "intersect")
        };
        let refused = super::super::check(&config).expect_err(protocol);
        assert!(refused.fault.contains("malicious"), "{refused}");
    }
}

/// A receiver that fills its buckets with guesses asks about as many keys as these have room for.
#[test]
fn the_limit_on_the_partners_items_counts_dummies() {
    let folder = Folder::new();
    write_tables(&folder, [50, 50], 20);
    let run = |most: u64| {
        let [receiver, mut sender] = [Role::Receiver, Role::Sender].map(|role| {
            let protocol = Some("vole-fast".into());
            Config { buckets: 8, protocol, max_peer_items: 1 << 20, ..folder.config(role, "intersect") }
        });
        sender.max_peer_items = most;
        both(receiver, sender)
    };
    let slots = 8 * crate::buckets::bound(50, 8, 44) as u64;
    assert!(slots > 100, "{slots}");
    let (received, sent) = run(slots - 1);
    let (refused, told) = (sent.expect_err("refused"), received.expect_err("told"));
    assert_eq!((refused.code, told.code), (11, 9));
    assert!(refused.fault.contains(&format!("in 8 buckets the receiver has {slots} items")), "{refused}");
    assert!(told.fault.contains("dummies included") && told.mend.contains("--buckets"), "{told}");
    let (received, _) = run(slots);
    assert_eq!(received.expect("a result").matched_keys, Some(20));
}

/// What a side compares with `--memory`: a protocol's part is that of a bucket. For the items of all buckets come 24
/// bytes each, and 16 more in the malicious mode.
#[test]
fn a_protocol_is_expected_to_take_memory_for_a_bucket() {
    let task = task::find("intersect").expect("a task");
    let n = 1 << 22;
    for (security, each) in [(Security::SemiHonest, 24), (Security::Malicious, 40)] {
        let whole = Extent::new(n, n, security);
        let memory = |buckets| {
            let run = crate::buckets::extent(&whole, buckets).expect("served");
            let workload = task.workload(&run, &task.least_amounts()).expect("the least");
            plan::memory("vole-fast", workload.workload()).expect("measured").receiver - plan::PROCESS_MEMORY
        };
        let divided = each * n as u64;
        let [one, many] = [memory(1), memory(64)];
        assert!(one > 200 * n as u64 && many > divided, "{one} {many}");
        assert!(many - divided < one / 32, "{one} {many}");
    }
}
