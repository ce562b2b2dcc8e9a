//! Connections within one process, for tests and benchmarks.

use std::collections::{HashMap, VecDeque};
use std::io::{self, Read, Write};
use std::net;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::{Connection, Shutdown};

/// Bytes that one direction holds before its writer blocks.
const CAPACITY_BYTES: usize = 1 << 20;

/// The two ends of a new connection.
pub fn pair() -> (Connection, Connection) {
    let (there, back) = (Arc::new(Pipe::default()), Arc::new(Pipe::default()));
    let waiting = Arc::new(Mutex::new(HashMap::new()));
    let end = |outgoing: &Arc<Pipe>, incoming: &Arc<Pipe>, side| {
        let mut connection = Connection::new(
            ReadEnd(incoming.clone()),
            WriteEnd(outgoing.clone()),
            Ends { outgoing: outgoing.clone(), incoming: incoming.clone() },
        );
        connection.rendezvous = Some(Rendezvous { side, waiting: waiting.clone() });
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

/// Numbers of frames that one side of a fork has sent and taken when it begins to wait.
#[derive(Clone, Copy)]
struct Waiting {
    sent: u64,
    taken: u64,
}

type WaitingForks = HashMap<Vec<u16>, [Option<Waiting>; 2]>;

/// Where the two ends of a connection within one process say what they wait for.
///
/// Only the peer's end of a fork can end a wait on that fork. So when both ends wait, and each has
/// taken all frames that the other has sent, they wait for ever: a protocol's mistake, which fails
/// at once instead of hanging a test.
#[derive(Clone)]
pub struct Rendezvous {
    /// 0 or 1.
    side: usize,
    waiting: Arc<Mutex<WaitingForks>>,
}

impl Rendezvous {
    /// Says that this side waits on the fork at `path`, with `sent` frames sent and `taken` frames
    /// taken on it so far. True if the other side waits as well and nothing is under way.
    #[expect(clippy::indexing_slicing, reason = "there are two sides, 0 and 1")]
    pub(crate) fn wait(&self, path: &[u16], sent: u64, taken: u64) -> bool {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let sides = waiting.entry(path.to_vec()).or_default();
        sides[self.side] = Some(Waiting { sent, taken });
        sides[1 - self.side].is_some_and(|other| other.sent == taken && other.taken == sent)
    }

    /// Says that this side waits no longer.
    #[expect(clippy::indexing_slicing, reason = "there are two sides, 0 and 1")]
    pub(crate) fn resume(&self, path: &[u16]) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sides) = waiting.get_mut(path) {
            sides[self.side] = None;
        }
    }
}
