//! The clients that are there, and how far each of them is.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::serve::{LOOK, ServeLimits, Visit, stopped};
use super::{ClientIdentity, Service, StateId};
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
    /// The state that it has joined.
    pub joined: Option<StateId>,
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
        if strangers < limits.handshakes.max(1) && clients.places.len() < limits.clients.max(1) {
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
        let place = Place { since: Instant::now(), stage: Stage::Arrived, client: None, joined: None };
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
    pub fn identify(&self, number: u64, client: &ClientIdentity, most: usize) -> bool {
        let mut clients = self.lock();
        let is_known = matches!(client, ClientIdentity::Key(_));
        let connections = clients.places.values().filter(|place| place.client.as_ref() == Some(client)).count();
        if let Some(place) = clients.places.get_mut(&number) {
            place.client = Some(*client);
        }
        !is_known || connections < most
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
