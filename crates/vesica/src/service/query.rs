//! The client's side: from a small table to the rows that a server's set has, too.

use std::any::Any;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};
use std::{fs, io};

use serde::Serialize;
use vesica_party::service::{
    Client as _, Enrolled, Moved, ServiceClient, State, StateError, StateId, StateReader, StateWriter, depart, describe,
};
use vesica_party::transport::Connection;
use vesica_party::{Abort, Channel, ChannelOptions, Role, Security};
use vesica_protocols::tasks::{IntersectReceiverInput, SealedPayloads};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;
use vesica_structures::shuffle::random_order;

use super::prepared::{self, Lock, check_format, read_description, write_format};
use super::quota::OVER_QUOTA;
use super::slow_hash::{self, Hashed};
use super::{
    Description, Quota, TRUSTING, TableService, WithService, leak_of_prefix, randomness, refuse_alternatives,
    trust_in_server, with_service,
};
use crate::failure::{Failure, code};
use crate::handshake::{kind_warnings, printable};
use crate::memory::{Budget, Bytes};
use crate::progress::{Gauge, Stage, Watch, begin_pass};
use crate::report::OutputReport;
use crate::session::advice::{self, Matched};
use crate::session::deadline::Deadline;
use crate::session::{
    Destination, End, Events, Interrupt, OwnTable, Protection, RetryPolicy, bind_end, named_path, reach_end,
    refuse_one_file,
};
use crate::table::{
    Join, KeyTable, Matches, PayloadSchema, Position, ReceivedPayload, ResultKind, Source, TableError, write_matches,
};
use crate::task::{Columns, refuse_unread};
use crate::threads;
use crate::words::counted;

/// Everything that a query is told by its user.
#[derive(Clone, Debug)]
pub struct QueryConfig {
    /// The rows to ask about.
    pub source: OwnTable,
    /// The server's address.
    pub connect: String,
    /// What protects the connection.
    pub protection: Protection,
    /// How long to try to reach the server.
    pub wait: Duration,
    /// Bound on the whole run.
    pub deadline: Option<Duration>,
    /// The least security that is accepted.
    pub security: Security,
    /// How many bits of a hash of each key the server may see; nothing for none.
    pub leak_prefix: Option<u32>,
    /// Refuse a set with room for more items.
    pub max_set_items: u64,
    /// Where the rows go that match.
    pub destination: Destination,
    /// Whether the server is trusted to follow a protocol that holds only then.
    pub trust_server: bool,
    /// Where to keep what the server sends once, for the next run.
    pub state: Option<PathBuf>,
    /// Most bytes of memory that this process may take; `None` for what is free.
    pub memory: Option<u64>,
}

/// How often a query starts again because the server has replaced its set meanwhile.
const MOST_STARTS: usize = 5;

/// Time between two looks at whether another run has left the state file.
const LOOK: Duration = Duration::from_millis(100);

/// How a client came to what the server sends once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Enrolment {
    /// From the server, for the first time.
    New,
    /// From the state file.
    Kept,
    /// From the state file, with what has changed since then from the server.
    Updated,
    /// From the server, since the set was replaced.
    Renewed,
}

/// What a query came to.
#[derive(Clone, Debug, Serialize)]
pub struct QueryReport {
    /// Whether everything that matched could be written.
    pub ok: bool,
    /// The version of this program.
    pub vesica: &'static str,
    /// The protocol's id.
    pub protocol: String,
    /// What it withstands.
    pub security: Security,
    /// The fingerprint of the server's key.
    pub server: Option<String>,
    /// Rows of the table.
    pub rows: u64,
    /// Its distinct keys.
    pub keys: u64,
    /// How many of these the server has, but for those that are unreadable.
    pub matched_keys: u64,
    /// The first row, counted from 1, of each key that matched and for which the server's columns are no
    /// record. These keys were left out.
    pub unreadable: Vec<u64>,
    /// Items of the server's set, dummies included.
    pub set_items: u64,
    /// Queries that were asked.
    pub queries: u64,
    /// Items of each query, dummies included.
    pub items_per_query: u64,
    /// How many bits of a hash of each key the server has seen; null with a protocol that shows
    /// none.
    pub leak_prefix: Option<u32>,
    /// The hash that each key was put through, as `serve --slow-hash` has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slow_hash: Option<String>,
    /// The width of the keys, where they are integers and were compared as such.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub integer_bits: Option<u32>,
    /// What the server has seen beside the number of queries, in sentences.
    pub leaked: Vec<String>,
    /// What the server was trusted with, in sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub trusted: Vec<String>,
    /// Where the client had the set's tags from.
    pub enrolment: Enrolment,
    /// Where the rows went.
    pub output: OutputReport,
    /// Bytes that were sent.
    pub bytes_sent: u64,
    /// Bytes that were received.
    pub bytes_received: u64,
    /// Seconds from start to end.
    pub seconds: f64,
    /// What the user should act on.
    pub warnings: Vec<String>,
}

/// What a client keeps between two runs.
struct Kept<S: TableService> {
    description: Description,
    enrolled: Enrolled<S::Client>,
}

/// What a state file held, if that is of the protocol `S`.
struct Stored<S: TableService>(Option<Kept<S>>);

const FORMAT: &str = "vesica enrolled client 1";

impl<S: TableService> State for Kept<S> {
    const FORMAT: &'static str = FORMAT;

    fn write(&self, out: &mut StateWriter<'_>) -> io::Result<()> {
        let description = self.description.to_bytes().map_err(|failure| io::Error::other(failure.fault))?;
        out.u64(description.len() as u64)?;
        out.bytes(&description)?;
        write_format::<S::Client>(out)?;
        self.enrolled.write(out)
    }

    fn read(bytes: &mut StateReader<'_>) -> Result<Self, StateError> {
        Stored::read(bytes)?.0.ok_or(StateError::Damaged("it holds the state of another protocol"))
    }
}

impl<S: TableService> State for Stored<S> {
    const FORMAT: &'static str = FORMAT;

    fn write(&self, out: &mut StateWriter<'_>) -> io::Result<()> {
        self.0.as_ref().map_or(Ok(()), |kept| kept.write(out))
    }

    fn read(bytes: &mut StateReader<'_>) -> Result<Self, StateError> {
        let description = read_description(bytes)?;
        if description.protocol == S::ENTRY.id {
            check_format::<S::Client>(bytes)?;
            return Ok(Self(Some(Kept { description, enrolled: Enrolled::read(bytes)? })));
        }
        // The server has gone over to another protocol: this enrolment is of no use any more.
        let mut part = [0; 4096];
        while bytes.remaining() > 0 {
            let count = bytes.remaining().min(part.len() as u64) as usize;
            bytes.fill(part.get_mut(..count).unwrap_or_default())?;
        }
        Ok(Self(None))
    }
}

/// Asks a server about the keys of a table, and writes the rows that match.
///
/// # Errors
/// With the exit code of the command line. Then nothing is written but the state file.
pub fn query(config: &QueryConfig, interrupt: &Interrupt, events: &dyn Events) -> Result<QueryReport, Failure> {
    thread::scope(|scope| query_watched(config, interrupt, events, &Watch::start(scope, events)))
}

fn query_watched(
    config: &QueryConfig,
    interrupt: &Interrupt,
    events: &dyn Events,
    watch: &Watch<'_>,
) -> Result<QueryReport, Failure> {
    let started = Instant::now();
    refuse_alternatives(&config.source.key)?;
    check_files(config)?;
    let state = config.state.as_deref().map(prepared::resolved).transpose()?;
    let _lock = state.as_deref().map(|path| lock(path, interrupt, events)).transpose()?;
    let position = Arc::new(OnceLock::new());
    watch.enter(Stage::Reading, Gauge::Position(position.clone()));
    let source = config.source.table.open()?;
    let sink = config.destination.sink.open(ResultKind::OwnRows, &*source)?;
    begin_pass(&*source, &position);
    let mut table = Columns::Payload(None).read(&*source, &config.source.key, None)?;
    let mut asking = Asking {
        config,
        state,
        interrupt,
        events,
        watch,
        started,
        rng: randomness()?,
        kept: None,
        description: None,
        items: Vec::new(),
        are_hashed: false,
        dummies: Vec::new(),
        order: Secret::new(Vec::new()),
        source: &*source,
        set: None,
        starts: 0,
        asked: 0,
        matches: Vec::new(),
        payloads: Vec::new(),
        unread: 0,
        enrolment: None,
        bytes: [0; 2],
        warnings: Vec::new(),
    };
    asking.ask_all(&mut table)?;
    interrupt.complete();
    let Asking { description, items, order, asked, matches, payloads, unread, enrolment, bytes, mut warnings, .. } =
        asking;
    warnings.extend(advice::empty(&table.stats));
    // Not before: a server must not see by the client's messages whether its answers could be read.
    refuse_unread(unread)?;
    let (Some(description), Some(enrolment)) = (description, enrolment) else {
        return Err(Failure::new(code::INTERNAL, "a query ended without an answer", "please report this"));
    };
    if matches.is_empty() {
        let (own, partner) = (table.stats.distinct, description.capacity);
        let matched = Matched { keys: 0, own, partner, by_alternative: None };
        let kinds = table.stats.kinds();
        warnings.extend(advice::causes(&matched, &config.source.key, &table.stats, &kinds, &description.key_kinds));
    }
    watch.enter(Stage::Writing, Gauge::pass(&*source));
    let payloads: Vec<u8> = payloads.into_iter().flat_map(SealedPayloads::open).collect();
    let width = description.payload.as_ref().map_or(0, |schema| schema.width);
    let (mut matches, mut payloads) = in_order(&order, &matches, payloads, width);
    let unreadable = match &description.payload {
        Some(schema) if config.destination.join != Join::Difference => {
            drop_unreadable(schema, &mut matches, &mut payloads, &table)
        }
        _ => Vec::new(),
    };
    let payload = description.payload.as_ref().map(|schema| ReceivedPayload { schema, bytes: &payloads });
    let path = sink.name().to_owned();
    let kept_rows = Matches { keys: &matches, payload };
    let rows = write_matches(&*source, &table, &kept_rows, config.destination.join, sink)?.rows;
    Ok(QueryReport {
        ok: unreadable.is_empty(),
        vesica: env!("CARGO_PKG_VERSION"),
        protocol: description.protocol.clone(),
        security: description.security,
        server: match &config.protection {
            Protection::Tls { peer, .. } => Some(peer.fingerprint().to_string()),
            Protection::InsecurePlaintext => None,
        },
        rows: table.stats.rows,
        keys: items.len() as u64,
        matched_keys: matches.len() as u64,
        unreadable,
        set_items: description.capacity,
        queries: asked as u64,
        items_per_query: description.items_per_query,
        leak_prefix: description.leak_prefix,
        slow_hash: description.slow_hash.clone(),
        integer_bits: description.integer_bits,
        leaked: description.leak_prefix.map(leak_of_prefix).into_iter().collect(),
        trusted: trust(&description).into_iter().collect(),
        enrolment,
        output: OutputReport { path, rows, new_rows: None, totals: Vec::new() },
        bytes_sent: bytes[0],
        bytes_received: bytes[1],
        seconds: started.elapsed().as_secs_f64(),
        warnings,
    })
}

/// The keys that matched, ascending, with the records of each: `matches` are places in the order in
/// which keys were asked about.
fn in_order(order: &[u32], matches: &[u32], payloads: Vec<u8>, width: usize) -> (Vec<u32>, Vec<u8>) {
    let mut found: Vec<(u32, usize)> =
        matches.iter().enumerate().filter_map(|(place, &asked)| Some((*order.get(asked as usize)?, place))).collect();
    found.sort_unstable();
    let record = |&(_, place): &(u32, usize)| payloads.get(place * width..(place + 1) * width).unwrap_or_default();
    let sorted = found.iter().flat_map(record).copied().collect();
    (found.iter().map(|&(key, _)| key).collect(), sorted)
}

/// Takes out matches whose record is none, and gives the first row of each. The server is gone by
/// now: it cannot see which records a client could read.
fn drop_unreadable(
    schema: &PayloadSchema,
    matches: &mut Vec<u32>,
    payloads: &mut Vec<u8>,
    table: &KeyTable,
) -> Vec<u64> {
    let readable: Vec<bool> =
        payloads.chunks_exact(schema.width.max(1)).map(|record| schema.check_record(record).is_ok()).collect();
    if readable.len() != matches.len() || readable.iter().all(|&is_readable| is_readable) {
        return Vec::new();
    }
    let row_of = |key: u32| table.row_key.iter().position(|&of_row| of_row == key).map_or(0, |row| row as u64 + 1);
    let bad = matches.iter().zip(&readable).filter(|&(_, &is_readable)| !is_readable);
    let mut rows: Vec<u64> = bad.map(|(&key, _)| row_of(key)).collect();
    rows.sort_unstable();
    let good = payloads.chunks_exact(schema.width.max(1)).zip(&readable).filter(|&(_, &is_readable)| is_readable);
    *payloads = good.flat_map(|(record, _)| record).copied().collect();
    let mut kept = readable.iter();
    matches.retain(|_| kept.next().copied().unwrap_or(true));
    rows
}

/// What this side trusts the server with, beside following the protocol in what it computes.
fn trust(described: &Description) -> Option<String> {
    TRUSTING.iter().any(|entry| entry.id == described.protocol).then(|| trust_in_server(&described.protocol))
}

/// A refusal by the server as one of this side's query, with the server's mend, which is written for
/// clients.
fn refused_by_server(abort: Abort) -> Failure {
    match abort {
        Abort::PeerAborted(peer) if peer.code == code::REFUSED => Failure::new(
            code::REFUSED,
            format_args!("the server refused to answer: {}; nothing was written", peer.fault),
            peer.mend,
        ),
        other => other.into(),
    }
}

/// Waits until no other run uses the state file.
fn lock(state: &Path, interrupt: &Interrupt, events: &dyn Events) -> Result<Lock, Failure> {
    let mut is_told = false;
    loop {
        if let Some(lock) = Lock::take(state)? {
            return Ok(lock);
        }
        if let Some(reason) = interrupt.reason() {
            return Err(reason);
        }
        if !std::mem::replace(&mut is_told, true) {
            events.notice("waiting for another query, which uses the state file");
        }
        thread::sleep(LOOK);
    }
}

/// Refuses two names of one file.
fn check_files(config: &QueryConfig) -> Result<(), Failure> {
    let (table, sink) = (&config.source.table, &config.destination.sink);
    refuse_one_file([
        ("--input", table.name(), table.files()),
        ("--output", sink.name(), sink.file().into_iter().collect()),
        named_path("--state", config.state.as_deref()),
    ])
}

/// A query on its way.
struct Asking<'a> {
    config: &'a QueryConfig,
    /// The state file, whatever links lead to it.
    state: Option<PathBuf>,
    interrupt: &'a Interrupt,
    events: &'a dyn Events,
    watch: &'a Watch<'a>,
    started: Instant,
    rng: SecretRng,
    /// The [`Kept`] of the server's protocol, once a connection has ended.
    kept: Option<Box<dyn Any>>,
    /// What the server said first.
    description: Option<Description>,
    /// The items to ask about, under the server's salt, in a random order: where the server sees
    /// something of each item, it shall not see which keys stand near each other in the table.
    items: Vec<u128>,
    /// Whether these are the server's slow hashes, if it wants those.
    are_hashed: bool,
    /// What fills up the last query.
    dummies: Vec<u128>,
    /// The key of each item.
    order: Secret<Vec<u32>>,
    /// The rows to ask about, to be read again where the server compares integers.
    source: &'a dyn Source,
    /// The prepared set that all answers are about.
    set: Option<StateId>,
    /// How many sets the query was begun with.
    starts: usize,
    /// Queries that were answered.
    asked: usize,
    /// Places in `items` of those that match.
    matches: Vec<u32>,
    /// The payloads of each query's matches. They are opened when the server is gone, since that takes
    /// time for each match.
    payloads: Vec<SealedPayloads>,
    /// Items, dummies among them, of which nothing is known.
    unread: usize,
    enrolment: Option<Enrolment>,
    /// Sent and received over all connections.
    bytes: [u64; 2],
    warnings: Vec<String>,
}

impl Asking<'_> {
    /// Asks about all items, over as many connections as it takes: a server that restarts ends one.
    fn ask_all(&mut self, table: &mut KeyTable) -> Result<(), Failure> {
        loop {
            let answered = self.asked;
            self.watch.enter(Stage::Reaching, Gauge::Nothing);
            let connection = self.connect()?;
            self.events.connected();
            let answer = self.converse(connection, table);
            self.interrupt.detach();
            self.watch.close();
            match answer {
                Ok(true) => return Ok(()),
                Ok(false) => self.hash_slowly()?,
                Err(failure) => {
                    if let Some(reason) = self.interrupt.reason() {
                        return Err(reason);
                    }
                    // One that answered something before it went away is worth another try.
                    let is_lost = failure.code == code::LINK
                        || ["shutting down", "has wiped the set"].iter().any(|why| failure.fault.contains(why));
                    if !is_lost || self.asked == answered {
                        return Err(failure);
                    }
                    self.events.notice(&format!("the connection was lost ({failure}); connecting again"));
                }
            }
        }
    }

    fn connect(&self) -> Result<Connection, Failure> {
        let stop = || self.interrupt.reason();
        let left = self.config.deadline.map(|deadline| deadline.saturating_sub(self.started.elapsed()));
        let (wait, flag) = match left {
            Some(left) if left < self.config.wait => (left, "--deadline"),
            _ => (self.config.wait, "--wait"),
        };
        let bound = bind_end(&End::Connect(self.config.connect.clone()), self.events)?;
        reach_end(&bound, &self.config.protection, &RetryPolicy { wait, flag, stop: &stop }, self.events)
    }

    /// Asks over one connection. False where the items have to be hashed first: no server waits for a
    /// client that computes for minutes.
    fn converse(&mut self, connection: Connection, table: &mut KeyTable) -> Result<bool, Failure> {
        let options = ChannelOptions {
            deadline: self.config.deadline,
            elapsed: self.started.elapsed(),
            ..ChannelOptions::default()
        };
        let mut ch = threads::open_channel(connection, Role::Receiver, options)?;
        self.interrupt.attach(ch.canceller());
        self.watch.count(ch.meter());
        if let Err(failure) = self.get_description(&mut ch, table) {
            ch.abort(&failure.for_peer());
            return Err(failure);
        }
        let Some(description) = self.description.clone() else {
            return Err(Failure::new(code::INTERNAL, "a query has no description", "please report this"));
        };
        if description.slow_hash().is_some() && !self.are_hashed {
            if let Err(abort) = depart(ch) {
                self.warnings.push(format!("the first connection did not close cleanly: {abort}"));
            }
            return Ok(false);
        }
        with_service(&description.protocol.clone(), Converse { asking: self, ch, description })?.map(|()| true)
    }

    /// Puts the server's slow hash of each item in its place.
    fn hash_slowly(&mut self) -> Result<(), Failure> {
        let described = self.description.as_ref();
        if let Some((slow, salt)) = described.and_then(|told| Some((told.slow_hash()?, told.salt_number()?))) {
            let (watch, interrupt) = (self.watch, self.interrupt);
            let deadline = Deadline::of(self.config.deadline, self.started);
            let late = || deadline.and_then(|deadline| deadline.check("the keys were hashed").err());
            let told = |count, time| {
                watch.enter(Stage::Hashing(slow_hash::announcement(slow, count, time)), Gauge::Nothing);
            };
            let stop = || interrupt.reason().or_else(late);
            slow.hash(salt, &mut self.items, &mut Hashed::default(), self.config.memory, told, &stop)?;
        }
        self.are_hashed = true;
        Ok(())
    }

    /// What the server says of itself; the first time, the table's items under its salt.
    fn get_description(&mut self, ch: &mut Channel, table: &mut KeyTable) -> Result<(), Failure> {
        let mut described = Description::from_bytes(&describe(ch)?)?;
        let quota_left = described.quota_left.take();
        if let Some(before) = &self.description {
            if *before == described {
                return Ok(());
            }
            return Err(Failure::new(
                code::MISMATCH,
                "the server came back with another description of its table",
                "ask again",
            ));
        }
        let trust = trust(&described);
        if described.security == Security::SemiHonest && self.config.security == Security::Malicious {
            let fault =
                format!("the server offers {} security, and {} is asked for", described.security, self.config.security);
            return Err(match trust {
                None => Failure::new(
                    code::MISMATCH,
                    fault,
                    "have the server started with --security malicious; or trust it to follow the protocol, and say \
                     --security semi-honest",
                ),
                Some(trust) => Failure::new(
                    code::MISMATCH,
                    format_args!("{fault}; its protocol, {}, has no other", described.protocol),
                    format_args!(
                        "ask for another protocol, or say --security semi-honest --trust-server if that may be: {trust}"
                    ),
                ),
            });
        }
        if described.capacity > self.config.max_set_items {
            return Err(Failure::new(
                code::REFUSED,
                format_args!(
                    "the server's set has room for {}, more than {}",
                    counted(described.capacity, "item", "items"),
                    self.config.max_set_items
                ),
                "allow more with --max-peer-items",
            ));
        }
        if self.config.destination.join == Join::Left && described.payload.is_none() {
            return Err(Failure::new(
                code::REFUSED,
                "--join left writes all rows with the server's columns beside them, and the server gives none",
                "say --join inner or difference; or ask whoever runs the server for columns (--payload)",
            ));
        }
        self.check_leak(&described)?;
        self.check_trust(&described, trust.as_deref())?;
        described.check_key(&self.config.source.key)?;
        self.check_extent(&described, quota_left, table.digests.len() as u64)?;
        if let Some(trust) = trust {
            self.events.warning(&trust);
        }
        self.warnings.extend(table.stats.warnings(&self.config.source.key));
        self.warnings.extend(kind_warnings(&self.config.source.key, &table.stats.kinds(), &described.key_kinds));
        let salt = described
            .salt_number()
            .ok_or_else(|| Failure::new(code::PEER_MISBEHAVED, "the server's salt is malformed", "do not trust it"))?;
        let digests = std::mem::take(&mut table.digests);
        let items = match described.integer_bits {
            Some(bits) => self.integers(bits, digests.len())?,
            None => digests.fold(salt),
        };
        self.order = Secret::new(random_order(items.len(), &mut self.rng));
        self.items = self.order.iter().filter_map(|&key| items.get(key as usize).copied()).collect();
        self.description = Some(described);
        Ok(())
    }

    /// The keys of the table as integers, in the order of its `keys` distinct digests.
    fn integers(&self, bits: u32, keys: usize) -> Result<Vec<u128>, Failure> {
        self.watch.enter(Stage::ReadingIntegers, Gauge::pass(self.source));
        let table = Columns::Integers(bits).read(self.source, &self.config.source.key, None)?;
        let integers: Vec<u128> = table.integers.unwrap_or_default().into_iter().map(u128::from).collect();
        if integers.len() != keys {
            return Err(TableError::Changed { path: self.source.name().to_owned() }.into());
        }
        Ok(integers)
    }

    /// Says what the server will see of keys, and refuses what this side has not agreed to.
    fn check_leak(&mut self, described: &Description) -> Result<(), Failure> {
        let (theirs, ours) = (described.leak_prefix, self.config.leak_prefix);
        let Some(bits) = theirs else {
            if let Some(bits) = ours {
                self.warnings.push(format!(
                    "this server's protocol shows it nothing of a key: --leak-prefix {bits} was not needed"
                ));
            }
            return Ok(());
        };
        if ours == theirs {
            let leak = leak_of_prefix(bits);
            self.events.warning(&leak);
            self.warnings.push(leak);
            return Ok(());
        }
        let agreed = ours.map_or_else(String::new, |ours| format!("; --leak-prefix {ours} agrees to something else"));
        Err(Failure::new(
            code::REFUSED,
            format_args!("with this server's protocol {}{agreed}", leak_of_prefix(bits)),
            format_args!(
                "if the server may see that, say --leak-prefix {bits}; or ask whoever runs the server for another \
                 protocol"
            ),
        ))
    }

    /// Refuses a server that this side has not agreed to trust.
    fn check_trust(&mut self, described: &Description, trust: Option<&str>) -> Result<(), Failure> {
        let Some(trust) = trust else {
            if self.config.trust_server {
                self.warnings.push("this server's protocol needs no trust: --trust-server was not needed".to_owned());
            }
            return Ok(());
        };
        if self.config.trust_server {
            return Ok(());
        }
        Err(Failure::new(
            code::REFUSED,
            format_args!("the server offers {}, and {trust}", described.protocol),
            "if that may be, say --trust-server; or ask whoever runs the server for another protocol",
        ))
    }

    /// Refuses a query that would fail in the middle.
    fn check_extent(&self, described: &Description, quota_left: Option<u64>, keys: u64) -> Result<(), Failure> {
        let queries = keys.div_ceil(described.items_per_query);
        let items = queries.saturating_mul(described.items_per_query);
        let refuse = |fault: String, mend: &str| Err(Failure::new(code::REFUSED, fault, mend));
        let of_keys = |one: &str, more: &str| counted(keys, &format!("key {one}"), &format!("keys {more}"));
        let taken = format!("{} {}", of_keys("takes", "take"), counted(items, "item", "items"));
        // The server need not hear how many keys there are.
        if let Some(quota) =
            described.quota.as_ref().filter(|quota| quota.parse().is_ok_and(|quota: Quota| items > quota.items))
        {
            let fault = format!("{taken} in whole queries, and the server allows each client {quota}");
            let mend = "ask about fewer keys at a time, or ask whoever runs the server for a larger quota";
            return Err(Failure { told: Some(OVER_QUOTA), ..Failure::new(code::REFUSED, fault, mend) });
        }
        if let (Some(left), Some(quota)) = (quota_left.filter(|&left| items > left), &described.quota) {
            let fault = format!(
                "{taken} in whole queries, and of this client's quota of {quota} only {} left; nothing was asked",
                counted(left, "is", "are")
            );
            let period = quota.parse().map_or("period", |quota: Quota| quota.period.name());
            let mend = format!("ask again in the next {period} of UTC, or about fewer keys");
            return Err(Failure { told: Some(OVER_QUOTA), ..Failure::new(code::REFUSED, fault, mend) });
        }
        let most = described.check()?;
        if queries > most {
            let fault =
                format!("{} {queries} queries, more than the {most} of one enrolment", of_keys("takes", "take"));
            return refuse(fault, "ask about fewer keys at a time, or join the two tables with `vesica receive`");
        }
        let payloads = keys.saturating_mul(described.payload.as_ref().map_or(0, |schema| schema.width as u64));
        let enrolment = described.enrolment_bytes()?;
        let Some(left) = Budget::now(self.config.memory).map(|budget| budget.left) else { return Ok(()) };
        if enrolment > left {
            let fault =
                format!("what the server sends once takes up to {}, and {} are left", Bytes(enrolment), Bytes(left));
            return refuse(fault, "allow more with --memory, or ask whoever runs the server for another protocol");
        }
        if payloads > left {
            let fault = format!(
                "the server's columns for {} take up to {}, and {} are left",
                counted(keys, "key", "keys"),
                Bytes(payloads),
                Bytes(left)
            );
            return refuse(fault, "ask about fewer keys at a time, or allow more with --memory");
        }
        Ok(())
    }

    /// Asks over one connection whose server has been described, and keeps what it enrolled with.
    fn converse_by<S: TableService>(&mut self, ch: Channel, description: Description) -> Result<(), Failure> {
        let mut client = self.join::<S>(ch, &description)?;
        let outcome = self.ask_rest(&mut client);
        let total = client.tally().total();
        self.bytes = [self.bytes[0] + total.sent(), self.bytes[1] + total.received()];
        let (enrolled, left) = client.leave();
        let kept = Kept::<S> { description, enrolled };
        // What was enrolled outlives a failure: it need not be fetched again.
        if let Some(path) = &self.state
            && let Err(failure) = prepared::save(&kept, path)
        {
            // The file before counts fewer queries than were asked.
            let gone = fs::remove_file(path).map_or_else(|fault| format!(" ({fault})"), |()| String::new());
            self.warnings.push(format!("the next query has to enrol again{gone}: {failure}"));
        }
        self.kept = Some(Box::new(kept));
        if outcome.is_ok()
            && let Err(abort) = left
        {
            self.warnings.push(format!("the connection did not close cleanly: {abort}"));
        }
        outcome
    }

    /// Joins with what was kept, if it is of this server and this set; enrols otherwise.
    fn join<S: TableService>(&mut self, ch: Channel, description: &Description) -> Result<ServiceClient<S>, Failure> {
        let prepared = (|| Ok((description.params::<S>()?, self.kept::<S>()?, randomness()?)))();
        let (params, kept, rng) = match prepared {
            Ok(prepared) => prepared,
            Err(failure) => {
                let failure: Failure = failure;
                ch.abort(&failure.for_peer());
                return Err(failure);
            }
        };
        let all = self.items.len().div_ceil(description.items_per_query as usize);
        let queries = all.saturating_sub(self.asked) as u64;
        // Another quota is no other set: the client goes on counting its queries. If this run would be refused
        // in its middle, it enrols anew.
        let is_of_use = |kept: &Kept<S>| {
            kept.description.differences(description).is_empty() && S::has_left(&kept.enrolled.client, queries)
        };
        match kept.filter(is_of_use) {
            Some(Kept { enrolled, .. }) => {
                let before = enrolled.state;
                match ServiceClient::rejoin(ch, params, enrolled, rng) {
                    Ok(client) => {
                        let is_same = client.enrolled().state == before;
                        let enrolment = if is_same { Enrolment::Kept } else { self.moved(&client) };
                        self.enrolment.get_or_insert(enrolment);
                        Ok(client)
                    }
                    Err((abort, enrolled)) => {
                        self.kept = Some(Box::new(Kept::<S> { description: description.clone(), enrolled }));
                        Err(refused_by_server(abort))
                    }
                }
            }
            None => {
                self.watch.enter(Stage::Enrolling, Gauge::Nothing);
                let client = ServiceClient::enrol(ch, params, rng).map_err(refused_by_server)?;
                self.enrolment.get_or_insert(Enrolment::New);
                Ok(client)
            }
        }
    }

    /// How the client has come to a set that is not the one that it had.
    fn moved<S: TableService>(&mut self, client: &ServiceClient<S>) -> Enrolment {
        match client.enrolled().client.moved() {
            Moved::Updated => Enrolment::Updated,
            Moved::Anew => Enrolment::Renewed,
            Moved::Refused(why) => {
                self.warnings
                    .push(format!("the server's update of its set was refused, and the whole set was fetched: {why}"));
                Enrolment::Renewed
            }
            Moved::SetBack { from, to } => {
                self.warnings.push(format!(
                    "the server has version {to} of its set, and had version {from} before: it was started with an \
                     older state file, or it shows different sets to different clients"
                ));
                Enrolment::Renewed
            }
        }
    }

    /// What an earlier connection or run has left.
    fn kept<S: TableService>(&mut self) -> Result<Option<Kept<S>>, Failure> {
        if let Some(kept) = self.kept.take() {
            return Ok(kept.downcast().ok().map(|kept| *kept));
        }
        match &self.state {
            Some(path) => Ok(prepared::load::<Stored<S>>(path)?.and_then(|stored| stored.0)),
            None => Ok(None),
        }
    }

    /// Starts with the first item again if the server has another set than the answers so far are
    /// about. Whether it does.
    fn begin_with(&mut self, set: StateId) -> Result<bool, Failure> {
        let before = self.set.replace(set);
        if before == Some(set) {
            return Ok(false);
        }
        self.starts += 1;
        if self.starts > MOST_STARTS {
            return Err(Failure::new(
                code::REFUSED,
                format_args!("the server replaced its set {MOST_STARTS} times during the query"),
                "ask again later, or about fewer keys at a time",
            ));
        }
        if before.is_some() {
            self.events.notice("the server has replaced its set; asking again about all keys");
        }
        (self.asked, self.unread, self.matches, self.payloads) = (0, 0, Vec::new(), Vec::new());
        Ok(true)
    }

    fn ask_rest<S: TableService>(&mut self, client: &mut ServiceClient<S>) -> Result<(), Failure> {
        let items_per_query = self.description.as_ref().map_or(1, |described| described.items_per_query as usize);
        let position = Position::of(self.items.len().div_ceil(items_per_query) as u64);
        position.set(self.asked as u64);
        self.watch.enter(Stage::Asking, Gauge::of(position.clone()));
        self.begin_with(client.enrolled().state)?;
        // The same ones if a query is repeated: a server that sees something of items could otherwise tell
        // them from dummies. Equal to an item of either side with a probability below 2^-128 times their number,
        // unless items are integers: then each is as likely, and what it comes to is forgotten.
        let integer_bits = self.description.as_ref().and_then(|described| described.integer_bits);
        let shift = integer_bits.map_or(0, |bits| u128::BITS.saturating_sub(bits));
        let free = self.items.len().next_multiple_of(items_per_query) - self.items.len();
        self.dummies.resize_with(free, || self.rng.block().unbounded_shr(shift));
        while let Some(chunk) = self.items.chunks(items_per_query).nth(self.asked) {
            let first = self.asked * items_per_query;
            let own = chunk.len();
            let dummies = &self.dummies[..items_per_query - own];
            let items = [chunk, dummies].concat();
            let mut output = client.query(IntersectReceiverInput { items }).map_err(refused_by_server)?;
            if self.begin_with(client.enrolled().state)? {
                // Whatever else was fetched counts for more than an update.
                let moved = self.moved(client);
                if !matches!((moved, self.enrolment), (Enrolment::Updated, Some(Enrolment::New | Enrolment::Renewed))) {
                    self.enrolment = Some(moved);
                }
                continue;
            }
            if integer_bits.is_some() {
                output.matches.retain(|&place| (place as usize) < own);
            }
            if output.matches.last().is_some_and(|&last| last as usize >= own) {
                let mend = "do not trust this server's software";
                return Err(Failure::new(code::PEER_MISBEHAVED, "a dummy item matched", mend));
            }
            self.matches.extend(output.matches.iter().map(|&place| first as u32 + place));
            self.payloads.push(output.payloads);
            self.unread += output.unread;
            self.asked += 1;
            position.set(self.asked as u64);
        }
        Ok(())
    }
}

/// A conversation over a channel, once the protocol is known.
struct Converse<'a, 'b> {
    asking: &'a mut Asking<'b>,
    ch: Channel,
    description: Description,
}

impl WithService for Converse<'_, '_> {
    type Output = Result<(), Failure>;

    fn with<S: TableService>(self) -> Self::Output {
        self.asking.converse_by::<S>(self.ch, self.description)
    }
}

impl QueryReport {
    /// What is wrong with a report that is not `ok`.
    pub fn failure(&self) -> Option<Failure> {
        const SHOWN: usize = 10;
        if self.unreadable.is_empty() {
            return None;
        }
        let rows: Vec<String> = self.unreadable.iter().take(SHOWN).map(u64::to_string).collect();
        let more = if self.unreadable.len() > SHOWN { ", ..." } else { "" };
        Some(Failure::new(
            code::PEER_MISBEHAVED,
            format_args!(
                "the server sent no readable columns for {}, which count as keys without a match; {} written to {}; the \
                 first row of each such key: {}{more}",
                counted(self.unreadable.len(), "key that matches", "keys that match"),
                counted(self.output.rows, "row was", "rows were"),
                printable(&self.output.path),
                rows.join(", ")
            ),
            "tell whoever runs the server; do not ask again at once, since the server could see that",
        ))
    }

    /// The report for people.
    pub fn summary(&self) -> String {
        let Self { rows, keys, matched_keys, set_items, queries, items_per_query, output, seconds, .. } = self;
        let enrolment = match self.enrolment {
            Enrolment::New => "enrolled",
            Enrolment::Kept => "enrolled before",
            Enrolment::Updated => "enrolled before, and fetched what has changed",
            Enrolment::Renewed => "enrolled again for a new set",
        };
        let megabytes = |bytes: u64| bytes as f64 / 1e6;
        let mut told: String = self.leaked.iter().map(|leak| format!("leaked: {leak}\n")).collect();
        told.extend(self.trusted.iter().map(|trust| format!("trusted: {trust}\n")));
        format!(
            "{}, {}; the server's set has room for {set_items}\n\
             {}; wrote {} to {}\n\
             {} ({}), {} of {}; {enrolment}\n\
             {seconds:.2} s, sent {:.3} MB, received {:.3} MB\n{told}",
            counted(*rows, "row", "rows"),
            counted(*keys, "distinct key", "distinct keys"),
            counted(*matched_keys, "key matches", "keys match"),
            counted(output.rows, "row", "rows"),
            printable(&output.path),
            self.protocol,
            self.security,
            counted(*queries, "query", "queries"),
            counted(*items_per_query, "item", "items"),
            megabytes(self.bytes_sent),
            megabytes(self.bytes_received)
        )
    }
}

#[cfg(test)]
mod tests;
