//! A whole run of one side: reach the peer, agree, run the protocol, write the result, report.
//!
//! A run is a chain of steps, each of which takes the state that the one before it gave: connect, compare, read, size,
//! agree, set up, run, close, hang up and deliver. Their order stands in `run.rs`, for this process and for the machines
//! of a cluster alike.
//! [`dry_run()`] tries a run up to the exchange of sizes.

pub(crate) mod advice;
mod agree;
mod close;
mod config;
mod connect;
mod context;
pub(crate) mod deadline;
mod deliver;
mod dry_run;
mod files;
mod guests;
mod interrupt;
mod link;
mod on_cluster;
mod parting;
mod prepare;
mod ready;
mod relayed;
mod revealed;
mod run;
mod tell;
mod validate;
mod work;
mod work_folder;
mod write;

use std::net::SocketAddr;

pub use config::{Config, Destination, MAX_PEER_ITEMS, OwnTable};
pub use dry_run::{Assumptions, DryRun, Estimate, dry_run, dry_run_on_cluster};
pub(crate) use files::{named_path, refuse_one_file};
pub(crate) use guests::{Guests, Limits as GuestLimits, Outcome as Greeted, Visit, home};
pub use interrupt::Interrupt;
pub(crate) use link::{Bound, RetryPolicy, bind as bind_end, reach as reach_end};
pub use link::{End, Protection};
pub(crate) use ready::{fresh, randomness};
pub(crate) use run::in_role;
pub use run::{run, run_on_cluster};
pub use tell::{Meeting, tell_partner};
pub use validate::check;
pub(crate) use validate::check_post_quantum;
pub(crate) use work::dummies;

use crate::failure::Failure;
use crate::handshake::Agreement;
use crate::progress::{Progress, Stage};
use crate::task::AnyAgreed;

/// What both sides agreed on, the task's terms among it.
type TaskAgreement = Agreement<Box<dyn AnyAgreed>>;

/// What a run tells while it goes on. Texts never hold a key.
pub trait Events: Sync {
    /// The address is bound (the port is known).
    fn listening(&self, _address: SocketAddr) {}
    /// The peer is there.
    fn connected(&self) {}
    /// Something worth knowing that does not end the run.
    fn notice(&self, _text: &str) {}
    /// Something that the user should act on, though the run goes on. It is among the report's
    /// warnings too.
    fn warning(&self, _text: &str) {}
    /// What keeps this side from starting, before it tries to tell the partner. The run returns it
    /// later, as [`Failure::announced`].
    fn failed(&self, _failure: &Failure) {}
    /// A part of the run begins.
    fn stage(&self, _stage: &Stage) {}
    /// How far the current stage has come: a few times a second, on another thread than all else. No step
    /// of a protocol waits for it, but the next stage begins only when it has returned.
    fn progress(&self, _progress: &Progress) {}
}

/// Hears nothing.
#[derive(Clone, Copy, Debug)]
pub struct Silent;

impl Events for Silent {}

#[cfg(test)]
mod tests;
