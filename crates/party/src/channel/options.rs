//! Time limits and other choices of a channel.

use std::time::Duration;

/// Time limits and other choices of a channel.
#[derive(Clone, Debug)]
pub struct ChannelOptions {
    /// Bound on the whole run: after it every call fails.
    pub deadline: Option<Duration>,
    /// How much of the deadline had passed when the channel was opened.
    pub elapsed: Duration,
    /// Time without other output after which a sign of life is sent.
    pub ping_every: Duration,
    /// Time without input after which the link counts as dead. A peer that computes is not silent:
    /// its writer thread sends signs of life.
    pub dead_after: Duration,
    /// Time that a side waits for the peer's report of a failure after a fork or the link has
    /// ended.
    pub reason_wait: Duration,
    /// Time that a side that has failed or finished waits for the peer to close.
    pub drain_for: Duration,
    /// Whether to keep a running hash of all messages, see
    /// [`Channel::transcript`](super::Channel::transcript).
    pub transcript: bool,
    /// Forks that the peer may open before this side does, each of which may buffer a window.
    pub early_forks: usize,
    /// Note the order of what is sent and received, see [`Channel::turns`](super::Channel::turns).
    /// For tests and measurements.
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
            early_forks: super::state::EARLY_FORKS,
            turns: false,
        }
    }
}
