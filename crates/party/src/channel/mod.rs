//! The channel: typed messages over a connection, on forks that share it.
//!
//! A channel is used by one thread at a time; two threads of its own read and write the connection,
//! so that sending never waits for the peer (streams apart) and a fork that is not read blocks no
//! other. A server's channels have no threads of their own: `direct` says how they get on without.

use std::fmt;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crate::transport::tls::AuthenticatedPeer;
use crate::transport::{Connection, KeyExchange};
use crate::{Abort, BaseOtChoice, Entry, Phase, Role, exit_code};

mod clock;
mod close;
mod direct;
pub(crate) mod feed;
mod fork;
mod forks;
mod frame;
mod input;
mod options;
mod reader;
mod receive;
mod records;
mod send;
mod shared;
mod socket;
mod state;
mod tally;
mod transcript;
mod turns;
mod writer;

pub use clock::{Meter, PhaseGuard};
pub use close::Canceller;
pub use options::ChannelOptions;
pub use tally::{Count, Tally};
pub use turns::Turns;

pub(crate) use frame::{Open, parse_abort};

use clock::Clock;
use fork::Frame;
use forks::Slot;
use shared::Shared;
use state::TimeLimit;
use transcript::Transcript;

/// The frame format, for tools that look at a connection from outside.
#[doc(hidden)]
pub mod wire {
    pub use super::frame::{BODY_LIMIT, HEADER_BYTES, Header, Kind};
}

/// One party's end of a conversation, or of a fork of it.
pub struct Channel {
    shared: Arc<Shared>,
    /// Which fork of the link this is.
    slot: Slot,
    role: Role,
    /// Number of forks made so far.
    children: u16,
    /// The chunk that `recv_stream` has taken in part, and how much of it.
    partial: Option<(Frame, usize)>,
    clock: Arc<Clock>,
    /// The running transcript, if the options ask for one.
    transcript: Option<Box<Transcript>>,
    /// Whether `finish` or `abort` has closed the channel.
    closed: bool,
}

impl Channel {
    /// Starts the reader and writer threads over a connection.
    ///
    /// # Errors
    /// If the operating system gives no threads.
    pub fn open(connection: Connection, role: Role, options: ChannelOptions) -> Result<Self, Abort> {
        let shared = Shared::new(&connection, role, options);
        let Connection { reader, writer, .. } = connection;
        let (for_reader, for_writer) = (shared.clone(), shared.clone());
        thread::Builder::new().name("vesica-reader".into()).spawn(move || reader::run(for_reader, reader))?;
        thread::Builder::new().name("vesica-writer".into()).spawn(move || writer::run(for_writer, writer))?;
        let clock = Clock::start(shared.clone(), false, Phase::Other);
        Ok(Self::over(shared, Slot::ROOT, role, clock))
    }

    /// The role this side plays at present.
    pub fn role(&self) -> Role {
        self.role
    }

    /// The session that every hash is bound to; zero until bound.
    pub fn session(&self) -> [u8; 32] {
        self.shared.lock().session
    }

    /// Binds this channel and its forks to a session that both sides agreed on.
    pub fn bind_session(&mut self, session: [u8; 32]) {
        self.shared.lock().session = session;
    }

    /// What base OTs of this channel and its forks are made from.
    pub fn base_ot(&self) -> BaseOtChoice {
        self.shared.lock().base_ot
    }

    /// Has building blocks on this channel and its forks do what the row or variant that `entry` describes has chosen for
    /// them. A row without such a choice, as one that a part of another is, changes nothing.
    pub fn follow(&mut self, entry: &Entry) {
        if let Some(base_ot) = BaseOtChoice::of(entry) {
            self.shared.lock().base_ot = base_ot;
        }
    }

    /// Where in the conversation this channel stands, the same on both sides: the indices of its
    /// forks from the root, and whether roles are swapped against the root's.
    pub fn place(&self) -> (Vec<u16>, bool) {
        let state = self.shared.lock();
        (state.forks[self.slot].path.clone(), self.role != self.shared.role)
    }

    /// 32 bytes that only the two ends of this TLS session know; `None` on other transports.
    pub fn exporter(&self) -> Option<[u8; 32]> {
        self.shared.exporter
    }

    /// How the keys of the TLS session came about; `None` on other transports.
    pub fn key_exchange(&self) -> Option<KeyExchange> {
        self.shared.key_exchange
    }

    /// Who has proved to be the peer; `None` without TLS.
    pub fn authenticated_peer(&self) -> Option<AuthenticatedPeer> {
        self.shared.peer
    }

    /// From now on, what is left of the conversation (`what`, in words) may take `after` at most:
    /// then every call on the channel and its forks fails, whatever the peer sends. Of several
    /// limits the earliest counts.
    pub fn limit(&mut self, what: &'static str, after: Duration) {
        let Some(end) = Instant::now().checked_add(after) else { return };
        let mut state = self.shared.lock();
        if state.time_limit.as_ref().is_none_or(|limit| end < limit.end) {
            state.time_limit = Some(TimeLimit { end, what, after });
        }
    }

    /// Runs `body` with at most `after` for it (`what`, in words); past that, every call on the
    /// channel and its forks fails. An earlier limit counts all the same, and holds again
    /// afterwards. Limits that `body` sets with [`limit`](Self::limit) end with it.
    pub fn within<T>(&mut self, what: &'static str, after: Duration, body: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.shared.lock().time_limit.clone();
        self.limit(what, after);
        let result = body(self);
        self.shared.lock().time_limit = before;
        result
    }

    /// Has what follows take `after` at most, or any time, instead of what limited it before.
    pub(crate) fn set_limit(&mut self, limit: Option<(&'static str, Duration)>) {
        self.shared.lock().time_limit = None;
        if let Some((what, after)) = limit {
            self.limit(what, after);
        }
    }

    /// Whether the conversation still stands, for a side that is busy with something else. Does not
    /// wait.
    ///
    /// # Errors
    /// If the link has failed, the peer has given up or is silent, or time has run out.
    pub fn check(&self) -> Result<(), Abort> {
        let standing = self.shared.check(&self.shared.lock());
        self.note(standing)
    }

    /// From now until the guard drops, time and bytes count for `phase` (phases nest: the innermost
    /// counts).
    pub fn phase(&mut self, phase: Phase) -> PhaseGuard {
        self.clock.enter(phase)
    }

    /// A further channel over the same connection, for another thread or for a stream in the other
    /// direction. Both sides fork in the same program order; labels are compared. It ends when
    /// it is dropped.
    ///
    /// # Errors
    /// If the channel has failed, or the peer's fork has another label.
    pub fn fork(&mut self, label: &'static str) -> Result<Channel, Abort> {
        let fork = self.branch(label);
        self.note(fork)
    }

    fn branch(&mut self, label: &'static str) -> Result<Channel, Abort> {
        let index = self.children;
        if self.shared.direct.is_some() {
            return Err(internal("a fork of a channel without threads".into()));
        }
        self.children = index.checked_add(1).ok_or_else(|| internal("more than 65535 forks of one channel".into()))?;
        let label = frame::label_hash(label);
        let mut state = self.shared.lock();
        self.shared.check(&state)?;
        if state.forks.len() > usize::from(u16::MAX) {
            return Err(internal("more than 65535 forks of one connection".into()));
        }
        let slot = state.child(self.slot, index);
        let fork = &mut state.forks[slot];
        fork.opened = true;
        if let Some(rendezvous) = &self.shared.rendezvous {
            rendezvous.open(&fork.path);
        }
        if *fork.label.get_or_insert(label) != label {
            return Err(self.shared.misbehaved(reader::OTHER_FORK));
        }
        state.retry_unannounced();
        drop(state);
        self.shared.work.notify_all();
        let clock = Clock::start(self.shared.clone(), true, self.clock.phase());
        Ok(Self::over(self.shared.clone(), slot, self.role, clock))
    }

    fn over(shared: Arc<Shared>, slot: Slot, role: Role, clock: Arc<Clock>) -> Self {
        let transcript = shared.options.transcript.then(|| Box::new(Transcript::new()));
        Self { shared, slot, role, children: 0, partial: None, clock, transcript, closed: false }
    }

    /// Runs `body` with the roles swapped (for a sub-protocol in the other direction).
    pub fn reversed<T>(&mut self, body: impl FnOnce(&mut Channel) -> T) -> T {
        self.role = self.role.peer();
        let result = body(self);
        self.role = self.role.peer();
        result
    }

    /// Records a failure of a call: the conversation is undefined from then on, so that all calls
    /// fail, on all forks.
    fn note<T>(&self, result: Result<T, Abort>) -> Result<T, Abort> {
        result.inspect_err(|failure| self.shared.fail(failure.again()))
    }

    /// Bytes and time so far, forks included.
    pub fn tally(&self) -> Tally {
        self.clock.book();
        self.shared.count(|tally| tally.clone())
    }

    /// A view of this channel's progress for another thread.
    pub fn meter(&self) -> Meter {
        Meter::of(&self.clock)
    }
}

impl fmt::Debug for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Channel").field("role", &self.role).field("fork", &self.slot).finish_non_exhaustive()
    }
}

/// The failure that stands for a mistake in this program.
fn internal(fault: String) -> Abort {
    Abort::Local { code: exit_code::INTERNAL, fault, mend: "this is a mistake in the program: report it".into() }
}
