//! What all steps of a run share.

use std::thread;
use std::time::{Duration, Instant};

use vesica_party::{Abort, Channel, ChannelOptions, Role};

use super::deadline::Deadline;
use super::parting;
use super::tell::Meeting;
use super::{Config, Events, Interrupt};
use crate::failure::Failure;
use crate::locked::Wait;
use crate::log::RunLog;
use crate::progress::Watch;

/// Bounds on waiting that no flag sets. Tests take smaller ones.
#[derive(Clone, Debug)]
pub(super) struct Limits {
    /// How much longer than the protocol took a side waits for the partner's goodbye.
    pub parting: Duration,
    /// The channel's limits.
    pub channel: ChannelOptions,
}

impl Default for Limits {
    fn default() -> Self {
        Self { parting: parting::GOODBYE_WAIT, channel: ChannelOptions::default() }
    }
}

/// Does `body` of a run that began then while its progress is watched.
pub(super) fn watched<T>(
    limits: &Limits,
    (config, started): (&Config, Instant),
    log: &RunLog<'_>,
    interrupt: &Interrupt,
    events: &dyn Events,
    body: impl FnOnce(&Context<'_>) -> T,
) -> T {
    thread::scope(|scope| {
        let watch = Watch::start(scope, events);
        body(&Context { limits, config, log, interrupt, events, watch: &watch, started })
    })
}

/// What all steps of a run have from its caller, and when it began.
pub(super) struct Context<'a> {
    pub limits: &'a Limits,
    pub config: &'a Config,
    pub log: &'a RunLog<'a>,
    pub interrupt: &'a Interrupt,
    pub events: &'a dyn Events,
    pub watch: &'a Watch<'a>,
    pub started: Instant,
}

impl<'a> Context<'a> {
    /// How this side meets its partner.
    pub fn meeting(&self) -> Meeting<'a> {
        Meeting::of(self.config)
    }

    /// Why this side must give up what it is `busy` with, if it must.
    pub fn reason(&self, ch: &Channel, busy: &str) -> Option<Failure> {
        let late = || self.deadline().and_then(|deadline| deadline.check(busy).err());
        self.interrupt.reason().or_else(late).or_else(|| ch.check().err().map(Failure::from))
    }

    /// How this side waits for what other processes hold.
    pub fn wait<'b>(&'b self, goes_on: &'b dyn Fn() -> Result<(), Failure>) -> Wait<'b> {
        Wait { goes_on, events: self.events }
    }

    /// Why this side must give up before there is a partner, while another run is counted.
    pub fn may_start(&self) -> Result<(), Failure> {
        self.interrupt.reason().map_or(Ok(()), Err)?;
        self.deadline().map_or(Ok(()), |deadline| deadline.check("another run was counted"))
    }

    /// When the run must be over.
    pub fn deadline(&self) -> Option<Deadline> {
        Deadline::of(self.config.deadline, self.started)
    }
}

/// Runs `body` in the task's role, which may not be the connection's.
pub(crate) fn in_role<T>(
    role: Role,
    ch: &mut Channel,
    body: impl FnOnce(&mut Channel) -> Result<T, Abort>,
) -> Result<T, Abort> {
    if ch.role() == role { body(ch) } else { ch.reversed(body) }
}
