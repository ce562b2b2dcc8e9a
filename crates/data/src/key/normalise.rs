//! Declared normalisers. Each has a version that the handshake compares; a change of meaning is a
//! new version.

use std::borrow::Cow;
use std::fmt;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use crate::key::date::{self, DateFormat};
use crate::key::phone::{self, Phone, Reading};
use crate::key::{Form, Precision, SpecError, Timestamp, Unmatchable};
use crate::key::{email, notation, uuid};

/// One declared normaliser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Normaliser {
    /// `trim@1`: removes Unicode white space (property White_Space) at both ends.
    Trim,
    /// `lower@1`: each character to its lower case (Unicode default mapping, without context: a
    /// final sigma is `σ`).
    Lower,
    /// `nfc@1`: Unicode normalisation form C.
    Nfc,
    /// `email@2`: NFC, lower case, without white space, quotes, brackets, a name, `mailto:` or marks of
    /// lists around the address, and without marks of layout that nobody sees. Needs one `@` with
    /// text of the characters of addresses on both sides, and a domain without empty labels. Dots
    /// and `+tags` of the local part stay: they may name another mailbox.
    Email,
    /// `e164@3`: a telephone number to `+` and its digits (ITU-T E.164), as libphonenumber reads it
    /// in a country. A number with a fraction, an exponent or a minus is none.
    E164(Phone),
    /// `digits@2`: keeps `0` to `9` and drops the rest; a value without any is unmatchable, and so is
    /// one whose digits alone may be another number: with a fraction, an exponent or a minus, or with
    /// digits of another script.
    Digits,
    /// `date@2`: a date to `YYYY-MM-DD`. Without a format it reads `YYYY-MM-DD`, `YYYYMMDD`, and an
    /// ISO 8601 timestamp, of which it keeps the date as written (no change of time zone). Days
    /// that no calendar has are unmatchable. Where a format has no character between two numbers,
    /// each has all of its digits.
    Date(Option<DateFormat>),
    /// `timestamp@1`: a date or an ISO 8601 timestamp to one instant's text.
    Timestamp(Timestamp),
    /// `int@3`: an optional sign and decimal digits to the shortest decimal: `042`, `+42`, `42` and
    /// `42.0` are one key. `42.5` is unmatchable, and so are `1.000`, which may be a thousand, and `.0`
    /// behind more than a float holds.
    Int,
    /// `decimal@2`: an optional sign and decimal digits with or without a point, to the shortest
    /// decimal: `5.10`, `+5.1` and `05.1` are `5.1`; `5.0` and `5` are `5`. Exponents are unmatchable,
    /// and so is `.0` behind more than a float holds.
    Decimal,
    /// `bool@1`: `true`, `t`, `yes`, `y`, `on`, `1` to `true`, and `false`, `f`, `no`, `n`, `off`, `0` to
    /// `false`, in any case. The rest is unmatchable.
    Bool,
    /// `uuid@1`: a UUID with or without dashes, in braces or behind `urn:uuid:`, in any case, to its digits in
    /// lower case with dashes. The rest is unmatchable.
    Uuid,
}

impl Normaliser {
    /// Reads one name with its argument: `trim`, `e164:DE`, `date:%d.%m.%Y`.
    pub fn parse(text: &str) -> Result<Self, SpecError> {
        let (name, argument) = text.split_once(':').map_or((text, None), |(name, argument)| (name, Some(argument)));
        match (name, argument) {
            ("trim", None) => Ok(Self::Trim),
            ("lower", None) => Ok(Self::Lower),
            ("nfc", None) => Ok(Self::Nfc),
            ("email", None) => Ok(Self::Email),
            ("digits", None) => Ok(Self::Digits),
            ("int", None) => Ok(Self::Int),
            ("decimal", None) => Ok(Self::Decimal),
            ("bool", None) => Ok(Self::Bool),
            ("uuid", None) => Ok(Self::Uuid),
            ("date", None) => Ok(Self::Date(None)),
            ("date", Some(format)) => Ok(Self::Date(Some(DateFormat::parse(format)?))),
            ("e164", country) => Phone::parse(country.unwrap_or_default()).map(Self::E164),
            ("timestamp", zone) => Timestamp::parse(zone.unwrap_or_default()).map(Self::Timestamp),
            _ => Err(SpecError::UnknownNormaliser(text.to_owned())),
        }
    }

    /// Name and version, without local arguments: what both parties must have alike.
    pub fn agreed_name(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::Trim => "trim@1",
            Self::Lower => "lower@1",
            Self::Nfc => "nfc@1",
            Self::Email => "email@2",
            Self::E164(_) => phone::AGREED_NAME,
            Self::Digits => "digits@2",
            Self::Date(_) => "date@2",
            Self::Timestamp(timestamp) => return Cow::Owned(timestamp.agreed_name()),
            Self::Int => "int@3",
            Self::Decimal => "decimal@2",
            Self::Bool => "bool@1",
            Self::Uuid => "uuid@1",
        })
    }

    /// The form of every value that the normaliser gives; `None` where it follows the value that was
    /// given. A `decimal` may give integers.
    pub fn gives(&self) -> Option<Form> {
        match self {
            Self::Trim | Self::Lower | Self::Nfc | Self::Digits | Self::Decimal => None,
            Self::Email | Self::E164(_) => Some(Form::Text),
            Self::Date(_) => Some(Form::Date),
            Self::Timestamp(timestamp) if timestamp.precision() == Precision::Day => Some(Form::Date),
            Self::Timestamp(_) => Some(Form::ZonedTimestamp),
            Self::Int => Some(Form::Integer),
            Self::Bool => Some(Form::Boolean),
            Self::Uuid => Some(Form::Uuid),
        }
    }

    /// One of each normaliser, with arguments where it takes some.
    pub fn examples() -> Vec<Self> {
        let names = [
            "trim",
            "lower",
            "nfc",
            "email",
            "e164:DE",
            "digits",
            "int",
            "decimal",
            "bool",
            "uuid",
            "date",
            "date:%d.%m.%Y",
            "timestamp:utc",
            "timestamp:+02:00",
            "timestamp:utc:ms",
            "timestamp:+02:00:day",
        ];
        names.into_iter().filter_map(|name| Self::parse(name).ok()).collect()
    }

    /// Appends the normal form of `value` to `out`, which the caller cleared.
    pub fn apply(&self, value: &str, out: &mut String) -> Result<(), Unmatchable> {
        self.read(value, out).map(drop)
    }

    /// [`apply`](Self::apply), with how the value was read.
    pub(crate) fn read(&self, value: &str, out: &mut String) -> Result<Reading, Unmatchable> {
        match self {
            Self::Trim => out.push_str(value.trim()),
            Self::Lower => lower(value, out),
            Self::Nfc => nfc(value, out),
            Self::Email => email::read(value, out)?,
            Self::E164(phone) => return phone.read(value, out),
            Self::Digits => digits(value, out)?,
            Self::Date(None) => date::from_iso(value)?.write(out),
            Self::Date(Some(format)) => format.read(value)?.write(out),
            Self::Timestamp(timestamp) => timestamp.read(value, out)?,
            Self::Int => int(value, out)?,
            Self::Decimal => decimal(value, out)?,
            Self::Bool => out.push_str(if truth(value)? { "true" } else { "false" }),
            Self::Uuid => uuid::write(&uuid::read(value)?, out),
        }
        Ok(Reading::Only)
    }
}

impl fmt::Display for Normaliser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::E164(phone) => phone.fmt(f),
            Self::Timestamp(timestamp) => timestamp.fmt(f),
            Self::Date(Some(format)) => write!(f, "date:{format}"),
            other => f.write_str(other.agreed_name().split('@').next().unwrap_or_default()),
        }
    }
}

fn lower(value: &str, out: &mut String) {
    if value.is_ascii() {
        out.push_str(value);
        out.make_ascii_lowercase();
    } else {
        out.extend(value.chars().flat_map(char::to_lowercase));
    }
}

fn nfc(value: &str, out: &mut String) {
    if value.is_ascii() || is_nfc_quick(value.chars()) == IsNormalized::Yes {
        out.push_str(value);
    } else {
        out.extend(value.nfc());
    }
}

fn digits(value: &str, out: &mut String) -> Result<(), Unmatchable> {
    if value.bytes().all(|byte| byte.is_ascii_digit()) {
        out.push_str(value);
    } else {
        let is_other_digit = |c: char| !c.is_ascii() && c.is_numeric();
        if notation::may_be_another_number(value) || (!value.is_ascii() && value.contains(is_other_digit)) {
            return Err(Unmatchable);
        }
        out.extend(value.chars().filter(char::is_ascii_digit));
    }
    if out.is_empty() { Err(Unmatchable) } else { Ok(()) }
}

fn int(value: &str, out: &mut String) -> Result<(), Unmatchable> {
    let (is_negative, whole, fraction) = notation::decimal(value).ok_or(Unmatchable)?;
    // Programs that know no missing integers write whole numbers as floats.
    let is_whole = fraction.is_none_or(|zeros| !zeros.is_empty() && zeros.bytes().all(|byte| byte == b'0'));
    if whole.is_empty()
        || !is_whole
        || notation::may_be_thousands(whole, fraction)
        || (fraction.is_some() && notation::is_beyond_floats(whole))
    {
        return Err(Unmatchable);
    }
    match whole.trim_start_matches('0') {
        "" => out.push('0'),
        digits => {
            out.push_str(if is_negative { "-" } else { "" });
            out.push_str(digits);
        }
    }
    Ok(())
}

fn decimal(value: &str, out: &mut String) -> Result<(), Unmatchable> {
    let (is_negative, whole, fraction) = notation::decimal(value).ok_or(Unmatchable)?;
    if fraction == Some("") || (whole.is_empty() && fraction.is_none()) || notation::is_inexact(whole, fraction) {
        return Err(Unmatchable);
    }
    let (whole, fraction) = (whole.trim_start_matches('0'), fraction.unwrap_or_default().trim_end_matches('0'));
    if is_negative && !(whole.is_empty() && fraction.is_empty()) {
        out.push('-');
    }
    out.push_str(if whole.is_empty() { "0" } else { whole });
    if !fraction.is_empty() {
        out.push('.');
        out.push_str(fraction);
    }
    Ok(())
}

fn truth(value: &str) -> Result<bool, Unmatchable> {
    let is = |words: [&str; 6]| words.iter().any(|word| value.eq_ignore_ascii_case(word));
    if is(["true", "t", "yes", "y", "on", "1"]) {
        Ok(true)
    } else if is(["false", "f", "no", "n", "off", "0"]) {
        Ok(false)
    } else {
        Err(Unmatchable)
    }
}

/// A column's normalisers with the buffers they need, so that no row allocates.
pub(crate) struct Chain<'a> {
    normalisers: &'a [Normaliser],
    current: String,
    next: String,
    /// How the last value was read.
    pub reading: Reading,
}

impl<'a> Chain<'a> {
    pub(crate) fn new(normalisers: &'a [Normaliser]) -> Self {
        Self { normalisers, current: String::new(), next: String::new(), reading: Reading::Only }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.normalisers.is_empty()
    }

    /// The value after all normalisers. An empty intermediate result ends the chain: an empty
    /// component never matches.
    pub(crate) fn apply<'b>(&'b mut self, value: &'b str) -> Result<&'b str, Unmatchable> {
        let Some((first, rest)) = self.normalisers.split_first() else { return Ok(value) };
        self.current.clear();
        self.reading = first.read(value, &mut self.current)?;
        for normaliser in rest {
            if self.current.is_empty() {
                break;
            }
            self.next.clear();
            let reading = normaliser.read(&self.current, &mut self.next)?;
            if reading != Reading::Only {
                self.reading = reading;
            }
            std::mem::swap(&mut self.current, &mut self.next);
        }
        Ok(&self.current)
    }
}
