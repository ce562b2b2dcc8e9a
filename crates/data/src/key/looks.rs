//! What often keeps equal things from matching although both columns are of one kind: blanks,
//! capitals, zeros.

use crate::invisible::is_invisible;
use crate::key::{Form, KindCounts, Precision, notation};
use crate::words::counted;

/// Counts of values by details of their notation that a [`Kind`](crate::key::Kind) does not tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
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
    /// Numbers with an exponent (1.23457E+11), those that a normaliser refused among them.
    pub exponents: u64,
    /// Texts with a character that nobody sees.
    pub invisible: u64,
    /// Which of the list of invisible characters these are, a bit each.
    pub invisible_kinds: u16,
    /// Texts that end in a NUL byte.
    pub nul_padded: u64,
    /// Texts of two upper-case letters.
    pub two_capitals: u64,
}

/// Characters that nobody sees, as far as they are told apart.
const INVISIBLE: [char; 10] = [
    '\u{ad}', '\u{200b}', '\u{200c}', '\u{200d}', '\u{200e}', '\u{200f}', '\u{2060}', '\u{fe0f}', '\u{feff}',
    '\u{3164}',
];

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
                self.nul_padded += u64::from(value.last() == Some(&0));
                self.two_capitals += u64::from(value.len() == 2 && value.iter().all(u8::is_ascii_uppercase));
                self.count_exponent(value);
                if !value.is_ascii() {
                    self.count_invisible(value);
                }
            }
            Form::Decimal => {
                let zeros = value.rsplit(|&byte| byte == b'.').next().unwrap_or_default();
                self.whole_decimals += u64::from(zeros.iter().all(|&byte| byte == b'0'));
            }
            _ => {}
        }
    }

    /// Counts a value that a normaliser refused.
    pub(crate) fn count_refused(&mut self, value: &[u8]) {
        self.count_exponent(value);
    }

    /// Counts a number with an exponent. `1E5` may be a code.
    fn count_exponent(&mut self, value: &[u8]) {
        if !matches!(value.first(), Some(b'0'..=b'9' | b'+' | b'-')) {
            return;
        }
        let is_number = || std::str::from_utf8(value).is_ok_and(notation::has_exponent);
        self.exponents += u64::from(value.iter().any(|byte| b".,+-".contains(byte)) && is_number());
    }

    fn count_invisible(&mut self, value: &[u8]) {
        let text = std::str::from_utf8(value).unwrap_or_default();
        let mut kinds = 0;
        for c in text.chars().filter(|&c| is_invisible(c)) {
            kinds |= 1 << INVISIBLE.iter().position(|&known| known == c).unwrap_or(INVISIBLE.len());
        }
        self.invisible += u64::from(kinds > 0);
        self.invisible_kinds |= kinds;
    }

    /// The code points of the characters that nobody sees.
    fn invisible_names(&self) -> String {
        let is_there = |place: usize| self.invisible_kinds & (1 << place) != 0;
        let each = INVISIBLE.iter().enumerate().filter(|&(place, _)| is_there(place));
        let mut names: Vec<String> = each.map(|(_, &c)| format!("U+{:04X}", u32::from(c))).collect();
        if is_there(INVISIBLE.len()) {
            names.push("others".to_owned());
        }
        names.join(", ")
    }

    /// What is to be said of the values whatever the partner has, and no normaliser mends.
    pub(crate) fn faults(&self) -> Vec<String> {
        let mut found = Vec::new();
        if self.exponents > 0 {
            found.push(format!(
                "{} with an exponent (1.23457E+11): such numbers have lost digits, and match no number that is written in \
                 full; have the program that writes the table write this column as text",
                counted(self.exponents, "value is a number", "values are numbers")
            ));
        }
        if self.invisible > 0 {
            found.push(format!(
                "{} characters that nobody sees ({}), and only values with the same ones match: remove them where the \
                 table is written",
                counted(self.invisible, "value has", "values have"),
                self.invisible_names()
            ));
        }
        if self.nul_padded > 0 {
            found.push(format!(
                "{} in NUL bytes, as columns of a fixed width are filled up, and only values with as many of them match: \
                 cut them where the table is written",
                counted(self.nul_padded, "value ends", "values end")
            ));
        }
        found
    }

    /// Takes over the counts of further values.
    pub(crate) fn add(&mut self, more: &Self) {
        self.exponents += more.exponents;
        self.invisible += more.invisible;
        self.invisible_kinds |= more.invisible_kinds;
        self.nul_padded += more.nul_padded;
        self.two_capitals += more.two_capitals;
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
    let [small, capital] = written.hexadecimal();
    if small > 0 && capital > 0 {
        let what =
            format!("the values are digests in hexadecimal of both cases, upper ({capital}) and lower ({small})");
        find(what, "lower", false);
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
