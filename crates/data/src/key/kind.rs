//! The kind of a key column: how most of its values are written once its normalisers have been
//! applied.
//!
//! Keys are compared as texts. Where two columns hold the same things in different kinds (`5.0` and
//! `5`, a date and a timestamp at midnight), no key matches although the tables share rows. Each
//! side tells the other the kinds of its key columns, one of the few that [`Kind`] can name, so
//! that both can say so.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::key::hashed::{self, HashSize, Notation};
use crate::key::{Precision, date, uuid};

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// None of those below.
    Text,
    /// The shortest decimal of an integer.
    Integer,
    /// Decimal digits with a point.
    Decimal,
    /// `true` or `false`.
    Boolean,
    /// `2013-01-31`.
    Date,
    /// No UTF-8.
    Bytes,
    /// `78dde6e5-fd29-f057-ce73-018173b720d4`.
    Uuid,
    /// Without a zone, as timestamps of Parquet and Arrow become keys: `2013-01-31T10:00:00.5`.
    Timestamp,
    /// Without a zone, with a space.
    SpacedTimestamp,
    /// Without a zone, with a `T` and further zeros, or without seconds.
    LongTimestamp,
    /// In UTC, as timestamps with a zone of Parquet and Arrow become keys:
    /// `2013-01-31T10:00:00.5Z`.
    ZonedTimestamp,
    /// With a zone and a space.
    SpacedZonedTimestamp,
    /// With a zone and a `T`, in another notation.
    LongZonedTimestamp,
    /// A digest in hexadecimal, in lower case.
    Hex(HashSize),
    /// A digest in hexadecimal, in upper case.
    UpperHex(HashSize),
    /// A digest in base64.
    Base64(HashSize),
}

/// Forms without a precision.
const PLAIN: [Form; 19] = [
    Form::Text,
    Form::Integer,
    Form::Decimal,
    Form::Boolean,
    Form::Date,
    Form::Bytes,
    Form::Uuid,
    Form::Hex(HashSize::Md5),
    Form::Hex(HashSize::Sha1),
    Form::Hex(HashSize::Sha256),
    Form::Hex(HashSize::Sha512),
    Form::UpperHex(HashSize::Md5),
    Form::UpperHex(HashSize::Sha1),
    Form::UpperHex(HashSize::Sha256),
    Form::UpperHex(HashSize::Sha512),
    Form::Base64(HashSize::Md5),
    Form::Base64(HashSize::Sha1),
    Form::Base64(HashSize::Sha256),
    Form::Base64(HashSize::Sha512),
];

/// Forms that are counted for each precision.
const TIMES: [Form; 6] = [
    Form::Timestamp,
    Form::SpacedTimestamp,
    Form::LongTimestamp,
    Form::ZonedTimestamp,
    Form::SpacedZonedTimestamp,
    Form::LongZonedTimestamp,
];

impl Form {
    /// Whether this is a date with a time of day.
    pub fn is_timestamp(self) -> bool {
        TIMES.contains(&self)
    }

    /// The length of the digest that this is.
    pub fn hash_size(self) -> Option<HashSize> {
        match self {
            Self::Hex(size) | Self::UpperHex(size) | Self::Base64(size) => Some(size),
            _ => None,
        }
    }

    /// Whether this is a timestamp that says its zone.
    pub fn is_zoned(self) -> bool {
        matches!(self, Self::ZonedTimestamp | Self::SpacedZonedTimestamp | Self::LongZonedTimestamp)
    }
}

/// How the values of a column are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Kind {
    /// The form of at least nine in ten values, else text.
    pub form: Form,
    /// Timestamps: the precision that most of them need, day where most are at midnight.
    pub precision: Option<Precision>,
}

impl Kind {
    /// Neither a form nor a precision that no side finds.
    pub fn is_sound(self) -> bool {
        self.form.is_timestamp() == self.precision.is_some()
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.form {
            Form::Hex(size) => return write!(f, "digests of {} in hexadecimal", size.name()),
            Form::UpperHex(size) => return write!(f, "digests of {} in upper-case hexadecimal", size.name()),
            Form::Base64(size) => return write!(f, "digests of {} in base64", size.name()),
            Form::Text => "text",
            Form::Integer => "integers",
            Form::Decimal => "numbers with a decimal point (5.0)",
            Form::Boolean => "booleans",
            Form::Date => "dates (2013-01-31)",
            Form::Bytes => "bytes that are no text",
            Form::Uuid => "UUIDs (78dde6e5-fd29-f057-ce73-018173b720d4)",
            Form::Timestamp => "timestamps without a time zone (2013-01-31T10:00:00)",
            Form::SpacedTimestamp => "timestamps with a space and without a time zone (2013-01-31 10:00:00)",
            Form::LongTimestamp => {
                "timestamps without a time zone, in a long or short notation (2013-01-31T10:00:00.000)"
            }
            Form::ZonedTimestamp => "timestamps in UTC (2013-01-31T10:00:00Z)",
            Form::SpacedZonedTimestamp => "timestamps with a space and a time zone (2013-01-31 10:00:00+00)",
            Form::LongZonedTimestamp => "timestamps with a time zone (2013-01-31T10:00:00+00:00)",
        })?;
        match self.precision {
            None => Ok(()),
            Some(Precision::Day) => f.write_str(", most at midnight"),
            Some(precision) => write!(f, ", most to the {}", precision.unit()),
        }
    }
}

/// Counts of values by how they are written. Shown as their kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KindCounts([u64; PLACES]);

/// Forms without a precision, and the others for each precision.
const PLACES: usize = PLAIN.len() + TIMES.len() * Precision::ALL.len();

impl Default for KindCounts {
    fn default() -> Self {
        Self([0; PLACES])
    }
}

impl KindCounts {
    /// Counts a value, and gives the form in which it is written.
    pub fn count(&mut self, value: &[u8]) -> Form {
        let place = place(value);
        if let Some(count) = self.0.get_mut(place) {
            *count += 1;
        }
        form_at(place)
    }

    /// How many values were counted.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Takes over the counts of further values.
    pub(crate) fn add(&mut self, more: &Self) {
        for (count, more) in self.0.iter_mut().zip(more.0) {
            *count += more;
        }
    }

    /// The counts themselves, in an order of this release.
    pub(crate) fn counts(&self) -> &[u64] {
        &self.0
    }

    /// The counts that [`Self::counts`] gave.
    pub(crate) fn of_counts(counts: Vec<u64>) -> Option<Self> {
        counts.try_into().ok().map(Self)
    }

    /// How many values are of a form that has no precision.
    pub(crate) fn of(&self, form: Form) -> u64 {
        self.0.get(plain(form)).copied().unwrap_or_default()
    }

    /// How many values are digests in lower-case and in upper-case hexadecimal.
    pub(crate) fn hexadecimal(&self) -> [u64; 2] {
        let mut found = [0; 2];
        for (form, count) in PLAIN.iter().zip(&self.0) {
            match form {
                Form::Hex(_) => found[0] += count,
                Form::UpperHex(_) => found[1] += count,
                _ => {}
            }
        }
        found
    }

    /// Dates and times by the kinds of their forms, the most frequent first; none that does not occur.
    pub(crate) fn dated(&self) -> Vec<(Kind, u64)> {
        let (_, times) = self.0.split_at(PLAIN.len());
        let dates = (Kind { form: Form::Date, precision: None }, self.of(Form::Date));
        let times = TIMES.iter().zip(times.chunks(Precision::ALL.len())).map(|(&form, counts)| {
            let precision = most_frequent(counts);
            (Kind { form, precision }, counts.iter().sum())
        });
        let mut found: Vec<(Kind, u64)> = std::iter::once(dates).chain(times).filter(|&(_, count)| count > 0).collect();
        found.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
        found
    }

    /// The kind of what was counted.
    pub fn kind(&self) -> Kind {
        let all = self.total();
        let (plain, times) = self.0.split_at(PLAIN.len());
        let most = |count: u64| count > 0 && count * 10 >= all * 9;
        if let Some((&form, _)) = PLAIN.iter().zip(plain).find(|&(_, &count)| most(count)) {
            return Kind { form, precision: None };
        }
        for (&form, counts) in TIMES.iter().zip(times.chunks(Precision::ALL.len())) {
            if most(counts.iter().sum()) {
                return Kind { form, precision: most_frequent(counts) };
            }
        }
        Kind { form: Form::Text, precision: None }
    }
}

impl Serialize for KindCounts {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.kind().serialize(serializer)
    }
}

/// The precision with the largest of these counts, one for each.
fn most_frequent(counts: &[u64]) -> Option<Precision> {
    Precision::ALL.into_iter().zip(counts).max_by_key(|&(_, count)| count).map(|(precision, _)| precision)
}

/// The form that is counted at a place.
fn form_at(place: usize) -> Form {
    let time = place.checked_sub(PLAIN.len()).map(|time| time / Precision::ALL.len());
    let form = time.map_or_else(|| PLAIN.get(place), |time| TIMES.get(time));
    form.copied().unwrap_or(Form::Text)
}

/// Where values of a form without a precision are counted.
fn plain(form: Form) -> usize {
    PLAIN.iter().position(|&other| other == form).unwrap_or_default()
}

/// Where a value is counted.
fn place(value: &[u8]) -> usize {
    if uuid::is_normal(value) {
        return plain(Form::Uuid);
    }
    if let Some((notation, size)) = hashed::of(value) {
        return plain(match notation {
            Notation::Hex => Form::Hex(size),
            Notation::UpperHex => Form::UpperHex(size),
            Notation::Base64 => Form::Base64(size),
        });
    }
    match value {
        [b'0'..=b'9', ..] => {}
        // Most texts end here.
        [b'-', b'0'..=b'9', ..] => {}
        b"true" | b"false" => return plain(Form::Boolean),
        _ if value.is_ascii() || std::str::from_utf8(value).is_ok() => return plain(Form::Text),
        _ => return plain(Form::Bytes),
    }
    let digits = value.strip_prefix(b"-").unwrap_or(value);
    let whole = digits.iter().take_while(|b| b.is_ascii_digit()).count();
    match digits.split_at(whole).1 {
        [] if whole == 1 || digits.first() != Some(&b'0') => plain(Form::Integer),
        [b'.', fraction @ ..] if !fraction.is_empty() && fraction.iter().all(u8::is_ascii_digit) => {
            plain(Form::Decimal)
        }
        [b'-', ..] if whole == 4 => std::str::from_utf8(value).map_or(plain(Form::Bytes), dated),
        _ if std::str::from_utf8(value).is_ok() => plain(Form::Text),
        _ => plain(Form::Bytes),
    }
}

/// [`place`] of what begins like a date.
fn dated(text: &str) -> usize {
    let Ok((_, time)) = date::iso(text) else { return plain(Form::Text) };
    let Some(time) = time else { return plain(Form::Date) };
    // What the key of a timestamp of Parquet or Arrow looks like; 19 bytes are a date, a `T` and whole
    // seconds.
    let length = 19 + if time.digits == 0 { 0 } else { 1 + time.digits };
    let shortest = text.as_bytes().get(16) == Some(&b':') && (time.digits == 0 || !text[..length].ends_with('0'));
    let spaced = text.as_bytes().get(10) == Some(&b' ');
    let form = match (spaced, time.offset) {
        (true, None) => Form::SpacedTimestamp,
        (true, Some(_)) => Form::SpacedZonedTimestamp,
        (_, None) if shortest => Form::Timestamp,
        (_, None) => Form::LongTimestamp,
        (_, Some(_)) if shortest && text.ends_with('Z') && text.len() == length + 1 => Form::ZonedTimestamp,
        (_, Some(_)) => Form::LongZonedTimestamp,
    };
    let precision = match time {
        date::Time { seconds: 0, nanos: 0, .. } => Precision::Day,
        // Zeros at the end tell two notations with a space apart; those with a `T` are told apart by their forms.
        time if spaced => by_digits(time.digits),
        date::Time { nanos, .. } => {
            by_digits((0..9).find(|&digits| nanos.is_multiple_of(10_u32.pow(9 - digits))).unwrap_or(9) as usize)
        }
    };
    let form = TIMES.iter().position(|&other| other == form).unwrap_or_default();
    PLAIN.len() + form * Precision::ALL.len() + precision as usize
}

/// The precision that so many digits after the point of the second have.
fn by_digits(digits: usize) -> Precision {
    match digits {
        0 => Precision::Second,
        1..=3 => Precision::Millisecond,
        4..=6 => Precision::Microsecond,
        _ => Precision::Nanosecond,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(values: &[&str]) -> Kind {
        let mut counts = KindCounts::default();
        for value in values {
            counts.count(value.as_bytes());
        }
        counts.kind()
    }

    #[test]
    fn forms_of_single_values() {
        let cases: [(&str, Form, Option<Precision>); 39] = [
            ("", Form::Text, None),
            ("abc", Form::Text, None),
            ("-", Form::Text, None),
            ("-a", Form::Text, None),
            ("é", Form::Text, None),
            ("5é", Form::Text, None),
            ("5", Form::Integer, None),
            ("-5", Form::Integer, None),
            ("0", Form::Integer, None),
            ("05", Form::Text, None),
            ("+5", Form::Text, None),
            ("5a", Form::Text, None),
            ("5.0", Form::Decimal, None),
            ("-0.5", Form::Decimal, None),
            ("5.", Form::Text, None),
            ("5.0.0", Form::Text, None),
            ("true", Form::Boolean, None),
            ("True", Form::Text, None),
            ("2013-01-31", Form::Date, None),
            ("78dde6e5-fd29-f057-ce73-018173b720d4", Form::Uuid, None),
            ("78DDE6E5-fd29-f057-ce73-018173b720d4", Form::Text, None),
            ("78dde6e5fd29f057ce73018173b720d4", Form::Hex(HashSize::Md5), None),
            ("2013-02-31", Form::Text, None),
            ("2013-01-31x", Form::Text, None),
            ("2013-01-31T10:00:00", Form::Timestamp, Some(Precision::Second)),
            ("2013-01-31T00:00:00", Form::Timestamp, Some(Precision::Day)),
            ("2013-01-31T10:00:00.25", Form::Timestamp, Some(Precision::Millisecond)),
            ("2013-01-31T10:00:00.000001", Form::Timestamp, Some(Precision::Microsecond)),
            ("2013-01-31T10:00:00.000000001", Form::Timestamp, Some(Precision::Nanosecond)),
            ("2013-01-31T10:00", Form::LongTimestamp, Some(Precision::Second)),
            ("2013-01-31T00:00:00.000000", Form::LongTimestamp, Some(Precision::Day)),
            ("2013-01-31T10:00:00.000000", Form::LongTimestamp, Some(Precision::Second)),
            ("2013-01-31 10:00:00.500000", Form::SpacedTimestamp, Some(Precision::Microsecond)),
            ("2013-01-31 10:00:00", Form::SpacedTimestamp, Some(Precision::Second)),
            ("2013-01-31 00:00:00", Form::SpacedTimestamp, Some(Precision::Day)),
            ("2013-01-31T10:00:00.5Z", Form::ZonedTimestamp, Some(Precision::Millisecond)),
            ("2013-01-31 10:00:00+00", Form::SpacedZonedTimestamp, Some(Precision::Second)),
            ("2013-01-31T10:00:00+00:00", Form::LongZonedTimestamp, Some(Precision::Second)),
            ("2013-01-31T10:00:00.500Z", Form::LongZonedTimestamp, Some(Precision::Millisecond)),
        ];
        for (value, form, precision) in cases {
            assert_eq!(kind(&[value]), Kind { form, precision }, "{value:?}");
            assert!(kind(&[value]).is_sound(), "{value:?}");
        }
        let mut counts = KindCounts::default();
        for bytes in [&[0xff, 0x00][..], b"5\xff", b"2013-\xff"] {
            counts.count(bytes);
        }
        assert_eq!(counts.kind(), Kind { form: Form::Bytes, precision: None });
    }

    #[test]
    fn digests_are_told_by_length_and_notation() {
        let hex = |digits: usize| "0123456789abcdef".repeat(8)[..digits].to_owned();
        let base64 = |digits: usize, padding: usize| "Ab+9".repeat(22)[..digits].to_owned() + &"="[..1].repeat(padding);
        let sizes = [HashSize::Md5, HashSize::Sha1, HashSize::Sha256, HashSize::Sha512];
        let lengths = [(32, 22, 2), (40, 27, 1), (64, 43, 1), (128, 86, 2)];
        for (size, (digits, base, padding)) in sizes.into_iter().zip(lengths) {
            assert_eq!(kind(&[&hex(digits)]).form, Form::Hex(size));
            assert_eq!(kind(&[&hex(digits).to_uppercase()]).form, Form::UpperHex(size));
            assert_eq!(kind(&[&base64(base, padding)]).form, Form::Base64(size));
            assert_eq!(kind(&[&hex(digits).replace('f', "F")]).form, Form::Text, "both cases");
            assert_eq!(kind(&[&"1".repeat(digits)]).form, Form::Integer);
            assert_eq!(kind(&[&base64(base, padding).to_lowercase()]).form, Form::Text, "spoilt");
            assert!(kind(&[&hex(digits)]).is_sound());
        }
        for word in [
            "Donaudampfschifffahrt-Ag==x",
            "user1234567890@x.example",
            "Ab9Ab9Ab9Ab9Ab9Ab9Ab9A",
            "5f1d7a8b9c0d1e2f3a4b5c6d",
        ] {
            assert_eq!(kind(&[word]).form, Form::Text, "{word}");
        }
    }

    #[test]
    fn a_column_is_of_the_kind_of_nine_in_ten_values() {
        let column = |integers: usize| kind(&[vec!["5"; integers], vec!["x5"; 10 - integers]].concat()).form;
        assert_eq!(
            [column(10), column(9), column(8), column(1)],
            [Form::Integer, Form::Integer, Form::Text, Form::Text]
        );
        assert_eq!(kind(&[]).form, Form::Text);
        let times = ["2013-01-31 10:00:00", "2013-01-31 00:00:00", "2013-01-30 00:00:00"];
        assert_eq!(kind(&times), Kind { form: Form::SpacedTimestamp, precision: Some(Precision::Day) });
    }
}
