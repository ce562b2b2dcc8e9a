//! Many clients at one address: a source of connections that a server takes one after the other and
//! establishes side by side.

use std::fmt;
use std::io;
use std::net::{self, TcpStream};
use std::sync::mpsc::{self, RecvTimeoutError, SyncSender, TrySendError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::tls::{self, AcceptedKeys, Identity};
use super::{Connection, KeyExchange, memory, tcp};
use crate::Abort;

/// A client that has connected and not yet said who it is.
pub struct Arrival {
    from: String,
    establish: Box<dyn FnOnce() -> Result<Connection, Abort> + Send>,
    hang_up: Box<dyn Fn() + Send>,
}

impl Arrival {
    /// Where the client comes from, for logs: anybody on the way may have made it up.
    pub fn from(&self) -> &str {
        &self.from
    }

    /// The handshake, which may wait for the client, and a function by which another thread ends
    /// the wait at any time.
    #[expect(clippy::type_complexity, reason = "two closures, taken apart at once")]
    pub fn split(self) -> (Box<dyn FnOnce() -> Result<Connection, Abort> + Send>, Box<dyn Fn() + Send>) {
        (self.establish, self.hang_up)
    }
}

impl fmt::Debug for Arrival {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Arrival").field("from", &self.from).finish_non_exhaustive()
    }
}

/// A place at which clients connect.
pub trait Acceptor: Send + Sync {
    /// The next client, or `None` if nobody has connected within `wait`. Never waits for what a
    /// client says.
    ///
    /// # Errors
    /// What the operating system says. The place stands all the same: that the process has too many
    /// open files, for example, may pass.
    fn accept(&self, wait: Duration) -> io::Result<Option<Arrival>>;
}

/// Clients over plain TCP: nothing is encrypted, and nobody's identity is known.
#[derive(Debug)]
pub struct PlaintextAcceptor(pub tcp::Listener);

impl Acceptor for PlaintextAcceptor {
    fn accept(&self, wait: Duration) -> io::Result<Option<Arrival>> {
        let Some((socket, from)) = tcp::poll(&self.0, wait)? else { return Ok(None) };
        let socket = Arc::new(socket);
        let hang_up = hang_up(socket.clone());
        let establish = Box::new(move || Ok(tcp::connection(socket)?));
        Ok(Some(Arrival { from: from.to_string(), establish, hang_up }))
    }
}

/// Clients over TLS 1.3, each with the key pair by which it is known.
#[derive(Debug)]
pub struct TlsAcceptor {
    /// The address at which clients connect.
    pub listener: tcp::Listener,
    /// The server's key pair, whose public half clients pin.
    pub identity: Identity,
    /// The clients that may connect.
    pub clients: AcceptedKeys,
    /// The longest time for a TLS handshake.
    pub handshake_limit: Duration,
    /// Whether clients are turned away whose sessions a quantum computer opens.
    pub post_quantum: bool,
}

impl Acceptor for TlsAcceptor {
    fn accept(&self, wait: Duration) -> io::Result<Option<Arrival>> {
        let Some((socket, from)) = tcp::poll(&self.listener, wait)? else { return Ok(None) };
        let socket = Arc::new(socket);
        let hang_up = hang_up(socket.clone());
        let (identity, clients, limit) = (self.identity.clone(), self.clients.clone(), self.handshake_limit);
        let post_quantum = self.post_quantum;
        let establish = Box::new(move || {
            let connection = tls::accept_client(socket, &identity, &clients, limit)?;
            if post_quantum {
                KeyExchange::require_post_quantum(connection.key_exchange)?;
            }
            Ok(connection)
        });
        Ok(Some(Arrival { from: from.to_string(), establish, hang_up }))
    }
}

fn hang_up(socket: Arc<TcpStream>) -> Box<dyn Fn() + Send> {
    Box::new(move || {
        // A socket that is closed already is what this is for.
        let _ = socket.shutdown(net::Shutdown::Both);
    })
}

/// A place within one process, for tests and benchmarks, at which at most `waiting` clients wait to
/// be accepted.
pub fn in_memory(waiting: usize) -> (MemoryAcceptor, MemoryConnector) {
    let (sender, receiver) = mpsc::sync_channel(waiting);
    (MemoryAcceptor(Mutex::new(receiver)), MemoryConnector(sender))
}

/// The server's end of [`in_memory`].
#[derive(Debug)]
pub struct MemoryAcceptor(Mutex<mpsc::Receiver<Connection>>);

impl Acceptor for MemoryAcceptor {
    fn accept(&self, wait: Duration) -> io::Result<Option<Arrival>> {
        let receiver = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let connection = match receiver.recv_timeout(wait) {
            Ok(connection) => connection,
            Err(RecvTimeoutError::Timeout) => return Ok(None),
            Err(RecvTimeoutError::Disconnected) => {
                thread::sleep(wait);
                return Ok(None);
            }
        };
        let shutdown = connection.shutdown.clone();
        let hang_up = Box::new(move || {
            // A connection that is closed already is what this is for.
            let _ = shutdown.close(net::Shutdown::Both);
        });
        Ok(Some(Arrival { from: "this process".into(), establish: Box::new(move || Ok(connection)), hang_up }))
    }
}

/// The clients' end of [`in_memory`].
#[derive(Clone, Debug)]
pub struct MemoryConnector(SyncSender<Connection>);

impl MemoryConnector {
    /// Connects a client.
    ///
    /// # Errors
    /// If the server is gone, or as many clients as may wait are waiting.
    pub fn connect(&self) -> io::Result<Connection> {
        let (server, client) = memory::pair();
        self.0.try_send(server).map_err(|refusal| match refusal {
            TrySendError::Full(_) => io::ErrorKind::WouldBlock,
            TrySendError::Disconnected(_) => io::ErrorKind::ConnectionRefused,
        })?;
        Ok(client)
    }
}
