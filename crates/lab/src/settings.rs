//! What to measure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use vesica::task::{self, Amounts, MadeUp, Sample, SampleWorkload};
use vesica_party::transport::Link;
use vesica_party::{Role, Security};
use vesica_protocols::tasks::Extent;
use vesica_structures::facts::Unsupported;

use crate::netns::{Namespaces, RECEIVER_ADDRESS};
use crate::{BenchError, blocks};

/// What the two parties are connected by.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Network {
    /// Loopback TCP as it is.
    Loopback,
    /// Loopback TCP as it is, under the name that papers give a local network.
    Lan,
    /// Loopback TCP, shaped inside the transport.
    Shaped(Link),
    /// TCP between two network namespaces, shaped by the kernel.
    Namespaces(Link),
}

/// What the text of a link of namespaces begins with.
const NAMESPACES: &str = "netns:";

impl Network {
    /// The link that a cost model takes it for.
    pub const fn link(self) -> Link {
        match self {
            Self::Loopback => Link::LOOPBACK,
            Self::Lan => Link::LAN,
            Self::Shaped(link) | Self::Namespaces(link) => link,
        }
    }

    /// The rate and round trip of a link that is shaped, by whatever means.
    pub const fn shape(self) -> Option<Link> {
        match self {
            Self::Loopback | Self::Lan => None,
            Self::Shaped(link) | Self::Namespaces(link) => Some(link),
        }
    }

    /// Where the receiver's side of a protocol listens.
    pub(crate) const fn receiver_address(self) -> &'static str {
        match self {
            Self::Loopback | Self::Lan | Self::Shaped(_) => "127.0.0.1",
            Self::Namespaces(_) => RECEIVER_ADDRESS,
        }
    }

    /// The namespaces of the link, if it is one of namespaces.
    pub(crate) fn namespaces(self) -> Result<Option<Namespaces>, BenchError> {
        match self {
            Self::Loopback | Self::Lan | Self::Shaped(_) => Ok(None),
            Self::Namespaces(link) => Namespaces::new(link).map(Some),
        }
    }

    /// Refuses a link that this process cannot have: makes it and takes it away again.
    ///
    /// # Errors
    /// If the link needs network namespaces, and these cannot be made here.
    pub fn try_out(self) -> Result<(), BenchError> {
        self.namespaces().map(drop)
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Loopback => f.write_str("loopback"),
            Self::Lan => f.write_str("lan"),
            Self::Shaped(link) => f.write_str(&link.to_text()),
            Self::Namespaces(link) => write!(f, "{NAMESPACES}{}", link.to_text()),
        }
    }
}

impl From<Network> for String {
    fn from(network: Network) -> Self {
        network.to_string()
    }
}

impl TryFrom<String> for Network {
    type Error = Unsupported;

    fn try_from(text: String) -> Result<Self, Unsupported> {
        text.parse()
    }
}

impl FromStr for Network {
    type Err = Unsupported;

    fn from_str(text: &str) -> Result<Self, Unsupported> {
        Ok(match text {
            "loopback" => Self::Loopback,
            "lan" => Self::Lan,
            _ => match text.strip_prefix(NAMESPACES) {
                None => Self::Shaped(text.parse()?),
                Some(shape) => {
                    let link = shape.parse().ok().filter(|link| shape.contains(',') && *link != Link::LOOPBACK);
                    Self::Namespaces(link.ok_or_else(|| {
                        Unsupported::new(
                            format_args!("the link {text:?} is not understood"),
                            "write netns:RATE,RTT such as netns:100mbit,0ms",
                        )
                    })?)
                }
            },
        })
    }
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
    /// Bytes of an item. 16 random bytes are their own digest; others are hashed inside of the
    /// measured time.
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
    /// Whether both sides learn.
    pub both_learn: bool,
    /// What the two parties are connected by.
    pub link: Network,
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
            both_learn: false,
            link: Network::Loopback,
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
        let Amounts { payload_bytes, receiver_payload_bytes, columns, groups, at_least, both_learn } = *amounts;
        Self { payload_bytes, receiver_payload_bytes, columns, groups, at_least, both_learn, ..self }
    }

    /// What the protocol is asked for.
    pub(crate) fn workload(&self) -> Result<Box<dyn SampleWorkload>, Unsupported> {
        // Whoever calls the harness as a library, measures papers as well.
        crate::install();
        let &Self { payload_bytes, receiver_payload_bytes, columns, groups, at_least, both_learn, .. } = self;
        let amounts = Amounts { payload_bytes, receiver_payload_bytes, columns, groups, at_least, both_learn };
        task::find(&self.task)?.workload(&Extent::new(self.sender_items, self.receiver_items, self.security), &amounts)
    }

    /// The made-up inputs of `role` in repeat `round`.
    pub(crate) fn sample(&self, role: Role, round: u64) -> Sample {
        let &Self { sender_items, receiver_items, item_bytes, .. } = self;
        let sets = MadeUp { sender_items, receiver_items, common: self.overlap(), item_bytes };
        let payload_bytes = match role {
            Role::Sender => self.payload_bytes,
            Role::Receiver => self.receiver_payload_bytes,
        };
        sets.sample(role, payload_bytes, round)
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
        if blocks::is_block(&self.task) {
            blocks::find(&self)?.predicted_bytes(&self.protocol, &self)?;
        } else {
            self.workload()?;
        }
        if self.item_bytes < 16 {
            return Err(Unsupported::new(
                "items below 16 bytes would collide at random",
                "give --item-bytes of at least 16",
            ));
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_are_read_and_written() {
        for text in ["loopback", "lan", "100000000bit,40000us", "netns:100000000bit,40000us"] {
            assert_eq!(text.parse::<Network>().expect("a network").to_string(), text);
        }
        let shaped = Network::Shaped(Link { bits_per_second: 100_000_000, round_trip_us: 40_000 });
        assert_eq!("100mbit,40ms".parse(), Ok(shaped));
        assert_eq!(
            "netns:1gbit,0ms".parse(),
            Ok(Network::Namespaces(Link { bits_per_second: 1_000_000_000, round_trip_us: 0 }))
        );
        for bad in ["fast", "netns:", "netns:lan", "netns:loopback", "netns:1gbit", "netns:900000000000gbit,0ms"] {
            assert!(bad.parse::<Network>().is_err(), "{bad}");
        }
    }
}
