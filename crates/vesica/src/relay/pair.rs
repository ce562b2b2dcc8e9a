//! Two parties that are joined: what one sends, the other gets.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use vesica_party::transport::relay::Word;
use vesica_party::transport::tcp;

use super::desk::Desk;
use super::start;
use super::visit::Visit;
use crate::service::metrics::add;

/// How long both may be silent. A party at work says something every few seconds.
const SILENCE: Duration = Duration::from_secs(120);

/// How long one may go on once the other one has hung up: a ticket is in use until both have.
const LAST_WORDS: Duration = Duration::from_secs(if cfg!(test) { 1 } else { 10 });

/// Time between two looks at whether both directions are over.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// Bytes that are passed on at a time.
const BUFFER_BYTES: usize = 64 << 10;

/// How a pair's time together ended.
pub(super) struct Ended {
    pub bytes: u64,
    pub seconds: f64,
    pub why: &'static str,
    /// What went wrong first, if anything did.
    pub fault: Option<String>,
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
    /// Directions that are over.
    over: AtomicUsize,
    fault: Mutex<Option<String>>,
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
        over: AtomicUsize::new(0),
        fault: Mutex::default(),
    });
    for visit in [first, second] {
        // Best effort: whoever does not answer is noticed by the other one's silence, too.
        let _ = tcp::watch(&visit.socket, SILENCE);
    }
    // The first one's word leaves first: it must be ready for what the second one sends.
    let greeted = first.say(Word::Listener).and_then(|()| second.say(Word::Connector));
    if let Err(fault) = &greeted {
        passing.went_wrong(|| format!("a party was gone: {fault}"));
    }
    let names = [first.from, second.from];
    let (first, second) = (&first.socket, &second.socket);
    let (there, from, to) = (passing.clone(), first.clone(), second.clone());
    let back = greeted.is_ok() && start(move || there.one_way(&from, &to, names));
    if back {
        passing.one_way(second, first, [names[1], names[0]]);
    } else {
        passing.went_wrong(|| "no thread could be started for it".into());
    }
    hang_up(first, second);
    Ended {
        bytes: passing.bytes.load(Ordering::Relaxed),
        seconds: passing.begun.elapsed().as_secs_f64(),
        why: if !back {
            "could not be joined"
        } else if passing.is_spent.load(Ordering::Relaxed) {
            "the bytes of the ticket were used up"
        } else if passing.is_silent.load(Ordering::Relaxed) {
            "both were silent"
        } else {
            "parted"
        },
        fault: passing.fault.lock().unwrap_or_else(PoisonError::into_inner).take(),
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
    fn one_way(&self, from: &TcpStream, to: &TcpStream, names: [SocketAddr; 2]) {
        match self.copy(from, to, names) {
            // The other direction may go on.
            Ok(()) if to.shutdown(Shutdown::Write).is_ok() => {}
            _ => hang_up(from, to),
        }
        if self.over.fetch_add(1, Ordering::AcqRel) == 0 {
            self.let_end(from, to);
        }
    }

    /// Waits for the other direction, and ends it if that takes too long.
    fn let_end(&self, from: &TcpStream, to: &TcpStream) {
        let end = Instant::now() + LAST_WORDS;
        while self.over.load(Ordering::Acquire) < 2 {
            if Instant::now() >= end {
                self.went_wrong(|| format!("one did not hang up within {} s of the other one", LAST_WORDS.as_secs()));
                // What waits in the other direction fails then.
                hang_up(from, to);
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// Keeps what went wrong first.
    fn went_wrong(&self, what: impl FnOnce() -> String) {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(what);
    }

    fn copy(&self, from: &TcpStream, to: &TcpStream, names: [SocketAddr; 2]) -> io::Result<()> {
        let mut buffer = vec![0; BUFFER_BYTES];
        to.set_write_timeout(Some(SILENCE))?;
        while let Some(bytes) = self.next(from, &mut buffer, names[0])? {
            self.last.store(self.begun.elapsed().as_millis() as u64, Ordering::Relaxed);
            let all = self.used.fetch_add(bytes.len() as u64, Ordering::Relaxed) + bytes.len() as u64;
            if self.desk.config.bytes_per_ticket.is_some_and(|most| all > most) {
                self.is_spent.store(true, Ordering::Relaxed);
                return Err(io::ErrorKind::QuotaExceeded.into());
            }
            (&mut &*to).write_all(bytes).inspect_err(|fault| self.failed(names[1], "took nothing more", fault))?;
            self.bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
            add(&self.desk.counters.bytes, bytes.len() as u64);
        }
        Ok(())
    }

    /// The next bytes of a party's; `None` once it has hung up.
    fn next<'a>(&self, mut from: &TcpStream, out: &'a mut [u8], name: SocketAddr) -> io::Result<Option<&'a [u8]>> {
        loop {
            let last = Duration::from_millis(self.last.load(Ordering::Relaxed));
            let left = SILENCE.saturating_sub(self.begun.elapsed().saturating_sub(last));
            from.set_read_timeout(Some(left.max(Duration::from_millis(1))))?;
            match from.read(out) {
                Ok(0) => return Ok(None),
                Ok(count) => return Ok(out.get(..count)),
                Err(fault) if fault.kind() == io::ErrorKind::Interrupted => {}
                Err(fault) if matches!(fault.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                    let last = Duration::from_millis(self.last.load(Ordering::Relaxed));
                    if self.begun.elapsed().saturating_sub(last) >= SILENCE {
                        self.is_silent.store(true, Ordering::Relaxed);
                        return Err(fault);
                    }
                }
                Err(fault) => {
                    self.failed(name, "broke off", &fault);
                    return Err(fault);
                }
            }
        }
    }

    fn failed(&self, name: SocketAddr, what: &str, fault: &io::Error) {
        // Once one has hung up, this is a part of the end.
        if self.over.load(Ordering::Acquire) == 0 {
            self.went_wrong(|| format!("{name} {what}: {fault}"));
        }
    }
}
