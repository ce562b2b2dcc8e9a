//! A side that cannot start tells its partner, who would otherwise wait for it and suspect the
//! network.
//!
//! The partner hears which class of thing is at fault (settings, input table, output, budget) and
//! nothing of it: no file, no column, no value.

use std::time::Duration;

use vesica_party::ChannelOptions;
use vesica_party::transport::proxy::Proxy;

use super::link::{self, RetryPolicy};
use super::{Config, End, Events, Interrupt, Protection};
use crate::failure::{Failure, code};
use crate::threads;

/// How long a side that cannot start tries to reach its partner. Also bounded by `--wait` and
/// `--deadline`.
const TELL_FOR: Duration = Duration::from_secs(5);

/// How a side meets its partner.
#[derive(Clone, Copy, Debug)]
pub struct Meeting<'a> {
    /// Which end of the connection it is.
    pub end: &'a End,
    /// Through what it dials the partner or the relay.
    pub proxy: Option<&'a Proxy>,
    /// What protects the connection.
    pub protection: &'a Protection,
    /// How long to wait for the partner.
    pub wait: Duration,
    /// Bound on the whole run.
    pub deadline: Option<Duration>,
}

impl<'a> Meeting<'a> {
    pub(super) fn of(config: &'a Config) -> Self {
        let Config { end, proxy, protection, wait, deadline, .. } = config;
        Self { end, proxy: proxy.as_ref(), protection, wait: *wait, deadline: *deadline }
    }

    /// How long to wait for the partner, and the flag that bounds it.
    pub(super) fn wait_and_flag(&self) -> (Duration, &'static str) {
        match self.deadline {
            Some(deadline) if deadline < self.wait => (deadline, "--deadline"),
            _ => (self.wait, "--wait"),
        }
    }

    /// How long to try to tell the partner.
    pub(super) fn tell_for(&self) -> Duration {
        self.wait_and_flag().0.min(TELL_FOR)
    }
}

/// Announces a `failure` that keeps this side from starting, and then tries for some seconds to
/// reach the partner and to tell it. Gives the failure back.
pub fn tell_partner(meeting: &Meeting<'_>, failure: Failure, interrupt: &Interrupt, events: &dyn Events) -> Failure {
    let failure = announce(meeting, failure, events);
    match reach_and_tell(meeting, &failure, interrupt, events) {
        Ok(()) => told(events),
        Err(why) => not_told(Some(&why), events),
    }
    failure
}

/// Says at once what is wrong, and that the partner is to hear of it. Gives the failure back as the
/// partner hears it.
pub(super) fn announce(meeting: &Meeting<'_>, failure: Failure, events: &dyn Events) -> Failure {
    let failure = Failure { announced: true, ..failure.without_details() };
    events.failed(&failure);
    let seconds = meeting.tell_for().as_secs_f64();
    events.notice(&format!(
        "trying for up to {seconds} s to tell the partner that this side cannot start; Ctrl-C ends this"
    ));
    failure
}

/// Says that the partner knows of the failure.
pub(super) fn told(events: &dyn Events) {
    events.notice("the partner has been told that this side cannot start, but no details");
}

/// The partner does not know, because of `why` if that is more than that it did not come in time.
pub(super) fn not_told(why: Option<&Failure>, events: &dyn Events) {
    let why = why.filter(|why| !matches!(why.code, code::PEER_ABSENT | code::INTERRUPTED | code::TERMINATED));
    let why = why.map(|why| format!(": {}", why.fault)).unwrap_or_default();
    events.notice(&format!("the partner was not reached and does not know of this{why}"));
}

fn reach_and_tell(
    meeting: &Meeting<'_>,
    failure: &Failure,
    interrupt: &Interrupt,
    events: &dyn Events,
) -> Result<(), Failure> {
    let bound = link::bind(meeting.end, meeting.proxy, events)?;
    let stop = || interrupt.reason();
    let retry = RetryPolicy { wait: meeting.tell_for(), flag: meeting.wait_and_flag().1, stop: &stop };
    let reached = link::reach(&bound, meeting.protection, &retry, events)?;
    let options = ChannelOptions { drain_for: TELL_FOR, ..ChannelOptions::default() };
    let ch = threads::open_channel(reached.connection, reached.role, options)?;
    ch.abort(&failure.for_peer());
    Ok(())
}
