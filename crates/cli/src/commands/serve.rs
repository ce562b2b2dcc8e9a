//! `vesica serve`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1};
use signal_hook::iterator::Signals;
use vesica::Failure;
use vesica::failure::code;
use vesica::handshake::printable_within;
use vesica::party::service::{ClientIdentity, Query, Stop};
use vesica::party::transport::tls::AcceptedKeys;
use vesica::party::{Abort, Role};
use vesica::service::{
    self, Changes, Clients, Origin, Outcome as Reload, Quota, Reloaded, Serve, ServeConfig, ServeLog, Started,
};
use vesica::table::OpenSource;
use vesica::task::{self, Flags};
use vesica::threads;
use vesica::words::counted;

use super::clients::{self, ReadAgain};
use super::sides::{log_file, names, own_table, usage};
use crate::args::{LogName, ServeArgs};
use crate::identity;
use crate::outcome::Outcome;
use crate::settings::Revoked;
use crate::{signals, stderr};

/// Longest fault of a connection in the log, in characters. A client's part of it has at most 1,024
/// bytes.
const MOST_FAULT: usize = 2048;

/// Time after which a secret key that could not be replaced is tried again.
const TRY_AGAIN: Duration = Duration::from_secs(600);

pub fn run(args: ServeArgs, verbose: u8) -> Outcome {
    let log = Log::new(args.log, verbose);
    let signals = signals::caught(&[SIGHUP, SIGUSR1, SIGINT, SIGTERM])?;
    let stop = Stop::new();
    let signalled = Signalled::watch(signals, stop.clone())?;
    let is_standard_input = args.table.input == "-";
    let client_file = args.clients.clone();
    let (config, mut revoked) = config(args, &|text| stderr::warning(text))?;
    let accepted = match &config.clients {
        Clients::Keys(_, accepted) => Some(accepted.clone()),
        Clients::InsecurePlaintext => None,
    };
    let (serve, started) = service::start(config, &log)?;
    // Before anybody reads that the server listens, and stops it.
    signalled.set_running();
    log.started(&started);
    // The server does not wait for a long table when it stops.
    threads::start("vesica-reload", {
        let (serve, stop, signalled) = (serve.clone(), stop.clone(), signalled.clone());
        move || {
            let mut not_before = Instant::now();
            while !stop.is_stopped() {
                if take(&signalled.0.reload) {
                    if let (Some(path), Some(accepted)) = (&client_file, &accepted) {
                        log.clients(clients::read_again(path, accepted, &mut revoked));
                    }
                    log.reloaded(if is_standard_input { Err(read_once()) } else { serve.reload(&log) });
                }
                let is_due = serve.is_rotation_due() && Instant::now() >= not_before;
                if take(&signalled.0.rotate) || is_due {
                    let rotated = if is_standard_input { Err(read_once()) } else { serve.rotate(&log) };
                    if rotated.is_err() {
                        not_before = Instant::now() + TRY_AGAIN;
                    }
                    log.rotated(rotated);
                }
                thread::sleep(Duration::from_millis(100));
            }
        }
    })?;
    serve.run(&stop, &log);
    let signal = signalled.stopped_by();
    log.write("stopped", &format!("stopped by {signal}"), &[("signal", json!(signal))]);
    Ok(())
}

fn read_once() -> Failure {
    usage("standard input cannot be read again", "name a file with --input, and replace that file before SIGHUP")
}

/// What signals have asked for.
#[derive(Clone)]
struct Signalled(std::sync::Arc<Flagged>);

#[derive(Default)]
struct Flagged {
    is_running: AtomicBool,
    reload: AtomicBool,
    rotate: AtomicBool,
    is_terminated: AtomicBool,
}

/// Whether a signal has asked for this since the last time.
fn take(flag: &AtomicBool) -> bool {
    flag.swap(false, Ordering::SeqCst)
}

impl Signalled {
    /// From now on SIGHUP asks for a reload, SIGUSR1 for a new secret key, and SIGINT and SIGTERM stop the server; a second one of
    /// these, or one while the set is still prepared, ends the process at once.
    fn watch(mut signals: Signals, stop: Stop) -> Result<Self, Failure> {
        let flagged = Self(Default::default());
        let flags = flagged.clone();
        threads::start("vesica-signals", move || {
            for signal in signals.forever() {
                let code = match signal {
                    SIGHUP => {
                        flags.0.reload.store(true, Ordering::SeqCst);
                        continue;
                    }
                    SIGUSR1 => {
                        flags.0.rotate.store(true, Ordering::SeqCst);
                        continue;
                    }
                    SIGINT => code::INTERRUPTED,
                    _ => code::TERMINATED,
                };
                flags.0.is_terminated.store(signal == SIGTERM, Ordering::SeqCst);
                if stop.is_stopped() || !flags.0.is_running.load(Ordering::SeqCst) {
                    signals::exit(code);
                }
                stop.stop();
            }
        })?;
        Ok(flagged)
    }

    /// The name of the last signal that ended the server.
    fn stopped_by(&self) -> &'static str {
        if self.0.is_terminated.load(Ordering::SeqCst) { "SIGTERM" } else { "SIGINT" }
    }

    fn set_running(&self) {
        self.0.is_running.store(true, Ordering::SeqCst);
    }
}

/// Starts a server of a table that this process has in memory.
///
/// # Errors
/// As `vesica serve` has them.
pub fn in_memory(
    args: ServeArgs,
    table: Arc<dyn OpenSource>,
    log: &dyn ServeLog,
    warn: &dyn Fn(&str),
) -> Result<(Arc<dyn Serve>, Started), Failure> {
    let (mut config, _) = config(args, warn)?;
    config.source.table = table;
    service::start(config, log)
}

/// What the flags say, and the user's list of revoked keys. `warn` hears of connections without TLS.
fn config(args: ServeArgs, warn: &dyn Fn(&str)) -> Result<(ServeConfig, Revoked), Failure> {
    threads::set(args.threads)?;
    refuse_open_questions(&args)?;
    let (payload, payload_duplicates) = (names(args.payload.clone()), args.payload_duplicates.clone());
    let flags = Flags { payload, payload_duplicates, ..Flags::default() };
    let settings = task::find("intersect")?.settings(Role::Sender, &flags)?;
    let mut revoked = Revoked::default();
    let clients = match &args.clients {
        _ if args.insecure_plaintext => {
            warn("--insecure-plaintext: the traffic is not encrypted, and anybody can ask");
            Clients::InsecurePlaintext
        }
        path => {
            let identity = identity::own(args.own_key(), &|text| stderr::note(text))?;
            revoked = Revoked::of_partners(None)?;
            revoked.refuse_own(identity.public())?;
            let keys = path.as_deref().map(|path| clients::read(path, &revoked)).transpose()?;
            if keys.as_ref().is_some_and(Vec::is_empty) {
                return Err(usage("the keys of all --clients are revoked", "add the .pub line of a client"));
            }
            let accepted = keys.map_or_else(AcceptedKeys::every, AcceptedKeys::any_of);
            Clients::Keys(identity, accepted)
        }
    };
    let config = ServeConfig {
        source: own_table(&args.table, &[])?,
        payload: settings.payload,
        memory: args.memory,
        protocol: args.protocol,
        expect_queries: args.expect_queries,
        security: args.security.into(),
        post_quantum: args.post_quantum,
        capacity: args.capacity,
        items_per_query: args.items_per_query,
        leak_prefix: args.leak_prefix,
        slow_hash: args.slow_hash,
        integer_bits: args.integer_bits,
        trust_clients: args.trust_clients,
        state: args.state,
        replace_state: args.replace_state,
        max_shrink: args.max_shrink,
        rotate_after: args.rotate_after,
        overlap: args.overlap,
        listen: args.listen,
        clients,
        quota: args.quota,
        enrolments: args.enrolments,
        alert_volume: args.alert_volume,
        metrics: args.metrics,
        max_clients: args.max_clients as usize,
        connections_per_client: args.connections_per_client as usize,
        idle: args.idle,
        log: log_file(args.run_log.as_deref(), args.no_run_log),
    };
    Ok((config, revoked))
}

/// Refuses a server whose flags do not say who may ask, and how much.
fn refuse_open_questions(args: &ServeArgs) -> Result<(), Failure> {
    if args.clients.is_none() && !args.any_client && !args.insecure_plaintext {
        return Err(usage(
            "nothing says who may ask",
            "name a file with the public keys of the clients with --clients; --any-client answers everybody",
        ));
    }
    if args.quota.is_none() && !args.no_quota && !args.any_client {
        return Err(usage(
            "nothing says how many items a client may ask about",
            "say --quota, for example --quota 1000/day with --state FILE; or --no-quota, with which a client can try out \
             all keys that it can guess",
        ));
    }
    Ok(())
}

/// What a server or a relay says on standard error.
#[derive(Clone, Copy)]
pub(super) struct Log {
    form: LogName,
    is_verbose: bool,
}

impl Log {
    /// A log of this form; `verbose` has it say more.
    pub(super) fn new(form: LogName, verbose: u8) -> Self {
        Self { form, is_verbose: verbose > 0 }
    }

    /// One line: `text`, or the event with these fields.
    pub(super) fn write(&self, event: &str, text: &str, fields: &[(&str, Value)]) {
        if self.form == LogName::Text {
            return match text.strip_prefix("warning: ") {
                Some(text) => stderr::warning(text),
                None => stderr::say(text),
            };
        }
        let time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64());
        let mut line = json!({ "time": time, "event": event });
        for (name, value) in fields {
            if let Some(object) = line.as_object_mut() {
                object.insert((*name).to_owned(), value.clone());
            }
        }
        stderr::say(line);
    }

    fn started(&self, started: &Started) {
        let Started { address, metrics, keys, capacity, origin, protocol, leak_prefix } = started;
        let how = match origin {
            Origin::Prepared => "prepared".to_owned(),
            Origin::Kept => "the state file holds them".to_owned(),
            Origin::Updated(changes) => format!("the state file was updated: {}", told(changes)),
        };
        let page = metrics.as_ref().map(|page| format!("; metrics at http://{page}/metrics")).unwrap_or_default();
        self.write(
            "listening",
            &format!("{}, with room for {capacity} ({how}); listening on {address}{page}", of_keys(*keys)),
            &[
                ("address", json!(address)),
                ("metrics", json!(metrics)),
                ("protocol", json!(protocol)),
                ("leak_prefix", json!(leak_prefix)),
                ("keys", json!(keys)),
                ("capacity", json!(capacity)),
                ("prepared_before", json!(*origin != Origin::Prepared)),
                ("updated", json!(matches!(origin, Origin::Updated(_)))),
            ],
        );
    }

    fn clients(&self, ReadAgain { outcome, gone }: ReadAgain) {
        match outcome {
            Ok(count) => self.write(
                "clients",
                &format!("the clients' keys were read again: {count} may ask, {gone} may not any more"),
                &[("clients", json!(count)), ("removed", json!(gone))],
            ),
            Err(failure) => {
                let refused = counted(gone as u64, "revoked key", "revoked keys");
                let text = match gone {
                    0 => format!("error: the clients stay as they were: {failure}"),
                    _ => format!(
                        "error: {refused} may not ask any more, and the other clients stay as they were: {failure}"
                    ),
                };
                let fields = [("fault", json!(failure.fault)), ("mend", json!(failure.mend)), ("removed", json!(gone))];
                self.write("clients-failed", &text, &fields);
            }
        }
    }

    fn rotated(&self, outcome: Result<Reloaded, Failure>) {
        match outcome {
            Ok(Reloaded { now, .. }) => self.write(
                "rotated",
                &format!("the set has a new secret key: {}; each client enrols again", of_keys(now)),
                &[("keys", json!(now))],
            ),
            Err(failure) => self.write(
                "rotate-failed",
                &format!("error: the secret key stays as it was: {failure}"),
                &[("fault", json!(failure.fault)), ("mend", json!(failure.mend))],
            ),
        }
    }

    fn reloaded(&self, outcome: Result<Reloaded, Failure>) {
        match outcome {
            Ok(Reloaded { before, now, outcome: Reload::Updated(changes) }) => self.write(
                "reloaded",
                &format!(
                    "the table was read again: {}, {before} before; {}; clients get what has changed",
                    of_keys(now),
                    told(&changes)
                ),
                &[
                    ("keys", json!(now)),
                    ("keys_before", json!(before)),
                    ("added", json!(changes.added)),
                    ("removed", json!(changes.removed)),
                    ("changed", json!(changes.changed)),
                    ("prepared_anew", json!(false)),
                ],
            ),
            Ok(Reloaded { before, now, outcome: Reload::PreparedAnew }) => self.write(
                "reloaded",
                &format!(
                    "the table was read again: {}, {before} before; this protocol has no updates, so that the set was \
                     prepared anew under a new secret key, and each client enrols again",
                    of_keys(now)
                ),
                &[("keys", json!(now)), ("keys_before", json!(before)), ("prepared_anew", json!(true))],
            ),
            Ok(Reloaded { now, outcome: Reload::Unchanged, .. }) => self.write(
                "unchanged",
                &format!("the table was read again and has not changed: {}", of_keys(now)),
                &[("keys", json!(now))],
            ),
            Err(failure) => self.write(
                "reload-failed",
                &format!("error: the set stays as it was: {failure}"),
                &[("fault", json!(failure.fault)), ("mend", json!(failure.mend))],
            ),
        }
    }
}

fn of_keys(keys: u64) -> String {
    counted(keys, "key", "keys")
}

fn told(changes: &Changes) -> String {
    let Changes { added, removed, changed } = changes;
    format!("{added} added, {removed} removed, {changed} with other values")
}

fn name_of(client: Option<&ClientIdentity>) -> String {
    client.map_or_else(|| "unknown".to_owned(), client_name)
}

/// What a client is called in logs: the fingerprint of its key.
pub fn client_name(client: &ClientIdentity) -> String {
    match client {
        ClientIdentity::Key(key) => key.fingerprint().to_string(),
        ClientIdentity::Anonymous => "anonymous".to_owned(),
    }
}

impl ServeLog for Log {
    fn stage(&self, name: &str) {
        self.write("stage", &format!("{name} ..."), &[("stage", json!(name))]);
    }

    fn warning(&self, text: &str) {
        self.write("warning", &format!("warning: {text}"), &[("text", json!(text))]);
    }

    fn joined(&self, client: &ClientIdentity) {
        let client = client_name(client);
        self.write("joined", &format!("client {client} joined"), &[("client", json!(client))]);
    }

    fn volume(&self, client: &ClientIdentity, items: u64, threshold: Quota) {
        let client = client_name(client);
        let asked = counted(items, "item", "items");
        let text = format!("warning: client {client} has asked about {asked}; --alert-volume is {threshold}");
        let fields = [("client", json!(client)), ("items", json!(items)), ("threshold", json!(threshold.to_string()))];
        self.write("volume", &text, &fields);
    }

    fn answered(&self, query: &Query, took: Duration) {
        // A line for each query would drown the others.
        if self.is_verbose || self.form == LogName::Json {
            let client = name_of(Some(&query.client));
            let seconds = took.as_secs_f64();
            let text = format!("client {client}: query {} answered in {seconds:.4} s", query.number);
            let fields = [("client", json!(client)), ("query", json!(query.number)), ("seconds", json!(seconds))];
            self.write("answered", &text, &fields);
        }
    }

    fn ended(&self, client: Option<&ClientIdentity>, from: &str, outcome: &Result<(), Abort>) {
        let client = name_of(client);
        let fault = outcome.as_ref().err().map(|abort| printable_within(&abort.to_string(), MOST_FAULT));
        let text = match &fault {
            Some(fault) => format!("client {client} from {from}: {fault}"),
            None => format!("client {client} left"),
        };
        self.write("ended", &text, &[("client", json!(client)), ("from", json!(from)), ("fault", json!(fault))]);
    }
}
