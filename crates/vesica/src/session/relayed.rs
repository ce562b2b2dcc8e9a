//! Reaching the partner at a relay, where both sides dial.

use std::io;
use std::net::TcpStream;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use vesica_party::transport::dial::{Dialer, Unreached};
use vesica_party::transport::relay::{self, Answer, Refusal, STILL_THERE, Ticket, Word};
use vesica_party::transport::tls::{self, TlsFailure};
use vesica_party::{Abort, Role};

use super::Events;
use super::link::{Protection, Reached, RetryPolicy, tls_limit, unknown};
use crate::failure::{Failure, code};

/// Time between the first attempts, and the most that it grows to: a relay bounds how often an address may connect.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// How long a side listens to the relay at a time, between two looks at whether it is to go on.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// How long a relay may be silent.
const SILENCE: Duration = Duration::from_secs(2 * STILL_THERE.as_secs());

/// Why one attempt gave no partner.
enum Missed {
    /// It stays so.
    Lasting(Failure),
    /// The next attempt may do better.
    Passing(Failure),
}

impl From<Failure> for Missed {
    fn from(failure: Failure) -> Self {
        Self::Lasting(failure)
    }
}

/// Dials the relay until the partner is there with the same ticket, and shows the key that is expected.
pub(super) fn meet(
    dialer: &Dialer,
    ticket: &Ticket,
    protection: &Protection,
    retry: &RetryPolicy<'_>,
    events: &dyn Events,
) -> Result<Reached, Failure> {
    if matches!(protection, Protection::InsecurePlaintext) {
        return Err(Failure::new(
            code::USAGE,
            "without TLS, the relay would read and could change everything",
            "give each side a key pair, and omit --insecure-plaintext",
        ));
    }
    let end = Instant::now().checked_add(retry.wait);
    let visit = Visit { dialer, ticket, protection, retry, events, end };
    let (mut pause, mut is_told) = (FIRST_PAUSE, false);
    loop {
        let failure = match visit.attempt(&mut is_told) {
            Ok(reached) => return Ok(reached),
            Err(Missed::Lasting(failure)) => return Err(failure),
            Err(Missed::Passing(failure)) => failure,
        };
        if end.is_some_and(|end| Instant::now() + pause >= end) {
            return Err(failure);
        }
        let until = Instant::now() + pause;
        while Instant::now() < until {
            (retry.stop)().map_or(Ok(()), Err)?;
            thread::sleep(LOOK_EVERY.min(until.saturating_duration_since(Instant::now())));
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// What all attempts have in common.
struct Visit<'a> {
    dialer: &'a Dialer,
    ticket: &'a Ticket,
    protection: &'a Protection,
    retry: &'a RetryPolicy<'a>,
    events: &'a dyn Events,
    /// When `--wait` is over.
    end: Option<Instant>,
}

impl Visit<'_> {
    fn attempt(&self, is_told: &mut bool) -> Result<Reached, Missed> {
        (self.retry.stop)().map_or(Ok(()), Err)?;
        let socket = self.dialer.once().map_err(|unreached| self.unreached(unreached))?;
        relay::show(&socket, self.ticket).map_err(|fault| self.broken(&fault))?;
        let (mut answer, mut heard, mut is_waiting) = (Answer::default(), Instant::now(), false);
        loop {
            match answer.next_word(&socket, LOOK_EVERY) {
                Ok(Some(Word::Waiting)) => {
                    (heard, is_waiting) = (Instant::now(), true);
                    if !std::mem::replace(is_told, true) {
                        self.events.notice(&format!(
                            "waiting for the partner at the relay {}, ticket {}",
                            self.dialer.address(),
                            self.ticket.name()
                        ));
                    }
                }
                Ok(Some(Word::Listener)) => return self.secure(socket, Role::Receiver),
                Ok(Some(Word::Connector)) => return self.secure(socket, Role::Sender),
                Ok(Some(Word::Refused(refusal))) => return Err(self.refused(refusal)),
                Ok(None) if heard.elapsed() > SILENCE => return Err(self.broken(&io::ErrorKind::TimedOut.into())),
                Ok(None) => {}
                Err(fault) => return Err(self.broken(&fault)),
            }
            (self.retry.stop)().map_or(Ok(()), Err)?;
            if self.end.is_some_and(|end| Instant::now() >= end) {
                return Err(Missed::Lasting(match is_waiting {
                    true => self.alone(),
                    false => self.silent(),
                }));
            }
        }
    }

    /// TLS with the partner. The side that has come second opens it.
    fn secure(&self, socket: TcpStream, role: Role) -> Result<Reached, Missed> {
        let Protection::Tls { identity, peer } = self.protection else { return Err(Missed::Lasting(self.silent())) };
        let limit = tls_limit(self.end.map(|end| end.saturating_duration_since(Instant::now())));
        let secured = match role {
            Role::Sender => tls::connect(socket, identity, peer.clone(), limit),
            Role::Receiver => tls::accept_if(Arc::new(socket), identity, peer.clone(), limit, &|| true),
        };
        let failure = match secured {
            Ok(connection) => return Ok(Reached { connection, role }),
            Err(failure) => failure,
        };
        let passes = matches!(failure, TlsFailure::Link(_) | TlsFailure::Timeout(_));
        let mut failure = Failure::from(Abort::from(failure));
        failure.fault = format!("at the relay {}: {}", self.dialer.address(), failure.fault);
        if passes {
            // By then, this side may have shown its public key to whoever is there.
            self.events.notice(&format!("{}; dialling again", failure.fault));
        }
        failure.mend.push_str("; if a stranger has your ticket, agree on a new one (`vesica relay ticket`)");
        Err(if passes { Missed::Passing(failure) } else { Missed::Lasting(failure) })
    }

    fn waited(&self) -> f64 {
        self.retry.wait.as_secs_f64()
    }

    /// The relay is there, and the partner is not.
    fn alone(&self) -> Failure {
        Failure::new(
            code::PEER_ABSENT,
            format_args!("the partner did not come to the relay {} within {} s", self.dialer.address(), self.waited()),
            format_args!(
                "start the other side with the same --relay and --ticket (this one is {}), or wait longer with {}",
                self.ticket.name(),
                self.retry.flag
            ),
        )
    }

    /// Somebody is there who says nothing.
    fn silent(&self) -> Failure {
        Failure::new(
            code::PEER_ABSENT,
            format_args!("what answers at {} says nothing, as no relay does", self.dialer.address()),
            "check the address of --relay, and that `vesica relay` runs there",
        )
    }

    fn unreached(&self, unreached: Unreached) -> Missed {
        let address = self.dialer.address();
        match unreached {
            Unreached::Lasting(abort) => Missed::Lasting(abort.into()),
            Unreached::UnknownName(fault) => Missed::Passing(unknown(address, self.retry, &fault)),
            passing @ (Unreached::NoAnswer(_) | Unreached::Proxy(_)) => Missed::Passing(Failure::new(
                code::PEER_ABSENT,
                format_args!("the relay {address} does not answer within {} s ({passing})", self.waited()),
                format_args!(
                    "have whoever runs the relay start it, check address and firewall, or wait longer with {}",
                    self.retry.flag
                ),
            )),
        }
    }

    /// The relay is gone again, or it is none.
    fn broken(&self, fault: &io::Error) -> Missed {
        let address = self.dialer.address();
        if fault.kind() == io::ErrorKind::InvalidData {
            return Missed::Lasting(Failure::new(
                code::LINK,
                format_args!("what answers at {address} is no relay of this release"),
                "check the address of --relay; the side that waits with --listen is reached by --connect",
            ));
        }
        Missed::Passing(Failure::new(
            code::LINK,
            format_args!("the connection to the relay {address} failed before the partner came: {fault}"),
            "check that the relay still runs (its log says why it ends a connection), then start again",
        ))
    }

    fn refused(&self, refusal: Refusal) -> Missed {
        let address = self.dialer.address();
        let lasting = |code, fault: String, mend: &str| Missed::Lasting(Failure::new(code, fault, mend));
        let passing = |fault: String, mend: &str| Missed::Passing(Failure::new(code::PEER_ABSENT, fault, mend));
        let name = self.ticket.name();
        match refusal {
            Refusal::Unknown => lasting(
                code::REFUSED,
                format!("the relay {address} has not made the ticket {name}"),
                "have whoever runs the relay make one with its key: vesica relay ticket --key FILE",
            ),
            Refusal::Spent => lasting(
                code::REFUSED,
                format!("as many bytes as the relay {address} allows have gone by the ticket {name}"),
                "use a new ticket, or have whoever runs the relay raise --bytes-per-ticket",
            ),
            Refusal::Version => lasting(
                code::REFUSED,
                format!("the relay {address} does not speak this release's version"),
                "use the same release of vesica on both sides and at the relay",
            ),
            Refusal::InUse => passing(
                format!("two others are joined by the ticket {name} at the relay {address}"),
                "wait until their run is over; if nobody but your partner should have the ticket, agree on a new one \
                 (`vesica relay ticket`)",
            ),
            Refusal::Alone => Missed::Passing(self.alone()),
            Refusal::Full => passing(
                format!("the relay {address} has as many connections as it takes, in all or from this address"),
                "try again later, or have whoever runs the relay raise --max-connections or --connections-per-address",
            ),
            Refusal::TooOften => passing(
                format!("this address has connected too often to the relay {address} in the last minute"),
                "try again in a minute, or have whoever runs the relay raise --dials-per-minute",
            ),
            Refusal::Stopping => {
                passing(format!("the relay {address} is about to stop"), "start again when the relay runs again")
            }
        }
    }
}
