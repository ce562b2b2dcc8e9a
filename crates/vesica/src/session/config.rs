//! What one side of a run is told by its user, with the command's defaults for programs that call this library.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use vesica_party::transport::proxy::Proxy;
use vesica_party::{Role, Security};

use super::{End, Protection};
use crate::failure::Failure;
use crate::key::{KeySpec, SpecError};
use crate::log::LogFile;
use crate::plan::{Link, Machine};
use crate::policy::Policy;
use crate::table::{InputOptions, Join, OpenSink, OpenSource, OutputOptions, SinkFile, SourceFile};
use crate::task::{self, AnyTask, Disclosure, Flags, Settings};

/// How long a side waits for its partner unless `--wait` says otherwise.
const WAIT: Duration = Duration::from_secs(60);

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
    /// Through what it dials the partner or the relay; `None` for directly.
    pub proxy: Option<Proxy>,
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
    /// Whether nothing may run that a quantum computer is known to break: neither the key exchange of TLS nor the
    /// protocol.
    pub post_quantum: bool,
    /// Whether a named protocol may be a broken one.
    pub allow_broken: bool,
    /// Whether `auto` may take a protocol that shows the receiver the number of common keys where
    /// the task hides it.
    pub allow_count: bool,
    /// Divide both tables into this many buckets and run the protocol on one after the other; 1 for a run on
    /// the whole tables, [`BY_SIZE`](crate::buckets::BY_SIZE) for as many as their sizes call for.
    pub buckets: u32,
    /// Whether a run on the whole tables that does not fit in the memory of either side may become one in buckets, as many
    /// as the sizes call for, if both sides let it; and whether a table that does not fit goes to the folder for large
    /// temporary files (`TMPDIR`, or /var/tmp) then.
    pub may_divide: bool,
    /// A folder for what outgrows memory: the table's keys, buckets, and matches. `None` keeps them in memory.
    pub work: Option<PathBuf>,
    /// Keep the run in a record in the work folder, and go on with the run of which there is one.
    pub resume: bool,
    /// Fill the own set with dummies to this many items.
    pub pad_to: Option<u64>,
    /// Refuse a peer that brings more items.
    pub max_peer_items: u64,
    /// Most bytes of memory that this process may take; `None` for what is free when the sizes are
    /// agreed.
    pub memory: Option<u64>,
    /// How fast this machine is. The time left is told by it, and nothing else depends on it.
    pub machine: Machine,
    /// What may be done with this partner; `None` for anything.
    pub policy: Option<Arc<Policy>>,
    /// Where the run is logged; runs without TLS have no identity to sign with, and are in no log.
    pub log: Option<LogFile>,
    /// Where to write the disclosure receipt; needs [`Protection::Tls`].
    pub receipt: Option<PathBuf>,
    /// Whether an existing receipt file is replaced.
    pub force: bool,
}

impl OwnTable {
    /// The table in this file, by a key of these columns as they stand there.
    ///
    /// # Errors
    /// If the columns are no key.
    pub fn file(path: impl Into<String>, key: &[&str]) -> Result<Self, SpecError> {
        let table = SourceFile { path: path.into(), options: InputOptions::default() };
        Ok(Self { table: Arc::new(table), key: KeySpec::parse(key, &[])? })
    }
}

impl Destination {
    /// A new file, in the format that its ending names; for rows, those that match.
    pub fn file(path: impl Into<String>) -> Self {
        let options = OutputOptions { force: false, format: None };
        Self { sink: Arc::new(SinkFile { path: path.into(), options }), join: Join::Inner }
    }
}

impl Config {
    /// Bytes of the partner's payload that this side's result has for each match.
    pub(super) fn received_bytes(&self, disclosure: &Disclosure) -> usize {
        let join = self.destination.as_ref().map(|to| to.join);
        if self.role == Role::Receiver && join != Some(Join::Difference) { disclosure.payload_bytes } else { 0 }
    }

    /// A side that receives an intersection, as `vesica receive` without further flags.
    ///
    /// # Errors
    /// If this release has no such task.
    pub fn receive(
        source: OwnTable,
        destination: Destination,
        end: End,
        protection: Protection,
    ) -> Result<Self, Failure> {
        let side = Self::side(Role::Receiver, source, end, protection)?;
        Ok(Self { destination: Some(destination), ..side })
    }

    /// A side that sends for an intersection, as `vesica send` without further flags.
    ///
    /// # Errors
    /// If this release has no such task.
    pub fn send(source: OwnTable, end: End, protection: Protection) -> Result<Self, Failure> {
        Self::side(Role::Sender, source, end, protection)
    }

    /// The same for the task of this name, with what these flags say to it. Other fields are set as they are; for
    /// tasks other than `intersect`, mind `security`.
    ///
    /// # Errors
    /// If there is no such task, or it does not take these flags.
    pub fn for_task(self, name: &str, flags: &Flags) -> Result<Self, Failure> {
        let task = task::find(name)?;
        Ok(Self { task, settings: task.settings(self.role, flags)?, ..self })
    }

    fn side(role: Role, source: OwnTable, end: End, protection: Protection) -> Result<Self, Failure> {
        let task = task::find(task::DEFAULT)?;
        Ok(Self {
            task,
            settings: task.settings(role, &Flags::default())?,
            role,
            end,
            proxy: None,
            protection,
            wait: WAIT,
            deadline: None,
            source,
            destination: None,
            protocol: None,
            link: None,
            security: Security::Malicious,
            post_quantum: false,
            allow_broken: false,
            allow_count: false,
            buckets: 1,
            may_divide: true,
            work: None,
            resume: false,
            pad_to: None,
            max_peer_items: MAX_PEER_ITEMS,
            memory: None,
            machine: Machine::REFERENCE,
            policy: None,
            log: None,
            receipt: None,
            force: false,
        })
    }
}
