//! What a server is told by its user.

use std::path::PathBuf;
use std::time::Duration;

use vesica_party::Security;
use vesica_party::transport::tls::{AcceptedKeys, Identity};

use crate::log::LogFile;
use crate::service::{Quota, SlowHash};
use crate::session::OwnTable;
use crate::table::PayloadSpec;

/// Who may ask.
#[derive(Clone, Debug)]
pub enum Clients {
    /// Clients with these keys, over TLS 1.3, of a server with this identity.
    Keys(Identity, AcceptedKeys),
    /// Anybody, and nothing is encrypted.
    InsecurePlaintext,
}

impl Clients {
    /// Whether anybody may ask.
    pub(super) fn are_anybody(&self) -> bool {
        match self {
            Self::Keys(_, accepted) => accepted.are_any(),
            Self::InsecurePlaintext => true,
        }
    }
}

/// Everything that a server is told by its user.
#[derive(Clone, Debug)]
pub struct ServeConfig {
    /// The table that is asked about.
    pub source: OwnTable,
    /// The columns that a client gets for its matches.
    pub payload: Option<PayloadSpec>,
    /// Most bytes of memory for reading payloads; `None` for what is free.
    pub memory: Option<u64>,
    /// The protocol's id, or [`AUTO`](crate::service::AUTO).
    pub protocol: String,
    /// With [`AUTO`](crate::service::AUTO): how many queries a client is likely to send.
    pub expect_queries: u64,
    /// What the protocol withstands.
    pub security: Security,
    /// Whether nothing may run that a quantum computer is known to break: neither the key exchange of TLS nor the
    /// protocol.
    pub post_quantum: bool,
    /// Keys that the set has room for; `None` for some more than the table has.
    pub capacity: Option<u64>,
    /// Items of each query.
    pub items_per_query: u64,
    /// With a protocol that shows the server the first bits of a hash of each key: how many.
    pub leak_prefix: Option<u32>,
    /// A hash of each key that takes memory and time, on both sides.
    pub slow_hash: Option<SlowHash>,
    /// The key is one column of integers of at most so many bits, which are compared as such.
    pub integer_bits: Option<u32>,
    /// Whether a protocol may be offered that holds only against clients that follow it.
    pub trust_clients: bool,
    /// Where the prepared set is kept.
    pub state: Option<PathBuf>,
    /// Whether a state that was prepared with other settings, or is damaged, may be replaced.
    pub replace_state: bool,
    /// Most percent of its keys that a table may lose from one time to the next that it is read.
    pub max_shrink: u8,
    /// The age of a secret key at which a new one is made; `None` for no age.
    pub rotate_after: Option<Duration>,
    /// How long clients that are connected may ask the set under the key before.
    pub overlap: Duration,
    /// The address at which clients connect.
    pub listen: String,
    /// Who may ask.
    pub clients: Clients,
    /// How much each client may ask.
    pub quota: Option<Quota>,
    /// How often each client may fetch the set, or what has changed of it.
    pub enrolments: Quota,
    /// Items of one client in a period above which the log says so.
    pub alert_volume: Option<Quota>,
    /// The address of the metrics page.
    pub metrics: Option<String>,
    /// Clients at once.
    pub max_clients: usize,
    /// Connections at once of one client.
    pub connections_per_client: usize,
    /// The longest time between two requests of a client.
    pub idle: Duration,
    /// Where conversations with clients are logged; `None` for nowhere.
    pub log: Option<LogFile>,
}
