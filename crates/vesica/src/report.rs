//! The local report of a run. It stays with the side that made it; nothing of it but what the
//! receipt states is shared.

use std::iter;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use vesica_party::{Role, Security, Tally};

use crate::key::Kind;
use crate::table::{KeyStats, ValueColumn};

/// What a run did, as `--json` prints it. Counts only, never a key.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Report {
    /// Version of this report's format.
    pub report_version: u32,
    /// Always true: a failed run prints an `error` object instead.
    pub ok: bool,
    /// Release of vesica.
    pub vesica: &'static str,
    /// This side's role.
    pub role: Role,
    /// The task.
    pub task: &'static str,
    /// The protocol that was run.
    pub protocol: &'static str,
    /// How the protocol fails, if it is broken: `security` is then only a name; null otherwise.
    pub broken: Option<&'static str>,
    /// Why this one was chosen.
    pub choice: String,
    /// The security that both sides asked for.
    pub security: Security,
    /// Whether both sides asked for what no quantum computer is known to break.
    pub post_quantum: bool,
    /// Hash that identifies the session, in hexadecimal; the same on both sides.
    pub session: String,
    /// Fingerprint of the peer's key; null over plaintext.
    pub peer: Option<String>,
    /// The group in which the keys of the TLS session were agreed on; null over plaintext.
    pub key_exchange: Option<&'static str>,
    /// The digest of this side's policy for the partner, in hexadecimal; null without one.
    pub policy: Option<String>,
    /// Own rows and keys.
    pub input: KeyStats,
    /// How the peer writes the values of each key column, in key order; `input` has the own ones.
    pub peer_key_kinds: Vec<Kind>,
    /// Own distinct keys, dummies of `--pad-to` included: what the peer learns.
    pub own_items: u64,
    /// The peer's distinct keys, its dummies included.
    pub peer_items: u64,
    /// In how many buckets the protocol ran; 1 for a run on the whole tables.
    pub buckets: u32,
    /// Own distinct keys that the peer has; null if this side does not learn which these are.
    pub matched_keys: Option<u64>,
    /// The same for each alternative of the key; null also where the key has no alternatives.
    pub matched_by_alternative: Option<Vec<u64>>,
    /// What was written; null if this side writes nothing.
    pub output: Option<OutputReport>,
    /// Names of the payload columns.
    pub payload_columns: Vec<String>,
    /// Width of the payload per key, in bytes.
    pub payload_bytes: u64,
    /// Columns to compute with, of both sides.
    pub values: Vec<ValueReport>,
    /// Groups of the receiver's keys; null where the task has none.
    pub groups: Option<u64>,
    /// A group with fewer common keys than this gives nothing.
    pub reveal_if_at_least: u64,
    /// The epsilon of the sender's noise; null without noise.
    pub noise_epsilon: Option<String>,
    /// What the run revealed, and to whom.
    pub revealed: Vec<String>,
    /// Where the receipt is; null without one.
    pub receipt: Option<String>,
    /// Threads of this side that computed.
    pub threads: usize,
    /// Bytes sent, payload and framing, without TLS and TCP.
    pub bytes_sent: u64,
    /// Bytes received, payload and framing, without TLS and TCP.
    pub bytes_received: u64,
    /// From the start of the command to its end.
    pub seconds: f64,
    /// Seconds and bytes by phase: `connect` before the conversation, its phases, and `write` after it. Seconds
    /// add up to those above.
    pub phases: Vec<PhaseReport>,
    /// Notations in the own key columns that often keep equal keys from matching. They do not depend on
    /// what matched.
    pub key_notes: Vec<String>,
    /// What did not go as it should but harmed no result.
    pub warnings: Vec<String>,
}

/// A column to compute with.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ValueReport {
    /// The role of the side that has the column.
    pub of: Role,
    /// What both sides know of the column.
    #[serde(flatten)]
    pub column: ValueColumn,
    /// How many of its values were outside of the range and were moved to its end; null for the
    /// peer's.
    pub clamped: Option<u64>,
}

impl ValueReport {
    pub(crate) fn all(senders: &[ValueColumn], receivers: &[ValueColumn], own: Role, clamped: &[u64]) -> Vec<Self> {
        let of = |role: Role, columns: &[ValueColumn]| {
            let each = columns.iter().enumerate().map(|(place, column)| Self {
                of: role,
                column: column.clone(),
                clamped: clamped.get(place).copied().filter(|_| role == own),
            });
            each.collect::<Vec<_>>()
        };
        [of(Role::Sender, senders), of(Role::Receiver, receivers)].concat()
    }
}

/// The file that was written.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct OutputReport {
    /// The file's path.
    pub path: String,
    /// The number of rows in the file.
    pub rows: u64,
    /// Those of them that the partner gave; null where rows are all own ones.
    pub new_rows: Option<u64>,
    /// The name and the number of each result, where the result is numbers without groups; `None` for one that is
    /// withheld. For the terminal of whoever gets the result, and in no other report.
    #[serde(skip)]
    pub totals: Vec<(String, Option<String>)>,
}

/// A phase of a run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PhaseReport {
    /// The phase's name.
    pub name: &'static str,
    /// Time on this side.
    pub seconds: f64,
    /// Bytes sent.
    pub sent: u64,
    /// Bytes received.
    pub received: u64,
}

impl PhaseReport {
    /// The phases of a run of `all` time, whose partner was `gone_after` some of it.
    pub(crate) fn all(tally: &Tally, gone_after: Duration, all: Duration) -> Vec<Self> {
        let alone = |name, seconds: f64| Self { name, seconds: seconds.max(0.0), sent: 0, received: 0 };
        let talked = tally.phases.iter().map(|(phase, count)| Self {
            name: phase.name(),
            seconds: count.seconds,
            sent: count.sent(),
            received: count.received(),
        });
        let connect = alone("connect", gone_after.as_secs_f64() - tally.total().seconds);
        let write = alone("write", (all - gone_after).as_secs_f64());
        iter::once(connect).chain(talked).chain([write]).collect()
    }
}
