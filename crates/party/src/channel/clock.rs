//! The clock of a channel, which books bytes and time for the phase that it is in.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use super::shared::Shared;
use super::tally::Count;
use crate::Phase;

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
