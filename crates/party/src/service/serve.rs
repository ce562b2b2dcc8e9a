//! A server that answers many clients at once.
//!
//! A request is straight-line code on a thread that may block, and takes one for as long as it is
//! under way. Between two requests a client has no thread: its connection waits in a [`Poller`], and
//! whichever thread is free takes it up when something comes. There is always one thread that waits
//! there, so that requests which stall keep no other waiting. A connection without a socket (within
//! one process) has a thread of its own all the time.
//!
//! A client shares the machine with others, and nothing else: one that stalls runs into a time
//! limit, one that breaks a message is told and disconnected, one may enrol once on a connection for
//! each state, and a panic in a service's code ends the connection on which it happened. Clients
//! beyond the bound wait to be accepted. A connection that is over, of a client that was refused for
//! example, is not among them.

mod connections;
mod events;
mod limits;
mod present;
pub(super) mod refusals;
mod requests;
mod serving;
mod visit;

use std::collections::HashSet;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use vesica_structures::rng::SecretRng;

use self::limits::LOOK;
use self::present::{Present, Stage};
use self::refusals::{local, not_accepted, stopped, wiped_state};
use self::serving::Serving;
use self::visit::Visit;
use super::poller::Poller;
use super::{ClientIdentity, Query, Service, StateId};
use crate::transport::acceptor::{Acceptor, Arrival};
use crate::{Abort, Channel, Role, exit_code};
pub use events::{Conversation, ServeEvents};
pub use limits::ServeLimits;
pub use serving::{Offer, Stop};

/// Time for which a thread that finds nothing to do stays.
const WORKER_STAY: Duration = Duration::from_secs(2);

/// Answers clients until `stop`, then returns as soon as all of them are gone. A query that
/// outlasts [`ServeLimits::stopping`] is cut off at its next message.
pub fn serve<S: Service>(
    acceptor: &dyn Acceptor,
    offer: &Offer<'_, S>,
    limits: &ServeLimits,
    events: &dyn ServeEvents,
    stop: &Stop,
) {
    // Without one, each client has threads of its own.
    let poller = Poller::new().inspect_err(|fault| {
        if fault.kind() != io::ErrorKind::Unsupported {
            events.not_accepted(fault);
        }
    });
    let serving = Serving::<S> {
        offer,
        limits,
        events,
        stop,
        present: Present::default(),
        poller: poller.ok(),
        workers: AtomicUsize::new(0),
        waiting: AtomicUsize::new(0),
        is_over: AtomicBool::new(false),
    };
    thread::scope(|scope| {
        // Also where this thread panics: workers would wait for ever, and the scope for them.
        let _over = SetWhenDropped(&serving.is_over);
        let (mut looked, mut wiped) = (Instant::now(), HashSet::new());
        while !stop.is_stopped() {
            if looked.elapsed() >= LOOK {
                looked = Instant::now();
                wiped.extend(offer.state.expire(looked));
                serving.look(&wiped, scope);
            }
            if !serving.present.has_room(limits) {
                continue;
            }
            let arrival = match acceptor.accept(LOOK) {
                Ok(Some(arrival)) => arrival,
                Ok(None) => continue,
                Err(fault) => {
                    events.not_accepted(&fault);
                    thread::sleep(LOOK);
                    continue;
                }
            };
            let place = serving.present.enter();
            let serving = &serving;
            let spawned = thread::Builder::new()
                .name("vesica-handshake".into())
                .spawn_scoped(scope, move || serving.attend(place, arrival, scope));
            if let Err(fault) = spawned {
                serving.present.leave(place);
                events.not_accepted(&fault);
                thread::sleep(LOOK);
            }
        }
        serving.close_down(&wiped, scope);
    });
}

struct SetWhenDropped<'a>(&'a AtomicBool);

impl Drop for SetWhenDropped<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Threads.
impl<S: Service> Serving<'_, S> {
    /// Lets the client in: the stack that a handshake takes is several times what a request needs, and
    /// goes with its thread.
    fn attend<'scope>(&'scope self, number: u64, arrival: Arrival, scope: &'scope thread::Scope<'scope, '_>) {
        let from = arrival.from().to_owned();
        let visit = match self.connect(number, from.clone(), arrival) {
            Ok(visit) => visit,
            Err(failure) => {
                self.present.leave(number);
                return self.events.ended(None, &from, &Err(failure));
            }
        };
        let most = self.limits.connections_per_client.max(1);
        let welcome = if self.present.identify(number, &visit.conversation, most) {
            Ok(())
        } else {
            Err(local(
                exit_code::REFUSED,
                &format!("this client has {most} connections already"),
                "close one of them, or ask whoever runs the server to allow more",
            ))
        };
        match (&self.poller, visit.ch.socket()) {
            (Some(poller), Some(socket)) => match poller.add(socket, number).map_err(Abort::Link).and(welcome) {
                Ok(()) => {
                    // What came with the end of the handshake lies in the connection, not in the socket.
                    let put = self.present.put(number, Stage::Parked(visit));
                    match put {
                        Ok(()) => self.take_up(number),
                        Err(visit) => self.close(visit, Err(stopped())),
                    }
                }
                Err(refusal) => self.close(visit, Err(refusal)),
            },
            _ => {
                let spawned = thread::Builder::new()
                    .name("vesica-client".into())
                    .spawn_scoped(scope, move || self.stay(*visit, welcome));
                if let Err(fault) = spawned {
                    self.present.leave(number);
                    self.events.not_accepted(&fault);
                }
            }
        }
    }

    fn connect(&self, number: u64, from: String, arrival: Arrival) -> Result<Box<Visit<S>>, Abort> {
        let (establish, hang_up) = arrival.split();
        if !self.present.reach(number, Stage::Handshake(hang_up)) {
            return Err(stopped());
        }
        let (connection, options) = (establish()?, self.limits.channel.clone());
        let mut ch = if self.poller.is_some() && connection.socket.is_some() {
            Channel::open_direct(connection, Role::Sender, options)?
        } else {
            Channel::open(connection, Role::Sender, options)?
        };
        let rng = SecretRng::from_os()
            .map_err(|fault| local(exit_code::INTERNAL, &fault.to_string(), "check the system's source of randomness"));
        let rng = rng.inspect_err(|failure| ch.end_output(Some(failure)))?;
        let (canceller, client) = (ch.canceller(), ClientIdentity::of(&ch));
        let key = ch.authenticated_peer().map(|peer| peer.key);
        let conversation = Conversation { client, key, described: false, session: None, answered: 0 };
        let query = Query { client, number: 0 };
        let mut visit = Visit { number, from, ch, canceller, rng, joined: None, query, conversation, ending: None };
        visit.await_next(self.limits.idle);
        Ok(Box::new(visit))
    }

    /// Takes up connections as something comes on them.
    fn work<'scope>(&'scope self, poller: &Poller, scope: &'scope thread::Scope<'scope, '_>) {
        let mut busy = Instant::now();
        loop {
            self.waiting.fetch_add(1, Ordering::SeqCst);
            let found = poller.wait(LOOK);
            let others = self.waiting.fetch_sub(1, Ordering::SeqCst) - 1;
            match found {
                Ok(Some(number)) => {
                    if others == 0 {
                        self.hire(scope);
                    }
                    self.take_up(number);
                    busy = Instant::now();
                }
                Ok(None) => {
                    let leaves = self.is_over.load(Ordering::SeqCst)
                        || others > 0 && busy.elapsed() >= WORKER_STAY && self.workers.load(Ordering::SeqCst) > 1;
                    if leaves {
                        break;
                    }
                }
                Err(fault) => {
                    self.events.not_accepted(&fault);
                    thread::sleep(LOOK);
                }
            }
        }
        self.workers.fetch_sub(1, Ordering::SeqCst);
    }

    /// Adds a thread that takes up connections.
    fn hire<'scope>(&'scope self, scope: &'scope thread::Scope<'scope, '_>) {
        let Some(poller) = &self.poller else { return };
        if self.workers.load(Ordering::SeqCst) > self.limits.clients {
            return;
        }
        self.workers.fetch_add(1, Ordering::SeqCst);
        let spawned =
            thread::Builder::new().name("vesica-client".into()).spawn_scoped(scope, move || self.work(poller, scope));
        if let Err(fault) = spawned {
            self.workers.fetch_sub(1, Ordering::SeqCst);
            self.events.not_accepted(&fault);
        }
    }

    /// Sees to it that a thread waits for connections, that clients go that may not stay or are late,
    /// and that the others hear a sign of life.
    fn look<'scope>(&'scope self, wiped: &HashSet<StateId>, scope: &'scope thread::Scope<'scope, '_>) {
        if self.waiting.load(Ordering::SeqCst) == 0 {
            self.hire(scope);
        }
        let now = Instant::now();
        let leave = self.present.take_those(|place| {
            if place.client.is_some_and(|client| !self.events.may_stay(&client, place.key)) {
                return place.dismiss(not_accepted());
            }
            if place.is_idle() && place.joined.is_some_and(|id| wiped.contains(&id)) {
                return place.dismiss(wiped_state());
            }
            place.look(now)
        });
        self.part(leave);
    }

    /// Has all go: at once those for which the server does nothing, the others when the time for
    /// stopping is over. Returns when all are gone.
    fn close_down<'scope>(&'scope self, wiped: &HashSet<StateId>, scope: &'scope thread::Scope<'scope, '_>) {
        let end = Instant::now() + self.limits.stopping;
        loop {
            let is_late = Instant::now() >= end;
            let leave = self.present.take_those(|place| {
                let may_go_on = match &place.stage {
                    Stage::Busy(_) | Stage::Closing(_) | Stage::Ending(_) => true,
                    Stage::Parked(visit) => visit.is_leaving(),
                    _ => false,
                };
                if may_go_on && !is_late { None } else { place.dismiss(stopped()) }
            });
            self.part(leave);
            self.look(wiped, scope);
            if self.present.wait_empty(LOOK.min(end.saturating_duration_since(Instant::now()).max(LOOK / 10))) {
                return;
            }
        }
    }
}
