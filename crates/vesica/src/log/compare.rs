//! Two partners' logs side by side.

use std::collections::BTreeMap;

use super::{Entry, Event, Line, Verified};

/// What two logs say of the runs between their sides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// Sessions of which both say the same.
    pub same: usize,
    /// What differs, a sentence each.
    pub differences: Vec<String>,
}

/// What a log says of a session.
#[derive(Default)]
struct Said<'a> {
    begun: Option<&'a Entry>,
    ended: Option<&'a Entry>,
}

/// Compares what two logs say of the runs that their sides had with each other: runs with a session, which begins when both
/// sides agree. Sessions that one of the logs does not have, and statements that differ, are differences. A run that only
/// one side knows to have ended is none: its partner may have been killed.
pub fn compare(ours: &Verified, theirs: &Verified) -> Compared {
    let (of_ours, of_theirs) = (sessions(ours, theirs), sessions(theirs, ours));
    let mut compared = Compared::default();
    let mut all: Vec<&str> = of_ours.keys().chain(of_theirs.keys()).copied().collect();
    all.sort_unstable();
    all.dedup();
    for session in all {
        let short = session.get(..16).unwrap_or(session);
        match (of_ours.get(session), of_theirs.get(session)) {
            (Some(ours), Some(theirs)) => match difference(ours, theirs) {
                None => compared.same += 1,
                Some(what) => compared.differences.push(format!("session {short}: {what}")),
            },
            (Some(_), None) => compared.differences.push(format!("session {short} is in the first log alone")),
            (None, _) => compared.differences.push(format!("session {short} is in the second log alone")),
        }
    }
    compared
}

fn difference(ours: &Said<'_>, theirs: &Said<'_>) -> Option<String> {
    let (one, other) = (ours.begun?.agreed.as_ref()?, theirs.begun?.agreed.as_ref()?);
    let is_same = one.protocol == other.protocol
        && one.buckets == other.buckets
        && one.revealed == other.revealed
        && one.noise_epsilon == other.noise_epsilon
        && (one.own_items, one.partner_items) == (other.partner_items, other.own_items);
    if !is_same || ours.begun?.task != theirs.begun?.task || ours.begun?.role == theirs.begun?.role {
        return Some("the logs say different things of what was agreed on".to_owned());
    }
    let (one, other) = (ours.ended?.statement.as_ref()?, theirs.ended?.statement.as_ref()?);
    (one != other).then(|| "the two sides signed different statements".to_owned())
}

/// What a log says of the sessions with the side that keeps the other one.
fn sessions<'a>(log: &'a Verified, other: &Verified) -> BTreeMap<&'a str, Said<'a>> {
    let mut sessions: BTreeMap<&str, Said<'_>> = BTreeMap::new();
    for Line { entry, .. } in log.lines.iter().filter(|line| other.keys.contains(&line.entry.partner)) {
        let Some(agreed) = &entry.agreed else { continue };
        let said = sessions.entry(&agreed.session).or_default();
        match entry.event {
            Event::Begun => said.begun = Some(entry),
            _ => said.ended = Some(entry),
        }
    }
    sessions
}
