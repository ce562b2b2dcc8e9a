//! The TLS handshake over a fresh TCP connection, within a time limit, and the errors that it can
//! end with.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use rustls::{AlertDescription, CertificateError, Connection, Error, NamedGroup};

use super::identity::{Fingerprint, Identity, PublicKey};
use super::peer_keys::Expected;
use super::pinning::{self, AcceptedKeys, Pin};
use super::statements::Day;
use crate::transport::KeyExchange;
use crate::transport::limited::Limited;
use crate::{Abort, exit_code};

/// Label of the exporter (RFC 8446 section 7.5) to which sessions are bound.
const EXPORTER_LABEL: &[u8] = b"EXPORTER-vesica-session-v1";

/// The byte that the listener sends when it has accepted the connector's key, which a TLS 1.3
/// client cannot see otherwise.
pub(super) const WELCOME: u8 = b'v';

/// Time that a side whose handshake failed waits for the peer to hang up.
const PARTING: Duration = Duration::from_secs(1);

/// Why a TLS connection could not be established.
#[derive(Debug, thiserror::Error)]
pub enum TlsFailure {
    /// The peer has another key than the one that is pinned.
    #[error("the partner's key is {shown}, but {pinned} is expected (our own key is {ours})")]
    PeerRefused {
        /// The key that it presented.
        shown: Fingerprint,
        /// The keys that it may have.
        pinned: Expected,
        /// Our own key.
        ours: Fingerprint,
    },
    /// The peer has a key in whose place it has put another one, and the last day is over.
    #[error(
        "the partner's key {shown} was replaced by another one, and was good until {until} (our own key is {ours})"
    )]
    PeerReplaced {
        /// The key that it presented.
        shown: Fingerprint,
        /// Its last day.
        until: Day,
        /// Our own key.
        ours: Fingerprint,
    },
    /// A client has a key that this server does not accept.
    #[error("the client's key is {shown}, which this server does not accept (our own key is {ours})")]
    ClientRefused {
        /// The key that it presented.
        shown: Fingerprint,
        /// Our own key.
        ours: Fingerprint,
    },
    /// A client, of which this server does not know which one it is, expects another key of us.
    #[error("a client refused our key {ours}")]
    RefusedByClient {
        /// Our key.
        ours: Fingerprint,
    },
    /// The peer expects another key of us.
    #[error("the partner refused our key {ours} (the partner's own key is expected to be {pinned})")]
    RefusedByPeer {
        /// Our key.
        ours: Fingerprint,
        /// The keys that the peer may have.
        pinned: Expected,
    },
    /// Whatever is at the other end does not speak our TLS.
    #[error("the partner does not speak TLS 1.3 with raw public keys: {0}")]
    NotOurTls(Error),
    /// The connection failed.
    #[error("the connection failed during the TLS handshake: {0}")]
    Link(#[from] io::Error),
    /// The peer was silent.
    #[error("the partner did not complete the TLS handshake within {} s", .0.as_secs())]
    Timeout(Duration),
}

impl TlsFailure {
    /// Whether keys do not match, which waiting does not mend.
    pub fn is_identity(&self) -> bool {
        matches!(
            self,
            Self::PeerRefused { .. }
                | Self::PeerReplaced { .. }
                | Self::RefusedByPeer { .. }
                | Self::ClientRefused { .. }
                | Self::RefusedByClient { .. }
        )
    }

    /// The remedy.
    pub fn mend(&self) -> &'static str {
        match self {
            Self::PeerRefused { .. } => {
                "compare fingerprints with your partner over another channel, and pass the partner's present .pub file \
                 to --peer"
            }
            Self::PeerReplaced { .. } => "the partner must use the key that it has announced as its successor",
            Self::RefusedByPeer { .. } => {
                "if you have announced a successor of this key, use that one; else hand your present .pub file (`vesica identity show`) to your partner, who passes it to --peer; whoever \
                 runs a server adds its line to the file of --clients instead, and sends the server SIGHUP"
            }
            Self::ClientRefused { .. } => {
                "add the line of the client's .pub file to the file of --clients, if it belongs there, and send the \
                 server SIGHUP"
            }
            Self::RefusedByClient { .. } => {
                "hand the server's present .pub file (`vesica identity show`) to the client, who passes it to --peer"
            }
            Self::NotOurTls(_) => {
                "check the address, and that both sides use vesica with the same transport (--insecure-plaintext on \
                 both or on neither)"
            }
            Self::Link(_) | Self::Timeout(_) => {
                "check the address and that the partner's vesica runs, then start again"
            }
        }
    }

    fn code(&self) -> u8 {
        match self {
            _ if self.is_identity() => exit_code::IDENTITY,
            Self::NotOurTls(_) => exit_code::PEER_MISBEHAVED,
            _ => exit_code::LINK,
        }
    }
}

impl From<TlsFailure> for Abort {
    fn from(failure: TlsFailure) -> Self {
        Self::Local { code: failure.code(), fault: failure.to_string(), mend: failure.mend().into() }
    }
}

/// The ends of a TCP connection.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The end that opened it.
    Connector,
    /// The end that accepted it.
    Listener,
}

/// A connection whose handshake is over.
pub(super) struct Established {
    pub tls: Connection,
    /// 32 bytes that only the two ends of the connection know.
    pub exporter: [u8; 32],
    /// The key that the peer has proved to hold.
    pub peer: PublicKey,
    /// How both ends agreed on the session's keys.
    pub key_exchange: KeyExchange,
}

/// Runs the handshake. A listener asks `admit` before it says welcome.
pub(super) fn establish(
    end: End,
    socket: &TcpStream,
    identity: &Identity,
    accepted: &AcceptedKeys,
    limit: Duration,
    admit: &dyn Fn() -> bool,
) -> Result<Established, TlsFailure> {
    let (mut tls, pin) = match end {
        End::Connector => pinning::client(identity, accepted.clone(), pinning::provider()),
        End::Listener => pinning::server(identity, accepted.clone(), pinning::provider()),
    }
    .map_err(TlsFailure::NotOurTls)?;
    let mut limited = Limited::new(socket, limit);
    if let Err(error) = converse(end, &mut tls, &mut limited, admit) {
        part(&mut tls, socket);
        return Err(classify(error, &pin, identity, accepted, limit));
    }
    limited.lift()?;
    let exporter = tls.export_keying_material([0u8; 32], EXPORTER_LABEL, None).map_err(TlsFailure::NotOurTls)?;
    let peer = pin.shown().ok_or_else(|| TlsFailure::NotOurTls(Error::General("the peer showed no key".into())))?;
    let key_exchange = match tls.negotiated_key_exchange_group().map(|group| group.name()) {
        Some(NamedGroup::X25519MLKEM768) => KeyExchange::X25519MlKem768,
        Some(NamedGroup::X25519) => KeyExchange::X25519,
        other => return Err(TlsFailure::NotOurTls(Error::General(format!("a key exchange in the group {other:?}")))),
    };
    Ok(Established { tls, exporter, peer, key_exchange })
}

fn converse(end: End, tls: &mut Connection, limited: &mut Limited<'_>, admit: &dyn Fn() -> bool) -> io::Result<()> {
    while tls.is_handshaking() {
        tls.complete_io(limited)?;
    }
    match end {
        End::Listener if !admit() => return Err(io::ErrorKind::ConnectionAborted.into()),
        End::Listener => tls.writer().write_all(&[WELCOME])?,
        End::Connector => loop {
            let mut welcome = [0];
            match tls.reader().read(&mut welcome) {
                Ok(1) if welcome == [WELCOME] => break,
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(_) => return Err(io::Error::new(io::ErrorKind::InvalidData, Error::General("no welcome".into()))),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => tls.complete_io(limited).map(drop)?,
                Err(error) => return Err(error),
            }
        },
    }
    while tls.wants_write() {
        tls.write_tls(limited)?;
    }
    Ok(())
}

/// Sees to it that the alert which tells the peer why reaches it: closing a socket with unread
/// input can destroy what was sent. Best effort, since the connection has failed already.
fn part(tls: &mut Connection, socket: &TcpStream) {
    let mut limited = Limited::new(socket, PARTING);
    while tls.wants_write() && tls.write_tls(&mut limited).is_ok_and(|count| count > 0) {}
    let _ = socket.shutdown(Shutdown::Write);
    let mut unread = [0; 4096];
    while limited.read(&mut unread).is_ok_and(|count| count > 0) {}
}

fn classify(
    error: io::Error,
    pin: &Arc<Pin>,
    identity: &Identity,
    accepted: &AcceptedKeys,
    limit: Duration,
) -> TlsFailure {
    let (ours, pinned) = (identity.public().fingerprint(), accepted.only().map(|peer| peer.expected()));
    if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) {
        return TlsFailure::Timeout(limit);
    }
    let Some(reason) = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) else {
        return TlsFailure::Link(error);
    };
    if let (Error::InvalidCertificate(CertificateError::ApplicationVerificationFailure), Some(shown)) =
        (reason, pin.shown())
        && !accepted.accepts(&shown)
        && let Some(until) = accepted.last_day(shown)
    {
        return TlsFailure::PeerReplaced { shown: shown.fingerprint(), until, ours };
    }
    match reason {
        Error::InvalidCertificate(CertificateError::ApplicationVerificationFailure) => match (pin.shown(), pinned) {
            (Some(shown), Some(pinned)) => TlsFailure::PeerRefused { shown: shown.fingerprint(), pinned, ours },
            (Some(shown), None) => TlsFailure::ClientRefused { shown: shown.fingerprint(), ours },
            (None, _) => TlsFailure::NotOurTls(reason.clone()),
        },
        Error::AlertReceived(AlertDescription::AccessDenied) => match pinned {
            Some(pinned) => TlsFailure::RefusedByPeer { ours, pinned },
            None => TlsFailure::RefusedByClient { ours },
        },
        _ => TlsFailure::NotOurTls(reason.clone()),
    }
}
