//! What a side is told where the two sides write a key column in different kinds.

use crate::key::{Form, KeySpec, Kind};

/// A warning for each key column whose kinds differ, with what makes them meet. It follows from the
/// kinds alone: neither side learns from it whether anything matched.
pub(crate) fn warnings(spec: &KeySpec, ours: &[Kind], theirs: &[Kind]) -> Vec<String> {
    let pairs = spec.columns().iter().zip(ours).zip(theirs).enumerate();
    let differing = pairs.filter(|(_, ((_, ours), theirs))| ours != theirs);
    let told = differing.map(|(place, ((column, ours), theirs))| {
        let mend = match mend(*ours, *theirs) {
            Mend::Both(normaliser, remark) => {
                let name = &column.name;
                format!(
                    "start both sides again with --normalise {name}={normaliser} (your partner with its own column's \
                     name){remark}"
                )
            }
            Mend::Nothing => {
                "no normaliser makes them equal: name other columns with --key, or rewrite one of the two".to_owned()
            }
        };
        format!(
            "key column {} (`{}`) holds {ours}; the partner's holds {theirs}. Keys of different kinds do not match, \
             even where they mean the same: {mend}",
            place + 1,
            column.name
        )
    });
    told.collect()
}

/// What makes two kinds meet.
#[derive(Debug, PartialEq, Eq)]
enum Mend {
    /// A normaliser on both sides, and what is to be known of it.
    Both(String, &'static str),
    Nothing,
}

/// What makes keys of two kinds match. Swapping the kinds does not change it, so both sides say the
/// same.
fn mend(a: Kind, b: Kind) -> Mend {
    let both = |normaliser: &str, remark| Mend::Both(normaliser.to_owned(), remark);
    let (first, second) = (a.form, b.form);
    let is = |form: Form| first == form || second == form;
    if first.is_timestamp() && second.is_timestamp() {
        return timestamps(a, b);
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
        return both("int", ", which reads 5.0 as 5");
    }
    if is(Form::Text) && (is(Form::Integer) || is(Form::Decimal)) {
        return both("int", ", if the text holds whole numbers, for example with leading zeros");
    }
    if is(Form::Text) && is(Form::Boolean) {
        return both("lower", ", if the text is True and False");
    }
    Mend::Nothing
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::KindCounts;

    fn kind(value: &str) -> Kind {
        let mut counts = KindCounts::default();
        counts.count(value.as_bytes());
        counts.kind()
    }

    fn flag(ours: &str, theirs: &str) -> Option<String> {
        let spec = KeySpec::parse(&["k"], &[]).expect("a key");
        let warned = |ours, theirs| warnings(&spec, &[kind(ours)], &[kind(theirs)]);
        let flags = |warned: &[String]| -> Option<String> {
            let (_, flag) = warned.first()?.split_once("--normalise k=").unwrap_or(("", "none "));
            flag.split([' ', ',']).next().map(str::to_owned)
        };
        let (here, there) = (warned(ours, theirs), warned(theirs, ours));
        assert_eq!(flags(&here), flags(&there), "both sides say the same");
        flags(&here)
    }

    #[test]
    fn equal_kinds_are_silent_and_others_name_the_flag_that_mends_them() {
        for same in ["x", "5", "5.0", "true", "2013-01-31", "2013-01-31T10:00:00", "2013-01-31 10:00:00+00"] {
            assert_eq!(flag(same, same), None);
        }
        let cases = [
            ("2013-01-01 00:00:00", "2013-01-01T00:00:00", "timestamp:utc"),
            ("2013-01-01 10:00:00", "2013-01-01T10:00:00", "timestamp:utc"),
            ("2013-01-01 10:00:00", "2013-01-01T10:00:00Z", "timestamp:ZONE"),
            ("2013-01-01T10:00:00.125", "2013-01-01T10:00:00.125001", "timestamp:utc:ms"),
            ("2013-01-01 10:00:00+00", "2013-01-01T10:00:00Z", "timestamp:utc"),
            ("2013-01-01", "2013-01-01T00:00:00", "date"),
            ("2013-01-01", "2013-01-01 00:00:00", "date"),
            ("2013-01-01", "2013-01-01T00:00:00Z", "timestamp:ZONE:day"),
            ("2013-01-01", "1.1.2013", "date"),
            ("20130101", "2013-01-01", "date"),
            ("5.0", "5", "int"),
            ("007", "7", "int"),
            ("True", "true", "lower"),
            ("x", "2013-01-01T10:00:00", "timestamp:ZONE"),
            ("true", "5", "none"),
        ];
        for (ours, theirs, named) in cases {
            assert_eq!(flag(ours, theirs).as_deref(), Some(named), "{ours} and {theirs}");
        }
    }
}
