//! A link of a given rate and delay, made in user space over any connection. For tests and
//! benchmarks.

use std::io::{self, Write};
use std::net;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::{Connection, Link, Shutdown};

/// How far the queue before the link may be ahead before its writer blocks, in time on the link.
const QUEUE_AHEAD: Duration = Duration::from_millis(20);
/// What passes in one piece, so that the rate is smooth.
const BYTES_PER_PIECE: usize = 16 << 10;

/// Shapes what this side *sends* to the rate of `link` (at least one bit per second) and delays it
/// by half of its round trip. Shape both ends to shape the link.
pub fn shape(connection: Connection, link: Link) -> Connection {
    let bits_per_second = link.bits_per_second.max(1) as f64;
    let (pieces, queue) = channel();
    let inner = connection.shutdown.clone();
    thread::spawn(move || pump(queue, connection.writer, inner.as_ref()));
    let writer = Shaped {
        pieces: pieces.clone(),
        seconds_per_byte: 8.0 / bits_per_second,
        delay: link.round_trip() / 2,
        free: Instant::now(),
    };
    let shutdown = Arc::new(Drained { pieces: Mutex::new(pieces), inner: connection.shutdown });
    Connection { writer: Box::new(writer), shutdown, ..connection }
}

enum Piece {
    Bytes { due: Instant, bytes: Vec<u8> },
    End,
}

struct Shaped {
    pieces: Sender<Piece>,
    seconds_per_byte: f64,
    delay: Duration,
    /// When the link has sent all that was written so far.
    free: Instant,
}

impl Write for Shaped {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let now = Instant::now();
        thread::sleep(self.free.saturating_duration_since(now + QUEUE_AHEAD));
        let piece = bytes.get(..BYTES_PER_PIECE).unwrap_or(bytes);
        self.free = self.free.max(now) + Duration::from_secs_f64(self.seconds_per_byte * piece.len() as f64);
        let sent = Piece::Bytes { due: self.free + self.delay, bytes: piece.to_vec() };
        self.pieces.send(sent).map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))?;
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Hands each piece on when it is due. A failed write ends the pump, and with it the writer before
/// it.
fn pump(queue: Receiver<Piece>, mut writer: Box<dyn Write + Send>, shutdown: &dyn Shutdown) {
    for piece in queue {
        match piece {
            Piece::Bytes { due, bytes } => {
                thread::sleep(due.saturating_duration_since(Instant::now()));
                if writer.write_all(&bytes).and_then(|()| writer.flush()).is_err() {
                    return;
                }
            }
            Piece::End => {
                // The peer may be gone already; then there is nobody to tell.
                let _ = shutdown.close(net::Shutdown::Write);
                return;
            }
        }
    }
}

/// Ends the output only after what is still on the link.
struct Drained {
    pieces: Mutex<Sender<Piece>>,
    inner: Arc<dyn Shutdown>,
}

impl Shutdown for Drained {
    fn close(&self, how: net::Shutdown) -> io::Result<()> {
        if how == net::Shutdown::Write {
            let pieces = self.pieces.lock().unwrap_or_else(PoisonError::into_inner);
            return pieces.send(Piece::End).map_err(|_| io::ErrorKind::BrokenPipe.into());
        }
        self.inner.close(how)
    }
}
