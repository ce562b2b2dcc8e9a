//! Identities: an Ed25519 key pair for each party, whose public half the partner pins.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use rustls::SignatureScheme;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use rustls::sign::{CertifiedKey, SigningKey};
use sha2::{Digest, Sha256};
use vesica_structures::secret::Secret;
use zeroize::Zeroizing;

use super::text;

/// First word of a public key's line.
const LINE_TAG: &str = "vesica-ed25519";

/// RFC 8410: `SubjectPublicKeyInfo` of an Ed25519 key up to the 32 bytes of the key.
const SPKI_PREFIX: [u8; 12] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

/// RFC 8410: PKCS#8 version 1 of an Ed25519 key up to the 32 bytes of the seed.
const PKCS8_PREFIX: [u8; 16] =
    [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];

/// A party's public key. Its text is one line, `vesica-ed25519 BASE64`, which may carry a comment.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct PublicKey([u8; 32]);

impl PublicKey {
    /// The short form for people to compare: the first 160 bits of SHA-256 over the key.
    pub fn fingerprint(&self) -> Fingerprint {
        let digest: [u8; 32] = Sha256::digest(self.0).into();
        let mut short = [0; 20];
        short.copy_from_slice(&digest[..20]);
        Fingerprint(short)
    }

    /// The key's bytes (RFC 8032).
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The key in these bytes. A signature is checked as that of a key only if they are one.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Whether `signature` is this key's over `message`.
    pub fn verifies(&self, message: &[u8], signature: &[u8; 64]) -> bool {
        let provider = rustls::crypto::aws_lc_rs::default_provider();
        let schemes = provider.signature_verification_algorithms.mapping.iter();
        let mut ed25519 = schemes
            .filter(|(scheme, _)| *scheme == SignatureScheme::ED25519)
            .flat_map(|(_, algorithms)| algorithms.iter());
        ed25519.next().is_some_and(|algorithm| algorithm.verify_signature(&self.0, message, signature).is_ok())
    }

    /// The key as a TLS raw public key (RFC 7250).
    pub(super) fn to_spki(self) -> CertificateDer<'static> {
        CertificateDer::from([&SPKI_PREFIX[..], &self.0].concat())
    }

    /// The key in a raw public key that a peer presents, if that is Ed25519.
    pub(crate) fn from_spki(spki: &[u8]) -> Option<Self> {
        Some(Self(spki.strip_prefix(&SPKI_PREFIX)?.try_into().ok()?))
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{LINE_TAG} {}", text::base64(&self.0))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({})", self.fingerprint())
    }
}

/// A text that is no public key line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a public key line of the form `{LINE_TAG} BASE64 comment`")]
pub struct NotAPublicKey;

impl FromStr for PublicKey {
    type Err = NotAPublicKey;

    /// Reads a line as `Display` writes it, with or without a comment after it.
    fn from_str(line: &str) -> Result<Self, NotAPublicKey> {
        text::of_line(line, LINE_TAG).map(Self).ok_or(NotAPublicKey)
    }
}

/// A public key's short form, in eight groups of four base32 letters.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint([u8; 20]);

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letters = text::base32(&self.0);
        for (i, letter) in letters.chars().enumerate() {
            if i > 0 && i % 4 == 0 {
                f.write_str("-")?;
            }
            write!(f, "{letter}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A key pair. Its private half is wiped on drop and never printed. The seed stays at its one place in memory: an array
/// that moves would leave a copy of itself on the stack.
#[derive(Clone)]
pub struct Identity {
    seed: Arc<Zeroizing<[u8; 32]>>,
    signer: Arc<dyn SigningKey>,
    public: PublicKey,
}

impl Identity {
    /// A fresh key pair from the operating system's randomness.
    pub fn generate() -> Result<Self, getrandom::Error> {
        let mut outcome = Ok(());
        let made = Self::from_seed(|seed| outcome = getrandom::fill(seed));
        outcome.and(made.ok_or(getrandom::Error::UNEXPECTED))
    }

    /// The key pair of this seed (the private key of RFC 8032); `None` if the library refuses it.
    pub fn of_seed(seed: &Secret<[u8; 32]>) -> Option<Self> {
        Self::from_seed(|place| place.copy_from_slice(&seed[..]))
    }

    /// The key pair of the seed that `fill` writes.
    fn from_seed(fill: impl FnOnce(&mut [u8; 32])) -> Option<Self> {
        let mut seed = Arc::new(Zeroizing::new([0; 32]));
        fill(Arc::get_mut(&mut seed)?);
        let der = pkcs8_of(&seed);
        let signer = rustls::crypto::aws_lc_rs::sign::any_eddsa_type(&PrivatePkcs8KeyDer::from(&der[..])).ok()?;
        let public = PublicKey::from_spki(&signer.public_key()?)?;
        Some(Self { seed, signer, public })
    }

    /// The seed, to be stored.
    pub fn seed(&self) -> &[u8; 32] {
        &self.seed
    }

    /// The public half.
    pub fn public(&self) -> PublicKey {
        self.public
    }

    /// An Ed25519 signature. Callers separate domains: `message` starts with what it is.
    pub fn sign(&self, message: &[u8]) -> Option<[u8; 64]> {
        self.signer.choose_scheme(&[SignatureScheme::ED25519])?.sign(message).ok()?.try_into().ok()
    }

    /// What rustls presents to the peer.
    pub(super) fn certified_key(&self) -> Arc<CertifiedKey> {
        Arc::new(CertifiedKey::new(vec![self.public.to_spki()], self.signer.clone()))
    }

    /// The private key as PKCS#8.
    pub(super) fn to_pkcs8(&self) -> Zeroizing<Vec<u8>> {
        pkcs8_of(&self.seed)
    }

    /// The private key in the bytes of PKCS#8.
    pub(super) fn from_pkcs8(der: &[u8]) -> Option<Self> {
        let key: &[u8; 32] = der.strip_prefix(&PKCS8_PREFIX)?.try_into().ok()?;
        Self::from_seed(|seed| seed.copy_from_slice(key))
    }

    /// The private key as PKCS#8 PEM.
    pub(crate) fn to_pem(&self) -> Zeroizing<String> {
        let line = Zeroizing::new(text::base64(&self.to_pkcs8()));
        Zeroizing::new(format!("{PEM_BEGIN}\n{}\n{PEM_END}\n", line.as_str()))
    }

    /// The private key in a PKCS#8 PEM text.
    pub(crate) fn from_pem(pem: &str) -> Option<Self> {
        let pem = pem.strip_prefix(text::BYTE_ORDER_MARK).unwrap_or(pem);
        let mut lines = pem.lines().map(str::trim).filter(|line| !line.is_empty());
        if lines.next()? != PEM_BEGIN {
            return None;
        }
        let der = Zeroizing::new(text::bytes_of_base64(lines.next()?)?);
        if lines.next()? != PEM_END {
            return None;
        }
        Self::from_pkcs8(&der)
    }
}

/// A seed as PKCS#8. Room for it is taken at once, so that it never moves and one wipe covers it.
fn pkcs8_of(seed: &[u8; 32]) -> Zeroizing<Vec<u8>> {
    let mut der = Zeroizing::new(Vec::with_capacity(PKCS8_PREFIX.len() + seed.len()));
    der.extend_from_slice(&PKCS8_PREFIX);
    der.extend_from_slice(seed);
    der
}

const PEM_BEGIN: &str = "-----BEGIN PRIVATE KEY-----";
const PEM_END: &str = "-----END PRIVATE KEY-----";

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Identity({})", self.public.fingerprint())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes<const N: usize>(hex: &str) -> [u8; N] {
        std::array::from_fn(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).expect("hexadecimal"))
    }

    /// RFC 8032 section 7.1, TEST 2.
    #[test]
    fn signs_as_rfc_8032_does() {
        let seed = bytes("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb");
        let identity = Identity::from_seed(|place| *place = seed).expect("a key");
        assert_eq!(
            identity.public().as_bytes(),
            &bytes("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c")
        );
        let signature = identity.sign(&[0x72]).expect("a signature");
        let expected = "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00";
        assert_eq!(signature, bytes(expected));
        assert!(identity.public().verifies(&[0x72], &signature));
        assert!(!identity.public().verifies(&[0x73], &signature));
    }

    #[test]
    fn text_forms_read_back() {
        let identity = Identity::generate().expect("randomness");
        let line = format!("{} alice@example.org", identity.public());
        assert_eq!(line.parse(), Ok(identity.public()));
        assert_eq!(identity.public().fingerprint().to_string().len(), 39);
        let again = Identity::from_pem(&identity.to_pem()).expect("its own PEM");
        assert_eq!(again.public(), identity.public());
        assert!(!format!("{identity:?}").contains(&text::base64(&**identity.seed)));
    }

    #[test]
    fn other_lines_are_no_keys() {
        for line in ["", "vesica-ed25519", "ssh-ed25519 AAAA", "vesica-ed25519 AAAA", "vesica-ed25519 !!!!"] {
            assert_eq!(line.parse::<PublicKey>(), Err(NotAPublicKey), "{line}");
        }
    }
}
