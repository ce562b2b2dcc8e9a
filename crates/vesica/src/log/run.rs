//! The lines of one run, or of one query to a server.

use std::cell::RefCell;
use std::path::Path;
use std::time::{Duration, Instant};

use vesica_party::transport::tls::{Identity, PeerKeys, PublicKey};
use vesica_party::{Role, Security};
use vesica_structures::rng::SecretRng;

use super::file::OpenLog;
use super::{Agreed, Conversation, Entry, Event, LogFile, LookUp, QUERY, TOLD, Why};
use crate::failure::{Failure, escaped};
use crate::handshake::clock;
use crate::noise;
use crate::policy::Policy;
use crate::receipt::to_hex;
use crate::service::QueryConfig;
use crate::session::{Config, Events, Protection};

/// How long the last line of a run waits for other processes if the run has no time left.
const LAST_LINE: Duration = Duration::from_secs(1);

/// What the settings say of a run that is logged.
pub(crate) struct Subject<'a> {
    identity: &'a Identity,
    peer: &'a PeerKeys,
    role: Role,
    task: &'static str,
    security: Security,
    policy: Option<&'a Policy>,
    /// The file of budgets of a run with noise.
    budget: Option<&'a Path>,
}

impl<'a> Subject<'a> {
    /// Of a run; none without TLS, where there is no identity to sign with.
    pub fn of_run(config: &'a Config) -> Option<Self> {
        let Protection::Tls { identity, peer } = &config.protection else { return None };
        Some(Self {
            identity,
            peer,
            role: config.role,
            task: config.task.name(),
            security: config.security,
            policy: config.policy.as_deref(),
            budget: config.settings.noise.as_ref().map(|noise| &*noise.budget),
        })
    }

    /// Of a query; likewise.
    pub fn of_query(config: &'a QueryConfig) -> Option<Self> {
        let Protection::Tls { identity, peer } = &config.protection else { return None };
        Some(Self {
            identity,
            peer,
            role: Role::Receiver,
            task: QUERY,
            security: config.security,
            policy: config.policy.as_deref(),
            budget: None,
        })
    }

    /// How much epsilon the partner has left.
    fn epsilon_left(&self) -> Option<String> {
        noise::left(self.budget?, &self.peer.known_as().fingerprint().to_string())
    }
}

/// What is logged of a run.
pub(crate) struct RunLog<'a> {
    /// Nothing of a run that is in no log.
    kept: Option<(&'a LogFile, Subject<'a>)>,
    run: String,
    learnt: RefCell<Learnt>,
}

/// What a run has come to know.
#[derive(Default)]
struct Learnt {
    /// The key that the partner has proved to hold.
    peer_key: Option<PublicKey>,
    agreed: Option<Agreed>,
    look_up: Option<LookUp>,
    statement: Option<String>,
}

impl<'a> RunLog<'a> {
    /// For a run that is logged in `file`. While another process uses the log, this waits as long as `goes_on` lets it.
    ///
    /// # Errors
    /// If the log cannot be written, and its user named it; else that is a warning. Or with the reason that `goes_on`
    /// gives.
    pub fn new(
        file: Option<&'a LogFile>,
        subject: Option<Subject<'a>>,
        goes_on: &dyn Fn() -> Result<(), Failure>,
        events: &dyn Events,
    ) -> Result<Self, Failure> {
        let mut log = Self { kept: file.zip(subject), ..Self::none() };
        if let Some((file, subject)) = &log.kept
            && let Err(failure) = file.check(subject.identity, goes_on)
        {
            goes_on()?;
            if file.is_named {
                return Err(Failure { told: Some(TOLD), ..failure });
            }
            events.warning(&format!("this run is in no log: {}; {}", failure.fault, failure.mend));
            log.kept = None;
        }
        Ok(log)
    }

    /// For a run that is in no log.
    pub fn none() -> Self {
        let number = SecretRng::from_os().map(|mut rng| rng.block()).unwrap_or_default();
        Self { kept: None, run: to_hex(&number.to_le_bytes()), learnt: RefCell::default() }
    }

    /// Notes which key the partner has shown, for all lines from here on.
    pub fn meet(&self, peer_key: Option<PublicKey>) {
        self.learnt.borrow_mut().peer_key = peer_key;
    }

    /// Notes what both sides agreed on, for all lines from here on.
    pub fn agree(&self, agreed: impl FnOnce() -> Agreed) {
        if self.kept.is_some() {
            self.learnt.borrow_mut().agreed = Some(agreed());
        }
    }

    /// Notes what a server offers, for all lines from here on.
    pub fn look_up(&self, look_up: LookUp) {
        self.learnt.borrow_mut().look_up = Some(look_up);
    }

    /// Notes another conversation with the server.
    pub fn converse(&self, session: [u8; 32]) {
        if let Some(look_up) = &mut self.learnt.borrow_mut().look_up {
            look_up.conversations.push(Conversation { session: to_hex(&session), queries: 0 });
        }
    }

    /// Notes how many queries were answered in the last conversation.
    pub fn answered(&self, queries: u64) {
        if let Some(last) =
            self.learnt.borrow_mut().look_up.as_mut().and_then(|look_up| look_up.conversations.last_mut())
        {
            last.queries = queries;
        }
    }

    /// Notes that the protocol is about to begin. While another process uses the log, this waits as long as `goes_on` lets
    /// it.
    ///
    /// # Errors
    /// If that cannot be written, and the log's user named it: the run must not begin then. Else that is a warning. Or with
    /// the reason that `goes_on` gives.
    pub fn begin(&self, goes_on: &dyn Fn() -> Result<(), Failure>, events: &dyn Events) -> Result<(), Failure> {
        let Some((file, subject)) = &self.kept else { return Ok(()) };
        let Err(failure) = self.append(file, subject, Event::Begun, None, goes_on) else { return Ok(()) };
        goes_on()?;
        if file.is_named {
            return Err(Failure { told: Some(TOLD), ..failure });
        }
        events.warning(&format!("the beginning of this run is not in the log: {}", failure.fault));
        Ok(())
    }

    /// Notes what both sides sign.
    pub fn state(&self, statement: &[u8]) {
        self.learnt.borrow_mut().statement = Some(to_hex(blake3::hash(statement).as_bytes()));
    }

    /// Notes how the run ended. What cannot be written any more is said, and changes nothing. While another process uses
    /// the log, this waits as long as `goes_on` lets it, and a second in any case.
    pub fn end(&self, failure: Option<&Failure>, goes_on: &dyn Fn() -> Result<(), Failure>, events: &dyn Events) {
        let Some((file, subject)) = &self.kept else { return };
        let since = Instant::now();
        let goes_on = || if since.elapsed() < LAST_LINE { Ok(()) } else { goes_on() };
        let event = Event::of_end(failure.map(|failure| failure.code));
        if let Err(lost) = self.append(file, subject, event, failure, &goes_on) {
            events.warning(&format!("the end of this run is not in the log: {}", lost.fault));
        }
    }

    fn append(
        &self,
        file: &LogFile,
        subject: &Subject<'_>,
        event: Event,
        failure: Option<&Failure>,
        goes_on: &dyn Fn() -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let Learnt { peer_key, agreed, look_up, statement } = &*self.learnt.borrow();
        let entry = Entry {
            number: 0,
            previous: String::new(),
            time: clock::now(),
            run: self.run.clone(),
            event,
            role: subject.role,
            partner: peer_key.unwrap_or_else(|| subject.peer.known_as()).to_string(),
            task: subject.task.to_owned(),
            security: subject.security,
            policy: subject.policy.map(Policy::digest_text),
            agreed: agreed.clone(),
            look_up: look_up.clone(),
            statement: statement.clone(),
            epsilon_left: if event == Event::Begun { None } else { subject.epsilon_left() },
            failure: failure.map(|failure| Why { code: failure.code, fault: escaped(&failure.fault) }),
            vesica: env!("CARGO_PKG_VERSION").to_owned(),
        };
        OpenLog::open(&file.path, subject.identity.public(), goes_on)?.append(subject.identity, [entry])
    }
}
