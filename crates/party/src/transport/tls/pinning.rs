//! The TLS configuration: version 1.3, raw public keys (RFC 7250) on both sides, and the peer keys
//! that are accepted.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use rustls::client::AlwaysResolvesClientRawPublicKeys;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::aws_lc_rs::{self, kx_group};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms, verify_tls13_signature_with_raw_key};
use rustls::pki_types::{CertificateDer, ServerName, SubjectPublicKeyInfoDer, UnixTime};
use rustls::server::AlwaysResolvesServerRawPublicKeys;
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::version::TLS13;
use rustls::{
    CertificateError, ClientConfig, ClientConnection, Connection, DigitallySignedStruct, DistinguishedName, Error,
    ServerConfig,
};
use rustls::{ServerConnection, SignatureScheme};

use super::identity::{Identity, PublicKey};
use super::peer_keys::PeerKeys;
use super::statements::Day;

/// The application protocol of the TLS handshake.
const ALPN: &[u8] = b"vesica";

/// The public keys that a side accepts of its peer.
#[derive(Clone)]
pub struct AcceptedKeys(Keys);

#[derive(Clone)]
enum Keys {
    Peer(PeerKeys),
    /// Each key of each peer.
    Peers(Arc<RwLock<HashMap<PublicKey, Arc<PeerKeys>>>>),
    Any,
}

fn by_key(peers: impl IntoIterator<Item = impl Into<PeerKeys>>) -> HashMap<PublicKey, Arc<PeerKeys>> {
    let peers = peers.into_iter().map(|peer| Arc::<PeerKeys>::new(peer.into()));
    peers.flat_map(|peer| peer.all().map(|key| (key, peer.clone())).collect::<Vec<_>>()).collect()
}

impl AcceptedKeys {
    /// Accepts one peer.
    pub fn one(peer: impl Into<PeerKeys>) -> Self {
        Self(Keys::Peer(peer.into()))
    }

    /// Accepts each of these peers.
    pub fn any_of(peers: impl IntoIterator<Item = impl Into<PeerKeys>>) -> Self {
        Self(Keys::Peers(Arc::new(RwLock::new(by_key(peers)))))
    }

    /// Accepts each of these peers from now on, and no others; clones follow. How many keys were accepted
    /// before and are not any more; `None` if this was made by another function than
    /// [`any_of`](Self::any_of), and stays as it is.
    pub fn replace(&self, peers: impl IntoIterator<Item = impl Into<PeerKeys>>) -> Option<usize> {
        let Keys::Peers(held) = &self.0 else { return None };
        let keys = by_key(peers);
        let mut held = held.write().unwrap_or_else(PoisonError::into_inner);
        let gone = held.keys().filter(|key| !keys.contains_key(key)).count();
        *held = keys;
        Some(gone)
    }

    /// Accepts no peer any more of which this says so; clones follow. How many keys were accepted before and are not any
    /// more; `None` if this was made by another function than [`any_of`](Self::any_of), and stays as it is.
    pub fn remove(&self, is_gone: impl Fn(&PeerKeys) -> bool) -> Option<usize> {
        let Keys::Peers(held) = &self.0 else { return None };
        let mut held = held.write().unwrap_or_else(PoisonError::into_inner);
        let before = held.len();
        held.retain(|_, peer| !is_gone(peer));
        Some(before - held.len())
    }

    /// Accepts every key. The peer proves that it holds the private half of the key that it shows;
    /// what it may do is decided by that key elsewhere.
    pub fn every() -> Self {
        Self(Keys::Any)
    }

    /// Whether a partner with this key may go on today.
    pub fn accepts(&self, key: &PublicKey) -> bool {
        matches!(self.0, Keys::Any) || self.peer(key).is_some_and(|peer| peer.accepts(*key, Day::today()))
    }

    /// Whether this is a key of the accepted peer that was first known by `known_as`, though another one may have taken its
    /// place.
    pub fn knows(&self, key: &PublicKey, known_as: &PublicKey) -> bool {
        matches!(self.0, Keys::Any) || self.peer(key).is_some_and(|peer| peer.known_as() == *known_as)
    }

    /// The key under which whoever shows this one was first known.
    pub(super) fn known_as(&self, key: PublicKey) -> PublicKey {
        self.peer(&key).map_or(key, |peer| peer.known_as())
    }

    /// Until when this key was good, if another one has taken its place.
    pub(super) fn last_day(&self, key: PublicKey) -> Option<Day> {
        self.peer(&key)?.last_day(key)
    }

    /// The peer that has this key, or had it.
    fn peer(&self, key: &PublicKey) -> Option<Arc<PeerKeys>> {
        match &self.0 {
            Keys::Peer(peer) => peer.all().any(|other| other == *key).then(|| Arc::new(peer.clone())),
            Keys::Peers(keys) => keys.read().unwrap_or_else(PoisonError::into_inner).get(key).cloned(),
            Keys::Any => None,
        }
    }

    /// Whether every key is accepted.
    pub fn are_any(&self) -> bool {
        matches!(self.0, Keys::Any)
    }

    /// The peer, if only one is accepted.
    pub(super) fn only(&self) -> Option<&PeerKeys> {
        match &self.0 {
            Keys::Peer(peer) => Some(peer),
            Keys::Peers(_) | Keys::Any => None,
        }
    }
}

impl fmt::Debug for AcceptedKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Keys::Peer(peer) => write!(f, "AcceptedKeys({peer:?})"),
            Keys::Peers(keys) => {
                write!(f, "AcceptedKeys({} keys)", keys.read().unwrap_or_else(PoisonError::into_inner).len())
            }
            Keys::Any => f.write_str("AcceptedKeys(every key)"),
        }
    }
}

/// Accepts some public keys and remembers which key it was shown.
#[derive(Debug)]
pub(super) struct Pin {
    accepted: AcceptedKeys,
    shown: OnceLock<PublicKey>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl Pin {
    fn new(accepted: AcceptedKeys, provider: &CryptoProvider) -> Arc<Self> {
        Arc::new(Self { accepted, shown: OnceLock::new(), algorithms: provider.signature_verification_algorithms })
    }

    /// The key that the peer presented, if it presented one.
    pub(super) fn shown(&self) -> Option<PublicKey> {
        self.shown.get().copied()
    }

    fn check(&self, presented: &CertificateDer<'_>) -> Result<(), Error> {
        let key = PublicKey::from_spki(presented).ok_or(CertificateError::BadEncoding)?;
        let shown = *self.shown.get_or_init(|| key);
        match self.accepted.accepts(&key) && key == shown {
            true => Ok(()),
            // Reaches the peer as the alert `access_denied`, by which it knows that its key was refused.
            false => Err(CertificateError::ApplicationVerificationFailure.into()),
        }
    }

    fn check_signature(
        &self,
        message: &[u8],
        key: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature_with_raw_key(
            message,
            &SubjectPublicKeyInfoDer::from(key.as_ref()),
            signed,
            &self.algorithms,
        )
    }
}

impl ServerCertVerifier for Pin {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.check(end_entity).map(|()| ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(Error::General("TLS 1.2 is not spoken".into()))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        key: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.check_signature(message, key, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}

impl ClientCertVerifier for Pin {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        self.check(end_entity).map(|()| ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(Error::General("TLS 1.2 is not spoken".into()))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        key: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.check_signature(message, key, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}

/// The algorithms of our TLS. The hybrid key exchange comes first, so that two sides of this release take it. X25519 alone
/// remains for a partner of another release, which is then told why it is refused.
pub(super) fn provider() -> CryptoProvider {
    CryptoProvider { kx_groups: vec![kx_group::X25519MLKEM768, kx_group::X25519], ..aws_lc_rs::default_provider() }
}

/// The state of a connection that we opened, to a peer that must have a key of `peer`.
pub(super) fn client(
    identity: &Identity,
    peer: AcceptedKeys,
    provider: CryptoProvider,
) -> Result<(Connection, Arc<Pin>), Error> {
    let provider = Arc::new(provider);
    let pin = Pin::new(peer, &provider);
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(pin.clone())
        .with_client_cert_resolver(Arc::new(AlwaysResolvesClientRawPublicKeys::new(identity.certified_key())));
    config.alpn_protocols = vec![ALPN.to_vec()];
    config.enable_sni = false;
    config.resumption = rustls::client::Resumption::disabled();
    // The name is not sent, and the pin is checked instead of it.
    let name =
        ServerName::try_from("vesica.invalid").map_err(|_| Error::General("the placeholder name is refused".into()))?;
    Ok((ClientConnection::new(Arc::new(config), name)?.into(), pin))
}

/// The state of a connection that we accepted, from a peer that must have a key of `peer`.
pub(super) fn server(
    identity: &Identity,
    peer: AcceptedKeys,
    provider: CryptoProvider,
) -> Result<(Connection, Arc<Pin>), Error> {
    let provider = Arc::new(provider);
    let pin = Pin::new(peer, &provider);
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13])?
        .with_client_cert_verifier(pin.clone())
        .with_cert_resolver(Arc::new(AlwaysResolvesServerRawPublicKeys::new(identity.certified_key())));
    config.alpn_protocols = vec![ALPN.to_vec()];
    config.send_tls13_tickets = 0;
    Ok((ServerConnection::new(Arc::new(config))?.into(), pin))
}
