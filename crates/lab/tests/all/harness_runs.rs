//! The harness itself: both parties in one process, right figures, clear refusals. Two processes
//! are tested with the command line.

use vesica::task::{Amounts, AnyTask, TASKS};
use vesica_lab::{BenchError, Settings, in_process, two_processes};
use vesica_party::{CostClass, Entry, Security};

fn settings(protocol: &str) -> Settings {
    Settings { item_bytes: 24, repeat: 2, ..Settings::new("intersect", protocol, Security::SemiHonest, 300, 200) }
}

fn settings_of(task: &dyn AnyTask, entry: &Entry, amounts: &Amounts) -> Settings {
    let (receiver_items, overlap) = match (entry.cost, entry.false_match_bits()) {
        // Nothing but common items, which no false match can come to.
        (_, Some(_)) => (4, 4),
        // Each item that is asked about takes tens of milliseconds.
        (CostClass::Lattice, None) => (4, 3),
        _ => (200, 31),
    };
    let settings = Settings::new(task.name(), entry.id, Security::SemiHonest, 300, receiver_items);
    Settings { repeat: 1, overlap: Some(overlap), ..settings }.with_amounts(amounts)
}

/// Every protocol of every task, with whatever of payloads, columns and groups it takes.
#[test]
fn the_tasks_are_checked_against_the_plain_functions() {
    vesica_lab::install();
    for task in TASKS {
        for entry in task.entries().into_iter().filter(|entry| entry.mode(Security::SemiHonest).is_some()) {
            let id = entry.id;
            let all = task.richer_amounts().into_iter().chain([task.least_amounts_of(entry)]);
            let all = all.map(|amounts| settings_of(*task, entry, &amounts));
            let mut ran = 0;
            for settings in all {
                match in_process(&settings.checked().expect("sensible settings")) {
                    Ok(report) => {
                        assert!(report.correct, "{task} {id}");
                        let predicted = report.predicted_bytes;
                        assert!(
                            (predicted[0]..=predicted[1] + 8192).contains(&report.total_bytes),
                            "{task} {id}: {} for {predicted:?}",
                            report.total_bytes
                        );
                        ran += 1;
                    }
                    // A protocol may take fewer columns or groups than the task has.
                    Err(BenchError::Unsupported(_)) => {}
                    Err(error) => panic!("{task} {id}: {error}"),
                }
            }
            assert!(ran > 0, "{task} {id} never ran");
        }
    }
}

#[test]
fn figures_are_whole_and_outputs_checked() {
    let report = in_process(&settings("ecdh-hfh99").checked().expect("sensible settings")).expect("a run");
    assert!(report.correct);
    assert_eq!(report.intersection, 100);
    assert_eq!(report.samples.len(), 2);
    assert_eq!(report.total_bytes, report.sender_bytes + report.receiver_bytes);
    assert!(report.total_bytes >= report.predicted_bytes[0], "{report:?}");
    assert!(report.setup_seconds <= report.total_seconds);
    let json = serde_json::to_value(&report).expect("JSON");
    for field in [
        "protocol",
        "bits_per_item",
        "total_spread",
        "peak_rss_sender",
        "cost_usd",
        "phases",
        "link",
        "threads_per_party",
    ] {
        assert!(json.get(field).is_some(), "{field}");
    }
}

#[test]
fn a_shaped_link_is_slower_than_its_round_trip() {
    let mut settings = settings("ecdh-hfh99");
    settings.link = "1gbit,60ms".parse().expect("a link");
    settings.repeat = 1;
    let report = in_process(&settings).expect("a run");
    assert!(report.correct && report.total_seconds > 0.03, "{report:?}");
}

#[test]
fn an_unknown_protocol_is_refused() {
    match in_process(&settings("no-such")) {
        Err(BenchError::Unsupported(refused)) => assert!(refused.what.contains("no-such"), "{refused:?}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_the_protocol_refuses_is_refused_before_a_party_starts() {
    let mut settings = settings("ecdh-hfh99");
    settings.security = Security::Malicious;
    let refused = two_processes(&settings, |_, _| panic!("a party is started"));
    assert!(
        matches!(&refused, Err(BenchError::Unsupported(refused)) if refused.what.contains("no malicious mode")),
        "{refused:?}"
    );
}

#[test]
fn senseless_settings_are_refused() {
    for change in [
        |s: &mut Settings| s.overlap = Some(201),
        |s: &mut Settings| s.repeat = 0,
        |s: &mut Settings| s.threads = 0,
        |s: &mut Settings| s.item_bytes = 8,
    ] {
        let mut settings = settings("ecdh-hfh99");
        change(&mut settings);
        assert!(settings.checked().is_err());
    }
}
