//! What to measure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use vesica::task::{self, Amounts, SampleWorkload};
use vesica_party::Security;
use vesica_protocols::tasks::Extent;
use vesica_structures::facts::Unsupported;

/// The link between the two parties.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Link {
    /// Loopback TCP as it is.
    Loopback,
    /// Loopback TCP as it is, under the name that papers give a local network.
    Lan,
    /// Loopback TCP, shaped inside the transport.
    Shaped {
        /// Bits per second, in each direction.
        bits_per_second: u64,
        /// Round-trip time; half of it delays each direction.
        round_trip: Duration,
    },
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Loopback => f.write_str("loopback"),
            Self::Lan => f.write_str("lan"),
            Self::Shaped { bits_per_second, round_trip } => {
                write!(f, "{}bit,{}us", bits_per_second, round_trip.as_micros())
            }
        }
    }
}

impl From<Link> for String {
    fn from(link: Link) -> Self {
        link.to_string()
    }
}

impl TryFrom<String> for Link {
    type Error = Unsupported;

    fn try_from(text: String) -> Result<Self, Unsupported> {
        text.parse()
    }
}

impl FromStr for Link {
    type Err = Unsupported;

    fn from_str(text: &str) -> Result<Self, Unsupported> {
        let refuse =
            || Unsupported::new(format!("the link '{text}' is not understood"), "write loopback, lan, or RATE,RTT such as 100mbit,40ms");
        match text {
            "loopback" => return Ok(Self::Loopback),
            "lan" => return Ok(Self::Lan),
            _ => {}
        }
        let (rate, round_trip) = text.split_once(',').ok_or_else(refuse)?;
        let rate = scaled(rate, &[("gbit", 1e9), ("mbit", 1e6), ("kbit", 1e3), ("bit", 1.0)]).ok_or_else(refuse)?;
        let micros = scaled(round_trip, &[("ms", 1e3), ("us", 1.0), ("s", 1e6)]).ok_or_else(refuse)?;
        if rate < 1.0 {
            return Err(refuse());
        }
        Ok(Self::Shaped { bits_per_second: rate as u64, round_trip: Duration::from_micros(micros as u64) })
    }
}

/// A non-negative number with the first unit that fits, times that unit's factor.
fn scaled(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let (unit, factor) = units.iter().find(|(unit, _)| text.ends_with(unit))?;
    let number: f64 = text.strip_suffix(unit)?.trim().parse().ok()?;
    (number.is_finite() && (0.0..1e12).contains(&number)).then_some(number * factor)
}

/// What to measure, and how often.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Settings {
    /// Task name.
    pub task: String,
    /// Protocol id.
    pub protocol: String,
    /// The mode asked for.
    pub security: Security,
    /// Sender's items.
    pub sender_items: usize,
    /// Receiver's items.
    pub receiver_items: usize,
    /// Items in both sets; half of the smaller set unless given.
    pub overlap: Option<usize>,
    /// Bytes of an item. 16 random bytes are their own digest; others are hashed inside of the measured time.
    pub item_bytes: usize,
    /// Bytes of payload for each sender item (intersect, shares).
    pub payload_bytes: usize,
    /// Bytes of payload for each receiver item (shares).
    pub receiver_payload_bytes: usize,
    /// Values of each sender item (sum, join-and-compute).
    pub columns: usize,
    /// Groups of the receiver's items (aggregates).
    pub groups: usize,
    /// Fewest common items of a group that is shown (aggregates).
    pub at_least: u64,
    /// The link.
    pub link: Link,
    /// Compute threads of each party.
    pub threads: usize,
    /// Counted repeats.
    pub repeat: usize,
    /// No warm-up before them: the first repeat meets cold caches and fresh memory.
    pub cold: bool,
}

impl Settings {
    /// Settings for `task` with all that has a default.
    pub fn new(task: &str, protocol: &str, security: Security, sender_items: usize, receiver_items: usize) -> Self {
        Self {
            task: task.into(),
            protocol: protocol.into(),
            security,
            sender_items,
            receiver_items,
            overlap: None,
            item_bytes: 16,
            payload_bytes: 0,
            receiver_payload_bytes: 0,
            columns: 0,
            groups: 1,
            at_least: 0,
            link: Link::Loopback,
            threads: 1,
            repeat: 1,
            cold: false,
        }
    }

    /// The repeats by number; 0 is the warm-up.
    pub(crate) fn repeats(&self) -> std::ops::RangeInclusive<usize> {
        usize::from(self.cold)..=self.repeat
    }

    /// Settings for `task` on these amounts.
    #[must_use]
    pub fn with_amounts(self, amounts: &Amounts) -> Self {
        let Amounts { payload_bytes, receiver_payload_bytes, columns, groups, at_least, both_learn: _ } = *amounts;
        Self { payload_bytes, receiver_payload_bytes, columns, groups, at_least, ..self }
    }

    /// What the protocol is asked for. Only the receiver learns.
    pub(crate) fn workload(&self) -> Result<Box<dyn SampleWorkload>, Unsupported> {
        let &Self { payload_bytes, receiver_payload_bytes, columns, groups, at_least, .. } = self;
        let amounts = Amounts { payload_bytes, receiver_payload_bytes, columns, groups, at_least, both_learn: false };
        task::find(&self.task)?.workload(&Extent::new(self.sender_items, self.receiver_items, self.security), &amounts)
    }

    /// Items in both sets.
    pub fn overlap(&self) -> usize {
        self.overlap.unwrap_or(self.sender_items.min(self.receiver_items) / 2)
    }

    /// The settings if they can be measured.
    pub fn checked(self) -> Result<Self, Unsupported> {
        if self.overlap() > self.sender_items.min(self.receiver_items) {
            return Err(Unsupported::new("the overlap is larger than the smaller set", "lower --overlap"));
        }
        if self.repeat == 0 || self.threads == 0 {
            return Err(Unsupported::new("--repeat and --threads count from one", "give at least 1"));
        }
        self.workload()?;
        if self.item_bytes < 16 {
            return Err(Unsupported::new("items below 16 bytes would collide at random", "give --item-bytes of at least 16"));
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_read_and_written() {
        let link: Link = "100mbit,40ms".parse().expect("a link");
        assert_eq!(link, Link::Shaped { bits_per_second: 100_000_000, round_trip: Duration::from_millis(40) });
        assert_eq!(link.to_string().parse::<Link>().expect("its own text"), link);
        for bad in ["", "fast", "100mbit", "100,40", "-1mbit,4ms", "0bit,1ms", "nanbit,1ms"] {
            assert!(bad.parse::<Link>().is_err(), "{bad}");
        }
    }
}
