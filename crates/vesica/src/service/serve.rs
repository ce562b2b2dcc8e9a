//! The server's side: from a table to a prepared set, and to answers.

mod answer;
mod check;
mod config;
mod open;
mod reload;
mod report;
mod serving;
mod start;
mod table;
mod versions;

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use vesica_party::service::Stop;

use self::check::{Settled, refuse_for_auto};
use self::open::{Opened, own_state};
use self::serving::Serving;
use self::table::describe;
use super::choose::{self, AUTO, Choice};
use super::periods::Moment;
use super::{TableService, WithService, offered, randomness, with_service};
use crate::failure::Failure;
use crate::table::KeyTable;
pub use config::{Clients, ServeConfig};
pub use report::{Origin, Outcome, Reloaded, ServeLog, Started};

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

impl<S: TableService> Serve for Serving<S> {
    fn run(&self, stop: &Stop, log: &dyn ServeLog) {
        self.answer(stop, log);
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
