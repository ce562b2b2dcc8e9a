//! Ending a run from outside, for example on a signal.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use vesica_party::Canceller;

use crate::failure::Failure;

/// A handle to end a run from another thread. Clones are the same handle.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    reason: Option<Failure>,
    channel: Option<Canceller>,
    complete: bool,
}

impl Interrupt {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the run with `reason`, which the peer is told. The first reason counts. A run that is
    /// complete only stops waiting for the peer.
    pub fn raise(&self, reason: Failure) {
        let mut state = self.lock();
        if let Some(channel) = &state.channel {
            channel.cancel(&reason.for_peer());
        }
        state.reason.get_or_insert(reason);
    }

    /// Why the run is to end, if it is.
    pub fn reason(&self) -> Option<Failure> {
        self.lock().reason.clone()
    }

    /// Whether the run has come to its end, or has its result: it will keep it, and only has to
    /// write it.
    pub fn is_complete(&self) -> bool {
        self.lock().complete
    }

    /// From now on the run keeps its result.
    pub(crate) fn complete(&self) {
        self.lock().complete = true;
    }

    /// From now on, an interruption ends `channel`.
    pub(crate) fn attach(&self, channel: Canceller) {
        let mut state = self.lock();
        if let Some(reason) = &state.reason {
            channel.cancel(&reason.for_peer());
        }
        state.channel = Some(channel);
    }

    /// Lets go of the channel, which has ended. Without this, its socket would stay open in this process, and the
    /// partner, whose system waits for the socket to close, could tell when the process ends.
    pub(crate) fn detach(&self) {
        self.lock().channel = None;
    }
}
