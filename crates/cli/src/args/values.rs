//! Values of flags.

use std::num::NonZeroUsize;
use std::time::Duration;

use clap::ValueEnum;
use vesica::buckets::{BY_SIZE, MOST_BUCKETS};
use vesica::party::Security;
use vesica::table::Join;

/// `--security`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum SecurityName {
    /// Secure even if your partner breaks the rules of the protocol
    Malicious,
    /// Secure if your partner follows the protocol, whatever it tries to learn from what it
    /// receives. A large join without payload then takes about half the traffic
    SemiHonest,
}

impl From<SecurityName> for Security {
    fn from(name: SecurityName) -> Self {
        match name {
            SecurityName::Malicious => Self::Malicious,
            SecurityName::SemiHonest => Self::SemiHonest,
        }
    }
}

/// `--join`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum JoinName {
    /// Your rows whose key your partner has
    Inner,
    /// All your rows, with your partner's columns beside them, which are empty where your partner does
    /// not have the key
    Left,
    /// Your rows whose key your partner does not have, and your rows without a usable key
    Difference,
}

impl From<JoinName> for Join {
    fn from(name: JoinName) -> Self {
        match name {
            JoinName::Inner => Self::Inner,
            JoinName::Left => Self::Left,
            JoinName::Difference => Self::Difference,
        }
    }
}

/// `--progress`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ProgressName {
    /// A bar if standard error is a terminal, and else a few lines of a run that takes longer than 30 s
    Auto,
    /// Lines for a log: one for each stage, and one every 30 s within a stage
    Plain,
    /// One JSON object on each line, of which docs/operating.md lists the fields. Warnings and errors are
    /// such objects too
    Json,
    /// Not at all
    Never,
}

/// `--wait` and `--deadline`: seconds, or a number with `s`, `m`, `h` or `d`.
pub fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = text.split_at(text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len()));
    let factor = match unit {
        "" | "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => return Err("give seconds, or a number with s, m, h or d, for example 90 or 15m".into()),
    };
    let seconds = number.parse::<f64>().map_err(|_| "not a number")? * factor;
    Duration::try_from_secs_f64(seconds).map_err(|_| "not a length of time".into())
}

/// Counts such as `--pad-to`: digits, `_` between them, or a whole number like `1e6`.
pub fn count(text: &str) -> Result<u64, String> {
    let plain = text.replace('_', "");
    if let Ok(count) = plain.parse() {
        return Ok(count);
    }
    match plain.parse::<f64>() {
        Ok(count) if count.fract() == 0.0 && (0.0..=9e15).contains(&count) => Ok(count as u64),
        _ => Err("not a whole number".into()),
    }
}

/// A count of at least 1.
pub fn some(text: &str) -> Result<u64, String> {
    match count(text)? {
        0 => Err("0 is not possible; say 1 or more".into()),
        count => Ok(count),
    }
}

/// `--reveal-if-at-least`: a count, or `none` for 0.
pub fn threshold(text: &str) -> Result<u64, String> {
    if text == "none" { Ok(0) } else { count(text).map_err(|fault| format!("{fault}, and not `none`")) }
}

/// `--memory`: bytes, or a number with KiB, MiB or GiB.
pub fn size(text: &str) -> Result<u64, String> {
    let (number, unit) = text.split_at(text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len()));
    let shift = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        "t" | "tb" | "tib" => 40,
        _ => return Err("give bytes, or a number with KiB, MiB or GiB, for example 500MiB or 8GiB".into()),
    };
    match number.trim().parse::<f64>().map(|number| number * f64::from(2u32).powi(shift)) {
        Ok(bytes) if (1.0..=9e15).contains(&bytes) => Ok(bytes as u64),
        _ => Err("not a size of memory".into()),
    }
}

/// `--buckets`: a number, or `auto` for as many as the sizes call for.
pub fn buckets(text: &str) -> Result<u32, String> {
    if text == "auto" {
        return Ok(BY_SIZE);
    }
    let number: u64 = text.parse().map_err(|_| "give a number, or auto".to_owned())?;
    let known = u32::try_from(number).ok().filter(|number| (1..=MOST_BUCKETS).contains(number));
    known.ok_or_else(|| format!("{number} is not in 1..={MOST_BUCKETS}"))
}

/// `--threads`.
pub fn threads(text: &str) -> Result<NonZeroUsize, String> {
    const MOST: usize = 1024;
    let threads = text.parse().ok().filter(|&threads: &NonZeroUsize| threads.get() <= MOST);
    threads.ok_or_else(|| format!("give a number from 1 to {MOST}, or omit --threads for one thread for each core"))
}

/// `--payload`: names of columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns(pub Vec<String>);

/// Names between commas. One that holds a comma stands in double quotes, and a double quote in it
/// is doubled.
pub fn columns(text: &str) -> Result<Columns, String> {
    let mut names = Vec::new();
    let mut rest = text;
    loop {
        let (name, after) = match rest.strip_prefix('"') {
            Some(quoted) => unquote(quoted)
                .ok_or("a name in double quotes has no closing quote; write for example '\"Sales, net\",score'")?,
            None => {
                let (name, after) = rest.split_at(rest.find(',').unwrap_or(rest.len()));
                (name.to_owned(), after)
            }
        };
        names.push(name);
        match after.strip_prefix(',') {
            Some(more) => rest = more,
            None if after.is_empty() => return Ok(Columns(names)),
            None => return Err("text follows a closing double quote; double a quote that belongs to the name".into()),
        }
    }
}

/// The name that starts behind a double quote, and what follows the one that ends it.
fn unquote(mut rest: &str) -> Option<(String, &str)> {
    let mut name = String::new();
    loop {
        let (part, after) = rest.split_once('"')?;
        name.push_str(part);
        match after.strip_prefix('"') {
            Some(more) => {
                name.push('"');
                rest = more;
            }
            None => return Some((name, after)),
        }
    }
}

/// `--delimiter`: one ASCII character, or `tab`.
pub fn delimiter(text: &str) -> Option<u8> {
    match text.as_bytes() {
        b"tab" | b"\\t" => Some(b'\t'),
        [one] if one.is_ascii() && !matches!(one, b'"' | b'\r' | b'\n' | 0) => Some(*one),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_counts_and_delimiters() {
        assert_eq!(duration("90"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("2d"), Ok(Duration::from_secs(172_800)));
        assert_eq!(duration("1.5m"), Ok(Duration::from_secs(90)));
        assert!(duration("-1").is_err() && duration("1w").is_err() && duration("").is_err());
        assert_eq!((count("1e6"), count("1_000_000")), (Ok(1_000_000), Ok(1_000_000)));
        assert_eq!((threshold("none"), threshold("20")), (Ok(0), Ok(20)));
        assert!(threshold("many").is_err() && threshold("").is_err());
        assert!(count("1.5").is_err() && count("-3").is_err() && count("many").is_err());
        assert_eq!(["4096", "1.5k", "500MiB", "8g"].map(size), [4096, 1536, 500 << 20, 8 << 30].map(Ok));
        assert!(["", "0", "-1", "GiB", "8 apples", "1e300g"].iter().all(|text| size(text).is_err()));
        assert_eq!(threads("2").map(NonZeroUsize::get), Ok(2));
        assert!(threads("0").is_err() && threads("-1").is_err() && threads("1e9").is_err());
        assert_eq!((delimiter(";"), delimiter("tab"), delimiter("\"")), (Some(b';'), Some(b'\t'), None));
    }

    #[test]
    fn names_of_columns_may_hold_commas_and_quotes() {
        for (text, names) in [
            ("a", &["a"][..]),
            ("a,b c", &["a", "b c"]),
            (r#""Umsatz, netto",score"#, &["Umsatz, netto", "score"]),
            (r#"score,"a ""b"", c""#, &["score", r#"a "b", c"#]),
            (r#"5" disk,b"#, &[r#"5" disk"#, "b"]),
            (r#""",b"#, &["", "b"]),
        ] {
            assert_eq!(
                columns(text).map(|columns| columns.0),
                Ok(names.iter().map(|&name| name.to_owned()).collect()),
                "{text}"
            );
        }
        for text in [r#""a"#, r#""a"b"#, r#"x,"a"#] {
            assert!(columns(text).is_err(), "{text}");
        }
    }
}
