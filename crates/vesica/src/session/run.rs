//! The run itself, from binding the address to the report.

use std::thread;
use std::time::{Duration, Instant};

use vesica_party::transport::Connection;
use vesica_party::transport::tls::PublicKey;
use vesica_party::{Abort, Channel, ChannelOptions, Role, Tally};
use vesica_structures::rng::SecretRng;
use zeroize::Zeroizing;

use super::advice::{self, Matched};
use super::deadline::Deadline;
use super::link::{self, RetryPolicy};
use super::parting::{self, Parted, Parting, Signing};
use super::prepare::{Placed, Preparation, Prepared};
use super::revealed::{self, revealed};
use super::tell::{self, Meeting, tell_partner};
use super::write::Writing;
use super::{Config, Events, Interrupt, Protection, validate};
use crate::buckets::{self, Buckets};
use crate::failure::{Failure, code};
use crate::handshake::messages::Sizes;
use crate::handshake::{self, Agreement, Hello, Negotiation, WIRE_VERSION};
use crate::key::Kind;
use crate::memory::Budget;
use crate::noise;
use crate::plan::{self, Link};
use crate::progress::{Gauge, Stage, Watch};
use crate::receipt::{Receipt, Statement, to_hex};
use crate::report::{OutputReport, PhaseReport, Report, ValueReport};
use crate::table::{KeyStats, KeyTable, Place, Source};
use crate::task::{AnyAgreed, AnyJob, Finished, ResultSet, Unopened};
use crate::threads;

/// What both sides agreed on, the task's terms among it.
pub(super) type TaskAgreement = Agreement<Box<dyn AnyAgreed>>;

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
    thread::scope(|scope| run_watched(limits, config, interrupt, events, &Watch::start(scope, events)))
}

fn run_watched(
    limits: &Limits,
    config: &Config,
    interrupt: &Interrupt,
    events: &dyn Events,
    watch: &Watch<'_>,
) -> Result<Report, Failure> {
    let started = Instant::now();
    let meeting = Meeting::of(config);
    let Ready { job, mut hello, salt_share, mut rng } = match Ready::new(config) {
        Ok(ready) => ready,
        Err(failure) => return Err(tell_partner(&meeting, failure, interrupt, events)),
    };
    let bound = link::bind(&config.end, events)?;
    let mut preparation = Preparation::start(config, &*job);
    watch.enter(Stage::Waiting, Gauge::Nothing);
    let connection = {
        let preparation = std::cell::RefCell::new(&mut preparation);
        let stop = || {
            let announce = |failure| tell::announce(&meeting, failure, events);
            interrupt.reason().or_else(|| preparation.borrow_mut().overdue_failure(meeting.tell_for(), announce))
        };
        let (wait, flag) = meeting.wait_and_flag();
        link::reach(&bound, &config.protection, &RetryPolicy { wait, flag, stop: &stop }, events)
    };
    let connection = connection.map_err(|failure| match preparation.failure() {
        // Whether the peer never came matters less than an own failure that could not be told.
        Some(own) => {
            tell::not_told(Some(&failure).filter(|failure| *failure != own), events);
            own.clone()
        }
        None => failure,
    })?;
    drop(bound);
    events.connected();
    hello.clock = handshake::clock::now();

    let mut ch = open_channel(config, limits, connection, started)?;
    interrupt.attach(ch.canceller());
    watch.count(ch.meter());
    let conversation = Conversation {
        config,
        job,
        hello,
        salt_share,
        limits,
        deadline: Deadline::of(config.deadline, started),
        interrupt,
        events,
        watch,
    };
    let mut agreed = match conversation.hold(&mut ch, preparation, &mut rng) {
        Ok(agreed) => agreed,
        Err(failure) => {
            ch.abort(&failure.for_peer());
            conversation.let_go();
            if failure.announced {
                tell::told(events);
            }
            // A signal also shows as a failure of whatever it cut short.
            return Err(interrupt.reason().unwrap_or(failure));
        }
    };
    let tally = conversation.end(ch, agreed.unconfirmed.as_ref(), &mut agreed.warnings);
    if let Some(reason) = interrupt.reason() {
        events.notice(&format!(
            "{}, but the run was complete by then and keeps its result; a second signal gives it up",
            reason.fault
        ));
    }
    // Only now is the result looked at. How long it is, whether the peer's payloads decode and whether
    // all can be written depends on what matched: the peer must not notice.
    let done = conversation.keep(agreed, tally)?;
    Ok(done.report(config, started))
}

/// Opens the channel of a run that began at `started`.
pub(super) fn open_channel(
    config: &Config,
    limits: &Limits,
    connection: Connection,
    started: Instant,
) -> Result<Channel, Abort> {
    // Either side may ask for a receipt, and both sign it: over TLS there is always a transcript.
    // Without TLS there is no receipt.
    let transcript = matches!(config.protection, Protection::Tls { .. });
    let options =
        ChannelOptions { deadline: config.deadline, elapsed: started.elapsed(), transcript, ..limits.channel.clone() };
    // Roles of the task are not agreed yet, so the channel's are those of the connection; the
    // protocol's call turns them if need be.
    Ok(threads::open_channel(connection, config.end.channel_role(), options)?)
}

fn fill(rng: &mut SecretRng, bytes: &mut [u8]) {
    for part in bytes.chunks_mut(16) {
        part.copy_from_slice(&rng.block().to_le_bytes()[..part.len()]);
    }
}

/// What a side has before the partner is there.
pub(super) struct Ready {
    pub job: Box<dyn AnyJob>,
    pub hello: Hello,
    pub salt_share: handshake::salt::Share,
    pub rng: SecretRng,
}

impl Ready {
    /// All that can fail for want of usable flags and small files.
    pub fn new(config: &Config) -> Result<Self, Failure> {
        let job = validate::configure(config)?;
        let mut hello = validate::hello(config, &*job)?;
        let mut rng = SecretRng::from_os()
            .map_err(|error| Failure::new(code::INTERNAL, error, "the operating system gives no randomness"))?;
        fill(&mut rng, &mut hello.nonce);
        let mut salt_share = [0; 32];
        fill(&mut rng, &mut salt_share);
        hello.salt_commitment = handshake::salt::commit(config.role, &salt_share);
        Ok(Self { job, hello, salt_share, rng })
    }
}

pub(super) struct Conversation<'a> {
    pub config: &'a Config,
    pub job: Box<dyn AnyJob>,
    pub hello: Hello,
    pub salt_share: handshake::salt::Share,
    pub limits: &'a Limits,
    pub deadline: Option<Deadline>,
    pub interrupt: &'a Interrupt,
    pub events: &'a dyn Events,
    pub watch: &'a Watch<'a>,
}

/// What the conversation gave; nothing of the result has been looked at.
struct Agreed {
    agreement: TaskAgreement,
    source: Box<dyn Source>,
    table: KeyTable,
    placed: Placed,
    own_items: u64,
    distinct: usize,
    result: Option<Unopened>,
    receipt: Option<Receipt>,
    /// Why the partner did not confirm the end, if it did not.
    unconfirmed: Option<Abort>,
    key_notes: Vec<String>,
    warnings: Vec<String>,
}

/// What the protocol runs on.
enum Input {
    /// All items at once.
    Whole(Vec<u128>),
    /// The items in buckets.
    Divided(Buckets),
}

/// What a run gave.
pub(super) struct Done {
    pub agreement: TaskAgreement,
    pub table: KeyTable,
    pub own_items: u64,
    pub matched_keys: Option<u64>,
    pub matched_by_alternative: Option<Vec<u64>>,
    pub output: Option<OutputReport>,
    pub receipt: Option<String>,
    pub tally: Tally,
    pub key_notes: Vec<String>,
    pub warnings: Vec<String>,
}

impl Conversation<'_> {
    /// All that the peer hears and says.
    fn hold(&self, ch: &mut Channel, preparation: Preparation, rng: &mut SecretRng) -> Result<Agreed, Failure> {
        if let Some(failure) = preparation.failure() {
            return Err(failure.clone());
        }
        self.watch.enter(Stage::Comparing, Gauge::Nothing);
        let theirs = handshake::agree(ch, &self.hello, &*self.job)?;
        self.watch.enter(Stage::Reading, preparation.gauge());
        let Prepared { source, mut table, placed } = preparation.finish(ch, self.interrupt, self.deadline)?;
        for notice in placed.notices() {
            self.events.notice(&notice);
        }
        let distinct = table.digests.len();
        let padded = padded(self.config, distinct)?;
        let sizes = Sizes {
            items: padded as u64,
            // The table has been read: from here on its keys do not depend on the salt.
            salt_share: self.salt_share,
            key_kinds: table.stats.kinds(),
            measure: self.job.measure(&table),
        };
        sizes.check_length()?;
        let key_kinds = sizes.key_kinds.clone();
        let Config { max_peer_items, memory, .. } = *self.config;
        let negotiation = Negotiation {
            task: &*self.job,
            ours: &self.hello,
            theirs: &theirs,
            sizes,
            max_peer_items,
            memory: Budget::now(memory),
        };
        self.watch.enter(Stage::Settling, Gauge::Nothing);
        let agreement = handshake::settle(ch, &negotiation)?;
        self.debit(ch)?;
        let entry = agreement.entry;
        let (key_notes, mut warnings) = self.tell_before(&agreement, &table.stats, &key_kinds);
        if !self.hello.or_keys.is_empty() {
            self.events.notice(&revealed::notice(self.alternatives(), agreement.terms.disclosure().both_learn));
        }

        let link = Link::agreed(self.config.link, theirs.link);
        let expected = plan::expected(entry, agreement.terms.workload(), &self.config.machine, &link);
        self.watch.enter(Stage::Running(entry.id), Gauge::Traffic(expected));
        let mut items = std::mem::take(&mut table.digests).fold(agreement.salt);
        items.extend(dummies(self.config.role, &fresh(rng)).take(padded - distinct));
        let input = self.divide(items, &agreement, rng)?;
        let began = Instant::now();
        let result = in_role(self.config.role, ch, |ch| match input {
            Input::Whole(items) => agreement.terms.run(entry, items, &mut table, ch, rng),
            Input::Divided(buckets) => agreement.terms.run_in_buckets(entry, buckets, &table, ch, rng),
        })?;
        let complete = result.is_some();
        if complete {
            self.interrupt.complete();
        }
        self.watch.enter(Stage::Closing, Gauge::Nothing);
        if let Some(own) = agreement.own_view {
            let chosen = entry.id;
            warnings.push(format!(
                "the receiver chose {chosen}, where this side would have chosen {own}; are the releases of vesica the \
                 same?"
            ));
        }
        let (receipt, unconfirmed) = self.part(ch, &agreement, None, complete, began.elapsed(), &mut warnings)?;
        Ok(Agreed {
            agreement,
            source,
            table,
            placed,
            own_items: padded as u64,
            distinct,
            result,
            receipt,
            unconfirmed,
            key_notes,
            warnings,
        })
    }

    /// All that only this side sees: the output and the receipt.
    fn keep(&self, agreed: Agreed, tally: Tally) -> Result<Done, Failure> {
        let Agreed {
            agreement,
            source,
            table,
            placed,
            own_items,
            distinct,
            result,
            receipt,
            key_notes,
            mut warnings,
            ..
        } = agreed;
        let finished = Finished { table: &table, distinct, session: &agreement.session, entry: agreement.entry };
        let result = result.map(|result| result(&finished));
        let matched_keys = result.as_ref().and_then(ResultSet::matched_keys);
        let matched_by_alternative = match &result {
            Some(ResultSet::Keep { keys, .. }) if self.config.source.key.has_alternatives() => {
                Some(table.by_alternative(keys))
            }
            _ => None,
        };
        let noise = agreement.terms.disclosure().noise;
        let counted = matched_keys.or_else(|| self.counted(result.as_ref()?).filter(|_| noise.is_none()));
        // First: a result that cannot be written must not take along the proof of the run, which the
        // partner has.
        let receipt = receipt.zip(placed.receipt).and_then(|(receipt, place)| save(&receipt, place, &mut warnings));
        let output = match (placed.sink, result) {
            (Some(sink), Some(result)) => {
                self.watch.enter(Stage::Writing, Gauge::pass(&*source));
                let writing = Writing { config: self.config, source: &*source, table: &table, distinct };
                Some(writing.write(result, sink)?)
            }
            _ => None,
        };
        let partner = agreement.peer_items(self.config.role);
        // Of a union, the other keys of the partner are common.
        let new_rows = output.as_ref().and_then(|output: &OutputReport| output.new_rows);
        if let Some(keys) = counted.or_else(|| Some(partner.saturating_sub(new_rows?))) {
            let by_alternative = matched_by_alternative.clone();
            let matched = Matched { keys, own: distinct as u64, partner, by_alternative };
            let (key, stats) = (&self.config.source.key, &table.stats);
            warnings.extend(advice::causes(&matched, key, stats, &stats.kinds(), &agreement.peer_key_kinds));
        }
        Ok(Done {
            agreement,
            table,
            own_items,
            matched_keys,
            matched_by_alternative,
            output,
            receipt,
            tally,
            key_notes,
            warnings,
        })
    }

    /// What the protocol runs on.
    fn divide(&self, items: Vec<u128>, agreement: &TaskAgreement, rng: &mut SecretRng) -> Result<Input, Failure> {
        let run = agreement.terms.workload().extent();
        if run.runs == 1 {
            return Ok(Input::Whole(items));
        }
        let role = self.config.role;
        let dummies = dummies(role, &fresh(rng));
        let divided = Buckets::new(items, agreement.salt, run.runs, buckets::size(run, role), dummies)?;
        Ok(Input::Divided(divided))
    }

    /// How many alternatives the key has.
    fn alternatives(&self) -> usize {
        1 + self.hello.or_keys.len()
    }

    /// How many keys are common, where the result is that number alone.
    pub fn counted(&self, result: &ResultSet) -> Option<u64> {
        let ResultSet::Numbers { groups: None, output, .. } = result else { return None };
        let is_count = self.config.task.name() == "cardinality";
        match output.groups.as_slice() {
            [Some(numbers)] if is_count => numbers.first().copied(),
            _ => None,
        }
    }

    /// Takes the noise's epsilon from the partner's budget, before the first message of the
    /// protocol: what was spent stays spent, however the run ends. A run that cannot start any
    /// more spends nothing.
    pub fn debit(&self, ch: &Channel) -> Result<(), Failure> {
        let (Some(noise), Protection::Tls { peer, .. }) = (&self.config.settings.noise, &self.config.protection) else {
            return Ok(());
        };
        let mut waits = false;
        noise::debit(&noise.budget, &peer.fingerprint().to_string(), noise.epsilon, |moment| {
            if moment == noise::Moment::Locked && !std::mem::replace(&mut waits, true) {
                self.events.notice("waiting for another run, which holds the budget file");
            }
            if let Some(reason) = self.interrupt.reason() {
                return Err(reason);
            }
            if let Some(deadline) = self.deadline {
                let what = if waits { "another run held the budget file" } else { "the run was about to start" };
                deadline.check(&format!("{what}; nothing was spent"))?;
            }
            Ok(ch.check()?)
        })
    }

    /// Says what is to be said before anything has been compared. Gives the notes on the keys, and the warnings.
    pub fn tell_before(
        &self,
        agreement: &TaskAgreement,
        stats: &KeyStats,
        key_kinds: &[Kind],
    ) -> (Vec<String>, Vec<String>) {
        let key_notes = advice::notes(&self.config.source.key, stats);
        for note in &key_notes {
            self.events.notice(note);
        }
        let warnings = agreement.entry.warning().into_iter().chain(agreement.terms.warnings());
        let warnings = warnings.chain(advice::empty(stats));
        let warnings: Vec<String> =
            warnings.chain(self.key_warnings(stats, key_kinds, &agreement.peer_key_kinds)).collect();
        for warning in &warnings {
            self.events.warning(warning);
        }
        (key_notes, warnings)
    }

    /// Closes the channel of a run that is complete, and that the partner did not confirm if there is a reason for it.
    pub fn end(&self, ch: Channel, unconfirmed: Option<&Abort>, warnings: &mut Vec<String>) -> Tally {
        self.interrupt.complete();
        let tally = ch.tally();
        let tally = match unconfirmed {
            Some(abort) => {
                ch.abort(abort);
                tally
            }
            None => ch.finish().unwrap_or_else(|abort| {
                warnings.push(format!("the connection did not close cleanly: {abort}"));
                tally
            }),
        };
        self.let_go();
        tally
    }

    /// Nothing may keep the socket open once the conversation is over.
    pub fn let_go(&self) {
        self.interrupt.detach();
        self.watch.close();
    }

    /// What is to be said of the keys before anything has been compared: of the own ones, and where
    /// the partner writes them in another way.
    fn key_warnings(&self, stats: &KeyStats, ours: &[Kind], theirs: &[Kind]) -> Vec<String> {
        let key = &self.config.source.key;
        advice::once(stats.warnings(key).into_iter().chain(handshake::kind_warnings(key, ours, theirs)))
    }

    /// Ends the conversation. A side with a result keeps it from here on. `attempts` are those of a cluster at buckets.
    pub fn part(
        &self,
        ch: &mut Channel,
        agreement: &TaskAgreement,
        attempts: Option<u64>,
        complete: bool,
        protocol: Duration,
        warnings: &mut Vec<String>,
    ) -> Result<(Option<Receipt>, Option<Abort>), Failure> {
        let signing = match (&self.config.protection, ch.transcript()) {
            (Protection::Tls { identity, peer }, Some(transcript)) => {
                let statement =
                    Statement { attempts, ..self.statement(agreement, transcript, identity.public(), *peer) };
                Some(Signing { transcript, statement, identity, peer: *peer })
            }
            _ => None,
        };
        let patience = self.limits.parting.saturating_add(protocol);
        let Parted { receipt, forged, unconfirmed } =
            Parting { role: self.config.role, signing, complete, patience }.take(ch)?;
        let alone = if self.config.receipt.is_some() { "; the receipt has this side's signature alone" } else { "" };
        if forged {
            warnings.push(format!("the partner's signature under the receipt is wrong, and was left out{alone}"));
        }
        if let Some(abort) = &unconfirmed {
            let why = self.interrupt.reason().map_or_else(|| abort.to_string(), |reason| reason.fault);
            warnings.push(format!(
                "the partner did not confirm the end of the run ({why}); the result was complete before that{alone}"
            ));
        }
        Ok((receipt, unconfirmed))
    }

    fn statement(
        &self,
        agreement: &TaskAgreement,
        transcript: [u8; 32],
        ours: PublicKey,
        theirs: PublicKey,
    ) -> Statement {
        let (sender, receiver) = match self.config.role {
            Role::Sender => (ours, theirs),
            Role::Receiver => (theirs, ours),
        };
        let disclosure = agreement.terms.disclosure();
        Statement {
            wire_version: WIRE_VERSION,
            session: to_hex(&agreement.session),
            transcript: to_hex(&transcript),
            started_at: agreement.clock,
            task: self.hello.task.clone(),
            protocol: agreement.entry.id.into(),
            broken: agreement.entry.broken().map(Into::into),
            choice: agreement.why.clone(),
            security: self.hello.security,
            sender_items: agreement.extent.sender_items as u64,
            receiver_items: agreement.extent.receiver_items as u64,
            buckets: self.config.buckets,
            attempts: None,
            both_learn: disclosure.both_learn,
            key_digest: self.hello.key_digest.clone(),
            key_columns: self.hello.key_columns.clone(),
            or_keys: self.hello.or_keys.clone(),
            payload_columns: disclosure.payload_columns,
            payload_bytes: disclosure.payload_bytes as u64,
            sender_values: disclosure.sender_values,
            receiver_values: disclosure.receiver_values,
            groups: disclosure.groups.unwrap_or(1) as u64,
            reveal_if_at_least: disclosure.at_least,
            noise_epsilon: disclosure.noise,
            revealed: revealed(&*agreement.terms, agreement.entry, &agreement.extent, self.alternatives()),
            sender_key: sender.to_string(),
            receiver_key: receiver.to_string(),
        }
    }
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

/// Runs `body` in the task's role, which may not be the connection's.
pub(crate) fn in_role<T>(
    role: Role,
    ch: &mut Channel,
    body: impl FnOnce(&mut Channel) -> Result<T, Abort>,
) -> Result<T, Abort> {
    if ch.role() == role { body(ch) } else { ch.reversed(body) }
}

/// Writes the receipt. A lost receipt does not undo the result, which is there already.
pub(super) fn save(receipt: &Receipt, place: Place, warnings: &mut Vec<String>) -> Option<String> {
    let path = place.path().to_owned();
    match place.write(&receipt.to_json()) {
        Ok(()) => Some(path),
        Err(error) => {
            warnings.push(format!("the receipt is lost: {error}"));
            None
        }
    }
}

/// A fresh secret.
pub(crate) fn fresh(rng: &mut SecretRng) -> Zeroizing<[u8; 32]> {
    let mut key = Zeroizing::new([0; 32]);
    fill(rng, &mut *key);
    key
}

/// Items that are nobody's key: from a domain of the side's own, under a secret `key` of the run, so that
/// neither the own keys, nor the peer's, nor the peer's dummies are among them but with probability
/// 2^-128 each.
pub(crate) fn dummies(role: Role, key: &[u8; 32]) -> impl Iterator<Item = u128> + use<> {
    let domain = match role {
        Role::Sender => "vesica 2026-11-20 dummy items of the sender v1",
        Role::Receiver => "vesica 2026-11-20 dummy items of the receiver v1",
    };
    let mut stream = blake3::Hasher::new_derive_key(domain).update(key).finalize_xof();
    let mut item = [0; 16];
    std::iter::repeat_with(move || {
        stream.fill(&mut item);
        u128::from_le_bytes(item)
    })
}

impl Done {
    pub fn report(self, config: &Config, started: Instant) -> Report {
        let total = self.tally.total();
        let (extent, disclosure) = (self.agreement.extent, self.agreement.terms.disclosure());
        Report {
            report_version: 2,
            ok: true,
            vesica: env!("CARGO_PKG_VERSION"),
            role: config.role,
            task: config.task.name(),
            protocol: self.agreement.entry.id,
            broken: self.agreement.entry.broken(),
            choice: self.agreement.why.clone(),
            security: extent.security,
            session: to_hex(&self.agreement.session),
            peer: match &config.protection {
                Protection::Tls { peer, .. } => Some(peer.fingerprint().to_string()),
                Protection::InsecurePlaintext => None,
            },
            own_items: self.own_items,
            peer_items: self.agreement.peer_items(config.role),
            buckets: config.buckets,
            input: self.table.stats,
            peer_key_kinds: self.agreement.peer_key_kinds.clone(),
            matched_keys: self.matched_keys,
            matched_by_alternative: self.matched_by_alternative,
            output: self.output,
            payload_columns: disclosure.payload_columns,
            payload_bytes: disclosure.payload_bytes as u64,
            values: ValueReport::all(
                &disclosure.sender_values,
                &disclosure.receiver_values,
                config.role,
                self.table.values.as_ref().map_or(&[], |values| &values.clamped),
            ),
            groups: disclosure.groups.map(|groups| groups as u64),
            reveal_if_at_least: disclosure.at_least,
            noise_epsilon: disclosure.noise,
            revealed: revealed(
                &*self.agreement.terms,
                self.agreement.entry,
                &extent,
                config.source.key.alternatives().len(),
            ),
            receipt: self.receipt,
            threads: threads::count(),
            bytes_sent: total.sent(),
            bytes_received: total.received(),
            seconds: started.elapsed().as_secs_f64(),
            phases: PhaseReport::all(&self.tally),
            key_notes: self.key_notes,
            warnings: self.warnings,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dummies_of_the_two_sides_differ_under_one_seed_and_are_fresh() {
        let of = |role, seed| {
            dummies(role, &fresh(&mut SecretRng::insecure_from_seed(seed))).take(1000).collect::<Vec<u128>>()
        };
        let mut all = [of(Role::Sender, 1), of(Role::Receiver, 1), of(Role::Sender, 2)].concat();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 3000);
    }
}
