//! The socket of a channel without threads, with what comes in and goes out by it.

use std::io::{self, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::input::Input;

/// Most bytes that a connection keeps for frames on their way out when nothing is left to send.
const KEPT_BYTES: usize = 4 << 10;

/// The connection of a channel without threads.
pub(super) struct Direct {
    pub(super) socket: Arc<TcpStream>,
    pub(super) input: Mutex<Input>,
    pub(super) output: Mutex<Output>,
}

impl Direct {
    /// Waits for the socket, but no longer than `wait`.
    pub(super) fn poll(&self, events: PollFlags, wait: Duration) -> io::Result<()> {
        let wait = Timespec::try_from(wait).ok();
        match poll(&mut [PollFd::new(&*self.socket, events)], wait.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(fault) => Err(fault.into()),
        }
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Frames on their way out.
pub(super) struct Output {
    pub(super) writer: Box<dyn Write + Send>,
    pub(super) bytes: Vec<u8>,
    /// How many of `bytes` the writer has taken.
    pub(super) taken: usize,
    /// When something was last sent.
    pub(super) last: Instant,
}

impl Output {
    /// Writes as much as the socket takes; false if something is left.
    pub(super) fn push(&mut self) -> io::Result<bool> {
        while let Some(left) = self.bytes.get(self.taken..).filter(|left| !left.is_empty()) {
            match self.writer.write(left) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => self.taken += count,
                Err(fault) if fault.kind() == io::ErrorKind::Interrupted => {}
                Err(fault) if fault.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(fault) => return Err(fault),
            }
        }
        self.bytes.clear();
        self.bytes.shrink_to(KEPT_BYTES);
        self.taken = 0;
        match self.writer.flush() {
            Err(fault) if fault.kind() == io::ErrorKind::WouldBlock => Ok(false),
            flushed => flushed.map(|()| true),
        }
    }
}
