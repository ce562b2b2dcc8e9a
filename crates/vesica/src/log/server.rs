//! The lines of a server, whose clients converse with it at the same time.
//!
//! One thread writes them all: what has gathered while it wrote is written together, with one head, so that the disk is
//! waited for once and not once a line. A conversation waits until its first line is on the disk, at most [`PATIENCE`].
//! Nobody waits for a last line: the thread that ends a conversation may be the one that lets clients in.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use vesica_party::service::Conversation as Visit;
use vesica_party::transport::tls::Identity;
use vesica_party::{Abort, Role, Security};
use vesica_structures::rng::SecretRng;

use super::file::{MOST_AT_ONCE, OpenLog};
use super::{Conversation, Entry, Event, LogFile, LookUp, QUERY, Why};
use crate::failure::{Failure, code};
use crate::handshake::clock;
use crate::receipt::to_hex;

/// Lines that wait to be written, beyond which there are none of clients who have not joined. Those who have are bounded by
/// the limits on connections.
const MOST_WAITING: usize = 1024;

/// How long a client that joins waits for its line: another process may have the log half as long, and a disk that does not
/// answer lets nobody in.
const PATIENCE: Duration = Duration::from_secs(60);

/// What is the same in all lines of a server.
pub(crate) struct Offered {
    pub security: Security,
    /// Without conversations, and without what a client has left.
    pub look_up: LookUp,
}

/// The log of a server.
pub(crate) struct ServerLog {
    file: LogFile,
    identity: Identity,
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Default)]
struct Queue {
    waiting: Vec<Waiting>,
    /// Lines that were not taken in, since too many waited.
    lost: usize,
    /// No line comes any more.
    is_closed: bool,
    /// Nobody writes any more.
    is_over: bool,
}

struct Waiting {
    entry: Entry,
    /// Whether it could be written, once that is known.
    outcome: Arc<OnceLock<bool>>,
}

impl ServerLog {
    /// Looks whether the log can be written.
    ///
    /// # Errors
    /// If not.
    pub fn new(file: LogFile, identity: Identity) -> Result<Self, Failure> {
        file.check(&identity, &|| Ok(()))?;
        Ok(Self { file, identity, queue: Mutex::default(), changed: Condvar::new() })
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that a client has joined, before it is served. Returns when that is on the disk, or after [`PATIENCE`].
    ///
    /// # Errors
    /// If it cannot be written, and the log's user named it: the client hears that it is refused.
    pub fn begin(&self, offered: Offered, visit: &Visit) -> Result<(), Abort> {
        let Some(entry) = entry(offered, visit, Event::Begun, None) else { return Ok(()) };
        let outcome = self.push(entry);
        let end = Instant::now() + PATIENCE;
        let mut queue = self.lock();
        let is_written = loop {
            let left = end.saturating_duration_since(Instant::now());
            match outcome.get() {
                Some(&is_written) => break is_written,
                None if queue.is_over || left.is_zero() => break false,
                None => {
                    let waited = self.changed.wait_timeout(queue, left);
                    queue = waited.unwrap_or_else(PoisonError::into_inner).0;
                }
            }
        };
        if is_written || !self.file.is_named {
            return Ok(());
        }
        Err(Abort::Local {
            code: code::OUTPUT,
            fault: "the server's log of runs cannot be written".into(),
            mend: "ask whoever runs the server to look at its disk".into(),
        })
    }

    /// Notes how a conversation has ended. Does not wait for the disk.
    pub fn end(&self, offered: Offered, visit: &Visit, why: Option<Why>) {
        let event = Event::of_end(why.as_ref().map(|why| why.code));
        if let Some(entry) = entry(offered, visit, event, why) {
            self.push(entry);
        }
    }

    fn push(&self, entry: Entry) -> Arc<OnceLock<bool>> {
        let outcome = Arc::<OnceLock<bool>>::default();
        let has_joined = entry.look_up.as_ref().is_some_and(|look_up| !look_up.conversations.is_empty());
        let mut queue = self.lock();
        if queue.waiting.len() >= MOST_WAITING && !has_joined {
            queue.lost += 1;
        } else if !queue.is_over {
            queue.waiting.push(Waiting { entry, outcome: outcome.clone() });
            self.changed.notify_all();
        }
        outcome
    }

    /// Writes lines until the log is closed. `warn` hears when that fails, and when it works again.
    pub fn write(&self, warn: &dyn Fn(&str)) {
        // Also where this thread panics: nobody waits for it then.
        let _over = SetWhenDropped(self);
        let mut lost = 0;
        while let Some(batch) = self.next() {
            let (entries, outcomes): (Vec<_>, Vec<_>) =
                batch.into_iter().map(|waiting| (waiting.entry, waiting.outcome)).unzip();
            let count = entries.len();
            let written = OpenLog::open(&self.file.path, self.identity.public(), &|| Ok(()))
                .and_then(|log| log.append(&self.identity, entries));
            match &written {
                Ok(()) => {
                    lost += std::mem::take(&mut self.lock().lost);
                    if lost > 0 {
                        warn(&format!("the log of runs is written again; {lost} lines of conversations are not in it"));
                        lost = 0;
                    }
                }
                Err(failure) => {
                    if lost == 0 {
                        let so = match self.file.is_named {
                            true => "clients are refused until it can be written",
                            false => "conversations are in no log until it can be written",
                        };
                        warn(&format!("{failure}; {so}"));
                    }
                    lost += count;
                }
            }
            for outcome in outcomes {
                // It is set once, here.
                let _ = outcome.set(written.is_ok());
            }
            // Whoever waits looks at the outcome under this lock.
            let _queue = self.lock();
            self.changed.notify_all();
        }
        lost += std::mem::take(&mut self.lock().lost);
        if lost > 0 {
            warn(&format!("{lost} lines of conversations are not in the log of runs"));
        }
    }

    /// The lines that are to be written next; none when the log is closed and all are.
    fn next(&self) -> Option<Vec<Waiting>> {
        let mut queue = self.lock();
        while queue.waiting.is_empty() {
            if queue.is_closed {
                return None;
            }
            queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
        let count = queue.waiting.len().min(MOST_AT_ONCE);
        Some(queue.waiting.drain(..count).collect())
    }

    /// Lets nobody wait for a line any more: nothing will write it.
    pub fn give_up(&self) {
        self.lock().is_over = true;
        self.changed.notify_all();
    }

    /// Has [`write`](Self::write) return once all lines are written.
    pub fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_all();
    }
}

struct SetWhenDropped<'a>(&'a ServerLog);

impl Drop for SetWhenDropped<'_> {
    fn drop(&mut self) {
        self.0.give_up();
    }
}

/// What is to be said of a conversation; nothing of one with a client without a key.
fn entry(offered: Offered, visit: &Visit, event: Event, why: Option<Why>) -> Option<Entry> {
    let Offered { security, mut look_up } = offered;
    // Both lines of a conversation have the same name, which is that of no other one.
    let run = match visit.session {
        Some(session) => to_hex(session.get(..16)?),
        None => to_hex(&SecretRng::from_os().ok()?.block().to_le_bytes()),
    };
    let conversation = |session: [u8; 32]| Conversation { session: to_hex(&session), queries: visit.answered };
    look_up.conversations = visit.session.map(conversation).into_iter().collect();
    Some(Entry {
        number: 0,
        previous: String::new(),
        time: clock::now(),
        run,
        event,
        role: Role::Sender,
        partner: visit.key?.to_string(),
        task: QUERY.to_owned(),
        security,
        policy: None,
        agreed: None,
        look_up: Some(look_up),
        statement: None,
        epsilon_left: None,
        failure: why,
        vesica: env!("CARGO_PKG_VERSION").to_owned(),
    })
}
