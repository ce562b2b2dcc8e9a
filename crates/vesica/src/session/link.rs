//! Reaching the peer: listening or connecting until somebody with the right key is there.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use vesica_party::Role;
use vesica_party::transport::tls::{self, Identity, PublicKey, TlsFailure};
use vesica_party::transport::{Connection, tcp};

use super::Events;
use super::guests::{Guests, Limits, Outcome, TurnedAway, Visit};
use crate::failure::{Failure, code};

/// Longest time for a TLS handshake with the side that listens.
const TLS_LIMIT: Duration = Duration::from_secs(10);

/// Least time that a TLS handshake gets when `--wait` is nearly over.
const LEAST_TLS_LIMIT: Duration = Duration::from_secs(1);

/// Refused connections that are told one by one; more are only counted.
const MOST_REFUSALS_TOLD: u64 = 8;

/// Time between two looks at the listener or attempts to connect.
const PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_millis(250);

/// Which end of the connection a side is. Independent of its role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// Bind this address and wait.
    Listen(String),
    /// Connect to this address, again and again.
    Connect(String),
}

impl End {
    /// The role on the channel until those of the task are agreed.
    pub(super) fn channel_role(&self) -> Role {
        match self {
            Self::Connect(_) => Role::Sender,
            Self::Listen(_) => Role::Receiver,
        }
    }
}

/// What protects the connection.
#[derive(Clone, Debug)]
pub enum Protection {
    /// TLS 1.3; the peer must have this key.
    Tls {
        /// This side's identity.
        identity: Identity,
        /// Who the peer must be.
        peer: PublicKey,
    },
    /// Nothing: everybody on the way reads and changes what is sent, and anybody may be the peer.
    InsecurePlaintext,
}

/// How long to try, and what ends it earlier.
pub(crate) struct RetryPolicy<'a> {
    /// `--wait`, or less if the deadline comes first.
    pub wait: Duration,
    /// The flag that sets this bound.
    pub flag: &'static str,
    /// An interruption, or an own failure that the peer could not be told in reasonable time.
    pub stop: &'a dyn Fn() -> Option<Failure>,
}

/// The end, bound if it listens.
pub(crate) enum Bound {
    Listener(tcp::Listener),
    Connector(String),
}

pub(crate) fn bind(end: &End, events: &dyn Events) -> Result<Bound, Failure> {
    match end {
        End::Connect(address) => Ok(Bound::Connector(address.clone())),
        End::Listen(address) => {
            let listener = tcp::listen(address)?;
            events.listening(listener.local_addr()?);
            Ok(Bound::Listener(listener))
        }
    }
}

pub(crate) fn reach(
    bound: &Bound,
    protection: &Protection,
    retry: &RetryPolicy<'_>,
    events: &dyn Events,
) -> Result<Connection, Failure> {
    match bound {
        Bound::Listener(listener) => accept(listener, protection, retry, events),
        Bound::Connector(address) => connect(address, protection, retry),
    }
}

fn accept(
    listener: &tcp::Listener,
    protection: &Protection,
    retry: &RetryPolicy<'_>,
    events: &dyn Events,
) -> Result<Connection, Failure> {
    match protection {
        Protection::InsecurePlaintext => accept_anybody(listener, retry),
        Protection::Tls { identity, peer } => {
            let mut guests = Guests::new(Limits::of_this_process());
            let accepted = accept_partner(listener, (identity, *peer), &mut guests, retry, events);
            let turned_away = guests.dismiss();
            if accepted.is_ok() && turned_away.total() > 0 {
                events.notice(&format!("{turned_away} while the partner was waited for"));
            }
            accepted
        }
    }
}

/// Without keys, whoever comes first is the partner.
fn accept_anybody(listener: &tcp::Listener, retry: &RetryPolicy<'_>) -> Result<Connection, Failure> {
    let end = Instant::now().checked_add(retry.wait);
    let mut fault = None;
    loop {
        if let Some(failure) = (retry.stop)() {
            return Err(failure);
        }
        let connection =
            tcp::poll(listener).and_then(|accepted| accepted.map(|(socket, _)| tcp::connection(socket)).transpose());
        match connection {
            Ok(Some(connection)) => return Ok(connection),
            Ok(None) => {}
            Err(passing) => fault = Some(passing),
        }
        if end.is_some_and(|end| Instant::now() >= end) {
            return Err(nobody(retry, TurnedAway::default(), fault));
        }
        thread::sleep(PAUSE);
    }
}

/// The first that shows the partner's key.
fn accept_partner(
    listener: &tcp::Listener,
    (identity, peer): (&Identity, PublicKey),
    guests: &mut Guests<Connection, (SocketAddr, TlsFailure)>,
    retry: &RetryPolicy<'_>,
    events: &dyn Events,
) -> Result<Connection, Failure> {
    let end = Instant::now().checked_add(retry.wait);
    let (mut refused, mut told, mut fault) = (None, 0, None);
    let identity = Arc::new(identity.clone());
    loop {
        if let Some(failure) = (retry.stop)() {
            return Err(failure);
        }
        let identity = identity.clone();
        let greet = move |visit: &Visit, limits: &Limits| shake_hands(visit, limits, &identity, peer);
        match guests.attend(listener, PAUSE, &mut fault, greet) {
            Some(Ok(connection)) => return Ok(connection),
            Some(Err((from, failure))) => {
                told += 1;
                if told <= MOST_REFUSALS_TOLD {
                    events.notice(&format!("refused a connection from {from}: {failure}; {}", failure.mend()));
                }
                if failure.is_identity() {
                    refused = Some(failure);
                }
            }
            None => {}
        }
        if end.is_some_and(|end| Instant::now() >= end) && !guests.partner_is_coming() {
            let turned_away = guests.dismiss();
            // Whoever came with the wrong key is the likeliest reason why the right one did not come.
            return Err(match refused {
                Some(failure) => {
                    let mut failure = Failure::from(vesica_party::Abort::from(failure));
                    if turned_away.total() > 1 {
                        failure.fault.push_str(&format!("; {turned_away} in all"));
                    }
                    failure
                }
                None => nobody(retry, turned_away, fault),
            });
        }
    }
}

/// A guest's thread: waits for its first bytes, then for the handshake.
fn shake_hands(
    visit: &Visit,
    limits: &Limits,
    identity: &Identity,
    peer: PublicKey,
) -> Outcome<Connection, (SocketAddr, TlsFailure)> {
    if !visit.speaks(limits) {
        return None;
    }
    match tls::accept_if(visit.socket().clone(), identity, peer, limits.handshake, &|| visit.admit()) {
        Ok(connection) => Some(Ok(connection)),
        Err(_) if visit.had_to_go() => None,
        Err(failure) => Some(Err((visit.from(), failure))),
    }
}

/// That the partner did not come, with what came in its place.
fn nobody(retry: &RetryPolicy<'_>, turned_away: TurnedAway, fault: Option<io::Error>) -> Failure {
    let mut said = if turned_away.total() == 0 { "nobody connected" } else { "the partner did not connect" }.to_owned();
    said.push_str(&format!(" within {} s", retry.wait.as_secs_f64()));
    let mut mend =
        format!("start the side that connects, check address and firewall, or wait longer with {}", retry.flag);
    if turned_away.total() > 0 {
        said.push_str(&format!("; {turned_away}"));
        mend.push_str("; let only the partner's address reach this port, if strangers keep coming");
    }
    if let Some(fault) = fault {
        said.push_str(&format!("; a connection could not be accepted: {fault}"));
        mend.push_str("; raise the limit of open files (`ulimit -n`), if that is what ran out");
    }
    Failure::new(code::PEER_ABSENT, said, mend)
}

fn connect(address: &str, protection: &Protection, retry: &RetryPolicy<'_>) -> Result<Connection, Failure> {
    let end = Instant::now().checked_add(retry.wait);
    let mut pause = PAUSE;
    loop {
        if let Some(failure) = (retry.stop)() {
            return Err(failure);
        }
        let outcome = match tcp::connect(address, Duration::ZERO) {
            Ok(socket) => {
                match secure(socket, protection, end.map(|end| end.saturating_duration_since(Instant::now()))) {
                    Ok(connection) => return Ok(connection),
                    // Something in between may accept before the peer is up; wrong keys and other languages do not pass
                    // with time.
                    Err(failure @ (TlsFailure::Link(_) | TlsFailure::Timeout(_))) => {
                        Failure::from(vesica_party::Abort::from(failure))
                    }
                    Err(failure) => return Err(vesica_party::Abort::from(failure).into()),
                }
            }
            Err(abort) if abort.exit_code() == code::PEER_ABSENT => absent(address, retry),
            Err(abort) => return Err(abort.into()),
        };
        if end.is_some_and(|end| Instant::now() + pause >= end) {
            return Err(outcome);
        }
        thread::sleep(pause);
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

fn secure(socket: TcpStream, protection: &Protection, left: Option<Duration>) -> Result<Connection, TlsFailure> {
    match protection {
        Protection::InsecurePlaintext => Ok(tcp::connection(socket)?),
        Protection::Tls { identity, peer } => {
            let limit = left.map_or(TLS_LIMIT, |left| left.clamp(LEAST_TLS_LIMIT, TLS_LIMIT));
            tls::connect(socket, identity, *peer, limit)
        }
    }
}

/// That nobody listens where the partner should.
fn absent(address: &str, retry: &RetryPolicy<'_>) -> Failure {
    Failure::new(
        code::PEER_ABSENT,
        format_args!("nobody answers at {address} within {} s", retry.wait.as_secs_f64()),
        format_args!("start the side that listens, check address and firewall, or wait longer with {}", retry.flag),
    )
}
