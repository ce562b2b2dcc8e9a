//! A run whose buckets the workers of a cluster run: [`cluster`](crate::cluster) has the picture.

use std::thread;
use std::time::{Duration, Instant};

use vesica_party::{Abort, Channel, Role, Security, Tally};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;
use zeroize::Zeroizing;

use super::advice::{self, Matched};
use super::deadline::Deadline;
use super::link::{self, Bound, RetryPolicy};
use super::prepare::{Placed, Places};
use super::run::{Conversation, Done, Limits, Ready, TaskAgreement, fresh, open_channel, padded, save};
use super::tell::{Meeting, tell_partner};
use super::write::Writing;
use super::{Config, Events, Interrupt, Protection};
use crate::buckets::{self, Overflow};
use crate::cluster::{BoundInside, Counts, Division, Inside, Learned, Machines, Rendezvous, Ticket, Waves, Work};
use crate::failure::{Failure, code};
use crate::handshake::messages::Sizes;
use crate::handshake::{self, Negotiation};
use crate::key::Digests;
use crate::memory::Budget;
use crate::progress::{Gauge, Stage, Watch};
use crate::receipt::Receipt;
use crate::report::Report;
use crate::table::{KeyTable, Source, ValueDuplicates, ValueTable};
use crate::task::{Finished, Unopened};

/// How long a worker waits for the partner's, whose cluster may begin a wave later.
const WORKER_WAIT: Duration = Duration::from_secs(120);

/// The tasks that run on a cluster.
const TASKS: [&str; 3] = ["intersect", "cardinality", "sum"];

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
    let limits = Limits::default();
    thread::scope(|scope| {
        let watch = Watch::start(scope, events);
        run_watched(&limits, config, inside, machines, interrupt, events, &watch)
    })
}

fn run_watched(
    limits: &Limits,
    config: &Config,
    inside: &Inside,
    machines: &mut dyn Machines,
    interrupt: &Interrupt,
    events: &dyn Events,
    watch: &Watch<'_>,
) -> Result<Report, Failure> {
    let started = Instant::now();
    let meeting = Meeting::of(config);
    let Prepared { ready, source, placed, inside } = match prepare(config, inside) {
        Ok(prepared) => prepared,
        Err(failure) => return Err(tell_partner(&meeting, failure, interrupt, events)),
    };
    let Ready { job, mut hello, salt_share, mut rng } = ready;
    let bound = link::bind(&config.end, events)?;
    watch.enter(Stage::Waiting, Gauge::Nothing);
    let connection = {
        let stop = || interrupt.reason();
        let (wait, flag) = meeting.wait_and_flag();
        link::reach(&bound, &config.protection, &RetryPolicy { wait, flag, stop: &stop }, events)?
    };
    events.connected();
    hello.clock = handshake::clock::now();

    let mut ch = open_channel(config, limits, connection, started)?;
    interrupt.attach(ch.canceller());
    watch.count(ch.meter());
    let deadline = Deadline::of(config.deadline, started);
    let conversation = Conversation { config, job, hello, salt_share, limits, deadline, interrupt, events, watch };
    let mut agreed = match conversation.hold_on_cluster(&mut ch, machines, bound, inside, &mut rng) {
        Ok(agreed) => agreed,
        Err(failure) => {
            // What the partner said last explains more than what its end did to our workers.
            let said = ch.check().err().map(Failure::from).filter(|_| failure.code == code::LINK);
            ch.abort(&failure.for_peer());
            conversation.let_go();
            return Err(interrupt.reason().or(said).unwrap_or(failure));
        }
    };
    let tally = conversation.end(ch, agreed.unconfirmed.as_ref(), &mut agreed.done.warnings);
    let Agreed { mut done, result, receipt, workers, .. } = agreed;
    done.tally = tally;
    // First: a result that cannot be written must not take along the proof of the run, which the partner has.
    done.receipt = receipt.zip(placed.receipt).and_then(|(receipt, place)| save(&receipt, place, &mut done.warnings));
    let mut counted = done.matched_keys;
    if let (Some(sink), Some(result)) = (placed.sink, result) {
        let Done { agreement, table, .. } = &done;
        let distinct = table.stats.distinct as usize;
        let result = result(&Finished { table, distinct, session: &agreement.session, entry: agreement.entry });
        let is_exact = agreement.terms.disclosure().noise.is_none();
        counted = conversation.counted(&result).filter(|_| is_exact);
        done.output = Some(Writing { config, source: &*source, table, distinct }.write(result, sink)?);
    }
    if let Some(keys) = counted {
        let partner = done.agreement.peer_items(config.role);
        let matched = Matched { keys, own: done.table.stats.distinct, partner, by_alternative: None };
        let (key, stats) = (&config.source.key, &done.table.stats);
        let causes = advice::causes(&matched, key, stats, &stats.kinds(), &done.agreement.peer_key_kinds);
        done.warnings.extend(causes);
    }
    let mut report = done.report(config, started);
    report.bytes_sent += workers.0;
    report.bytes_received += workers.1;
    Ok(report)
}

/// What a side has before the partner is there.
struct Prepared {
    ready: Ready,
    source: Box<dyn Source>,
    placed: Placed,
    inside: BoundInside,
}

/// All that can fail before the partner is there.
fn prepare(config: &Config, inside: &Inside) -> Result<Prepared, Failure> {
    check(config)?;
    let mut ready = Ready::new(config)?;
    ready.hello.cluster = true;
    let source = config.source.table.open()?;
    // The columns are there, and of kinds that keys have.
    ready.job.columns().read(&*source, &config.source.key, None)?;
    let placed = Places::of(config, &*ready.job).make(&*source)?;
    Ok(Prepared { ready, source, placed, inside: inside.bind()? })
}

/// Refuses what does not run on a cluster.
fn check(config: &Config) -> Result<(), Failure> {
    let usage = |fault: &str, mend: &str| Err(Failure::new(code::USAGE, fault, mend));
    if !TASKS.contains(&config.task.name()) {
        let fault = format!("the task {} does not run on a cluster", config.task);
        return usage(&fault, &format!("say {}, or run on one machine", TASKS.join(", ")));
    }
    if config.security != Security::SemiHonest {
        return usage(
            "on a cluster, buckets that are run one after the other withstand no malicious partner: it could choose its \
             keys of a bucket by what the buckets before it gave",
            "if the partner is trusted to follow the protocol, say security=\"semi-honest\" on both sides; else run on \
             one machine",
        );
    }
    if config.buckets < 2 {
        return usage("a cluster runs buckets, and there is only one", "say buckets= with at least 2, on both sides");
    }
    if config.settings.payload.is_some() || config.settings.expected_payload.is_some() {
        return usage("payload does not run on a cluster yet", "omit it, or run on one machine");
    }
    if config.settings.values.duplicates == ValueDuplicates::First {
        return usage(
            "rows of a cluster have no order, so that none of a key's rows is the first one",
            "say payload_duplicates=\"sum\", or omit payload_duplicates=",
        );
    }
    if config.source.key.has_alternatives() {
        return usage("keys with alternatives do not run on a cluster yet", "omit or_on, or run on one machine");
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

/// What the conversation gave.
struct Agreed {
    done: Done,
    /// The result, where it is numbers.
    result: Option<Unopened>,
    receipt: Option<Receipt>,
    unconfirmed: Option<Abort>,
    /// Bytes that workers sent to the partner's, and those that came from them.
    workers: (u64, u64),
}

impl Conversation<'_> {
    /// All that the peer hears and says.
    fn hold_on_cluster(
        &self,
        ch: &mut Channel,
        machines: &mut dyn Machines,
        outside: Bound,
        inside: BoundInside,
        rng: &mut SecretRng,
    ) -> Result<Agreed, Failure> {
        let Self { config, watch, .. } = *self;
        watch.enter(Stage::Comparing, Gauge::Nothing);
        let theirs = handshake::agree(ch, &self.hello, &*self.job)?;
        watch.enter(Stage::Reading, Gauge::Nothing);
        let counts = machines.keys(&config.settings.values, &|| self.reason(ch, "the table was read"));
        let Counts { stats, clamped } = counts.map_err(Failure::without_details)?;
        stats.check_null_words(&config.source.table.name(), &config.source.key)?;
        let distinct = stats.distinct as usize;
        let values = ValueTable { values: Vec::new(), groups: Vec::new(), categories: Vec::new(), clamped };
        let table = KeyTable {
            digests: Digests::default(),
            row_key: Vec::new(),
            stats,
            payload: None,
            values: (!values.clamped.is_empty()).then_some(values),
            union: None,
            integers: None,
        };
        let items = padded(config, distinct)? as u64;
        let (salt_share, key_kinds) = (self.salt_share, table.stats.kinds());
        let sizes = Sizes { items, salt_share, key_kinds, measure: self.job.measure(&table) };
        sizes.check_length()?;
        let key_kinds = sizes.key_kinds.clone();
        let negotiation = Negotiation {
            task: &*self.job,
            ours: &self.hello,
            theirs: &theirs,
            sizes,
            max_peer_items: config.max_peer_items,
            // What a worker takes, which holds one bucket. Without --memory it may take what is free here: workers are on
            // other machines, but a partner's sizes must have some bound.
            memory: Budget::now(config.memory),
        };
        watch.enter(Stage::Settling, Gauge::Nothing);
        let agreement = handshake::settle(ch, &negotiation)?;
        self.debit(ch)?;
        let (key_notes, mut warnings) = self.tell_before(&agreement, &table.stats, &key_kinds);

        watch.enter(Stage::Running(agreement.entry.id), Gauge::Nothing);
        let rendezvous = Rendezvous::start(inside, outside)?;
        let ticket = self.ticket(&agreement, &rendezvous, &fresh(rng));
        let keys = machines
            .divide(&ticket.division, &|| self.reason(ch, "the keys were divided"))
            .map_err(Failure::without_details)?;
        check_division(&keys, distinct, &ticket.division).map_err(Failure::without_details)?;
        let began = Instant::now();
        let added = match config.role {
            Role::Sender => agreement.terms.added_to_totals(rng)?,
            Role::Receiver => Secret::new(Vec::new()),
        };
        let waves = self.waves(&agreement, ticket, keys, added, &rendezvous);
        let (learned, attempts) = waves.run(ch, machines, rng, &|ch| self.reason(ch, "the buckets were run"))?;
        let workers = rendezvous.traffic();
        drop(rendezvous);
        let complete = learned.is_some();
        let (matched_keys, result) = match learned {
            None => (None, None),
            Some(Learned::Matched(keys)) => (Some(keys), None),
            Some(Learned::Totals(totals)) => (None, agreement.terms.result_of_totals(totals)),
        };
        if complete {
            self.interrupt.complete();
        }
        watch.enter(Stage::Closing, Gauge::Nothing);
        let (receipt, unconfirmed) =
            self.part(ch, &agreement, Some(attempts), complete, began.elapsed(), &mut warnings)?;
        let done = Done {
            agreement,
            table,
            own_items: items,
            matched_keys,
            matched_by_alternative: None,
            output: None,
            receipt: None,
            tally: Tally::default(),
            key_notes,
            warnings,
        };
        Ok(Agreed { done, result, receipt, unconfirmed, workers })
    }

    /// Why this side must give up, if it must.
    fn reason(&self, ch: &Channel, busy: &str) -> Option<Failure> {
        let late = || self.deadline.and_then(|deadline| deadline.check(busy).err());
        self.interrupt.reason().or_else(late).or_else(|| ch.check().err().map(Failure::from))
    }

    /// What is the same in all tickets.
    fn ticket(&self, agreement: &TaskAgreement, rendezvous: &Rendezvous, dummies: &Zeroizing<[u8; 32]>) -> Ticket {
        let Config { role, buckets: count, ref end, .. } = *self.config;
        let run = agreement.terms.workload().extent();
        let disclosure = agreement.terms.disclosure();
        let work = match self.config.task.name() {
            "intersect" => Work::Matches { both_learn: disclosure.both_learn },
            task => Work::Totals { task: task.into(), columns: disclosure.sender_values.len(), masks: Vec::new() },
        };
        Ticket {
            session: agreement.session,
            bucket: 0,
            attempt: 0,
            division: Division::new(agreement.salt, count, buckets::size(run, role)),
            role,
            protocol: agreement.entry.id.into(),
            sender_items: run.sender_items,
            receiver_items: run.receiver_items,
            security: run.security,
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
        }
    }

    fn waves<'w>(
        &'w self,
        agreement: &TaskAgreement,
        ticket: Ticket,
        keys: Vec<usize>,
        added: Secret<Vec<u64>>,
        rendezvous: &'w Rendezvous,
    ) -> Waves<'w> {
        let Config { role, buckets: count, max_peer_items, ref protection, .. } = *self.config;
        Waves {
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
            rendezvous,
            events: self.events,
        }
    }
}
