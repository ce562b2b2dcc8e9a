//! The lines of one run.

use std::cell::{Cell, RefCell};
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;

use vesica_party::transport::tls::{Identity, PublicKey};
use vesica_structures::rng::SecretRng;

use super::file::OpenLog;
use super::{Agreed, Entry, Event, LogFile, Why};
use crate::failure::{Failure, code, escaped};
use crate::handshake::clock;
use crate::noise;
use crate::receipt::to_hex;
use crate::session::{Config, Events, Protection};

/// What is logged of a run.
pub(crate) struct RunLog<'a> {
    config: &'a Config,
    file: Option<LogFile>,
    run: String,
    agreed: RefCell<Option<Agreed>>,
    /// The key that the partner has proved to hold, once it is known.
    peer_key: Cell<Option<PublicKey>>,
    statement: RefCell<Option<String>>,
}

/// What the partner hears of a log that cannot be written.
const TOLD: &str = "its log of runs cannot be written";

impl<'a> RunLog<'a> {
    /// For a run with this configuration. Runs without TLS have no identity to sign with, and are not logged.
    ///
    /// # Errors
    /// If the log cannot be written, and its user named it; else that is a warning.
    pub fn new(config: &'a Config, events: &dyn Events) -> Result<Self, Failure> {
        let mut log = Self { file: config.log.clone(), ..Self::none(config) };
        let Protection::Tls { identity, .. } = &config.protection else { return Ok(Self { file: None, ..log }) };
        if let Some(file) = &log.file
            && let Err(failure) = open(file, identity)
        {
            if file.is_named {
                return Err(Failure { told: Some(TOLD), ..failure });
            }
            events.warning(&format!("this run is in no log: {}; {}", failure.fault, failure.mend));
            log.file = None;
        }
        Ok(log)
    }

    /// For a run that is in no log.
    pub fn none(config: &'a Config) -> Self {
        let number = SecretRng::from_os().map(|mut rng| rng.block()).unwrap_or_default();
        let run = to_hex(&number.to_le_bytes());
        Self {
            config,
            file: None,
            run,
            agreed: RefCell::default(),
            peer_key: Cell::default(),
            statement: RefCell::default(),
        }
    }

    /// Notes which key the partner has shown, for all lines from here on.
    pub fn meet(&self, peer_key: Option<PublicKey>) {
        self.peer_key.set(peer_key);
    }

    /// Notes what both sides agreed on, for all lines from here on.
    pub fn agree(&self, agreed: impl FnOnce() -> Agreed) {
        if self.file.is_some() {
            *self.agreed.borrow_mut() = Some(agreed());
        }
    }

    /// Notes that the protocol is about to begin.
    ///
    /// # Errors
    /// If that cannot be written, and the log's user named it: the run must not begin then. Else that is a warning.
    pub fn begin(&self, events: &dyn Events) -> Result<(), Failure> {
        let Some(file) = &self.file else { return Ok(()) };
        match self.append(Event::Begun, None) {
            Err(failure) if file.is_named => Err(Failure { told: Some(TOLD), ..failure }),
            Err(failure) => {
                events.warning(&format!("the beginning of this run is not in the log: {}", failure.fault));
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    /// Notes what both sides sign.
    pub fn state(&self, statement: &[u8]) {
        *self.statement.borrow_mut() = Some(to_hex(blake3::hash(statement).as_bytes()));
    }

    /// Notes how the run ended. What cannot be written any more is said, and changes nothing.
    pub fn end(&self, failure: Option<&Failure>, events: &dyn Events) {
        let event = match failure.map(|failure| failure.code) {
            None => Event::Completed,
            Some(code::REFUSED | code::MISMATCH | code::USAGE) => Event::Refused,
            Some(_) => Event::Failed,
        };
        if self.file.is_some()
            && let Err(lost) = self.append(event, failure)
        {
            events.warning(&format!("the end of this run is not in the log: {}", lost.fault));
        }
    }

    fn append(&self, event: Event, failure: Option<&Failure>) -> Result<(), Failure> {
        let (Some(file), Protection::Tls { identity, peer }) = (&self.file, &self.config.protection) else {
            return Ok(());
        };
        let left = || {
            let noise = self.config.settings.noise.as_ref()?;
            noise::left(&noise.budget, &peer.known_as().fingerprint().to_string())
        };
        let epsilon_left = if event == Event::Begun { None } else { left() };
        OpenLog::open(&file.path, identity.public())?.append(identity, |number, previous| Entry {
            number,
            previous,
            time: clock::now(),
            run: self.run.clone(),
            event,
            role: self.config.role,
            partner: self.peer_key.get().unwrap_or_else(|| peer.known_as()).to_string(),
            task: self.config.task.name().to_owned(),
            security: self.config.security,
            policy: self.config.policy.as_ref().map(|policy| policy.digest_text()),
            agreed: self.agreed.borrow().clone(),
            statement: self.statement.borrow().clone(),
            epsilon_left,
            failure: failure.map(|failure| Why { code: failure.code, fault: escaped(&failure.fault) }),
            vesica: env!("CARGO_PKG_VERSION").to_owned(),
        })
    }
}

/// Opens the log, to see whether it can be written. The folder of the default place is made.
fn open(file: &LogFile, identity: &Identity) -> Result<(), Failure> {
    if let Some(folder) = file.path.parent().filter(|_| !file.is_named) {
        // Without it, opening the log says why.
        let _ = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    }
    OpenLog::open(&file.path, identity.public()).map(drop)
}
