//! Joins whose buckets are run on many machines, a cluster a party.
//!
//! ```text
//!        sender's cluster                                          receiver's cluster
//!
//!   worker ─┐                                                              ┌─ worker
//!   worker ─┼─> rendezvous ══════════ one link a bucket ═════════> rendezvous <─┼─ worker
//!   worker ─┘        │                                                  │  └─ worker
//!                  driver ───── settings, sizes, waves, commits ────> driver
//! ```
//!
//! A *driver* holds the conversation of its party: handshake, salt, sizes, protocol and receipt, as in a run on one
//! machine. Then both drivers go through the buckets in *waves*. A wave has as many *workers* as the smaller
//! cluster has free slots, each with a few buckets that it runs one after the other. Both clusters run the same
//! ones in the same order, so that none waits for a bucket that the other has not begun. A worker runs the protocol
//! on a bucket with the partner's worker, in TLS from worker to worker. The key of either worker is made for this
//! bucket and this attempt, and the drivers exchange the public halves. Workers dial no other party: they dial the
//! *rendezvous* of their own driver, and the two rendezvous join the connections of a bucket to one.
//!
//! A bucket counts when both drivers have signed that it ran: the same attempt, and the same transcript. One that
//! did not come so far, for example because a machine was lost, is run again in a later wave, on the same items,
//! under a session id of its own, and at most [`MOST_ATTEMPTS`] times.
//!
//! Against a malicious partner all buckets go through the protocol in [passes](vesica_protocols::passes): all count for
//! one pass before the first begins with the next. What a worker keeps between two passes is encrypted and left where a
//! lost machine does not take it along. A first pass that failed is taken anew, with fresh randomness; a later pass is
//! taken again from what was left, which shows the partner nothing new.
//!
//! - [`Machines`] is what a front end does for a driver: it knows Spark, or another system that runs workers.
//! - [`Ticket`] is all that a worker must be told, and [`run`] is what it does.
//! - [`run_on_cluster`](crate::session::run_on_cluster) is a whole side.
//!
//! docs/spark.md says what a user gets from it, and what it reveals.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

mod commits;
pub mod keys;
pub(crate) mod messages;
mod passes;
mod rendezvous;
mod seal;
mod ticket;
mod waves;
mod worker;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::table::{KeyStats, PayloadSchema};

pub use commits::{Commit, Committed, EndedAttempt};
pub use keys::Beside;
pub use rendezvous::Inside;
pub(crate) use rendezvous::{BoundInside, Rendezvous};
pub use ticket::{Division, Stage, Ticket};
pub(crate) use ticket::{Left, Work};
pub(crate) use waves::{Sofar, Waves};
pub use worker::{Attempt, run};

/// How often a bucket is run at most.
pub const MOST_ATTEMPTS: u32 = 4;

/// The most workers of a wave, and the most buckets of one.
pub const MOST_SLOTS: u32 = 1 << 12;

/// Says why a side must give up, if it must. To be asked a few times a second by whoever waits for a machine.
pub type Stop<'a> = dyn Fn() -> Option<Failure> + 'a;

/// How a bucket ended on this side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The worker ran the protocol to its end, and what it learned is kept where a lost machine does not take it
    /// along.
    Kept {
        /// The hash of all that was said for this bucket.
        transcript: [u8; 32],
        /// What it gave, on a side that learns something.
        learned: Option<Learned>,
    },
    /// The worker gave up, and this is why.
    Failed(Failure),
}

/// What a side learns of a bucket, or of all of them together.
#[derive(Clone, PartialEq, Eq)]
pub enum Learned {
    /// How many of its keys matched.
    Matched(u64),
    /// How many keys of the partner are new to it.
    New(u64),
    /// Totals in `Z_2^64`. Those of single buckets are masked, those over all buckets are the result.
    Totals(Vec<u64>),
}

impl fmt::Debug for Learned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Matched(count) => f.debug_tuple("Matched").field(count).finish(),
            Self::New(count) => f.debug_tuple("New").field(count).finish(),
            Self::Totals(_) => f.write_str("Totals(..)"),
        }
    }
}

impl Learned {
    /// Both together; `None` if they do not go together.
    fn and(self, other: Self) -> Option<Self> {
        match (self, other) {
            (Self::Matched(one), Self::Matched(other)) => one.checked_add(other).map(Self::Matched),
            (Self::New(one), Self::New(other)) => one.checked_add(other).map(Self::New),
            (Self::Totals(one), Self::Totals(other)) if one.len() == other.len() => {
                Some(Self::Totals(one.iter().zip(other).map(|(one, other)| one.wrapping_add(other)).collect()))
            }
            _ => None,
        }
    }
}

/// What a side's table has.
#[derive(Clone, Debug)]
pub struct Counts {
    /// Counts of rows and keys.
    pub stats: KeyStats,
    /// How many values each column of values had outside of its range; empty without such columns.
    pub clamped: Vec<u64>,
    /// The sums of these columns over all keys, modulo `2^64`.
    pub totals: Vec<i64>,
    /// What stands beside keys in records: a payload, where columns go along, and keys that travel in whole.
    pub records: keys::Records,
    /// The groups of the keys in the order of one machine, where groups were asked for.
    pub categories: keys::Categories,
}

/// What the partner gives this side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Received {
    /// These columns, with each match.
    Payload(PayloadSchema),
    /// The keys that this side does not have, and columns with them.
    NewKeys {
        /// How keys travel.
        keys: PayloadSchema,
        /// The columns.
        payload: Option<PayloadSchema>,
    },
}

impl Received {
    /// Bytes of a key in whole, or 0, and of the columns.
    pub(crate) fn widths(&self) -> keys::Widths {
        match self {
            Self::Payload(payload) => (0, payload.width),
            Self::NewKeys { keys, payload } => (keys.width, payload.as_ref().map_or(0, |payload| payload.width)),
        }
    }
}

/// What a front end does for a driver, in this order: [`Self::keys`], [`Self::divide`], and for each wave
/// [`Self::slots`], [`Self::wave`] and [`Self::committed`].
pub trait Machines {
    /// Reads the own table and keeps the digests of its distinct keys, and what is asked for beside each, where every
    /// machine can read them again: from here on they are fixed. Gives the counts of the table, and its groups.
    ///
    /// # Errors
    /// If the table has a fault, or there is no room.
    fn keys(&mut self, beside: &Beside, stop: &Stop<'_>) -> Result<Counts, Failure>;

    /// Divides the keys into buckets, which are kept likewise, with a record of these widths beside each key. Gives how
    /// many keys each has. `received` is what the partner gives.
    ///
    /// # Errors
    /// As of [`Self::keys`].
    fn divide(
        &mut self,
        division: &Division,
        widths: keys::Widths,
        received: Option<&Received>,
        stop: &Stop<'_>,
    ) -> Result<Vec<usize>, Failure>;

    /// How many workers can run at once, at least one.
    ///
    /// # Errors
    /// If the cluster is gone.
    fn slots(&mut self) -> Result<u32, Failure>;

    /// Runs so many workers, all at once. Worker number `i` runs the tickets `i`, `i + workers`, `i + 2 workers` and so on,
    /// one after the other: the partner's does the same. Gives the outcome of each ticket, in their order.
    ///
    /// # Errors
    /// If the cluster is gone, or a worker cannot run at all.
    fn wave(&mut self, tickets: &[Ticket], workers: usize, stop: &Stop<'_>) -> Result<Vec<Outcome>, Failure>;

    /// The attempts that count do so from now on. What others left may be thrown away.
    ///
    /// # Errors
    /// If that cannot be kept.
    fn committed(&mut self, commit: &Commit, stop: &Stop<'_>) -> Result<(), Failure>;
}
