//! How a channel behaves.

use std::time::Duration;

/// How a channel behaves.
#[derive(Clone, Debug)]
pub struct ChannelOptions {
    /// Bound on the whole run: after it every call fails.
    pub deadline: Option<Duration>,
    /// How much of the deadline had passed when the channel was opened.
    pub elapsed: Duration,
    /// A sign of life is sent when nothing else was for this long.
    pub ping_every: Duration,
    /// The link counts as dead when nothing came for this long. That the peer computes is no silence: its threads ping.
    pub dead_after: Duration,
    /// How long a side that sees a fork or the link end waits for the peer's report of why.
    pub reason_wait: Duration,
    /// How long a side that failed or finished waits for the peer to close.
    pub drain_for: Duration,
    /// Keep a running hash of all that is said, see [`Channel::transcript`](super::Channel::transcript).
    pub transcript: bool,
    /// Note the order of what is sent and received, see [`Channel::turns`](super::Channel::turns). For tests and measurements.
    pub turns: bool,
}

impl Default for ChannelOptions {
    fn default() -> Self {
        Self {
            deadline: None,
            elapsed: Duration::ZERO,
            ping_every: Duration::from_secs(5),
            dead_after: Duration::from_secs(30),
            reason_wait: Duration::from_secs(1),
            drain_for: Duration::from_secs(5),
            transcript: false,
            turns: false,
        }
    }
}
