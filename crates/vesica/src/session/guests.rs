//! Connections that were accepted and have not shown yet that they are the partner's: its key, or on a cluster the pass
//! of a link. Strangers among them must not keep the partner out: whoever says nothing soon has to go, and where room is
//! short the oldest one makes room.

use std::fmt;
use std::io;
use std::net::{IpAddr, Shutdown, SocketAddr, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};
use vesica_party::transport::tcp;

/// Bounds for guests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Guests at once. Each holds one open file and one thread.
    pub guests: usize,
    /// Guests from one address, so that one stranger does not take all places. The partner may
    /// share an address with strangers (one machine, one router): the newcomer gets in, and an
    /// older guest from that address goes.
    pub guests_of_one_address: usize,
    /// A partner's first bytes leave right after its connection stands.
    pub first_bytes: Duration,
    /// The whole handshake.
    pub handshake: Duration,
    /// A guest that has said nothing makes room only after this time, so that a partner's first
    /// bytes can arrive.
    pub silent_stay: Duration,
    /// A guest that has spoken makes room only after this time: a handshake takes two round trips.
    pub speaking_stay: Duration,
}

/// The part of the open files that the process may have which guests may take: the rest is for the
/// tables and the result.
const SHARE_OF_FILES: u64 = 4;

impl Limits {
    /// Those of this process.
    pub fn of_this_process() -> Self {
        Self {
            guests: most_guests(16, SHARE_OF_FILES),
            guests_of_one_address: 4,
            first_bytes: Duration::from_secs(2),
            handshake: Duration::from_secs(10),
            silent_stay: Duration::from_millis(100),
            speaking_stay: Duration::from_secs(1),
        }
    }

    /// Those of either listener of a rendezvous, where a whole wave of connections comes at once, many of them from one
    /// address.
    pub fn of_a_rendezvous() -> Self {
        Self {
            guests: most_guests(256, 2 * SHARE_OF_FILES),
            guests_of_one_address: 64,
            silent_stay: Duration::from_secs(1),
            ..Self::of_this_process()
        }
    }
}

/// So many guests, or as many as one in `share` of the files is there for.
fn most_guests(most: usize, share: u64) -> usize {
    let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    usize::try_from(files / share).map_or(most, |files| files.clamp(1, most))
}

/// How far a guest is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    /// It has said nothing.
    Silent,
    /// It has said something.
    Speaking,
    /// It is the partner.
    Admitted,
    /// It had to go.
    Evicted,
}

/// What the listener and a guest's thread share.
pub(crate) struct Visit {
    socket: Arc<TcpStream>,
    from: SocketAddr,
    stage: Mutex<Stage>,
}

impl Visit {
    /// The guest's connection.
    pub fn socket(&self) -> &Arc<TcpStream> {
        &self.socket
    }

    /// Where the guest comes from.
    pub fn from(&self) -> SocketAddr {
        self.from
    }

    /// Whether the guest says something in time, and need not go.
    pub fn speaks(&self, limits: &Limits) -> bool {
        let spoke = self.socket.set_read_timeout(Some(limits.first_bytes)).and_then(|()| self.socket.peek(&mut [0]));
        spoke.is_ok_and(|count| count > 0) && self.reach(Stage::Speaking)
    }

    /// Lets the guest in, unless it had to go.
    pub fn admit(&self) -> bool {
        self.reach(Stage::Admitted)
    }

    /// Whether it had to go.
    pub fn had_to_go(&self) -> bool {
        self.stage() == Stage::Evicted
    }

    fn lock(&self) -> MutexGuard<'_, Stage> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stage(&self) -> Stage {
        *self.lock()
    }

    /// Goes to `next`, unless the guest had to go.
    fn reach(&self, next: Stage) -> bool {
        let mut stage = self.lock();
        if *stage != Stage::Evicted {
            *stage = next;
        }
        *stage == next
    }

    /// Has the guest go, and says how far it was; not if it is the partner or has gone.
    fn evict(&self) -> Option<Stage> {
        let mut stage = self.lock();
        if *stage >= Stage::Admitted {
            return None;
        }
        // The guest's thread ends by that; a socket that is closed already ends it too.
        let _ = self.socket.shutdown(Shutdown::Both);
        Some(std::mem::replace(&mut *stage, Stage::Evicted))
    }
}

/// One guest, as the listener sees it.
struct Guest {
    number: u64,
    home: IpAddr,
    since: Instant,
    visit: Arc<Visit>,
}

/// How a visit ended: with what the guest brings, or with why it was refused. `None` if it said nothing or had to go.
pub(crate) type Outcome<T, R> = Option<Result<T, R>>;

/// How many connections were not the partner's, as far as is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TurnedAway {
    /// Guests that said nothing.
    pub silent: u64,
    /// Guests that did not show the partner's key.
    pub refused: u64,
    /// They had not shown the partner's key when others needed the room.
    pub crowded_out: u64,
}

impl TurnedAway {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.silent + self.refused + self.crowded_out
    }
}

impl fmt::Display for TurnedAway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total = self.total();
        write!(f, "{total} other connection{} turned away", if total == 1 { " was" } else { "s were" })?;
        let kinds = [
            (self.silent, "said nothing"),
            (self.refused, "did not show the partner's key"),
            (self.crowded_out, "made room before their handshake was over"),
        ];
        let kinds: Vec<String> =
            kinds.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
        write!(f, " ({})", kinds.join(", "))
    }
}

/// All guests of a listener. Those that are left when this is dropped have to go.
pub(crate) struct Guests<T, R> {
    limits: Limits,
    guests: Vec<Guest>,
    arrived: u64,
    report: mpsc::Sender<(u64, Outcome<T, R>)>,
    reports: mpsc::Receiver<(u64, Outcome<T, R>)>,
    turned_away: TurnedAway,
}

impl<T: Send + 'static, R: Send + 'static> Guests<T, R> {
    /// Nobody yet.
    pub fn new(limits: Limits) -> Self {
        let (report, reports) = mpsc::channel();
        Self { limits, guests: Vec::new(), arrived: 0, report, reports, turned_away: TurnedAway::default() }
    }

    /// Takes the next connection, if there is one and room for it, and gives the end of a visit. Waits no longer than
    /// `pause` for either. `greet` is what happens on a guest's own thread. Whatever the fault of a connection is, which
    /// goes to `fault`, the listener stands.
    pub fn attend(
        &mut self,
        listener: &tcp::Listener,
        pause: Duration,
        fault: &mut Option<io::Error>,
        greet: impl FnOnce(&Visit, &Limits) -> Outcome<T, R> + Send + 'static,
    ) -> Option<Result<T, R>> {
        let mut left = pause;
        if self.has_room() {
            // With a guest there, its end may come before the next connection.
            let wait = if self.guests.is_empty() { std::mem::take(&mut left) } else { Duration::ZERO };
            let welcomed = tcp::poll(listener, wait)
                .and_then(|accepted| accepted.map(|(socket, from)| self.welcome(socket, from, greet)).transpose());
            match welcomed {
                Ok(Some(())) => left = Duration::ZERO,
                Ok(None) => {}
                Err(passing) => {
                    if matches!(
                        Errno::from_io_error(&passing),
                        Some(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM | Errno::AGAIN)
                    ) {
                        self.give_up_one();
                    }
                    *fault = Some(passing);
                    left = pause;
                }
            }
        }
        self.make_room();
        self.next(left)
    }

    /// Whether one more may be accepted. One beyond the limit may: it is for the newcomer that
    /// another one goes.
    fn has_room(&self) -> bool {
        self.guests.len() <= self.limits.guests
    }

    /// Whether the partner is there, and its connection will be reported in a moment.
    pub fn partner_is_coming(&self) -> bool {
        self.guests.iter().any(|guest| guest.visit.stage() == Stage::Admitted)
    }

    fn welcome(
        &mut self,
        socket: TcpStream,
        from: SocketAddr,
        greet: impl FnOnce(&Visit, &Limits) -> Outcome<T, R> + Send + 'static,
    ) -> io::Result<()> {
        self.arrived += 1;
        let number = self.arrived;
        let visit = Arc::new(Visit { socket: Arc::new(socket), from, stage: Mutex::new(Stage::Silent) });
        let (limits, report) = (self.limits, self.report.clone());
        let guest = Guest { number, home: home(from.ip()), since: Instant::now(), visit: visit.clone() };
        thread::Builder::new().name("vesica-guest".into()).spawn(move || {
            let outcome = greet(&visit, &limits);
            // The socket closes as soon as the listener hears of the end.
            drop(visit);
            // The listener has gone on if nobody hears it.
            let _ = report.send((number, outcome));
        })?;
        self.guests.push(guest);
        Ok(())
    }

    /// Waits for the end of a visit, but no longer than `pause`.
    fn next(&mut self, pause: Duration) -> Option<Result<T, R>> {
        let (number, outcome) = self.reports.recv_timeout(pause).ok()?;
        let place = self.guests.iter().position(|guest| guest.number == number)?;
        let guest = self.guests.remove(place);
        match outcome {
            // It was counted when it had to go.
            _ if guest.visit.had_to_go() => {}
            Some(Ok(_)) => {}
            Some(Err(_)) => self.turned_away.refused += 1,
            None => self.turned_away.silent += 1,
        }
        outcome
    }

    /// Has those go who stand in the way of others.
    fn make_room(&mut self) {
        while let Some(place) = self.in_the_way(Instant::now()) {
            self.evict(place);
        }
    }

    /// Has the one go at once whose turn it is, since the system is short of files or memory.
    fn give_up_one(&mut self) {
        let first = first_to_go(self.guests.iter().enumerate().map(|(place, guest)| (place, guest.visit.stage())));
        if let Some((place, _)) = first {
            self.evict(place);
        }
    }

    /// Who goes where there are too many, or too many from one address. Never the newest one there,
    /// for which room is made.
    fn in_the_way(&self, now: Instant) -> Option<usize> {
        let crowd = |home: Option<IpAddr>, most: usize| {
            let here = self.guests.iter().enumerate().filter(|(_, guest)| home.is_none_or(|home| guest.home == home));
            // Saves a look at each one's stage. The newest one is not counted below.
            if here.clone().count() <= most {
                return None;
            }
            let mut here: Vec<_> = here
                .map(|(place, guest)| (place, guest.visit.stage()))
                .filter(|(_, stage)| *stage < Stage::Admitted)
                .collect();
            here.pop();
            let (place, stage) = first_to_go(here.iter().copied())?;
            let stay = if stage == Stage::Silent { self.limits.silent_stay } else { self.limits.speaking_stay };
            let stayed = self.guests.get(place).is_some_and(|guest| now.saturating_duration_since(guest.since) >= stay);
            (here.len() >= most && stayed).then_some(place)
        };
        let homes = self.guests.iter().map(|guest| (Some(guest.home), self.limits.guests_of_one_address));
        homes.chain([(None, self.limits.guests)]).find_map(|(home, most)| crowd(home, most))
    }
}

impl<T, R> Guests<T, R> {
    fn evict(&mut self, place: usize) {
        match self.guests.get(place).and_then(|guest| guest.visit.evict()) {
            Some(Stage::Silent) => self.turned_away.silent += 1,
            Some(_) => self.turned_away.crowded_out += 1,
            None => {}
        }
    }

    /// Has all go who are not the partner, and tells how many had to go in all.
    pub fn dismiss(&mut self) -> TurnedAway {
        for place in 0..self.guests.len() {
            self.evict(place);
        }
        self.turned_away
    }
}

impl<T, R> Drop for Guests<T, R> {
    fn drop(&mut self) {
        self.dismiss();
    }
}

/// Of those that are neither the partner nor gone already, the oldest that has said nothing, else
/// the oldest.
fn first_to_go(guests: impl Iterator<Item = (usize, Stage)>) -> Option<(usize, Stage)> {
    guests.filter(|(_, stage)| *stage < Stage::Admitted).min_by_key(|(_, stage)| *stage)
}

/// What counts as one address: of IPv6, the network that one customer gets.
pub(crate) fn home(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6((u128::from(address) >> 64 << 64).into()),
        address => address,
    }
}

#[cfg(test)]
mod tests;
