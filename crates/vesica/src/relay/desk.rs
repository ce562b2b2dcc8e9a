//! Who is there: the parties that wait, the pairs, and what each address and each ticket has used.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io;
use std::net::{IpAddr, Shutdown, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use vesica_party::transport::relay::{Refusal, Ticket, Word};
use vesica_party::transport::tcp;

use super::counters::Counters;
use super::visit::Visit;
use super::{RelayConfig, RelayLog};
use crate::service::metrics::add;

/// The time in which dials of an address are counted.
const MINUTE: Duration = Duration::from_secs(60);

/// Addresses, and tickets that were used up in part, of which something is remembered. Beyond that, the oldest are
/// forgotten that have no connection, and new addresses wait.
const MOST_REMEMBERED: usize = 100_000;

/// Connections that have shown nothing yet, in all and from one address. Beyond that, the oldest is dropped.
const MOST_SILENT: usize = 128;
const MOST_SILENT_OF_ADDRESS: usize = 16;

/// Connections that may stay without a place, in all and from one address, until they have read why.
const MOST_LINGERING: usize = 32;
const MOST_LINGERING_OF_ADDRESS: usize = 4;

/// Lines on connections that were refused, in each second. The others are counted.
const REFUSED_LINES: usize = 10;

/// What a connection counts as. Those without a place have bounds of their own, so that they shut nobody out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// It has shown nothing yet. The number is its own.
    Silent(u64),
    /// It has shown a ticket that this relay takes.
    Placed,
    /// It has no place, and stays until it has read why.
    Lingering,
    /// It is not counted.
    Nowhere,
}

/// All that the threads of a relay share.
pub(super) struct Desk {
    pub config: RelayConfig,
    pub counters: Arc<Counters>,
    pub log: Arc<dyn RelayLog>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Those that have shown nothing, the oldest first.
    silent: BTreeMap<u64, (IpAddr, Arc<TcpStream>)>,
    placed: usize,
    lingering: Vec<IpAddr>,
    homes: HashMap<IpAddr, Home>,
    /// When homes were last looked through for some to forget.
    swept: Option<Instant>,
    tickets: HashMap<Ticket, Place>,
    used: HashMap<Ticket, Arc<AtomicU64>>,
    /// The tickets of `used`, the oldest first.
    order: VecDeque<Ticket>,
    arrived: u64,
    is_stopping: bool,
    lines: Lines,
}

/// What is remembered of an address.
struct Home {
    /// Connections with a place.
    placed: usize,
    dials: usize,
    since: Instant,
}

/// How many lines on refused connections there were in the last second.
#[derive(Default)]
struct Lines {
    since: Option<Instant>,
    written: usize,
    left_out: u64,
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
    /// It is the first with its ticket, and waits under this number; perhaps in place of one that had gone.
    First(u64, Option<Visit>),
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

    /// Counts a connection that has come from an address as one that has shown nothing yet; [`leave`](Self::leave) takes
    /// it back. The oldest of these makes room for it.
    ///
    /// # Errors
    /// Why it is not worth a thread.
    pub fn arrive(&self, home: IpAddr, socket: &Arc<TcpStream>) -> Result<Stage, Refusal> {
        add(&self.counters.connections, 1);
        let (mut state, now) = (self.lock(), Instant::now());
        if state.is_stopping {
            return Err(Refusal::Stopping);
        }
        if state.homes.len() >= MOST_REMEMBERED && !state.homes.contains_key(&home) {
            // Looking through all of them takes time: once a second.
            if state.swept.is_none_or(|last| now.duration_since(last) >= Duration::from_secs(1)) {
                state.swept = Some(now);
                state.homes.retain(|_, home| home.placed > 0 || now.duration_since(home.since) < MINUTE);
            }
            if state.homes.len() >= MOST_REMEMBERED {
                return Err(Refusal::Full);
            }
        }
        let place = state.homes.entry(home).or_insert_with(|| Home::new(now));
        if now.duration_since(place.since) >= MINUTE {
            (place.dials, place.since) = (0, now);
        }
        place.dials += 1;
        if place.dials > self.config.dials_per_minute {
            return Err(Refusal::TooOften);
        }
        let of_address = state.silent.iter().filter(|(_, (other, _))| *other == home);
        let of_address: Vec<u64> = of_address.map(|(number, _)| *number).collect();
        let oldest = if of_address.len() >= MOST_SILENT_OF_ADDRESS {
            of_address.first().copied()
        } else {
            state.silent.keys().next().copied().filter(|_| state.silent.len() >= MOST_SILENT)
        };
        if let Some((_, socket)) = oldest.and_then(|number| state.silent.remove(&number)) {
            // Its thread notices. It may be shut already.
            let _ = socket.shutdown(Shutdown::Both);
        }
        state.arrived += 1;
        let number = state.arrived;
        state.silent.insert(number, (home, socket.clone()));
        Ok(Stage::Silent(number))
    }

    /// How many connections there are.
    pub fn connections(&self) -> usize {
        let state = self.lock();
        state.silent.len() + state.placed + state.lingering.len()
    }

    /// A connection is over, or counts as something else from now on.
    pub fn leave(&self, home: IpAddr, stage: Stage) {
        self.lock().leave(home, stage);
    }

    /// Whether a connection that has counted as `stage` may stay until it has read why it has no place.
    pub fn lingers(&self, home: IpAddr, stage: Stage) -> Stage {
        let mut state = self.lock();
        state.leave(home, stage);
        let of_address = state.lingering.iter().filter(|other| **other == home).count();
        if state.lingering.len() >= MOST_LINGERING || of_address >= MOST_LINGERING_OF_ADDRESS {
            return Stage::Nowhere;
        }
        state.lingering.push(home);
        Stage::Lingering
    }

    /// Gives a party its place. From then on it counts to the most connections.
    pub fn place(&self, ticket: Ticket, mut visit: Visit) -> Placed {
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
        if matches!(state.tickets.get(&ticket), Some(Place::Paired)) {
            return Placed::Refused(visit, Refusal::InUse);
        }
        let now = Instant::now();
        let here = state.homes.get(&visit.address).map_or(0, |home| home.placed);
        if here >= self.config.connections_per_address || state.placed >= self.config.max_connections {
            return Placed::Refused(visit, Refusal::Full);
        }
        state.leave(visit.address, visit.stage);
        visit.stage = Stage::Placed;
        state.placed += 1;
        state.homes.entry(visit.address).or_insert_with(|| Home::new(now)).placed += 1;
        let first = match state.tickets.remove(&ticket) {
            Some(Place::Waiting(first, _)) => Some(first),
            _ => None,
        };
        match first {
            Some(first) if !tcp::has_stirred(&first.socket, Duration::ZERO) => {
                state.tickets.insert(ticket, Place::Paired);
                add(&self.counters.pairs, 1);
                add(&self.counters.paired, 1);
                self.counters.waiting.fetch_sub(1, Ordering::Relaxed);
                Placed::Second(first, visit, used)
            }
            gone => {
                state.arrived += 1;
                let number = state.arrived;
                state.tickets.insert(ticket, Place::Waiting(visit, number));
                if gone.is_none() {
                    add(&self.counters.waiting, 1);
                }
                Placed::First(number, gone)
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

    /// Counts a connection that is not joined and says so, as long as there are few.
    pub fn tell_refused(&self, text: &str, ticket: Option<&Ticket>, fields: &[(&str, Value)]) {
        add(&self.counters.refused, 1);
        let left_out = self.lock().lines.next(Instant::now());
        match left_out {
            None => return,
            Some(0) => {}
            Some(count) => {
                self.log.event("left-out", &format!("{count} more were refused"), &[("refused", json!(count))]);
            }
        }
        match ticket {
            Some(ticket) => self.tell("refused", text, ticket, fields),
            None => self.log.event("refused", text, fields),
        }
    }

    /// Says what happened by a ticket.
    pub fn tell(&self, event: &str, text: &str, ticket: &Ticket, fields: &[(&str, Value)]) {
        let name = ticket.name();
        let fields: Vec<_> = [("ticket", json!(name))].into_iter().chain(fields.iter().cloned()).collect();
        self.log.event(event, &format!("ticket {name}: {text}"), &fields);
    }
}

impl Home {
    fn new(now: Instant) -> Self {
        Self { placed: 0, dials: 0, since: now }
    }
}

impl Lines {
    /// Whether there may be one more line now, and then how many were left out before it.
    fn next(&mut self, now: Instant) -> Option<u64> {
        if self.since.is_none_or(|since| now.duration_since(since) >= Duration::from_secs(1)) {
            (self.since, self.written) = (Some(now), 0);
        }
        if self.written >= REFUSED_LINES {
            self.left_out += 1;
            return None;
        }
        self.written += 1;
        Some(std::mem::take(&mut self.left_out))
    }
}

impl State {
    fn leave(&mut self, home: IpAddr, stage: Stage) {
        match stage {
            Stage::Silent(number) => drop(self.silent.remove(&number)),
            Stage::Placed => {
                self.placed = self.placed.saturating_sub(1);
                if let Some(place) = self.homes.get_mut(&home) {
                    place.placed = place.placed.saturating_sub(1);
                }
            }
            Stage::Lingering => {
                if let Some(index) = self.lingering.iter().position(|other| *other == home) {
                    self.lingering.swap_remove(index);
                }
            }
            Stage::Nowhere => {}
        }
    }

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
