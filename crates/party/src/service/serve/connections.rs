//! Clients that a server knows, and what becomes of their connections between two requests.

use std::net::TcpStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use vesica_structures::rng::SecretRng;

use super::requests::{Joined, panicked};
use super::{Serving, stopped};
use crate::service::present::Stage;
use crate::service::{Query, Service};
use crate::{Abort, Canceller, Channel};

/// A client that has said who it is, from then until its connection is closed.
pub(in crate::service) struct Visit<S: Service> {
    pub(super) number: u64,
    /// Where it comes from, for logs.
    pub(super) from: String,
    pub(super) ch: Channel,
    pub(in crate::service) canceller: Canceller,
    pub(super) rng: SecretRng,
    pub(super) joined: Option<Joined<S>>,
    pub(super) query: Query,
    /// It was sent the description.
    pub(super) described: bool,
    /// How far its end has come.
    pub(super) ending: Option<Ending>,
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
    pub(in crate::service) fn is_leaving(&self) -> bool {
        self.joined.as_ref().is_some_and(|joined| joined.told_of_stop)
    }

    /// Whether its end waits for the client to agree.
    pub(in crate::service) fn is_finishing(&self) -> bool {
        matches!(self.ending, Some(Ending::Finishing))
    }

    /// Whether time has run out for what it waits for.
    pub(in crate::service) fn is_late(&self, now: Instant) -> bool {
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

/// Connections without threads.
impl<S: Service> Serving<'_, S> {
    /// Leaves a client until something comes from it.
    pub(super) fn park(&self, visit: Box<Visit<S>>) {
        let (number, socket) = (visit.number, visit.ch.socket().cloned());
        if self.stop.is_stopped() && !visit.is_leaving() {
            return self.close(visit, Err(stopped()));
        }
        match self.present.put(number, Stage::Parked(visit)) {
            Ok(()) => self.watch(number, socket.as_deref()),
            Err(visit) => {
                let reason = visit.canceller.check().err().unwrap_or_else(stopped);
                self.close(visit, Err(reason));
            }
        }
    }

    /// Has the visit that was put down taken up again as soon as something comes.
    fn watch(&self, number: u64, socket: Option<&TcpStream>) {
        let (Some(poller), Some(socket)) = (&self.poller, socket) else { return };
        if let Err(fault) = poller.watch(socket, number)
            && let Some(mut visit) = self.present.take(number)
        {
            // No thread would ever hear of it again.
            visit.ending = None;
            visit.ch.end_output(None);
            self.gone(*visit, Err(Abort::Link(fault)));
        }
    }

    /// Something has come from a client, or it has closed its side.
    pub(super) fn take_up(&self, number: u64) {
        // Somebody else has it: it was dismissed, for example.
        let Some(mut visit) = self.present.take(number) else { return };
        if visit.ending.is_some() {
            return self.go_on(visit);
        }
        let attended = catch_unwind(AssertUnwindSafe(|| self.arrived(&mut visit)));
        match attended.unwrap_or_else(|_| Err(panicked())) {
            Ok(true) => self.park(visit),
            Ok(false) => self.close(visit, Ok(())),
            Err(failure) => self.close(visit, Err(failure)),
        }
    }

    /// Answers the requests that have arrived; false if the client leaves.
    fn arrived(&self, visit: &mut Visit<S>) -> Result<bool, Abort> {
        while visit.ch.has_message()? {
            visit.ch.set_limit(None);
            let next = visit.ch.recv(())?;
            if !self.request(visit, next)? {
                return Ok(false);
            }
            visit.await_next(self.limits.idle);
        }
        visit.ch.rest();
        Ok(true)
    }

    /// Closes a connection as the outcome asks.
    pub(super) fn close(&self, mut visit: Box<Visit<S>>, outcome: Result<(), Abort>) {
        let finishing = outcome.and_then(|()| {
            visit.ch.set_limit(Some(("the client to close the connection", self.limits.idle)));
            visit.ch.begin_finish()
        });
        match finishing {
            Ok(()) => {
                visit.ending = Some(Ending::Finishing);
                self.go_on(visit);
            }
            failed => self.drain(visit, failed),
        }
    }

    /// Ends what this side says. That the client may still read why takes no room from others, and is
    /// bounded for itself.
    fn drain(&self, mut visit: Box<Visit<S>>, outcome: Result<(), Abort>) {
        visit.ch.end_output(outcome.as_ref().err());
        let until = Instant::now() + self.limits.channel.drain_for;
        visit.ending = Some(Ending::Draining { until, outcome });
        self.present.end(visit.number);
        self.go_on(visit);
        self.cut_surplus();
    }

    /// Closes the connections that are over where there are too many of them.
    pub(super) fn cut_surplus(&self) {
        for mut visit in self.present.take_surplus(self.limits.endings) {
            let outcome = match visit.ending.take() {
                Some(Ending::Draining { until, outcome }) => {
                    // What has arrived and is not read would make the system reset the connection.
                    visit.ch.is_drained(until);
                    outcome
                }
                _ => Err(stopped()),
            };
            self.gone(*visit, outcome);
        }
    }

    /// Goes on with closing a connection as far as the client has come.
    fn go_on(&self, mut visit: Box<Visit<S>>) {
        match visit.ending.take() {
            Some(Ending::Draining { until, outcome }) => {
                if visit.ch.is_drained(until) {
                    return self.gone(*visit, outcome);
                }
                visit.ending = Some(Ending::Draining { until, outcome });
            }
            _ => match visit.ch.has_finished() {
                Ok(true) => return self.drain(visit, Ok(())),
                Ok(false) => visit.ending = Some(Ending::Finishing),
                Err(failure) => return self.drain(visit, Err(failure)),
            },
        }
        let (number, socket) = (visit.number, visit.ch.socket().cloned());
        match self.present.put(number, Stage::Closing(visit)) {
            Ok(()) => self.watch(number, socket.as_deref()),
            Err(visit) => self.gone(*visit, Err(stopped())),
        }
    }

    fn gone(&self, visit: Visit<S>, outcome: Result<(), Abort>) {
        let Visit { number, from, ch, query, .. } = visit;
        if let (Some(poller), Some(socket)) = (&self.poller, ch.socket()) {
            // Closing the socket does the same, unless it could not be added.
            let _ = poller.remove(socket);
        }
        ch.cut();
        self.present.leave(number);
        self.events.ended(Some(&query.client), &from, &outcome);
    }

    /// Closes the connections of those who were taken out.
    pub(super) fn part(&self, leave: Vec<(Box<Visit<S>>, Option<Abort>)>) {
        for (visit, reason) in leave {
            match (reason, visit.ending.is_some()) {
                (Some(reason), false) => self.close(visit, Err(reason)),
                (Some(reason), true) if visit.is_finishing() => {
                    self.drain(visit, Err(reason));
                }
                _ => self.go_on(visit),
            }
        }
    }
}
