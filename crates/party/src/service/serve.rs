//! A server that answers many clients at once, each on a thread of its own.
//!
//! A client shares the machine with others, and nothing else: one that stalls runs into a time
//! limit, one that breaks a message is told and disconnected, one may enrol once on a connection for
//! each state, and a panic in a service's code ends the connection on which it happened. Clients
//! beyond the bound wait to be accepted.

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use vesica_structures::rng::SecretRng;

use super::conversation::{self, Answered, Description, Join, Next, Request, Welcome};
use super::{ClientIdentity, Published, Query, Server, Service, Standing, StateId};
use crate::transport::acceptor::{Acceptor, Arrival};
use crate::{Abort, Canceller, Channel, ChannelOptions, Fixed, Role, exit_code};

/// Time between two looks at what stops or bounds the server.
const LOOK: Duration = Duration::from_millis(50);

/// Bounds of a server.
#[derive(Clone, Debug)]
pub struct ServeLimits {
    /// Clients at once, those included that have not said yet who they are. Each holds a connection
    /// and three threads.
    pub clients: usize,
    /// Clients at once that have not said yet who they are. Where there are more, or where no client
    /// can be accepted any more, the one of them that came first goes, once it has had
    /// `handshake_stay`.
    pub handshakes: usize,
    /// The time that a client has in any case to say who it is.
    pub handshake_stay: Duration,
    /// The longest time between two requests of a client.
    pub idle: Duration,
    /// The longest time that a client takes to enrol or to join again.
    pub joining: Duration,
    /// The longest time that a query takes, and sending its answer.
    pub query: Duration,
    /// The time that queries under way get to come to their end when the server stops.
    pub stopping: Duration,
    /// Connections at once of one client that is known by its key.
    pub connections_per_client: usize,
    /// How each client's channel behaves.
    pub channel: ChannelOptions,
}

impl Default for ServeLimits {
    fn default() -> Self {
        Self {
            clients: 256,
            handshakes: 64,
            handshake_stay: Duration::from_secs(1),
            idle: Duration::from_secs(60),
            joining: Duration::from_secs(600),
            query: Duration::from_secs(60),
            stopping: Duration::from_secs(10),
            connections_per_client: 16,
            // No service forks: a client that does only fills memory.
            channel: ChannelOptions { early_forks: 0, ..ChannelOptions::default() },
        }
    }
}

/// What a server tells of its work, for logs and counters. Called on the clients' threads, so that
/// it must not block for long.
pub trait ServeEvents: Sync {
    /// A client has joined the state.
    fn joined(&self, client: &ClientIdentity, state: StateId) {
        let _ = (client, state);
    }

    /// Whether the client may ask this query; `Err` is told to the client, and ends its connection.
    /// Called once for each query, before anything of it is read.
    fn permit(&self, query: &Query) -> Result<(), Abort> {
        let _ = query;
        Ok(())
    }

    /// Whether a client may stay, which is asked again and again. One that may not is disconnected.
    fn may_stay(&self, client: &ClientIdentity) -> bool {
        let _ = client;
        true
    }

    /// A query was answered.
    fn answered(&self, query: &Query, took: Duration) {
        let _ = (query, took);
    }

    /// A connection has ended; `client` is absent if it never said who it is.
    fn ended(&self, client: Option<&ClientIdentity>, from: &str, outcome: &Result<(), Abort>) {
        let _ = (client, from, outcome);
    }

    /// No client could be accepted just now, or no thread was there for one.
    fn not_accepted(&self, fault: &io::Error) {
        let _ = fault;
    }
}

/// Says nothing.
impl ServeEvents for () {}

/// What a server offers.
#[derive(Debug)]
pub struct Offer<'a, S: Service> {
    /// The prepared state, which may be replaced or retired at any time.
    pub state: &'a Published<S::Server>,
    /// The parameters of this state and of each that replaces it.
    pub params: &'a S::Params,
    /// What a client that asks for it is told, see [`describe`](super::describe); at most
    /// [`MOST_DESCRIPTION_BYTES`](super::MOST_DESCRIPTION_BYTES).
    pub description: &'a [u8],
}

/// Stops a server from another thread. Clones stop the same one.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// One that has not stopped anything yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Stops the server: it accepts nobody more, disconnects clients that ask nothing at the
    /// moment, and answers the queries under way. Does not wait.
    pub fn stop(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Whether the server was stopped.
    pub fn is_stopped(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// Answers clients until `stop`, then returns as soon as all of them are gone. A query that
/// outlasts [`ServeLimits::stopping`] is cut off at its next message.
pub fn serve<S: Service>(
    acceptor: &dyn Acceptor,
    offer: &Offer<'_, S>,
    limits: &ServeLimits,
    events: &dyn ServeEvents,
    stop: &Stop,
) {
    let present = Present::default();
    thread::scope(|scope| {
        let (mut looked, mut wiped) = (Instant::now(), HashSet::new());
        while !stop.is_stopped() {
            if looked.elapsed() >= LOOK {
                looked = Instant::now();
                wiped.extend(offer.state.expire(looked));
                present.dismiss_some(events, &wiped);
            }
            if !present.has_room(limits) {
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
            let place = present.enter();
            let attendance = Attendance::<S> { offer, limits, events, stop, present: &present, number: place };
            let spawned = thread::Builder::new()
                .name("vesica-handshake".into())
                .spawn_scoped(scope, move || attendance.attend(arrival, scope));
            if let Err(fault) = spawned {
                present.leave(place);
                events.not_accepted(&fault);
                thread::sleep(LOOK);
            }
        }
        present.dismiss(limits.stopping);
    });
}

/// The clients that are there, by the order in which they came.
#[derive(Default)]
struct Present {
    clients: Mutex<Clients>,
    changed: Condvar,
}

#[derive(Default)]
struct Clients {
    arrived: u64,
    places: BTreeMap<u64, Place>,
}

/// One client, as seen by the thread that accepts.
struct Place {
    since: Instant,
    stage: Stage,
    /// Who it is, once it has said so.
    client: Option<ClientIdentity>,
    /// The state that it has joined.
    joined: Option<StateId>,
}

/// How far a client is, and how its thread is woken.
enum Stage {
    /// It has just come.
    Arrived,
    /// It may say who it is, until this is called.
    Handshake(Box<dyn Fn() + Send>),
    /// It has no request under way.
    Idle(Canceller),
    /// The server works for it.
    Busy(Canceller),
    /// It was told to go.
    Dismissed,
}

impl Present {
    fn lock(&self) -> MutexGuard<'_, Clients> {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether one more client may be accepted; waits a moment if not. Makes room among those that
    /// have not said who they are.
    fn has_room(&self, limits: &ServeLimits) -> bool {
        let mut clients = self.lock();
        let strangers =
            clients.places.values().filter(|place| matches!(place.stage, Stage::Arrived | Stage::Handshake(_))).count();
        if strangers < limits.handshakes.max(1) && clients.places.len() < limits.clients.max(1) {
            return true;
        }
        let first = clients.places.values_mut().find(|place| matches!(place.stage, Stage::Handshake(_)));
        if let Some(place) = first.filter(|place| place.since.elapsed() >= limits.handshake_stay) {
            dismiss(place, &stopped());
        }
        drop(self.changed.wait_timeout(clients, LOOK));
        false
    }

    fn enter(&self) -> u64 {
        let mut clients = self.lock();
        clients.arrived += 1;
        let number = clients.arrived;
        clients
            .places
            .insert(number, Place { since: Instant::now(), stage: Stage::Arrived, client: None, joined: None });
        number
    }

    /// Goes to the next stage; false if the client was told to go.
    fn reach(&self, number: u64, stage: Stage) -> bool {
        match self.lock().places.get_mut(&number) {
            Some(place) if !matches!(place.stage, Stage::Dismissed) => {
                place.stage = stage;
                true
            }
            _ => false,
        }
    }

    /// Notes who a client is; false if it has as many connections as it may.
    fn identify(&self, number: u64, client: &ClientIdentity, most: usize) -> bool {
        let mut clients = self.lock();
        let is_known = matches!(client, ClientIdentity::Key(_));
        let connections = clients.places.values().filter(|place| place.client.as_ref() == Some(client)).count();
        if let Some(place) = clients.places.get_mut(&number) {
            place.client = Some(*client);
        }
        !is_known || connections < most
    }

    /// Notes which state a client has joined.
    fn join(&self, number: u64, state: StateId) {
        if let Some(place) = self.lock().places.get_mut(&number) {
            place.joined = Some(state);
        }
    }

    /// Has those go that may not stay, and those with nothing under way that have joined a state
    /// which is to be wiped.
    fn dismiss_some(&self, events: &dyn ServeEvents, wiped: &HashSet<StateId>) {
        for place in self.lock().places.values_mut() {
            if place.client.is_some_and(|client| !events.may_stay(&client)) {
                dismiss(place, &not_accepted());
            } else if matches!(place.stage, Stage::Idle(_)) && place.joined.is_some_and(|id| wiped.contains(&id)) {
                dismiss(place, &wiped_state());
            }
        }
    }

    fn leave(&self, number: u64) {
        self.lock().places.remove(&number);
        self.changed.notify_all();
    }

    /// Has all go: at once those for which the server does nothing, the others when `grace` is
    /// over.
    fn dismiss(&self, grace: Duration) {
        let mut clients = self.lock();
        for place in clients.places.values_mut().filter(|place| !matches!(place.stage, Stage::Busy(_))) {
            dismiss(place, &stopped());
        }
        let end = Instant::now() + grace;
        while !clients.places.is_empty() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                for place in clients.places.values_mut() {
                    dismiss(place, &stopped());
                }
                return;
            }
            (clients, _) = self.changed.wait_timeout(clients, left).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

fn dismiss(place: &mut Place, reason: &Abort) {
    match std::mem::replace(&mut place.stage, Stage::Dismissed) {
        Stage::Arrived | Stage::Dismissed => {}
        Stage::Handshake(hang_up) => hang_up(),
        Stage::Idle(canceller) | Stage::Busy(canceller) => canceller.cancel(reason),
    }
}

/// What a client is told that the server cannot serve any more.
pub(super) fn stopped() -> Abort {
    Abort::Local {
        code: exit_code::LINK,
        fault: "the server is shutting down".into(),
        mend: "connect again later".into(),
    }
}

fn not_accepted() -> Abort {
    local(
        exit_code::IDENTITY,
        "this server does not accept the client any more",
        "ask whoever runs the server to accept the client's key again",
    )
}

fn wiped_state() -> Abort {
    local(exit_code::LINK, "the server has wiped the set that this client had joined", "connect again")
}

fn local(code: u8, fault: &str, mend: &str) -> Abort {
    Abort::Local { code, fault: fault.into(), mend: mend.into() }
}

/// What a client's threads know.
struct Attendance<'a, S: Service> {
    offer: &'a Offer<'a, S>,
    limits: &'a ServeLimits,
    events: &'a dyn ServeEvents,
    stop: &'a Stop,
    present: &'a Present,
    number: u64,
}

impl<S: Service> Attendance<'_, S> {
    /// Lets the client in, and answers it on a thread of its own: the stack that a handshake takes is
    /// several times what a client with nothing under way needs, and goes with its thread.
    fn attend<'scope>(self, arrival: Arrival, scope: &'scope thread::Scope<'scope, '_>)
    where
        Self: 'scope,
    {
        let from = arrival.from().to_owned();
        let ch = match self.connect(arrival) {
            Ok(ch) => ch,
            Err(failure) => return self.end(None, &from, &Err(failure)),
        };
        let identity = ClientIdentity::of(&ch);
        let (present, events, number) = (self.present, self.events, self.number);
        let spawned = thread::Builder::new().name("vesica-client".into()).spawn_scoped(scope, move || {
            let outcome = self.admit(identity, ch);
            self.end(Some(&identity), &from, &outcome);
        });
        if let Err(fault) = spawned {
            present.leave(number);
            events.not_accepted(&fault);
        }
    }

    /// Answers a client that has not too many connections already.
    fn admit(&self, client: ClientIdentity, ch: Channel) -> Result<(), Abort> {
        let most = self.limits.connections_per_client.max(1);
        if self.present.identify(self.number, &client, most) {
            return self.converse(client, ch);
        }
        let refusal = local(
            exit_code::REFUSED,
            &format!("this client has {most} connections already"),
            "close one of them, or ask whoever runs the server to allow more",
        );
        ch.abort(&refusal);
        Err(refusal)
    }

    fn end(&self, client: Option<&ClientIdentity>, from: &str, outcome: &Result<(), Abort>) {
        self.present.leave(self.number);
        self.events.ended(client, from, outcome);
    }

    fn connect(&self, arrival: Arrival) -> Result<Channel, Abort> {
        let (establish, hang_up) = arrival.split();
        if !self.present.reach(self.number, Stage::Handshake(hang_up)) {
            return Err(stopped());
        }
        Channel::open(establish()?, Role::Sender, self.limits.channel.clone())
    }

    /// Answers requests until the client leaves or fails, and closes the channel as the outcome
    /// asks.
    fn converse(&self, client: ClientIdentity, mut ch: Channel) -> Result<(), Abort> {
        let canceller = ch.canceller();
        let attended = catch_unwind(AssertUnwindSafe(|| self.requests(client, &mut ch, &canceller)));
        match attended.unwrap_or_else(|_| Err(panicked())) {
            Ok(()) => {
                ch.limit("the client to close the connection", self.limits.idle);
                ch.finish().map(drop)
            }
            Err(failure) => {
                ch.abort(&failure);
                Err(failure)
            }
        }
    }

    fn requests(&self, client: ClientIdentity, ch: &mut Channel, canceller: &Canceller) -> Result<(), Abort> {
        let mut rng = SecretRng::from_os().map_err(|fault| {
            local(exit_code::INTERNAL, &fault.to_string(), "check the system's source of randomness")
        })?;
        let mut joined: Option<Joined<S>> = None;
        let mut query = Query { client, number: 0 };
        let mut described = false;
        loop {
            if joined.as_ref().is_some_and(|joined| joined.told_of_stop) {
                // An abort would overtake the answer. `dismiss` bounds how long the client may take
                // to leave.
                let next: Next = ch.within("the client to leave", self.limits.idle, |ch| ch.recv(()))?;
                return if next.parse() == Some(Request::Leave) { Ok(()) } else { Err(stopped()) };
            }
            let idle = self.present.reach(self.number, Stage::Idle(canceller.clone()));
            // `dismiss` sees the client idle, or this sees that the server was stopped.
            if !idle || self.stop.is_stopped() {
                return Err(stopped());
            }
            let next: Next = ch.within("the client's next request", self.limits.idle, |ch| ch.recv(()))?;
            if !self.present.reach(self.number, Stage::Busy(canceller.clone())) {
                return Err(stopped());
            }
            match next.parse() {
                Some(Request::Join) if joined.as_ref().is_some_and(|joined| !joined.told_of_another) => {
                    return Err(Abort::PeerMisbehaved(Next::STEP, "it joined a state that it had joined"));
                }
                Some(Request::Join) => {
                    // Before it waits for the client: a replaced state should not live on for that long.
                    drop(joined.take());
                    joined = Some(ch.within("joining", self.limits.joining, |ch| self.join(&client, ch, &mut rng))?);
                }
                Some(Request::Query) => {
                    let joined = joined.as_mut().filter(|joined| !joined.told_of_another);
                    let joined = joined
                        .ok_or(Abort::PeerMisbehaved(Next::STEP, "a query before it joined the server's state"))?;
                    self.events.permit(&query)?;
                    ch.within("a query", self.limits.query, |ch| self.query(joined, query, ch, &mut rng))?;
                    query.number += 1;
                }
                Some(Request::Leave) => return Ok(()),
                Some(Request::Describe) if described || joined.is_some() => {
                    return Err(Abort::PeerMisbehaved(Next::STEP, "it asked for a description that it has"));
                }
                Some(Request::Describe) => {
                    ch.send(&Description(self.offer.description.to_vec()))?;
                    conversation::bind_description(ch, self.offer.description);
                    described = true;
                }
                None => return Err(Abort::PeerMisbehaved(Next::STEP, "a request that does not exist")),
            }
        }
    }

    fn join(&self, client: &ClientIdentity, ch: &mut Channel, rng: &mut SecretRng) -> Result<Joined<S>, Abort> {
        let join: Join = ch.recv(())?;
        if join.terms != conversation::terms::<S>(self.offer.params) {
            let mend = format!("ask for {} with the parameters that the server names", S::ENTRY.id);
            return Err(local(
                exit_code::REFUSED,
                "the client asks for another service, or for other parameters, than this server has",
                &mend,
            ));
        }
        let server = self.offer.state.current();
        if S::terms(server.params()) != S::terms(self.offer.params) {
            return Err(local(
                exit_code::INTERNAL,
                "the server's state was prepared for other parameters than the service has",
                "tell whoever runs the server to prepare the set anew",
            ));
        }
        let state = server.state_id();
        let welcome = Welcome { state: state.to_bytes(), nonce: rng.block().to_le_bytes() };
        ch.send(&welcome)?;
        conversation::bind(ch, &join, &welcome);
        let standing = Standing::new(StateId::from_bytes(join.known), state);
        let session = server.admit(client, standing, ch, rng)?;
        self.present.join(self.number, state);
        self.events.joined(client, state);
        Ok(Joined { server, session, told_of_another: false, told_of_stop: false })
    }

    fn query(&self, joined: &mut Joined<S>, query: Query, ch: &mut Channel, rng: &mut SecretRng) -> Result<(), Abort> {
        let start = Instant::now();
        joined.server.answer(&mut joined.session, query, ch, rng)?;
        let state = joined.server.state_id();
        // One that is retired and still answered is as good as the present one.
        let present = if self.offer.state.is_answered(state) { state } else { self.offer.state.current().state_id() };
        joined.told_of_stop = self.stop.is_stopped();
        ch.send(&Answered { state: present.to_bytes(), stops: joined.told_of_stop.into() })?;
        joined.told_of_another = present != state;
        self.events.answered(&query, start.elapsed());
        Ok(())
    }
}

/// What a client has joined.
struct Joined<S: Service> {
    server: Arc<S::Server>,
    session: <S::Server as Server>::Session,
    /// The client knows that the state was replaced.
    told_of_another: bool,
    /// The client knows that the server stops.
    told_of_stop: bool,
}

fn panicked() -> Abort {
    // What the panic says may hold the set: neither the log nor the client hears it.
    tracing::error!("a service panicked");
    local(exit_code::INTERNAL, "the server failed for a reason of its own", "report it to whoever runs the server")
}
