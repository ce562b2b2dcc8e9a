//! What a run gives: to this side, and what both sides state of it.

use std::fmt;
use std::path::Path;

use vesica_party::Entry;
use vesica_protocols::tasks::{AggregateOutput, NewRecords, SealedPayloads};

use crate::buckets::{Buckets, Found, NO_PLACE};
use crate::failure::{Failure, code};
use crate::handshake::printable;
use crate::shares::ShareFile;
use crate::spill::RowRuns;
use crate::table::{Join, KeyTable, PayloadSchema, ValueColumn};
use crate::words::counted;

/// A result that is not looked at before the conversation has ended: how long it is depends on what
/// matched, and the peer must not notice.
pub type Unopened = Box<dyn FnOnce(&Finished<'_>) -> ResultSet + Send>;

/// What a result refers to.
#[derive(Clone, Copy, Debug)]
pub struct Finished<'a> {
    /// The own table.
    pub table: &'a KeyTable,
    /// Keys of the table; items behind them are dummies.
    pub distinct: usize,
    /// The session.
    pub session: &'a [u8; 32],
    /// The protocol that ran.
    pub entry: &'static Entry,
}

/// What one side gets.
#[derive(Debug)]
pub enum ResultSet {
    /// Rows of the own table: those with a matched key, or the others.
    Keep {
        /// Places of the matched keys among the table's distinct keys, ascending.
        keys: Vec<u32>,
        /// The partner's payload of these keys, in their order.
        payload: Option<(PayloadSchema, SealedPayloads)>,
        /// Keys of which nothing is known, because the partner's answer could not be read.
        unread: usize,
    },
    /// The same of a table that outgrows memory.
    KeepInWorkFolder(Box<MatchesInWorkFolder>),
    /// All rows of the own table, and a row for each key that it does not have.
    Union {
        /// How keys travel.
        keys: PayloadSchema,
        /// The partner's columns that go along.
        payload: Option<PayloadSchema>,
        /// The record of a key, and behind it that of its payload, for each new key; of a dummy,
        /// zeros. Those of each bucket, where there are several.
        records: Vec<NewRecords>,
    },
    /// Rows that the own table does not have.
    NewRows {
        /// The columns of the rows.
        schema: PayloadSchema,
        /// One record for each row.
        records: SealedPayloads,
    },
    /// Numbers about the intersection or the union.
    Numbers {
        /// The name of each number, and its digits behind the point.
        columns: Vec<(String, u8)>,
        /// The column of the groups and their names, where there are any.
        groups: Option<(String, Vec<Option<String>>)>,
        /// The numbers.
        output: AggregateOutput,
    },
    /// This side's shares.
    Shares(ShareFile),
}

impl ResultSet {
    /// How many own keys matched, where the result says so.
    pub fn matched_keys(&self) -> Option<u64> {
        match self {
            Self::Keep { keys, .. } => Some(keys.len() as u64),
            Self::KeepInWorkFolder(matches) => matches.count,
            _ => None,
        }
    }
}

/// The matches of buckets that are in a work folder.
pub struct MatchesInWorkFolder {
    buckets: Buckets,
    /// Of each bucket the partner's payloads of the items that matched, in their order; empty without payloads.
    payloads: Vec<SealedPayloads>,
    /// What payloads are made of, where there are any.
    schema: Option<PayloadSchema>,
    /// Keys of which nothing is known, because the partner's answer could not be read.
    pub unread: usize,
    /// How many keys matched. Where it cannot be told, the rows cannot be had either.
    count: Option<u64>,
}

impl fmt::Debug for MatchesInWorkFolder {
    /// Which keys match is not shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MatchesInWorkFolder").field("buckets", &self.buckets).finish_non_exhaustive()
    }
}

impl MatchesInWorkFolder {
    /// Matches that nobody has looked at. To be called when the conversation is over.
    pub fn new(buckets: Buckets, payloads: Vec<SealedPayloads>, schema: Option<PayloadSchema>, unread: usize) -> Self {
        let count = buckets.matched().ok();
        Self { buckets, payloads, schema, unread, count }
    }

    /// The first row of each key that matched, with its payload if `join` has it; a run for each bucket. Gives also what
    /// these payloads are made of.
    ///
    /// # Errors
    /// If a dummy matched, which no honest side brings about, or the folder's disk fails.
    pub fn into_rows(self, join: Join) -> Result<(Option<PayloadSchema>, RowRuns), Failure> {
        let Self { buckets, payloads, schema, .. } = self;
        let schema = schema.filter(|_| join != Join::Difference);
        let mut payloads = payloads.into_iter();
        let folder = buckets.work_folder().unwrap_or(Path::new("."));
        let mut runs = RowRuns::create(folder, schema.as_ref().map_or(0, |schema| schema.width), buckets.count())?;
        for bucket in 0..buckets.count() {
            let Found { rows, payloads: kept } = buckets.found_in(bucket)?;
            if rows.iter().any(|&(row, _)| row == NO_PLACE) {
                return Err(dummy_matched());
            }
            let payloads = payloads.next().filter(|_| schema.is_some()).unwrap_or_default();
            let records = match kept.filter(|_| schema.is_some()) {
                Some(records) => records,
                None => payloads.open(),
            };
            runs.add(rows, &records)?;
        }
        Ok((schema, runs))
    }
}

/// The refusal of a result in which a dummy matched: that happens with negligible probability, unless the partner found a
/// way to make dummies of this side.
pub fn dummy_matched() -> Failure {
    Failure::new(code::PEER_MISBEHAVED, "a dummy item matched", "do not trust this partner's software")
}

/// What both sides state of a run in reports and receipts, in fields of their own. Fields without a
/// meaning for a task keep their default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disclosure {
    /// Whether the sender learns its matches too.
    pub both_learn: bool,
    /// Names of the sender's columns that take part.
    pub payload_columns: Vec<String>,
    /// Width of the sender's payload, in bytes a key.
    pub payload_bytes: usize,
    /// The sender's columns to compute with.
    pub sender_values: Vec<ValueColumn>,
    /// The receiver's columns to compute with.
    pub receiver_values: Vec<ValueColumn>,
    /// Groups of the receiver's keys; `None` where the task has no groups.
    pub groups: Option<usize>,
    /// A group with fewer keys than this gives nothing: common ones, or for a union new ones.
    pub at_least: u64,
    /// The epsilon of the sender's noise.
    pub noise: Option<String>,
}

impl Disclosure {
    /// That nothing goes with the keys.
    pub const NONE: Self = Self {
        both_learn: false,
        payload_columns: Vec::new(),
        payload_bytes: 0,
        sender_values: Vec::new(),
        receiver_values: Vec::new(),
        groups: None,
        at_least: 0,
        noise: None,
    };
}

/// Refuses a result in which some keys could not be looked up: it would show them as keys that do
/// not match.
pub fn refuse_unread(unread: usize) -> Result<(), Failure> {
    if unread == 0 {
        return Ok(());
    }
    Err(Failure::new(
        code::PEER_MISBEHAVED,
        format_args!(
            "the answers about {} cannot be read, so that nothing is known of them",
            counted(unread, "key", "keys")
        ),
        "do not ask again at once, which would show the other side that a key met a damaged answer; have it prepare its table anew, \
         or compare the releases of vesica",
    ))
}

/// The names of `columns`, with commas between them. The partner chose some of them, so they are
/// made fit to be shown.
pub(super) fn names(columns: &[ValueColumn]) -> String {
    columns.iter().map(|column| printable(&column.name)).collect::<Vec<_>>().join(", ")
}
