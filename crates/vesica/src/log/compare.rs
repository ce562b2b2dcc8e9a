//! Two partners' logs side by side.

use std::collections::{BTreeMap, BTreeSet};

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

/// The session of a run, with the keys of the side that keeps the first log and of the one that keeps the second.
type Run<'a> = (&'a str, &'a str, &'a str);

/// Compares what two logs say of the runs that their sides had with each other: runs with a session, which begins when both
/// sides agree. Sessions that one of the logs does not have, and statements that differ, are differences. A run that only
/// one side knows to have ended is none: its partner may have been killed.
pub fn compare(ours: &Verified, theirs: &Verified) -> Compared {
    let of_ours = runs(ours, theirs, |own, partner| (own, partner));
    let of_theirs = runs(theirs, ours, |own, partner| (partner, own));
    let mut compared = Compared::default();
    for run in of_ours.keys().chain(of_theirs.keys()).copied().collect::<BTreeSet<_>>() {
        let short = run.0.get(..16).unwrap_or(run.0);
        match (of_ours.get(&run), of_theirs.get(&run)) {
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
    let (first, second) = (ours.any()?, theirs.any()?);
    let (one, other) = (first.agreed.as_ref()?, second.agreed.as_ref()?);
    let is_same = one.protocol == other.protocol
        && one.buckets == other.buckets
        && one.revealed == other.revealed
        && one.noise_epsilon == other.noise_epsilon
        && (one.own_items, one.partner_items) == (other.partner_items, other.own_items)
        && (&first.task, first.security) == (&second.task, second.security);
    if !is_same || first.role == second.role {
        return Some("the logs say different things of what was agreed on".to_owned());
    }
    let (one, other) = (ours.ended?.statement.as_ref()?, theirs.ended?.statement.as_ref()?);
    (one != other).then(|| "the two sides signed different statements".to_owned())
}

impl<'a> Said<'a> {
    fn any(&self) -> Option<&'a Entry> {
        self.begun.or(self.ended)
    }
}

/// What a log says of the runs with the side that keeps the other one.
fn runs<'a>(
    log: &'a Verified,
    other: &Verified,
    in_order: fn(&'a str, &'a str) -> (&'a str, &'a str),
) -> BTreeMap<Run<'a>, Said<'a>> {
    let mut runs: BTreeMap<Run<'_>, Said<'_>> = BTreeMap::new();
    for Line { entry, key, .. } in log.lines.iter().filter(|line| other.keys.contains(&line.entry.partner)) {
        let Some(agreed) = &entry.agreed else { continue };
        let (first, second) = in_order(key, &entry.partner);
        let said = runs.entry((&agreed.session, first, second)).or_default();
        match entry.event {
            Event::Begun => said.begun = Some(entry),
            _ => said.ended = Some(entry),
        }
    }
    runs
}
