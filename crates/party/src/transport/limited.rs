//! A TCP stream with a time limit on a whole dialogue.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// A TCP stream whose reads and writes fail after an instant, however slowly the peer sends.
#[derive(Debug)]
pub struct Limited<'a> {
    socket: &'a TcpStream,
    until: Instant,
}

impl<'a> Limited<'a> {
    /// From now on, reads and writes together take at most `limit`.
    pub fn new(socket: &'a TcpStream, limit: Duration) -> Self {
        Self { socket, until: Instant::now() + limit }
    }

    /// Has the socket wait without a limit again.
    ///
    /// # Errors
    /// If the system does not take the setting.
    pub fn lift(self) -> io::Result<()> {
        self.socket.set_read_timeout(None)?;
        self.socket.set_write_timeout(None)
    }

    fn left(&self) -> io::Result<Option<Duration>> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(Some(left)) }
    }
}

impl Read for Limited<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.socket.set_read_timeout(self.left()?)?;
        (&mut &*self.socket).read(out)
    }
}

impl Write for Limited<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.socket.set_write_timeout(self.left()?)?;
        (&mut &*self.socket).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
