//! The harness itself: both parties in one process, right figures, clear refusals. Two processes are tested with the command line.

use vesica_bench::{BenchError, Link, Settings, in_process, two_processes};
use vesica_party::Security;

fn settings(protocol: &str) -> Settings {
    Settings {
        task: "intersect".into(),
        protocol: protocol.into(),
        security: Security::SemiHonest,
        sender_items: 300,
        receiver_items: 200,
        overlap: None,
        item_bytes: 24,
        payload_bytes: 0,
        link: Link::Loopback,
        threads: 1,
        repeat: 2,
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
    for field in ["protocol", "bits_per_item", "total_spread", "peak_rss_sender", "cost_usd", "phases", "link", "threads_per_party"] {
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
    assert!(matches!(&refused, Err(BenchError::Unsupported(refused)) if refused.what.contains("no malicious mode")), "{refused:?}");
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
