//! That the lists of what a peer says are whole, and that what a task says stays as it is.

use std::collections::BTreeSet;
use std::fs;

use vesica_testkit::BLESS;

use super::{OWN_SIDES, SESSION_MESSAGES};
use crate::handshake::WIRE_VERSION;
use crate::task::TASKS;

#[test]
fn every_message_of_a_session_is_read() {
    let sources = [
        include_str!("../handshake/messages.rs"),
        include_str!("../cluster/messages.rs"),
        include_str!("../resume/messages.rs"),
    ];
    let lines = sources.into_iter().flat_map(str::lines);
    let bodies = lines.filter_map(|line| line.strip_prefix("impl Body for ")?.strip_suffix(" {"));
    assert_eq!(bodies.collect::<BTreeSet<_>>(), SESSION_MESSAGES.map(|(name, _)| name).into());
}

/// A task that takes none of the settings would have no words that are read or compared.
#[test]
fn both_sides_of_every_task_have_words() {
    for task in TASKS {
        for role in ["sender", "receiver"] {
            let of = |side: &&super::OwnSide| side.task.name() == task.name() && side.name.starts_with(role);
            assert!(OWN_SIDES.iter().any(|side| of(&side)), "{task}: no settings for the {role}");
        }
    }
}

/// What each task says on the wire. The two sides of a run may be of different releases, and read
/// each other's words by `WIRE_VERSION` alone.
#[test]
fn the_words_of_every_task_are_those_of_the_wire_version() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/words.txt");
    let mut now = format!("wire version {WIRE_VERSION}\n");
    for side in OWN_SIDES.iter().filter(|side| TASKS.iter().any(|task| task.name() == side.task.name())) {
        let [proposal, measure] = [&side.proposal, &side.measure].map(|bytes| String::from_utf8_lossy(bytes));
        now += &format!("\n{}: {}\n{proposal}\n{measure}\n", side.task, side.name);
    }
    if std::env::var_os(BLESS).is_some() {
        fs::write(path, now).expect("written");
        return;
    }
    let then = fs::read_to_string(path).expect("the words");
    let differs = then.lines().zip(now.lines()).find(|(then, now)| then != now);
    assert!(
        then == now,
        "{differs:?} differ: raise WIRE_VERSION, if a release speaks this one, and write {path} with {BLESS}=1"
    );
}
