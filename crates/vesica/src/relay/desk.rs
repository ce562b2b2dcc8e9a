//! Who is there: the parties that wait, the pairs, and what each address and each ticket has used.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use vesica_party::transport::relay::{Refusal, Ticket, Word};

use super::counters::Counters;
use super::visit::Visit;
use super::{RelayConfig, RelayLog};
use crate::service::metrics::add;

/// The time in which dials of an address are counted.
const MINUTE: Duration = Duration::from_secs(60);

/// Addresses, and tickets that were used up in part, of which something is remembered. Beyond that, the oldest are
/// forgotten that have no connection.
const MOST_REMEMBERED: usize = 100_000;

/// All that the threads of a relay share.
pub(super) struct Desk {
    pub config: RelayConfig,
    pub counters: Arc<Counters>,
    pub log: Arc<dyn RelayLog>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    connections: usize,
    homes: HashMap<IpAddr, Home>,
    tickets: HashMap<Ticket, Place>,
    used: HashMap<Ticket, Arc<AtomicU64>>,
    /// The tickets of `used`, the oldest first.
    order: VecDeque<Ticket>,
    arrived: u64,
    is_stopping: bool,
}

/// What is remembered of an address.
struct Home {
    connections: usize,
    dials: usize,
    since: Instant,
}

/// Who is there with a ticket.
enum Place {
    /// A party that waits, with a number of its own.
    Waiting(Visit, u64),
    /// A pair.
    Paired,
}

/// A party's place at the desk.
pub(super) enum Placed {
    /// It is the first with its ticket, and waits under this number.
    First(u64),
    /// Its partner, who has waited, and itself. Bytes that go by the ticket are counted.
    Second(Visit, Visit, Arc<AtomicU64>),
    /// It has no place.
    Refused(Visit, Refusal),
}

impl Desk {
    pub fn new(config: RelayConfig, counters: Arc<Counters>, log: Arc<dyn RelayLog>) -> Self {
        Self { config, counters, log, state: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a connection that has come from an address; [`leave`](Self::leave) takes it back. Says whether it may stay.
    pub fn arrive(&self, home: IpAddr) -> Result<(), Refusal> {
        add(&self.counters.connections, 1);
        let (mut state, now) = (self.lock(), Instant::now());
        state.connections += 1;
        if state.homes.len() >= MOST_REMEMBERED {
            state.homes.retain(|_, home| home.connections > 0 || now.duration_since(home.since) < MINUTE);
        }
        let place = state.homes.entry(home).or_insert(Home { connections: 0, dials: 0, since: now });
        if now.duration_since(place.since) >= MINUTE {
            (place.dials, place.since) = (0, now);
        }
        place.connections += 1;
        place.dials += 1;
        let (here, dials) = (place.connections, place.dials);
        if state.is_stopping {
            Err(Refusal::Stopping)
        } else if dials > self.config.dials_per_minute {
            Err(Refusal::TooOften)
        } else if here > self.config.connections_per_address || state.connections > self.config.max_connections {
            Err(Refusal::Full)
        } else {
            Ok(())
        }
    }

    /// How many connections there are.
    pub fn connections(&self) -> usize {
        self.lock().connections
    }

    /// A connection is over.
    pub fn leave(&self, home: IpAddr) {
        let mut state = self.lock();
        state.connections = state.connections.saturating_sub(1);
        if let Some(place) = state.homes.get_mut(&home) {
            place.connections = place.connections.saturating_sub(1);
        }
    }

    /// Gives a party its place.
    pub fn place(&self, ticket: Ticket, visit: Visit) -> Placed {
        if self.config.key.as_ref().is_some_and(|key| !key.has_made(&ticket)) {
            return Placed::Refused(visit, Refusal::Unknown);
        }
        let mut state = self.lock();
        if state.is_stopping {
            return Placed::Refused(visit, Refusal::Stopping);
        }
        let used = state.used_by(ticket);
        if self.config.bytes_per_ticket.is_some_and(|most| used.load(Ordering::Relaxed) >= most) {
            return Placed::Refused(visit, Refusal::Spent);
        }
        match state.tickets.remove(&ticket) {
            Some(Place::Paired) => {
                state.tickets.insert(ticket, Place::Paired);
                Placed::Refused(visit, Refusal::InUse)
            }
            Some(Place::Waiting(first, _)) => {
                state.tickets.insert(ticket, Place::Paired);
                add(&self.counters.pairs, 1);
                add(&self.counters.paired, 1);
                self.counters.waiting.fetch_sub(1, Ordering::Relaxed);
                Placed::Second(first, visit, used)
            }
            None => {
                state.arrived += 1;
                let number = state.arrived;
                state.tickets.insert(ticket, Place::Waiting(visit, number));
                add(&self.counters.waiting, 1);
                Placed::First(number)
            }
        }
    }

    /// Whether a party still waits. If it does and is to be `reassured`, it hears that the relay is there: no later than
    /// that its partner is.
    pub fn still_waits(&self, ticket: &Ticket, number: u64, reassured: bool) -> bool {
        match self.lock().tickets.get(ticket) {
            Some(Place::Waiting(visit, own)) if *own == number => {
                // One that is gone is noticed elsewhere.
                let _ = if reassured { visit.say(Word::Waiting) } else { Ok(()) };
                true
            }
            _ => false,
        }
    }

    /// A party waits no longer. `None` if its partner has come before.
    pub fn give_up(&self, ticket: &Ticket, number: u64) -> Option<Visit> {
        let mut state = self.lock();
        match state.tickets.remove(ticket) {
            Some(Place::Waiting(visit, own)) if own == number => {
                self.counters.waiting.fetch_sub(1, Ordering::Relaxed);
                Some(visit)
            }
            other => {
                state.tickets.extend(other.map(|place| (*ticket, place)));
                None
            }
        }
    }

    /// A pair is over.
    pub fn part(&self, ticket: &Ticket) {
        self.lock().tickets.remove(ticket);
        self.counters.paired.fetch_sub(1, Ordering::Relaxed);
    }

    /// How many pairs there are.
    pub fn pairs(&self) -> usize {
        self.lock().tickets.values().filter(|place| matches!(place, Place::Paired)).count()
    }

    /// From now on nobody gets a place, and those that wait are told so.
    pub fn dismiss_waiting(&self) {
        self.lock().is_stopping = true;
    }

    /// Whether those that wait are to go.
    pub fn is_stopping(&self) -> bool {
        self.lock().is_stopping
    }

    /// Says that connections cannot be accepted.
    pub fn warn(&self, fault: &io::Error) {
        self.log.event(
            "accept-failed",
            &format!("warning: a connection could not be accepted: {fault}; raise the limit of open files (LimitNOFILE, ulimit -n) if that is what ran out"),
            &[("fault", json!(fault.to_string()))],
        );
    }

    /// Says what happened by a ticket.
    pub fn tell(&self, event: &str, text: &str, ticket: &Ticket, fields: &[(&str, Value)]) {
        let name = ticket.name();
        let fields: Vec<_> = [("ticket", json!(name))].into_iter().chain(fields.iter().cloned()).collect();
        self.log.event(event, &format!("ticket {name}: {text}"), &fields);
    }
}

impl State {
    /// The count of a ticket's bytes.
    fn used_by(&mut self, ticket: Ticket) -> Arc<AtomicU64> {
        if let Some(used) = self.used.get(&ticket) {
            return used.clone();
        }
        while self.used.len() >= MOST_REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            match self.tickets.contains_key(&oldest) {
                true => self.order.push_back(oldest),
                false => drop(self.used.remove(&oldest)),
            }
        }
        self.order.push_back(ticket);
        self.used.entry(ticket).or_default().clone()
    }
}
