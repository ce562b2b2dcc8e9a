//! What a server opens before its protocol is known: its addresses, its files, and its table.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use vesica_party::transport::acceptor::{Acceptor, PlaintextAcceptor, TlsAcceptor};
use vesica_party::transport::tcp;

use super::check::check;
use super::config::{Clients, ServeConfig};
use super::report::ServeLog;
use super::table;
use crate::failure::{Failure, code};
use crate::log::ServerLog;
use crate::service::metrics::{Counters, OpenPage};
use crate::service::prepared::{self, Lock};
use crate::service::quota::{Meter, Quota};
use crate::table::KeyTable;

/// Longest time for a TLS handshake.
const TLS_LIMIT: Duration = Duration::from_secs(10);

/// What a server has before its protocol is known.
pub(super) struct Opened {
    pub lock: Option<Lock>,
    pub meter: Option<Meter>,
    pub acceptor: (String, Box<dyn Acceptor>),
    pub counters: Arc<Counters>,
    pub page: Option<OpenPage>,
    pub run_log: Option<ServerLog>,
    pub table: KeyTable,
}

impl Opened {
    /// Binds the addresses and reads the table.
    pub(super) fn new(config: &ServeConfig, log: &dyn ServeLog) -> Result<Self, Failure> {
        check(config)?;
        let run_log = open_log(config, log)?;
        let lock = config.state.as_deref().map(lock).transpose()?;
        let meter = config.quota.map(|quota| open_meter(quota, config.state.as_deref(), log)).transpose()?;
        // Bound first: a port that is taken is noticed before a long preparation.
        let acceptor = bind(config)?;
        let counters = Arc::new(Counters::default());
        let page = config.metrics.as_deref().map(|address| open_page(address, &counters, log)).transpose()?;
        log.stage("reading the table");
        let table = table::read(config, log)?;
        Ok(Self { lock, meter, acceptor, counters, page, run_log, table })
    }
}

/// The state file, whatever links lead to it.
///
/// # Errors
/// If what is counted for it was left beside a link, where it was until 2026-11-29: nobody would have
/// used anything.
pub(super) fn own_state(given: &Path, has_quota: bool) -> Result<PathBuf, Failure> {
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

fn lock(state: &Path) -> Result<Lock, Failure> {
    Lock::take(state)?.ok_or_else(|| {
        Failure::new(
            code::REFUSED,
            format_args!("another server uses the state file {}", state.display()),
            "stop the other one, or give this one a file of its own with --state",
        )
    })
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
            post_quantum: config.post_quantum,
        }),
    };
    Ok((address, acceptor))
}

/// Looks whether the log of runs can be written. Without TLS there is no identity to sign with, and nothing is logged.
///
/// # Errors
/// If not, and its user named it; else that is a warning.
fn open_log(config: &ServeConfig, log: &dyn ServeLog) -> Result<Option<ServerLog>, Failure> {
    let (Some(file), Clients::Keys(identity, _)) = (&config.log, &config.clients) else { return Ok(None) };
    match ServerLog::new(file.clone(), identity.clone()) {
        Ok(opened) => Ok(Some(opened)),
        Err(failure) if file.is_named => Err(failure),
        Err(failure) => {
            log.warning(&format!("the conversations of this server are in no log of runs: {failure}"));
            Ok(None)
        }
    }
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
