//! Connections within one process, for tests and benchmarks.

use std::collections::{HashMap, VecDeque};
use std::io::{self, Read, Write};
use std::net;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use super::{Connection, Shutdown};

/// Bytes that one direction holds before its writer blocks.
const CAPACITY_BYTES: usize = 1 << 20;

/// The two ends of a new connection.
pub fn pair() -> (Connection, Connection) {
    let (there, back) = (Arc::new(Pipe::default()), Arc::new(Pipe::default()));
    let forks = Arc::default();
    let end = |outgoing: &Arc<Pipe>, incoming: &Arc<Pipe>, side| {
        let mut connection = Connection::new(
            ReadEnd(incoming.clone()),
            WriteEnd(outgoing.clone()),
            Ends { outgoing: outgoing.clone(), incoming: incoming.clone() },
        );
        connection.rendezvous = Some(Rendezvous { side, forks: Arc::clone(&forks) });
        connection
    };
    (end(&there, &back, 0), end(&back, &there, 1))
}

/// One direction of a connection.
#[derive(Default)]
struct Pipe {
    state: Mutex<PipeState>,
    changed: Condvar,
}

#[derive(Default)]
struct PipeState {
    bytes: VecDeque<u8>,
    /// Whether the writer has ended: the reader gets the bytes that are there, then end-of-file.
    ended: bool,
    /// Whether the reader has ended: the writer gets an error, the reader end-of-file.
    dropped: bool,
}

impl Pipe {
    fn lock(&self) -> MutexGuard<'_, PipeState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&'a self, state: MutexGuard<'a, PipeState>) -> MutexGuard<'a, PipeState> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self) {
        self.lock().ended = true;
        self.changed.notify_all();
    }

    fn drop_input(&self) {
        self.lock().dropped = true;
        self.changed.notify_all();
    }
}

struct ReadEnd(Arc<Pipe>);

impl Read for ReadEnd {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let mut state = self.0.lock();
        while state.bytes.is_empty() && !state.ended && !state.dropped {
            state = self.0.wait(state);
        }
        if state.dropped {
            return Ok(0);
        }
        let count = state.bytes.read(out)?;
        self.0.changed.notify_all();
        Ok(count)
    }
}

impl Drop for ReadEnd {
    fn drop(&mut self) {
        self.0.drop_input();
    }
}

struct WriteEnd(Arc<Pipe>);

impl Write for WriteEnd {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.0.lock();
        while state.bytes.len() >= CAPACITY_BYTES && !state.ended && !state.dropped {
            state = self.0.wait(state);
        }
        if state.ended || state.dropped {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let fitting = bytes.get(..CAPACITY_BYTES - state.bytes.len()).unwrap_or(bytes);
        state.bytes.extend(fitting);
        self.0.changed.notify_all();
        Ok(fitting.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for WriteEnd {
    fn drop(&mut self) {
        self.0.end();
    }
}

struct Ends {
    outgoing: Arc<Pipe>,
    incoming: Arc<Pipe>,
}

impl Shutdown for Ends {
    fn close(&self, how: net::Shutdown) -> io::Result<()> {
        if how != net::Shutdown::Read {
            self.outgoing.end();
        }
        if how != net::Shutdown::Write {
            self.incoming.drop_input();
        }
        Ok(())
    }
}

/// One side's end of a fork.
#[derive(Clone, Copy, Default)]
struct End {
    /// Numbers of frames sent, and taken when its last wait began.
    sent: u64,
    taken: u64,
    waits: bool,
    opened: bool,
    /// The thread that used it last.
    user: Option<ThreadId>,
}

type BothEnds = [End; 2];

/// The forks of a connection by their paths.
#[derive(Default)]
struct Forks(HashMap<Vec<u16>, BothEnds>);

#[expect(clippy::indexing_slicing, reason = "there are two sides, 0 and 1")]
impl Forks {
    fn end(&mut self, side: usize, path: &[u16]) -> &mut End {
        &mut self.0.entry(path.to_vec()).or_default()[side]
    }

    /// The thread that would send on the fork at `path`, as far as that is known: one that has used
    /// the fork, or one that may still open it.
    fn user(&self, side: usize, path: &[u16]) -> Option<ThreadId> {
        let end = self.0.get(path).map(|ends| ends[side]).unwrap_or_default();
        if end.user.is_some() || end.opened {
            return end.user;
        }
        path.split_last().and_then(|(_, parent)| self.user(side, parent))
    }

    /// Where the thread waits that `side`, which waits on the fork at `path`, waits for; `None` if it
    /// does not wait, if a frame is under way, or if no thread is known.
    fn next(&self, side: usize, path: &[u16]) -> Option<&[u16]> {
        let peer = 1 - side;
        let ends = self.0.get(path)?;
        let user = self.user(peer, path).filter(|_| ends[peer].sent == ends[side].taken)?;
        let waits = |ends: &BothEnds| ends[peer].waits && ends[peer].user == Some(user);
        self.0.iter().find(|(_, ends)| waits(ends)).map(|(path, _)| path.as_slice())
    }

    /// Whether `side`, which waits on the fork at `path`, does so for ever: one waits for the other
    /// in a circle.
    fn is_circle(&self, mut side: usize, path: &[u16]) -> bool {
        let mut path = path;
        // Longer than any walk that ends.
        for _ in 0..=2 * self.0.len() {
            let Some(next) = self.next(side, path) else { return false };
            (side, path) = (1 - side, next);
        }
        true
    }
}

/// Where the two ends of a connection within one process say what they wait for.
///
/// A wait on a fork is ended by the thread that uses the peer's end of it, or that may still open it.
/// When all such threads wait for each other and no frame is under way, they wait for ever: a
/// protocol's mistake, which fails at once instead of hanging a test. A fork that was opened and not
/// used yet may be given to any thread, and nobody is said to wait for that.
#[derive(Clone)]
pub struct Rendezvous {
    /// 0 or 1.
    side: usize,
    forks: Arc<Mutex<Forks>>,
}

impl Rendezvous {
    fn lock(&self) -> MutexGuard<'_, Forks> {
        self.forks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says that this side has opened the fork at `path`.
    pub(crate) fn open(&self, path: &[u16]) {
        self.lock().end(self.side, path).opened = true;
    }

    /// Says that this thread has sent a frame on the fork at `path`, `sent` in all.
    pub(crate) fn send(&self, path: &[u16], sent: u64) {
        let mut forks = self.lock();
        let end = forks.end(self.side, path);
        (end.sent, end.user) = (sent, Some(thread::current().id()));
    }

    /// Says that this thread waits on the fork at `path`, with `taken` frames taken on it so far. True
    /// if it would wait for ever.
    pub(crate) fn wait(&self, path: &[u16], taken: u64) -> bool {
        let mut forks = self.lock();
        let end = forks.end(self.side, path);
        (end.taken, end.waits, end.user) = (taken, true, Some(thread::current().id()));
        forks.is_circle(self.side, path)
    }

    /// Says that this side waits no longer on the fork at `path`.
    pub(crate) fn resume(&self, path: &[u16]) {
        self.lock().end(self.side, path).waits = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sides() -> [Rendezvous; 2] {
        let forks = Arc::default();
        [0, 1].map(|side| Rendezvous { side, forks: Arc::clone(&forks) })
    }

    /// What `wait` says on another thread.
    fn elsewhere(side: &Rendezvous, wait: impl FnOnce(&Rendezvous) -> bool + Send) -> bool {
        thread::scope(|scope| scope.spawn(|| wait(side)).join().unwrap())
    }

    #[test]
    fn a_circle_over_two_forks_is_seen_by_the_last_to_wait() {
        let [a, b] = sides();
        a.open(&[0]);
        a.send(&[0], 1);
        assert!(!a.wait(&[], 0));
        // The frame on the fork is under way.
        assert!(!elsewhere(&b, |b| b.wait(&[0], 0)));
        b.resume(&[0]);
        assert!(elsewhere(&b, |b| {
            b.send(&[], 0);
            b.wait(&[0], 1)
        }));
    }

    #[test]
    fn a_fork_that_is_not_open_waits_for_its_parents_thread() {
        let [a, b] = sides();
        elsewhere(&b, |b| {
            b.send(&[], 1);
            b.wait(&[0], 0)
        });
        assert!(a.wait(&[], 1));
    }

    #[test]
    fn a_fork_that_any_thread_may_still_use_is_waited_for() {
        let [a, b] = sides();
        elsewhere(&b, |b| {
            b.send(&[], 1);
            b.wait(&[0], 0)
        });
        a.open(&[0]);
        assert!(!a.wait(&[], 1));
    }

    #[test]
    fn a_thread_that_works_is_waited_for() {
        let [a, b] = sides();
        elsewhere(&b, |b| {
            b.send(&[0], 1);
            b.wait(&[1], 0)
        });
        elsewhere(&a, |a| {
            a.send(&[1], 0);
            false
        });
        assert!(!a.wait(&[0], 1));
    }
}
