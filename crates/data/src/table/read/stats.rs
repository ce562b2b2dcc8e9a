//! What is counted while a table is read.

use std::collections::{BTreeMap, HashSet};
use std::mem::take;
use std::ops::Range;

use crate::key::{
    InColumn, KeyColumn, KeySpec, Kind, KindCounts, Looks, Normaliser, NullWord, NullWordCounts, NullWords, Pitfall,
    pitfalls,
};
use crate::table::TableError;
use crate::words::counted;

/// Counts over the rows of one table. Never a value.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct KeyStats {
    /// All rows.
    pub rows: u64,
    /// Rows without a usable key, for a null or empty component in each alternative.
    pub null_rows: u64,
    /// Other rows without a usable key: a normaliser refused a component.
    pub unmatchable_rows: u64,
    /// Distinct keys, those of all alternatives together.
    pub distinct: u64,
    /// Rows with a usable key that an earlier row has too.
    pub duplicate_rows: u64,
    /// Records of CSV that repeat the header. They are no rows.
    pub header_rows: u64,
    /// By key column, in key order: those of all alternatives, one behind the other.
    pub columns: Vec<ColumnStats>,
    /// By alternative of the key; one where the key has no others.
    pub alternatives: Vec<AlternativeStats>,
}

/// Counts over one alternative of the key.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct AlternativeStats {
    /// Names of its columns, in key order.
    pub columns: Vec<String>,
    /// Rows with a usable key.
    pub rows: u64,
    /// Distinct keys.
    pub distinct: u64,
}

/// Counts over one key column.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct ColumnStats {
    /// Name of the column.
    pub name: String,
    /// `text`, `integer`, `boolean`, `date`, `timestamp`, `timestamp with time zone`, `uuid`,
    /// `binary`, `null`. CSV is text.
    pub kind: &'static str,
    /// Nulls; in CSV, empty fields without quotes.
    pub nulls: u64,
    /// Empty values, before or after normalising.
    pub empty: u64,
    /// Values that a normaliser refused.
    pub unmatchable: u64,
    /// Telephone numbers without `+` that begin with the own calling code and were read as numbers
    /// of the country.
    pub bare_national: u64,
    /// The same, read as international numbers.
    pub bare_international: u64,
    /// How the values are written after normalising.
    #[schemars(with = "Kind")]
    pub written: KindCounts,
    /// Details of their notation, after normalising.
    pub looks: Looks,
    /// Values that are a word for a missing value, and that are keys.
    #[schemars(with = "BTreeMap<String, u64>")]
    pub null_words: NullWordCounts,
}

impl KeyStats {
    /// How the values of each key column are written, in key order.
    pub fn kinds(&self) -> Vec<Kind> {
        self.columns.iter().map(|column| column.written.kind()).collect()
    }
}

impl ColumnStats {
    /// Counts how a value is written.
    #[inline]
    pub(crate) fn count(&mut self, value: &[u8]) {
        let form = self.written.count(value);
        self.looks.count(form, value);
    }

    /// Counts a cell that became a key, if it is a word for a missing value.
    #[inline]
    pub(crate) fn count_null_word(&mut self, cell: &[u8]) {
        if let Some(word) = NullWord::of(cell) {
            self.null_words.count(word, 1);
        }
    }

    /// Notations that often keep equal things from matching, after normalising.
    pub fn pitfalls(&self) -> Vec<Pitfall> {
        let mut found = pitfalls(&self.written, &self.looks);
        let Looks { outer_space, with_upper_case, only_lower_case, leading_zero, .. } = self.looks;
        let mut find = |what: String, normaliser| {
            found.push(Pitfall { what, normaliser, only_beside_other_kinds: false });
        };
        let have = |values| counted(values, "value has", "values have");
        if outer_space > 0 {
            find(format!("{} white space at an end", have(outer_space)), "trim");
        }
        match (with_upper_case, only_lower_case) {
            (0, _) => {}
            (upper, 0) => find(format!("{} upper-case letters: `Ada` and `ada` are two keys", have(upper)), "lower"),
            (upper, lower) => {
                find(format!("{} upper-case letters and {} not", have(upper), counted(lower, "has", "have")), "lower");
            }
        }
        if leading_zero > 0 {
            let what = "leading zeros, and differ from the same numbers without";
            find(format!("{} {what}", have(leading_zero)), "int");
        }
        found
    }

    /// What is to be said of the column whatever the partner has.
    fn warnings(&self, column: &KeyColumn, key: &KeySpec) -> Vec<String> {
        let mut told: Vec<String> = self.bare_numbers(column).into_iter().collect();
        let mut tell = |text: String| told.push(format!("`{}`: {text}", self.name));
        let count = self.null_words.total();
        if count > 0 && key.null_words().are_told() {
            let words = listed(&self.null_words);
            tell(format!(
                "{} a word that programs write where a value is missing ({words}): such rows match the partner's rows with \
                 the same word. {}",
                counted(count, "value is", "values are"),
                decisions(&self.null_words)
            ));
        }
        self.looks.faults().into_iter().for_each(tell);
        told
    }

    /// What is to be said of telephone numbers that `column` might mean in two ways, if their user
    /// did not say which.
    pub fn bare_numbers(&self, column: &KeyColumn) -> Option<String> {
        let count = self.bare_national + self.bare_international;
        let phone = column.normalisers.iter().find_map(|normaliser| match normaliser {
            Normaliser::E164(phone) if count > 0 && !phone.decides_bare_numbers() => Some(phone),
            _ => None,
        })?;
        Some(format!(
            "`{}`: {count} telephone numbers have no + and begin with {}, their country's own calling code; {} of \
             them were read as numbers of the country, {} as international ones. To have them read otherwise, add \
             :bare=national, :bare=international or :bare=refuse to {phone}",
            self.name,
            phone.calling_code(),
            self.bare_national,
            self.bare_international,
        ))
    }
}

/// Words in backticks.
fn listed(words: &NullWordCounts) -> String {
    words.words().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

/// What the user can say of words for a missing value.
fn decisions(words: &NullWordCounts) -> String {
    format!(
        "If they stand for missing values, say --null-words '{}': such rows then never match; if they are values, say \
         --null-words keep",
        words.words().collect::<Vec<_>>().join(",")
    )
}

/// Words for a missing value in a key column of which a run wants to hear what they are.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Undecided {
    /// The column.
    column: String,
    /// How many values are such a word.
    count: u64,
    /// The words.
    words: String,
    /// What the user can say.
    mend: String,
}

impl KeyStats {
    /// What is to be said of a table before it is used, whatever the partner has. Neither a value nor a name of a file.
    pub fn warnings(&self, key: &KeySpec) -> Vec<String> {
        let mut told = Vec::new();
        if self.header_rows > 0 {
            told.push(format!(
                "{} the header row, as in files that were joined end to end. Such a record is no row, and is left out of \
                 every result; if it is a row, give the header other names",
                counted(self.header_rows, "record repeats", "records repeat")
            ));
        }
        for (column, stats) in key.columns().iter().zip(&self.columns) {
            told.extend(stats.warnings(column, key));
        }
        // A column may stand in several alternatives of the key.
        let mut known = HashSet::new();
        told.retain(|text| known.insert(text.clone()));
        told
    }

    /// Refuses a table of whose words for a missing value a run wants to hear what they are.
    ///
    /// # Errors
    /// [`TableError::NullWords`], which names table, column and words.
    pub fn check_null_words(&self, table: &str, key: &KeySpec) -> Result<(), TableError> {
        let Some(Undecided { column, count, words, mend }) = self.undecided(key) else { return Ok(()) };
        Err(TableError::NullWords { path: table.to_owned(), column, count, rows: self.rows, words, mend })
    }

    /// The first key column with words for a missing value that are on so many rows, or so surely no value, that a run
    /// wants to hear what they are; `None` where its user has said it.
    fn undecided(&self, key: &KeySpec) -> Option<Undecided> {
        if *key.null_words() != NullWords::Undecided {
            return None;
        }
        let alone = |column: usize| {
            let mut alternatives = key.alternatives().zip(&self.alternatives);
            let (_, counts) = alternatives.find(|(places, _)| places.len() == 1 && places.contains(&column))?;
            Some((counts.rows, counts.distinct))
        };
        self.columns.iter().enumerate().find_map(|(place, stats)| {
            let (values, two_capitals) = (stats.written.total(), stats.looks.two_capitals);
            let column = InColumn { rows: self.rows, alone: alone(place), values, two_capitals };
            let words = stats.null_words.undecided(&column);
            let count = words.total();
            (count > 0).then(|| Undecided {
                column: stats.name.clone(),
                count,
                words: listed(&words),
                mend: decisions(&words),
            })
        })
    }

    pub(crate) fn of(spec: &KeySpec) -> Self {
        let columns: Vec<_> =
            spec.columns().iter().map(|c| ColumnStats { name: c.name.clone(), ..ColumnStats::default() }).collect();
        let names = |places: Range<usize>| columns[places].iter().map(|column| column.name.clone()).collect();
        let alternatives =
            spec.alternatives().map(|places| AlternativeStats { columns: names(places), rows: 0, distinct: 0 });
        Self { alternatives: alternatives.collect(), columns, ..Self::default() }
    }

    /// Takes over the counts of further rows.
    pub(crate) fn add(&mut self, more: &mut Self) {
        self.rows += take(&mut more.rows);
        self.null_rows += take(&mut more.null_rows);
        self.unmatchable_rows += take(&mut more.unmatchable_rows);
        self.header_rows += take(&mut more.header_rows);
        for (alternative, more) in self.alternatives.iter_mut().zip(&mut more.alternatives) {
            alternative.rows += take(&mut more.rows);
        }
        for (column, more) in self.columns.iter_mut().zip(&mut more.columns) {
            column.nulls += take(&mut more.nulls);
            column.empty += take(&mut more.empty);
            column.unmatchable += take(&mut more.unmatchable);
            column.bare_national += take(&mut more.bare_national);
            column.bare_international += take(&mut more.bare_international);
            column.written.add(&take(&mut more.written));
            column.looks.add(&take(&mut more.looks));
            column.null_words.add(take(&mut more.null_words));
        }
    }
}

/// The counts of a part of a table, as text that another process of the same release adds to those of other parts.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct PartStats {
    rows: u64,
    null_rows: u64,
    unmatchable_rows: u64,
    header_rows: u64,
    /// By alternative of the key.
    keyed_rows: Vec<u64>,
    columns: Vec<PartColumn>,
}

#[derive(serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct PartColumn {
    kind: String,
    nulls: u64,
    empty: u64,
    unmatchable: u64,
    bare_national: u64,
    bare_international: u64,
    written: Vec<u64>,
    looks: Looks,
    null_words: Vec<(NullWord, u64)>,
}

/// The kinds that a column may have.
const KINDS: [&str; 9] =
    ["text", "integer", "boolean", "date", "timestamp", "timestamp with time zone", "uuid", "binary", "null"];

impl KeyStats {
    /// The counts as JSON for [`Self::of_parts`], without those that need the whole table: of distinct keys and of
    /// duplicate rows.
    pub fn to_part(&self) -> String {
        let column = |column: &ColumnStats| PartColumn {
            kind: column.kind.into(),
            nulls: column.nulls,
            empty: column.empty,
            unmatchable: column.unmatchable,
            bare_national: column.bare_national,
            bare_international: column.bare_international,
            written: column.written.counts().to_vec(),
            looks: column.looks,
            null_words: column.null_words.counts().to_vec(),
        };
        let part = PartStats {
            rows: self.rows,
            null_rows: self.null_rows,
            unmatchable_rows: self.unmatchable_rows,
            header_rows: self.header_rows,
            keyed_rows: self.alternatives.iter().map(|alternative| alternative.rows).collect(),
            columns: self.columns.iter().map(column).collect(),
        };
        // Plain fields into memory: serialising cannot fail.
        serde_json::to_string(&part).unwrap_or_default()
    }

    /// The counts of a whole table with this many distinct keys, of which so many come from each alternative, from those of
    /// its parts. `None` if a part is not one of [`Self::to_part`] for this key. Where a key has alternatives, each of a
    /// row's keys that was there before counts as a duplicate.
    pub fn of_parts<'a>(
        spec: &KeySpec,
        parts: impl IntoIterator<Item = &'a str>,
        by_alternative: &[u64],
    ) -> Option<Self> {
        let mut all = Self::of(spec);
        for part in parts {
            let part: PartStats = serde_json::from_str(part).ok()?;
            if part.columns.len() != all.columns.len() || part.keyed_rows.len() != all.alternatives.len() {
                return None;
            }
            let mut more = Self::of(spec);
            (more.rows, more.null_rows, more.unmatchable_rows) = (part.rows, part.null_rows, part.unmatchable_rows);
            more.header_rows = part.header_rows;
            for (alternative, rows) in more.alternatives.iter_mut().zip(part.keyed_rows) {
                alternative.rows = rows;
            }
            for ((column, more), all) in part.columns.into_iter().zip(&mut more.columns).zip(&mut all.columns) {
                let kind = KINDS.iter().find(|kind| **kind == column.kind).copied();
                all.kind = kind.filter(|_| all.kind.is_empty() || all.kind == "null").unwrap_or(all.kind);
                (more.nulls, more.empty, more.unmatchable) = (column.nulls, column.empty, column.unmatchable);
                (more.bare_national, more.bare_international) = (column.bare_national, column.bare_international);
                more.written = KindCounts::of_counts(column.written)?;
                more.looks = column.looks;
                more.null_words = NullWordCounts::of_counts(column.null_words);
            }
            all.add(&mut more);
        }
        if by_alternative.len() != all.alternatives.len() {
            return None;
        }
        for (alternative, &distinct) in all.alternatives.iter_mut().zip(by_alternative) {
            alternative.distinct = distinct;
            all.distinct += distinct;
        }
        let keyed: u64 = all.alternatives.iter().map(|alternative| alternative.rows).sum();
        all.duplicate_rows = keyed.saturating_sub(all.distinct);
        Some(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::KeySpec;
    use crate::table::{Format, read_keys};

    /// The counts of a table in parts are those of the whole table.
    #[test]
    fn parts_add_up_to_the_whole() {
        let spec = KeySpec::parse(&["k", "n"], &["k=email"]).expect("a key");
        let read = |rows: &str| {
            let table = crate::fuzzing::input(format!("k,n\n{rows}").as_bytes(), Format::Csv).expect("a table");
            read_keys(&table, &spec, None).expect("keys").stats
        };
        let rows = ["a@x.org,1\nB@x.org ,02\n", "c@x.org,\nno mail,5\na@x.org,1\n"];
        let whole = read(&rows.concat());
        let parts = rows.map(|rows| read(rows).to_part());
        let added = KeyStats::of_parts(&spec, parts.iter().map(String::as_str), &[whole.distinct]);
        assert_eq!(added, Some(whole));
        let other = KeySpec::parse(&["k"], &[]).expect("a key");
        assert_eq!(KeyStats::of_parts(&other, parts.iter().map(String::as_str), &[1]), None, "of another key");
        assert_eq!(KeyStats::of_parts(&spec, ["{}"], &[1]), None);
    }
}
