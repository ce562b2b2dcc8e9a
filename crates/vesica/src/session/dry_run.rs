//! A dry run: all of a run that can be tried before sizes are exchanged.
//!
//! Both sides meet, prove who they are, compare their settings as a run does, and part. Only then, with the
//! connection closed, does a side read its table: neither what the partner hears nor when it hears it depends on the
//! table. Nothing is written, no epsilon is spent.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use serde::Serialize;
use vesica_party::transport::tls::PublicKey;
use vesica_party::{Channel, Role, Security};
use vesica_protocols::tasks::Extent;

use super::agree::padded;
use super::context::{Context, Limits, watched};
use super::parting::Parting;
use super::prepare::Places;
use super::ready::Ready;
use super::revealed::revealed;
use super::tell::tell_partner;
use super::{Config, Events, Interrupt, advice, link, on_cluster, validate, work_folder};
use crate::buckets;
use crate::cluster::Machines;
use crate::failure::{Failure, code};
use crate::handshake::{self, Hello, TaskBytes};
use crate::log::RunLog;
use crate::memory::{Budget, Bytes};
use crate::plan::{self, Chosen, Link, Machine};
use crate::progress::{Gauge, Stage, begin_pass};
use crate::table::{Examined, Fault, KeyStats, KeyTable, Position};
use crate::task::{AnyAgreed, AnyJob};
use crate::threads;
use crate::words::counted;

/// Time between two looks at an interruption while the table is read.
const CHECK_EVERY: Duration = Duration::from_millis(20);

/// What the estimate of a dry run starts from.
#[derive(Clone, Copy, Debug)]
pub struct Assumptions {
    /// The partner's distinct keys; `None` for as many as the own side has.
    pub peer_items: Option<u64>,
    /// How fast both machines are.
    pub machine: Machine,
}

/// What a dry run found, as `--json` prints it. Counts only, never a key.
#[derive(Clone, Debug, Serialize)]
pub struct DryRun {
    /// Whether a run would start, as far as this side can tell.
    pub ok: bool,
    /// Always true: tells this report from that of a run.
    pub dry_run: bool,
    /// This side's role.
    pub role: Role,
    /// The task.
    pub task: &'static str,
    /// The security that this side asks for.
    pub security: Security,
    /// Fingerprint of the partner's key, which it has proved to have; null over plaintext, or if there is a
    /// `disagreement`.
    pub peer: Option<String>,
    /// Why the sides did not meet, or did not agree; null if they did.
    pub disagreement: Option<Failure>,
    /// Own rows and keys; null if the table could not be read to its end.
    pub input: Option<KeyStats>,
    /// Faults of the own table.
    pub faults: Vec<Fault>,
    /// What else keeps this side from a run: its output, or its `--pad-to`; null if nothing does.
    pub obstacle: Option<Failure>,
    /// What a run would take; null if that cannot be told.
    pub estimate: Option<Estimate>,
    /// What a run would reveal, and to whom, with the assumed numbers of the partner.
    pub revealed: Vec<String>,
    /// What the user should look at, though it ends no run by itself.
    pub warnings: Vec<String>,
}

/// What a run would take, by the model of `vesica plan`.
#[derive(Clone, Debug, Serialize)]
pub struct Estimate {
    /// The protocol that would be taken.
    pub protocol: &'static str,
    /// Why this one.
    pub choice: String,
    /// Own distinct keys, dummies of `--pad-to` included.
    pub own_items: u64,
    /// The partner's, which are assumed.
    pub peer_items: u64,
    /// Whether nobody said `peer_items`, so that it is the own number.
    pub peer_items_are_own: bool,
    /// Seconds on both machines and the link; null for a protocol that was never measured.
    pub seconds: Option<f64>,
    /// Bytes that both sides send, by the protocol's formula.
    pub total_bytes: Option<u64>,
    /// Bytes that this side sends; null for a protocol that was never measured.
    pub bytes_sent: Option<u64>,
    /// Bytes that this side receives.
    pub bytes_received: Option<u64>,
    /// The most bytes of memory that the protocol may take on this side, beside the table.
    pub memory_bytes: Option<u64>,
    /// The most bytes in the work folder; null without one.
    pub disk_bytes: Option<u64>,
    /// The link.
    pub link: Link,
}

impl DryRun {
    /// Why a run would not start, and the exit code that it would have. Where the sides do not agree, that comes
    /// first.
    pub fn failure(&self) -> Option<Failure> {
        let faulty = || {
            let count: u64 = self.faults.iter().filter(|fault| fault.ends_run).map(|fault| fault.count).sum();
            (count > 0).then(|| {
                let faults = counted(count, "fault", "faults");
                let fault = format_args!("a run would end at your own table, which has {faults}");
                Failure::new(code::INPUT, fault, "mend what the list above names, and try again")
            })
        };
        self.disagreement.clone().or_else(|| self.obstacle.clone()).or_else(faulty)
    }
}

/// Tries one side of a run with a partner who does the same. The partner learns the settings, as in a run, and nothing
/// that depends on the table.
///
/// # Errors
/// If this side's settings cannot be run, or it is interrupted. All else that keeps a run from starting stands in the
/// [`DryRun`], whose [`DryRun::failure`] is the outcome.
pub fn dry_run(
    config: &Config,
    assumed: &Assumptions,
    interrupt: &Interrupt,
    events: &dyn Events,
) -> Result<DryRun, Failure> {
    watched(&Limits::default(), (config, Instant::now()), &RunLog::none(), interrupt, events, |ctx| {
        try_run(ctx, assumed, None)
    })
}

/// [`dry_run`] of a side whose rows the machines of a cluster have: they read the table and keep what a run would keep of
/// it. A fault of the table is the first one that they find.
///
/// # Errors
/// As of [`dry_run`].
pub fn dry_run_on_cluster(
    config: &Config,
    assumed: &Assumptions,
    machines: &mut dyn Machines,
    interrupt: &Interrupt,
    events: &dyn Events,
) -> Result<DryRun, Failure> {
    watched(&Limits::default(), (config, Instant::now()), &RunLog::none(), interrupt, events, |ctx| {
        try_run(ctx, assumed, Some(machines))
    })
}

/// What there is to say of the own table.
struct OwnTable {
    table: Option<KeyTable>,
    faults: Vec<Fault>,
    /// What else keeps this side from a run.
    obstacle: Option<Failure>,
}

fn try_run(ctx: &Context<'_>, assumed: &Assumptions, machines: Option<&mut dyn Machines>) -> Result<DryRun, Failure> {
    let config = ctx.config;
    let ready = || match machines {
        Some(_) => on_cluster::ready(ctx),
        None => Ready::new(ctx),
    };
    let Ready { job, hello, .. } =
        ready().map_err(|failure| tell_partner(&ctx.meeting(), failure, ctx.interrupt, ctx.events))?;
    let mut hello = Hello { dry_run: true, ..hello };
    // The partner is gone from here on.
    let (met, peer) = match meet(ctx, &*job, &mut hello) {
        Ok((theirs, key)) => (Ok(theirs), key.map(|key| key.fingerprint().to_string())),
        Err(failure) => (Err(failure), None),
    };
    let OwnTable { table, faults, obstacle } = match machines {
        Some(machines) => {
            ctx.watch.enter(Stage::Reading, Gauge::Nothing);
            let source = config.source.table.open().map_err(Failure::from);
            let read = source.and_then(|source| {
                on_cluster::read(config, (&*source, &job.columns()), machines, &|| ctx.interrupt.reason())
            });
            let (table, obstacle) = match read {
                Ok(table) => (Some(table), None),
                Err(failure) => (None, Some(ctx.interrupt.reason().map_or(Ok(failure), Err)?)),
            };
            OwnTable { table, faults: Vec::new(), obstacle }
        }
        None => {
            let position = Arc::default();
            ctx.watch.enter(Stage::Reading, Gauge::Position(Arc::clone(&position)));
            let (Examined { table, faults }, obstacle) = examine(ctx, &*job, position)?;
            OwnTable { table: table.ok(), faults, obstacle }
        }
    };
    let mut found = DryRun {
        ok: false,
        dry_run: true,
        role: config.role,
        task: config.task.name(),
        security: config.security,
        peer,
        disagreement: met.as_ref().err().cloned(),
        input: table.as_ref().map(|table| table.stats.clone()),
        faults,
        obstacle,
        estimate: None,
        revealed: Vec::new(),
        warnings: Vec::new(),
    };
    if let Some(table) = &table {
        found.warnings = table.stats.warnings(&config.source.key);
        found.warnings.extend(advice::notes(&config.source.key, &table.stats));
        found.warnings.extend(advice::empty(&table.stats));
        if let Err(failure) = hold_against_policy(ctx, table, assumed) {
            found.obstacle = found.obstacle.or(Some(failure));
        }
        match padded(config, table.distinct()) {
            Err(failure) => found.obstacle = found.obstacle.or(Some(failure)),
            Ok(own_items) => {
                if let Ok(theirs) = &met {
                    let sides = Sides { config, job: &*job, ours: &hello, theirs };
                    // A refusal may rest on what was assumed of the partner.
                    if let Err(why) = sides.estimate(&mut found, table, own_items as u64, assumed) {
                        found.warnings.push(format!("there is no estimate: {}; {}", why.fault, why.mend));
                    }
                }
            }
        }
    }
    found.ok = found.failure().is_none();
    Ok(found)
}

/// Refuses an own table that the policy for the partner does not allow, as a run would, and an expected one of the partner.
fn hold_against_policy(ctx: &Context<'_>, table: &KeyTable, assumed: &Assumptions) -> Result<(), Failure> {
    let Some(policy) = &ctx.config.policy else { return Ok(()) };
    policy.check_own_keys(table.distinct() as u64)?;
    assumed.peer_items.map_or(Ok(()), |keys| policy.check_partner_keys(keys))?;
    policy.compare(table, (None, false), &ctx.wait(&|| ctx.may_start())).map(drop)
}

/// Meets the partner, compares settings and parts. Gives the partner's settings, and its key if there is TLS.
fn meet(
    ctx: &Context<'_>,
    job: &(dyn AnyJob + 'static),
    hello: &mut Hello,
) -> Result<(Hello, Option<PublicKey>), Failure> {
    let bound = link::bind(&ctx.config.end, ctx.config.proxy.as_ref(), ctx.events)?;
    let reached = ctx.reach(&bound, &|| ctx.interrupt.reason())?;
    drop(bound);
    let mut ch = ctx.open(reached, hello)?;
    ctx.watch.enter(Stage::Comparing, Gauge::Nothing);
    let key = ch.authenticated_peer().map(|peer| peer.key);
    let compared = compare_and_part(ctx, job, hello, &mut ch);
    match &compared {
        // Both sides have said goodbye.
        Ok(_) => drop(ch.finish()),
        Err(failure) => ch.abort(&failure.for_peer()),
    }
    ctx.let_go();
    compared.map(|theirs| (theirs, key)).map_err(|failure| ctx.interrupt.reason().unwrap_or(failure))
}

fn compare_and_part(
    ctx: &Context<'_>,
    job: &(dyn AnyJob + 'static),
    hello: &Hello,
    ch: &mut Channel,
) -> Result<Hello, Failure> {
    let theirs = handshake::agree(ch, hello, job)?;
    // There is nothing to sign. That the goodbye must come within the patience is all that `complete` says here.
    let parting = Parting { role: ctx.config.role, signing: None, complete: true, patience: ctx.limits.parting };
    match parting.take(ch)?.unconfirmed {
        Some(abort) => Err(abort.into()),
        None => Ok(theirs),
    }
}

/// Reads the own table, but not beyond an interruption or the deadline, and tries the places of results. Gives also why
/// these cannot be had.
fn examine(
    ctx: &Context<'_>,
    job: &(dyn AnyJob + 'static),
    position: Arc<OnceLock<Position>>,
) -> Result<(Examined, Option<Failure>), Failure> {
    let config = ctx.config;
    let (columns, own) = (job.columns(), config.source.clone());
    let (memory, work) = (config.memory, config.work.clone());
    let may_divide = validate::may_divide(config);
    let places = Places::of(config, job);
    let (done, outcome) = mpsc::channel();
    // Not joined: an interrupted run does not wait for a long table. Nobody may be there to take the outcome then.
    threads::start("vesica-table", move || {
        let mut obstacle = places.files.check().err();
        let opened = own.table.open();
        let examined = opened.map_or_else(Examined::from, |source| {
            // Dropped at once, so that no file is left.
            obstacle = obstacle.take().or_else(|| places.make(&*source).err());
            begin_pass(&*source, &position);
            match &work {
                Some(work) => columns.examine_spilled(&*source, &own.key, work),
                None => columns.examine_or_spill(&*source, &own.key, memory, may_divide),
            }
        });
        _ = done.send((examined, obstacle));
    })?;
    loop {
        if let Some(reason) = ctx.interrupt.reason() {
            return Err(reason);
        }
        if let Some(deadline) = ctx.deadline() {
            deadline.check("the input was read")?;
        }
        match outcome.recv_timeout(CHECK_EVERY) {
            Ok(outcome) => return Ok(outcome),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(super::prepare::panicked()),
        }
    }
}

/// Two sides that agree.
struct Sides<'a> {
    config: &'a Config,
    job: &'a (dyn AnyJob + 'static),
    ours: &'a Hello,
    theirs: &'a Hello,
}

impl Sides<'_> {
    /// Finds what a run would take and reveal, as both sides would settle it.
    fn estimate(
        &self,
        found: &mut DryRun,
        table: &KeyTable,
        own_items: u64,
        assumed: &Assumptions,
    ) -> Result<(), Failure> {
        let Config { role, max_peer_items, security, memory, .. } = *self.config;
        let peer_items = assumed.peer_items.unwrap_or(own_items);
        if peer_items > max_peer_items {
            found.warnings.push(format!(
                "this side refuses a partner with {}: its --max-peer-items is {max_peer_items}",
                counted(peer_items, "key", "keys")
            ));
        }
        let [own, peer] = [own_items, peer_items].map(|items| usize::try_from(items).unwrap_or(usize::MAX));
        let extent = match role {
            Role::Sender => Extent::new(own, peer, security),
            Role::Receiver => Extent::new(peer, own, security),
        };
        let measure = self.job.measure(table);
        let ours = TaskBytes { proposal: &self.ours.proposal, measure: &measure };
        let link = Link::agreed(self.ours.link, self.theirs.link);
        let plan = |count| {
            let run = match self.ours.cluster || self.ours.resume {
                true => buckets::extent_with_reruns(&extent, count)?,
                false => buckets::extent(&extent, count)?,
            };
            let terms = self.job.foresee(&run, ours, &self.theirs.proposal, table);
            let terms = terms.map_err(|refusal| refusal.into_failure())?;
            let chosen = plan::choose(terms.workload(), &self.ours.protocols, &self.theirs.protocols, &link)?;
            Ok::<_, Failure>((terms, chosen))
        };
        let is_spilled = table.spilled.is_some();
        let memory_of = if is_spilled { plan::memory_with_work } else { plan::memory };
        let needed = |(terms, chosen): &(Box<dyn AnyAgreed>, Chosen)| {
            memory_of(chosen.entry.id, terms.workload()).map(|bytes| bytes.of(role))
        };
        let budget = Budget::now(memory);
        let mut count = buckets::count(&extent, self.ours.buckets);
        let mut planned = plan(count)?;
        let fits = !is_spilled && budget.as_ref().is_none_or(|budget| needed(&planned) <= Some(budget.left));
        if count == 1 && !fits && self.ours.may_divide && self.theirs.may_divide && buckets::may_be_needed(&extent) {
            count = buckets::count(&extent, buckets::BY_SIZE);
            planned = plan(count)?;
            found.warnings.push(format!(
                "the whole tables do not fit in memory here: a run would divide their keys into {count} buckets on both sides"
            ));
        }
        let memory_bytes = needed(&planned);
        let (terms, chosen) = planned;
        let workload = terms.workload();
        let prediction = plan::predict(chosen.entry, workload, &assumed.machine, &link);
        let sent = |role| {
            prediction.as_ref().map(|prediction| match role {
                Role::Sender => prediction.sender_bytes,
                Role::Receiver => prediction.receiver_bytes,
            })
        };
        let received = self.config.received_bytes(&terms.disclosure());
        let on_disk = || work_folder::needed(table, received, (workload.extent(), count), role).most();
        let disk_bytes = is_spilled.then(on_disk);
        if let (Some(needed), Some(budget)) = (memory_bytes, budget)
            && needed > budget.left
        {
            found.warnings.push(format!(
                "this side may refuse the run: it may take {} of memory here, and {budget}",
                Bytes(needed)
            ));
        }
        found.warnings.extend(chosen.entry.warning().into_iter().chain(terms.warnings()));
        found.revealed = revealed(&*terms, chosen.entry, &extent, &self.config.source.key);
        found.estimate = Some(Estimate {
            protocol: chosen.entry.id,
            choice: chosen.why(&link),
            own_items,
            peer_items,
            peer_items_are_own: assumed.peer_items.is_none(),
            seconds: prediction.as_ref().map(|prediction| prediction.total_us() as f64 / 1e6),
            total_bytes: plan::total_bytes(chosen.entry, workload),
            bytes_sent: sent(role),
            bytes_received: sent(role.peer()),
            memory_bytes,
            disk_bytes,
            link,
        });
        Ok(())
    }
}
