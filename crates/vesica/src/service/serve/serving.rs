//! A server that is ready to answer, with what it counts.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use vesica_party::service::Published;
use vesica_party::transport::acceptor::Acceptor;

use super::config::ServeConfig;
use crate::log::ServerLog;
use crate::service::answers::Answers;
use crate::service::metrics::{Counters, OpenPage};
use crate::service::periods::Moment;
use crate::service::prepared::{Lock, Prepared};
use crate::service::quota::Meter;
use crate::service::roster::Roster;
use crate::service::slow_hash::Hashed;
use crate::service::volume::{Enrolments, Volume};
use crate::service::{Description, TableService};

/// A server of the protocol `S`.
pub(super) struct Serving<S: TableService> {
    pub config: ServeConfig,
    pub acceptor: Box<dyn Acceptor>,
    /// For as long as the server runs.
    pub _page: Option<OpenPage>,
    pub description: Description,
    pub description_bytes: Vec<u8>,
    pub params: S::Params,
    pub state: Published<S::Server>,
    pub served: Mutex<Served>,
    pub meter: Option<Meter>,
    pub answers: Option<Answers>,
    pub volume: Option<Volume>,
    pub enrolments: Option<Enrolments>,
    pub counters: Arc<Counters>,
    pub run_log: Option<ServerLog>,
    /// For as long as the server runs.
    pub _lock: Option<Lock>,
}

/// The set that is served.
pub(super) struct Served {
    pub hash: [u8; 32],
    pub keys: u64,
    /// What it was prepared from, if it can be updated.
    pub roster: Option<Roster>,
    /// When its secret key was made, in seconds since 1970.
    pub made: u64,
    /// Since when this process has the key, by a clock that nobody sets.
    pub held_since: Duration,
    /// What the slow hash has given so far.
    pub hashed: Hashed,
}

impl Served {
    pub(super) fn of<S: TableService>(
        prepared: &mut Prepared<S>,
        keys: u64,
        held_since: Duration,
        hashed: Hashed,
    ) -> Self {
        Self { hash: prepared.set_hash, keys, roster: prepared.roster.take(), made: prepared.made, held_since, hashed }
    }

    /// Age of the secret key, as far as is known: the clock by which it was made may have been wrong.
    pub(super) fn age(&self, now: Moment) -> Duration {
        let held = now.running.saturating_sub(self.held_since);
        Duration::from_secs(now.utc.saturating_sub(self.made)).max(held)
    }
}
