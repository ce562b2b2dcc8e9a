//! The start of a server: the set in its state file, brought to the table, or a new one.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use vesica_party::service::{Published, Server as _};
use vesica_structures::rng::SecretRng;

use super::config::ServeConfig;
use super::open::Opened;
use super::report::{Origin, ServeLog, Started};
use super::serving::{Served, Serving};
use super::table::describe;
use super::versions::{follow, keep, keeper, outgrown, refuse_shrunk};
use crate::failure::{Failure, code};
use crate::service::answers::Answers;
use crate::service::periods::Moment;
use crate::service::preparation::{Left, Preparation};
use crate::service::prepared::{self, Prepared, Unusable};
use crate::service::set::Set;
use crate::service::slow_hash::{Hashed, Terms};
use crate::service::volume::{Enrolments, Volume};
use crate::service::{Description, TableService, leak_of_prefix, randomness, trust_in_clients, trusts_clients};
use crate::table::KeyTable;

impl<S: TableService> Serving<S> {
    /// Starts a server with what was opened for it.
    pub(super) fn start(config: ServeConfig, opened: Opened, log: &dyn ServeLog) -> Result<(Self, Started), Failure> {
        let Opened { lock, meter, acceptor: (address, acceptor), counters, page, run_log, mut table } = opened;
        let keys = table.digests.len() as u64;
        let before = match &config.state {
            Some(path) => load_state::<S>(path, config.replace_state, log)?,
            None => None,
        };
        let mut rng = randomness()?;
        let left = config.state.as_deref().map(Left::beside).transpose()?.flatten();
        let description = match &before {
            Some(before) => describe(&config, &table, Some(&before.description), &mut rng)?,
            None => describe_new(&config, &table, left.as_ref(), &mut rng)?,
        };
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
            Some(before) if before.set_hash == set.hash => {
                left.map_or(Ok(()), |left| left.sweep("the state file has the set", log))?;
                (before, Origin::Kept)
            }
            before => {
                let open = |state: &PathBuf| Preparation::open(state, left, &description, &mut rng, log);
                let preparation = config.state.as_ref().map(open).transpose()?;
                let terms = Terms { memory: config.memory, stop: &|| None, keeper: keeper(preparation.as_ref()) };
                let set = set.with_slow_hashes(&description, &mut hashed, terms, |text| log.stage(text))?;
                let roster =
                    before.as_ref().and_then(|before| Some((&before.server, before.roster.as_ref()?, before.made)));
                log.stage(if roster.is_some() { "updating the set" } else { "preparing the set" });
                let (prepared, changes) = follow::<S>(&description, roster, set, preparation.as_ref(), &mut rng)?;
                keep(&prepared, config.state.as_deref(), answers.as_ref())?;
                // No set is served whose secret key could come back from this file.
                preparation.map_or(Ok(()), Preparation::finish)?;
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
            enrolments: (!config.clients.are_anybody()).then(|| Enrolments::new(config.enrolments)),
            counters,
            run_log,
            _lock: lock,
            config,
        };
        serve.counters.set_prepared(capacity);
        Ok((serve, started))
    }
}

/// What clients are told of a set that is not in the state file yet: as before, where its preparation broke off.
fn describe_new(
    config: &ServeConfig,
    table: &KeyTable,
    left: Option<&Left>,
    rng: &mut SecretRng,
) -> Result<Description, Failure> {
    if let Some(told) = left.and_then(Left::description) {
        let description = describe(config, table, Some(told), rng)?;
        let differences = told.differences(&description);
        if differences.is_empty() {
            return Ok(description);
        }
        // What has taken weeks is not lost for a slip of the pen.
        if !config.replace_state {
            return Err(Failure::new(
                code::REFUSED,
                format_args!("a preparation that broke off was begun with other settings: {}", differences.join("; ")),
                "use those settings to go on, or say --replace-state to begin anew",
            ));
        }
    }
    describe(config, table, None, rng)
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
