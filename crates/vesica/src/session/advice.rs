//! What a side is told of keys that may fail to match.
//!
//! Notes follow from the own table alone and are printed before the protocol runs: a side that does
//! not learn what matched reads the same whatever did. Causes are for the side that learns it.

use crate::key::{Form, KeyColumn, KeySpec, Kind, Normaliser};
use crate::table::{ColumnStats, KeyStats};

/// Told to a side that learns its matches, when there are none.
pub(crate) const NO_MATCH: &str = "no key matches: if some should, compare on both sides what `vesica check --show-keys 0` says of the key \
                        columns and how the same key is written in each table; keys match only where they are equal \
                        to the byte after --normalise";

/// Keys of each side from which on few matches are suspicious.
const SUSPICIOUS_FROM: u64 = 10;

/// Few: less than one in so many keys of the smaller side.
const FEW: u64 = 100;

/// Pitfalls of the own key columns, with the flag that mends each.
pub(crate) fn notes(key: &KeySpec, stats: &KeyStats) -> Vec<String> {
    let each = key.columns().iter().zip(&stats.columns).flat_map(|(column, stats)| {
        let pitfalls = stats.pitfalls().into_iter().filter(|pitfall| !pitfall.only_beside_other_kinds);
        pitfalls.map(|pitfall| {
            format!(
                "`{}`: {}. If the partner writes the same otherwise, {}",
                column.name,
                pitfall.what,
                again(column, pitfall.normaliser)
            )
        })
    });
    each.collect()
}

/// The flag that mends a column, given by both sides.
fn again(column: &KeyColumn, normaliser: &str) -> String {
    let flag = column.flag_with(normaliser);
    format!("start both sides with --normalise {flag} (your partner with its own column's name)")
}

/// Sizes of a run whose number of common keys this side knows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Matched {
    /// Common keys.
    pub keys: u64,
    /// Own keys.
    pub own: u64,
    /// The partner's keys, its dummies included.
    pub partner: u64,
}

impl Matched {
    /// No match at all, or less than one in a hundred keys of the smaller side, which has at least
    /// ten.
    fn is_suspicious(self) -> bool {
        let smaller = self.own.min(self.partner);
        self.keys == 0 || (smaller >= SUSPICIOUS_FROM && self.keys.saturating_mul(FEW) < smaller)
    }
}

/// What is told where suspiciously little matched, the likely causes among it. Nothing otherwise.
/// Where kinds differ, that has been said before.
pub(crate) fn causes(matched: Matched, key: &KeySpec, stats: &KeyStats, ours: &[Kind], theirs: &[Kind]) -> Vec<String> {
    if !matched.is_suspicious() {
        return Vec::new();
    }
    let Matched { keys, own, partner } = matched;
    let head = match keys {
        0 => NO_MATCH.to_owned(),
        _ => format!(
            "only {keys} keys match, of {own} own ones and {partner} of the partner: if more should, compare on both \
             sides what `vesica check --show-keys 0` says of the key columns"
        ),
    };
    // With a handful of keys, nothing in common is no sign of anything else than that.
    if own.min(partner) < SUSPICIOUS_FROM {
        return vec![head];
    }
    let mut causes = Vec::new();
    for (place, (column, stats)) in key.columns().iter().zip(&stats.columns).enumerate() {
        causes.extend(refused(column, stats));
        let pitfalls: Vec<_> =
            stats.pitfalls().into_iter().filter(|pitfall| !pitfall.only_beside_other_kinds).collect();
        if let (Some(ours), Some(theirs)) = (ours.get(place), theirs.get(place))
            && ours == theirs
            && pitfalls.is_empty()
        {
            causes.extend(in_equal_kinds(column, *ours));
        }
        causes.extend(
            pitfalls
                .iter()
                .map(|pitfall| format!("{}: {}", pitfall.what, again(column, pitfall.normaliser)))
                .map(|cause| format!("`{}`: {cause}", column.name)),
        );
    }
    if key.columns().len() > 1 {
        let order: Vec<&str> = key.columns().iter().map(|column| column.name.as_str()).collect();
        causes.push(format!(
            "the key has {} columns, in this order: {}. Your partner must name its columns in the same order",
            order.len(),
            order.join(", ")
        ));
    }
    std::iter::once(head).chain(causes.into_iter().map(|cause| format!("likely cause: {cause}"))).collect()
}

/// Rows that a normaliser has refused, if they are more than one in ten.
fn refused(column: &KeyColumn, stats: &ColumnStats) -> Option<String> {
    let Looked { refused, all } = Looked::of(stats);
    (refused * 10 > all).then(|| {
        format!(
            "`{}`: the normalisers refuse {refused} of {all} values, whose rows never match: `vesica check` names \
             the first of these rows",
            column.name
        )
    })
}

struct Looked {
    refused: u64,
    all: u64,
}

impl Looked {
    fn of(stats: &ColumnStats) -> Self {
        Self { refused: stats.unmatchable, all: stats.unmatchable + stats.written.total() }
    }
}

/// How values of one kind may still differ between two tables.
fn in_equal_kinds(column: &KeyColumn, kind: Kind) -> Option<String> {
    let name = &column.name;
    let is_declared = |name: &str| column.normalisers.iter().any(|other| other.to_string() == name);
    let zone = |normaliser: &Normaliser| matches!(normaliser, Normaliser::Timestamp(_));
    if kind.form.is_timestamp() && !kind.form.is_zoned() {
        return Some(format!(
            "`{name}`: timestamps of both sides say no time zone; if your clocks differ, start each side with its own: \
             --normalise {} with utc or an offset such as +02:00 for ZONE",
            column.flag_with("timestamp:ZONE")
        ));
    }
    if column.normalisers.iter().any(zone) {
        return Some(format!(
            "`{name}`: a wrong ZONE on either side moves every timestamp; compare one common row on both sides"
        ));
    }
    let missing: Vec<&str> = ["trim", "nfc", "lower"].into_iter().filter(|name| !is_declared(name)).collect();
    let is_free = column.gives().is_none();
    (kind.form == Form::Text && is_free && !missing.is_empty()).then(|| {
        format!(
            "`{name}`: the partner's text may have capitals, white space at an end or accents in another Unicode form: \
             {}",
            again(column, &missing.join(","))
        )
    })
}
