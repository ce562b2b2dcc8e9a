//! What a column of a paper's table states.

use serde::Deserialize;

use crate::Network;

/// What a column states.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum What {
    /// Bits over the number of items.
    Bits,
    /// Communication of both sides in MiB.
    MiB,
    /// The same in MB.
    MB,
    /// Seconds over a link.
    Seconds(Network),
}

/// The part of a run that a column is of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Part {
    /// All of it.
    Whole,
    /// What a service does once for a set and a client.
    OneTime,
    /// One query.
    Query,
    /// One of so many queries, with its share of what is done once.
    QueryOf(u32),
}

impl Part {
    /// What the part takes of what is done once, and of a query.
    pub(super) fn of(self, one_time: f64, query: f64) -> f64 {
        match self {
            Self::Whole => one_time + query,
            Self::OneTime => one_time,
            Self::Query => query,
            Self::QueryOf(queries) => one_time / f64::from(queries) + query,
        }
    }
}

/// A column; where rows have no sizes, with one of its own.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub struct Column {
    /// The part of a run.
    pub part: Part,
    /// What is stated of it.
    pub what: What,
    /// `log2` of the items a side.
    pub log: Option<u32>,
}

impl TryFrom<String> for Column {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text).ok_or_else(|| format!("there is no column {text:?}"))
    }
}

impl Column {
    /// Reads `bits`, `MiB`, `MB`, `s loopback` or `s RATE RTT`, and perhaps `log2` of a size behind
    /// it; before it perhaps a part: `one-time`, `query` or `query-of M`.
    pub fn parse(text: &str) -> Option<Self> {
        let words: Vec<&str> = text.split(' ').collect();
        let (part, words) = match words.as_slice() {
            ["one-time", words @ ..] => (Part::OneTime, words),
            ["query", words @ ..] => (Part::Query, words),
            ["query-of", queries, words @ ..] => (Part::QueryOf(queries.parse().ok()?), words),
            words => (Part::Whole, words),
        };
        let (what, rest) = match words {
            ["bits", rest @ ..] => (What::Bits, rest),
            ["MiB", rest @ ..] => (What::MiB, rest),
            ["MB", rest @ ..] => (What::MB, rest),
            ["s", "loopback", rest @ ..] => (What::Seconds(Network::Loopback), rest),
            ["s", rate, trip, rest @ ..] => (What::Seconds(format!("{rate},{trip}").parse().ok()?), rest),
            _ => return None,
        };
        let log = match rest {
            [] => None,
            [log] => Some(log.parse().ok()?),
            _ => return None,
        };
        Some(Self { part, what, log })
    }

    /// Its title.
    pub fn head(&self) -> String {
        let what = match self.what {
            What::Bits => "bits an item".into(),
            What::MiB => "MiB".into(),
            What::MB => "MB".into(),
            What::Seconds(link) => format!("s, {}", link_name(link)),
        };
        let what = match self.part {
            Part::Whole => what,
            Part::OneTime => format!("once: {what}"),
            Part::Query => format!("a query: {what}"),
            Part::QueryOf(queries) => format!("m = {queries}: {what}"),
        };
        self.log.map_or(what.clone(), |log| format!("{what}, 2^{log}"))
    }

    /// `log2` of both sizes: its own, or those of the row.
    pub(super) fn sizes(&self, of_row: Option<(u32, u32)>) -> Option<(u32, u32)> {
        self.log.map(|log| (log, log)).or(of_row)
    }
}

/// A link as titles of columns have it.
pub fn link_name(link: Network) -> String {
    match link {
        Network::Loopback | Network::Lan => "LAN".into(),
        Network::Shaped(link) | Network::Namespaces(link) => {
            let rate = match link.bits_per_second as f64 {
                rate if rate < 1e9 => format!("{} Mbit/s", rate / 1e6),
                rate => format!("{} Gbit/s", rate / 1e9),
            };
            format!("{rate}, {} ms", link.round_trip_us as f64 / 1e3)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_read_and_named() {
        for (text, head) in [
            ("MB", "MB"),
            ("bits 20", "bits an item, 2^20"),
            ("s loopback", "s, LAN"),
            ("s 10gbit 200us", "s, 10 Gbit/s, 0.2 ms"),
            ("query-of 4 s 100mbit 80ms", "m = 4: s, 100 Mbit/s, 80 ms"),
            ("one-time MiB", "once: MiB"),
        ] {
            assert_eq!(Column::parse(text).expect(text).head(), head);
        }
        for none in ["", "kB", "s", "s fast", "s quick 80ms", "query-of MB", "MB 20 20", "MB twenty"] {
            assert_eq!(Column::parse(none), None, "{none}");
        }
    }
}
