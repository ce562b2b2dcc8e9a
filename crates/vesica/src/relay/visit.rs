//! One connection: what its party shows, and its wait for the other one.

use std::io::{self, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use serde_json::json;
use vesica_party::transport::relay::{Refusal, STILL_THERE, Ticket, Word, shown};
use vesica_party::transport::tcp;

use super::desk::{Desk, Placed};
use super::{pair, start};
use crate::service::metrics::add;
use crate::session::home;

/// Longest time until a party has shown its ticket.
const GREETING: Duration = Duration::from_secs(10);

/// Longest time for which a connection is kept open that has no place, so that its party hears why.
const PARTING: Duration = Duration::from_secs(2);

/// Connections that may be there beyond the most, to hear that there is no room.
const MOST_SURPLUS: usize = 64;

/// Longest time for sending a word.
const WORD_LIMIT: Duration = Duration::from_secs(2);

/// Time between two looks at whether a party that waits is to go.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Takes a connection on a thread of its own.
pub(super) fn begin(desk: &Arc<Desk>, socket: TcpStream, from: SocketAddr) {
    let address = home(from.ip());
    let stays = desk.arrive(address);
    let visit = Visit { desk: desk.clone(), socket: Arc::new(socket), from, address };
    // Whoever comes beyond that is not worth a thread. Dropping the visit ends it.
    if visit.desk.connections() <= visit.desk.config.max_connections + MOST_SURPLUS {
        let _ = start(move || visit.attend(stays));
    }
}

/// A connection, counted until this is dropped.
pub(super) struct Visit {
    desk: Arc<Desk>,
    pub socket: Arc<TcpStream>,
    from: SocketAddr,
    address: IpAddr,
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.desk.leave(self.address);
    }
}

impl Visit {
    fn attend(self, stays: Result<(), Refusal>) {
        // A socket that takes no settings is one that is gone.
        let _ = tcp::tune(&self.socket);
        if let Err(refusal) = stays {
            return self.refuse(refusal, None);
        }
        let ticket = match greeted(&self.socket) {
            Ok(Ok(ticket)) => ticket,
            Ok(Err(refusal)) => return self.refuse(refusal, None),
            // It said nothing, or not all: there is nobody to tell.
            Err(_) => return add(&self.desk.counters.refused, 1),
        };
        let (desk, socket, from) = (self.desk.clone(), self.socket.clone(), self.from);
        match desk.place(ticket, self) {
            Placed::Refused(visit, refusal) => visit.refuse(refusal, Some(&ticket)),
            Placed::First(number) => wait(&desk, &socket, from, &ticket, number),
            Placed::Second(first, second, used) => {
                desk.tell("paired", &format!("joined by {from}"), &ticket, &[("from", second.from_json())]);
                let ended = pair::pass_on(&desk, &first, &second, &used);
                desk.part(&ticket);
                let pair::Ended { bytes, seconds, why } = ended;
                let text = format!("{why} after {seconds:.1} s and {bytes} bytes");
                let fields = [("bytes", json!(bytes)), ("seconds", json!(seconds)), ("why", json!(why))];
                desk.tell("parted", &text, &ticket, &fields);
            }
        }
    }

    fn from_json(&self) -> serde_json::Value {
        json!(self.from.to_string())
    }

    /// Says a word to the party.
    pub fn say(&self, word: Word) -> io::Result<()> {
        self.socket.set_write_timeout(Some(WORD_LIMIT))?;
        (&mut &*self.socket).write_all(&[word.byte()])
    }

    /// Tells a party why it has no place, and hangs up.
    fn refuse(self, refusal: Refusal, ticket: Option<&Ticket>) {
        add(&self.desk.counters.refused, 1);
        let why = reason(refusal);
        let fields = [("from", self.from_json()), ("why", json!(why))];
        let text = format!("{} was refused: {why}", self.from);
        match ticket {
            Some(ticket) => self.desk.tell("refused", &text, ticket, &fields),
            None => self.desk.log.event("refused", &text, &fields),
        }
        // Best effort: closing a socket with unread input would destroy the word.
        if self.say(Word::Refused(refusal)).is_ok() && self.socket.shutdown(Shutdown::Write).is_ok() {
            let end = Instant::now() + PARTING;
            let mut unread = [0; 256];
            while Instant::now() < end
                && self.socket.set_read_timeout(Some(PARTING)).is_ok()
                && io::Read::read(&mut &*self.socket, &mut unread).is_ok_and(|count| count > 0)
            {}
        }
    }
}

/// What a party shows, within the time for it.
fn greeted(socket: &TcpStream) -> io::Result<Result<Ticket, Refusal>> {
    struct Hurried<'a>(&'a TcpStream, Instant);
    impl io::Read for Hurried<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let left = self.1.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            self.0.set_read_timeout(Some(left))?;
            (&mut &*self.0).read(out)
        }
    }
    shown(&mut Hurried(socket, Instant::now() + GREETING))
}

/// Waits until the partner is there, whose thread then has both connections; or until the party has left, or has to.
fn wait(desk: &Desk, socket: &TcpStream, from: SocketAddr, ticket: &Ticket, number: u64) {
    desk.tell("waiting", &format!("{from} waits"), ticket, &[("from", json!(from.to_string()))]);
    let (begun, mut told) = (Instant::now(), None::<Instant>);
    loop {
        let reassured = told.is_none_or(|told| told.elapsed() >= STILL_THERE);
        if !desk.still_waits(ticket, number, reassured) {
            return;
        }
        if reassured {
            told = Some(Instant::now());
        }
        let is_gone = has_spoken(socket, LOOK_EVERY);
        let refusal = if is_gone {
            None
        } else if desk.is_stopping() {
            Some(Refusal::Stopping)
        } else if begun.elapsed() >= desk.config.patience {
            Some(Refusal::Alone)
        } else {
            continue;
        };
        let Some(visit) = desk.give_up(ticket, number) else { return };
        match refusal {
            Some(refusal) => visit.refuse(refusal, Some(ticket)),
            None => desk.tell("left", &format!("{from} left before the other one came"), ticket, &[]),
        }
        return;
    }
}

/// Whether a party that waits has hung up, or says what it should not say yet.
fn has_spoken(socket: &TcpStream, wait: Duration) -> bool {
    let mut events = [PollFd::new(socket, PollFlags::IN | PollFlags::RDHUP)];
    matches!(rustix::event::poll(&mut events, Timespec::try_from(wait).ok().as_ref()), Ok(ready) if ready > 0)
}

fn reason(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::Unknown => "another key has made its ticket",
        Refusal::InUse => "two others are joined by its ticket",
        Refusal::Spent => "the bytes of its ticket are used up",
        Refusal::Alone => "the other one did not come in time",
        Refusal::Full => "there are as many connections as may be, in all or from its address",
        Refusal::TooOften => "its address has connected too often in a minute",
        Refusal::Stopping => "the relay stops",
        Refusal::Version => "it does not speak as a party of this release",
    }
}
