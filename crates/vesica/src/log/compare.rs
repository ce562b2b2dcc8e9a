//! Two partners' logs side by side.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use vesica_party::transport::tls::Day;

use super::{Conversation, Entry, Event, Line, LookUp, Verified};

/// What two logs say of the runs between their sides, and of the conversations of a client with a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// How many there are of which both say the same, as far as they say it.
    pub same: usize,
    /// Of how many of these one of the logs has no end: what a run came to was not compared.
    pub without_end: usize,
    /// The others, by their sessions.
    pub differences: Vec<Difference>,
}

/// A run or conversation of which two logs do not say the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Its session, in hexadecimal.
    pub session: String,
    /// When it began, in seconds since 1970, by the clock of the first log that has it.
    pub time: u64,
    /// Its task.
    pub task: String,
    /// The log that alone has it; none if both have it.
    pub only_in: Option<Which>,
    /// What differs, in a clause of which the run is the subject.
    pub what: String,
}

/// One of two logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Which {
    /// The first one.
    First,
    /// The second one.
    Second,
}

/// The days of which runs are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Period {
    /// The first one; `None` for no bound.
    pub from: Option<Day>,
    /// The last one.
    pub to: Option<Day>,
}

impl Period {
    fn has(&self, time: u64) -> bool {
        let day = Day::of(time);
        self.from.is_none_or(|from| from <= day) && self.to.is_none_or(|to| day <= to)
    }
}

/// What a log says of a session.
#[derive(Clone, Copy, Default)]
struct Said<'a> {
    begun: Option<&'a Entry>,
    ended: Option<&'a Entry>,
    /// Of a conversation: how many queries were answered, by the last line that says it.
    queries: u64,
}

/// The session of a run or conversation, with the keys of the side that keeps the first log and of the one that keeps the
/// second.
type Session<'a> = (&'a str, &'a str, &'a str);

/// Compares what two logs say of the runs that their sides had with each other in a period, by the clock of either: runs
/// with a session, which begins when both sides agree; and conversations of a client with a server in which a query was
/// answered. What one of the logs does not have, and what they say otherwise, are differences. That only one side knows how
/// a run ended is none, since its partner may have been killed; such runs are counted.
pub fn compare(ours: &Verified, theirs: &Verified, period: Period) -> Compared {
    let of_ours = sessions(ours, theirs, |own, partner| (own, partner));
    let of_theirs = sessions(theirs, ours, |own, partner| (partner, own));
    let mut compared = Compared::default();
    for session in of_ours.keys().chain(of_theirs.keys()).copied().collect::<BTreeSet<_>>() {
        let (one, other) = (of_ours.get(&session), of_theirs.get(&session));
        let both = || one.into_iter().chain(other);
        let Some(entry) = both().find_map(Said::any) else { continue };
        let is_empty = entry.agreed.is_none() && both().all(|said| said.queries == 0);
        if is_empty || !both().filter_map(Said::any).any(|entry| period.has(entry.time)) {
            continue;
        }
        let (only_in, what) = match (one, other) {
            (Some(one), Some(other)) => match difference(one, other) {
                None => {
                    compared.same += 1;
                    compared.without_end += usize::from(one.ended.is_none() || other.ended.is_none());
                    continue;
                }
                Some(what) => (None, what.to_owned()),
            },
            (Some(_), _) => (Some(Which::First), alone(entry.time, theirs, ["first", "second"])),
            _ => (Some(Which::Second), alone(entry.time, ours, ["second", "first"])),
        };
        let Entry { time, task, .. } = entry;
        let (session, task) = (session.0.to_owned(), task.clone());
        compared.differences.push(Difference { session, time: *time, task, only_in, what });
    }
    compared
}

/// What to say of a run that one log alone has, with what the other one's lines say of why.
fn alone(time: u64, other: &Verified, [own, others]: [&str; 2]) -> String {
    let times = || other.lines.iter().map(|line| line.entry.time);
    let why = match (times().min(), times().max()) {
        (Some(first), _) if time < first => "begins later",
        (_, Some(last)) if time >= last => "ends earlier",
        _ => "has lines from before and after it",
    };
    format!("is in the {own} log alone, and the {others} log {why}")
}

/// What differs where both sides must have agreed.
const AGREED: &str = "has other terms in the two logs";

fn difference(ours: &Said<'_>, theirs: &Said<'_>) -> Option<&'static str> {
    let (first, second) = (ours.any()?, theirs.any()?);
    if first.role == second.role || first.task != second.task {
        return Some(AGREED);
    }
    if let (Some(one), Some(other)) = (&first.look_up, &second.look_up) {
        let terms = |LookUp { protocol, set_items, items_per_query, revealed, quota, .. }: &LookUp| {
            (protocol.clone(), *set_items, *items_per_query, revealed.clone(), quota.clone())
        };
        if terms(one) != terms(other) {
            return Some(AGREED);
        }
        let (one, other) = (ours.ended?, theirs.ended?);
        // The answer to a query can be lost with its connection.
        let is_clean = [one, other].iter().all(|entry| entry.event == Event::Completed);
        let most = u64::from(!is_clean);
        return (ours.queries.abs_diff(theirs.queries) > most)
            .then_some("has other numbers of queries in the two logs");
    }
    let (Some(one), Some(other)) = (&first.agreed, &second.agreed) else { return Some(AGREED) };
    let is_same = one.protocol == other.protocol
        && one.buckets == other.buckets
        && one.revealed == other.revealed
        && one.noise_epsilon == other.noise_epsilon
        && (one.own_items, one.partner_items) == (other.partner_items, other.own_items)
        && first.security == second.security;
    if !is_same {
        return Some(AGREED);
    }
    let (one, other) = (ours.ended?.statement.as_ref()?, theirs.ended?.statement.as_ref()?);
    (one != other).then_some("has other statements that the two sides signed")
}

impl<'a> Said<'a> {
    fn any(&self) -> Option<&'a Entry> {
        self.begun.or(self.ended)
    }
}

/// What a log says of the sessions with the side that keeps the other one.
fn sessions<'a>(
    log: &'a Verified,
    other: &Verified,
    in_order: fn(&'a str, &'a str) -> (&'a str, &'a str),
) -> BTreeMap<Session<'a>, Said<'a>> {
    let mut sessions: BTreeMap<Session<'_>, Said<'_>> = BTreeMap::new();
    for Line { entry, key, .. } in log.lines.iter().filter(|line| other.keys.contains(&line.entry.partner)) {
        let (first, second) = in_order(key, &entry.partner);
        let of_run = entry.agreed.iter().map(|agreed| (&*agreed.session, 0));
        let conversations = entry.look_up.iter().flat_map(|look_up| &look_up.conversations);
        let of_query = conversations.map(|Conversation { session, queries }| (&**session, *queries));
        for (session, queries) in of_run.chain(of_query) {
            let said = sessions.entry((session, first, second)).or_default();
            said.queries = queries;
            match entry.event {
                Event::Begun => said.begun = said.begun.or(Some(entry)),
                _ => said.ended = Some(entry),
            }
        }
    }
    sessions
}
