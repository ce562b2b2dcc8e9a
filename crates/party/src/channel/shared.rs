//! The state that the callers, the reader thread and the writer thread of one connection share.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::frame::abort_frame;
use super::socket::Direct;
use super::state::State;
use super::transcript::Ended;
use super::{ChannelOptions, Tally, Turns};
use crate::transport::tls::AuthenticatedPeer;
use crate::transport::{Connection, KeyExchange, Rendezvous, Shutdown};
use crate::{Abort, Phase, Role, Step};

/// The shared state, and how to wait for it.
pub(super) struct Shared {
    pub state: Mutex<State>,
    /// Condition variable that wakes the writer thread.
    pub work: Condvar,
    /// Condition variable for the end of a thread, of the peer's output, or of the link.
    pub ended: Condvar,
    tally: Mutex<Tally>,
    ended_forks: Mutex<Ended>,
    turns: Mutex<Turns>,
    /// Milliseconds from `opened` to when the peer's last byte came.
    heard: AtomicU64,
    opened: Instant,
    pub options: ChannelOptions,
    /// The connection, if the channel has no threads.
    pub direct: Option<Direct>,
    pub shutdown: Arc<dyn Shutdown>,
    pub rendezvous: Option<Rendezvous>,
    pub exporter: Option<[u8; 32]>,
    pub key_exchange: Option<KeyExchange>,
    pub peer: Option<AuthenticatedPeer>,
    /// The role at the root, for abort frames.
    pub role: Role,
}

impl Shared {
    pub(super) fn new(connection: &Connection, role: Role, options: ChannelOptions) -> Arc<Self> {
        Arc::new(Self::over(connection, role, options, None))
    }

    pub(super) fn over(connection: &Connection, role: Role, options: ChannelOptions, direct: Option<Direct>) -> Self {
        Self {
            state: Mutex::new(State::new()),
            work: Condvar::new(),
            ended: Condvar::new(),
            tally: Mutex::default(),
            ended_forks: Mutex::default(),
            turns: Mutex::default(),
            heard: AtomicU64::new(0),
            opened: Instant::now(),
            options,
            direct,
            shutdown: connection.shutdown.clone(),
            rendezvous: connection.rendezvous.clone(),
            exporter: connection.exporter,
            key_exchange: connection.key_exchange,
            peer: connection.peer,
            role,
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn count<T>(&self, body: impl FnOnce(&mut Tally) -> T) -> T {
        body(&mut self.tally.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Transcripts of forks that have ended.
    pub(super) fn ended_forks(&self) -> MutexGuard<'_, Ended> {
        self.ended_forks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn turns(&self) -> MutexGuard<'_, Turns> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a frame that belongs to no phase.
    pub(super) fn count_control(&self, sent: usize, received: usize) {
        self.count(|tally| {
            let other = tally.of(Phase::Other);
            other.sent_framing += sent as u64;
            other.received_framing += received as u64;
        });
    }

    /// Notes the time at which a byte arrived.
    pub(super) fn hear(&self) {
        self.heard.store(self.opened.elapsed().as_millis() as u64, Ordering::Relaxed);
    }

    /// The arrow that is blamed when a frame is wrong whatever the protocol.
    pub(super) fn any_step(&self) -> Step {
        Step { protocol: "channel", number: 0, from: self.role.peer(), carries: "frames" }
    }

    /// What the peer did wrong with a frame.
    pub(super) fn misbehaved(&self, what: &'static str) -> Abort {
        Abort::PeerMisbehaved(self.any_step(), what)
    }

    /// The failure so far, or the time limit that has passed.
    pub(super) fn check(&self, state: &State) -> Result<(), Abort> {
        match &state.failure {
            Some(failure) => Err(failure.again()),
            None => self.time_left(state).map(drop),
        }
    }

    /// How long a call may block before it must look again.
    pub(super) fn time_left(&self, state: &State) -> Result<Duration, Abort> {
        let elapsed = self.opened.elapsed();
        let mut left = Duration::MAX;
        if let Some(deadline) = self.options.deadline {
            left = deadline.saturating_sub(self.options.elapsed.saturating_add(elapsed));
            if left.is_zero() {
                return Err(Abort::Timeout { what: "the whole run", after: deadline });
            }
        }
        if let Some(limit) = &state.time_limit {
            let before = limit.end.saturating_duration_since(Instant::now());
            if before.is_zero() {
                return Err(Abort::Timeout { what: limit.what, after: limit.after });
            }
            left = left.min(before);
        }
        let silence = elapsed.saturating_sub(Duration::from_millis(self.heard.load(Ordering::Relaxed)));
        let patience = self.options.dead_after.saturating_sub(silence);
        if patience.is_zero() {
            return Err(Abort::Timeout { what: "a sign of life of the partner", after: self.options.dead_after });
        }
        Ok(left.min(patience))
    }

    /// Waits on `condvar` for a change of the state; an error if the link failed or time ran out.
    pub(super) fn wait<'a>(
        &self,
        state: MutexGuard<'a, State>,
        condvar: &Condvar,
    ) -> Result<MutexGuard<'a, State>, Abort> {
        if let Some(failure) = &state.failure {
            return Err(failure.again());
        }
        let left = self.time_left(&state)?;
        let (state, _) = condvar.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner);
        Ok(state)
    }

    /// Waits on `ended` until `done`, but no longer than `limit`, whatever the link's health.
    pub(super) fn wait_ended(&self, limit: Duration, done: impl Fn(&State) -> bool) {
        let _ = self.ended.wait_timeout_while(self.lock(), limit, |state| !done(state));
    }

    /// Whether both sides have said that nothing more comes.
    pub(super) fn is_over(&self) -> bool {
        let state = self.lock();
        state.finish_sent && state.peer_finished
    }

    /// Poisons all forks and wakes all callers. The first failure stays.
    pub(super) fn fail(&self, failure: Abort) {
        let mut state = self.lock();
        if state.failure.is_none() {
            tracing::debug!(%failure, "channel failed");
            state.failure = Some(failure);
        }
        self.wake_all(&state);
    }

    /// Poisons all forks and has the writer tell the peer, unless the peer knows already.
    pub(super) fn tell(&self, failure: &Abort) {
        let mut state = self.lock();
        let hears = state.failure.as_ref().is_none_or(Abort::is_told);
        if failure.is_told() && hears && !state.told {
            state.told = true;
            state.goodbye = Some(abort_frame(&failure.told(self.role)));
        }
        if state.failure.is_none() {
            state.failure = Some(failure.again());
        }
        self.wake_all(&state);
    }

    fn wake_all(&self, state: &State) {
        for fork in state.forks.iter() {
            fork.wake.notify_all();
        }
        self.work.notify_all();
        self.ended.notify_all();
    }

    /// The writer cannot write: waits a moment for the peer's reason, then the link is what failed.
    pub(super) fn write_failed(&self, fault: io::Error) {
        self.wait_ended(self.options.reason_wait, |state| {
            state.failure.is_some() || state.reader_done || state.closing
        });
        if !self.is_over() {
            self.fail(Abort::Link(fault));
        }
    }
}
