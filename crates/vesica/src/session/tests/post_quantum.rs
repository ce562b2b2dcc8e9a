//! Runs with `--post-quantum`: every protocol of the product runs, or is refused for what it assumes.

use vesica_party::{BaseOtChoice, Entry, Mode};

use super::*;
use crate::failure::code;
use crate::receipt::Receipt;

/// What a side says for a run of `task` with this protocol.
fn asks(config: &mut Config, folder: &Folder, task: &str, protocol: Option<&str>, security: Security) {
    config.post_quantum = true;
    config.security = security;
    config.protocol = protocol.map(Into::into);
    if ["sum", "join-and-compute", "union-sum"].contains(&task) {
        amount(config);
    }
    if ["join-and-compute", "union-sum"].contains(&task) && config.role == Role::Receiver {
        config.settings.values =
            columns(&["quantity"], &[if task == "union-sum" { "quantity=2" } else { "quantity=1" }], &[]);
    }
    if protocol.is_some_and(|id| id.starts_with("vesica-union-both")) {
        config.settings.both_learn = true;
        let sink = SinkFile {
            path: folder.path("theirs-result.csv").display().to_string(),
            options: OutputOptions { force: true, format: None },
        };
        config.destination.get_or_insert(Destination { sink: Arc::new(sink), join: Join::Inner });
    }
}

/// The receiver's outcome and the sender's, of a run or of a refusal that no side tells the other.
fn outcome(task: &str, protocol: Option<&str>, security: Security) -> [Result<Report, Failure>; 2] {
    let folder = Folder::new();
    let side = |role| {
        let mut config = folder.config(role, task);
        asks(&mut config, &folder, task, protocol, security);
        config
    };
    let (receiver, sender) = (side(Role::Receiver), side(Role::Sender));
    let refused = [&receiver, &sender].map(crate::session::check);
    match refused {
        [Ok(()), Ok(())] => {
            let (received, sent) = both(receiver, sender);
            [received, sent]
        }
        [receiver, sender] => [receiver, sender].map(|refused| Err(refused.expect_err("both refuse, or none"))),
    }
}

/// The protocol that runs where `entry` is named, by the words of its description alone.
fn expected(entry: &Entry, mode: &Mode) -> Option<String> {
    match (mode.falls_to_quantum(), entry.lasts_with(mode)) {
        (None, _) => Some(entry.id.to_owned()),
        (Some(_), None) => None,
        (Some(_), Some(value)) => Some(format!("{}:{value}", entry.id)),
    }
}

#[test]
fn every_protocol_runs_or_is_refused_for_what_it_assumes() {
    let (mut ran, mut refused) = (Vec::new(), Vec::new());
    for task in task::TASKS {
        for entry in task.entries().into_iter().filter(|entry| !entry.id.starts_with("insecure")) {
            for mode in entry.modes {
                let outcomes = outcome(task.name(), Some(entry.id), mode.security);
                let expected = expected(entry, mode);
                for outcome in outcomes {
                    match (&expected, outcome) {
                        (Some(expected), Ok(report)) => {
                            assert_eq!(report.protocol, expected);
                            assert_eq!((report.post_quantum, report.key_exchange), (true, Some("X25519MLKEM768")));
                        }
                        (None, Err(failure)) => {
                            let assumed = mode.falls_to_quantum().expect("it falls").what;
                            assert_eq!(failure.code, code::REFUSED, "{failure}");
                            assert!(failure.fault.contains(assumed) && failure.fault.contains(entry.id), "{failure}");
                        }
                        (expected, Ok(report)) => panic!("{} ran, and {expected:?} is expected", report.protocol),
                        (expected, Err(failure)) => panic!("{}: {failure}; {expected:?} is expected", entry.id),
                    }
                }
                if expected.is_some() { &mut ran } else { &mut refused }.push(entry.id);
            }
        }
    }
    for id in
        ["vole-fast", "vole-lean", "prty20", "vesica-union", "vesica-circuit", "psty19", "vesica-sum", "cm25-select"]
    {
        assert!(ran.contains(&id), "{ran:?}");
    }
    for id in ["ecdh-hfh99", "oprf-rfc9497", "czz24-union", "ecdh-ca-cgt12", "cmdg21"] {
        assert!(refused.contains(&id), "{refused:?}");
    }
}

/// `auto` takes only such protocols, of every task, and base OTs from ML-KEM where there are any; also a value that the
/// default would be, and other choices beside it.
#[test]
fn what_is_chosen_lasts() {
    for task in task::TASKS {
        for security in [Security::SemiHonest, Security::Malicious] {
            let [received, sent] = outcome(task.name(), None, security);
            let reaches = |entry: &&Entry| entry.broken().is_none() && entry.mode(security).is_some();
            let entries = task.entries();
            let can = entries.iter().copied().filter(reaches).filter(|entry| !entry.id.starts_with("insecure"));
            if can.clone().next().is_none() {
                assert_eq!(received.map(|report| report.protocol).expect_err("no protocol").code, code::REFUSED);
                continue;
            }
            let report = received.unwrap_or_else(|failure| panic!("{task}: {failure}"));
            assert_eq!(report.protocol, sent.expect("sent").protocol);
            let chosen = task.find(report.protocol).expect("known").expect("known");
            assert_eq!(chosen.mode(security).expect("the mode").falls_to_quantum(), None, "{}", report.protocol);
            assert_eq!(BaseOtChoice::of(chosen), Some(BaseOtChoice::MlKem), "{}", report.protocol);
        }
    }
    for named in ["psty19:ot=softspoken", "psty19:ot=softspoken,base-ot=ml-kem", "psty19:base-ot=mr19,ot=softspoken"] {
        let [received, _] = outcome("shares", Some(named), Security::SemiHonest);
        assert_eq!(received.expect("a result").protocol, "psty19:ot=softspoken,base-ot=ml-kem");
    }
}

#[test]
fn both_sides_must_ask_for_it() {
    for asking in [Role::Sender, Role::Receiver] {
        let (received, sent) = failures("intersect", |config| {
            config.protocol = None;
            config.post_quantum = config.role == asking;
        });
        for failure in [received, sent] {
            assert_eq!(failure.code, code::MISMATCH);
            assert!(failure.fault.contains("--post-quantum is ") && !failure.fault.contains("--protocol"), "{failure}");
        }
    }
}

#[test]
fn a_connection_without_tls_is_refused_at_once() {
    let folder = Folder::new();
    for role in [Role::Receiver, Role::Sender] {
        let mut config = folder.config(role, "intersect");
        (config.post_quantum, config.protection, config.wait) = (true, Protection::InsecurePlaintext, Duration::ZERO);
        let failure = run(&config, &Interrupt::default(), &Silent).expect_err("refused");
        assert!(failure.code == code::USAGE && failure.fault.contains("--insecure-plaintext"), "{failure}");
    }
}

#[test]
fn the_receipt_states_it() {
    let folder = Folder::new();
    let side = |role| {
        let mut config = folder.config(role, "intersect");
        asks(&mut config, &folder, "intersect", None, Security::Malicious);
        config.receipt = Some(folder.path(&format!("{role}.json")));
        config
    };
    let (received, sent) = both(side(Role::Receiver), side(Role::Sender));
    received.expect("a result");
    sent.expect("sent");
    for role in [Role::Receiver, Role::Sender] {
        let receipt = Receipt::load(&folder.path(&format!("{role}.json"))).expect("a receipt");
        assert_eq!(receipt.verify(), (true, true));
        let statement = receipt.statement;
        assert_eq!((statement.post_quantum, statement.key_exchange.as_deref()), (true, Some("X25519MLKEM768")));
        assert_eq!(statement.protocol.split_once(':').map(|(_, choice)| choice), Some("base-ot=ml-kem"));
    }
}
