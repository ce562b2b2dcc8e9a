//! Tables that are kept in a work folder, beside the same runs in memory.

use super::buckets::{TOTALS, plain_total, run_both, run_total, write_tables};
use super::*;
use crate::failure::code;
use crate::table::{Duplicates, PayloadSpec};

/// Appends rows that repeat keys, in another order, and some without a key.
fn repeat_rows(folder: &Folder) {
    for name in ["ours.csv", "theirs.csv"] {
        let text = folder.read(name);
        let rows: Vec<&str> = text.lines().skip(1).collect();
        let repeated = rows.iter().rev().step_by(3).map(|row| format!("{row}\n")).collect::<String>();
        let few = rows.iter().step_by(50).map(|row| format!("{row}\n,5\n")).collect::<String>();
        fs::write(folder.path(name), format!("{text}{repeated}{few}")).expect("written");
    }
}

/// What is asked for, beside the security.
#[derive(Clone, Copy, Debug)]
enum Wanted {
    Rows,
    OtherRows,
    Payload,
    /// The sender's columns beside all rows.
    AllRows,
    /// The sender learns its rows too, and both sides pad.
    BothLearn,
}

impl Wanted {
    fn set(self, folder: &Folder, config: &mut Config) {
        let receiver = config.role == Role::Receiver;
        let join = |config: &mut Config, join| {
            if let Some(to) = &mut config.destination {
                to.join = join;
            }
        };
        let payload = |config: &mut Config| {
            if !receiver {
                let columns = vec!["amount".into(), "id".into()];
                config.settings.payload = Some(PayloadSpec { columns, duplicates: Duplicates::Refuse });
            }
        };
        match self {
            Self::Rows => {}
            Self::OtherRows => join(config, Join::Difference),
            Self::Payload => payload(config),
            Self::AllRows => {
                payload(config);
                join(config, Join::Left);
            }
            Self::BothLearn => {
                payload(config);
                (config.settings.both_learn, config.pad_to) = (true, Some(2000));
                if !receiver {
                    let sink = SinkFile {
                        path: folder.path("sent.csv").display().to_string(),
                        options: OutputOptions { force: true, format: None },
                    };
                    config.destination = Some(Destination { sink: Arc::new(sink), join: Join::Inner });
                }
            }
        }
    }
}

/// The results of both sides, where these sides have a work folder; and the numbers of their reports.
fn run_with(
    folder: &Folder,
    security: Security,
    wanted: Wanted,
    in_folder: &[Role],
) -> (Vec<Option<String>>, [u64; 4]) {
    let work = folder.path("work");
    fs::create_dir_all(&work).expect("made");
    let (received, sent) = run_both(folder, 7, "vole-fast", |config| {
        config.security = security;
        wanted.set(folder, config);
        config.work = in_folder.contains(&config.role).then(|| work.clone());
    });
    assert_eq!(received.revealed, sent.revealed);
    assert_eq!(fs::read_dir(&work).expect("there").count(), 0, "a file has a name in the work folder");
    let results = ["result.csv", "sent.csv"].map(|name| fs::read_to_string(folder.path(name)).ok());
    let matched = [received.matched_keys, sent.matched_keys].map(|matched| matched.unwrap_or_default());
    (results.into(), [matched[0], matched[1], received.own_items, received.input.duplicate_rows])
}

#[test]
fn results_are_those_of_memory_whoever_has_a_work_folder() {
    let folder = Folder::new();
    write_tables(&folder, [700, 1100], 430);
    repeat_rows(&folder);
    for security in [Security::SemiHonest, Security::Malicious] {
        for wanted in [Wanted::Rows, Wanted::OtherRows, Wanted::Payload, Wanted::AllRows, Wanted::BothLearn] {
            let expected = run_with(&folder, security, wanted, &[]);
            for in_folder in [&[Role::Receiver][..], &[Role::Sender], &[Role::Sender, Role::Receiver]] {
                let found = run_with(&folder, security, wanted, in_folder);
                assert_eq!(found, expected, "{security}, {wanted:?}, {in_folder:?}");
            }
        }
    }
}

#[test]
fn small_tables_and_empty_ones_go_through_a_work_folder() {
    for (sizes, common) in [([0, 0], 0), ([1, 0], 0), ([1, 1], 1), ([2, 1], 1), ([1, 300], 0)] {
        let folder = Folder::new();
        write_tables(&folder, sizes, common);
        let expected = run_with(&folder, Security::Malicious, Wanted::Payload, &[]);
        let found = run_with(&folder, Security::Malicious, Wanted::Payload, &[Role::Sender, Role::Receiver]);
        assert_eq!(found, expected, "{sizes:?}, {common} common");
    }
}

#[test]
fn totals_come_from_a_work_folder_with_and_without_columns_to_compute_with() {
    for task in TOTALS {
        let folder = Folder::new();
        write_tables(&folder, [900, 600], 217);
        for in_folder in [&[Role::Receiver][..], &[Role::Sender], &[Role::Sender, Role::Receiver]] {
            run_total(&folder, task, 3, |config| {
                config.work = in_folder.contains(&config.role).then(|| folder.path("."));
                config.pad_to = Some(1000);
            });
            assert_eq!(folder.read("result.csv"), plain_total(&folder, task), "{task}, {in_folder:?}");
        }
    }
}

#[test]
fn what_does_not_go_through_a_work_folder_is_refused() {
    let folder = Folder::new();
    for (change, text) in [
        (
            &(|config: &mut Config| config.task = task::find("union").expect("a task")) as &dyn Fn(&mut Config),
            "--work is not for this task",
        ),
        (&|config| config.buckets = 1, "--work without --buckets"),
        (
            &|config| {
                config.task = task::find("sum").expect("a task");
                config.role = Role::Receiver;
                config.settings.values.group_by = Some("city".into());
            },
            "--work does not keep groups",
        ),
        (
            &|config| {
                let or_key = [vec!["phone".to_owned()]];
                config.source.key =
                    KeySpec::parse_alternatives(&["id".to_owned()], &or_key, &Vec::<String>::new()).expect("a key");
            },
            "--work does not go with --or-key",
        ),
    ] {
        let work = Some(folder.path("."));
        let mut config = Config { buckets: 2, work, protocol: None, ..folder.config(Role::Sender, "intersect") };
        config.destination = None;
        change(&mut config);
        if config.task.name() == "union" {
            config.buckets = 1;
        }
        let refused = super::super::check(&config).expect_err(text);
        assert!(refused.code == 2 && refused.fault.contains(text), "{refused}");
    }
}

/// The partner hears that there is a fault, and not where.
#[test]
fn a_work_folder_that_is_not_there_ends_both_sides() {
    for missing in [Role::Receiver, Role::Sender] {
        let folder = Folder::new();
        write_tables(&folder, [50, 50], 20);
        let [receiver, sender] = [Role::Receiver, Role::Sender].map(|role| {
            let work = (role == missing).then(|| folder.path("nowhere"));
            let protocol = Some("vole-fast".into());
            Config { buckets: 2, work, protocol, ..folder.config(role, "intersect") }
        });
        let (received, sent) = both(receiver, sender);
        let (own, other) = match missing {
            Role::Receiver => (received.expect_err("no folder"), sent.expect_err("told")),
            Role::Sender => (sent.expect_err("no folder"), received.expect_err("told")),
        };
        assert!(own.code == code::OUTPUT && own.fault.contains("nowhere"), "{own}");
        assert!(other.fault.contains("it cannot use its work folder") && !other.fault.contains("nowhere"), "{other}");
        assert!(!folder.path("result.csv").exists());
    }
}
