//! A whole run of one side: reach the peer, agree, run the protocol, write the result, report.
//!
//! A run is a chain of steps, each of which takes the state that the one before it gave: connect, compare, read, size,
//! agree, set up, run, close, hang up and deliver. Their order stands in `run.rs`, for this process and for the machines
//! of a cluster alike.
//! [`dry_run()`] tries a run up to the exchange of sizes.

pub(crate) mod advice;
mod agree;
mod close;
mod connect;
mod context;
pub(crate) mod deadline;
mod deliver;
mod dry_run;
mod files;
mod guests;
mod interrupt;
mod link;
mod on_cluster;
mod parting;
mod prepare;
mod ready;
mod revealed;
mod run;
mod tell;
mod validate;
mod work;
mod write;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use vesica_party::{Role, Security};

pub use dry_run::{Assumptions, DryRun, Estimate, dry_run};
pub(crate) use files::{named_path, refuse_one_file};
pub(crate) use guests::{Guests, Limits as GuestLimits, Outcome as Greeted, Visit};
pub use interrupt::Interrupt;
pub(crate) use link::{Bound, RetryPolicy, bind as bind_end, reach as reach_end};
pub use link::{End, Protection};
pub(crate) use ready::fresh;
pub(crate) use run::in_role;
pub use run::{run, run_on_cluster};
pub use tell::{Meeting, tell_partner};
pub use validate::check;
pub(crate) use work::dummies;

use crate::failure::Failure;
use crate::handshake::Agreement;
use crate::key::KeySpec;
use crate::plan::{Link, Machine};
use crate::progress::{Progress, Stage};
use crate::table::{Join, OpenSink, OpenSource};
use crate::task::{AnyAgreed, AnyTask, Settings};

/// What both sides agreed on, the task's terms among it.
type TaskAgreement = Agreement<Box<dyn AnyAgreed>>;

/// Items that a peer may bring unless `--max-peer-items` says otherwise.
pub const MAX_PEER_ITEMS: u64 = 1 << 28;

/// Where the own rows come from, and their key.
#[derive(Clone, Debug)]
pub struct OwnTable {
    /// The table: a [`SourceFile`](crate::table::SourceFile), [`Batches`](crate::table::Batches) in
    /// memory, or one of the caller's own.
    pub table: Arc<dyn OpenSource>,
    /// The key.
    pub key: KeySpec,
}

/// Where the result goes.
#[derive(Clone, Debug)]
pub struct Destination {
    /// A [`SinkFile`](crate::table::SinkFile), [`Collected`](crate::table::Collected) in memory, or
    /// one of the caller's own.
    pub sink: Arc<dyn OpenSink>,
    /// Which own rows, where the result is rows.
    pub join: Join,
}

/// Everything that one side of a run is told by its user.
#[derive(Clone, Debug)]
pub struct Config {
    /// What is computed.
    pub task: &'static dyn AnyTask,
    /// What its user wants of the task.
    pub settings: Settings,
    /// Whether this side sends or receives.
    pub role: Role,
    /// How it meets the peer.
    pub end: End,
    /// What protects the connection.
    pub protection: Protection,
    /// How long to wait for the peer.
    pub wait: Duration,
    /// Bound on the whole run.
    pub deadline: Option<Duration>,
    /// The own table.
    pub source: OwnTable,
    /// The result; there is one exactly on sides that learn it.
    pub destination: Option<Destination>,
    /// A protocol's id or alias; `None` lets the receiver choose.
    pub protocol: Option<String>,
    /// The link to the partner, if it is known: protocols are compared over the slower of what the
    /// two sides say.
    pub link: Option<Link>,
    /// The least security that is accepted.
    pub security: Security,
    /// Whether a named protocol may be a broken one.
    pub allow_broken: bool,
    /// Whether `auto` may take a protocol that shows the receiver the number of common keys where
    /// the task hides it.
    pub allow_count: bool,
    /// Divide both tables into this many buckets and run the protocol on one after the other; 1 for a run on
    /// the whole tables.
    pub buckets: u32,
    /// Fill the own set with dummies to this many items.
    pub pad_to: Option<u64>,
    /// Refuse a peer that brings more items.
    pub max_peer_items: u64,
    /// Most bytes of memory that this process may take; `None` for what is free when the sizes are
    /// agreed.
    pub memory: Option<u64>,
    /// How fast this machine is. The time left is told by it, and nothing else depends on it.
    pub machine: Machine,
    /// Where to write the disclosure receipt; needs [`Protection::Tls`].
    pub receipt: Option<PathBuf>,
    /// Whether an existing receipt file is replaced.
    pub force: bool,
}

/// What a run tells while it goes on. Texts never hold a key.
pub trait Events: Sync {
    /// The address is bound (the port is known).
    fn listening(&self, _address: SocketAddr) {}
    /// The peer is there.
    fn connected(&self) {}
    /// Something worth knowing that does not end the run.
    fn notice(&self, _text: &str) {}
    /// Something that the user should act on, though the run goes on. It is among the report's
    /// warnings too.
    fn warning(&self, _text: &str) {}
    /// What keeps this side from starting, before it tries to tell the partner. The run returns it
    /// later, as [`Failure::announced`].
    fn failed(&self, _failure: &Failure) {}
    /// A part of the run begins.
    fn stage(&self, _stage: &Stage) {}
    /// How far the current stage has come: a few times a second, on another thread than all else. No step
    /// of a protocol waits for it, but the next stage begins only when it has returned.
    fn progress(&self, _progress: &Progress) {}
}

/// Hears nothing.
#[derive(Clone, Copy, Debug)]
pub struct Silent;

impl Events for Silent {}

#[cfg(test)]
mod tests;
