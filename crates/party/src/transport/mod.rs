//! Ways to reach the peer. A transport ends in a [`Connection`]; what travels over it is the
//! channel's matter.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::{self, TcpStream};
use std::sync::Arc;

use crate::{Abort, exit_code};

pub mod acceptor;
pub mod dial;
pub mod limited;
mod link;
pub mod memory;
pub mod proxy;
pub mod relay;
pub mod shaped;
pub mod tcp;
pub mod tls;

pub use link::Link;
pub(crate) use link::WINDOW_BYTES;
pub use memory::Rendezvous;

/// Closes a connection while other threads read from it or write to it.
pub trait Shutdown: Send + Sync {
    /// With `Write`, the peer reads end-of-file after all that was written (over TLS: a close
    /// notification first), and input goes on. With `Both`, blocked reads and writes on this
    /// side end at once as well.
    fn close(&self, how: net::Shutdown) -> io::Result<()>;
}

/// How the two ends of a TLS session agreed on its keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyExchange {
    /// X25519 and ML-KEM-768 together: the keys stay secret as long as one of the two holds, so that a quantum computer
    /// alone does not open a recorded session.
    X25519MlKem768,
    /// X25519 alone, which a large quantum computer breaks.
    X25519,
}

impl KeyExchange {
    /// The name of the group in the registry of TLS.
    pub const fn name(self) -> &'static str {
        match self {
            Self::X25519MlKem768 => "X25519MLKEM768",
            Self::X25519 => "X25519",
        }
    }

    /// Whether no way is known by which a quantum computer opens a recorded session.
    pub const fn is_post_quantum(self) -> bool {
        matches!(self, Self::X25519MlKem768)
    }

    /// Refuses a connection whose recording a quantum computer opens; `None` is one without TLS.
    ///
    /// # Errors
    /// If [`is_post_quantum`](Self::is_post_quantum) does not hold.
    pub fn require_post_quantum(taken: Option<Self>) -> Result<(), Abort> {
        if taken.is_some_and(Self::is_post_quantum) {
            return Ok(());
        }
        let fault = match taken {
            Some(group) => format!(
                "the keys of the TLS session are by {}, and --post-quantum asks for {}",
                group.name(),
                Self::X25519MlKem768.name()
            ),
            None => "--post-quantum asks for TLS, and the connection has none".to_owned(),
        };
        Err(Abort::Local {
            code: exit_code::REFUSED,
            fault,
            mend: "use the same release of vesica on both sides, without --insecure-plaintext".into(),
        })
    }
}

/// A connected byte stream, whose two directions may be used by different threads.
pub struct Connection {
    /// The bytes from the peer.
    pub reader: Box<dyn Read + Send>,
    /// The bytes to the peer. The writer must be flushed.
    pub writer: Box<dyn Write + Send>,
    /// A handle that closes the connection from any thread.
    pub shutdown: Arc<dyn Shutdown>,
    /// 32 bytes exported from the TLS session, equal on both sides and different in every session.
    pub exporter: Option<[u8; 32]>,
    /// How the keys of the TLS session came about; `None` on other transports.
    pub key_exchange: Option<KeyExchange>,
    /// Who the peer is; `None` without TLS.
    pub peer: Option<tls::AuthenticatedPeer>,
    /// The means by which two sides within one process notice that they wait for each other; `None`
    /// on other transports.
    pub rendezvous: Option<Rendezvous>,
    /// The socket under it, where there is one: with it, a server waits for many connections at once.
    /// If the socket does not block, neither do `reader` and `writer`: they fail with `WouldBlock`. A
    /// writer that has taken bytes may still hold them then; a flush goes on with them.
    pub socket: Option<Arc<TcpStream>>,
}

impl Connection {
    /// A connection without authentication.
    pub fn new(
        reader: impl Read + Send + 'static,
        writer: impl Write + Send + 'static,
        shutdown: impl Shutdown + 'static,
    ) -> Self {
        Self {
            reader: Box::new(reader),
            writer: Box::new(writer),
            shutdown: Arc::new(shutdown),
            exporter: None,
            key_exchange: None,
            peer: None,
            rendezvous: None,
            socket: None,
        }
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("authenticated", &self.peer.is_some()).finish_non_exhaustive()
    }
}
