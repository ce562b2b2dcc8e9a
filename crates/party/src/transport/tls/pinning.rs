//! The TLS configuration: version 1.3, raw public keys (RFC 7250) on both sides, and exactly one peer key that is accepted.

use std::sync::{Arc, OnceLock};

use rustls::client::AlwaysResolvesClientRawPublicKeys;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms, verify_tls13_signature_with_raw_key};
use rustls::pki_types::{CertificateDer, ServerName, SubjectPublicKeyInfoDer, UnixTime};
use rustls::server::AlwaysResolvesServerRawPublicKeys;
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::version::TLS13;
use rustls::{CertificateError, ClientConfig, ClientConnection, Connection, DigitallySignedStruct, DistinguishedName, Error, ServerConfig};
use rustls::{ServerConnection, SignatureScheme};

use super::identity::{Identity, PublicKey};

/// The application protocol of the TLS handshake.
const ALPN: &[u8] = b"vesica";

/// Accepts one public key and remembers which key it was shown.
#[derive(Debug)]
pub(super) struct Pin {
    expected: PublicKey,
    shown: OnceLock<PublicKey>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl Pin {
    fn new(expected: PublicKey, provider: &CryptoProvider) -> Arc<Self> {
        Arc::new(Self { expected, shown: OnceLock::new(), algorithms: provider.signature_verification_algorithms })
    }

    /// The key that the peer presented, if it presented one.
    pub(super) fn shown(&self) -> Option<PublicKey> {
        self.shown.get().copied()
    }

    fn check(&self, presented: &CertificateDer<'_>) -> Result<(), Error> {
        let key = PublicKey::from_spki(presented).ok_or(CertificateError::BadEncoding)?;
        let shown = *self.shown.get_or_init(|| key);
        match key == self.expected && key == shown {
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
        verify_tls13_signature_with_raw_key(message, &SubjectPublicKeyInfoDer::from(key.as_ref()), signed, &self.algorithms)
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

/// The state of a connection that we opened, to a peer that must have the key `peer`.
pub(super) fn client(identity: &Identity, peer: PublicKey) -> Result<(Connection, Arc<Pin>), Error> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
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
    let name = ServerName::try_from("vesica.invalid").map_err(|_| Error::General("the placeholder name is refused".into()))?;
    Ok((ClientConnection::new(Arc::new(config), name)?.into(), pin))
}

/// The state of a connection that we accepted, from a peer that must have the key `peer`.
pub(super) fn server(identity: &Identity, peer: PublicKey) -> Result<(Connection, Arc<Pin>), Error> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let pin = Pin::new(peer, &provider);
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13])?
        .with_client_cert_verifier(pin.clone())
        .with_cert_resolver(Arc::new(AlwaysResolvesServerRawPublicKeys::new(identity.certified_key())));
    config.alpn_protocols = vec![ALPN.to_vec()];
    config.send_tls13_tickets = 0;
    Ok((ServerConnection::new(Arc::new(config))?.into(), pin))
}
