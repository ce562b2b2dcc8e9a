//! The registry's entries are well formed, and PROTOCOLS.md is what they say.

use std::collections::HashSet;
use std::path::PathBuf;

use vesica_party::{Resistance, Security, Status};
use vesica_protocols::{catalogue_markdown, registry};
use vesica_testkit::BLESS;

#[test]
fn names_are_unique_and_found() {
    let mut names = HashSet::new();
    for entry in registry::entries() {
        for name in entry.aliases.iter().chain([&entry.id]) {
            assert!(names.insert(*name), "{name} names two entries");
            assert!(name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'), "{name} is hard to type");
            assert_eq!(registry::find(name), Some(entry));
        }
    }
    assert_eq!(registry::find("no-such-protocol"), None);
    for row in registry::intersect() {
        assert_eq!(registry::find_intersect(row.entry().id).map(|row| row.entry()), Some(row.entry()));
    }
}

#[test]
fn every_entry_says_what_a_user_must_know() {
    for entry in registry::entries() {
        assert!(!entry.modes.is_empty(), "{} has no mode", entry.id);
        assert!(!entry.paper.key.is_empty() && !entry.paper.title.is_empty() && !entry.paper.reference.is_empty(), "{}", entry.id);
        if let Status::Broken { how } = entry.status {
            assert!(how.len() > 20, "{} does not say how it is broken", entry.id);
        }
        let mut securities = HashSet::new();
        for mode in entry.modes {
            assert!(securities.insert(mode.security), "{} has two {} modes", entry.id, mode.security);
            assert!(!mode.assumptions.is_empty(), "{} {} assumes nothing", entry.id, mode.security);
            let broken = matches!(entry.status, Status::Broken { .. });
            assert!(broken || mode.meets(mode.security), "{} {} does not resist what it is named for", entry.id, mode.security);
            assert!(broken || mode.corrupt_sender.min(mode.corrupt_receiver) > Resistance::None, "{}", entry.id);
        }
    }
}

#[test]
fn a_mode_that_a_row_lacks_is_refused_with_those_that_it_has() {
    let row = registry::find_intersect("ecdh-hfh99").expect("registered");
    let refusal = row.predicted_bytes(&crate::inputs::request(1, 1, Security::Malicious)).unwrap_err();
    assert!(refusal.what.contains("no malicious mode") && refusal.mend.contains("semi-honest"), "{refusal}");
}

#[test]
fn protocols_md_is_the_registry() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../PROTOCOLS.md");
    let now = catalogue_markdown();
    if std::env::var_os(BLESS).is_some() {
        std::fs::write(&path, now).expect("PROTOCOLS.md can be written");
        return;
    }
    let file = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(file == now, "PROTOCOLS.md is not what the registry says; {BLESS}=1 cargo test -p vesica-protocols writes it");
}
