//! The registry's entries are well formed, and PROTOCOLS.md and docs/protocols are what they say.

use std::collections::{BTreeSet, HashSet};
use std::fs::read_to_string;
use std::path::{Path, PathBuf};

use vesica_papers::{attacks_markdown, catalogue_pages};
use vesica_party::variants::resolve;
use vesica_party::{Assumption, Attack, Effort, Entry, Registered, Resistance, Security, Status};
use vesica_protocols::registry as product;
use vesica_protocols::tasks::{Extent, Intersect, SetFunctionality, Union, UnionOptions};
use vesica_structures::rlwe::RingLwe;
use vesica_testkit::{BLESS, Runnable};

use crate::registry::{self, all_intersect};

/// The row or variant of this name, of the product or of a paper.
fn find_intersect(name: &str) -> Option<Runnable<Intersect>> {
    resolve(all_intersect(), name).ok().flatten()
}

#[test]
fn names_are_unique_and_found() {
    let mut names = HashSet::new();
    for entry in registry::entries() {
        for name in entry.aliases.iter().chain([&entry.id]) {
            assert!(names.insert(*name), "{name} names two entries");
            assert!(
                name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'),
                "{name} is hard to type"
            );
            assert_eq!(registry::find(name), Some(entry));
        }
    }
    assert_eq!(registry::find("no-such-protocol"), None);
    for row in all_intersect() {
        assert_eq!(find_intersect(row.entry().id).map(|row| row.entry()), Some(row.entry()));
    }
}

/// Rows whose bounds are not derived for several runs must refuse them; and in the malicious mode those that do not
/// run in passes.
#[test]
fn several_runs_are_served_by_rows_with_bounds_for_them_alone() {
    let serves = |row: &&dyn Registered<Intersect>, items: usize| {
        let served = [Security::SemiHonest, Security::Malicious].map(|security| {
            let of = |runs| {
                let extent = Extent::new(items, items, security).in_runs(runs);
                row.predicted_bytes(&Intersect::request(&extent, &Default::default()))
            };
            assert!(of(0).is_err(), "{} without a run", row.entry().id);
            if let (Ok(one), Ok(several)) = (of(1), of(1 << 10)) {
                // In the malicious mode only the table may grow: all else has 128 bits.
                let grows = several.end() > one.end() || security == Security::Malicious && several == one;
                assert!(grows, "{} has the same widths in many runs", row.entry().id);
            }
            of(2).is_ok()
        });
        let in_passes = [product::intersect_in_passes(), registry::intersect_in_passes()]
            .concat()
            .iter()
            .any(|other| other.entry().id == row.entry().row_id());
        let is_malicious = row.entry().mode(Security::Malicious).is_some();
        assert_eq!(served[1], in_passes && is_malicious, "{} in the malicious mode", row.entry().id);
        served[0]
    };
    for items in [10, 3000, 1 << 20] {
        let rows = all_intersect().into_iter().filter(|row| serves(row, items));
        let ids: Vec<&str> = rows.map(|row| row.entry().id).filter(|id| !id.contains(':')).collect();
        assert_eq!(ids, ["ecdh-hfh99", "vole-fast", "vole-lean", "hfh99-x25519", "hfh99-secp256k1", "rs21", "rr22"]);
    }
}

/// Rows that show how many items of a run are common must refuse several, too.
#[test]
fn several_runs_of_a_union_are_served_by_rows_that_show_nothing_of_each() {
    for items in [10, 3000, 1 << 20] {
        let bytes = |row: &dyn Registered<Union>, both_learn, runs| {
            let extent = Extent::new(items, items, Security::SemiHonest).in_runs(runs);
            row.predicted_bytes(&Union::request(&extent, &UnionOptions { record_bytes: 16, both_learn }))
        };
        let rows = [product::union(), registry::union()].concat();
        let mut ids = Vec::new();
        for (row, both_learn) in rows.into_iter().flat_map(|row| [(row, false), (row, true)]) {
            assert!(bytes(row, both_learn, 0).is_err(), "{} without a run", row.entry().id);
            if let Ok(several) = bytes(row, both_learn, 1 << 10) {
                assert!(several.end() > bytes(row, both_learn, 1).expect("one run").end(), "{}", row.entry().id);
                ids.push(row.entry().id);
            }
        }
        assert_eq!(ids, ["vesica-union", "vesica-union-both"]);
    }
}

#[test]
fn every_entry_says_what_a_user_must_know() {
    for entry in registry::entries() {
        assert!(!entry.modes.is_empty(), "{} has no mode", entry.id);
        assert!(
            !entry.paper.key.is_empty() && !entry.paper.title.is_empty() && !entry.paper.reference.is_empty(),
            "{}",
            entry.id
        );
        if let Status::Broken { how, .. } = entry.status {
            assert!(how.len() > 20, "{} does not say how it is broken", entry.id);
        }
        let mut securities = HashSet::new();
        for mode in entry.modes {
            assert!(securities.insert(mode.security), "{} has two {} modes", entry.id, mode.security);
            assert!(!mode.assumptions.is_empty(), "{} {} assumes nothing", entry.id, mode.security);
            let broken = matches!(entry.status, Status::Broken { .. });
            assert!(
                broken || mode.meets(mode.security),
                "{} {} does not resist what it is named for",
                entry.id,
                mode.security
            );
            assert!(broken || mode.corrupt_sender.min(mode.corrupt_receiver) > Resistance::None, "{}", entry.id);
        }
    }
}

#[test]
fn a_mode_that_a_row_lacks_is_refused_with_those_that_it_has() {
    let row = find_intersect("ecdh-hfh99").expect("registered");
    let refusal = row.predicted_bytes(&crate::inputs::request(1, 1, Security::Malicious)).unwrap_err();
    assert!(refusal.what.contains("no malicious mode") && refusal.mend.contains("semi-honest"), "{refusal}");
}

/// A file of the repository, by its path from the root.
fn in_root(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

/// Compares a file with what the registry says, or writes it.
fn check_or_bless(name: &str, of_registry: impl FnOnce(&str) -> String) {
    let path = in_root(name);
    let file = read_to_string(&path).unwrap_or_default();
    let now = of_registry(&file);
    if std::env::var_os(BLESS).is_some() {
        std::fs::write(&path, now).expect("the file can be written");
        return;
    }
    assert!(
        file == now,
        "{name} is not what the registry says; {BLESS}=1 cargo test --release --locked --workspace --test all writes it"
    );
}

#[test]
fn the_catalogue_is_the_registry() {
    let pages = catalogue_pages();
    for (name, text) in &pages {
        check_or_bless(name, |_| text.clone());
    }
    // No page is left of a task that is gone.
    for file in std::fs::read_dir(in_root("docs/protocols")).expect("the folder") {
        let name = format!("docs/protocols/{}", file.expect("a file").file_name().to_string_lossy());
        assert!(pages.iter().any(|(page, _)| *page == name), "{name} is of no task");
    }
}

/// The marks around what is generated in SECURITY.md.
const GENERATED: [&str; 2] =
    ["<!-- The registry's table of attacks, by `VESICA_BLESS=1`; do not edit. -->\n\n", "\n<!-- End of the table. -->"];

/// The text before what is generated, and behind it.
fn around_generated(text: &str) -> (&str, &str) {
    let [start, end] = GENERATED;
    let (before, rest) = text.split_once(start).expect("the first mark");
    (before, rest.split_once(end).expect("the second mark").1)
}

#[test]
fn security_md_has_the_attacks_of_the_registry() {
    check_or_bless("SECURITY.md", |file| {
        let ((before, behind), [start, end]) = (around_generated(file), GENERATED);
        [before, start, &attacks_markdown(), end, behind].concat()
    });
}

/// Attacks of all modes, those of variants too.
fn attacks() -> impl Iterator<Item = (&'static str, Assumption, Attack)> {
    let modes = registry::entries().flat_map(|entry| {
        let values = entry.variants.iter().flat_map(|choice| choice.values);
        let modes = entry.modes.iter().chain(values.filter_map(|value| value.modes).flatten());
        modes.map(|mode| (entry.id, mode))
    });
    let assumed = modes.flat_map(|(id, mode)| mode.assumptions.iter().map(move |assumption| (id, *assumption)));
    assumed.filter_map(|(id, assumption)| Some((id, assumption, assumption.attack?)))
}

/// What falls with discrete logarithms, of all that rows assume.
const DISCRETE_LOGARITHMS: [&str; 8] = [
    "CDH on Ristretto",
    "gap-CDH on Ristretto",
    "DDH on Ristretto255",
    "gap Diffie-Hellman on Ristretto255",
    "one-more gap Diffie-Hellman on Ristretto255",
    "the gap Diffie-Hellman problem on Curve25519 is hard",
    "DDH in the subgroup of prime order of Curve25519",
    "DDH on secp256k1",
];

/// Words of problems that a quantum computer solves.
const SOLVED: [&str; 10] =
    ["Diffie", "CDH", "DDH", "logarithm", "factor", "RSA", "pairing", "curve", "Curve", "Ristretto"];

/// Every mode of every row and variant by one choice says rightly whether it falls to a quantum computer: the list above is
/// written by hand, and what is not on it names no such problem, but for hashes to a group as random oracles.
#[test]
fn modes_fall_to_a_quantum_computer_by_what_they_assume() {
    let (mut falling, mut lasting) = (BTreeSet::new(), 0);
    for entry in registry::entries().flat_map(|row| std::iter::once(row).chain(row.alternatives())) {
        for mode in entry.modes {
            let fall = |what: &&Assumption| DISCRETE_LOGARITHMS.contains(&what.what);
            assert_eq!(mode.falls_to_quantum(), mode.assumptions.iter().find(fall), "{} {}", entry.id, mode.security);
            for other in mode.assumptions.iter().filter(|what| !fall(what)) {
                let names = SOLVED.iter().any(|word| other.what.contains(word));
                assert!(!names || other.what.contains("random oracle"), "{}: {}", entry.id, other.what);
            }
            falling.extend(mode.falls_to_quantum().map(|what| what.what));
            lasting += usize::from(mode.falls_to_quantum().is_none());
        }
    }
    assert_eq!(falling, DISCRETE_LOGARITHMS.into(), "what no row assumes leaves the list");
    assert!(lasting > 20, "{lasting} modes");
}

/// The words of a page, however its lines are broken.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// An attack's figures stand in the text that derives them, and the statement names the ring that the attack is on.
#[test]
fn attacks_have_a_source_that_says_the_same() {
    let mut rings = 0;
    for (id, assumption, attack) in attacks() {
        let page = words(&read_to_string(in_root(attack.source)).unwrap_or_default());
        let takes = attack.takes.to_string();
        let figures = takes.split(|c: char| c.is_whitespace() || c == ',').filter(|word| word.starts_with("2^"));
        for figure in figures {
            assert!(page.contains(figure), "{id}: {} does not derive {figure} ({takes})", attack.source);
        }
        if let Effort::Primal(RingLwe { degree, modulus_bits }) = attack.takes {
            for named in [format!("{degree} coefficients"), format!("{modulus_bits} bits")] {
                assert!(assumption.what.contains(&named), "{id}: {named}, but {}", assumption.what);
            }
            rings += 1;
        }
    }
    assert!(rings >= 9, "{rings} rows rest on ring-LWE");
    let mut stated: Vec<Assumption> = Vec::new();
    for (id, assumption, _) in attacks() {
        match stated.iter().find(|other| other.what == assumption.what) {
            Some(other) => assert_eq!(*other, assumption, "{id} has another attack on the same statement"),
            None => stated.push(assumption),
        }
    }
}

/// What an assumption says has an attack, where it speaks of work or of rings.
#[test]
fn no_statement_hides_an_attack_in_its_words() {
    for entry in registry::entries() {
        for assumption in entry.modes.iter().flat_map(|mode| mode.assumptions) {
            let what = assumption.what;
            let ring = what.contains("ring-LWE") || what.contains("ring LWE");
            assert!(!ring || assumption.attack.is_some(), "{}: {what}", entry.id);
            for power in what.split("2^").skip(1) {
                let digits: String = power.chars().take_while(char::is_ascii_digit).collect();
                assert!(digits.parse::<u32>().is_ok_and(|power| power < 60), "{}: {what}", entry.id);
            }
        }
    }
}

/// docs/tasks.md says of each protocol for sets what a partner can time, and nothing of what is none.
#[test]
fn every_protocol_has_its_row_in_the_table_on_time() {
    let tasks = read_to_string(in_root("docs/tasks.md")).expect("the page");
    let (_, section) = tasks.split_once("\n## Time\n").expect("the section");
    let (section, _) = section.split_once("\n## ").expect("a section behind it");
    let rows = section.lines().filter(|line| line.starts_with('|')).skip(2);
    let first_cells = rows.filter_map(|row| row.split('|').nth(1));
    let named: Vec<&str> = first_cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect();
    let is_named =
        |id: &str| named.iter().any(|name| name.strip_suffix('*').map_or(*name == id, |prefix| id.starts_with(prefix)));
    let of_sets = || registry::entries().filter(|entry| entry.map_and_compare.is_some());
    for entry in of_sets() {
        assert!(is_named(entry.id), "{} has no row in the table *Time* of docs/tasks.md", entry.id);
    }
    for name in named.iter().filter(|name| !name.ends_with('*') && !name.starts_with("--")) {
        assert!(of_sets().any(|entry| entry.id == *name), "{name} is no protocol");
    }
}

/// Labels change with every statement that comes or goes, so only what is generated names them.
#[test]
fn labels_of_statements_stand_in_generated_text_alone() {
    let mut pages = vec![in_root("SECURITY.md"), in_root("README.md"), in_root("ARCHITECTURE.md")];
    let mut folders = vec![in_root("docs")];
    while let Some(folder) = folders.pop() {
        if folder.ends_with("docs/protocols") {
            continue;
        }
        for file in std::fs::read_dir(folder).expect("a folder") {
            let path = file.expect("a file").path();
            match path.extension() {
                None => folders.push(path),
                Some(extension) if extension == "md" => pages.push(path),
                Some(_) => {}
            }
        }
    }
    assert!(pages.len() > 50, "{} pages", pages.len());
    for page in pages {
        let text = read_to_string(&page).expect("a page");
        let text = match page.file_name() == Some("SECURITY.md".as_ref()) {
            true => [around_generated(&text).0, around_generated(&text).1].concat(),
            false => text,
        };
        check_labels(&page, &text);
    }
}

fn check_labels(page: &Path, text: &str) {
    let is_label = |word: &str| word.strip_prefix('A').is_some_and(|rest| rest.parse::<u32>().is_ok());
    let named = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').find(|word| is_label(word));
    assert_eq!(named, None, "{}", page.display());
}

/// A corrupt sender can make a filter that serves too many items.
#[test]
fn filters_are_for_semi_honest_senders() {
    let is_filtered = |entry: &&Entry| entry.id.contains("compare=");
    let rows = product::intersect().iter().chain(registry::intersect());
    let entries: Vec<&Entry> = rows.flat_map(|row| row.entry().combinations()).filter(is_filtered).collect();
    let page = read_to_string(in_root("docs/parameters/filters.md")).expect("the page on filters");
    let rows = page.split_once("## Rows").expect("a table of rows").1;
    for entry in &entries {
        assert!(
            rows.contains(&format!("`{}`", entry.row_id())),
            "the page on filters does not name {}",
            entry.row_id()
        );
    }
    assert!(entries.len() > 20, "{}", entries.len());
    for mode in entries.iter().flat_map(|entry| entry.modes) {
        assert_eq!((mode.security, mode.corrupt_sender), (Security::SemiHonest, Resistance::SemiHonest));
    }
}
