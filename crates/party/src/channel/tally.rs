//! Bytes and time by phase.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use crate::Phase;

/// Time and bytes of a phase.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Count {
    /// Time on the channel itself; over all phases it adds up to the time since the channel was
    /// opened.
    pub seconds: f64,
    /// Time on forks, which run beside the channel and each other.
    pub fork_seconds: f64,
    /// Bytes of messages that this side sent.
    pub sent_payload: u64,
    /// Bytes of frame headers and of frames without a message that this side sent.
    pub sent_framing: u64,
    /// Bytes of messages that this side received.
    pub received_payload: u64,
    /// Bytes of frame headers and of frames without a message that this side received.
    pub received_framing: u64,
}

impl Count {
    /// All bytes that this side sent.
    pub fn sent(&self) -> u64 {
        self.sent_payload + self.sent_framing
    }

    /// All bytes that this side received.
    pub fn received(&self) -> u64 {
        self.received_payload + self.received_framing
    }
}

impl AddAssign for Count {
    fn add_assign(&mut self, other: Self) {
        self.seconds += other.seconds;
        self.fork_seconds += other.fork_seconds;
        self.sent_payload += other.sent_payload;
        self.sent_framing += other.sent_framing;
        self.received_payload += other.received_payload;
        self.received_framing += other.received_framing;
    }
}

/// Bytes and time by phase, forks included.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// Every phase that was entered. Opening forks, credits and pings count for `Phase::Other`.
    pub phases: BTreeMap<Phase, Count>,
    /// Seconds that the channel itself spent in [`Phase::Precompute`], phases entered within it
    /// included. Benchmarks count them as set-up.
    pub precompute_seconds: f64,
}

impl Tally {
    /// Time and bytes of `phase`; zero if it was never entered.
    pub fn phase(&self, phase: Phase) -> Count {
        self.phases.get(&phase).copied().unwrap_or_default()
    }

    /// The sum over all phases.
    pub fn total(&self) -> Count {
        let mut total = Count::default();
        for count in self.phases.values() {
            total += *count;
        }
        total
    }

    pub(crate) fn of(&mut self, phase: Phase) -> &mut Count {
        self.phases.entry(phase).or_default()
    }
}
