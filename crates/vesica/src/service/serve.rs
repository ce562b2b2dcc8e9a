//! The server's side: from a table to a prepared set, and to answers.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use vesica_party::service::{
    self, ClientIdentity, Offer, Published, Query, ServeEvents, ServeLimits, Server as _, Standing, StateId, Stop,
};
use vesica_party::transport::acceptor::{Acceptor, PlaintextAcceptor, TlsAcceptor};
use vesica_party::transport::tcp;
use vesica_party::transport::tls::{AcceptedKeys, Identity};
use vesica_party::{Abort, Security};
use vesica_protocols::tasks::{IntersectRequest, IntersectSenderInput};
use vesica_structures::rng::SecretRng;

use super::answers::Answers;
use super::choose::{self, AUTO, Choice};
use super::metrics::{Counters, OpenPage, add};
use super::periods::Moment;
use super::prepared::{self, Lock, Prepared, Unusable};
use super::quota::{Meter, OVER_QUOTA};
use super::roster::{Changes, Roster};
use super::slow_hash::{self, Hashed};
use super::volume::{Enrolments, Volume};
use super::{
    Agreed, Description, Quota, SlowHash, TableService, WithService, capacity_for, leak_of_prefix, offered, randomness,
    refuse_alternatives, trust_in_clients, trusts_clients, with_service,
};
use crate::failure::{Failure, code};
use crate::key::DIGEST_VERSION;
use crate::session::OwnTable;
use crate::table::{KeyTable, MAX_PAYLOAD_WIDTH, PayloadSchema, PayloadSpec};
use crate::task::Columns;
use crate::words::counted;

/// Longest time for a TLS handshake.
const TLS_LIMIT: Duration = Duration::from_secs(10);

/// Least rate of a client's link, in bytes a second.
const LEAST_RATE: u64 = 128 << 10;

/// Who may ask.
#[derive(Clone, Debug)]
pub enum Clients {
    /// Clients with these keys, over TLS 1.3, of a server with this identity.
    Keys(Identity, AcceptedKeys),
    /// Anybody, and nothing is encrypted.
    InsecurePlaintext,
}

/// Everything that a server is told by its user.
#[derive(Clone, Debug)]
pub struct ServeConfig {
    /// The table that is asked about.
    pub source: OwnTable,
    /// The columns that a client gets for its matches.
    pub payload: Option<PayloadSpec>,
    /// Most bytes of memory for reading payloads; `None` for what is free.
    pub memory: Option<u64>,
    /// The protocol's id, or [`AUTO`].
    pub protocol: String,
    /// With [`AUTO`]: how many queries a client is likely to send.
    pub expect_queries: u64,
    /// What the protocol withstands.
    pub security: Security,
    /// Keys that the set has room for; `None` for some more than the table has.
    pub capacity: Option<u64>,
    /// Items of each query.
    pub items_per_query: u64,
    /// With a protocol that shows the server the first bits of a hash of each key: how many.
    pub leak_prefix: Option<u32>,
    /// A hash of each key that takes memory and time, on both sides.
    pub slow_hash: Option<SlowHash>,
    /// The key is one column of integers of at most so many bits, which are compared as such.
    pub integer_bits: Option<u32>,
    /// Whether a protocol may be offered that holds only against clients that follow it.
    pub trust_clients: bool,
    /// Where the prepared set is kept.
    pub state: Option<PathBuf>,
    /// Whether a state that was prepared with other settings, or is damaged, may be replaced.
    pub replace_state: bool,
    /// Most percent of its keys that a table may lose from one time to the next that it is read.
    pub max_shrink: u8,
    /// The age of a secret key at which a new one is made; `None` for no age.
    pub rotate_after: Option<Duration>,
    /// How long clients that are connected may ask the set under the key before.
    pub overlap: Duration,
    /// The address at which clients connect.
    pub listen: String,
    /// Who may ask.
    pub clients: Clients,
    /// How much each client may ask.
    pub quota: Option<Quota>,
    /// How often each client may fetch the set, or what has changed of it.
    pub enrolments: Quota,
    /// Items of one client in a period above which the log says so.
    pub alert_volume: Option<Quota>,
    /// The address of the metrics page.
    pub metrics: Option<String>,
    /// Clients at once.
    pub max_clients: usize,
    /// Connections at once of one client.
    pub connections_per_client: usize,
    /// The longest time between two requests of a client.
    pub idle: Duration,
}

/// What a server tells while it works. Texts never hold a key of the table.
pub trait ServeLog: Sync {
    /// A part of the start begins.
    fn stage(&self, _name: &str) {}
    /// Something that the user should act on.
    fn warning(&self, _text: &str) {}
    /// A client joined.
    fn joined(&self, _client: &ClientIdentity) {}
    /// A client has asked about so many items in this period, more than the threshold, or than a
    /// multiple of it.
    fn volume(&self, _client: &ClientIdentity, _items: u64, _threshold: Quota) {}
    /// A query was answered.
    fn answered(&self, _query: &Query, _took: Duration) {}
    /// A connection ended.
    fn ended(&self, _client: Option<&ClientIdentity>, _from: &str, _outcome: &Result<(), Abort>) {}
}

/// What a server has come to when it starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Started {
    /// The address at which it listens.
    pub address: String,
    /// The address of the metrics page.
    pub metrics: Option<String>,
    /// Distinct keys of the table.
    pub keys: u64,
    /// Items of the set, dummies included.
    pub capacity: u64,
    /// Where the set comes from.
    pub origin: Origin,
    /// The protocol's id.
    pub protocol: String,
    /// How many bits of a hash of each key the server sees, if any.
    pub leak_prefix: Option<u32>,
}

/// Where the set of a server that starts comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It was prepared now, under a new secret key.
    Prepared,
    /// From the state file: it is the table's.
    Kept,
    /// From the state file, updated to the table.
    Updated(Changes),
}

/// What reading the table again came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reloaded {
    /// Distinct keys of the set that was served before.
    pub before: u64,
    /// Distinct keys of the table now.
    pub now: u64,
    /// What became of the set.
    pub outcome: Outcome,
}

/// What became of the set when the table was read again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The table has not changed.
    Unchanged,
    /// The set has a new version, under its secret key. Clients fetch what has changed.
    Updated(Changes),
    /// The protocol has no updates: the set was prepared anew, and each client enrols again.
    PreparedAnew,
}

/// A server that is ready to answer.
pub trait Serve: Send + Sync {
    /// Answers clients until `stop`.
    fn run(&self, stop: &Stop, log: &dyn ServeLog);

    /// Reads the table again and, if it has changed, replaces the set. Clients that are connected
    /// notice with their next answer.
    ///
    /// # Errors
    /// If the table cannot be read, or does not fit what clients were told of it. The set that was
    /// served stays.
    fn reload(&self, log: &dyn ServeLog) -> Result<Reloaded, Failure>;

    /// Reads the table again, and prepares a set with a new secret key. Clients that are connected may
    /// go on asking the set before for the time of the overlap; then its key is wiped.
    ///
    /// # Errors
    /// As [`reload`](Self::reload).
    fn rotate(&self, log: &dyn ServeLog) -> Result<Reloaded, Failure>;

    /// Whether the secret key is older than the configuration allows.
    fn is_rotation_due(&self) -> bool;
}

/// Reads the table, prepares the set unless the state file holds it, and binds the addresses.
///
/// # Errors
/// With the exit code of the command line.
pub fn start(config: ServeConfig, log: &dyn ServeLog) -> Result<(Arc<dyn Serve>, Started), Failure> {
    struct Start<'a>(ServeConfig, Opened, &'a dyn ServeLog);

    impl WithService for Start<'_> {
        type Output = Result<(Arc<dyn Serve>, Started), Failure>;

        fn with<S: TableService>(self) -> Self::Output {
            let (serving, started) = Serving::<S>::start(self.0, self.1, self.2)?;
            Ok((Arc::new(serving), started))
        }
    }

    // A name that is wrong is said before a long table is read.
    let id = if config.protocol == AUTO { AUTO } else { offered(&config.protocol, config.trust_clients)? };
    if id == AUTO {
        refuse_for_auto(&config)?;
    } else {
        with_service(id, Settled(&config))??;
    }
    let state = config.state.as_deref().map(|state| own_state(state, config.quota.is_some())).transpose()?;
    let config = ServeConfig { protocol: id.into(), state, ..config };
    let opened = Opened::new(&config, log)?;
    let config = if id == AUTO { chosen(config, &opened.table, log)? } else { config };
    with_service(&config.protocol.clone(), Start(config, opened, log))?
}

/// The state file, whatever links lead to it.
///
/// # Errors
/// If what is counted for it was left beside a link, where it was until 2026-11-29: nobody would have
/// used anything.
fn own_state(given: &Path, has_quota: bool) -> Result<PathBuf, Failure> {
    let state = prepared::resolved(given)?;
    let quota = has_quota.then_some(prepared::quota_file as fn(&Path) -> PathBuf);
    for file_of in [quota, Some(prepared::answers_file)].into_iter().flatten() {
        let [link, file] = [given, &state].map(file_of);
        if link.exists() && !file.exists() {
            return Err(Failure::new(
                code::INPUT,
                format_args!(
                    "{} stands beside a link, and not beside the state file {}",
                    link.display(),
                    state.display()
                ),
                format_args!("move it to {}; earlier releases looked for it beside the link", file.display()),
            ));
        }
    }
    Ok(state)
}

/// Goes on counting quotas in the file beside the state.
fn open_meter(quota: Quota, state: Option<&Path>, log: &dyn ServeLog) -> Result<Meter, Failure> {
    let file = state.map(|state| prepared::resolved(&prepared::quota_file(state))).transpose()?;
    if let (Some(state), Some(file)) = (state, &file)
        && state.exists()
        && !file.exists()
    {
        log.warning(&format!(
            "there is the state file {}, and no {}, in which quotas are counted: each client has its whole quota in this \
             {}. If quotas were counted before, restore that file",
            state.display(),
            file.display(),
            quota.period.name()
        ));
    }
    let meter = Meter::open(quota, file)?;
    meter.warnings().iter().for_each(|warning| log.warning(warning));
    Ok(meter)
}

/// Refuses what only a protocol has that `auto` never takes.
fn refuse_for_auto(config: &ServeConfig) -> Result<(), Failure> {
    let what = [
        (config.leak_prefix.is_some(), "leaks a prefix", "--leak-prefix"),
        (config.trust_clients, "trusts its clients", "--trust-clients"),
        (config.integer_bits.is_some(), "compares integers", "--integer-bits"),
    ];
    match what.into_iter().find(|(is_said, ..)| *is_said) {
        None => Ok(()),
        Some((_, does, flag)) => Err(Failure::new(
            code::USAGE,
            format_args!("--protocol auto never takes a protocol that {does}"),
            format_args!("name the protocol with --protocol, or omit {flag}"),
        )),
    }
}

/// Refuses, before a table is read, what no table makes right.
struct Settled<'a>(&'a ServeConfig);

impl WithService for Settled<'_> {
    type Output = Result<(), Failure>;

    fn with<S: TableService>(self) -> Self::Output {
        let ServeConfig { security, leak_prefix, integer_bits, .. } = *self.0;
        let least = IntersectRequest {
            sender_items: 1,
            receiver_items: 1,
            security,
            payload_bytes: 0,
            both_learn: false,
            runs: 1,
        };
        Ok(S::params(&least, Agreed { leak_prefix, integer_bits }).map(drop)?)
    }
}

/// The configuration with the protocol that is chosen for it: that of the state file, or that with
/// which clients exchange the fewest bytes.
fn chosen(config: ServeConfig, table: &KeyTable, log: &dyn ServeLog) -> Result<ServeConfig, Failure> {
    let kept = match config.state.as_deref().filter(|_| !config.replace_state) {
        Some(state) => choose::protocol_of(state)?,
        None => None,
    };
    let Choice { protocol, reason } = match kept {
        Some(protocol) => Choice { protocol, reason: "the set in the state file is prepared for it".into() },
        None => {
            let wanted = describe(&config, table, None, &mut randomness()?)?;
            choose::choose(&wanted, config.expect_queries)?
        }
    };
    log.stage(&format!("--protocol auto takes {protocol}: {reason}"));
    Ok(ServeConfig { protocol, ..config })
}

/// What a server has before its protocol is known.
struct Opened {
    lock: Option<Lock>,
    meter: Option<Meter>,
    acceptor: (String, Box<dyn Acceptor>),
    counters: Arc<Counters>,
    page: Option<OpenPage>,
    table: KeyTable,
}

impl Opened {
    /// Binds the addresses and reads the table.
    fn new(config: &ServeConfig, log: &dyn ServeLog) -> Result<Self, Failure> {
        check(config)?;
        let lock = config.state.as_deref().map(lock).transpose()?;
        let meter = config.quota.map(|quota| open_meter(quota, config.state.as_deref(), log)).transpose()?;
        // Bound first: a port that is taken is noticed before a long preparation.
        let acceptor = bind(config)?;
        let counters = Arc::new(Counters::default());
        let page = config.metrics.as_deref().map(|address| open_page(address, &counters, log)).transpose()?;
        log.stage("reading the table");
        let table = read(config, log)?;
        Ok(Self { lock, meter, acceptor, counters, page, table })
    }
}

/// A server of the protocol `S`.
struct Serving<S: TableService> {
    config: ServeConfig,
    acceptor: Box<dyn Acceptor>,
    /// For as long as the server runs.
    _page: Option<OpenPage>,
    description: Description,
    description_bytes: Vec<u8>,
    params: S::Params,
    state: Published<S::Server>,
    served: Mutex<Served>,
    meter: Option<Meter>,
    answers: Option<Answers>,
    volume: Option<Volume>,
    enrolments: Option<Enrolments>,
    counters: Arc<Counters>,
    /// For as long as the server runs.
    _lock: Option<Lock>,
}

/// The set that is served.
struct Served {
    hash: [u8; 32],
    keys: u64,
    /// What it was prepared from, if it can be updated.
    roster: Option<Roster>,
    /// When its secret key was made, in seconds since 1970.
    made: u64,
    /// Since when this process has the key, by a clock that nobody sets.
    held_since: Duration,
    /// What the slow hash has given so far.
    hashed: Hashed,
}

impl Served {
    fn of<S: TableService>(prepared: &mut Prepared<S>, keys: u64, held_since: Duration, hashed: Hashed) -> Self {
        Self { hash: prepared.set_hash, keys, roster: prepared.roster.take(), made: prepared.made, held_since, hashed }
    }

    /// Age of the secret key, as far as is known: the clock by which it was made may have been wrong.
    fn age(&self, now: Moment) -> Duration {
        let held = now.running.saturating_sub(self.held_since);
        Duration::from_secs(now.utc.saturating_sub(self.made)).max(held)
    }
}

/// A table that was read, as a set.
pub(super) struct Set {
    pub input: IntersectSenderInput,
    pub roster: Roster,
    /// Of items and payloads, before the slow hash of each: it tells in no time whether a table is
    /// the one before.
    pub hash: [u8; 32],
}

impl<S: TableService> Serving<S> {
    fn start(config: ServeConfig, opened: Opened, log: &dyn ServeLog) -> Result<(Self, Started), Failure> {
        let Opened { lock, meter, acceptor: (address, acceptor), counters, page, mut table } = opened;
        let keys = table.digests.len() as u64;
        let before = match &config.state {
            Some(path) => load_state::<S>(path, config.replace_state, log)?,
            None => None,
        };
        let mut rng = randomness()?;
        let told = before.as_ref().map(|before| &before.description);
        let description = describe(&config, &table, told, &mut rng)?;
        if let Some(before) = before.as_ref().filter(|_| !config.replace_state) {
            if config.capacity.is_none() && keys > before.description.capacity {
                return Err(outgrown(keys, before.description.capacity));
            }
            refuse_other_settings(&before.description, &description)?;
        }
        description.check()?;
        let params = description.params::<S>()?;
        let description_bytes = description.to_bytes()?;
        if let Some(bits) = description.leak_prefix {
            log.warning(&leak_of_prefix(bits));
        }
        if trusts_clients(&S::ENTRY) {
            log.warning(&trust_in_clients(S::ENTRY.id));
        }
        let answers_file = config.state.as_deref().map(|state| prepared::resolved(&prepared::answers_file(state)));
        let answers_file = answers_file.transpose()?;
        let answers = S::ITEMS_OF_A_SET.map(|most| Answers::open(most, answers_file)).transpose()?;
        let set = Set::of(&description, &mut table)?;
        let before = before.filter(|before| before.description.differences(&description).is_empty());
        if let Some(roster) = before.as_ref().and_then(|before| before.roster.as_ref()) {
            refuse_shrunk(roster.keys(), keys, config.max_shrink)?;
        }
        let before = match before {
            Some(before) if before.set_hash == set.hash => {
                resume(&before, answers.as_ref(), config.replace_state)?.then_some(before)
            }
            before => before,
        };
        let mut hashed = Hashed::default();
        let (mut prepared, origin) = match before {
            Some(before) if before.set_hash == set.hash => (before, Origin::Kept),
            before => {
                let set = set.with_slow_hashes(&description, &mut hashed, config.memory, log)?;
                let roster =
                    before.as_ref().and_then(|before| Some((&before.server, before.roster.as_ref()?, before.made)));
                log.stage(if roster.is_some() { "updating the set" } else { "preparing the set" });
                let (prepared, changes) = follow::<S>(&description, roster, set, &mut rng)?;
                keep(&prepared, config.state.as_deref(), answers.as_ref())?;
                (prepared, changes.map_or(Origin::Prepared, Origin::Updated))
            }
        };
        // No earlier: where a start fails, the next one has to warn again that this file is missing.
        if let Some(meter) = &meter {
            meter.keep()?;
        }
        let metrics = page.as_ref().map(|page| page.address().to_string());
        let protocol = description.protocol.clone();
        let Description { capacity, leak_prefix, .. } = description;
        let started = Started { address, metrics, keys, capacity, origin, protocol, leak_prefix };
        let served = Served::of(&mut prepared, keys, Moment::now().running, hashed);
        let serve = Self {
            acceptor,
            _page: page,
            description,
            description_bytes,
            params,
            state: Published::new(prepared.server),
            served: Mutex::new(served),
            meter,
            answers,
            volume: config.alert_volume.map(Volume::new),
            // Of clients that may have any key, each can be many.
            enrolments: (!asked_by_anybody(&config.clients)).then(|| Enrolments::new(config.enrolments)),
            counters,
            _lock: lock,
            config,
        };
        serve.counters.set_prepared(capacity);
        Ok((serve, started))
    }
}

impl<S: TableService> Serve for Serving<S> {
    fn run(&self, stop: &Stop, log: &dyn ServeLog) {
        let defaults = ServeLimits::default();
        let limits = ServeLimits {
            clients: self.config.max_clients,
            connections_per_client: self.config.connections_per_client,
            idle: self.config.idle,
            joining: defaults.joining.max(time_for(*S::enrolment_bytes(&self.params).end())),
            query: defaults.query.max(time_for(*S::query_bytes(&self.params).end())),
            ..defaults
        };
        let offer = Offer::<S> { state: &self.state, params: &self.params, description: &self.description_bytes };
        let watch = Watch { serve: self, log };
        service::serve(&*self.acceptor, &offer, &limits, &watch, stop);
        let settled = [self.meter.as_ref().map(Meter::settle), self.answers.as_ref().map(Answers::settle)];
        for failure in settled.into_iter().flatten().filter_map(Result::err) {
            log.warning(&failure.to_string());
        }
    }

    fn reload(&self, log: &dyn ServeLog) -> Result<Reloaded, Failure> {
        self.counted(self.read_again(false, log))
    }

    fn rotate(&self, log: &dyn ServeLog) -> Result<Reloaded, Failure> {
        self.counted(self.read_again(true, log))
    }

    fn is_rotation_due(&self) -> bool {
        let Some(most) = self.config.rotate_after else { return false };
        let served = self.served.lock().unwrap_or_else(PoisonError::into_inner);
        served.age(Moment::now()) >= most.max(Duration::from_secs(1))
    }
}

impl<S: TableService> Serving<S> {
    fn counted(&self, outcome: Result<Reloaded, Failure>) -> Result<Reloaded, Failure> {
        add(if outcome.is_ok() { &self.counters.reloaded } else { &self.counters.reload_failed }, 1);
        outcome
    }

    /// Reads the table and replaces the set if it has changed, or in any case to get a new key.
    fn read_again(&self, gets_new_key: bool, log: &dyn ServeLog) -> Result<Reloaded, Failure> {
        log.stage("reading the table again");
        let mut table = read(&self.config, log)?;
        let keys = table.digests.len() as u64;
        let refuse = |fault: &str, mend: &str| Err(Failure::new(code::REFUSED, fault, mend));
        if keys > self.description.capacity {
            return Err(outgrown(keys, self.description.capacity));
        }
        let fits = match (&table.payload, &self.description.payload) {
            (None, None) => true,
            (Some(now), Some(told)) => now.schema.fields == told.fields && now.schema.width <= told.width,
            _ => false,
        };
        if !fits {
            return refuse(
                "the columns of --payload have other types, or longer values than there is room for",
                "start the server again with --replace-state",
            );
        }
        if table.stats.kinds() != self.description.key_kinds {
            return refuse(
                "the values of a key column are written in another way than before (text, numbers, dates), so that \
                 clients' keys would no longer match",
                "write the column as before, or start the server again with --replace-state",
            );
        }
        let set = Set::of(&self.description, &mut table)?;
        let mut served = self.served.lock().unwrap_or_else(PoisonError::into_inner);
        let before = served.keys;
        refuse_shrunk(before, keys, self.config.max_shrink)?;
        if served.hash == set.hash && !gets_new_key {
            return Ok(Reloaded { before, now: keys, outcome: Outcome::Unchanged });
        }
        let server = self.state.current();
        let set = set.with_slow_hashes(&self.description, &mut served.hashed, self.config.memory, log)?;
        let roster = served.roster.as_ref().filter(|_| !gets_new_key);
        let roster = roster.map(|roster| (&*server, roster, served.made));
        let (mut prepared, changes) = follow::<S>(&self.description, roster, set, &mut randomness()?)?;
        // The file is ahead of what clients see: a server that is killed goes on from the version that they
        // have, or from a later one.
        let is_exhausted = self.answers.as_ref().is_some_and(Answers::is_exhausted);
        keep(&prepared, self.config.state.as_deref(), self.answers.as_ref())?;
        let hashed = std::mem::take(&mut served.hashed);
        let held_since = if changes.is_some() { served.held_since } else { Moment::now().running };
        *served = Served::of(&mut prepared, keys, held_since, hashed);
        // A set that may answer nothing more is of no use to the clients that have joined it.
        if gets_new_key && !is_exhausted {
            self.state.retire(prepared.server, Instant::now() + self.config.overlap);
        } else {
            self.state.replace(prepared.server);
        }
        add(&self.counters.replaced, 1);
        let outcome = changes.map_or(Outcome::PreparedAnew, Outcome::Updated);
        Ok(Reloaded { before, now: keys, outcome })
    }
}

/// Whether a set from a state file may be served: how many items it has answered is known, or bounded by
/// nothing. If it is not known, the set may be given up for another one.
fn resume<S: TableService>(
    before: &Prepared<S>,
    answers: Option<&Answers>,
    may_replace: bool,
) -> Result<bool, Failure> {
    let Some(answers) = answers else { return Ok(true) };
    match answers.resume(before.server.state_id()) {
        Ok(answered) => S::raise_answered(&before.server, answered),
        Err(_) if may_replace => return Ok(false),
        Err(failure) => return Err(failure),
    }
    Ok(true)
}

/// Writes a set that is about to be served to the state file, and to that of what it answers.
fn keep<S: TableService>(
    prepared: &Prepared<S>,
    state: Option<&Path>,
    answers: Option<&Answers>,
) -> Result<(), Failure> {
    let set = prepared.server.state_id();
    if let Some(answers) = answers {
        answers.announce(set)?;
    }
    if let Some(path) = state {
        prepared::save(prepared, path)?;
    }
    // Clients join it only after this. What the set before answers from now on counts in its own memory
    // alone: no file has its key any more.
    if let Some(answers) = answers {
        answers.begin(set);
    }
    Ok(())
}

/// The prepared set of a table: an update of the one before if there is one, with what has changed.
fn follow<S: TableService>(
    description: &Description,
    before: Option<(&S::Server, &Roster, u64)>,
    set: Set,
    rng: &mut SecretRng,
) -> Result<(Prepared<S>, Option<Changes>), Failure> {
    let Some((server, roster, made)) = before else { return Ok((Prepared::new(description.clone(), set, rng)?, None)) };
    let changes = roster.changes_to(&set.roster);
    // An item of an update that goes and one that comes take the work of two. Beyond half of the set, all
    // of it takes less, and no more memory than preparing it took.
    let (server, roster) = if changes.items().saturating_mul(2) > roster.len() as u64 {
        let Set { mut input, roster: now, .. } = set;
        let roster = roster.renew_to(now, &mut input, rng);
        let width = description.payload.as_ref().map_or(0, |schema| schema.width);
        input.payloads.resize(roster.len().saturating_mul(width), 0);
        (server.renew(input, rng)?, roster)
    } else {
        let update = roster.update_to(set.roster, &set.input, rng);
        (server.update(update.removed, update.added, rng)?, update.roster)
    };
    let Some(server) = server else {
        let mend = "start the server again with another file for --state; then each client enrols again";
        return Err(Failure::new(code::INTERNAL, "the set cannot be updated any more", mend));
    };
    let prepared =
        Prepared { description: description.clone(), set_hash: set.hash, roster: Some(roster), server, made };
    Ok((prepared, Some(changes)))
}

/// The time that so many bytes take over the slowest link that is served.
fn time_for(bytes: u64) -> Duration {
    Duration::from_secs(bytes / LEAST_RATE)
}

fn asked_by_anybody(clients: &Clients) -> bool {
    match clients {
        Clients::Keys(_, accepted) => accepted.are_any(),
        Clients::InsecurePlaintext => true,
    }
}

/// Refuses settings that contradict each other.
fn check(config: &ServeConfig) -> Result<(), Failure> {
    refuse_alternatives(&config.source.key)?;
    if config.trust_clients && asked_by_anybody(&config.clients) {
        return Err(Failure::new(
            code::USAGE,
            "--trust-clients where anybody can ask: one client that does not follow the protocol reads the whole set",
            "name the clients that you trust in a file with --clients",
        ));
    }
    check_integers(config)?;
    let Some(quota) = config.quota else { return Ok(()) };
    if quota.items < config.items_per_query {
        return Err(Failure::new(
            code::USAGE,
            format_args!(
                "--quota {quota} does not allow one query of {}",
                counted(config.items_per_query, "item", "items")
            ),
            "allow more, or make queries smaller with --items-per-query",
        ));
    }
    if config.state.is_none() {
        return Err(Failure::new(
            code::USAGE,
            "--quota without --state: whoever makes the server start again would have its quota back",
            "name a file with --state, in whose place the server also keeps what was used",
        ));
    }
    Ok(())
}

/// Refuses integers that are no key of one column, or are to be hashed.
fn check_integers(config: &ServeConfig) -> Result<(), Failure> {
    let columns = config.source.key.columns().len();
    let (fault, mend) = match config.integer_bits {
        Some(_) if columns != 1 => (
            format!("--integer-bits with a key of {columns} columns"),
            "name one column of integers with --key, or omit --integer-bits",
        ),
        Some(_) if config.payload.is_some() => (
            "--payload with --integer-bits: the protocol gives membership alone".into(),
            "omit --payload, or serve digests of keys with another protocol",
        ),
        Some(_) if config.slow_hash.is_some() => (
            "--slow-hash with --integer-bits: integers are compared as they are, and a hash of one is none".into(),
            "omit one of the two",
        ),
        _ => return Ok(()),
    };
    Err(Failure::new(code::USAGE, fault, mend))
}

fn lock(state: &Path) -> Result<Lock, Failure> {
    Lock::take(state)?.ok_or_else(|| {
        Failure::new(
            code::REFUSED,
            format_args!("another server uses the state file {}", state.display()),
            "stop the other one, or give this one a file of its own with --state",
        )
    })
}

/// The set in the state file, if there is one.
///
/// # Errors
/// If the file cannot be used, and may not be replaced.
fn load_state<S: TableService>(
    path: &Path,
    may_replace: bool,
    log: &dyn ServeLog,
) -> Result<Option<Prepared<S>>, Failure> {
    match prepared::load(path) {
        Err(Unusable { failure, was_served: true }) if may_replace => {
            log.warning(&format!("{}; as --replace-state says, the set is prepared anew", failure.fault));
            Ok(None)
        }
        Err(Unusable { failure, was_served: true }) => Err(Failure::new(
            failure.code,
            failure.fault,
            "restore the file from a copy; or say --replace-state to prepare the set anew, and then each client enrols \
             again",
        )),
        loaded => Ok(loaded?),
    }
}

/// The table has more keys than the set has room for.
fn outgrown(keys: u64, capacity: u64) -> Failure {
    Failure::new(
        code::REFUSED,
        format_args!("the table has {keys} keys now, and the set has room for {capacity}"),
        "start the server again with --replace-state, and with a larger --capacity if you name one; then each client \
         enrols again",
    )
}

/// Refuses a table that has lost many keys: one that was cut short looks like that, and clients would
/// take what is missing for harmless.
fn refuse_shrunk(before: u64, now: u64, most_percent: u8) -> Result<(), Failure> {
    let lost = before.saturating_sub(now);
    if u128::from(lost) * 100 <= u128::from(before) * u128::from(most_percent) {
        return Ok(());
    }
    Err(Failure::new(
        code::REFUSED,
        format_args!(
            "the table has {}, and had {before} before: more than {most_percent} percent are gone, as if it had been cut \
             short",
            counted(now, "key", "keys")
        ),
        "write the whole table; or, if this is the whole table, start the server again with --max-shrink 100",
    ))
}

/// A state whose settings are others than those of the command is not replaced unasked: its key may
/// be the only copy, and each client would have to enrol again.
fn refuse_other_settings(before: &Description, now: &Description) -> Result<(), Failure> {
    let differences = before.differences(now);
    if differences.is_empty() {
        return Ok(());
    }
    Err(Failure::new(
        code::USAGE,
        format_args!("the state file was prepared with other settings: {}", differences.join("; ")),
        "use those settings, or another file, or say --replace-state to prepare the set anew; then each client \
         enrols again",
    ))
}

/// The width that clients are told of records of `width` bytes: it hides the exact length of the
/// longest, and leaves room for longer ones.
fn record_width(width: usize) -> usize {
    width.checked_next_power_of_two().map_or(width, |rounded| rounded.clamp(16, MAX_PAYLOAD_WIDTH)).max(width)
}

impl Set {
    /// The set of a table, under the salt of the description.
    fn of(description: &Description, table: &mut KeyTable) -> Result<Self, Failure> {
        let salt = description
            .salt_number()
            .ok_or_else(|| Failure::new(code::INTERNAL, "the server's salt is malformed", "please report this"))?;
        let digests = std::mem::take(&mut table.digests);
        let items = match (description.integer_bits, table.integers.take()) {
            (None, _) => digests.fold(salt),
            (Some(_), Some(integers)) => integers.into_iter().map(u128::from).collect(),
            (Some(_), None) => {
                return Err(Failure::new(code::INTERNAL, "the table was not read as integers", "please report this"));
            }
        };
        let width = description.payload.as_ref().map_or(0, |schema| schema.width);
        let mut payloads = vec![0; items.len().saturating_mul(width)];
        if let Some(payload) = table.payload.take() {
            let records = payload.bytes.chunks_exact(payload.schema.width.max(1));
            payloads.chunks_exact_mut(width.max(1)).zip(records).for_each(|(padded, record)| {
                padded.iter_mut().zip(record).for_each(|(to, from)| *to = *from);
            });
        }
        let input = IntersectSenderInput { items, payloads };
        let roster = Roster::of(salt, &input);
        let hash = roster.hash(salt);
        let hash = description.slow_hash().map_or(Ok(hash), |slow| slow.hash_of_set(salt, hash))?;
        Ok(Self { hash, roster, input })
    }

    /// The set with the slow hash of each item in its place, where the description has one.
    fn with_slow_hashes(
        mut self,
        description: &Description,
        hashed: &mut Hashed,
        memory: Option<u64>,
        log: &dyn ServeLog,
    ) -> Result<Self, Failure> {
        let (Some(slow), Some(salt)) = (description.slow_hash(), description.salt_number()) else { return Ok(self) };
        let told = |count, time: Duration| log.stage(&slow_hash::announcement(slow, count, time));
        slow.hash(salt, &mut self.input.items, hashed, memory, told, &|| None)?;
        self.roster = Roster::of(salt, &self.input);
        Ok(self)
    }
}

fn read(config: &ServeConfig, log: &dyn ServeLog) -> Result<KeyTable, Failure> {
    let opened = config.source.table.open()?;
    let columns = match config.integer_bits {
        Some(bits) => Columns::Integers(bits),
        None => Columns::Payload(config.payload.clone()),
    };
    let table = columns.read(&*opened, &config.source.key, config.memory)?;
    if table.digests.is_empty() {
        // It would answer every client with no match, which nobody could tell from a right answer.
        return Err(Failure::new(
            code::INPUT,
            format_args!("{} has no rows, and an empty list is not served", opened.name()),
            "check what writes it; a list that is meant to be empty can hold one key that no client has",
        ));
    }
    for warning in table.stats.warnings(&config.source.key) {
        log.warning(&warning);
    }
    Ok(table)
}

/// What clients are told of the table: as before, where a state is there that the table fits.
fn describe(
    config: &ServeConfig,
    table: &KeyTable,
    before: Option<&Description>,
    rng: &mut SecretRng,
) -> Result<Description, Failure> {
    let keys = table.digests.len() as u64;
    if let Some(capacity) = config.capacity.filter(|&capacity| capacity < keys) {
        return Err(Failure::new(
            code::USAGE,
            format_args!("--capacity {capacity} is less than the {keys} distinct keys of the table"),
            "give a number that is at least as large as the table will ever be",
        ));
    }
    let kept_capacity = before.map(|before| before.capacity).filter(|&capacity| capacity >= keys);
    let capacity = config.capacity.or(kept_capacity).unwrap_or_else(|| capacity_for(keys));
    Ok(Description {
        version: 1,
        protocol: config.protocol.clone(),
        security: config.security,
        key_digest: DIGEST_VERSION.into(),
        key_columns: config.source.key.agreement(),
        key_kinds: table.stats.kinds(),
        salt: before.map_or_else(|| format!("{:032x}", rng.block()), |before| before.salt.clone()),
        capacity,
        items_per_query: config.items_per_query,
        payload: table.payload.as_ref().map(|payload| {
            let PayloadSchema { fields, width } = payload.schema.clone();
            // As before, while that has room.
            let told = before.and_then(|before| before.payload.as_ref()).map(|before| before.width);
            PayloadSchema { fields, width: told.filter(|&told| told >= width).unwrap_or_else(|| record_width(width)) }
        }),
        quota: config.quota.map(|quota| quota.to_string()),
        quota_left: None,
        leak_prefix: config.leak_prefix,
        slow_hash: config.slow_hash.map(|hash| hash.to_string()),
        integer_bits: config.integer_bits,
    })
}

fn bind(config: &ServeConfig) -> Result<(String, Box<dyn Acceptor>), Failure> {
    let listener = tcp::listen(&config.listen)?;
    let address = listener.local_addr()?.to_string();
    let acceptor: Box<dyn Acceptor> = match &config.clients {
        Clients::InsecurePlaintext => Box::new(PlaintextAcceptor(listener)),
        Clients::Keys(identity, clients) => Box::new(TlsAcceptor {
            listener,
            identity: identity.clone(),
            clients: clients.clone(),
            handshake_limit: TLS_LIMIT,
        }),
    };
    Ok((address, acceptor))
}

/// Answers at `address` from now on: preparing may take long, and a monitor waits for its end.
fn open_page(address: &str, counters: &Arc<Counters>, log: &dyn ServeLog) -> Result<OpenPage, Failure> {
    let page = OpenPage::new(address, counters.clone()).map_err(|error| {
        Failure::new(
            code::USAGE,
            format_args!("cannot listen at {address} for metrics: {error}"),
            "name another address with --metrics, for example 127.0.0.1:9464",
        )
    })?;
    log.stage(&format!("answering at http://{}/healthz", page.address()));
    Ok(page)
}

/// Passes on what a server does to the log and the counters, and bounds what clients ask.
struct Watch<'a, S: TableService> {
    serve: &'a Serving<S>,
    log: &'a dyn ServeLog,
}

impl<S: TableService> Watch<'_, S> {
    /// Counts a query, or an enrolment as much as a query, and says so if a client has come to more than
    /// the threshold.
    fn count_volume(&self, client: &ClientIdentity) {
        if let (Some(volume), Some(threshold)) = (&self.serve.volume, self.serve.config.alert_volume)
            && let Some(all) = volume.count(client, self.serve.description.items_per_query)
        {
            add(&self.serve.counters.volume_alerts, 1);
            self.log.volume(client, all, threshold);
        }
    }
}

impl<S: TableService> ServeEvents for Watch<'_, S> {
    fn joined(&self, client: &ClientIdentity, _: StateId) {
        add(&self.serve.counters.joined, 1);
        self.log.joined(client);
    }

    fn describe<'a>(&self, client: &ClientIdentity, description: &'a [u8]) -> Cow<'a, [u8]> {
        let told = self.serve.meter.as_ref().and_then(|meter| {
            let quota_left = Some(meter.left(client));
            Description { quota_left, ..self.serve.description.clone() }.to_bytes().ok()
        });
        told.map_or(Cow::Borrowed(description), Cow::Owned)
    }

    fn permit_join(&self, client: &ClientIdentity, standing: Standing) -> Result<(), Abort> {
        // Whoever has the present set takes no work.
        if standing == Standing::Current {
            return Ok(());
        }
        if let Some(enrolments) = &self.serve.enrolments {
            enrolments.take(client).inspect_err(|_| add(&self.serve.counters.over_enrolments, 1))?;
        }
        self.count_volume(client);
        Ok(())
    }

    fn permit(&self, query: &Query, set: StateId) -> Result<(), Abort> {
        let items = self.serve.description.items_per_query;
        if let Some(meter) = &self.serve.meter {
            meter.take(&query.client, items).inspect_err(|_| add(&self.serve.counters.over_quota, 1))?;
        }
        if let Some(answers) = &self.serve.answers {
            let taken = answers.take(set, items);
            if let Some(warning) = taken.warning {
                self.log.warning(&warning);
            }
            taken.outcome.inspect_err(|_| add(&self.serve.counters.over_set, 1))?;
        }
        self.count_volume(&query.client);
        Ok(())
    }

    fn may_stay(&self, client: &ClientIdentity) -> bool {
        match (&self.serve.config.clients, client) {
            (Clients::Keys(_, accepted), ClientIdentity::Key(key)) => accepted.accepts(key),
            (Clients::Keys(..), ClientIdentity::Anonymous) => false,
            (Clients::InsecurePlaintext, _) => true,
        }
    }

    fn answered(&self, query: &Query, took: Duration) {
        add(&self.serve.counters.items, self.serve.description.items_per_query);
        self.serve.counters.answered(took);
        self.log.answered(query, took);
    }

    fn ended(&self, client: Option<&ClientIdentity>, from: &str, outcome: &Result<(), Abort>) {
        add(&self.serve.counters.ended, 1);
        if outcome.is_err() {
            add(&self.serve.counters.failed, 1);
        }
        if let Err(Abort::PeerAborted(peer)) = outcome
            && peer.code == code::REFUSED
            && peer.fault == OVER_QUOTA
        {
            add(&self.serve.counters.over_quota, 1);
        }
        self.log.ended(client, from, outcome);
    }

    fn not_accepted(&self, fault: &std::io::Error) {
        self.log.warning(&format!(
            "a client could not be accepted: {fault}; raise the limit of open files (`ulimit -n`), if that is what ran \
             out"
        ));
    }
}
