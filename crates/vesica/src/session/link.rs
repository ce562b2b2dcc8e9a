//! Reaching the peer: listening or connecting until somebody with the right key is there.

use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use vesica_party::Role;
use vesica_party::transport::tls::{self, Identity, PublicKey, TlsFailure};
use vesica_party::transport::{Connection, tcp};

use super::Events;
use crate::failure::{Failure, code};

/// Longest time that a stranger may take for a TLS handshake. Others are served meanwhile.
const TLS_LIMIT: Duration = Duration::from_secs(10);

/// Least time that a TLS handshake gets when `--wait` is nearly over.
const LEAST_TLS_LIMIT: Duration = Duration::from_secs(1);

/// Handshakes in progress at once; more are hung up on.
const MOST_HANDSHAKES: usize = 16;

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
        /// Who we are.
        identity: Identity,
        /// Who the peer must be.
        peer: PublicKey,
    },
    /// Nothing: everybody on the way reads and changes what is sent, and anybody may be the peer.
    InsecurePlaintext,
}

/// How long to try, and what ends it earlier.
pub(super) struct Patience<'a> {
    /// `--wait`, or less if the deadline comes first.
    pub wait: Duration,
    /// The flag that sets this bound.
    pub flag: &'static str,
    /// An interruption, or an own failure that the peer could not be told in reasonable time.
    pub stop: &'a dyn Fn() -> Option<Failure>,
}

/// The end, bound if it listens.
pub(super) enum Bound {
    Listener(tcp::Listener),
    Connector(String),
}

pub(super) fn bind(end: &End, events: &dyn Events) -> Result<Bound, Failure> {
    match end {
        End::Connect(address) => Ok(Bound::Connector(address.clone())),
        End::Listen(address) => {
            let listener = tcp::listen(address)?;
            events.listening(listener.local_addr()?);
            Ok(Bound::Listener(listener))
        }
    }
}

pub(super) fn reach(bound: &Bound, protection: &Protection, patience: &Patience<'_>, events: &dyn Events) -> Result<Connection, Failure> {
    match bound {
        Bound::Listener(listener) => accept(listener, protection, patience, events),
        Bound::Connector(address) => connect(address, protection, patience),
    }
}

fn accept(listener: &tcp::Listener, protection: &Protection, patience: &Patience<'_>, events: &dyn Events) -> Result<Connection, Failure> {
    let end = Instant::now().checked_add(patience.wait);
    let (done, finished) = mpsc::channel::<(SocketAddr, Result<Connection, TlsFailure>)>();
    let mut in_progress = 0;
    let mut refused: Option<TlsFailure> = None;
    loop {
        if let Some(failure) = (patience.stop)() {
            return Err(failure);
        }
        match tcp::accept(listener, Duration::ZERO) {
            Ok((socket, from)) => match protection {
                Protection::InsecurePlaintext => return Ok(tcp::connection(socket).map_err(vesica_party::Abort::Link)?),
                Protection::Tls { .. } if in_progress >= MOST_HANDSHAKES => drop(socket),
                Protection::Tls { identity, peer } => {
                    in_progress += 1;
                    let (identity, peer, done) = (identity.clone(), *peer, done.clone());
                    // The listener has gone on if nobody hears the outcome.
                    thread::spawn(move || _ = done.send((from, tls::accept(socket, &identity, peer, TLS_LIMIT))));
                }
            },
            Err(abort) if abort.exit_code() == code::PEER_ABSENT => {}
            Err(abort) => return Err(abort.into()),
        }
        if let Ok((from, outcome)) = finished.recv_timeout(PAUSE) {
            in_progress -= 1;
            match outcome {
                Ok(connection) => return Ok(connection),
                Err(failure) => {
                    events.notice(&format!("refused a connection from {from}: {failure}; {}", failure.mend()));
                    if failure.is_identity() {
                        refused = Some(failure);
                    }
                }
            }
        }
        if end.is_some_and(|end| Instant::now() >= end) {
            // Whoever came with the wrong key is the likeliest reason why the right one did not come.
            return Err(match refused {
                Some(failure) => Failure::from(vesica_party::Abort::from(failure)),
                None => absent("nobody connected", patience, "start the side that connects"),
            });
        }
    }
}

fn connect(address: &str, protection: &Protection, patience: &Patience<'_>) -> Result<Connection, Failure> {
    let end = Instant::now().checked_add(patience.wait);
    let mut pause = PAUSE;
    loop {
        if let Some(failure) = (patience.stop)() {
            return Err(failure);
        }
        let outcome = match tcp::connect(address, Duration::ZERO) {
            Ok(socket) => match secure(socket, protection, end.map(|end| end.saturating_duration_since(Instant::now()))) {
                Ok(connection) => return Ok(connection),
                // Something in between may accept before the peer is up; wrong keys and other languages do not pass with time.
                Err(failure @ (TlsFailure::Link(_) | TlsFailure::Timeout(_))) => Failure::from(vesica_party::Abort::from(failure)),
                Err(failure) => return Err(vesica_party::Abort::from(failure).into()),
            },
            Err(abort) if abort.exit_code() == code::PEER_ABSENT => {
                let fault = format!("nobody answers at {address}");
                absent(&fault, patience, "start the side that listens")
            }
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

fn absent(fault: &str, patience: &Patience<'_>, mend: &str) -> Failure {
    Failure::new(
        code::PEER_ABSENT,
        format_args!("{fault} within {} s", patience.wait.as_secs_f64()),
        format_args!("{mend}, check address and firewall, or wait longer with {}", patience.flag),
    )
}
