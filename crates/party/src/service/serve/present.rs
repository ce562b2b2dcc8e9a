//! The clients that are there, and how far each of them is.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::events::Conversation;
use super::limits::{LOOK, ServeLimits};
use super::refusals::stopped;
use super::visit::Visit;
use crate::service::{ClientIdentity, Service, StateId};
use crate::transport::tls::PublicKey;
use crate::{Abort, Canceller};

/// The clients that are there, by the order in which they came.
pub(super) struct Present<S: Service> {
    clients: Mutex<Clients<S>>,
    changed: Condvar,
}

struct Clients<S: Service> {
    arrived: u64,
    places: BTreeMap<u64, Place<S>>,
}

impl<S: Service> Default for Present<S> {
    fn default() -> Self {
        let clients = Clients { arrived: 0, places: BTreeMap::new() };
        Self { clients: Mutex::new(clients), changed: Condvar::new() }
    }
}

/// One client, as seen by the thread that accepts.
pub(super) struct Place<S: Service> {
    since: Instant,
    pub stage: Stage<S>,
    /// Who it is, once it has said so.
    pub client: Option<ClientIdentity>,
    /// The key that it has shown.
    pub key: Option<PublicKey>,
    /// The state that it has joined.
    pub joined: Option<StateId>,
    /// When its connection was over, but for what the client has yet to read of it. From then on it
    /// takes no room from others.
    over: Option<Instant>,
}

/// How far a client is, and how its thread is woken if it has one.
pub(super) enum Stage<S: Service> {
    /// It has just come.
    Arrived,
    /// It may say who it is, until this is called.
    Handshake(Box<dyn Fn() + Send>),
    /// It has no request under way, and a thread that waits for one.
    Idle(Canceller),
    /// It has no request under way, and no thread.
    Parked(Box<Visit<S>>),
    /// The server works for it.
    Busy(Canceller),
    /// Its connection is being closed, and it has no thread.
    Closing(Box<Visit<S>>),
    /// Its connection is over, and a thread waits until it has read why.
    Ending(Canceller),
    /// It was told to go.
    Dismissed,
}

/// A visit that somebody has taken out of its place, and why it ends, if there is a reason.
pub(super) type Taken<S> = (Box<Visit<S>>, Option<Abort>);

impl<S: Service> Place<S> {
    /// Whether no request of the client is under way.
    pub fn is_idle(&self) -> bool {
        matches!(self.stage, Stage::Idle(_) | Stage::Parked(_))
    }

    /// Since when the connection is over, if it waits for the client to read why.
    fn waits_since(&self) -> Option<Instant> {
        self.over.filter(|_| matches!(self.stage, Stage::Closing(_) | Stage::Ending(_)))
    }

    /// Has the client go. What is given back is to be closed by the caller; else it has a thread that
    /// does that.
    pub fn dismiss(&mut self, reason: Abort) -> Option<Taken<S>> {
        match std::mem::replace(&mut self.stage, Stage::Dismissed) {
            Stage::Arrived | Stage::Dismissed => {}
            Stage::Handshake(hang_up) => hang_up(),
            Stage::Idle(canceller) | Stage::Busy(canceller) => canceller.cancel(&reason),
            Stage::Parked(visit) => return Some((visit, Some(reason))),
            Stage::Closing(visit) if visit.is_finishing() => return Some((visit, Some(reason))),
            closing @ Stage::Closing(_) => self.stage = closing,
            Stage::Ending(canceller) => canceller.cut(),
        }
        None
    }

    /// Sends the client a sign of life. Has it go if it is late.
    pub fn look(&mut self, now: Instant) -> Option<Taken<S>> {
        match &mut self.stage {
            Stage::Busy(canceller) => {
                canceller.keep_alive();
                canceller.hear_unread();
            }
            Stage::Parked(visit) if !visit.is_late(now) => visit.canceller.keep_alive(),
            Stage::Closing(visit) if !visit.is_late(now) => {}
            Stage::Parked(_) | Stage::Closing(_) => {
                let stage = std::mem::replace(&mut self.stage, Stage::Dismissed);
                if let Stage::Parked(visit) | Stage::Closing(visit) = stage {
                    let reason = visit.canceller.check().err();
                    return Some((visit, reason));
                }
            }
            _ => {}
        }
        None
    }
}

impl<S: Service> Present<S> {
    fn lock(&self) -> MutexGuard<'_, Clients<S>> {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether one more client may be accepted; waits a moment if not. Makes room among those that
    /// have not said who they are.
    pub fn has_room(&self, limits: &ServeLimits) -> bool {
        let mut clients = self.lock();
        let strangers =
            clients.places.values().filter(|place| matches!(place.stage, Stage::Arrived | Stage::Handshake(_))).count();
        let there = clients.places.values().filter(|place| place.over.is_none()).count();
        if strangers < limits.handshakes.max(1) && there < limits.clients.max(1) {
            return true;
        }
        let first = clients.places.values_mut().find(|place| matches!(place.stage, Stage::Handshake(_)));
        if let Some(place) = first.filter(|place| place.since.elapsed() >= limits.handshake_stay) {
            place.dismiss(stopped());
        }
        drop(self.changed.wait_timeout(clients, LOOK));
        false
    }

    pub fn enter(&self) -> u64 {
        let mut clients = self.lock();
        clients.arrived += 1;
        let number = clients.arrived;
        let (since, stage) = (Instant::now(), Stage::Arrived);
        let place = Place { since, stage, client: None, key: None, joined: None, over: None };
        clients.places.insert(number, place);
        number
    }

    /// Goes to the next stage; false if the client was told to go.
    pub fn reach(&self, number: u64, stage: Stage<S>) -> bool {
        match self.lock().places.get_mut(&number) {
            Some(place) if !matches!(place.stage, Stage::Dismissed) => {
                place.stage = stage;
                true
            }
            _ => false,
        }
    }

    /// Puts a visit down that has no thread. One that was told to go is given back, unless it is being
    /// closed.
    pub fn put(&self, number: u64, stage: Stage<S>) -> Result<(), Box<Visit<S>>> {
        let mut clients = self.lock();
        match (clients.places.get_mut(&number), stage) {
            (Some(place), stage @ Stage::Closing(_)) => place.stage = stage,
            (Some(place), stage) if !matches!(place.stage, Stage::Dismissed) => place.stage = stage,
            (_, Stage::Parked(visit) | Stage::Closing(visit)) => return Err(visit),
            _ => {}
        }
        Ok(())
    }

    /// Takes up a visit that was put down.
    pub fn take(&self, number: u64) -> Option<Box<Visit<S>>> {
        let mut clients = self.lock();
        let place = clients.places.get_mut(&number)?;
        match std::mem::replace(&mut place.stage, Stage::Dismissed) {
            Stage::Parked(visit) => {
                place.stage = Stage::Busy(visit.canceller.clone());
                Some(visit)
            }
            Stage::Closing(visit) => Some(visit),
            other => {
                place.stage = other;
                None
            }
        }
    }

    /// Asks for each client whether its visit ends.
    pub fn take_those(&self, ends: impl FnMut(&mut Place<S>) -> Option<Taken<S>>) -> Vec<Taken<S>> {
        self.lock().places.values_mut().filter_map(ends).collect()
    }

    /// Notes who a client is; false if it has as many connections as it may.
    pub fn identify(&self, number: u64, Conversation { client, key, .. }: &Conversation, most: usize) -> bool {
        let mut clients = self.lock();
        let is_known = matches!(client, ClientIdentity::Key(_));
        let is_theirs = |place: &&Place<S>| place.client.as_ref() == Some(client) && place.over.is_none();
        let is_welcome = !is_known || clients.places.values().filter(is_theirs).count() < most;
        if let Some(place) = clients.places.get_mut(&number) {
            (place.client, place.key) = (Some(*client), *key);
            place.over = (!is_welcome).then(Instant::now);
        }
        is_welcome
    }

    /// Notes that a connection is over, but for what its client has yet to read.
    pub fn end(&self, number: u64) {
        if let Some(place) = self.lock().places.get_mut(&number) {
            place.over.get_or_insert_with(Instant::now);
        }
        self.changed.notify_all();
    }

    /// Of more than `most` connections that are over, takes out those that have to go: the first one of
    /// the client that has most of them, so that a client which is refused again and again takes no
    /// other's time to read why.
    pub fn take_surplus(&self, most: usize) -> Vec<Box<Visit<S>>> {
        let mut clients = self.lock();
        let mut taken = Vec::new();
        while clients.places.values().filter_map(Place::waits_since).count() > most {
            let mut counts: HashMap<Option<ClientIdentity>, usize> = HashMap::new();
            for place in clients.places.values().filter(|place| place.waits_since().is_some()) {
                *counts.entry(place.client).or_default() += 1;
            }
            let waiting = clients.places.values_mut().filter(|place| place.waits_since().is_some());
            let first = waiting.min_by_key(|place| (Reverse(counts.get(&place.client).copied()), place.waits_since()));
            match first.map(|place| std::mem::replace(&mut place.stage, Stage::Dismissed)) {
                Some(Stage::Closing(visit)) => taken.push(visit),
                Some(Stage::Ending(canceller)) => canceller.cut(),
                _ => {}
            }
        }
        taken
    }

    /// Notes which state a client has joined.
    pub fn join(&self, number: u64, state: StateId) {
        if let Some(place) = self.lock().places.get_mut(&number) {
            place.joined = Some(state);
        }
    }

    pub fn leave(&self, number: u64) {
        self.lock().places.remove(&number);
        self.changed.notify_all();
    }

    /// Whether nobody is left; waits for that for a while.
    pub fn wait_empty(&self, wait: Duration) -> bool {
        let clients = self.lock();
        if clients.places.is_empty() {
            return true;
        }
        let (clients, _) = self.changed.wait_timeout(clients, wait).unwrap_or_else(PoisonError::into_inner);
        clients.places.is_empty()
    }
}
