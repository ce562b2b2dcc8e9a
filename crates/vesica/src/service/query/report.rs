//! What a query came to.

use schemars::JsonSchema;
use serde::Serialize;
use vesica_party::Security;

use crate::failure::{Failure, code};
use crate::handshake::printable;
use crate::report::OutputReport;
use crate::words::counted;

/// How a client came to what the server sends once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Enrolment {
    /// From the server, for the first time.
    New,
    /// From the state file.
    Kept,
    /// From the state file, with what has changed since then from the server.
    Updated,
    /// From the server, since the set was replaced.
    Renewed,
}

/// What a query came to.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct QueryReport {
    /// Whether everything that matched could be written.
    pub ok: bool,
    /// The version of this program.
    pub vesica: &'static str,
    /// The protocol's id.
    pub protocol: String,
    /// What it withstands.
    pub security: Security,
    /// The fingerprint of the server's key.
    pub server: Option<String>,
    /// The group in which the keys of the first TLS session were agreed on; null over plaintext.
    pub key_exchange: Option<&'static str>,
    /// Rows of the table.
    pub rows: u64,
    /// Its distinct keys.
    pub keys: u64,
    /// How many of these the server has, but for those that are unreadable.
    pub matched_keys: u64,
    /// The first row, counted from 1, of each key that matched and for which the server's columns are no
    /// record. These keys were left out.
    pub unreadable: Vec<u64>,
    /// Items of the server's set, dummies included.
    pub set_items: u64,
    /// Queries that were asked.
    pub queries: u64,
    /// Items of each query, dummies included.
    pub items_per_query: u64,
    /// How many bits of a hash of each key the server has seen; null with a protocol that shows
    /// none.
    pub leak_prefix: Option<u32>,
    /// The hash that each key was put through, as `serve --slow-hash` has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slow_hash: Option<String>,
    /// The width of the keys, where they are integers and were compared as such.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub integer_bits: Option<u32>,
    /// What the server has seen beside the number of queries, in sentences.
    pub leaked: Vec<String>,
    /// What the server was trusted with, in sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub trusted: Vec<String>,
    /// Where the client had the set's tags from.
    pub enrolment: Enrolment,
    /// Where the rows went.
    pub output: OutputReport,
    /// Bytes that were sent.
    pub bytes_sent: u64,
    /// Bytes that were received.
    pub bytes_received: u64,
    /// Seconds from start to end.
    pub seconds: f64,
    /// What the user should act on.
    pub warnings: Vec<String>,
}

impl QueryReport {
    /// What is wrong with a report that is not `ok`.
    pub fn failure(&self) -> Option<Failure> {
        const SHOWN: usize = 10;
        if self.unreadable.is_empty() {
            return None;
        }
        let rows: Vec<String> = self.unreadable.iter().take(SHOWN).map(u64::to_string).collect();
        let more = if self.unreadable.len() > SHOWN { ", ..." } else { "" };
        Some(Failure::new(
            code::PEER_MISBEHAVED,
            format_args!(
                "the server sent no readable columns for {}, which count as keys without a match; {} written to {}; the \
                 first row of each such key: {}{more}",
                counted(self.unreadable.len(), "key that matches", "keys that match"),
                counted(self.output.rows, "row was", "rows were"),
                printable(&self.output.path),
                rows.join(", ")
            ),
            "tell whoever runs the server; do not ask again at once, since the server could see that",
        ))
    }

    /// The report for people.
    pub fn summary(&self) -> String {
        let Self { rows, keys, matched_keys, set_items, queries, items_per_query, output, seconds, .. } = self;
        let enrolment = match self.enrolment {
            Enrolment::New => "enrolled",
            Enrolment::Kept => "enrolled before",
            Enrolment::Updated => "enrolled before, and fetched what has changed",
            Enrolment::Renewed => "enrolled again for a new set",
        };
        let megabytes = |bytes: u64| bytes as f64 / 1e6;
        let mut told: String = self.leaked.iter().map(|leak| format!("leaked: {leak}\n")).collect();
        told.extend(self.trusted.iter().map(|trust| format!("trusted: {trust}\n")));
        format!(
            "{}, {}; the server's set has room for {set_items}\n\
             {}; wrote {} to {}\n\
             {} ({}), {} of {}; {enrolment}\n\
             {seconds:.2} s, sent {:.3} MB, received {:.3} MB\n{told}",
            counted(*rows, "row", "rows"),
            counted(*keys, "distinct key", "distinct keys"),
            counted(*matched_keys, "key matches", "keys match"),
            counted(output.rows, "row", "rows"),
            printable(&output.path),
            self.protocol,
            self.security,
            counted(*queries, "query", "queries"),
            counted(*items_per_query, "item", "items"),
            megabytes(self.bytes_sent),
            megabytes(self.bytes_received)
        )
    }
}
