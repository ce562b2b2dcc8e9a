//! One TLS connection, read and written by two threads at once.
//!
//! The TLS state is behind a lock that is held for encrypting or decrypting, never while the socket
//! blocks. Over a socket that does not block, both halves fail with `WouldBlock`, and may be called
//! again: nothing is lost.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustls::Connection;

/// Most bytes that are read from the socket in one call.
const SOCKET_READ: usize = 256 << 10;

/// Bytes that are read at first, and again where little comes: a server has many connections on
/// which little comes.
const LEAST_READ: usize = 2 << 10;

/// Reads of little after which the buffer is given back.
const SMALL_READS: u32 = 8;

/// Most bytes that a connection keeps for records on their way out when nothing is left to send.
const KEPT_OUTGOING: usize = 16 << 10;

/// Plaintext that is encrypted before the socket is written: large for few calls, small enough to
/// stay in cache.
const ENCRYPT_AT_ONCE: usize = 128 << 10;

struct Shared {
    tls: Mutex<Connection>,
    /// Records on their way out. Held while they are written to the socket, so that they keep their
    /// order.
    outgoing: Mutex<Vec<u8>>,
    socket: Arc<TcpStream>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic elsewhere ends the run by itself; the state here is consistent between calls.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    /// Encrypts `plain` (or as much of it as is done at once) and writes all pending records to the
    /// socket, or as many as it takes without blocking.
    fn write(&self, plain: &[u8]) -> io::Result<usize> {
        let mut outgoing = lock(&self.outgoing);
        push(&self.socket, &mut outgoing)?;
        let taken = {
            let mut tls = lock(&self.tls);
            let taken = tls.writer().write(plain)?;
            while tls.wants_write() {
                tls.write_tls(&mut *outgoing)?;
            }
            taken
        };
        match push(&self.socket, &mut outgoing) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(taken),
            result => result.map(|()| taken),
        }
    }
}

/// Writes `bytes` to the socket, and takes out of them what was written.
#[expect(clippy::indexing_slicing, reason = "a socket takes no more bytes than it was given")]
fn push(mut socket: &TcpStream, bytes: &mut Vec<u8>) -> io::Result<()> {
    let mut sent = 0;
    let result = loop {
        if sent == bytes.len() {
            break Ok(());
        }
        match socket.write(&bytes[sent..]) {
            Ok(0) => break Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => sent += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => break Err(error),
        }
    };
    bytes.drain(..sent);
    result
}

pub(super) struct ReadHalf {
    shared: Arc<Shared>,
    buffer: Vec<u8>,
    /// Reads in succession that would have fitted into the least buffer.
    small: u32,
    /// Received and not yet decrypted: `buffer[from..to]`.
    from: usize,
    to: usize,
}

impl ReadHalf {
    /// Moves decrypted bytes to `out`, decrypting what is at hand. `None`: the socket must be read
    /// first.
    #[expect(
        clippy::indexing_slicing,
        reason = "from <= to <= buffer.len(), and a reader gives no more bytes than it has room for"
    )]
    fn decrypt(&mut self, out: &mut [u8]) -> io::Result<Option<usize>> {
        let mut tls = lock(&self.shared.tls);
        let mut filled = 0;
        loop {
            match tls.reader().read(&mut out[filled..]) {
                Ok(0) => return Ok(Some(filled)),
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
            if filled == out.len() {
                return Ok(Some(filled));
            }
            if self.from == self.to {
                return Ok((filled > 0).then_some(filled));
            }
            let mut pending = &self.buffer[self.from..self.to];
            tls.read_tls(&mut pending)?;
            self.from = self.to - pending.len();
            tls.process_new_packets().map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        }
    }
}

impl ReadHalf {
    /// Makes the buffer, of which nothing is pending, as large as the last read asks for.
    fn fit(&mut self) {
        let last = self.to;
        self.small = if last <= LEAST_READ { self.small.saturating_add(1) } else { 0 };
        if last == self.buffer.len() && last < SOCKET_READ {
            self.buffer = vec![0; SOCKET_READ.min(4 * last)];
        } else if self.small >= SMALL_READS && self.buffer.len() > LEAST_READ {
            self.buffer = vec![0; LEAST_READ];
        }
    }
}

impl Read for ReadHalf {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        loop {
            match self.decrypt(out) {
                Ok(Some(count)) => return Ok(count),
                Ok(None) => {}
                Err(error) => {
                    // The alert that tells the peer why is pending. Best effort: the connection is over anyway.
                    let _ = self.shared.write(&[]);
                    return Err(error);
                }
            }
            self.fit();
            (self.from, self.to) = (0, 0);
            self.to = match (&*self.shared.socket).read(&mut self.buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                result => result?,
            };
            if self.to == 0 {
                // End of the stream: clean only if the peer said so with `close_notify`, which the reader would
                // have reported.
                let mut tls = lock(&self.shared.tls);
                tls.read_tls(&mut io::empty())?;
                return tls.reader().read(out);
            }
        }
    }
}

pub(super) struct WriteHalf(Arc<Shared>);

impl Write for WriteHalf {
    fn write(&mut self, plain: &[u8]) -> io::Result<usize> {
        self.0.write(plain)
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut outgoing = lock(&self.0.outgoing);
        push(&self.0.socket, &mut outgoing)?;
        outgoing.shrink_to(KEPT_OUTGOING);
        Ok(())
    }
}

/// Ends the connection from any thread.
#[derive(Clone)]
pub(super) struct Closer(Arc<Shared>);

impl Closer {
    /// Says goodbye and shuts the socket's sending direction: the peer reads a clean end.
    pub(super) fn finish_sending(&self) -> io::Result<()> {
        lock(&self.0.tls).send_close_notify();
        self.0.write(&[])?;
        self.0.socket.shutdown(Shutdown::Write)
    }

    /// Wakes both halves with an error or an end of stream.
    pub(super) fn cut(&self) -> io::Result<()> {
        self.0.socket.shutdown(Shutdown::Both)
    }
}

/// Splits a connection whose handshake is over.
pub(super) fn split(mut tls: Connection, socket: Arc<TcpStream>) -> (ReadHalf, WriteHalf, Closer) {
    tls.set_buffer_limit(Some(ENCRYPT_AT_ONCE));
    let shared = Arc::new(Shared { tls: Mutex::new(tls), outgoing: Mutex::new(Vec::new()), socket });
    let reader = ReadHalf { shared: shared.clone(), buffer: vec![0; LEAST_READ], small: 0, from: 0, to: 0 };
    (reader, WriteHalf(shared.clone()), Closer(shared))
}
