//! Where workers meet: each driver has one. It joins the connection of an own worker to that of the partner's
//! worker for the same attempt, and passes bytes on. What passes is TLS from worker to worker, which it cannot read.
//!
//! Whoever knows a *pass* takes the place of the worker that it was made for, and nothing more than that: the
//! partner's worker then sees another key, and refuses it. A pass is good for one connection.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use vesica_party::Abort;
use vesica_party::transport::dial::Dialer;
use vesica_party::transport::tcp;

use crate::failure::{Failure, code};
use crate::session::{Bound, Greeted, GuestLimits, Guests, Visit};
use crate::threads::no_thread;

/// The first bytes of a worker that dials its own driver.
pub(super) const TO_DRIVER: [u8; 8] = *b"vesica\0w";
/// The first bytes of a rendezvous that dials the partner's.
const TO_PARTNER: [u8; 8] = *b"vesica\0l";
/// Says that the two workers are connected.
pub(super) const GO: [u8; 1] = *b"+";
/// Says that they will not be.
pub(super) const NO: [u8; 1] = *b"-";

/// Says that the partner's worker is waited for.
pub(super) const WAIT: [u8; 1] = *b".";
/// Says that another worker has this attempt, and that the end of its work is waited for.
pub(super) const BUSY: [u8; 1] = *b"*";
/// A worker that waits hears something this often.
pub(super) const WAIT_EVERY: Duration = Duration::from_secs(5);
/// How long a worker whose attempt is over waits to hear that: what the first worker for it did must have come to the
/// driver by then, or the failure of the second would be taken for the attempt's.
const AFTER_END: Duration = Duration::from_secs(5);

/// Time between two looks at a worker that waits.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// Time between two looks at a listener.
const PAUSE: Duration = Duration::from_millis(2);
/// How long the second direction of a connection may go on when the first has ended.
const AFTER_FIRST_END: Duration = Duration::from_secs(30);
/// How long a rendezvous tries to dial the partner's.
const DIAL_FOR: Duration = Duration::from_secs(10);
/// Bytes that are passed on at once.
const PIECE: usize = 1 << 17;

/// Where own workers find the rendezvous.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inside {
    /// The address to bind, `host:port`; port 0 takes a free one.
    pub bind: String,
    /// The host that workers dial, if it is not that of `bind`.
    pub host: Option<String>,
}

/// What the passes of an attempt are.
#[derive(Clone, Copy)]
pub(crate) struct Passes {
    /// Of the own worker.
    pub(super) worker: [u8; 32],
    /// Of the link between the two rendezvous.
    pub(super) link: [u8; 32],
}

/// A rendezvous, with threads of its own. It closes when it is dropped.
pub(crate) struct Rendezvous {
    shared: Arc<Shared>,
    /// What workers dial.
    address: String,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    /// The partner's rendezvous, where this one dials it.
    partner: Option<Dialer>,
    closed: AtomicBool,
    sent: AtomicU64,
    received: AtomicU64,
}

#[derive(Default)]
struct State {
    /// By the worker's pass.
    attempts: HashMap<[u8; 32], Attempt>,
    /// By the link's pass: the worker's.
    by_link: HashMap<[u8; 32], [u8; 32]>,
}

struct Attempt {
    link: [u8; 32],
    /// A worker has come.
    taken: bool,
    /// The link that the partner's rendezvous has opened.
    outside: Option<Arc<TcpStream>>,
    /// There is, or was, a link to the partner's rendezvous.
    linked: bool,
    /// When it was over.
    ended: Option<Instant>,
    /// All that must be shut when the wave ends.
    open: Vec<Arc<TcpStream>>,
}

impl Rendezvous {
    /// Begins to take own workers, and the partner's rendezvous if that dials the end `outside`.
    ///
    /// # Errors
    /// If the system gives no threads.
    pub fn start(inside: BoundInside, outside: Bound) -> Result<Self, Failure> {
        let BoundInside { listener, address } = inside;
        let (partner, outside) = match outside {
            Bound::Listener(listener) => (None, Some(listener)),
            Bound::Connector(dialer) => (Some(dialer), None),
            Bound::Relay(dialer, _) => {
                return Err(Failure::new(
                    code::INTERNAL,
                    format_args!("a relay at {}", dialer.address()),
                    "please report this",
                ));
            }
        };
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            changed: Condvar::new(),
            partner,
            closed: AtomicBool::new(false),
            sent: AtomicU64::new(0),
            received: AtomicU64::new(0),
        });
        shared.clone().listen(listener, TO_DRIVER)?;
        if let Some(outside) = outside {
            shared.clone().listen(outside, TO_PARTNER)?;
        }
        Ok(Self { shared, address })
    }

    /// What workers dial.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// From now on, workers with these passes are joined with the partner's.
    pub fn open(&self, wave: &[Passes]) {
        let mut state = self.shared.lock();
        for &Passes { worker, link } in wave {
            let attempt = Attempt { link, taken: false, outside: None, linked: false, ended: None, open: Vec::new() };
            state.attempts.insert(worker, attempt);
            state.by_link.insert(link, worker);
        }
    }

    /// Ends all attempts: what is still open is shut.
    pub fn close_wave(&self) {
        self.shared.close_wave();
    }

    /// Bytes that were passed on to the partner, and those that came from it.
    pub fn traffic(&self) -> (u64, u64) {
        (self.shared.sent.load(Ordering::Relaxed), self.shared.received.load(Ordering::Relaxed))
    }
}

impl Drop for Rendezvous {
    fn drop(&mut self) {
        self.shared.closed.store(true, Ordering::Relaxed);
        self.shared.close_wave();
    }
}

impl Inside {
    /// Binds the address.
    ///
    /// # Errors
    /// If it cannot be bound.
    pub(crate) fn bind(&self) -> Result<BoundInside, Failure> {
        let listener = tcp::listen(&self.bind).map_err(|abort| Failure {
            mend: "say with rendezvous= an address of this machine that all executors reach".into(),
            ..Failure::from(abort)
        })?;
        let bound = listener.local_addr()?;
        let address = match &self.host {
            Some(host) if host.contains(':') && !host.starts_with('[') => format!("[{host}]:{}", bound.port()),
            Some(host) => format!("{host}:{}", bound.port()),
            None => bound.to_string(),
        };
        Ok(BoundInside { listener, address })
    }
}

/// An address that is bound for own workers, and what they dial.
pub(crate) struct BoundInside {
    listener: tcp::Listener,
    address: String,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn close_wave(&self) {
        let State { attempts, .. } = std::mem::take(&mut *self.lock());
        self.changed.notify_all();
        for attempt in attempts.into_values() {
            for socket in &attempt.open {
                // It may be shut already.
                let _ = socket.shutdown(Shutdown::Both);
            }
            if !attempt.linked {
                self.excuse(attempt.link);
            }
        }
    }

    /// Opens a link that there never was, and shuts it: the partner's worker would wait for it.
    fn excuse(&self, link: [u8; 32]) {
        let Some(partner) = self.partner.clone() else { return };
        // Nobody waits for it, and if it fails, the partner's worker waits no longer than it would.
        let _ = thread::Builder::new().name("vesica-link".into()).spawn(move || -> io::Result<()> {
            let mut socket = partner.connect(DIAL_FOR).map_err(|_| io::ErrorKind::NotConnected)?;
            socket.write_all(&TO_PARTNER)?;
            socket.write_all(&link)
        });
    }

    /// Takes connections whose first bytes are `magic`, on a thread of its own. Until they have said them, they are
    /// guests as those of a listener that waits for the partner are.
    fn listen(self: Arc<Self>, listener: tcp::Listener, magic: [u8; 8]) -> Result<(), Abort> {
        let limits = GuestLimits::of_a_rendezvous();
        let mut guests = Guests::new(match magic {
            TO_PARTNER => limits,
            // All workers of a host of executors share its address.
            _ => GuestLimits { guests_of_one_address: usize::MAX, ..limits },
        });
        let listening = thread::Builder::new().name("vesica-rendezvous".into()).spawn(move || {
            // Whatever the fault of one connection is, the listener stands.
            let mut fault = None;
            while !self.closed.load(Ordering::Relaxed) {
                let greet = move |visit: &Visit, limits: &GuestLimits| greet(visit, limits, magic);
                let Some(Ok((socket, pass))) = guests.attend(&listener, PAUSE, &mut fault, greet) else { continue };
                let shared = self.clone();
                // Workers that went away, and links of attempts that are over. A link that has no thread is closed.
                let _ = thread::Builder::new().name("vesica-link".into()).spawn(move || match magic {
                    TO_PARTNER => shared.take_link(socket, pass),
                    _ => shared.take_worker(socket, pass),
                });
            }
        });
        listening.map(drop).map_err(|error| no_thread(&error).into())
    }

    /// Keeps a link of the partner's until the own worker comes.
    fn take_link(&self, socket: Arc<TcpStream>, pass: [u8; 32]) -> io::Result<()> {
        let mut state = self.lock();
        let State { attempts, by_link } = &mut *state;
        let attempt = by_link.get(&pass).and_then(|worker| attempts.get_mut(worker));
        let Some(attempt) = attempt.filter(|attempt| !attempt.linked && attempt.ended.is_none()) else {
            drop(state);
            return (&*socket).write_all(&NO);
        };
        attempt.linked = true;
        attempt.open.push(socket.clone());
        attempt.outside = Some(socket);
        drop(state);
        self.changed.notify_all();
        Ok(())
    }

    /// Joins an own worker with the partner's, until either is done.
    fn take_worker(&self, socket: Arc<TcpStream>, pass: [u8; 32]) -> io::Result<()> {
        let Some(link) = self.begin(&socket, pass)? else {
            return (&*socket).write_all(&NO);
        };
        let _ending = Ending { shared: self, pass };
        let joined = match &self.partner {
            Some(address) => self.dial(address, pass, link).and_then(|link| self.wait_for_answer(&socket, link)),
            None => self.wait_for_link(&socket, pass),
        };
        match joined {
            Some(outside) => self.pass_on(&socket, &outside),
            None => (&*socket).write_all(&NO),
        }
    }

    /// Begins an attempt for a worker: gives the pass of its link. `None` if the attempt is over, or was never there.
    /// A second worker may be a copy, and waits for the first one's end, and a little longer.
    fn begin(&self, socket: &Arc<TcpStream>, pass: [u8; 32]) -> io::Result<Option<[u8; 32]>> {
        let mut told = Instant::now();
        let mut state = self.lock();
        loop {
            let Some(attempt) = state.attempts.get_mut(&pass) else { return Ok(None) };
            if !attempt.taken {
                attempt.taken = true;
                attempt.open.push(socket.clone());
                return Ok(Some(attempt.link));
            }
            if attempt.ended.is_some_and(|ended| ended.elapsed() > AFTER_END) {
                return Ok(None);
            }
            (state, _) = self.changed.wait_timeout(state, LOOK_EVERY).unwrap_or_else(PoisonError::into_inner);
            if told.elapsed() > WAIT_EVERY {
                told = Instant::now();
                drop(state);
                (&**socket).write_all(&BUSY)?;
                state = self.lock();
            }
        }
    }

    /// A link to the partner's rendezvous, which says when the partner's worker is there.
    fn dial(&self, partner: &Dialer, pass: [u8; 32], link: [u8; 32]) -> Option<Arc<TcpStream>> {
        let mut socket = partner.connect(DIAL_FOR).ok()?;
        tcp::tune(&socket).ok()?;
        socket.write_all(&TO_PARTNER).and_then(|()| socket.write_all(&link)).ok()?;
        let socket = Arc::new(socket);
        // Not if the wave has ended meanwhile.
        let mut state = self.lock();
        let attempt = state.attempts.get_mut(&pass)?;
        attempt.open.push(socket.clone());
        attempt.linked = true;
        Some(socket)
    }

    /// The link, once the partner's rendezvous has said that its worker is there; the own one is told. `None` if it will
    /// not come, or the own one goes.
    fn wait_for_answer(&self, mut worker: &TcpStream, link: Arc<TcpStream>) -> Option<Arc<TcpStream>> {
        let mut told = Instant::now();
        link.set_read_timeout(Some(LOOK_EVERY)).ok()?;
        loop {
            let mut said = NO;
            match (&*link).read(&mut said) {
                Ok(1) if said == GO => break,
                Err(error) if is_timeout(&error) => {}
                _ => return None,
            }
            if is_gone(worker) {
                return None;
            }
            if told.elapsed() > WAIT_EVERY {
                told = Instant::now();
                worker.write_all(&WAIT).ok()?;
            }
        }
        self.received.fetch_add(GO.len() as u64, Ordering::Relaxed);
        worker.write_all(&GO).ok()?;
        Some(link)
    }

    /// The link of the partner's rendezvous, once it has come; both workers are told. `None` if the worker goes
    /// or the wave ends before that.
    fn wait_for_link(&self, mut worker: &TcpStream, pass: [u8; 32]) -> Option<Arc<TcpStream>> {
        let mut told = Instant::now();
        let mut state = self.lock();
        loop {
            let attempt = state.attempts.get_mut(&pass)?;
            if let Some(outside) = attempt.outside.take() {
                drop(state);
                (&*outside).write_all(&GO).ok()?;
                self.sent.fetch_add(GO.len() as u64, Ordering::Relaxed);
                worker.write_all(&GO).ok()?;
                return Some(outside);
            }
            (state, _) = self.changed.wait_timeout(state, LOOK_EVERY).unwrap_or_else(PoisonError::into_inner);
            if is_gone(worker) {
                return None;
            }
            if told.elapsed() > WAIT_EVERY {
                told = Instant::now();
                drop(state);
                worker.write_all(&WAIT).ok()?;
                state = self.lock();
            }
        }
    }

    fn pass_on(&self, worker: &TcpStream, outside: &TcpStream) -> io::Result<()> {
        let first_end = OnceLock::new();
        thread::scope(|scope| {
            thread::Builder::new().spawn_scoped(scope, || pump(worker, outside, &self.sent, &first_end))?;
            pump(outside, worker, &self.received, &first_end);
            Ok(())
        })
    }
}

/// Notes the end of an attempt, whatever brought it about.
struct Ending<'a> {
    shared: &'a Shared,
    pass: [u8; 32],
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        if let Some(attempt) = self.shared.lock().attempts.get_mut(&self.pass) {
            attempt.ended = Some(Instant::now());
            for socket in &attempt.open {
                // It may be shut already.
                let _ = socket.shutdown(Shutdown::Both);
            }
        }
        self.shared.changed.notify_all();
    }
}

/// Whether the other end has closed the connection. It has said all that it says for now.
fn is_gone(socket: &TcpStream) -> bool {
    let mut byte = [0];
    let looked = socket.set_nonblocking(true).and_then(|()| socket.peek(&mut byte));
    let _ = socket.set_nonblocking(false);
    match looked {
        Ok(read) => read == 0,
        Err(error) => error.kind() != io::ErrorKind::WouldBlock,
    }
}

/// A connection with its pass. Strangers do not come so far.
fn greet(visit: &Visit, limits: &GuestLimits, magic: [u8; 8]) -> Greeted<(Arc<TcpStream>, [u8; 32]), ()> {
    if !visit.speaks(limits) {
        return None;
    }
    let socket = visit.socket();
    let pass = tcp::tune(socket).and_then(|()| read_pass(socket, magic, limits.handshake));
    match pass {
        Ok(pass) if visit.admit() => Some(Ok((socket.clone(), pass))),
        _ => Some(Err(())),
    }
}

/// The pass that follows the first bytes.
fn read_pass(mut socket: &TcpStream, magic: [u8; 8], within: Duration) -> io::Result<[u8; 32]> {
    let end = Instant::now() + within;
    let mut said = [0; 40];
    let mut read = 0;
    while let Some(rest) = said.get_mut(read..).filter(|rest| !rest.is_empty()) {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        socket.set_read_timeout(Some(left))?;
        match socket.read(rest)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            more => read += more,
        }
    }
    socket.set_read_timeout(None)?;
    let (first, pass) = said.split_at(magic.len());
    match <[u8; 32]>::try_from(pass) {
        Ok(pass) if first == magic => Ok(pass),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted)
}

/// Passes on all that comes from `from`. An end is passed on as an end, and a failure ends both. `first_end` is when the
/// first of the two directions ended: a machine that is gone without a word does not keep the other one open.
fn pump(mut from: &TcpStream, mut to: &TcpStream, count: &AtomicU64, first_end: &OnceLock<Instant>) {
    let mut piece = vec![0; PIECE];
    let is_late = || first_end.get().is_some_and(|end| end.elapsed() > AFTER_FIRST_END);
    let begun = from.set_read_timeout(Some(LOOK_EVERY));
    let done = loop {
        let read = match begun.as_ref().map_err(|error| error.kind().into()).and_then(|()| from.read(&mut piece)) {
            Ok(0) => break Ok(()),
            Ok(read) => read,
            Err(error) if is_timeout(&error) && !is_late() => continue,
            Err(error) => break Err(error),
        };
        if let Err(error) = to.write_all(piece.get(..read).unwrap_or_default()) {
            break Err(error);
        }
        count.fetch_add(read as u64, Ordering::Relaxed);
    };
    let _ = first_end.set(Instant::now());
    // It may be shut already.
    let _ = match done {
        Ok(()) => to.shutdown(Shutdown::Write),
        Err(_) => to.shutdown(Shutdown::Both).and_then(|()| from.shutdown(Shutdown::Both)),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendezvous() -> (Rendezvous, String) {
        let bound = |address: &str| tcp::listen(address).expect("a port");
        let outside = bound("127.0.0.1:0");
        let address = outside.local_addr().expect("bound").to_string();
        let inside = Inside { bind: "127.0.0.1:0".into(), host: None }.bind().expect("a port");
        (Rendezvous::start(inside, Bound::Listener(outside)).expect("threads"), address)
    }

    /// Workers of one host share an address, as do all links of a driver: if they take a moment to speak, all are
    /// heard.
    #[test]
    fn a_wave_of_connections_from_one_address_is_heard() {
        let (rendezvous, links) = rendezvous();
        for (address, magic) in [(rendezvous.address(), TO_DRIVER), (links.as_str(), TO_PARTNER)] {
            let mut sockets: Vec<_> = (0..40).map(|_| TcpStream::connect(address).expect("connected")).collect();
            thread::sleep(Duration::from_millis(300));
            for socket in &mut sockets {
                socket.set_read_timeout(Some(Duration::from_secs(60))).expect("set");
                socket.write_all(&magic).and_then(|()| socket.write_all(&[7; 32])).expect("sent");
            }
            for mut socket in sockets {
                let mut said = Vec::new();
                // Nobody has this pass, but it was heard.
                assert!(socket.read_to_end(&mut said).is_ok() && said == NO, "{said:?}");
            }
        }
    }

    /// The partner's link has said what it is for, though not its pass, when strangers crowd in: it stays, and they go.
    #[test]
    fn strangers_who_say_nothing_do_not_crowd_out_a_link() {
        let (_rendezvous, address) = rendezvous();
        let mut link = TcpStream::connect(&address).expect("connected");
        link.set_read_timeout(Some(Duration::from_secs(60))).expect("set");
        link.write_all(&TO_PARTNER).expect("sent");
        // It is taken before they are.
        thread::sleep(Duration::from_millis(100));
        let strangers: Vec<_> = (0..100).map(|_| TcpStream::connect(&address).expect("connected")).collect();
        // Longer than a stranger may say nothing once there are too many.
        thread::sleep(Duration::from_millis(1300));
        link.write_all(&[7; 32]).expect("sent");
        let mut said = Vec::new();
        // Nobody has this pass, but it was heard.
        assert!(link.read_to_end(&mut said).is_ok() && said == NO, "{said:?}");
        for mut stranger in strangers {
            stranger.set_read_timeout(Some(Duration::from_secs(60))).expect("set");
            assert!(matches!(stranger.read(&mut [0]), Ok(0)), "whoever says nothing has to go");
        }
    }
}
