//! Services: one party prepares its set once, and many clients ask about small sets, again and
//! again.
//!
//! A [`Service`] is to repeated use what a [`Protocol`](crate::Protocol) is to one run. It binds
//! the two sides, [`Server`] and [`Client`], to a [`Task`], to parameters and to an [`Entry`]. The
//! server plays [`Role::Sender`] (its set is asked), a client plays [`Role::Receiver`] (it learns
//! the result).
//!
//! # The phases of papers on recurrent protocols
//!
//! | phase in papers | here | when, and who speaks |
//! |---|---|---|
//! | offline, pre-computation | [`Server::prepare`] | once for a set; no client is there |
//! | offline, set-up, one-time communication | [`Client::enrol`] with [`Server::admit`] | once for a client |
//! | online, intersection | [`Client::query`] with [`Server::answer`] | once for a query |
//! | update | [`Server::update`], [`Published::replace`], then [`Client::rejoin`] with [`Server::admit`] | when the set changes; each client when it asks next |
//!
//! # What stands around the two sides
//!
//! - [`serve`] answers many clients at once, a thread for each request; [`ServiceClient`] is the other end.
//!   The messages between them beside the service's own (describe, join, query, leave) are in this
//!   module's `conversation`. A client that does not know the parameters asks for them with
//!   [`describe`].
//! - [`Published`] holds the prepared state. [`Published::replace`] puts another one there while
//!   clients query: an answer comes from one state from its first byte to its last, and a client
//!   whose state was replaced learns that with its next answer and moves over before it asks again.
//! - [`State`] writes prepared and enrolled state to files and reads it again; [`Enrolled`] is what
//!   a client keeps.
//! - [`OneShot`] makes a service a [`Protocol`](crate::Protocol) of one query, so that every suite
//!   and benchmark for protocols covers services. What comes before the query is
//!   [`Phase::Precompute`](crate::Phase::Precompute) there, and benchmarks count it as set-up.
//!
//! How often a client may ask is decided by [`ServeEvents::permit`], before each query. Limits that
//! depend on what a client asks are the service's matter: `admit` and `answer` know the
//! [`ClientIdentity`] and may refuse.

use std::fmt;
use std::ops::RangeInclusive;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Instant;

use vesica_structures::facts::Unsupported;
use vesica_structures::rng::SecretRng;

use crate::transport::tls::PublicKey;
use crate::{Abort, Channel, Entry, Role, Task};

mod client;
mod conversation;
mod one_shot;
mod poller;
mod serve;
mod state;

pub use client::{Enrolled, ServiceClient, depart, describe, other_terms};
pub use one_shot::{OneShot, OneShotClient, OneShotServer};
pub use serve::{Conversation, Offer, ServeEvents, ServeLimits, Stop, serve};
pub use state::{
    State, StateError, StateReader, StateWriter, load, read_state, replace, save, sync_folder, write_state,
};

/// Longest description of a server, see [`describe`].
pub const MOST_DESCRIPTION_BYTES: usize = 1 << 16;

/// A service for a task, which both sides run with equal parameters.
pub trait Service: 'static {
    /// The description of the service.
    const ENTRY: Entry;
    /// What one query computes.
    type Task: Task;
    /// All numbers that both sides derive from the request.
    type Params: Clone + Send + Sync;
    /// The side that holds the set.
    type Server: Server<
            Params = Self::Params,
            Set = <Self::Task as Task>::SenderInput,
            Output = <Self::Task as Task>::SenderOutput,
        >;
    /// The side that asks.
    type Client: Client<
            Params = Self::Params,
            Query = <Self::Task as Task>::ReceiverInput,
            Output = <Self::Task as Task>::ReceiverOutput,
        >;

    /// Parameters for a request, or why it cannot be served.
    fn derive(request: &<Self::Task as Task>::Request) -> Result<Self::Params, Unsupported>;

    /// See [`Protocol::derive_chosen`](crate::Protocol::derive_chosen).
    ///
    /// # Errors
    /// As [`derive`](Self::derive).
    fn derive_chosen(
        request: &<Self::Task as Task>::Request,
        _entry: &'static Entry,
    ) -> Result<Self::Params, Unsupported> {
        Self::derive(request)
    }

    /// The parameters as bytes, equal exactly where the parameters are: a client with others is
    /// refused when it joins.
    fn terms(params: &Self::Params) -> Vec<u8>;

    /// Bytes that both sides together send to enrol a client (payload of messages, without frames);
    /// a range where coding varies.
    fn enrolment_bytes(params: &Self::Params) -> RangeInclusive<u64>;

    /// Bytes that both sides together send in one query (payload of messages, without frames); a
    /// range where coding varies.
    fn query_bytes(params: &Self::Params) -> RangeInclusive<u64>;

    /// See [`Protocol::further_memory`](crate::Protocol::further_memory); the server is the sender.
    fn further_memory(_params: &Self::Params, _role: Role) -> u64 {
        0
    }
}

/// The side of a service that holds the set: prepared once, shared by all clients, never changed by
/// a query (but for what it keeps behind locks of its own, such as quotas).
pub trait Server: Sized + Send + Sync + 'static {
    /// Agreed parameters.
    type Params;
    /// The set that is asked.
    type Set;
    /// What the server remembers of one client on one connection.
    type Session: Send;
    /// What the server learns from a query, by its task; [`serve`] has no use for it.
    type Output: Send;

    /// Prepares the set. No client is there; this may take long.
    fn prepare(params: &Self::Params, set: Self::Set, rng: &mut SecretRng) -> Result<Self, Abort>;

    /// The identifier of this prepared state: drawn by `prepare`, and kept where the state is
    /// written and read again.
    fn state_id(&self) -> StateId;

    /// The parameters that it was prepared with. A state with others than the service's is never
    /// served.
    fn params(&self) -> &Self::Params;

    /// Whether [`update`](Self::update) gives anything.
    const IS_UPDATABLE: bool = false;

    /// The state of the set that has `added` in place of `removed`, under the secret key that this
    /// one has, so that clients of this one need only what has changed. `None` if the service has no
    /// updates: then another set has to be prepared.
    ///
    /// Both have as many items. The payloads of `removed` do not matter, and may be left out. An item
    /// may be in both, with another payload.
    ///
    /// # Errors
    /// If the sets do not fit. This state stays as it is in any case.
    fn update(&self, removed: Self::Set, added: Self::Set, rng: &mut SecretRng) -> Result<Option<Self>, Abort> {
        let _ = (removed, added, rng);
        Ok(None)
    }

    /// The state of another set of the same size, under the secret key that this one has, for a set of
    /// which much has changed: takes as much as [`prepare`](Self::prepare), and clients of this one
    /// fetch everything. `None` if the service has no updates, or only small ones.
    ///
    /// # Errors
    /// If the set does not fit. This state stays as it is in any case.
    fn renew(&self, set: Self::Set, rng: &mut SecretRng) -> Result<Option<Self>, Abort> {
        let _ = (set, rng);
        Ok(None)
    }

    /// The server's half of [`Client::enrol`] for a client that is [`New`](Standing::New), of
    /// [`Client::rejoin`] for another one.
    fn admit(
        &self,
        client: &ClientIdentity,
        standing: Standing,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<Self::Session, Abort>;

    /// The server's half of [`Client::query`]. A failure ends this client's connection and no
    /// other.
    fn answer(
        &self,
        session: &mut Self::Session,
        query: Query,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<Self::Output, Abort>;
}

/// The side of a service that asks: enrolled once, then used for many queries, over as many
/// connections as it takes.
pub trait Client: Sized + Send + 'static {
    /// Agreed parameters.
    type Params: PartialEq;
    /// The input of one query.
    type Query;
    /// The result of one query.
    type Output;

    /// Enrols with a server that does not know this client yet.
    fn enrol(params: &Self::Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort>;

    /// The parameters that it enrolled with.
    fn params(&self) -> &Self::Params;

    /// Joins again with what an earlier enrolment left. `standing` says whether the server still
    /// has the state of that time ([`Current`](Standing::Current)) or another one
    /// ([`Outdated`](Standing::Outdated)). On a failure the client must stay as it was.
    ///
    /// As provided, a client enrols anew if the state is not current, and [resumes](Self::resume) if it is;
    /// a service with smaller updates overrides it, and [`Server::admit`] with it.
    fn rejoin(
        &mut self,
        params: &Self::Params,
        standing: Standing,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<(), Abort> {
        if standing != Standing::Current {
            *self = Self::enrol(params, ch, rng)?;
            return Ok(());
        }
        if self.params() != params {
            return Err(other_terms());
        }
        self.resume(ch, rng)
    }

    /// What it tells a server that still has its state, before the first query of a connection: nothing,
    /// unless it overrides this.
    fn resume(&mut self, ch: &mut Channel, rng: &mut SecretRng) -> Result<(), Abort> {
        let _ = (ch, rng);
        Ok(())
    }

    /// How it came to the server's present state when it last joined another one than before.
    fn moved(&self) -> Moved {
        Moved::Anew
    }

    /// Whether it may ask this. Called before anything leaves for the query, so that a refusal ends
    /// no connection.
    fn check(&self, query: &Self::Query) -> Result<(), Abort> {
        let _ = query;
        Ok(())
    }

    /// Asks. After a failure the client must still be usable over another connection.
    fn query(
        &mut self,
        number: u64,
        query: Self::Query,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<Self::Output, Abort>;
}

/// Which query of which client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Query {
    /// Who asked.
    pub client: ClientIdentity,
    /// How many queries came before it on this connection. Both sides count, so that nobody has to
    /// take the other's word; with [`Channel::session`], which differs for each time that a client
    /// joins, it names the query.
    pub number: u64,
}

/// How a server knows a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClientIdentity {
    /// By its key, which it has proved in the TLS handshake to hold. If it has replaced that key, by the one under which it
    /// was first known: it is the same client, with the quota that is left to it.
    Key(PublicKey),
    /// Not by a key: over plain TCP, or within one process. A client that joins again still names
    /// the state that it knows ([`Standing`]), by which a server that gives a state of its own to each
    /// client knows it again.
    Anonymous,
}

impl ClientIdentity {
    /// The identity of the peer of a channel.
    pub fn of(ch: &Channel) -> Self {
        ch.authenticated_peer().map_or(Self::Anonymous, |peer| Self::Key(peer.known_as))
    }
}

/// How a client came to a server's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moved {
    /// It enrolled: everything was sent.
    Anew,
    /// It had an earlier state, and took what has changed.
    Updated,
    /// It had an earlier state, refused what was said to have changed, for this reason, and enrolled.
    Refused(&'static str),
    /// It had a version of the same state that is not older than the server's, and enrolled: the server
    /// was started with an older state, or shows clients different sets.
    SetBack {
        /// The client's version.
        from: u64,
        /// The server's version.
        to: u64,
    },
}

/// What a server's state is to a client that joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The client is not enrolled.
    New,
    /// The client was enrolled with the server's present state.
    Current,
    /// The client was enrolled with this state, which the server has replaced.
    Outdated(StateId),
}

impl Standing {
    fn new(known: Option<StateId>, present: StateId) -> Self {
        match known {
            None => Self::New,
            Some(known) if known == present => Self::Current,
            Some(known) => Self::Outdated(known),
        }
    }
}

/// The identifier of a prepared state: 16 random bytes, not all of them zero. Public.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StateId([u8; 16]);

impl StateId {
    /// A new identifier.
    pub fn random(rng: &mut SecretRng) -> Self {
        Self(rng.block().max(1).to_le_bytes())
    }

    /// The identifier in these bytes; `None` if all of them are zero.
    pub fn from_bytes(bytes: [u8; 16]) -> Option<Self> {
        (bytes != [0; 16]).then_some(Self(bytes))
    }

    /// The bytes of the identifier.
    pub fn to_bytes(self) -> [u8; 16] {
        self.0
    }
}

/// A server's state, which may be replaced while clients query.
///
/// Whoever asks for the [`current`](Self::current) state keeps that one for as long as it holds it,
/// so that a replaced state is freed when the last client has left it. [`serve`] has a client leave
/// it after the answer under way and, at most, one more.
///
/// ```
/// use vesica_party::service::Published;
///
/// let published = Published::new("the set of Monday");
/// let held = published.current();
/// published.replace("the set of Tuesday");
/// assert_eq!((*held, *published.current()), ("the set of Monday", "the set of Tuesday"));
/// ```
pub struct Published<S>(RwLock<States<S>>);

struct States<S> {
    present: Arc<S>,
    /// States that clients who have joined them may go on asking, each until a time.
    retired: Vec<(Arc<S>, Instant)>,
}

impl<S> Published<S> {
    /// Publishes a prepared state.
    pub fn new(state: S) -> Self {
        Self(RwLock::new(States { present: Arc::new(state), retired: Vec::new() }))
    }

    /// The present state.
    pub fn current(&self) -> Arc<S> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).present.clone()
    }

    /// Replaces the state; gives the one before. Never waits for queries.
    pub fn replace(&self, state: S) -> Arc<S> {
        let state = Arc::new(state);
        std::mem::replace(&mut self.0.write().unwrap_or_else(PoisonError::into_inner).present, state)
    }

    /// Replaces the state by one under another secret key. Clients that have joined the one before
    /// go on asking it until `until`, and nobody else joins it. Then the server drops it, and
    /// disconnects clients that ask nothing, so that its key is gone as soon as the queries under
    /// way have ended.
    pub fn retire(&self, state: S, until: Instant) {
        let mut states = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut states.present, Arc::new(state));
        states.retired.push((before, until));
    }
}

impl<S: Server> Published<S> {
    /// Whether clients that have joined this state may go on asking it: it is the present one, or
    /// retired and not yet at its end.
    fn is_answered(&self, id: StateId) -> bool {
        let states = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let mut retired = states.retired.iter().filter(|(_, until)| now < *until);
        states.present.state_id() == id || retired.any(|(state, _)| state.state_id() == id)
    }

    /// Drops the states whose time has come, and names them.
    fn expire(&self, now: Instant) -> Vec<StateId> {
        let is_due = |(_, until): &mut (Arc<S>, Instant)| *until <= now;
        if self.0.read().unwrap_or_else(PoisonError::into_inner).retired.is_empty() {
            return Vec::new();
        }
        let mut states = self.0.write().unwrap_or_else(PoisonError::into_inner);
        states.retired.extract_if(.., is_due).map(|(state, _)| state.state_id()).collect()
    }
}

impl<S> fmt::Debug for Published<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Published(..)")
    }
}
