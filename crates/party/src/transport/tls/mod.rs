//! TLS 1.3 with mutual authentication by pinned raw public keys (RFC 7250): no certificates, no
//! authorities, no names.
//!
//! Each party has an Ed25519 [`Identity`] and pins its partner's [`PublicKey`]. Whoever presents
//! another key is refused, and both ends learn that, with the fingerprints that people compare.

mod establish;
mod files;
mod identity;
mod locked;
mod pinning;
mod records;
mod text;

use std::io;
use std::net::{self, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use super::{Connection, Shutdown, tcp};

pub use establish::TlsFailure;
pub use files::{IdentityFile, IdentityFileError, LockedIdentity};
pub use identity::{Fingerprint, Identity, NotAPublicKey, PublicKey};
pub use locked::Passphrase;
pub use pinning::AcceptedKeys;

/// Makes a connection that we opened secure, to the one peer that has the key `peer`. The handshake
/// takes at most `limit`.
pub fn connect(
    socket: TcpStream,
    identity: &Identity,
    peer: PublicKey,
    limit: Duration,
) -> Result<Connection, TlsFailure> {
    secure(establish::End::Connector, socket.into(), identity, &AcceptedKeys::one(peer), limit, &|| true)
}

/// Makes a connection that we accepted secure, from the one peer that has the key `peer`. The
/// handshake takes at most `limit`.
pub fn accept(
    socket: TcpStream,
    identity: &Identity,
    peer: PublicKey,
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
    peer: PublicKey,
    limit: Duration,
    admit: &dyn Fn() -> bool,
) -> Result<Connection, TlsFailure> {
    secure(establish::End::Listener, socket, identity, &AcceptedKeys::one(peer), limit, admit)
}

/// As [`accept`], from any peer whose key `accepted` holds: the connection's `peer_key` says which
/// one it is. The socket may be shut meanwhile.
pub fn accept_client(
    socket: Arc<TcpStream>,
    identity: &Identity,
    accepted: &AcceptedKeys,
    limit: Duration,
) -> Result<Connection, TlsFailure> {
    secure(establish::End::Listener, socket, identity, accepted, limit, &|| true)
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
    connection.peer_key = Some(peer.to_spki().to_vec());
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
