//! Reading the table again while clients are answered.

use std::sync::PoisonError;
use std::time::Instant;

use super::report::{Outcome, Reloaded, ServeLog};
use super::serving::{Served, Serving};
use super::table;
use super::versions::{follow, keep, keeper, outgrown, refuse_shrunk};
use crate::failure::{Failure, code};
use crate::service::answers::Answers;
use crate::service::metrics::add;
use crate::service::periods::Moment;
use crate::service::preparation::{Left, Preparation};
use crate::service::set::Set;
use crate::service::slow_hash::Terms;
use crate::service::{TableService, randomness};

impl<S: TableService> Serving<S> {
    /// Counts how reading the table again has ended.
    pub(super) fn counted(&self, outcome: Result<Reloaded, Failure>) -> Result<Reloaded, Failure> {
        add(if outcome.is_ok() { &self.counters.reloaded } else { &self.counters.reload_failed }, 1);
        outcome
    }

    /// Reads the table and replaces the set if it has changed, or in any case to get a new key.
    pub(super) fn read_again(&self, gets_new_key: bool, log: &dyn ServeLog) -> Result<Reloaded, Failure> {
        log.stage("reading the table again");
        let mut table = table::read(&self.config, log)?;
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
        let mut rng = randomness()?;
        let state = self.config.state.as_deref();
        let left = state.map(Left::beside).transpose()?.flatten();
        // A new key that was asked for is asked for again if the server starts: what was prepared under it is of no use.
        let preparation = match state.filter(|_| !gets_new_key) {
            Some(state) => Some(Preparation::open(state, left, &self.description, &mut rng, log)?),
            None => {
                left.map_or(Ok(()), |left| left.sweep("a new secret key was asked for", log))?;
                None
            }
        };
        let terms = Terms { memory: self.config.memory, stop: &|| None, keeper: keeper(preparation.as_ref()) };
        let set = set.with_slow_hashes(&self.description, &mut served.hashed, terms, |text| log.stage(text))?;
        let roster = served.roster.as_ref().filter(|_| !gets_new_key);
        let roster = roster.map(|roster| (&*server, roster, served.made));
        let (mut prepared, changes) = follow::<S>(&self.description, roster, set, preparation.as_ref(), &mut rng)?;
        // The file is ahead of what clients see: a server that is killed goes on from the version that they
        // have, or from a later one.
        let is_exhausted = self.answers.as_ref().is_some_and(Answers::is_exhausted);
        keep(&prepared, state, self.answers.as_ref())?;
        preparation.map_or(Ok(()), Preparation::finish)?;
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
