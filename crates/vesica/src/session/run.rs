//! A whole run: its entrances, and the one function that has the order of its steps.

use std::time::Instant;

use super::connect::{Executor, connect};
pub(super) use super::context::Limits;
pub(crate) use super::context::in_role;
use super::context::{Context, watched};
use super::deadline::Deadline;
use super::tell::{Meeting, tell_partner};
use super::{Config, Events, Interrupt};
use crate::cluster::{Inside, Machines};
use crate::failure::Failure;
use crate::log::{RunLog, Subject};
use crate::report::Report;

/// Runs one side.
///
/// # Errors
/// With the exit code of the command line. Whatever fails once the peer is there is also told to
/// the peer.
pub fn run(config: &Config, interrupt: &Interrupt, events: &dyn Events) -> Result<Report, Failure> {
    run_within(&Limits::default(), config, interrupt, events)
}

/// Runs one side like [`run`], within these limits.
pub(super) fn run_within(
    limits: &Limits,
    config: &Config,
    interrupt: &Interrupt,
    events: &dyn Events,
) -> Result<Report, Failure> {
    logged(limits, config, interrupt, events, Executor::ThisProcess)
}

/// Runs one side, and logs how that ended.
fn logged(
    limits: &Limits,
    config: &Config,
    interrupt: &Interrupt,
    events: &dyn Events,
    executor: Executor<'_>,
) -> Result<Report, Failure> {
    let started = Instant::now();
    let goes_on = || {
        let deadline = Deadline::of(config.deadline, started);
        interrupt.reason().map_or(Ok(()), Err)?;
        deadline.map_or(Ok(()), |deadline| deadline.check("another process used the log"))
    };
    let log = RunLog::new(config.log.as_ref(), Subject::of_run(config), &goes_on, events)
        .map_err(|failure| tell_partner(&Meeting::of(config), failure, interrupt, events))?;
    let ran = watched(limits, (config, started), &log, interrupt, events, |ctx| all_steps(ctx, executor));
    let ran = ran.map_err(|failure| config.end.with_way(failure));
    log.end(ran.as_ref().err(), &goes_on, events);
    ran
}

/// Runs one side on the machines of a cluster. The configuration's table is one with the columns of the real one and
/// no rows: `machines` have the rows. Numbers go to the configuration's destination; where rows are the result, that
/// stays empty, and `machines` keep which keys matched.
///
/// # Errors
/// With the exit code of the command line. Whatever fails once the peer is there is also told to the peer.
pub fn run_on_cluster(
    config: &Config,
    inside: &Inside,
    machines: &mut dyn Machines,
    interrupt: &Interrupt,
    events: &dyn Events,
) -> Result<Report, Failure> {
    logged(&Limits::default(), config, interrupt, events, Executor::Cluster { inside, machines })
}

/// The steps of a run, whose order stands here alone. What this side reveals rests on it: the partner sees what is said
/// and when, and none of that may depend on more than the steps before have agreed to reveal. Each step takes the state
/// that the one before it gave, so that no other order compiles.
fn all_steps(ctx: &Context<'_>, executor: Executor<'_>) -> Result<Report, Failure> {
    let is_driver = matches!(executor, Executor::Cluster { .. });
    let (mut ch, connected) = connect(ctx, executor)?;
    let closed = (|| {
        let compared = connected.compare(ctx, &mut ch)?;
        let read = compared.read(ctx, &mut ch)?;
        let sizes = read.size(ctx, &ch)?;
        let agreed = sizes.agree(ctx, &mut ch)?;
        let set_up = agreed.set_up(ctx, &ch)?;
        let ran = set_up.run(ctx, &mut ch)?;
        ran.close(ctx, &mut ch)
    })();
    let ended = match closed {
        Ok(closed) => closed.hang_up(ctx, ch),
        Err(failure) => return Err(ctx.give_up(ch, failure, is_driver)),
    };
    // Only now is the result looked at. How long it is, whether the peer's payloads decode and whether
    // all can be written depends on what matched: the peer must not notice.
    ended.deliver(ctx)
}
