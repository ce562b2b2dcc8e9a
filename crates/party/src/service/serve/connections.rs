//! What becomes of connections between two requests, and at their end.

use std::net::TcpStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use super::present::Stage;
use super::refusals::{panicked, stopped};
use super::serving::Serving;
use super::visit::{Ending, Visit};
use crate::Abort;
use crate::service::Service;

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
        let Visit { number, from, ch, conversation, .. } = visit;
        if let (Some(poller), Some(socket)) = (&self.poller, ch.socket()) {
            // Closing the socket does the same, unless it could not be added.
            let _ = poller.remove(socket);
        }
        ch.cut();
        self.present.leave(number);
        self.events.ended(Some(&conversation), &from, &outcome);
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
