//! One connection: what its party shows, and its wait for the other one.

use std::io::{self, Read};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use vesica_party::transport::limited::Limited;
use vesica_party::transport::relay::{ANSWER, Refusal, STILL_THERE, Ticket, Word, shown};
use vesica_party::transport::tcp;

use super::desk::{Desk, Placed, Stage};
use super::{pair, start};
use crate::service::metrics::add;
use crate::session::home;

/// Longest time until a party has shown its ticket.
const GREETING: Duration = Duration::from_secs(2);

/// Longest time for which a connection is kept open that has no place, so that its party hears why.
const PARTING: Duration = Duration::from_secs(2);

/// Time between two looks at whether a party that waits is to go.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// How long the machine of a party that waits may not answer. Something is sent to it often enough for that to show.
const NO_ANSWER: Duration = Duration::from_secs(20);

/// Takes a connection on a thread of its own.
pub(super) fn begin(desk: &Arc<Desk>, socket: TcpStream, from: SocketAddr) {
    let (address, socket) = (home(from.ip()), Arc::new(socket));
    // A socket that takes no settings is one that is gone.
    let _ = tcp::tune(&socket);
    let stage = desk.arrive(address, &socket);
    let is_answered = AtomicBool::new(false);
    let visit =
        Visit { desk: desk.clone(), socket, from, address, stage: stage.unwrap_or(Stage::Nowhere), is_answered };
    match stage {
        Ok(_) => {
            // Without a thread, dropping the visit has ended it.
            if !start(move || visit.attend()) {
                let text = format!("{from} was refused: no thread could be started for it");
                desk.tell_refused(&text, None, &[("from", json!(from.to_string())), ("why", json!("no thread"))]);
            }
        }
        // It is not worth a thread, so that the word may be lost if the party's own is on the way.
        Err(refusal) => {
            visit.tell_refused(refusal, None);
            let _ = visit.say(Word::Refused(refusal));
        }
    }
}

/// A connection, counted until this is dropped.
pub(super) struct Visit {
    desk: Arc<Desk>,
    pub socket: Arc<TcpStream>,
    pub from: SocketAddr,
    pub address: IpAddr,
    /// What it counts as.
    pub stage: Stage,
    /// Whether the relay has said that it is one.
    is_answered: AtomicBool,
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.desk.leave(self.address, self.stage);
    }
}

impl Visit {
    fn attend(self) {
        let ticket = match greeted(&self.socket) {
            Ok(Ok(ticket)) => ticket,
            Ok(Err(refusal)) => return self.refuse(refusal, None),
            // It said nothing, or not all: there is nobody to tell.
            Err(_) => return add(&self.desk.counters.refused, 1),
        };
        let _ = tcp::watch(&self.socket, NO_ANSWER);
        let (desk, socket, from) = (self.desk.clone(), self.socket.clone(), self.from);
        match desk.place(ticket, self) {
            Placed::Refused(visit, refusal) => visit.refuse(refusal, Some(&ticket)),
            Placed::First(number, gone) => {
                if let Some(gone) = gone {
                    tell_left(&desk, gone.from, &ticket);
                }
                wait(&desk, &socket, from, &ticket, number);
            }
            Placed::Second(first, second, used) => {
                desk.tell("paired", &format!("joined by {from}"), &ticket, &[("from", second.sender_json())]);
                let ended = pair::pass_on(&desk, &first, &second, &used);
                desk.part(&ticket);
                // Whoever reads of the end finds their places free.
                drop((first, second));
                let pair::Ended { bytes, seconds, why, fault } = ended;
                let detail = fault.as_ref().map(|fault| format!(" ({fault})")).unwrap_or_default();
                let text = format!("{why} after {seconds:.1} s and {bytes} bytes{detail}");
                let fields = [
                    ("bytes", json!(bytes)),
                    ("seconds", json!(seconds)),
                    ("why", json!(why)),
                    ("fault", json!(fault)),
                ];
                desk.tell("parted", &text, &ticket, &fields);
            }
        }
    }

    fn sender_json(&self) -> serde_json::Value {
        json!(self.from.to_string())
    }

    /// Says a word to the party, behind what shows that a relay says it. Waits for nobody: a party that leaves no room for a
    /// byte is gone.
    pub fn say(&self, word: Word) -> io::Result<()> {
        let answer: &[u8] = if self.is_answered.swap(true, Ordering::Relaxed) { &[] } else { &ANSWER };
        tcp::send_at_once(&self.socket, &[answer, &[word.byte()]].concat())
    }

    fn tell_refused(&self, refusal: Refusal, ticket: Option<&Ticket>) {
        let why = reason(refusal);
        let fields = [("from", self.sender_json()), ("why", json!(why))];
        self.desk.tell_refused(&format!("{} was refused: {why}", self.from), ticket, &fields);
    }

    /// Tells a party why it has no place, and hangs up.
    fn refuse(mut self, refusal: Refusal, ticket: Option<&Ticket>) {
        self.tell_refused(refusal, ticket);
        let is_said = self.say(Word::Refused(refusal)).is_ok() && self.socket.shutdown(Shutdown::Write).is_ok();
        self.stage = self.desk.lingers(self.address, self.stage);
        // Best effort: closing a socket with unread input would destroy the word.
        if is_said && self.stage == Stage::Lingering {
            let mut rest = Limited::new(&self.socket, PARTING);
            while rest.read(&mut [0; 256]).is_ok_and(|count| count > 0) {}
        }
    }
}

/// What a party shows, within the time for it.
fn greeted(socket: &TcpStream) -> io::Result<Result<Ticket, Refusal>> {
    shown(&mut Limited::new(socket, GREETING))
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
        let is_gone = tcp::has_stirred(socket, LOOK_EVERY);
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
            None => tell_left(desk, from, ticket),
        }
        return;
    }
}

fn tell_left(desk: &Desk, from: SocketAddr, ticket: &Ticket) {
    desk.tell("left", &format!("{from} left before the other one came"), ticket, &[]);
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
