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
//! machine. Then both drivers go through the buckets in *waves*. A wave has as many buckets as the smaller cluster
//! has free slots, and both clusters run the same ones, so that none waits for a bucket that the other has not
//! begun. For each bucket of a wave a *worker* runs the protocol with the partner's worker, in TLS from worker to
//! worker. The key of either worker is made for this bucket and this attempt, and the drivers exchange the public
//! halves. Workers dial no other party: they dial the *rendezvous* of their own driver, and the two rendezvous
//! join the connections of a bucket to one.
//!
//! A bucket counts when both drivers have signed that it ran: the same attempt, and the same transcript. One that
//! did not come so far, for example because a machine was lost, is run again in a later wave, on the same items,
//! under a session id of its own, and at most [`MOST_ATTEMPTS`] times.
//!
//! - [`Machines`] is what a front end does for a driver: it knows Spark, or another system that runs workers.
//! - [`Ticket`] is all that a worker must be told, and [`run`] is what it does.
//! - [`run_on_cluster`](crate::session::run_on_cluster) is a whole side.
//!
//! docs/spark.md says what a user gets from it, and what it reveals.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

pub(crate) mod messages;
mod rendezvous;
mod ticket;
mod waves;
mod worker;

use crate::failure::Failure;
use crate::table::KeyStats;

pub use rendezvous::Inside;
pub(crate) use rendezvous::{BoundInside, Rendezvous};
pub use ticket::{Division, Ticket};
pub(crate) use waves::Waves;
pub use worker::{Attempt, Bits, places, run};

/// How often a bucket is run at most.
pub const MOST_ATTEMPTS: u32 = 4;

/// The most buckets of a wave.
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
        /// How many of its keys matched, on a side that learns it.
        matched: Option<u32>,
    },
    /// The worker gave up, and this is why.
    Failed(Failure),
}

/// A bucket that both sides ran, and who says so.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Commit {
    /// The wave, from 0.
    pub wave: u32,
    /// The buckets of the wave that count, with the attempts and transcripts.
    pub buckets: Vec<CommittedBucket>,
    /// The sender's signature, in hexadecimal, under what it says of all buckets of the wave; absent without keys.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sender_signature: Option<String>,
    /// The receiver's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receiver_signature: Option<String>,
}

/// A bucket that counts.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct CommittedBucket {
    /// Its number, from 0.
    pub bucket: u32,
    /// Which attempt counts, from 0.
    pub attempt: u32,
    /// The hash, in hexadecimal, of all that was said for it.
    pub transcript: String,
}

/// What a front end does for a driver, in this order: [`Self::keys`], [`Self::divide`], and for each wave
/// [`Self::slots`], [`Self::wave`] and [`Self::committed`].
pub trait Machines {
    /// Reads the own table and keeps the digests of its distinct keys where every machine can read them again: from
    /// here on they are fixed. Gives the counts of the table.
    ///
    /// # Errors
    /// If the table has a fault, or there is no room.
    fn keys(&mut self, stop: &Stop<'_>) -> Result<KeyStats, Failure>;

    /// Divides the keys into buckets, which are kept likewise. Gives how many keys each has.
    ///
    /// # Errors
    /// As of [`Self::keys`].
    fn divide(&mut self, division: &Division, stop: &Stop<'_>) -> Result<Vec<usize>, Failure>;

    /// How many workers can run at once, at least one.
    ///
    /// # Errors
    /// If the cluster is gone.
    fn slots(&mut self) -> Result<u32, Failure>;

    /// Runs one worker for each ticket, all at once. Gives the outcome of each, in the same order.
    ///
    /// # Errors
    /// If the cluster is gone, or a worker cannot run at all.
    fn wave(&mut self, tickets: &[Ticket], stop: &Stop<'_>) -> Result<Vec<Outcome>, Failure>;

    /// These buckets count now. What other attempts at them left may be thrown away.
    ///
    /// # Errors
    /// If that cannot be kept.
    fn committed(&mut self, commit: &Commit, stop: &Stop<'_>) -> Result<(), Failure>;
}
