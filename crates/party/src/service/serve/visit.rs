//! A client that is there, and how far its visit has come.

use std::sync::Arc;
use std::time::{Duration, Instant};

use vesica_structures::rng::SecretRng;

use super::events::Conversation;
use crate::service::{Query, Server, Service};
use crate::{Abort, Canceller, Channel};

/// A client that has said who it is, from then until its connection is closed.
pub(super) struct Visit<S: Service> {
    pub(super) number: u64,
    /// Where it comes from, for logs.
    pub(super) from: String,
    pub(super) ch: Channel,
    pub(super) canceller: Canceller,
    pub(super) rng: SecretRng,
    pub(super) joined: Option<Joined<S>>,
    pub(super) query: Query,
    /// What there is to say of it so far.
    pub(super) conversation: Conversation,
    /// How far its end has come.
    pub(super) ending: Option<Ending>,
}

/// What a client has joined.
pub(super) struct Joined<S: Service> {
    pub(super) server: Arc<S::Server>,
    pub(super) session: <S::Server as Server>::Session,
    /// The client knows that the state was replaced.
    pub(super) told_of_another: bool,
    /// The client knows that the server stops.
    pub(super) told_of_stop: bool,
}

/// The end of a connection, which waits for the client.
pub(super) enum Ending {
    /// The client has left, and is to close its side.
    Finishing,
    /// This side has said its last. What still comes is forgotten, until then or until the client has
    /// closed its side.
    Draining { until: Instant, outcome: Result<(), Abort> },
}

impl<S: Service> Visit<S> {
    /// Whether it knows that the server stops, and only has to leave.
    pub(super) fn is_leaving(&self) -> bool {
        self.joined.as_ref().is_some_and(|joined| joined.told_of_stop)
    }

    /// Whether its end waits for the client to agree.
    pub(super) fn is_finishing(&self) -> bool {
        matches!(self.ending, Some(Ending::Finishing))
    }

    /// Whether time has run out for what it waits for.
    pub(super) fn is_late(&self, now: Instant) -> bool {
        match &self.ending {
            Some(Ending::Draining { until, .. }) => *until <= now,
            _ => self.canceller.check().is_err(),
        }
    }

    /// Gives the client so long for its next request.
    pub(super) fn await_next(&mut self, idle: Duration) {
        let what = if self.is_leaving() { "the client to leave" } else { "the client's next request" };
        self.ch.set_limit(Some((what, idle)));
    }
}
