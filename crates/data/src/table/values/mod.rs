//! Values to compute with: integers and fixed-point decimals, one a distinct key and column, and
//! the groups of the keys.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

pub mod decimal;
mod results;

pub use results::ResultTable;

use std::fmt;

use crate::UsageError;

/// A column of values. Both sides agree on all of it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ValueColumn {
    /// Its name in the table that it comes from.
    pub name: String,
    /// Digits behind the point: the values are whole multiples of `10^-scale`.
    pub scale: u8,
    /// What values are clamped to; `None` lets all of 64 bits through, and results may wrap.
    pub clamp: Option<Clamp>,
}

/// A range, ends included, in units of `10^-scale`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Clamp {
    /// The least value.
    pub least: i64,
    /// The greatest.
    pub most: i64,
}

/// A range on which a side insists for a column of its partner, `--partner-clamp`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedRange {
    /// The partner's name of the column.
    pub name: String,
    /// The least value, as a decimal.
    pub least: String,
    /// The greatest.
    pub most: String,
}

/// What becomes of rows that share a key and differ in values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ValueDuplicates {
    /// An error, before anything is sent.
    #[default]
    Refuse,
    /// The first row counts.
    First,
    /// Their values are added up, then clamped. They must still be of one group.
    Sum,
}

/// The most groups of a run.
pub const MAX_GROUPS: usize = 1 << 10;

/// Which columns a side computes with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValueSpec {
    /// Columns of values.
    pub columns: Vec<ValueColumn>,
    /// The column whose values are the groups.
    pub group_by: Option<String>,
    /// Rows that share a key.
    pub duplicates: ValueDuplicates,
}

/// What was read: for each distinct key its values and its group.
pub struct ValueTable {
    /// As many values a key as there are columns, clamped, key by key.
    pub values: Vec<i64>,
    /// Each key's place among the categories; empty without `group_by`.
    pub groups: Vec<u32>,
    /// The categories in their order, null first; empty without `group_by`.
    pub categories: Vec<Option<String>>,
    /// How many values each column had outside of its range.
    pub clamped: Vec<u64>,
}

impl fmt::Debug for ValueTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ValueTable").field("clamped", &self.clamped).finish_non_exhaustive()
    }
}

impl ValueTable {
    /// Of no key and no column.
    pub(crate) fn of_no_key() -> Self {
        Self { values: Vec::new(), groups: Vec::new(), categories: Vec::new(), clamped: Vec::new() }
    }

    /// Adds the values of all keys of `more`, which has so many columns, to the totals that this table has as the values
    /// of one key. Totals may wrap, as those of a run do.
    pub(crate) fn add(&mut self, more: &Self, columns: usize) {
        self.values.resize(columns, 0);
        self.clamped.resize(columns, 0);
        for values in more.values.chunks_exact(columns.max(1)) {
            self.values.iter_mut().zip(values).for_each(|(sum, value)| *sum = sum.wrapping_add(*value));
        }
        self.clamped.iter_mut().zip(&more.clamped).for_each(|(sum, more)| *sum += more);
    }
}

impl ValueColumn {
    /// The greatest absolute value.
    pub fn bound(&self) -> u64 {
        self.clamp.map_or(1 << 63, |range| range.least.unsigned_abs().max(range.most.unsigned_abs()))
    }

    /// Whether an honest side can say it.
    pub fn is_sound(&self) -> bool {
        self.scale <= decimal::MOST_SCALE && self.clamp.is_none_or(|range| range.least <= range.most)
    }
}

impl fmt::Display for ValueColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.clamp {
            None => write!(f, "{}, scale {}, any value", self.name, self.scale),
            Some(Clamp { least, most }) => {
                write!(f, "{}={}..{}", self.name, decimal::show(least, self.scale), decimal::show(most, self.scale))
            }
        }
    }
}

impl ExpectedRange {
    /// Reads `--partner-clamp COLUMN=LEAST..MOST`.
    ///
    /// # Errors
    /// If it is not of this form.
    pub fn parse(argument: &str) -> Result<Self, UsageError> {
        let read = || {
            let (name, range) = argument.rsplit_once('=')?;
            let (least, most) = range.split_once("..")?;
            let number = |text| {
                decimal::parse(text, decimal::MOST_SCALE) != Err(decimal::Unfit::NoNumber) && !str::is_empty(text)
            };
            (number(least) && number(most)).then(|| Self { name: name.into(), least: least.into(), most: most.into() })
        };
        read().ok_or_else(|| {
            usage(
                format_args!("--partner-clamp {argument} is not understood"),
                "write --partner-clamp COLUMN=LEAST..MOST",
            )
        })
    }

    /// Whether `column` has this range.
    pub fn is_of(&self, column: &ValueColumn) -> bool {
        let same = |text: &str, end| decimal::parse(text, column.scale) == Ok(end);
        self.name == column.name
            && column.clamp.is_some_and(|range| same(&self.least, range.least) && same(&self.most, range.most))
    }
}

impl fmt::Display for ExpectedRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}..{}", self.name, self.least, self.most)
    }
}

impl ValueSpec {
    /// The columns that `--payload COLUMN`, `--scale COLUMN=DIGITS` and `--clamp
    /// COLUMN=LEAST..MOST` declare.
    ///
    /// # Errors
    /// If a column is named twice, or one is scaled or clamped that is not among them, or a number
    /// is none.
    pub fn parse(names: &[String], scales: &[String], clamps: &[String]) -> Result<Self, UsageError> {
        let mut columns: Vec<ValueColumn> = Vec::new();
        for name in names {
            if columns.iter().any(|column| column.name == *name) {
                return Err(usage(format_args!("--payload names column `{name}` twice"), "name each column once"));
            }
            columns.push(ValueColumn { name: name.clone(), scale: 0, clamp: None });
        }
        // Scales first: a range is read in the column's units.
        for argument in scales {
            let (column, digits) = Self::about("--scale", argument, &mut columns)?;
            column.scale = digits.parse().ok().filter(|&scale| scale <= decimal::MOST_SCALE).ok_or_else(|| {
                usage(
                    format_args!("--scale {argument} is not understood"),
                    format_args!("give 0 to {} digits", decimal::MOST_SCALE),
                )
            })?;
        }
        for argument in clamps {
            let (column, range) = Self::about("--clamp", argument, &mut columns)?;
            let scale = column.scale;
            let end = |text: &str| decimal::parse(text, scale).ok();
            let range =
                range.split_once("..").and_then(|(least, most)| Some(Clamp { least: end(least)?, most: end(most)? }));
            column.clamp = Some(range.filter(|range| range.least <= range.most).ok_or_else(|| {
                usage(
                    format_args!("--clamp {argument} is not understood"),
                    format_args!(
                        "write --clamp COLUMN=LEAST..MOST with at most {scale} digits after the point, as --scale says"
                    ),
                )
            })?);
        }
        Ok(Self { columns, ..Self::default() })
    }

    /// The column that an argument `COLUMN=...` is about, and what it says. Names may hold `=`.
    fn about<'a, 'b>(
        flag: &str,
        argument: &'b str,
        columns: &'a mut [ValueColumn],
    ) -> Result<(&'a mut ValueColumn, &'b str), UsageError> {
        let named = argument.rsplit_once('=');
        let found = named.and_then(|(name, rest)| Some((columns.iter_mut().find(|column| column.name == name)?, rest)));
        found.ok_or_else(|| {
            usage(
                format_args!("{flag} {argument} names no column of --payload"),
                format_args!("write {flag} COLUMN=... for a column that --payload names"),
            )
        })
    }
}

fn usage(fault: fmt::Arguments<'_>, mend: impl fmt::Display) -> UsageError {
    UsageError::new(fault, mend)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(names: &[&str], scales: &[&str], clamps: &[&str]) -> Result<ValueSpec, UsageError> {
        let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
        ValueSpec::parse(&owned(names), &owned(scales), &owned(clamps))
    }

    #[test]
    fn columns_scales_and_ranges() {
        let spec = parse(&["a", "b=c"], &["a=2"], &["a=-1.5..100", "b=c=0..7"]).expect("columns");
        let [a, b] = spec.columns.as_slice() else { panic!("two") };
        assert_eq!((a.scale, a.clamp, a.bound()), (2, Some(Clamp { least: -150, most: 10_000 }), 10_000));
        assert_eq!((b.scale, b.clamp), (0, Some(Clamp { least: 0, most: 7 })));
        assert_eq!(a.to_string(), "a=-1.50..100.00");
        assert_eq!(ValueColumn { clamp: None, ..a.clone() }.bound(), 1 << 63);
        for (names, scales, clamps) in [
            (&["a", "a"][..], &[][..], &[][..]),
            (&["a"], &["b=1"], &[]),
            (&["a"], &["a=19"], &[]),
            (&["a"], &["a"], &[]),
            (&["a"], &[], &["a=5..1"]),
            (&["a"], &[], &["a=0.5..1"]),
            (&["a"], &[], &["a=0"]),
        ] {
            assert!(parse(names, scales, clamps).is_err(), "{names:?} {scales:?} {clamps:?}");
        }
    }

    #[test]
    fn an_expected_range_is_compared_as_numbers() {
        let column = ValueColumn { name: "a".into(), scale: 2, clamp: Some(Clamp { least: 0, most: 10_050 }) };
        assert!(ExpectedRange::parse("a=0..100.5").expect("a range").is_of(&column));
        assert!(!ExpectedRange::parse("a=0..100").expect("a range").is_of(&column));
        assert!(!ExpectedRange::parse("b=0..100.5").expect("a range").is_of(&column));
        assert!(!ExpectedRange::parse("a=0..100.5").expect("a range").is_of(&ValueColumn { clamp: None, ..column }));
        assert!(
            ExpectedRange::parse("a=x..1").is_err()
                && ExpectedRange::parse("a").is_err()
                && ExpectedRange::parse("a=..").is_err()
        );
    }
}
