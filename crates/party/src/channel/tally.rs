//! Bytes and time by phase.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::AddAssign;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use super::shared::Shared;
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

/// The stack of phases of one channel or fork.
pub(crate) struct Clock {
    shared: Arc<Shared>,
    is_fork: bool,
    state: Mutex<ClockState>,
}

struct ClockState {
    /// The phases that were entered and not left, the innermost one last; never empty.
    phases: Vec<Phase>,
    since: Instant,
}

impl Clock {
    pub(super) fn start(shared: Arc<Shared>, is_fork: bool, phase: Phase) -> Arc<Self> {
        Arc::new(Self { shared, is_fork, state: Mutex::new(ClockState { phases: vec![phase], since: Instant::now() }) })
    }

    pub(crate) fn phase(&self) -> Phase {
        self.with(|state| state.phases.last().copied()).unwrap_or(Phase::Other)
    }

    /// Books the time that has passed for the current phase.
    pub(crate) fn book(&self) {
        self.with(|state| {
            let now = Instant::now();
            let seconds = now.duration_since(std::mem::replace(&mut state.since, now)).as_secs_f64();
            let phase = state.phases.last().copied().unwrap_or(Phase::Other);
            self.shared.count(|tally| {
                let count = tally.of(phase);
                if self.is_fork {
                    count.fork_seconds += seconds;
                } else {
                    count.seconds += seconds;
                }
            });
        });
    }

    /// Enters `phase` until the guard drops.
    pub(crate) fn enter(self: &Arc<Self>, phase: Phase) -> PhaseGuard {
        self.book();
        let (depth, nested) = self.with(|state| {
            let nested = state.phases.contains(&phase);
            state.phases.push(phase);
            (state.phases.len() - 1, nested)
        });
        tracing::debug!(phase = phase.name(), fork = self.is_fork, "phase");
        let precompute = (phase == Phase::Precompute && !nested && !self.is_fork).then(Instant::now);
        PhaseGuard { clock: self.clone(), depth, precompute }
    }

    fn with<T>(&self, body: impl FnOnce(&mut ClockState) -> T) -> T {
        body(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Shows another thread how far a channel has come: it counts the bytes so far, forks included, and
/// names the phase. It may outlive the channel; its figures then stand still.
#[derive(Clone)]
pub struct Meter(Arc<Clock>);

impl Meter {
    pub(crate) fn of(clock: &Arc<Clock>) -> Self {
        Self(clock.clone())
    }

    /// Bytes that this side has handed to the channel, framing included. Some of them may still wait
    /// to be sent.
    pub fn sent(&self) -> u64 {
        self.sum(Count::sent)
    }

    /// Bytes that this side has taken from the channel, framing included.
    pub fn received(&self) -> u64 {
        self.sum(Count::received)
    }

    /// The phase that the channel is in, whatever its forks do.
    pub fn phase(&self) -> Phase {
        self.0.phase()
    }

    fn sum(&self, bytes: impl Fn(&Count) -> u64) -> u64 {
        self.0.shared.count(|tally| tally.phases.values().map(&bytes).sum())
    }
}

impl fmt::Debug for Meter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Meter")
    }
}

/// A guard that ends its phase when it is dropped.
#[must_use = "the phase ends when the guard drops"]
pub struct PhaseGuard {
    clock: Arc<Clock>,
    depth: usize,
    /// When the channel entered `Phase::Precompute`, if this guard stands for it.
    precompute: Option<Instant>,
}

impl Drop for PhaseGuard {
    fn drop(&mut self) {
        self.clock.book();
        self.clock.with(|state| state.phases.truncate(self.depth.max(1)));
        if let Some(entered) = self.precompute {
            self.clock.shared.count(|tally| tally.precompute_seconds += entered.elapsed().as_secs_f64());
        }
    }
}
