//! The log of runs: a file of JSON lines, one when a run begins and one when it ends, refused runs too. A query to a
//! server is logged as a run is, and so is each conversation of a server with a client.
//!
//! Each line has the hash of the line before it and a signature of this side, so that a line that is changed, taken out or
//! put in between shows. Beside the log, `LOG.head` says how many lines there are and the hash of the last one, under a
//! signature as well: a log that was cut off shows by it. Whoever can write both files can put older copies of both in their
//! place; that shows only to somebody who has noted a later head ([`Head`]), and in the partner's log ([`compare`]).
//!
//! A line holds no key and no value of a table, and nothing of a result. It is on the disk before the protocol of its run
//! begins, and a run that was killed has no second line.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

mod compare;
mod file;
mod read;
mod run;
mod server;

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use vesica_party::transport::tls::{Identity, PublicKey};
use vesica_party::{Role, Security};

use self::file::OpenLog;
use crate::failure::{Failure, code};
use crate::receipt::{from_hex, to_hex};

pub use compare::{Compared, Difference, Period, Which, compare};
pub use read::{Verified, verify};
pub(crate) use run::{RunLog, Subject};
pub(crate) use server::{Offered, ServerLog};

/// The task of a query to a server, as files of partners name it.
pub const QUERY: &str = "query";

/// What a partner hears of a log that cannot be written.
const TOLD: &str = "its log of runs cannot be written";

/// Where runs are logged.
#[derive(Clone, Debug)]
pub struct LogFile {
    /// The log.
    pub path: PathBuf,
    /// Whether its user named it: a run that cannot be logged is then refused. In the default place it runs with a warning.
    pub is_named: bool,
}

impl LogFile {
    /// Looks whether the log can be written. The folder of the default place is made.
    fn check(&self, identity: &Identity, goes_on: &dyn Fn() -> Result<(), Failure>) -> Result<(), Failure> {
        if let Some(folder) = self.path.parent().filter(|_| !self.is_named) {
            // Without it, opening the log says why.
            let _ = DirBuilder::new().recursive(true).mode(0o700).create(folder);
        }
        OpenLog::open(&self.path, identity.public(), goes_on).map(drop)
    }
}

/// What a line says happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Event {
    /// Both sides agreed, and the protocol is about to begin.
    Begun,
    /// The run came to its end.
    Completed,
    /// A side refused the run.
    Refused,
    /// The run broke off.
    Failed,
}

impl Event {
    /// How a run has ended that failed with this exit code, if it did.
    fn of_end(code: Option<u8>) -> Self {
        match code {
            None => Self::Completed,
            Some(code::REFUSED | code::MISMATCH | code::USAGE) => Self::Refused,
            Some(_) => Self::Failed,
        }
    }
}

/// What the two sides agreed on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Agreed {
    /// The session, the same on both sides, in hexadecimal.
    pub session: String,
    /// The protocol's id.
    pub protocol: String,
    /// Own distinct keys, dummies included.
    pub own_items: u64,
    /// The partner's.
    pub partner_items: u64,
    /// In how many buckets the protocol runs.
    pub buckets: u32,
    /// What the run reveals, and to whom.
    pub revealed: Vec<String>,
    /// The epsilon of the sender's noise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise_epsilon: Option<String>,
}

/// What a server was asked by a client.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LookUp {
    /// The protocol's id.
    pub protocol: String,
    /// How many keys the server's set has room for.
    pub set_items: u64,
    /// Items of each query, dummies included.
    pub items_per_query: u64,
    /// The client's connections on which it has joined the server's set, the first one first. A server's line has one at
    /// most, and a client's has all that its query has taken so far.
    pub conversations: Vec<Conversation>,
    /// What the query reveals, and to whom.
    pub revealed: Vec<String>,
    /// How much each client may ask, as the server's `--quota` has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quota: Option<String>,
    /// Items that the client has left of its quota: in a server's line by then, and in a client's before it asked, as the
    /// server has told it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quota_left: Option<u64>,
}

/// A client's connection, as both sides know it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Conversation {
    /// The session, the same on both sides, in hexadecimal.
    pub session: String,
    /// Queries that were answered.
    pub queries: u64,
}

/// What a line says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The line's number, from 0; the log gives it.
    pub number: u64,
    /// The hash of the line before it, in hexadecimal; zeros for the first line. The log gives it.
    pub previous: String,
    /// Seconds since 1970, by this machine's clock.
    pub time: u64,
    /// Names the run in this log, or the query or conversation: its lines have the same.
    pub run: String,
    /// What happened.
    pub event: Event,
    /// This side's role; a server is the sender.
    pub role: Role,
    /// The partner's public key line.
    pub partner: String,
    /// The task; [`QUERY`] of a query to a server.
    pub task: String,
    /// The security that this side asked for.
    pub security: Security,
    /// The digest of this side's policy for the partner, in hexadecimal; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// What was agreed on; absent of a run that ended before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agreed: Option<Agreed>,
    /// What a server was asked; absent of a run, and of a query that ended before the server had said what it offers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub look_up: Option<LookUp>,
    /// The hash of the statement that both sides sign ([`Statement`](crate::receipt::Statement)), in hexadecimal; absent
    /// of a run that did not come to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statement: Option<String>,
    /// How much epsilon the partner has left behind a run with noise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epsilon_left: Option<String>,
    /// The exit code of a run that was refused or broke off, and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Why>,
    /// Release of vesica.
    pub vesica: String,
}

/// Why a run did not come to its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Why {
    /// The exit code.
    pub code: u8,
    /// What went wrong.
    pub fault: String,
}

/// A line of the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// What it says.
    pub entry: Entry,
    /// The public key line of the side that keeps the log.
    pub key: String,
    /// Its Ed25519 signature, in hexadecimal, over `vesica log v1`, a line feed, and the entry as compact JSON.
    pub signature: String,
}

/// How far a log is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// How many lines it has.
    pub lines: u64,
    /// The hash of the last one, in hexadecimal; zeros without lines.
    pub hash: String,
}

/// The file `LOG.head`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SignedHead {
    head: Head,
    key: String,
    /// Over `vesica log head v1`, a line feed, and the head as compact JSON.
    signature: String,
}

impl Head {
    /// Of a log without lines.
    fn none() -> Self {
        Self { lines: 0, hash: to_hex(&[0; 32]) }
    }
}

/// Signs a part of the log.
fn signed(domain: &str, content: &impl Serialize, identity: &Identity) -> Option<(String, String)> {
    let signature = identity.sign(&signed_bytes(domain, content))?;
    Some((identity.public().to_string(), to_hex(&signature)))
}

fn is_signed(domain: &str, content: &impl Serialize, (key, signature): (&str, &str)) -> bool {
    let key: Option<PublicKey> = key.parse().ok();
    key.zip(from_hex(signature))
        .is_some_and(|(key, signature)| key.verifies(&signed_bytes(domain, content), &signature))
}

fn signed_bytes(domain: &str, content: &impl Serialize) -> Vec<u8> {
    let mut bytes = domain.as_bytes().to_vec();
    bytes.push(b'\n');
    // Plain fields into memory: serialising cannot fail.
    bytes.extend(serde_json::to_vec(content).unwrap_or_default());
    bytes
}

const LINE: &str = "vesica log v1";
const HEAD: &str = "vesica log head v1";

/// The hash of a line, without its line feed.
fn hash(line: &[u8]) -> String {
    let mut hasher = blake3::Hasher::new_derive_key("vesica 2026-11-30 line of a log v1");
    to_hex(hasher.update(line).finalize().as_bytes())
}

impl Line {
    fn new(entry: Entry, identity: &Identity) -> Option<Self> {
        let (key, signature) = signed(LINE, &entry, identity)?;
        Some(Self { entry, key, signature })
    }

    /// Whether its signature is right.
    fn is_signed(&self) -> bool {
        is_signed(LINE, &self.entry, (&self.key, &self.signature))
    }

    /// The line as it stands in the log, without its line feed.
    fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
