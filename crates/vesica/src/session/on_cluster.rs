//! What the machines of a cluster do in a run: [`cluster`](crate::cluster) has the picture.

use std::time::Duration;

use vesica_party::{Channel, Role, Task};
use vesica_protocols::tasks::{JoinAndCompute, Union};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;
use zeroize::Zeroizing;

use super::context::{Context, in_role};
use super::link::Bound;
use super::prepare::{Placed, Places, Prepared};
use super::ready::{Ready, fresh};
use super::{Config, End, Protection, TaskAgreement};
use crate::buckets::{self, Overflow};
use crate::cluster::keys::{KeyRecords, Records};
use crate::cluster::{
    Beside, BoundInside, Counts, Division, Inside, Learned, Machines, Received, Rendezvous, Sofar, Stage, Stop, Ticket,
    Waves, Work,
};
use crate::failure::{Failure, code};
use crate::key::Digests;
use crate::policy::Intended;
use crate::table::{
    Duplicates, KeyTable, PayloadSchema, PayloadSpec, PayloadTable, Source, UnionKeys, ValueDuplicates, ValueTable,
    key_schema,
};
use crate::task::{Columns, Settings, Unopened};

/// How long a worker waits for the partner's, whose cluster may begin a wave later.
const WORKER_WAIT: Duration = Duration::from_secs(120);

/// The tasks that run on a cluster.
const TASKS: [&str; 7] =
    ["intersect", Union::NAME, "cardinality", "sum", JoinAndCompute::NAME, "union-cardinality", "union-sum"];

/// What a driver has before the partner is there.
pub(super) struct Driver<'m> {
    machines: &'m mut dyn Machines,
    inside: BoundInside,
    source: Box<dyn Source>,
    columns: Columns,
    placed: Placed,
}

impl<'m> Driver<'m> {
    /// All that can fail before the partner is there.
    pub fn prepare(
        ctx: &Context<'_>,
        inside: &Inside,
        machines: &'m mut dyn Machines,
    ) -> Result<(Ready, Self), Failure> {
        let (config, ready) = (ctx.config, ready(ctx)?);
        let source = config.source.table.open()?;
        // The columns are there, and of kinds that keys have.
        let columns = ready.job.columns();
        columns.read(&*source, &config.source.key, None)?;
        let placed = Places::of(config, &*ready.job).make(&*source)?;
        Ok((ready, Self { machines, inside: inside.bind()?, source, columns, placed }))
    }

    /// Has the machines read the table. `outside` is where the partner's rendezvous will find this side's, or the other
    /// way round.
    pub fn read(self, outside: Bound, ctx: &Context<'_>, ch: &Channel) -> Result<(Prepared, Workers<'m>), Failure> {
        let Self { machines, inside, source, columns, placed } = self;
        let table = read(ctx.config, (&*source, &columns), machines, &|| ctx.reason(ch, "the table was read"))?;
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
        let (widths, received) = (ticket.work.widths(ticket.role), agreement.terms.received(ticket.role));
        let keys = machines
            .divide(&ticket.division, widths, received.as_ref(), &|| ctx.reason(ch, "the keys were divided"))
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
    /// Has the workers run the protocol on all buckets, and takes the last step where that gives totals.
    pub fn run(
        self,
        ctx: &Context<'_>,
        ch: &mut Channel,
        agreement: &TaskAgreement,
        rng: &mut SecretRng,
    ) -> Result<Ran, Failure> {
        let Self { machines, rendezvous, ticket, keys } = self;
        let Config { role, buckets: count, max_peer_items, ref protection, .. } = *ctx.config;
        let waves = Waves {
            session: agreement.session,
            role,
            buckets: count,
            most_reruns: ticket.runs as u32 - count,
            peer_items: buckets::size(agreement.terms.workload().extent(), role.peer()) as u64,
            max_peer_items,
            signing: match (protection, agreement.peer_key) {
                (Protection::Tls { identity, .. }, Some(peer)) => Some((identity, peer)),
                _ => None,
            },
            ticket,
            keys,
            rendezvous: &rendezvous,
            events: ctx.events,
        };
        let added = agreement.terms.added_to_totals(rng);
        let ran = waves.run(ch, machines, rng, &|ch| ctx.reason(ch, "the buckets were run"))?;
        let Sofar { learned, masks, attempts, commits, .. } = ran;
        let cluster = OfCluster { attempts, commits, traffic: rendezvous.traffic() };
        // What a last step is built on follows the protocol, as what the workers ran.
        ch.follow(agreement.entry);
        let mut ran = Ran { matched: None, new: None, result: None, cluster };
        let of_all = match learned {
            Some(Learned::Matched(keys)) => return Ok(Ran { matched: Some(keys), ..ran }),
            Some(Learned::New(keys)) => return Ok(Ran { new: Some(keys), ..ran }),
            Some(Learned::Totals(of_all)) => Secret::new(of_all),
            // Of another task than totals there are none.
            None if role == Role::Sender => masks,
            None => return Ok(ran),
        };
        if !of_all.is_empty() {
            ran.result = in_role(role, ch, |ch| agreement.terms.show_totals((&of_all, &added), ch, rng))?;
        }
        Ok(ran)
    }
}

/// What the machines of a cluster have done.
pub(super) struct Ran {
    /// How many keys matched, on a side that learns which.
    pub matched: Option<u64>,
    /// How many keys of the partner are new, on a side that learns which.
    pub new: Option<u64>,
    /// The result, if totals are.
    pub result: Option<Unopened>,
    pub cluster: OfCluster,
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
        Union::NAME => {
            let given_to = |role| agreement.terms.received(role).as_ref().map(Received::widths);
            Work::New {
                record_bytes: disclosure.payload_bytes,
                of_sender: given_to(Role::Receiver).unwrap_or_default(),
                of_receiver: given_to(Role::Sender),
            }
        }
        task => Work::Totals {
            task: task.into(),
            columns: disclosure.sender_values.len(),
            // Over a union, the receiver's columns are added to by this driver alone.
            factors: if task == JoinAndCompute::NAME { disclosure.receiver_values.len() } else { 0 },
            groups: disclosure.groups.unwrap_or(1),
            at_least: disclosure.at_least,
            totals: agreement.terms.numbers_of_bucket(),
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
        listens: matches!(end, End::Listen(_)),
        wait_ms: WORKER_WAIT.as_millis() as u64,
        keys: 0,
        mask: [0; 32],
        seal: [0; 32],
    }
}

/// What a side of a cluster has before it reaches its partner.
pub(super) fn ready(ctx: &Context<'_>) -> Result<Ready, Failure> {
    let config = ctx.config;
    check(config)?;
    if let Some(policy) = &config.policy {
        policy.check_settings(&Intended::of(config, true))?;
    }
    let mut ready = Ready::new(ctx)?;
    ready.hello.cluster = true;
    Ok(ready)
}

/// Has the machines read the table. The keys stay with them. `source` has no rows, and the same columns.
pub(super) fn read(
    config: &Config,
    (source, columns): (&dyn Source, &Columns),
    machines: &mut dyn Machines,
    stop: &Stop<'_>,
) -> Result<KeyTable, Failure> {
    let beside = beside(config, columns);
    let counts = machines.keys(&beside, stop);
    let Counts { stats, clamped, totals, records, categories } = counts.map_err(Failure::without_details)?;
    let Records { payload, keys } = records;
    stats.check_null_words(&config.source.table.name(), &config.source.key)?;
    check_width(&beside, keys.as_ref(), payload.as_ref())?;
    let empty = |schema| PayloadTable { schema, bytes: Vec::new() };
    let union = columns.read(source, &config.source.key, None)?.union.map(|UnionKeys { mut kinds, .. }| {
        let Some(keys) = keys else { return UnionKeys { kinds, records: None } };
        kinds.iter_mut().zip(keys.reads_as).for_each(|(kind, reads_as)| kind.reads_as = reads_as);
        let records = Some(empty(key_schema(&kinds, keys.width)));
        UnionKeys { kinds, records }
    });
    // As of a single key: what this side computes with by itself is sums.
    let values = ValueTable { values: totals, groups: Vec::new(), categories, clamped };
    Ok(KeyTable {
        digests: Digests::default(),
        row_key: Vec::new(),
        stats,
        payload: payload.map(empty),
        values: (!values.clamped.is_empty() || beside.group_by.is_some()).then_some(values),
        union,
        integers: None,
        spilled: None,
    })
}

/// What is read beside the keys.
fn beside(config: &Config, columns: &Columns) -> Beside {
    let Settings { payload, values, .. } = &config.settings;
    Beside {
        payload: payload.as_ref().map(|payload| payload.columns.clone()).unwrap_or_default(),
        values: values.columns.clone(),
        group_by: values.group_by.clone(),
        adds_up: values.duplicates == ValueDuplicates::Sum,
        most_record_bytes: match columns {
            Columns::Union(spec) => spec.as_ref().map(|spec| spec.most_bytes),
            _ => None,
        },
    }
}

/// Refuses keys and payloads of different machines that are together wider than this side lets travel.
fn check_width(beside: &Beside, keys: Option<&KeyRecords>, payload: Option<&PayloadSchema>) -> Result<(), Failure> {
    let (Some(keys), Some(most)) = (keys, beside.most_record_bytes) else { return Ok(()) };
    let payload = payload.map_or(0, |payload| payload.width);
    if keys.width + payload <= most {
        return Ok(());
    }
    Err(Failure {
        told: Some("a key of its table, with its payload, is wider than its --max-item-bytes"),
        ..Failure::new(
            code::INPUT,
            format_args!(
                "the longest key takes {} bytes and the longest payload {payload}, together more than --max-item-bytes \
                 {most}",
                keys.width
            ),
            "raise --max-item-bytes on both sides, or give fewer or shorter columns",
        )
    })
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
    if matches!(config.end, End::Relay(..)) {
        return usage(
            "the workers of a cluster do not meet the partner's at a relay",
            "say listen= on one side and connect= on the other, or run on one machine",
        );
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
