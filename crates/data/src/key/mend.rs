//! What makes keys of two kinds match.

use crate::key::hashed::HashSize;
use crate::key::{Form, Kind};

/// What makes two kinds meet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mend {
    /// A normaliser on both sides, and what is to be known of it.
    Both(String, &'static str),
    /// No normaliser does, but something else.
    Otherwise(&'static str),
    /// No normaliser does.
    Nothing,
}

/// What makes keys of two kinds match. Swapping the kinds does not change it, so both sides say the
/// same.
pub fn mend(a: Kind, b: Kind) -> Mend {
    let both = |normaliser: &str, remark| Mend::Both(normaliser.to_owned(), remark);
    let (first, second) = (a.form, b.form);
    let is = |form: Form| first == form || second == form;
    if first.is_timestamp() && second.is_timestamp() {
        return timestamps(a, b);
    }
    // A UUID without its dashes is as long as a digest of MD5.
    let may_be_uuid = |form| matches!(form, Form::Text | Form::Hex(HashSize::Md5) | Form::UpperHex(HashSize::Md5));
    if is(Form::Uuid) && (may_be_uuid(first) || may_be_uuid(second)) {
        return both("uuid", ", which reads UUIDs with capitals, without dashes, in braces or behind urn:uuid:");
    }
    if first.hash_size().is_some() || second.hash_size().is_some() {
        return digests(first, second);
    }
    if is(Form::Date) && (first.is_zoned() || second.is_zoned()) {
        return both(
            "timestamp:ZONE:day",
            ", where ZONE is the time zone in which the dates are meant: utc, or an offset such as +02:00",
        );
    }
    if is(Form::Date) && (first.is_timestamp() || second.is_timestamp()) {
        return both("date", ", which keeps the date of a timestamp");
    }
    if is(Form::Date) && is(Form::Integer) {
        return both("date", ", if the integers are dates such as 20130131");
    }
    if is(Form::Date) && is(Form::Text) {
        return both("date", ", the side with text with its own format: for example date:%d.%m.%Y");
    }
    if is(Form::Text) && (first.is_timestamp() || second.is_timestamp()) {
        return both("timestamp:ZONE", ", once the text is written as ISO 8601 (2013-01-31T10:00:00)");
    }
    if is(Form::Decimal) && is(Form::Integer) {
        return both("int", ", which reads 5.0 as 5 and refuses 5.5 (decimal takes both)");
    }
    if is(Form::Text) && is(Form::Integer) {
        return both("int", ", if the text holds whole numbers, for example with leading zeros");
    }
    if is(Form::Text) && is(Form::Decimal) {
        return both("decimal", ", if the text holds numbers");
    }
    if is(Form::Text) && is(Form::Boolean) {
        return both("bool", ", if the text is True and False, t and f, or yes and no");
    }
    if is(Form::Integer) && is(Form::Boolean) {
        return both("bool", ", if the integers are 1 and 0");
    }
    Mend::Nothing
}

fn digests(first: Form, second: Form) -> Mend {
    match (first, second) {
        (Form::Hex(one), Form::UpperHex(other)) | (Form::UpperHex(one), Form::Hex(other)) if one == other => {
            Mend::Both("lower".to_owned(), "")
        }
        (one, other) if one.hash_size() == other.hash_size() => Mend::Otherwise(
            "write the digests of one side in the notation of the other, for example both in hexadecimal; --normalise \
             lower spoils base64",
        ),
        (one, other) if one.hash_size().is_some() && other.hash_size().is_some() => Mend::Otherwise(
            "digests of two lengths come from two functions: let both sides hash their keys with the same one, after the \
             same normalising and with the same salt, if there is one",
        ),
        _ => Mend::Otherwise(
            "one side seems to have hashed its keys: let both hash them in the same way, after the same normalising, or name \
             columns that are not hashed",
        ),
    }
}

fn timestamps(a: Kind, b: Kind) -> Mend {
    let coarser = a.precision.min(b.precision);
    let precision = match coarser {
        // What one side has cut, the other must cut.
        Some(precision) if a.precision != b.precision => format!(":{}", precision.name()),
        _ => String::new(),
    };
    if a.form.is_zoned() == b.form.is_zoned() {
        return Mend::Both(format!("timestamp:utc{precision}"), "");
    }
    let zone = ", where ZONE is the time zone of the timestamps without one: utc, or an offset such as +02:00";
    Mend::Both(format!("timestamp:ZONE{precision}"), zone)
}
