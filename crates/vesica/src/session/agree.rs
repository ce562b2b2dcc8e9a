//! The steps until both sides agree: they compare settings, each reads its table, and then they exchange sizes, choose
//! the protocol and fix the session.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use vesica_party::{Channel, Phase, Role};
use vesica_structures::rng::SecretRng;

use super::advice;
use super::connect::{Connected, Reader};
use super::context::Context;
use super::on_cluster::Workers;
use super::prepare::Prepared;
use super::ready::Ready;
use super::revealed;
use super::work_folder;
use super::{Config, Protection, TaskAgreement};
use crate::buckets;
use crate::failure::{Failure, code};
use crate::handshake::messages::Sizes;
use crate::handshake::{self, Hello, Negotiation};
use crate::key::Kind;
use crate::log;
use crate::memory::Budget;
use crate::noise;
use crate::plan::Link;
use crate::policy::{Agreed, Beginning, Count, HeldTable};
use crate::progress::{Gauge, Stage};
use crate::receipt::{Policies, PolicyOf, to_hex};
use crate::resume::{self, Going, Record};
use crate::table::KeyStats;
use crate::words::counted;

/// Two sides whose settings go together.
pub(super) struct Compared<'m> {
    ready: Ready,
    reader: Reader<'m>,
    theirs: Hello,
}

impl<'m> Connected<'m> {
    /// Compares the settings of both sides.
    pub fn compare(self, ctx: &Context<'_>, ch: &mut Channel) -> Result<Compared<'m>, Failure> {
        let Self { ready, reader } = self;
        if let Reader::ThisProcess(preparation) = &reader
            && let Some(failure) = preparation.failure()
        {
            return Err(failure.clone());
        }
        ctx.watch.enter(Stage::Comparing, Gauge::Nothing);
        let theirs = handshake::agree(ch, &ready.hello, &*ready.job)?;
        Ok(Compared { ready, reader, theirs })
    }
}

/// A side that has read its table: from here on its keys are fixed.
pub(super) struct Read<'m> {
    ready: Ready,
    theirs: Hello,
    own: Prepared,
    /// The workers of a cluster, if the protocol does not run in this process.
    workers: Option<Workers<'m>>,
}

impl<'m> Compared<'m> {
    /// Reads the own table.
    pub fn read(self, ctx: &Context<'_>, ch: &mut Channel) -> Result<Read<'m>, Failure> {
        let _phase = ch.phase(Phase::Read);
        let Self { ready, reader, theirs } = self;
        let (own, workers) = match reader {
            Reader::ThisProcess(preparation) => {
                ctx.watch.enter(Stage::Reading, preparation.gauge());
                let own = preparation.finish(ch, ctx.interrupt, ctx.deadline())?;
                for notice in own.placed.notices() {
                    ctx.events.notice(&notice);
                }
                if let (None, Some(keys)) = (&ctx.config.work, &own.table.spilled) {
                    let folder = keys.folder().display();
                    ctx.events.notice(&format!(
                        "the table does not fit in memory: its keys are in encrypted files without a name in {folder} \
                         (--work names another folder)"
                    ));
                }
                (own, None)
            }
            Reader::Cluster(driver, outside) => {
                ctx.watch.enter(Stage::Reading, Gauge::Nothing);
                let (own, workers) = driver.read(outside, ctx, ch)?;
                (own, Some(workers))
            }
        };
        Ok(Read { ready, theirs, own, workers })
    }
}

/// A side that knows how many items it brings.
pub(super) struct OwnSizes<'m> {
    read: Read<'m>,
    padded: usize,
    sizes: Sizes,
    /// The table, compared with those of earlier runs, if the policy for the partner asks for that.
    held: Option<HeldTable>,
}

impl<'m> Read<'m> {
    /// Makes what the partner hears of the own table.
    pub fn size(self, ctx: &Context<'_>, ch: &Channel) -> Result<OwnSizes<'m>, Failure> {
        let table = &self.own.table;
        let held = match &ctx.config.policy {
            Some(policy) => {
                policy.check_own_keys(self.own.distinct as u64)?;
                let record = self.own.record.as_ref().and_then(Record::run_id);
                policy.compare(table, (record, true), &ctx.wait(&|| may_go_on(ctx, ch, COUNTED)))?
            }
            None => None,
        };
        let padded = padded(ctx.config, self.own.distinct)?;
        work_folder::check_room_for_own(ctx.config, table, padded)?;
        let sizes = Sizes {
            items: padded as u64,
            // The table has been read: from here on its keys do not depend on the salt.
            salt_share: self.ready.salt_share,
            key_kinds: table.stats.kinds(),
            measure: self.ready.job.measure(table),
        };
        sizes.check_length()?;
        Ok(OwnSizes { read: self, padded, sizes, held })
    }
}

/// Two sides that agree.
pub(super) struct InAgreement<'m> {
    pub carried: Carried,
    pub rng: SecretRng,
    /// The link to the partner, by what both sides say of it.
    pub link: Link,
    pub workers: Option<Workers<'m>>,
}

/// What all later steps have in hand.
pub(super) struct Carried {
    pub hello: Hello,
    /// What the receipt says of both sides' policies for each other.
    pub policies: Policies,
    pub agreement: TaskAgreement,
    pub own: Prepared,
    /// How many items this side brings, dummies included.
    pub padded: usize,
    /// The run that is kept in a record, and goes on.
    pub going: Option<Going>,
    /// Its folder, which nobody else can use, and how many attempts at buckets there are in all conversations.
    pub record: Option<(PathBuf, Arc<File>)>,
    pub attempts: Option<u64>,
    pub key_notes: Vec<String>,
    pub warnings: Vec<String>,
}

impl<'m> OwnSizes<'m> {
    /// Exchanges sizes, agrees on the terms and the protocol, pays for the noise, and says what is to be said before
    /// anything has been compared.
    pub fn agree(self, ctx: &Context<'_>, ch: &mut Channel) -> Result<InAgreement<'m>, Failure> {
        let Self { read: Read { ready, theirs, mut own, workers }, padded, sizes, held } = self;
        let Ready { job, hello, mut rng, .. } = ready;
        let Config { max_peer_items, memory, ref source, link, .. } = *ctx.config;
        let negotiation = Negotiation {
            task: &*job,
            ours: &hello,
            theirs: &theirs,
            sizes,
            max_peer_items,
            // On a cluster what a worker takes, which holds one bucket. Without --memory it may take what is free here:
            // workers are on other machines, but a partner's sizes must have some bound.
            memory: Budget::now(memory),
            work: own.table.spilled.is_some(),
        };
        ctx.watch.enter(Stage::Settling, Gauge::Nothing);
        let mut agreement = handshake::settle(ch, &negotiation)?;
        if agreement.buckets > 1 && ctx.config.buckets == 1 {
            let divided = format!(
                "the run on the whole tables does not fit in memory, here or at the partner's: both sides divide their keys \
                 into {} buckets (--buckets 1 refuses instead)",
                agreement.buckets
            );
            ctx.events.notice(&divided);
        }
        ctx.log.agree(|| {
            let disclosure = agreement.terms.disclosure();
            log::Agreed {
                session: to_hex(&agreement.session),
                protocol: agreement.entry.id.into(),
                own_items: padded as u64,
                partner_items: agreement.peer_items(ctx.config.role),
                buckets: agreement.buckets,
                revealed: revealed::revealed(&*agreement.terms, agreement.entry, &agreement.extent, &source.key),
                noise_epsilon: disclosure.noise,
            }
        });
        check_policy(ctx, &agreement)?;
        let (terms, received) = (&agreement.terms, ctx.config.received_bytes(&agreement.terms.disclosure()));
        work_folder::check_room(ctx.config, &own.table, received, (terms.workload().extent(), agreement.buckets))?;
        let going = match own.record.take() {
            Some(record) => {
                // Before it is written that the run has begun; one that is begun anew is looked at once more.
                if let Some(policy) = &ctx.config.policy {
                    let run = Beginning { record: record.run_id(), ..Beginning::of(ctx.config) };
                    policy.check_counts(&run, &ctx.wait(&|| may_go_on(ctx, ch, COUNTED)))?;
                }
                Some(go_on(ctx, ch, &mut agreement, record, &mut rng)?)
            }
            None => None,
        };
        let of_policy = begin(ctx, ch, going.as_ref(), held.as_ref())?;
        let (key_notes, mut warnings) = tell_before(ctx, &agreement, &own.table.stats, &negotiation.sizes.key_kinds);
        of_policy.iter().for_each(|warning| ctx.events.warning(warning));
        warnings.extend(of_policy);
        if source.key.has_alternatives() {
            let both_learn = agreement.terms.disclosure().both_learn;
            ctx.events.notice(&revealed::notice(source.key.alternatives().len(), both_learn));
        }
        let link = Link::agreed(link, theirs.link);
        let record = going.as_ref().map(|going| (going.folder().to_owned(), going.lock()));
        let attempts = going.as_ref().map(|going| going.attempts);
        let policies = PolicyOf::both(&hello, &theirs);
        let carried = Carried { hello, policies, agreement, own, padded, going, record, attempts, key_notes, warnings };
        Ok(InAgreement { carried, rng, link, workers })
    }
}

/// Compares both sides' records of the run, and says how far it is.
fn go_on(
    ctx: &Context<'_>,
    ch: &mut Channel,
    agreement: &mut TaskAgreement,
    record: Record,
    rng: &mut SecretRng,
) -> Result<Going, Failure> {
    let Config { role, max_peer_items, .. } = *ctx.config;
    let (own, theirs) = {
        let run = agreement.terms.workload().extent();
        (buckets::size(run, role), buckets::size(run, role.peer()))
    };
    let totals = agreement.terms.numbers_of_bucket();
    if agreement.terms.disclosure().groups.is_some_and(|groups| groups > 1) {
        let fault = "a run by groups is kept in no record";
        return Err(Failure::new(code::REFUSED, fault, "omit --resume on both sides, or --group-by"));
    }
    let shape = match role {
        _ if totals > 0 => (1, 8 * totals),
        // Which rows are the result may change when the run goes on.
        Role::Receiver => (own, agreement.terms.disclosure().payload_bytes),
        Role::Sender => (own, 0),
    };
    let terms = resume::Terms { role, shape, totals: totals > 0, peer_items: theirs, max_peer_items };
    let count = agreement.buckets as usize;
    let going = resume::go_on(ch, agreement, record, &terms, rng)?;
    if going.swept() > 0 {
        let records = counted(going.swept() as u64, "record of a run was", "records of runs were");
        ctx.events.notice(&format!("{records} removed with which nobody went on for 30 days"));
    }
    let folder = going.folder().display();
    let going_on = |through: usize, what: &str| {
        format!("going on with the run in {folder}: {through} of {count} buckets are {what}")
    };
    ctx.events.notice(&match (going.finished_before(count), going.committed_before(count)) {
        _ if going.is_over_by_word => {
            "the partner says that it has all results of an earlier run, of which this side keeps no record: nothing is compared"
                .to_owned()
        }
        (0, 0) => format!("the run is kept in {folder}: if it breaks off, type the same command again on both sides"),
        (0, committed) => going_on(committed, "through the first pass"),
        (finished, _) => going_on(finished, "finished"),
    });
    Ok(going)
}

/// How many keys a side with `distinct` of its own brings, dummies of `--pad-to` included. One without any brings a
/// dummy: an empty table runs like another, and no protocol needs to take an empty set.
pub(super) fn padded(config: &Config, distinct: usize) -> Result<usize, Failure> {
    let Some(target) = config.pad_to else { return Ok(distinct.max(1)) };
    match usize::try_from(target) {
        Ok(target) if target >= distinct => Ok(target),
        _ => {
            let mut failure = Failure::new(
                code::USAGE,
                format_args!("--pad-to {target} is less than the {distinct} distinct keys of the table"),
                "give a number that is at least as large as any table of yours",
            );
            failure.told = Some("its table has more keys than its --pad-to says");
            Err(failure)
        }
    }
}

/// Refuses what both sides have agreed on, if the policy for the partner does.
fn check_policy(ctx: &Context<'_>, agreement: &TaskAgreement) -> Result<(), Failure> {
    let Some(policy) = &ctx.config.policy else { return Ok(()) };
    policy.check_agreed(&Agreed {
        entry: agreement.entry,
        security: agreement.extent.security,
        partner_keys: agreement.peer_items(ctx.config.role),
        groups: agreement.terms.disclosure().groups.unwrap_or(1) as u64,
    })
}

/// Counts the run as the policy for the partner says, logs that it begins, and pays for its noise. What was counted is
/// taken back if one of the others fails: no message has been sent then. Gives warnings.
fn begin(
    ctx: &Context<'_>,
    ch: &Channel,
    going: Option<&Going>,
    table: Option<&HeldTable>,
) -> Result<Vec<String>, Failure> {
    let count = count(ctx, ch, going, table)?;
    let begun = ctx.log.begin(&|| may_go_on(ctx, ch, "another process used the log"), ctx.events);
    match (begun.and_then(|()| debit(ctx, ch)), &ctx.config.policy) {
        (Ok(()), _) => Ok(count.warnings),
        (Err(failure), Some(policy)) => Err(policy.take_back(count, failure)),
        (Err(failure), None) => Err(failure),
    }
}

/// Counts the run as the policy for the partner says.
fn count(ctx: &Context<'_>, ch: &Channel, going: Option<&Going>, table: Option<&HeldTable>) -> Result<Count, Failure> {
    let Some(policy) = &ctx.config.policy else { return Ok(Count::default()) };
    let run = Beginning { record: going.and_then(Going::id), table, ..Beginning::of(ctx.config) };
    let goes_on = || may_go_on(ctx, ch, "another run was counted; nothing was counted of this one");
    policy.count(&run, &ctx.wait(&goes_on))
}

/// What a run does that waits until another one is counted.
const COUNTED: &str = "another run was counted";

/// Why a run that waits for another process must end, if it must.
fn may_go_on(ctx: &Context<'_>, ch: &Channel, busy: &str) -> Result<(), Failure> {
    ctx.reason(ch, busy).map_or(Ok(()), Err)
}

/// Takes the noise's epsilon from the partner's budget, before the first message of the
/// protocol: what was spent stays spent, however the run ends. A run that cannot start any
/// more spends nothing.
fn debit(ctx: &Context<'_>, ch: &Channel) -> Result<(), Failure> {
    let (Some(noise), Protection::Tls { peer, .. }) = (&ctx.config.settings.noise, &ctx.config.protection) else {
        return Ok(());
    };
    let mut waits = false;
    noise::debit(&noise.budget, &peer.known_as().fingerprint().to_string(), noise.epsilon, |moment| {
        if moment == noise::Moment::Locked && !std::mem::replace(&mut waits, true) {
            ctx.events.notice("waiting for another run, which holds the budget file");
        }
        if let Some(reason) = ctx.interrupt.reason() {
            return Err(reason);
        }
        if let Some(deadline) = ctx.deadline() {
            let what = if waits { "another run held the budget file" } else { "the run was about to start" };
            deadline.check(&format!("{what}; nothing was spent"))?;
        }
        Ok(ch.check()?)
    })
}

/// Says what is to be said before anything has been compared. Gives the notes on the keys, and the warnings.
fn tell_before(
    ctx: &Context<'_>,
    agreement: &TaskAgreement,
    stats: &KeyStats,
    key_kinds: &[Kind],
) -> (Vec<String>, Vec<String>) {
    let key = &ctx.config.source.key;
    let key_notes = advice::notes(key, stats);
    for note in &key_notes {
        ctx.events.notice(note);
    }
    let warnings = agreement.entry.warning().into_iter().chain(agreement.terms.warnings());
    let warnings = warnings.chain(advice::empty(stats));
    // Of the own keys, and where the partner writes them in another way.
    let of_keys = handshake::kind_warnings(key, key_kinds, &agreement.peer_key_kinds);
    let warnings: Vec<String> = warnings.chain(advice::once(stats.warnings(key).into_iter().chain(of_keys))).collect();
    for warning in &warnings {
        ctx.events.warning(warning);
    }
    (key_notes, warnings)
}
