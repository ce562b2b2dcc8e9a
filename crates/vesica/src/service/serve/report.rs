//! What a server tells its user.

use std::time::Duration;

use vesica_party::Abort;
use vesica_party::service::{ClientIdentity, Query};

use crate::service::{Changes, Quota};

/// What a server tells while it works. Texts never hold a key of the table.
pub trait ServeLog: Sync {
    /// A part of the start begins.
    fn stage(&self, _name: &str) {}
    /// Something that the user should act on.
    fn warning(&self, _text: &str) {}
    /// A client joined.
    fn joined(&self, _client: &ClientIdentity) {}
    /// A client has asked about so many items in this period, more than the threshold, or than a
    /// multiple of it.
    fn volume(&self, _client: &ClientIdentity, _items: u64, _threshold: Quota) {}
    /// A query was answered.
    fn answered(&self, _query: &Query, _took: Duration) {}
    /// A connection ended.
    fn ended(&self, _client: Option<&ClientIdentity>, _from: &str, _outcome: &Result<(), Abort>) {}
}

/// What a server has come to when it starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Started {
    /// The address at which it listens.
    pub address: String,
    /// The address of the metrics page.
    pub metrics: Option<String>,
    /// Distinct keys of the table.
    pub keys: u64,
    /// Items of the set, dummies included.
    pub capacity: u64,
    /// Where the set comes from.
    pub origin: Origin,
    /// The protocol's id.
    pub protocol: String,
    /// How many bits of a hash of each key the server sees, if any.
    pub leak_prefix: Option<u32>,
}

/// Where the set of a server that starts comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It was prepared now, under a new secret key.
    Prepared,
    /// From the state file: it is the table's.
    Kept,
    /// From the state file, updated to the table.
    Updated(Changes),
}

/// What reading the table again came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reloaded {
    /// Distinct keys of the set that was served before.
    pub before: u64,
    /// Distinct keys of the table now.
    pub now: u64,
    /// What became of the set.
    pub outcome: Outcome,
}

/// What became of the set when the table was read again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The table has not changed.
    Unchanged,
    /// The set has a new version, under its secret key. Clients fetch what has changed.
    Updated(Changes),
    /// The protocol has no updates: the set was prepared anew, and each client enrols again.
    PreparedAnew,
}
