//! Reaching the peer: listening or connecting until somebody with the right key is there.

use std::io;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use vesica_party::Role;
use vesica_party::transport::dial::{Dialer, Unreached};
use vesica_party::transport::proxy::Proxy;
use vesica_party::transport::relay::Ticket;
use vesica_party::transport::tls::{self, Identity, PeerKeys, TlsFailure};
use vesica_party::transport::{Connection, tcp};

use super::Events;
use super::guests::{Guests, Limits, Outcome, TurnedAway, Visit};
use super::relayed;
use crate::failure::{Failure, code};

/// Longest time for a TLS handshake with the side that listens.
const TLS_LIMIT: Duration = Duration::from_secs(10);

/// Least time that a TLS handshake gets when `--wait` is nearly over.
const LEAST_TLS_LIMIT: Duration = Duration::from_secs(1);

/// Refused connections that are told one by one; more are only counted.
const MOST_REFUSALS_TOLD: u64 = 8;

/// How long a side that listens waits at a time: between two looks at whether it is to go on.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// Time between the first attempts to connect, and the most that it grows to.
const FIRST_PAUSE: Duration = Duration::from_millis(2);
const LONGEST_PAUSE: Duration = Duration::from_millis(250);

/// Which end of the connection a side is. Independent of its role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// Bind this address and wait.
    Listen(String),
    /// Connect to this address, again and again.
    Connect(String),
    /// Meet the partner at the relay of this address, which joins the two that have this ticket.
    Relay(String, Ticket),
}

impl End {
    /// Names the relay to a user whose connection has broken: it may be what has.
    pub(super) fn with_way(&self, mut failure: Failure) -> Failure {
        if let (Self::Relay(address, _), code::LINK) = (self, failure.code)
            && !failure.mend.contains("relay")
        {
            failure.mend.push_str(&format!(
                "; check also that the relay {address}, which this run went through, still runs: its log says why it ends \
                 a connection"
            ));
        }
        failure
    }
}

/// What protects the connection.
#[derive(Clone, Debug)]
pub enum Protection {
    /// TLS 1.3; the peer must have one of these keys.
    Tls {
        /// This side's identity.
        identity: Identity,
        /// Who the peer must be.
        peer: PeerKeys,
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
    Connector(Dialer),
    Relay(Dialer, Ticket),
}

/// A partner that is there.
pub(crate) struct Reached {
    pub connection: Connection,
    /// The role on the channel until those of the task are agreed: the side that has opened the TLS session sends.
    pub role: Role,
}

/// Binds the end if it listens; else it is dialled through `proxy`, if there is one.
pub(crate) fn bind(end: &End, proxy: Option<&Proxy>, events: &dyn Events) -> Result<Bound, Failure> {
    let dialer = |address: &String| Dialer::new(address, proxy.cloned());
    match end {
        End::Connect(address) => Ok(Bound::Connector(dialer(address))),
        End::Relay(address, ticket) => Ok(Bound::Relay(dialer(address), *ticket)),
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
) -> Result<Reached, Failure> {
    match bound {
        Bound::Listener(listener) => {
            accept(listener, protection, retry, events).map(|connection| Reached { connection, role: Role::Receiver })
        }
        Bound::Connector(dialer) => {
            connect(dialer, protection, retry, events).map(|connection| Reached { connection, role: Role::Sender })
        }
        Bound::Relay(dialer, ticket) => relayed::meet(dialer, ticket, protection, retry, events),
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
            let accepted = accept_partner(listener, (identity, peer), &mut guests, retry, events);
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
        let connection = tcp::poll(listener, LOOK_EVERY)
            .and_then(|accepted| accepted.map(|(socket, _)| tcp::connection(socket)).transpose());
        match connection {
            Ok(Some(connection)) => return Ok(connection),
            Ok(None) => {}
            Err(passing) => {
                fault = Some(passing);
                thread::sleep(LOOK_EVERY);
            }
        }
        if end.is_some_and(|end| Instant::now() >= end) {
            return Err(nobody(retry, TurnedAway::default(), fault));
        }
    }
}

/// The first that shows the partner's key.
fn accept_partner(
    listener: &tcp::Listener,
    (identity, peer): (&Identity, &PeerKeys),
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
        let (identity, peer) = (identity.clone(), peer.clone());
        let greet = move |visit: &Visit, limits: &Limits| shake_hands(visit, limits, &identity, &peer);
        match guests.attend(listener, LOOK_EVERY, &mut fault, greet) {
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
    peer: &PeerKeys,
) -> Outcome<Connection, (SocketAddr, TlsFailure)> {
    if !visit.speaks(limits) {
        return None;
    }
    match tls::accept_if(visit.socket().clone(), identity, peer.clone(), limits.handshake, &|| visit.admit()) {
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

fn connect(
    dialer: &Dialer,
    protection: &Protection,
    retry: &RetryPolicy<'_>,
    events: &dyn Events,
) -> Result<Connection, Failure> {
    let end = Instant::now().checked_add(retry.wait);
    let (mut pause, address) = (FIRST_PAUSE, dialer.address());
    let mut is_told = false;
    loop {
        if let Some(failure) = (retry.stop)() {
            return Err(failure);
        }
        let outcome = match dialer.once() {
            Ok(socket) => {
                let left = || end.map(|end| end.saturating_duration_since(Instant::now()));
                let tried = socket.peer_addr();
                let secured = secure(socket, protection, left()).or_else(|failure| {
                    // Another program may have the port at this address, and the partner that at another one.
                    let others = dialer
                        .is_direct()
                        .then(|| addresses(address))
                        .into_iter()
                        .flatten()
                        .filter(|other| tried.as_ref().ok() != Some(other));
                    elsewhere(others, protection, &left, retry.stop).ok_or(failure)
                });
                match secured {
                    Ok(connection) => return Ok(connection),
                    // Something in between may accept before the peer is up; wrong keys and other languages do not pass
                    // with time.
                    Err(failure @ (TlsFailure::Link(_) | TlsFailure::Timeout(_))) => {
                        with_tried(Failure::from(vesica_party::Abort::from(failure)), dialer)
                    }
                    Err(failure) => return Err(with_tried(vesica_party::Abort::from(failure).into(), dialer)),
                }
            }
            Err(Unreached::Lasting(abort)) => return Err(abort.into()),
            Err(Unreached::UnknownName(fault)) => {
                if !std::mem::replace(&mut is_told, true) {
                    events.notice(&format!("the name in {address} has no address yet ({fault}); asking again"));
                }
                unknown(address, retry, &fault)
            }
            Err(Unreached::NoAnswer(_)) => absent(dialer, retry, None),
            Err(Unreached::Proxy(fault)) => absent(dialer, retry, Some(&fault)),
        };
        if end.is_some_and(|end| Instant::now() + pause >= end) {
            return Err(outcome);
        }
        thread::sleep(pause);
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// The addresses behind `host:port`, as the system knows them now.
fn addresses(address: &str) -> Vec<SocketAddr> {
    address.to_socket_addrs().map(Iterator::collect).unwrap_or_default()
}

/// A connection to the partner at the first of these addresses where it answers. `left` is how long it is waited for.
fn elsewhere(
    addresses: impl Iterator<Item = SocketAddr>,
    protection: &Protection,
    left: &dyn Fn() -> Option<Duration>,
    stop: &dyn Fn() -> Option<Failure>,
) -> Option<Connection> {
    addresses.take_while(|_| stop().is_none()).find_map(|address| {
        let limit = tls_limit(left());
        let socket = TcpStream::connect_timeout(&address, limit).ok()?;
        secure(socket, protection, left()).ok()
    })
}

/// Names the addresses that were tried, where a name has several.
fn with_tried(mut failure: Failure, dialer: &Dialer) -> Failure {
    let addresses = if dialer.is_direct() { addresses(dialer.address()) } else { Vec::new() };
    if addresses.len() > 1 {
        let tried: Vec<String> = addresses.iter().map(SocketAddr::to_string).collect();
        failure.fault.push_str(&format!("; tried {}", tried.join(", ")));
    }
    failure
}

fn secure(socket: TcpStream, protection: &Protection, left: Option<Duration>) -> Result<Connection, TlsFailure> {
    match protection {
        Protection::InsecurePlaintext => Ok(tcp::connection(socket)?),
        Protection::Tls { identity, peer } => tls::connect(socket, identity, peer.clone(), tls_limit(left)),
    }
}

/// How long a TLS handshake may take, where so much of `--wait` is left.
pub(super) fn tls_limit(left: Option<Duration>) -> Duration {
    left.map_or(TLS_LIMIT, |left| left.clamp(LEAST_TLS_LIMIT, TLS_LIMIT))
}

/// That nobody knows where the partner should be.
pub(super) fn unknown(address: &str, retry: &RetryPolicy<'_>, fault: &io::Error) -> Failure {
    Failure::new(
        code::PEER_ABSENT,
        format_args!("the name in {address} has no address within {} s ({fault})", retry.wait.as_secs_f64()),
        format_args!(
            "check the name and this machine's name service (DNS, /etc/hosts), or wait longer with {} for a partner \
             whose name appears when it starts",
            retry.flag
        ),
    )
}

/// That nobody listens where the partner should, by what a proxy says if there is one.
fn absent(dialer: &Dialer, retry: &RetryPolicy<'_>, of_proxy: Option<&str>) -> Failure {
    let of_proxy = of_proxy.map(|fault| format!(" ({fault})")).unwrap_or_default();
    let (address, waited) = (dialer.address(), retry.wait.as_secs_f64());
    let failure = Failure::new(
        code::PEER_ABSENT,
        format_args!("nobody answers at {address} within {waited} s{of_proxy}"),
        format_args!("start the side that listens, check address and firewall, or wait longer with {}", retry.flag),
    );
    with_tried(failure, dialer)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    /// A name has an address where another program has the port, one where a stranger has, one where nobody listens,
    /// and the partner's.
    #[test]
    fn the_partner_is_found_at_any_address_of_its_name() {
        let [us, partner, stranger] = [(); 3].map(|()| Identity::generate().expect("randomness"));
        let peer = partner.public();
        let listen = |host: &str| TcpListener::bind((host, 0)).expect("a port");
        let (other_program, strange, theirs) = (listen("127.0.0.1"), listen("127.0.0.1"), listen("127.0.0.1"));
        let closed = listen("127.0.0.1").local_addr().expect("bound");
        let at = |listener: &TcpListener| listener.local_addr().expect("bound");
        let all = [closed, at(&other_program), at(&strange), at(&theirs)];
        let client = us.public();
        thread::scope(|scope| {
            scope.spawn(move || drop(other_program.accept().expect("accepted")));
            for (listener, identity) in [(strange, stranger), (theirs, partner)] {
                scope.spawn(move || {
                    let (socket, _) = listener.accept().expect("accepted");
                    // Whom the client does not want, it leaves.
                    let _ = tls::accept(socket, &identity, client, TLS_LIMIT);
                });
            }
            let protection = Protection::Tls { identity: us, peer: peer.into() };
            let left = || Some(Duration::from_secs(5));
            assert!(elsewhere(all.into_iter(), &protection, &left, &|| None).is_some());
            let stopped = || Some(Failure::new(code::INTERRUPTED, "stop", "none"));
            assert!(elsewhere(all.into_iter(), &protection, &left, &stopped).is_none());
        });
    }

    #[test]
    fn an_error_names_the_addresses_of_a_name_that_has_several() {
        let failure = || Failure::new(code::PEER_ABSENT, "nobody answers", "wait");
        let direct = |address: &str| Dialer::new(address, None);
        assert_eq!(with_tried(failure(), &direct("127.0.0.1:7400")).fault, "nobody answers");
        let named = with_tried(failure(), &direct("localhost:7400")).fault;
        let several = addresses("localhost:7400").len() > 1;
        assert_eq!(named.contains("; tried ") && named.contains("127.0.0.1:7400"), several, "{named}");
    }
}
