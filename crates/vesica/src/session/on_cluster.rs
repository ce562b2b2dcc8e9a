//! What the machines of a cluster do in a run: [`cluster`](crate::cluster) has the picture.

use std::time::Duration;

use vesica_party::{Channel, Role, Task};
use vesica_protocols::tasks::JoinAndCompute;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;
use zeroize::Zeroizing;

use super::context::Context;
use super::link::Bound;
use super::prepare::{Placed, Places, Prepared};
use super::ready::{Ready, fresh};
use super::{Config, Protection, TaskAgreement};
use crate::buckets::{self, Overflow};
use crate::cluster::{
    Beside, BoundInside, Counts, Division, Inside, Learned, Machines, Rendezvous, Sofar, Stage, Stop, Ticket, Waves,
    Work,
};
use crate::failure::{Failure, code};
use crate::key::Digests;
use crate::table::{Duplicates, KeyTable, PayloadSpec, PayloadTable, Source, ValueDuplicates, ValueTable};
use crate::task::Settings;

/// How long a worker waits for the partner's, whose cluster may begin a wave later.
const WORKER_WAIT: Duration = Duration::from_secs(120);

/// The tasks that run on a cluster.
const TASKS: [&str; 6] = ["intersect", "cardinality", "sum", JoinAndCompute::NAME, "union-cardinality", "union-sum"];

/// What a driver has before the partner is there.
pub(super) struct Driver<'m> {
    machines: &'m mut dyn Machines,
    inside: BoundInside,
    source: Box<dyn Source>,
    placed: Placed,
}

impl<'m> Driver<'m> {
    /// All that can fail before the partner is there.
    pub fn prepare(config: &Config, inside: &Inside, machines: &'m mut dyn Machines) -> Result<(Ready, Self), Failure> {
        let ready = ready(config)?;
        let source = config.source.table.open()?;
        // The columns are there, and of kinds that keys have.
        ready.job.columns().read(&*source, &config.source.key, None)?;
        let placed = Places::of(config, &*ready.job).make(&*source)?;
        Ok((ready, Self { machines, inside: inside.bind()?, source, placed }))
    }

    /// Has the machines read the table. `outside` is where the partner's rendezvous will find this side's, or the other
    /// way round.
    pub fn read(self, outside: Bound, ctx: &Context<'_>, ch: &Channel) -> Result<(Prepared, Workers<'m>), Failure> {
        let Self { machines, inside, source, placed } = self;
        let table = read(ctx.config, machines, &|| ctx.reason(ch, "the table was read"))?;
        let distinct = table.distinct();
        Ok((Prepared { source, table, placed, distinct, record: None }, Workers { machines, inside, outside }))
    }
}

/// Machines that have read the table.
pub(super) struct Workers<'m> {
    machines: &'m mut dyn Machines,
    inside: BoundInside,
    outside: Bound,
}

impl<'m> Workers<'m> {
    /// Has the keys divided into buckets.
    pub fn divide(
        self,
        ctx: &Context<'_>,
        ch: &Channel,
        agreement: &TaskAgreement,
        distinct: usize,
        rng: &mut SecretRng,
    ) -> Result<Divided<'m>, Failure> {
        let Self { machines, inside, outside } = self;
        let rendezvous = Rendezvous::start(inside, outside)?;
        let ticket = ticket(ctx.config, agreement, &rendezvous, &fresh(rng));
        let (width, received) = (ticket.work.width(ticket.role), agreement.terms.received());
        let keys = machines
            .divide(&ticket.division, width, received, &|| ctx.reason(ch, "the keys were divided"))
            .map_err(Failure::without_details)?;
        check_division(&keys, distinct, &ticket.division).map_err(Failure::without_details)?;
        Ok(Divided { machines, rendezvous, ticket, keys })
    }
}

/// Machines that have the keys in buckets.
pub(super) struct Divided<'m> {
    machines: &'m mut dyn Machines,
    rendezvous: Rendezvous,
    /// What is the same in all tickets.
    ticket: Ticket,
    /// How many keys each bucket has.
    keys: Vec<usize>,
}

impl Divided<'_> {
    /// Has the workers run the protocol on all buckets. Gives what this side learned, if it learns anything.
    pub fn run(
        self,
        ctx: &Context<'_>,
        ch: &mut Channel,
        agreement: &TaskAgreement,
        rng: &mut SecretRng,
    ) -> Result<(Option<Learned>, OfCluster), Failure> {
        let Self { machines, rendezvous, ticket, keys } = self;
        let Config { role, buckets: count, max_peer_items, ref protection, .. } = *ctx.config;
        let added = match role {
            Role::Sender => agreement.terms.added_to_totals(rng)?,
            Role::Receiver => Secret::new(Vec::new()),
        };
        let waves = Waves {
            session: agreement.session,
            role,
            buckets: count,
            most_reruns: ticket.runs as u32 - count,
            peer_items: buckets::size(agreement.terms.workload().extent(), role.peer()) as u64,
            max_peer_items,
            signing: match protection {
                Protection::Tls { identity, peer } => Some((identity, *peer)),
                Protection::InsecurePlaintext => None,
            },
            ticket,
            keys,
            added,
            rendezvous: &rendezvous,
            events: ctx.events,
        };
        let ran = waves.run(ch, machines, rng, &|ch| ctx.reason(ch, "the buckets were run"))?;
        let Sofar { learned, attempts, commits, .. } = ran;
        Ok((learned, OfCluster { attempts, commits, traffic: rendezvous.traffic() }))
    }
}

/// What is to be said of a cluster beside what it learned.
pub(super) struct OfCluster {
    /// Attempts at buckets.
    pub attempts: u64,
    /// The hash of all commits.
    pub commits: [u8; 32],
    /// Bytes that workers sent to the partner's, and those that came from them.
    pub traffic: (u64, u64),
}

/// What is the same in all tickets.
fn ticket(
    config: &Config,
    agreement: &TaskAgreement,
    rendezvous: &Rendezvous,
    dummies: &Zeroizing<[u8; 32]>,
) -> Ticket {
    let Config { role, buckets: count, ref end, .. } = *config;
    let run = agreement.terms.workload().extent();
    let disclosure = agreement.terms.disclosure();
    let work = match config.task.name() {
        "intersect" => Work::Matches { both_learn: disclosure.both_learn, payload_bytes: disclosure.payload_bytes },
        task => Work::Totals {
            task: task.into(),
            columns: disclosure.sender_values.len(),
            // Over a union, the receiver's columns are added to by this driver alone.
            factors: if task == JoinAndCompute::NAME { disclosure.receiver_values.len() } else { 0 },
            groups: disclosure.groups.unwrap_or(1),
            masks: [0; 32],
        },
    };
    Ticket {
        session: agreement.session,
        bucket: 0,
        attempt: 0,
        stage: Stage::Whole,
        run: 0,
        left: None,
        division: Division::new(agreement.salt, count, buckets::size(run, role)),
        role,
        protocol: agreement.entry.id.into(),
        sender_items: run.sender_items,
        receiver_items: run.receiver_items,
        security: run.security,
        post_quantum: config.post_quantum,
        runs: run.runs,
        work,
        dummies: **dummies,
        rendezvous: rendezvous.address().into(),
        pass: [0; 32],
        seed: [0; 32],
        peer: [0; 32],
        listens: end.channel_role() == Role::Receiver,
        wait_ms: WORKER_WAIT.as_millis() as u64,
        keys: 0,
        mask: [0; 32],
        seal: [0; 32],
    }
}

/// What a side of a cluster has before it reaches its partner.
pub(super) fn ready(config: &Config) -> Result<Ready, Failure> {
    check(config)?;
    let mut ready = Ready::new(config)?;
    ready.hello.cluster = true;
    Ok(ready)
}

/// Has the machines read the table. The keys stay with them.
pub(super) fn read(config: &Config, machines: &mut dyn Machines, stop: &Stop<'_>) -> Result<KeyTable, Failure> {
    let beside = beside(config);
    let counts = machines.keys(&beside, stop);
    let Counts { stats, clamped, totals, payload, categories } = counts.map_err(Failure::without_details)?;
    stats.check_null_words(&config.source.table.name(), &config.source.key)?;
    // As of a single key: what this side computes with by itself is sums.
    let values = ValueTable { values: totals, groups: Vec::new(), categories, clamped };
    Ok(KeyTable {
        digests: Digests::default(),
        row_key: Vec::new(),
        stats,
        payload: payload.map(|schema| PayloadTable { schema, bytes: Vec::new() }),
        values: (!values.clamped.is_empty() || beside.group_by.is_some()).then_some(values),
        union: None,
        integers: None,
        spilled: None,
    })
}

/// What is read beside the keys.
fn beside(config: &Config) -> Beside {
    let Settings { payload, values, .. } = &config.settings;
    Beside {
        payload: payload.as_ref().map(|payload| payload.columns.clone()).unwrap_or_default(),
        values: values.columns.clone(),
        group_by: values.group_by.clone(),
        adds_up: values.duplicates == ValueDuplicates::Sum,
    }
}

/// Refuses what does not run on a cluster.
fn check(config: &Config) -> Result<(), Failure> {
    let usage = |fault: &str, mend: &str| Err(Failure::new(code::USAGE, fault, mend));
    if !TASKS.contains(&config.task.name()) {
        let fault = format!("the task {} does not run on a cluster", config.task);
        return usage(&fault, &format!("say {}, or run on one machine", TASKS.join(", ")));
    }
    if config.buckets < 2 {
        return usage("a cluster runs buckets, and there is only one", "say buckets= with at least 2, on both sides");
    }
    if config.resume {
        return usage("a run on a cluster is kept in no record", "omit --resume");
    }
    if config.work.is_some() {
        return usage("a cluster keeps buckets in a work folder of its own", "omit --work");
    }
    let takes_first = |payload: &PayloadSpec| payload.duplicates == Duplicates::First;
    if config.settings.values.duplicates == ValueDuplicates::First
        || config.settings.payload.as_ref().is_some_and(takes_first)
    {
        return usage(
            "rows of a cluster have no order, so that none of a key's rows is the first one",
            "omit payload_duplicates=, or say \"sum\" where values are added up",
        );
    }
    Ok(())
}

/// Refuses buckets that do not hold the keys that were counted, or do not fit.
fn check_division(keys: &[usize], distinct: usize, division: &Division) -> Result<(), Failure> {
    let together: usize = keys.iter().fold(0, |sum, &keys| sum.saturating_add(keys));
    if keys.len() != division.buckets as usize || together != distinct {
        return Err(Failure::new(
            code::INTERNAL,
            format_args!("{distinct} keys were counted, and {together} are in the buckets"),
            "see that all machines read the same files in work=, and that nothing removes or changes them",
        ));
    }
    match keys.iter().max() {
        Some(&most) if most > division.size => Err(Overflow.into()),
        _ => Ok(()),
    }
}
