//! The client's side: from a small table to the rows that a server's set has, too.

mod ask;
mod deliver;
mod describe;
mod kept;
mod report;
mod terms;

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use vesica_party::transport::proxy::Proxy;
use vesica_party::transport::{Connection, KeyExchange};
use vesica_party::{Channel, ChannelOptions, Role, Security};
use vesica_structures::rng::SecretRng;

use super::prepared::{self, Lock};
use super::{randomness, refuse_alternatives};
use crate::failure::Failure;
use crate::locked::Wait;
use crate::log::{LogFile, RunLog, Subject};
use crate::policy::{Beginning, HeldTable, Intended, Policy};
use crate::progress::{Gauge, Stage, Watch, begin_pass};
use crate::session::deadline::Deadline;
use crate::session::{
    Destination, End, Events, Interrupt, OwnTable, Protection, RetryPolicy, bind_end, check_post_quantum, named_path,
    reach_end, refuse_one_file,
};
use crate::table::{KeyTable, ResultKind, Sink, Source};
use crate::task::Columns;
use crate::threads;
pub use report::{Enrolment, QueryReport};

/// Everything that a query is told by its user.
#[derive(Clone, Debug)]
pub struct QueryConfig {
    /// The rows to ask about.
    pub source: OwnTable,
    /// The server's address.
    pub connect: String,
    /// Through what it is dialled; `None` for directly.
    pub proxy: Option<Proxy>,
    /// What protects the connection.
    pub protection: Protection,
    /// How long to try to reach the server.
    pub wait: Duration,
    /// Bound on the whole run.
    pub deadline: Option<Duration>,
    /// The least security that is accepted.
    pub security: Security,
    /// Whether nothing may run that a quantum computer is known to break: neither the key exchange of TLS nor the
    /// protocol.
    pub post_quantum: bool,
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
    /// What may be done with this server; `None` for anything.
    pub policy: Option<Arc<Policy>>,
    /// Where the query is logged; `None` for nowhere.
    pub log: Option<LogFile>,
}

/// Time between two looks at whether another run has left the state file.
const LOOK: Duration = Duration::from_millis(100);

/// Asks a server about the keys of a table, and writes the rows that match.
///
/// # Errors
/// With the exit code of the command line. Then nothing is written but the state file.
pub fn query(config: &QueryConfig, interrupt: &Interrupt, events: &dyn Events) -> Result<QueryReport, Failure> {
    let started = Instant::now();
    let goes_on = || may_go_on(interrupt, Deadline::of(config.deadline, started), USES_LOG);
    let log = RunLog::new(config.log.as_ref(), Subject::of_query(config), &goes_on, events)?;
    let asked = thread::scope(|scope| {
        let watch = Watch::start(scope, events);
        all_steps(&Context { config, log: &log, interrupt, events, watch: &watch, started })
    });
    let failure = asked.as_ref().map_or_else(|failure| Some(failure.clone()), QueryReport::failure);
    log.end(failure.as_ref(), &goes_on, events);
    asked
}

/// What a query does that waits for the log.
const USES_LOG: &str = "another process used the log";

/// Why a query that waits for another process must end, if it must.
fn may_go_on(interrupt: &Interrupt, deadline: Option<Deadline>, busy: &str) -> Result<(), Failure> {
    interrupt.reason().map_or(Ok(()), Err)?;
    deadline.map_or(Ok(()), |deadline| deadline.check(busy))
}

/// The steps of a query, in their order. Each takes the state that the one before it gave.
fn all_steps(ctx: &Context<'_>) -> Result<QueryReport, Failure> {
    refuse_alternatives(&ctx.config.source.key)?;
    check_post_quantum(ctx.config.post_quantum, &ctx.config.protection)?;
    if let Some(policy) = &ctx.config.policy {
        let QueryConfig { security, post_quantum, ref source, ref protection, .. } = *ctx.config;
        policy.check_connection(protection)?;
        policy.check_settings(&Intended::query(security, post_quantum, source))?;
    }
    check_files(ctx.config)?;
    let state = ctx.config.state.as_deref().map(prepared::resolved).transpose()?;
    let _lock = state.as_deref().map(|path| lock(path, ctx)).transpose()?;
    let mut own = Own::read(ctx)?;
    own.compare(ctx)?;
    let described = own.describe(ctx)?;
    let unasked = described.hash(ctx)?;
    let answered = unasked.ask(ctx, state.as_deref())?;
    answered.deliver(ctx)
}

/// What all steps of a query have from its caller, and when it began.
struct Context<'a> {
    config: &'a QueryConfig,
    log: &'a RunLog<'a>,
    interrupt: &'a Interrupt,
    events: &'a dyn Events,
    watch: &'a Watch<'a>,
    started: Instant,
}

impl Context<'_> {
    /// When the query must be over.
    fn deadline(&self) -> Option<Deadline> {
        Deadline::of(self.config.deadline, self.started)
    }

    /// Why a query that waits for another process to be counted must end, if it must.
    fn may_go_on(&self) -> Result<(), Failure> {
        may_go_on(self.interrupt, self.deadline(), "another run was counted")
    }

    /// How this side waits for what other processes hold.
    fn wait<'b>(&'b self, goes_on: &'b dyn Fn() -> Result<(), Failure>) -> Wait<'b> {
        Wait { goes_on, events: self.events }
    }

    /// Logs that this side is about to ask in another conversation, which both sides know by its session.
    fn begin(&self, session: [u8; 32]) -> Result<(), Failure> {
        self.log.converse(session);
        self.log.begin(&|| may_go_on(self.interrupt, self.deadline(), USES_LOG), self.events)
    }

    /// Connects to the server.
    fn reach(&self) -> Result<Connection, Failure> {
        self.watch.enter(Stage::Reaching, Gauge::Nothing);
        let stop = || self.interrupt.reason();
        let left = self.config.deadline.map(|deadline| deadline.saturating_sub(self.started.elapsed()));
        let (wait, flag) = match left {
            Some(left) if left < self.config.wait => (left, "--deadline"),
            _ => (self.config.wait, "--wait"),
        };
        let end = End::Connect(self.config.connect.clone());
        let bound = bind_end(&end, self.config.proxy.as_ref(), self.events)?;
        let retry = RetryPolicy { wait, flag, stop: &stop };
        let connection = reach_end(&bound, &self.config.protection, &retry, self.events)?.connection;
        if self.config.post_quantum {
            KeyExchange::require_post_quantum(connection.key_exchange)?;
        }
        self.events.connected();
        Ok(connection)
    }

    /// Opens the channel, and hears by `hear` what the server says of itself. The server is told if this side goes no
    /// further.
    fn open<T>(
        &self,
        connection: Connection,
        hear: impl FnOnce(&mut Channel) -> Result<T, Failure>,
    ) -> Result<(Channel, T), Failure> {
        let options = ChannelOptions {
            deadline: self.config.deadline,
            elapsed: self.started.elapsed(),
            ..ChannelOptions::default()
        };
        let mut ch = threads::open_channel(connection, Role::Receiver, options)?;
        self.interrupt.attach(ch.canceller());
        self.watch.count(ch.meter());
        self.log.meet(ch.authenticated_peer().map(|peer| peer.key));
        match hear(&mut ch) {
            Ok(heard) => Ok((ch, heard)),
            Err(failure) => {
                ch.abort(&failure.for_peer());
                Err(failure)
            }
        }
    }

    /// Nothing may keep the socket open once a connection is over.
    fn let_go(&self) {
        self.interrupt.detach();
        self.watch.close();
    }
}

/// The own table, and where the rows go that match.
struct Own {
    source: Box<dyn Source>,
    sink: Box<dyn Sink>,
    table: KeyTable,
    rng: SecretRng,
    /// The table, compared with those of earlier queries, if the policy for the server asks for that.
    compared: Option<HeldTable>,
}

impl Own {
    fn read(ctx: &Context<'_>) -> Result<Self, Failure> {
        let position = Arc::new(OnceLock::new());
        ctx.watch.enter(Stage::Reading, Gauge::Position(position.clone()));
        let source = ctx.config.source.table.open()?;
        let sink = ctx.config.destination.sink.open(ResultKind::OwnRows, &*source)?;
        begin_pass(&*source, &position);
        let table = Columns::Payload(None).read(&*source, &ctx.config.source.key, None)?;
        Ok(Self { source, sink, table, rng: randomness()?, compared: None })
    }

    /// Holds the table against the policy for the server, before the server is reached.
    fn compare(&mut self, ctx: &Context<'_>) -> Result<(), Failure> {
        if let Some(policy) = &ctx.config.policy {
            policy.check_own_keys(self.table.distinct() as u64)?;
            self.compared = policy.compare(&self.table, (None, true), &ctx.wait(&|| ctx.may_go_on()))?;
            policy.check_counts(&Beginning::query(None), &ctx.wait(&|| ctx.may_go_on()))?;
        }
        Ok(())
    }

    /// Counts the query as the policy for the server says, before the server is asked for anything. Gives warnings.
    fn count(&self, ctx: &Context<'_>) -> Result<Vec<String>, Failure> {
        let Some(policy) = &ctx.config.policy else { return Ok(Vec::new()) };
        let begun = Beginning::query(self.compared.as_ref());
        Ok(policy.count(&begun, &ctx.wait(&|| ctx.may_go_on()))?.warnings)
    }
}

/// Waits until no other run uses the state file.
fn lock(state: &Path, ctx: &Context<'_>) -> Result<Lock, Failure> {
    let mut is_told = false;
    loop {
        if let Some(lock) = Lock::take(state)? {
            return Ok(lock);
        }
        if let Some(reason) = ctx.interrupt.reason() {
            return Err(reason);
        }
        if !std::mem::replace(&mut is_told, true) {
            ctx.events.notice("waiting for another query, which uses the state file");
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

#[cfg(test)]
mod tests;
