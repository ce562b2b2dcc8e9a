//! Two parties that are joined: what one sends, the other gets.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use vesica_party::transport::relay::Word;

use super::desk::Desk;
use super::start;
use super::visit::Visit;
use crate::service::metrics::add;

/// How long both may be silent. A party at work says something every few seconds.
const SILENCE: Duration = Duration::from_secs(120);

/// Bytes that are passed on at a time.
const BUFFER_BYTES: usize = 64 << 10;

/// How a pair's time together ended.
pub(super) struct Ended {
    pub bytes: u64,
    pub seconds: f64,
    pub why: &'static str,
}

/// What both directions share.
struct Passing {
    desk: Arc<Desk>,
    /// Bytes that have gone by the ticket, in earlier runs as well.
    used: Arc<AtomicU64>,
    bytes: AtomicU64,
    begun: Instant,
    /// When something last went through, in milliseconds after the beginning.
    last: AtomicU64,
    is_spent: AtomicBool,
    is_silent: AtomicBool,
}

/// Tells two parties that both are there, and passes on what each of them sends, until both have hung up or a limit is
/// reached.
pub(super) fn pass_on(desk: &Arc<Desk>, first: &Visit, second: &Visit, used: &Arc<AtomicU64>) -> Ended {
    let passing = Arc::new(Passing {
        desk: desk.clone(),
        used: used.clone(),
        bytes: AtomicU64::new(0),
        begun: Instant::now(),
        last: AtomicU64::new(0),
        is_spent: AtomicBool::new(false),
        is_silent: AtomicBool::new(false),
    });
    // The first one's word leaves first: it must be ready for what the second one sends.
    let greeted = first.say(Word::Listener).and_then(|()| second.say(Word::Connector));
    let is_over = Arc::new(AtomicBool::new(false));
    let (first, second) = (&first.socket, &second.socket);
    let (there, from, to) = (passing.clone(), first.clone(), second.clone());
    let end = is_over.clone();
    let back = greeted.is_ok()
        && start(move || {
            there.one_way(&from, &to);
            end.store(true, Ordering::Release);
        });
    if back {
        passing.one_way(second, first);
        while !is_over.load(Ordering::Acquire) {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    hang_up(first, second);
    Ended {
        bytes: passing.bytes.load(Ordering::Relaxed),
        seconds: passing.begun.elapsed().as_secs_f64(),
        why: if !back {
            "one of the two was gone"
        } else if passing.is_spent.load(Ordering::Relaxed) {
            "the bytes of the ticket were used up"
        } else if passing.is_silent.load(Ordering::Relaxed) {
            "both were silent"
        } else {
            "parted"
        },
    }
}

fn hang_up(first: &TcpStream, second: &TcpStream) {
    for socket in [first, second] {
        // It may be shut already.
        let _ = socket.shutdown(Shutdown::Both);
    }
}

impl Passing {
    /// Passes on what one party sends, until it has hung up.
    fn one_way(&self, from: &TcpStream, to: &TcpStream) {
        match self.copy(from, to) {
            // The other direction may go on.
            Ok(()) if to.shutdown(Shutdown::Write).is_ok() => {}
            _ => hang_up(from, to),
        }
    }

    fn copy(&self, mut from: &TcpStream, mut to: &TcpStream) -> io::Result<()> {
        let mut buffer = vec![0; BUFFER_BYTES];
        from.set_read_timeout(Some(SILENCE))?;
        to.set_write_timeout(Some(SILENCE))?;
        loop {
            let count = match from.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(count) => count,
                Err(fault) if fault.kind() == io::ErrorKind::Interrupted => continue,
                Err(fault) if matches!(fault.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                    let last = Duration::from_millis(self.last.load(Ordering::Relaxed));
                    if self.begun.elapsed().saturating_sub(last) < SILENCE {
                        continue;
                    }
                    self.is_silent.store(true, Ordering::Relaxed);
                    return Err(fault);
                }
                Err(fault) => return Err(fault),
            };
            self.last.store(self.begun.elapsed().as_millis() as u64, Ordering::Relaxed);
            let all = self.used.fetch_add(count as u64, Ordering::Relaxed) + count as u64;
            if self.desk.config.bytes_per_ticket.is_some_and(|most| all > most) {
                self.is_spent.store(true, Ordering::Relaxed);
                return Err(io::ErrorKind::QuotaExceeded.into());
            }
            to.write_all(buffer.get(..count).unwrap_or_default())?;
            self.bytes.fetch_add(count as u64, Ordering::Relaxed);
            add(&self.desk.counters.bytes, count as u64);
        }
    }
}
