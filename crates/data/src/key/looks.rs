//! What often keeps equal things from matching although both columns are of one kind: blanks,
//! capitals, zeros.

use crate::key::{Form, KindCounts, Precision};
use crate::words::counted;

/// Counts of values by details of their notation that a [`Kind`](crate::key::Kind) does not tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Looks {
    /// Texts with white space of ASCII at an end.
    pub outer_space: u64,
    /// Texts with at least one upper-case letter of ASCII.
    pub with_upper_case: u64,
    /// Texts with letters of ASCII, none of them upper case.
    pub only_lower_case: u64,
    /// Digits behind a leading zero.
    pub leading_zero: u64,
    /// Numbers with a decimal point and nothing but zeros behind it.
    pub whole_decimals: u64,
}

impl Looks {
    /// Counts a value that is written in this form. Times and integers have nothing to count.
    pub(crate) fn count(&mut self, form: Form, value: &[u8]) {
        match form {
            Form::Text => {
                // Folds and not `any`, which would go byte by byte.
                let upper = value.iter().fold(false, |upper, byte| upper | byte.is_ascii_uppercase());
                let lower = value.iter().fold(false, |lower, byte| lower | byte.is_ascii_lowercase());
                let space = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_whitespace);
                self.outer_space += u64::from(space(value.first()) || space(value.last()));
                self.with_upper_case += u64::from(upper);
                self.only_lower_case += u64::from(lower && !upper);
                self.leading_zero += u64::from(value.first() == Some(&b'0') && value.iter().all(u8::is_ascii_digit));
            }
            Form::Decimal => {
                let zeros = value.rsplit(|&byte| byte == b'.').next().unwrap_or_default();
                self.whole_decimals += u64::from(zeros.iter().all(|&byte| byte == b'0'));
            }
            _ => {}
        }
    }

    /// Takes over the counts of further values.
    pub(crate) fn add(&mut self, more: &Self) {
        self.outer_space += more.outer_space;
        self.with_upper_case += more.with_upper_case;
        self.only_lower_case += more.only_lower_case;
        self.leading_zero += more.leading_zero;
        self.whole_decimals += more.whole_decimals;
    }
}

/// A notation that often keeps equal things from matching.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pitfall {
    /// What the values look like, in counts.
    pub what: String,
    /// The normaliser that mends it, on both sides.
    pub normaliser: &'static str,
    /// Nothing is wrong where the partner's column is of the same kind.
    pub only_beside_other_kinds: bool,
}

/// The pitfalls of a column whose values were counted so, the most telling first.
pub(crate) fn pitfalls(written: &KindCounts, looks: &Looks) -> Vec<Pitfall> {
    let mut found = Vec::new();
    let mut find = |what: String, normaliser, only_beside_other_kinds| {
        found.push(Pitfall { what, normaliser, only_beside_other_kinds });
    };
    let kind = written.kind();
    let (integers, decimals) = (written.of(Form::Integer), written.of(Form::Decimal));
    let numbers = if looks.whole_decimals == decimals { "int" } else { "decimal" };
    match (kind.form, kind.precision) {
        (Form::Decimal, _) if numbers == "int" && integers == 0 => {
            find(format!("the values are {kind}, which never match integers (5)"), "int", true);
        }
        (Form::Decimal, _) => find(
            format!("the values are {kind}: 5.10 and 5.1 are two keys, and 5.0 never matches an integer (5)"),
            "decimal",
            false,
        ),
        (Form::Integer | Form::Text, _) if integers > 0 && decimals > 0 => find(
            counted(
                decimals,
                "value among integers has a decimal point (5.0) and never matches them",
                "values among integers have a decimal point (5.0) and never match them",
            ),
            numbers,
            false,
        ),
        (form, Some(Precision::Day)) if form.is_timestamp() => find(
            format!("the values are {kind}: they never match dates"),
            if form.is_zoned() { "timestamp:utc:day" } else { "date" },
            true,
        ),
        (form, _) if form.is_zoned() => find(
            format!("the values are {kind}: they match only where the partner writes the same zone and notation"),
            "timestamp:utc",
            form == Form::ZonedTimestamp,
        ),
        (Form::SpacedTimestamp | Form::LongTimestamp, precision) => find(
            format!("the values are {kind}, which do not match those of Parquet and Arrow"),
            "timestamp:utc",
            // 10:00:00.500 and 10:00:00.5 are of one kind.
            kind.form == Form::SpacedTimestamp && precision == Some(Precision::Second),
        ),
        _ => {}
    }
    let dated = written.dated();
    if let Some(((main, most), others)) = dated.split_first()
        && !others.is_empty()
    {
        let others: u64 = others.iter().map(|(_, count)| count).sum();
        let has_date = dated.iter().any(|(kind, _)| kind.form == Form::Date);
        let has_zone = dated.iter().any(|(kind, _)| kind.form.is_zoned());
        let normaliser = match (has_date, has_zone) {
            (true, true) => "timestamp:utc:day",
            (true, false) => "date",
            _ => "timestamp:utc",
        };
        find(
            format!("the values have several notations: {main} ({most}), and other dates or times ({others})"),
            normaliser,
            false,
        );
    }
    found
}
