//! Whole sessions of the tasks that compute, over loopback TLS and an INSECURE protocol: what is
//! agreed, what is written, what is told.

use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use vesica_party::transport::tls::Identity;
use vesica_party::{Role, Security};

use super::{Config, Destination, End, Events, Interrupt, OwnTable, Protection, Silent, run};
use crate::failure::Failure;
use crate::insecure::SEEN;
use crate::key::KeySpec;
use crate::noise::{Epsilon, NoiseConfig};
use crate::receipt::to_hex;
use crate::report::Report;
use crate::shares::{NO_ROW, ShareFile, reconstruct};
use crate::table::{
    ExpectedRange, InputOptions, Join, OutputOptions, SinkFile, SourceFile, ValueDuplicates, ValueSpec,
};
use crate::task::{self, Settings};

mod buckets;
mod closing;
mod empty;
mod groups;
mod in_memory;
mod lengths;
mod new_rows;
mod on_cluster;
mod paying;
mod policies;
mod post_quantum;
mod work_folder;

const OURS: &str = "id,quantity,region\na,2,north\nb,-3,south\nc,5,\nq,7,north\n,9,west\n";
const THEIRS: &str = "id,amount\nb,10.25\nc,-0.5\nz,99\na,1\n";

struct Folder {
    folder: tempfile::TempDir,
    us: Identity,
    them: Identity,
}

impl Folder {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let identity = || Identity::generate().expect("randomness");
        let made = Self { folder, us: identity(), them: identity() };
        fs::write(made.path("ours.csv"), OURS).expect("written");
        fs::write(made.path("theirs.csv"), THEIRS).expect("written");
        made
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("readable")
    }

    fn config(&self, role: Role, task: &str) -> Config {
        let (input, ours, theirs) = match role {
            Role::Sender => ("theirs.csv", &self.them, &self.us),
            Role::Receiver => ("ours.csv", &self.us, &self.them),
        };
        let output = match role {
            Role::Receiver => Some(if task == "shares" { "ours.shares" } else { "result.csv" }),
            Role::Sender => (task == "shares").then_some("theirs.shares"),
        };
        Config {
            task: task::find(task).expect("a task"),
            settings: Settings::default(),
            role,
            end: End::Listen("127.0.0.1:0".into()),
            proxy: None,
            protection: Protection::Tls { identity: ours.clone(), peer: theirs.public().into() },
            wait: Duration::from_secs(20),
            deadline: None,
            source: OwnTable {
                table: Arc::new(SourceFile {
                    path: self.path(input).display().to_string(),
                    options: InputOptions::default(),
                }),
                key: KeySpec::parse(&["id"], &[]).expect("a key"),
            },
            destination: output.map(|name| Destination {
                sink: Arc::new(SinkFile {
                    path: self.path(name).display().to_string(),
                    options: OutputOptions { force: true, format: None },
                }),
                join: Join::Inner,
            }),
            protocol: Some("insecure-plain".into()),
            link: None,
            security: Security::SemiHonest,
            post_quantum: false,
            allow_broken: false,
            allow_count: false,
            buckets: 1,
            may_divide: true,
            work: None,
            resume: false,
            pad_to: None,
            max_peer_items: 1000,
            machine: crate::plan::Machine::REFERENCE,
            memory: None,
            policy: None,
            log: None,
            receipt: None,
            force: false,
        }
    }
}

struct Address(mpsc::Sender<SocketAddr>);

impl Events for Address {
    fn listening(&self, address: SocketAddr) {
        self.0.send(address).expect("heard");
    }
}

// `Events` is heard from one thread here.
struct Listening(std::sync::Mutex<Address>);

impl Events for Listening {
    fn listening(&self, address: SocketAddr) {
        self.0.lock().expect("one thread").listening(address);
    }
}

/// The receiver's outcome and the sender's.
fn both(receiver: Config, mut sender: Config) -> (Result<Report, Failure>, Result<Report, Failure>) {
    let (say, address) = mpsc::channel();
    let events = Listening(std::sync::Mutex::new(Address(say)));
    std::thread::scope(|scope| {
        let received = scope.spawn(move || run(&receiver, &Interrupt::default(), &events));
        // A receiver that refuses its own configuration never listens.
        let sent = match address.recv() {
            Ok(address) => {
                sender.end = End::Connect(address.to_string());
                run(&sender, &Interrupt::default(), &Silent)
            }
            Err(_) => Err(Failure::new(0, "nobody listens", "")),
        };
        (received.join().expect("no panic"), sent)
    })
}

fn columns(names: &[&str], scales: &[&str], clamps: &[&str]) -> ValueSpec {
    let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
    ValueSpec::parse(&owned(names), &owned(scales), &owned(clamps)).expect("columns")
}

/// A run of `task` with these changes, and the receiver's result.
fn result(task: &str, change: impl Fn(&mut Config)) -> (Folder, Report, Report) {
    let folder = Folder::new();
    let (mut receiver, mut sender) = (folder.config(Role::Receiver, task), folder.config(Role::Sender, task));
    change(&mut receiver);
    change(&mut sender);
    let (received, sent) = both(receiver, sender);
    (folder, received.expect("a result"), sent.expect("a result"))
}

fn amount(config: &mut Config) {
    if config.role == Role::Sender {
        config.settings.values = columns(&["amount"], &["amount=2"], &["amount=-50..50"]);
    }
}

#[test]
fn a_cardinality_in_all_and_by_group() {
    let (folder, received, sent) = result("cardinality", |config| config.pad_to = Some(20));
    assert_eq!(folder.read("result.csv"), "cardinality\n3\n");
    assert_eq!((received.matched_keys, sent.output.is_none()), (None, true), "which keys match stays hidden");
    assert_eq!(received.revealed, sent.revealed);
    assert!(received.revealed[0].contains("how many keys are common"), "{:?}", received.revealed);
    let grouped = |config: &mut Config| {
        config.settings.at_least = 1;
        match config.role {
            Role::Receiver => config.settings.values.group_by = Some("region".into()),
            Role::Sender => config.settings.max_groups = 3,
        }
    };
    let (folder, received, _) = result("cardinality", grouped);
    assert_eq!(folder.read("result.csv"), "region,cardinality\n,1\nnorth,1\nsouth,1\n");
    assert_eq!(received.groups, Some(3), "a row without a key makes no group");
}

/// What the protocol compares is the session's own, though the tables, and so their digests, are
/// the same.
#[test]
fn the_items_of_one_table_differ_from_session_to_session() {
    let items = || {
        let (folder, received, _) = result("cardinality", |_| {});
        assert_eq!(folder.read("result.csv"), "cardinality\n3\n");
        let seen = SEEN.lock().expect("no panic under it");
        seen.iter().find(|(session, _)| to_hex(session) == received.session).expect("this session").1.clone()
    };
    let (one, other) = (items(), items());
    assert_eq!((one.len(), other.len()), (4, 4));
    assert!(one.iter().all(|item| !other.contains(item)));
}

#[test]
fn sums_are_exact_decimals_and_clamped() {
    let (folder, received, sent) = result("sum", amount);
    assert_eq!(folder.read("result.csv"), "amount\n10.75\n");
    for report in [&received, &sent] {
        let [warning] = &report.warnings[..] else { panic!("one warning: {:?}", report.warnings) };
        assert!(warning.contains("--reveal-if-at-least"), "the range prevents wrapping: {warning}");
    }
    assert_eq!(
        (sent.values[0].clamped, received.values[0].clamped),
        (Some(1), None),
        "99 was clamped, and only its side knows"
    );
    let (folder, received, sent) = result("sum", |config| {
        if config.role == Role::Sender {
            config.settings.values = columns(&["amount"], &["amount=2"], &[]);
        }
    });
    assert_eq!(folder.read("result.csv"), "amount\n10.75\n");
    for report in [received, sent] {
        assert!(report.warnings.iter().any(|warning| warning.contains("wraps around")), "{:?}", report.warnings);
    }
}

#[test]
fn join_and_compute_multiplies_both_sides() {
    let (folder, received, sent) = result("join-and-compute", |config| {
        config.pad_to = Some(9);
        amount(config);
        if config.role == Role::Receiver {
            config.settings.values = ValueSpec {
                group_by: Some("region".into()),
                ..columns(&["quantity"], &["quantity=1"], &["quantity=-9..4"])
            };
        } else {
            config.settings.max_groups = 5;
        }
    });
    // a: 1 * 2, b: 10.25 * -3, c: -0.5 * 4 (clamped from 5).
    assert_eq!(folder.read("result.csv"), "region,amount_times_quantity\n,-2.000\nnorth,2.000\nsouth,-30.750\n");
    assert_eq!(received.values[1].clamped, Some(2), "5 and 7");
    assert_eq!(sent.values[1].clamped, None);
}

#[test]
fn small_groups_are_kept_back() {
    let (folder, ..) = result("sum", |config| {
        amount(config);
        config.settings.at_least = 2;
        match config.role {
            Role::Receiver => config.settings.values.group_by = Some("region".into()),
            Role::Sender => config.settings.max_groups = 3,
        }
    });
    assert_eq!(folder.read("result.csv"), "region,amount\n,\nnorth,\nsouth,\n");
}

#[test]
fn shares_reconstruct_to_the_intersection_and_its_values() {
    let (folder, received, sent) = result("shares", |config| {
        config.pad_to = Some(6);
        amount(config);
        if config.role == Role::Receiver {
            config.settings.values = columns(&["quantity"], &[], &[]);
        }
    });
    assert_eq!(received.output.expect("a file").rows, sent.output.expect("a file").rows);
    let read = |name| ShareFile::from_bytes(&fs::read(folder.path(name)).expect("there")).expect("shares");
    let bins = reconstruct(&read("theirs.shares"), &read("ours.shares")).expect("one run");
    let mut common: Vec<_> = bins.iter().filter(|bin| bin.common).map(|bin| (bin.row, bin.values.clone())).collect();
    common.sort();
    assert_eq!(common, [(0, vec![100, 2]), (1, vec![1025, -3]), (2, vec![-50, 5])]);
    let mut others: Vec<_> = bins.iter().filter(|bin| !bin.common).map(|bin| bin.row).collect();
    others.sort_unstable();
    assert_eq!((others[0], others[1]), (3, NO_ROW));
    assert!(bins.iter().filter(|bin| !bin.common).all(|bin| bin.values == [0, 0]));
}

/// Both sides' failures of a run of `task` with these changes.
fn failures(task: &str, change: impl Fn(&mut Config)) -> (Failure, Failure) {
    let folder = Folder::new();
    let (mut receiver, mut sender) = (folder.config(Role::Receiver, task), folder.config(Role::Sender, task));
    change(&mut receiver);
    change(&mut sender);
    let (received, sent) = both(receiver, sender);
    assert!(!folder.path("result.csv").exists());
    (received.expect_err("refused"), sent.expect_err("refused"))
}

#[test]
fn ranges_that_a_side_insists_on_are_named_on_both_sides() {
    let (received, sent) = failures("sum", |config| {
        amount(config);
        if config.role == Role::Receiver {
            config.settings.expected_ranges = vec![ExpectedRange::parse("amount=0..50").expect("a range")];
        }
    });
    for failure in [received, sent] {
        assert_eq!(failure.code, 7);
        assert!(
            failure.fault.contains("expected amount=0..50") && failure.fault.contains("amount=-50.00..50.00"),
            "{failure}"
        );
    }
}

#[test]
fn more_groups_than_the_sender_allows_are_refused() {
    let (received, sent) = failures("cardinality", |config| {
        if config.role == Role::Receiver {
            config.settings.values.group_by = Some("region".into());
        }
    });
    assert_eq!((received.code, sent.code), (9, 11));
    assert!(sent.fault.contains("3 groups") && received.mend.contains("--max-groups"), "{received}");
}

#[test]
fn ranges_that_promise_too_much_are_refused_on_both_sides() {
    let (received, sent) = failures("sum", |config| {
        if config.role == Role::Sender {
            config.settings.values = columns(&["amount"], &["amount=2"], &["amount=0..92233720368547758.07"]);
        }
    });
    for failure in [received, sent] {
        assert!([9, 11].contains(&failure.code) && failure.fault.contains("not fit 64 bits"), "{failure}");
    }
}

#[test]
fn a_value_that_is_no_exact_number_is_named_by_row_and_column() {
    for (row, what) in
        [("y,12.345", "more than the 2 digits"), ("y,", "is missing"), ("y,secret", "not a decimal number")]
    {
        let folder = Folder::new();
        fs::write(folder.path("theirs.csv"), format!("id,amount\na,1\n,bad\n{row}\n")).expect("written");
        let mut sender = folder.config(Role::Sender, "sum");
        amount(&mut sender);
        let (received, sent) = both(folder.config(Role::Receiver, "sum"), sender);
        let sent = sent.expect_err(row);
        assert_eq!(sent.code, 3);
        assert!(
            sent.fault.contains("row 3 of") && sent.fault.contains("`amount`") && sent.fault.contains(what),
            "{sent}"
        );
        assert!(!sent.to_string().contains("12.345") && !sent.to_string().contains("secret"), "{sent}");
        let received = received.expect_err(row);
        assert!(!received.to_string().contains("amount"), "{received}");
    }
}

#[test]
fn rows_of_one_key_are_refused_or_the_first_counts_or_they_are_added_up() {
    for (duplicates, expected) in [
        (ValueDuplicates::Refuse, None),
        (ValueDuplicates::First, Some("amount\n1.00\n")),
        (ValueDuplicates::Sum, Some("amount\n3.50\n")),
    ] {
        let folder = Folder::new();
        fs::write(folder.path("theirs.csv"), "id,amount\na,1\nz,4\na,2.5\n").expect("written");
        let mut sender = folder.config(Role::Sender, "sum");
        amount(&mut sender);
        sender.settings.values.duplicates = duplicates;
        let (received, sent) = both(folder.config(Role::Receiver, "sum"), sender);
        match expected {
            Some(expected) => {
                sent.expect("sent");
                received.expect("a result");
                assert_eq!(folder.read("result.csv"), expected);
            }
            None => assert!(sent.expect_err("refused").mend.contains("--payload-duplicates")),
        }
    }
}

#[test]
fn rows_of_one_key_that_leave_64_bits_together_are_refused() {
    let folder = Folder::new();
    fs::write(folder.path("theirs.csv"), "id,amount\na,90000000000000000\nb,1\na,90000000000000000\n")
        .expect("written");
    let mut sender = folder.config(Role::Sender, "sum");
    amount(&mut sender);
    sender.settings.values.duplicates = ValueDuplicates::Sum;
    let (_, sent) = both(folder.config(Role::Receiver, "sum"), sender);
    let sent = sent.expect_err("refused");
    assert!(sent.code == 3 && sent.fault.contains("row 3 of"), "{sent}");
}

#[test]
fn a_key_in_two_groups_is_refused() {
    let folder = Folder::new();
    fs::write(folder.path("ours.csv"), "id,region\na,north\nb,north\na,south\n").expect("written");
    let mut receiver = folder.config(Role::Receiver, "cardinality");
    receiver.settings.values.group_by = Some("region".into());
    let mut sender = folder.config(Role::Sender, "cardinality");
    sender.settings.max_groups = 2;
    let (received, _) = both(receiver, sender);
    let received = received.expect_err("refused");
    assert!(received.fault.contains("several different values or groups (the second one is row 3)"), "{received}");
}

#[test]
fn noise_is_added_debited_and_stated() {
    let folder = Folder::new();
    let budget = folder.path("budget.json");
    let peer = folder.us.public().fingerprint().to_string();
    let content = serde_json::json!({ "vesica_budget": 1, "peers": { peer: { "total": "0.5", "spent": "0" } } });
    fs::write(&budget, content.to_string()).expect("written");
    let noisy = |epsilon: &str| {
        let mut sender = folder.config(Role::Sender, "sum");
        amount(&mut sender);
        sender.settings.noise =
            Some(NoiseConfig { epsilon: Epsilon::parse(epsilon).expect("an epsilon"), budget: budget.clone() });
        both(folder.config(Role::Receiver, "sum"), sender)
    };
    // A noise of scale 50,000 hits zero with a probability of 10^-5.
    let (received, sent) = noisy("0.1");
    let (received, _) = (received.expect("a result"), sent.expect("sent"));
    assert_ne!(folder.read("result.csv"), "amount\n10.75\n");
    assert_eq!(received.noise_epsilon.as_deref(), Some("0.1"));
    assert!(received.revealed.iter().any(|sentence| sentence.contains("epsilon 0.1")), "{:?}", received.revealed);
    assert!(fs::read_to_string(&budget).expect("there").contains("\"spent\": \"0.1\""));
    let (received, sent) = noisy("0.5");
    assert!(sent.expect_err("exhausted").fault.contains("of which 0.1 are spent"));
    assert!(received.expect_err("told").fault.contains("its privacy budget does not cover this run"));
}

/// What a side is told about its own command line, before anything is opened.
#[test]
fn what_a_task_does_not_take_is_refused_at_once() {
    let folder = Folder::new();
    let refused = |role, task, change: &dyn Fn(&mut Config)| {
        let mut config = folder.config(role, task);
        // The partner, who would be told, does not come.
        config.wait = Duration::ZERO;
        change(&mut config);
        let failure = run(&config, &Interrupt::default(), &Silent).expect_err("refused");
        assert_eq!(failure.code, 2, "{failure}");
        failure.fault
    };
    let group = |config: &mut Config| config.settings.values.group_by = Some("region".into());
    let value = |config: &mut Config| config.settings.values = columns(&["quantity"], &[], &[]);
    assert!(refused(Role::Sender, "sum", &|_| ()).contains("needs a column"));
    assert!(refused(Role::Receiver, "sum", &value).contains("the sender's columns"));
    assert!(refused(Role::Receiver, "join-and-compute", &|_| ()).contains("one column of the receiver"));
    assert!(refused(Role::Sender, "cardinality", &value).contains("takes no columns"));
    assert!(refused(Role::Sender, "cardinality", &group).contains("--group-by"));
    assert!(refused(Role::Receiver, "shares", &group).contains("--group-by"));
    assert!(refused(Role::Sender, "shares", &|config| config.destination = None).contains("file of shares"));
    assert!(refused(Role::Receiver, "shares", &|config| config.settings.both_learn = true).contains("--both-learn"));
    assert!(
        refused(Role::Receiver, "intersect", &|config| config.settings.at_least = 2).contains("--reveal-if-at-least")
    );
    let noise = NoiseConfig { epsilon: Epsilon::parse("1").expect("an epsilon"), budget: folder.path("none.json") };
    let noisy = |config: &mut Config| config.settings.noise = Some(noise.clone());
    assert!(refused(Role::Receiver, "cardinality", &noisy).contains("for the sender"));
    assert!(
        refused(Role::Sender, "cardinality", &|config| (noisy(config), config.settings.at_least = 2).1)
            .contains("threshold")
    );
    assert!(refused(Role::Sender, "sum", &|config| (value(config), noisy(config)).1).contains("change a result"));
}
