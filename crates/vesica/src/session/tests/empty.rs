//! Tables without rows: empty in, empty out, with the protocol that both sides choose for such sizes.

use vesica_data::table::{Duplicates, PayloadSpec};

use super::*;

const NO_OURS: &str = "id,quantity,region\n";
const NO_THEIRS: &str = "id,amount\n";

/// What a run of `task` gives where these sides' tables are empty.
fn run_without(task: &str, empty: &[Role], change: impl Fn(&mut Config)) -> (Folder, Report, Report) {
    let folder = Folder::new();
    for (role, name, header) in [(Role::Receiver, "ours.csv", NO_OURS), (Role::Sender, "theirs.csv", NO_THEIRS)] {
        if empty.contains(&role) {
            fs::write(folder.path(name), header).expect("written");
        }
    }
    let [mut receiver, mut sender] = [Role::Receiver, Role::Sender].map(|role| folder.config(role, task));
    for config in [&mut receiver, &mut sender] {
        config.protocol = None;
        change(config);
    }
    let (received, sent) = both(receiver, sender);
    let reports = [received, sent].map(|ended| ended.unwrap_or_else(|failure| panic!("{task} {empty:?}: {failure}")));
    for (report, role) in reports.iter().zip([Role::Receiver, Role::Sender]) {
        let is_warned = report.warnings.iter().any(|warning| warning.contains("the table has no rows"));
        assert_eq!(is_warned, empty.contains(&role), "{task} {role} {:?}", report.warnings);
        let is_of_keys = report.warnings.iter().any(|warning| warning.contains("no key matches"));
        assert!(!is_of_keys || !empty.contains(&role), "an empty table explains itself: {:?}", report.warnings);
    }
    let [received, sent] = reports;
    assert_eq!(received.peer_items, if empty.contains(&Role::Sender) { 1 } else { 4 });
    (folder, received, sent)
}

/// Each way in which tables can be empty.
const SIDES: [&[Role]; 3] = [&[Role::Receiver], &[Role::Sender], &[Role::Receiver, Role::Sender]];

#[test]
fn an_intersection_keeps_nothing_and_a_difference_everything() {
    for empty in SIDES {
        for security in [Security::SemiHonest, Security::Malicious] {
            let (folder, received, _) = run_without("intersect", empty, |config| {
                config.security = security;
                if config.role == Role::Sender {
                    config.settings.payload =
                        Some(PayloadSpec { columns: vec!["amount".into()], duplicates: Duplicates::Refuse });
                }
            });
            assert_eq!(folder.read("result.csv"), "id,quantity,region,amount\n");
            assert_eq!(received.matched_keys, Some(0));
        }
        let (folder, ..) = run_without("intersect", empty, |config| {
            config.settings.both_learn = true;
            let name = if config.role == Role::Receiver { "result.csv" } else { "their result.csv" };
            let path = config.source.table.name().replace("ours.csv", name).replace("theirs.csv", name);
            let sink = SinkFile { path, options: OutputOptions::default() };
            config.destination = Some(Destination { sink: Arc::new(sink), join: Join::Difference });
        });
        let [own, other] = [(Role::Receiver, NO_OURS, OURS), (Role::Sender, NO_THEIRS, THEIRS)]
            .map(|(role, none, all)| if empty.contains(&role) { none } else { all });
        assert_eq!((folder.read("result.csv"), folder.read("their result.csv")), (own.into(), other.into()));
    }
    let (folder, ..) = run_without("intersect", &[Role::Receiver], |config| {
        config.buckets = 4;
        config.max_peer_items = 1 << 20;
    });
    assert_eq!(folder.read("result.csv"), NO_OURS);
}

#[test]
fn a_union_has_the_rows_of_the_other_side() {
    for empty in SIDES {
        let (folder, received, _) = run_without("union", empty, |config| {
            if config.role == Role::Sender {
                config.settings.payload =
                    Some(PayloadSpec { columns: vec!["amount".into()], duplicates: Duplicates::Refuse });
            }
        });
        let rows = folder.read("result.csv");
        let (own, new) = match empty {
            [Role::Receiver] => (0, 4),
            [Role::Sender] => (5, 0),
            _ => (0, 0),
        };
        assert!(rows.starts_with("id,quantity,region,amount\n"), "{rows}");
        assert_eq!(rows.lines().count(), 1 + own + new, "{rows}");
        assert_eq!(received.output.and_then(|output| output.new_rows), Some(new as u64));
    }
}

#[test]
fn counts_and_sums_are_zero_and_no_group_is_made_up() {
    for empty in SIDES {
        let (folder, ..) = run_without("cardinality", empty, |_| {});
        assert_eq!(folder.read("result.csv"), "cardinality\n0\n");
        let (folder, ..) = run_without("sum", empty, |config| {
            amount(config);
            match config.role {
                Role::Receiver => config.settings.values.group_by = Some("region".into()),
                Role::Sender => config.settings.max_groups = 3,
            }
        });
        let groups = if empty.contains(&Role::Receiver) { "" } else { ",0.00\nnorth,0.00\nsouth,0.00\n" };
        assert_eq!(folder.read("result.csv"), format!("region,amount\n{groups}"));
        let (folder, ..) = run_without("join-and-compute", empty, |config| {
            amount(config);
            if config.role == Role::Receiver {
                config.settings.values = columns(&["quantity"], &[], &[]);
            }
        });
        assert_eq!(folder.read("result.csv"), "amount_times_quantity\n0.00\n");
    }
}

#[test]
fn totals_over_a_union_are_those_of_the_other_side() {
    for (empty, keys, total) in
        SIDES.into_iter().zip([4, 4, 0]).zip(["60.75", "11", "0.00"]).map(|((a, b), c)| (a, b, c))
    {
        let (folder, ..) = run_without("union-cardinality", empty, |_| {});
        assert_eq!(folder.read("result.csv"), format!("union-cardinality\n{keys}\n"));
        let (folder, ..) = run_without("union-sum", empty, |config| {
            config.settings.values = match config.role {
                Role::Sender => columns(&["amount"], &["amount=2"], &["amount=-50..50"]),
                Role::Receiver => columns(&["quantity"], &["quantity=2"], &["quantity=-50..50"]),
            };
        });
        let result = folder.read("result.csv");
        assert!(result.contains(total), "{empty:?}: {result}");
    }
}

#[test]
fn shares_are_of_bins_without_a_key() {
    for empty in SIDES {
        let (folder, ..) = run_without("shares", empty, |config| {
            amount(config);
            if config.role == Role::Receiver {
                config.settings.values = columns(&["quantity"], &[], &[]);
            }
        });
        let read = |name| ShareFile::from_bytes(&fs::read(folder.path(name)).expect("there")).expect("shares");
        let bins = reconstruct(&read("theirs.shares"), &read("ours.shares")).expect("one run");
        assert!(bins.iter().all(|bin| !bin.common && bin.values == [0, 0]));
        let rows = bins.iter().filter(|bin| bin.row != NO_ROW).count();
        assert!(rows == 4 || empty.contains(&Role::Receiver) && rows <= 1, "{rows}");
    }
}

#[test]
fn a_table_with_rows_but_no_usable_key_is_a_mistake() {
    let folder = Folder::new();
    fs::write(folder.path("ours.csv"), "id\n\"\"\n").expect("written");
    let (received, sent) =
        both(folder.config(Role::Receiver, "cardinality"), folder.config(Role::Sender, "cardinality"));
    assert_eq!((received.expect_err("no key").code, sent.expect_err("told").code), (3, 9));
}
