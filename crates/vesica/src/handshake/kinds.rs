//! What a side is told where the two sides write a key column in different kinds.

use crate::key::{KeySpec, Kind, Mend, mend};

/// A warning for each key column whose kinds differ, with what makes them meet. It follows from the
/// kinds alone: neither side learns from it whether anything matched.
pub(crate) fn warnings(spec: &KeySpec, ours: &[Kind], theirs: &[Kind]) -> Vec<String> {
    let pairs = spec.columns().iter().zip(ours).zip(theirs).enumerate();
    let differing = pairs.filter(|(_, ((_, ours), theirs))| ours != theirs);
    let told = differing.map(|(place, ((column, ours), theirs))| {
        let mend = match mend(*ours, *theirs) {
            Mend::Both(normaliser, remark) => {
                let (flag, whose) = (column.flag_with(&normaliser), whose_clock(*ours, *theirs));
                format!(
                    "start both sides again with --normalise {flag} (your partner with its own column's \
                     name){remark}{whose}"
                )
            }
            Mend::Otherwise(text) => format!("no normaliser makes them equal: {text}"),
            Mend::Nothing => {
                "no normaliser makes them equal: name other columns with --key, or rewrite one of the two".to_owned()
            }
        };
        format!(
            "{} (`{}`) holds {ours}; the partner's holds {theirs}. Keys of different kinds do not match, even where \
             they mean the same: {mend}",
            spec.place(place),
            column.name
        )
    });
    told.collect()
}

/// Which side has timestamps without a zone, where only one has.
fn whose_clock(ours: Kind, theirs: Kind) -> &'static str {
    let is_naive = |kind: Kind| kind.form.is_timestamp() && !kind.form.is_zoned();
    match (is_naive(ours), is_naive(theirs)) {
        (true, false) if theirs.form.is_zoned() => ". It is your column that has none; your partner may say utc",
        (false, true) if ours.form.is_zoned() => ". It is your partner's column that has none; you may say utc",
        _ => "",
    }
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

    const MD5: &str = "d41d8cd98f00b204e9800998ecf8427e";
    const UPPER_MD5: &str = "D41D8CD98F00B204E9800998ECF8427E";
    const SHA256: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    /// The same digest.
    const BASE64: &str = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";

    /// Each side hears what its digests and the partner's look like, and what to do; never to spoil base64.
    #[test]
    fn digests_of_two_kinds_are_told_apart() {
        let spec = KeySpec::parse(&["k"], &[]).expect("a key");
        let warned = |ours, theirs| warnings(&spec, &[kind(ours)], &[kind(theirs)]).concat();
        for (ours, theirs, parts) in [
            (MD5, SHA256, ["128 bits (MD5)", "256 bits (SHA-256)", "hash their keys with the same one"]),
            (SHA256, BASE64, ["in hexadecimal", "in base64", "lower spoils base64"]),
            (SHA256, "ann@x.org", ["256 bits (SHA-256)", "text", "seems to have hashed its keys"]),
        ] {
            for text in [warned(ours, theirs), warned(theirs, ours)] {
                assert!(parts.iter().all(|part| text.contains(part)), "{text}");
            }
        }
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
            ("True", "true", "bool"),
            ("1", "true", "bool"),
            ("x", "2013-01-01T10:00:00", "timestamp:ZONE"),
            ("5.5", "x", "decimal"),
            ("true", "2013-01-01", "none"),
            (MD5, UPPER_MD5, "lower"),
            ("78dde6e5-fd29-f057-ce73-018173b720d4", MD5, "uuid"),
            ("78dde6e5-fd29-f057-ce73-018173b720d4", "{x}", "uuid"),
            ("78dde6e5-fd29-f057-ce73-018173b720d4", SHA256, "none"),
            (MD5, SHA256, "none"),
            (SHA256, BASE64, "none"),
            (SHA256, "ann@x.org", "none"),
        ];
        for (ours, theirs, named) in cases {
            assert_eq!(flag(ours, theirs).as_deref(), Some(named), "{ours} and {theirs}");
        }
    }
}
