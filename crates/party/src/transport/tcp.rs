//! TCP over IPv4 or IPv6, with host names.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::{self, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::net::{SendFlags, sockopt};

use super::dial::Dialer;
use super::{Connection, Shutdown};
use crate::{Abort, exit_code};

/// Longest time between two looks for a client.
const LONGEST_PAUSE: Duration = Duration::from_millis(500);
/// Longest time for one attempt to connect to one address.
const CONNECT_ATTEMPT_LIMIT: Duration = Duration::from_secs(5);

/// A socket that is bound to an address and listens.
#[derive(Debug)]
pub struct Listener(TcpListener);

impl Listener {
    /// The address to which it is bound, with the port that the system chose where 0 was asked for.
    pub fn local_addr(&self) -> Result<SocketAddr, Abort> {
        Ok(self.0.local_addr()?)
    }
}

/// Binds `address` (`host:port`, `1.2.3.4:port`, `[::1]:port`; port 0 takes a free one).
pub fn listen(address: &str) -> Result<Listener, Abort> {
    let refused = |fault: io::Error, mend: &str| Abort::Local {
        code: exit_code::LINK,
        fault: format!("cannot listen on {address}: {fault}"),
        mend: mend.into(),
    };
    let addresses = resolve(address).map_err(|unusable| match unusable {
        NoAddress::Malformed(abort) => abort,
        NoAddress::Unknown(fault) => refused(fault, "give an address of this machine to --listen, or 0.0.0.0 for all"),
    })?;
    let listener = TcpListener::bind(addresses.as_slice()).map_err(|fault| {
        refused(fault, "give another address or port to --listen, or stop the program that holds it")
    })?;
    listener.set_nonblocking(true)?;
    Ok(Listener(listener))
}

/// The next connection, if a client connects within `wait`.
///
/// # Errors
/// What the operating system says. The listener stays usable: the process may have too many open
/// files for the moment, for example.
pub fn poll(listener: &Listener, wait: Duration) -> io::Result<Option<(TcpStream, SocketAddr)>> {
    if !wait.is_zero() {
        let mut events = [PollFd::new(&listener.0, PollFlags::IN)];
        match rustix::event::poll(&mut events, Timespec::try_from(wait).ok().as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(fault) => return Err(fault.into()),
        }
    }
    match listener.0.accept() {
        Ok((stream, from)) => {
            stream.set_nonblocking(false)?;
            Ok(Some((stream, from)))
        }
        // A connection that was reset before it was accepted is no failure of the listener.
        Err(fault)
            if matches!(
                fault.kind(),
                io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted | io::ErrorKind::ConnectionAborted
            ) =>
        {
            Ok(None)
        }
        Err(fault) => Err(fault),
    }
}

/// Waits up to `wait` for a client to connect.
pub fn accept(listener: &Listener, wait: Duration) -> Result<(TcpStream, SocketAddr), Abort> {
    let end = Instant::now().checked_add(wait);
    loop {
        let left = end.map_or(LONGEST_PAUSE, |end| end.saturating_duration_since(Instant::now()));
        if let Some(accepted) = poll(listener, left.min(LONGEST_PAUSE))? {
            return Ok(accepted);
        }
        if end.is_some_and(|end| Instant::now() >= end) {
            return Err(Abort::Local {
                code: exit_code::PEER_ABSENT,
                fault: format!("nobody connected within {} s", wait.as_secs_f64()),
                mend: "start the other side, check the address and the firewall, or wait longer with --wait".into(),
            });
        }
    }
}

/// Connects to `address` (`host:port`), again and again until `wait` has passed, for a peer that
/// starts later.
pub fn connect(address: &str, wait: Duration) -> Result<TcpStream, Abort> {
    Dialer::new(address, None).connect(wait)
}

/// The connection over a TCP stream, without encryption.
pub fn connection(stream: impl Into<Arc<TcpStream>>) -> io::Result<Connection> {
    let socket = stream.into();
    tune(&socket)?;
    let half = Half(socket.clone());
    let mut connection = Connection::new(half.clone(), half.clone(), half);
    connection.socket = Some(socket);
    Ok(connection)
}

/// Has the socket send small frames without delay. Buffer sizes are left to the kernel, whose own
/// tuning exceeds what a process may ask for.
pub fn tune(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)
}

/// Has a connection fail whose peer is gone without a word, and answers nothing for `limit`. What the peer does not read
/// for so long counts as well.
///
/// # Errors
/// If the system does not take the setting.
pub fn watch(stream: &TcpStream, limit: Duration) -> io::Result<()> {
    let half = (limit / 2).max(Duration::from_secs(1));
    sockopt::set_tcp_keepidle(stream, half)?;
    sockopt::set_tcp_keepintvl(stream, (limit / 4).max(Duration::from_secs(1)))?;
    sockopt::set_socket_keepalive(stream, true)?;
    Ok(sockopt::set_tcp_user_timeout(stream, limit.as_millis() as u32)?)
}

/// Sends what there is room for now, and waits for nobody.
///
/// # Errors
/// If the connection fails, or there is no room for all of it.
pub fn send_at_once(stream: &TcpStream, bytes: &[u8]) -> io::Result<()> {
    match rustix::net::send(stream, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL)? {
        sent if sent == bytes.len() => Ok(()),
        _ => Err(io::ErrorKind::WouldBlock.into()),
    }
}

/// Whether a peer that is to say nothing has hung up, or says something, within `wait`.
pub fn has_stirred(stream: &TcpStream, wait: Duration) -> bool {
    let mut events = [PollFd::new(stream, PollFlags::IN | PollFlags::RDHUP)];
    matches!(rustix::event::poll(&mut events, Timespec::try_from(wait).ok().as_ref()), Ok(ready) if ready > 0)
}

/// Tries each of these addresses once.
///
/// # Errors
/// That of the last one.
pub(super) fn attempt(addresses: &[SocketAddr]) -> io::Result<TcpStream> {
    let mut fault = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for address in addresses {
        match TcpStream::connect_timeout(address, CONNECT_ATTEMPT_LIMIT) {
            Ok(stream) => return Ok(stream),
            Err(this) => fault = this,
        }
    }
    Err(fault)
}

/// Why there is no address behind a text.
pub(super) enum NoAddress {
    /// It is not of the form `host:port`.
    Malformed(Abort),
    /// The host's name is not known.
    Unknown(io::Error),
}

/// The addresses behind `host:port`.
pub(super) fn resolve(address: &str) -> Result<Vec<SocketAddr>, NoAddress> {
    match address.to_socket_addrs() {
        Ok(addresses) => {
            let addresses: Vec<_> = addresses.collect();
            let none = || NoAddress::Unknown(io::Error::new(io::ErrorKind::NotFound, "the name has no address"));
            if addresses.is_empty() { Err(none()) } else { Ok(addresses) }
        }
        Err(fault) if fault.kind() == io::ErrorKind::InvalidInput => {
            Err(NoAddress::Malformed(malformed(address, &fault)))
        }
        Err(fault) => Err(NoAddress::Unknown(fault)),
    }
}

/// That a text is no address.
pub(super) fn malformed(address: &str, fault: &dyn fmt::Display) -> Abort {
    Abort::Local {
        code: exit_code::USAGE,
        fault: format!("cannot use the address {address:?}: {fault}"),
        mend: "give host:port, for example example.org:7400, 0.0.0.0:7400 or [::1]:7400".into(),
    }
}

/// A direction of a connection, or its end.
#[derive(Clone)]
struct Half(Arc<TcpStream>);

impl Read for Half {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        (&*self.0).read(out)
    }
}

impl Write for Half {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (&*self.0).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Shutdown for Half {
    fn close(&self, how: net::Shutdown) -> io::Result<()> {
        self.0.shutdown(how)
    }
}
