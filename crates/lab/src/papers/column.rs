//! What a column of a paper's table states.

use serde::Deserialize;
use vesica_party::Role;

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
    /// What comes before the inputs are used: base OTs and what is extended from them.
    SetUp,
    /// All but that.
    Online,
    /// What a service does once for a set and a client.
    OneTime,
    /// One query.
    Query,
    /// One of so many queries, with its share of what is done once.
    QueryOf(u32),
}

impl Part {
    /// What the part takes of a run, by what its first half takes and what the rest does. The first half is what is done
    /// once, or, of [`SetUp`](Self::SetUp) and [`Online`](Self::Online), the set-up.
    pub(super) fn of(self, first: f64, rest: f64) -> f64 {
        match self {
            Self::Whole => first + rest,
            Self::SetUp | Self::OneTime => first,
            Self::Online | Self::Query => rest,
            Self::QueryOf(queries) => first / f64::from(queries) + rest,
        }
    }

    /// The part that a column's text begins with, and the words behind it.
    fn parse<'a, 'b>(words: &'a [&'b str]) -> Option<(Self, &'a [&'b str])> {
        Some(match words {
            ["set-up", rest @ ..] => (Self::SetUp, rest),
            ["online", rest @ ..] => (Self::Online, rest),
            ["one-time", rest @ ..] => (Self::OneTime, rest),
            ["query", rest @ ..] => (Self::Query, rest),
            ["query-of", queries, rest @ ..] => (Self::QueryOf(queries.parse().ok()?), rest),
            rest => (Self::Whole, rest),
        })
    }

    /// A title with the part in it.
    fn title(self, what: &str) -> String {
        match self {
            Self::Whole => what.into(),
            Self::SetUp => format!("set-up: {what}"),
            Self::Online => format!("online: {what}"),
            Self::OneTime => format!("once: {what}"),
            Self::Query => format!("a query: {what}"),
            Self::QueryOf(queries) => format!("m = {queries}: {what}"),
        }
    }
}

/// A column; where rows have no sizes, with one of its own.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub struct Column {
    /// Threads of each party.
    pub threads: usize,
    /// The part of a run.
    pub part: Part,
    /// The side whose bytes or whose processor's seconds are stated; none for both sides' bytes and for seconds that
    /// pass.
    pub side: Option<Role>,
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
    /// Reads `bits`, `MiB`, `MB`, `s loopback` or `s RATE RTT`, and perhaps `log2` of a size behind it. Before it may
    /// stand, in this order, `N threads`, a part (`set-up`, `online`, `one-time`, `query` or `query-of M`), and a side
    /// (`sender` or `receiver`).
    pub fn parse(text: &str) -> Option<Self> {
        let words: Vec<&str> = text.split(' ').collect();
        let (threads, words) = match words.as_slice() {
            [threads, "threads", words @ ..] => (threads.parse().ok().filter(|threads| *threads > 0)?, words),
            words => (1, words),
        };
        let (part, words) = Part::parse(words)?;
        let (side, words) = match words {
            ["sender", words @ ..] => (Some(Role::Sender), words),
            ["receiver", words @ ..] => (Some(Role::Receiver), words),
            words => (None, words),
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
        Some(Self { threads, part, side, what, log })
    }

    /// Its title.
    pub fn head(&self) -> String {
        let mut what = match self.what {
            What::Bits => "bits an item".into(),
            What::MiB => "MiB".into(),
            What::MB => "MB".into(),
            What::Seconds(link) => format!("s, {}", link_name(link)),
        };
        if let Some(side) = self.side {
            let measure = if matches!(self.what, What::Seconds(_)) { "processor " } else { "" };
            what = format!("{side}, {measure}{what}");
        }
        what = self.part.title(&what);
        if self.threads > 1 {
            what = format!("{what}, {} threads", self.threads);
        }
        self.log.map_or(what.clone(), |log| format!("{what}, 2^{log}"))
    }

    /// `log2` of both sizes: its own, or those of the row.
    pub(super) fn sizes(&self, of_row: Option<(u32, u32)>) -> Option<(u32, u32)> {
        self.log.map(|log| (log, log)).or(of_row)
    }

    /// The link that a run must have had; any, for what is no time.
    pub fn link(&self) -> Option<Network> {
        match self.what {
            What::Seconds(link) => Some(link),
            What::Bits | What::MiB | What::MB => None,
        }
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
            ("4 threads s 1gbit 40ms", "s, 1 Gbit/s, 40 ms, 4 threads"),
            ("set-up receiver MB", "set-up: receiver, MB"),
            ("online s loopback 20", "online: s, LAN, 2^20"),
            ("sender s loopback", "sender, processor s, LAN"),
        ] {
            assert_eq!(Column::parse(text).expect(text).head(), head);
        }
        for none in [
            "",
            "kB",
            "s",
            "s fast",
            "s quick 80ms",
            "query-of MB",
            "MB 20 20",
            "MB twenty",
            "0 threads MB",
            "two threads MB",
        ] {
            assert_eq!(Column::parse(none), None, "{none}");
        }
    }
}
