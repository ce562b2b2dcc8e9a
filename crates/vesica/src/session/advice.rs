//! What a side is told of keys that may fail to match.
//!
//! Notes follow from the own table alone and are printed before the protocol runs: a side that does
//! not learn what matched reads the same whatever did. Causes are for the side that learns it.

use std::ops::Range;

use crate::key::{Form, KeyColumn, KeySpec, Kind, Normaliser};
use crate::table::{ColumnStats, KeyStats};
use crate::words::counted;

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
    once(key.columns().iter().zip(&stats.columns).flat_map(|(column, stats)| {
        let pitfalls = stats.pitfalls().into_iter().filter(|pitfall| !pitfall.only_beside_other_kinds);
        pitfalls.map(|pitfall| {
            format!(
                "`{}`: {}. If the partner writes the same otherwise, {}",
                column.name,
                pitfall.what,
                again(column, pitfall.normaliser)
            )
        })
    }))
}

/// Told of a table without rows, which a run takes: an empty export is no reason to fail, and may be a mistake.
pub(crate) fn empty(stats: &KeyStats) -> Option<String> {
    (stats.rows == 0).then(|| {
        "the table has no rows: it takes part as one key that nobody has, and none of its rows can match".to_owned()
    })
}

/// Each text once, where a column stands in several alternatives of the key.
pub(crate) fn once(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for text in texts {
        if !all.contains(&text) {
            all.push(text);
        }
    }
    all
}

/// The flag that mends a column, given by both sides.
fn again(column: &KeyColumn, normaliser: &str) -> String {
    let flag = column.flag_with(normaliser);
    format!("start both sides with --normalise {flag} (your partner with its own column's name)")
}

/// Sizes of a run whose number of common keys this side knows.
#[derive(Clone, Debug)]
pub(crate) struct Matched {
    /// Common keys.
    pub keys: u64,
    /// Own keys.
    pub own: u64,
    /// The partner's keys, its dummies included.
    pub partner: u64,
    /// Common keys of each alternative, where the key has several.
    pub by_alternative: Option<Vec<u64>>,
}

impl Matched {
    /// No match at all, or less than one in a hundred keys of the smaller side, which has at least
    /// ten.
    fn is_suspicious(&self) -> bool {
        self.keys == 0 || self.are_few()
    }

    /// Less than one match in a hundred keys of the smaller side, which has at least ten.
    fn are_few(&self) -> bool {
        let smaller = self.own.min(self.partner);
        smaller >= SUSPICIOUS_FROM && self.keys.saturating_mul(FEW) < smaller
    }
}

/// What is told where suspiciously little matched, the likely causes among it. Nothing otherwise.
/// Where kinds differ, that has been said before.
pub(crate) fn causes(
    matched: &Matched,
    key: &KeySpec,
    stats: &KeyStats,
    ours: &[Kind],
    theirs: &[Kind],
) -> Vec<String> {
    if matched.own == 0 {
        return Vec::new();
    }
    let of_alternative = |places| likely(key, places, stats, ours, theirs);
    if !matched.is_suspicious() {
        return few_of_an_alternative(matched, key, stats, &of_alternative);
    }
    let &Matched { keys, own, partner, .. } = matched;
    let head = match keys {
        0 => NO_MATCH.to_owned(),
        _ => format!(
            "only {}, of {own} own ones and {partner} of the partner: if more should, compare on both sides what \
             `vesica check --show-keys 0` says of the key columns",
            counted(keys, "key matches", "keys match")
        ),
    };
    // With a handful of keys, nothing in common is no sign of anything else than that.
    if own.min(partner) < SUSPICIOUS_FROM {
        return vec![head];
    }
    once(std::iter::once(head).chain(key.alternatives().flat_map(of_alternative)))
}

/// Alternatives of which few keys match, where enough of all keys together do. How many keys the
/// partner has of an alternative alone is not known.
fn few_of_an_alternative(
    matched: &Matched,
    key: &KeySpec,
    stats: &KeyStats,
    likely: &dyn Fn(Range<usize>) -> Vec<String>,
) -> Vec<String> {
    let counts = matched.by_alternative.as_deref().unwrap_or_default();
    let mut told = Vec::new();
    for (number, ((places, stats), &keys)) in (1..).zip(key.alternatives().zip(&stats.alternatives).zip(counts)) {
        let of_alternative = Matched { keys, own: stats.distinct, partner: matched.partner, by_alternative: None };
        if of_alternative.are_few() {
            told.push(format!(
                "only {} in alternative {number} (`{}`), of {} own ones: if more should, compare on both sides what \
                 `vesica check --show-keys 0` says of these columns",
                counted(keys, "key matches", "keys match"),
                stats.columns.join("`, `"),
                stats.distinct
            ));
            told.extend(likely(places));
        }
    }
    once(told.into_iter())
}

/// Likely causes why keys of the alternative that has these columns do not match.
fn likely(key: &KeySpec, places: Range<usize>, stats: &KeyStats, ours: &[Kind], theirs: &[Kind]) -> Vec<String> {
    let mut causes = Vec::new();
    let columns = key.columns().iter().zip(&stats.columns).enumerate();
    for (place, (column, stats)) in columns.skip(places.start).take(places.len()) {
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
    if places.len() > 1 {
        let columns = key.columns().iter().skip(places.start).take(places.len());
        let order: Vec<&str> = columns.map(|column| column.name.as_str()).collect();
        let what = if key.has_alternatives() { "one alternative of the key" } else { "the key" };
        causes.push(format!(
            "{what} has {} columns, in this order: {}. Your partner must name its columns in the same order",
            order.len(),
            order.join(", ")
        ));
    }
    causes.into_iter().map(|cause| format!("likely cause: {cause}")).collect()
}

/// Rows that a normaliser has refused, if they are more than one in ten.
fn refused(column: &KeyColumn, stats: &ColumnStats) -> Option<String> {
    let Looked { refused, all } = Looked::of(stats);
    (refused * 10 > all).then(|| {
        format!(
            "`{}`: the normalisers refuse {refused} of {}, which never match: `vesica check` names the first of their \
             rows",
            column.name,
            counted(all, "value", "values")
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
    if kind.form.hash_size().is_some() {
        return Some(format!(
            "`{name}`: digests match only where both sides have hashed the same text: compare that of one value which both \
             know, and agree on white space, capitals and a salt before you hash"
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Format, InputOptions, OpenSource, SourceFile, read_keys};

    fn told(or_keys: &[&str], matched: Matched) -> Vec<String> {
        let folder = tempfile::tempdir().expect("a folder");
        let rows: String = (0..20).map(|i| format!("user{i}@x.org,{i},city\n")).collect();
        let path = folder.path().join("t.csv");
        std::fs::write(&path, format!("mail,phone,town\n{rows}")).expect("written");
        let options = InputOptions { format: Some(Format::Csv), ..InputOptions::default() };
        let table = SourceFile { path: path.display().to_string(), options };
        let or_keys: Vec<Vec<String>> =
            or_keys.iter().map(|names| names.split(',').map(str::to_owned).collect()).collect();
        let key = KeySpec::parse_alternatives(&["mail"], &or_keys, &[]).expect("a key");
        let stats = read_keys(&*table.open().expect("opened"), &key, None).expect("keys").stats;
        let kinds = stats.kinds();
        causes(&matched, &key, &stats, &kinds, &kinds)
    }

    /// Where e-mails match and no telephone number does, only the latter are named.
    #[test]
    fn an_alternative_without_matches_is_named_with_its_columns() {
        let of = |counts: [u64; 2]| Matched {
            keys: counts.iter().sum(),
            own: 40,
            partner: 40,
            by_alternative: Some(counts.to_vec()),
        };
        let few = told(&["phone,town"], of([15, 0]));
        assert!(few[0].starts_with("only 0 keys match in alternative 2 (`phone`, `town`), of 20 own ones"), "{few:?}");
        assert!(
            few.iter()
                .any(|text| text.contains("one alternative of the key has 2 columns, in this order: phone, town"))
        );
        assert!(few.iter().all(|text| !text.contains("mail")), "{few:?}");
        assert!(told(&["phone,town"], of([15, 12])).is_empty());
        let none = told(&["phone,town"], of([0, 0]));
        assert!(none[0] == NO_MATCH && none.iter().any(|text| text.contains("`mail`")), "{none:?}");
        let twice = told(&["mail"], of([0, 0]));
        assert_eq!(twice.len(), once(twice.iter().cloned()).len(), "{twice:?}");
    }
}
