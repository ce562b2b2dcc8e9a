//! TLS 1.3 with mutual authentication by pinned raw public keys (RFC 7250): no certificates, no
//! authorities, no names.
//!
//! Each party has an Ed25519 [`Identity`] and pins its partner's [`PublicKey`]. Whoever presents
//! another key is refused, and both ends learn that, with the fingerprints that people compare.

mod establish;
mod files;
mod identity;
mod locked;
mod peer_keys;
mod pinning;
mod records;
mod statements;
mod text;

use std::io;
use std::net::{self, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use super::{Connection, Shutdown, tcp};

pub use establish::TlsFailure;
pub use files::{IdentityFile, IdentityFileError, LockedIdentity, create_private, exposed};
pub use identity::{Fingerprint, Identity, NotAPublicKey, PublicKey};
pub use locked::Passphrase;
pub(crate) use locked::read_locked;
pub use peer_keys::{Expected, NotItsSuccessor, PeerKeys};
pub use pinning::AcceptedKeys;
pub use statements::{Day, NotADay, NotAStatement, Revocation, Succession};
pub(super) use text::base64;

/// Makes a connection that we opened secure, to the one peer that has a key of `peer`. The handshake
/// takes at most `limit`.
pub fn connect(
    socket: TcpStream,
    identity: &Identity,
    peer: impl Into<PeerKeys>,
    limit: Duration,
) -> Result<Connection, TlsFailure> {
    secure(establish::End::Connector, socket.into(), identity, &AcceptedKeys::one(peer), limit, &|| true)
}

/// Makes a connection that we accepted secure, from the one peer that has a key of `peer`. The
/// handshake takes at most `limit`.
pub fn accept(
    socket: TcpStream,
    identity: &Identity,
    peer: impl Into<PeerKeys>,
    limit: Duration,
) -> Result<Connection, TlsFailure> {
    accept_if(socket.into(), identity, peer, limit, &|| true)
}

/// As [`accept`], for a listener that may give the connection up meanwhile by shutting the socket.
/// Once the peer has shown its key, `admit` is asked; if it says yes, the listener must keep the
/// connection, for the peer hears that it is welcome.
pub fn accept_if(
    socket: Arc<TcpStream>,
    identity: &Identity,
    peer: impl Into<PeerKeys>,
    limit: Duration,
    admit: &dyn Fn() -> bool,
) -> Result<Connection, TlsFailure> {
    secure(establish::End::Listener, socket, identity, &AcceptedKeys::one(peer), limit, admit)
}

/// As [`accept`], from any peer whose key `accepted` holds: the connection's `peer` says which
/// one it is. The socket may be shut meanwhile.
pub fn accept_client(
    socket: Arc<TcpStream>,
    identity: &Identity,
    accepted: &AcceptedKeys,
    limit: Duration,
) -> Result<Connection, TlsFailure> {
    secure(establish::End::Listener, socket, identity, accepted, limit, &|| true)
}

/// Who has proved in the handshake to be the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuthenticatedPeer {
    /// The key whose private half it holds.
    pub key: PublicKey,
    /// The key under which it was first known: another one, if it has replaced that one since.
    pub known_as: PublicKey,
}

fn secure(
    end: establish::End,
    socket: Arc<TcpStream>,
    identity: &Identity,
    accepted: &AcceptedKeys,
    limit: Duration,
    admit: &dyn Fn() -> bool,
) -> Result<Connection, TlsFailure> {
    tcp::tune(&socket)?;
    let establish::Established { tls, exporter, peer, key_exchange } =
        establish::establish(end, &socket, identity, accepted, limit, admit)?;
    let (reader, writer, closer) = records::split(tls, socket.clone());
    let mut connection = Connection::new(reader, writer, closer);
    connection.socket = Some(socket);
    connection.exporter = Some(exporter);
    connection.key_exchange = Some(key_exchange);
    connection.peer = Some(AuthenticatedPeer { key: peer, known_as: accepted.known_as(peer) });
    Ok(connection)
}

impl Shutdown for records::Closer {
    fn close(&self, how: net::Shutdown) -> io::Result<()> {
        match how {
            net::Shutdown::Write => self.finish_sending(),
            _ => self.cut(),
        }
    }
}

#[cfg(test)]
mod tests;
