//! Private keys under a passphrase: PKCS#8 `EncryptedPrivateKeyInfo` (RFC 5958 section 3), encrypted by PBES2 (RFC 8018) with
//! scrypt (RFC 7914) and AES-256-CBC. OpenSSL reads these files and writes such.
//!
//! AES-CBC has no tag. A wrong passphrase shows by its padding or by the 16 fixed bytes in front of the seed, which are
//! right by chance with a probability of 2^-128.

use std::fmt;

use pkcs8::EncryptedPrivateKeyInfoRef;
use pkcs8::der::asn1::OctetStringRef;
use pkcs8::der::{Decode, Encode};
use pkcs8::pkcs5::EncryptionScheme;
use pkcs8::pkcs5::pbes2::{self, Kdf, Parameters};
use pkcs8::pkcs5::scrypt::Params;
use vesica_structures::secret::{wipe_stack, wiping};
use zeroize::Zeroizing;

use super::identity::Identity;
use super::text;

/// scrypt's `N = 2^14` and `r = 8` take 16 MiB; OpenSSL reads nothing that takes more than 32 MiB. For these two, OWASP's
/// Password Storage Cheat Sheet asks for `p >= 5`, as strong as `N = 2^17` with `p = 1`. We take four times that: an
/// identity is opened once a run, and not once a request.
const LOG_N: u8 = 14;
const R: u32 = 8;
const P: u32 = 20;

/// What a file may ask for: 128 N r bytes of memory and 128 p r bytes of input to it, and N r p blocks of work, six times
/// ours.
const MAX_MEMORY: u64 = 256 << 20;
const MAX_INPUT: u64 = 16 << 20;
const MAX_BLOCKS: u64 = 1 << 24;

/// RFC 8018 section 4.1 asks for 8 bytes at least; NIST SP 800-132 for 16.
const SALT_BYTES: usize = 16;

/// Longest passphrase in bytes.
pub(super) const MAX_PASSPHRASE: usize = 1024;

const LABEL: &str = "ENCRYPTED PRIVATE KEY";

/// What opens an encrypted private key. It is wiped on drop and never printed.
pub struct Passphrase(Zeroizing<String>);

impl Passphrase {
    /// The passphrase `text`: `None` if it is empty, or longer than 1,024 bytes.
    pub fn new(text: Zeroizing<String>) -> Option<Self> {
        (1..=MAX_PASSPHRASE).contains(&text.len()).then_some(Self(text))
    }

    /// Whether both are the same. A user has typed both, so the time that it takes tells him nothing.
    pub fn is(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl fmt::Debug for Passphrase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Passphrase(..)")
    }
}

/// An encrypted private key, as a file has it.
#[derive(Debug)]
pub(super) struct LockedKey {
    parameters: Parameters,
    ciphertext: Vec<u8>,
}

/// Why no key came of an encrypted one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LockFault {
    /// The text is no such key.
    Malformed,
    /// It is encrypted by other algorithms, or asks for more work or memory than we do for it.
    Unsupported,
    /// The passphrase is another one.
    WrongPassphrase,
}

/// Reads a PEM text as an encrypted private key, for the fuzzer.
pub(crate) fn read_locked(pem: &str) {
    let _ = LockedKey::from_pem(pem);
}

impl LockedKey {
    /// Whether a text says of itself that it is an encrypted private key.
    pub(super) fn is_announced(text: &str) -> bool {
        text.lines().map(str::trim).find(|line| !line.is_empty()) == Some(format!("-----BEGIN {LABEL}-----").as_str())
    }

    /// Reads a PEM text. Nothing is computed yet, so whatever the file asks for costs nothing.
    pub(super) fn from_pem(pem: &str) -> Result<Self, LockFault> {
        let mut lines = pem.lines().map(str::trim).filter(|line| !line.is_empty());
        lines.next();
        let end = format!("-----END {LABEL}-----");
        let mut encoded = String::new();
        loop {
            match lines.next() {
                Some(line) if line == end => break,
                Some(line) => encoded.push_str(line),
                None => return Err(LockFault::Malformed),
            }
        }
        let der = text::bytes_of_base64(&encoded).ok_or(LockFault::Malformed)?;
        let info = EncryptedPrivateKeyInfoRef::from_der(&der).map_err(|_| LockFault::Unsupported)?;
        let EncryptionScheme::Pbes2(parameters) = info.encryption_algorithm else { return Err(LockFault::Unsupported) };
        let Kdf::Scrypt(scrypt) = &parameters.kdf else { return Err(LockFault::Unsupported) };
        let (r, p) = (u64::from(scrypt.block_size), u64::from(scrypt.parallelization));
        let n = scrypt.cost_parameter;
        let is_cheap = n.saturating_mul(r) <= MAX_MEMORY / 128
            && p.saturating_mul(r) <= MAX_INPUT / 128
            && n.saturating_mul(r).saturating_mul(p) <= MAX_BLOCKS;
        // RFC 7914 section 2; and the key of AES-256.
        let is_sound = n.is_power_of_two() && n > 1 && r > 0 && p > 0 && matches!(scrypt.key_length, None | Some(32));
        match parameters.encryption {
            pbes2::EncryptionScheme::Aes256Cbc { .. } if is_cheap && is_sound => {
                Ok(Self { parameters, ciphertext: info.encrypted_data.as_bytes().to_vec() })
            }
            _ => Err(LockFault::Unsupported),
        }
    }

    /// The key, which takes scrypt's time and memory.
    pub(super) fn unlock(&self, passphrase: &Passphrase) -> Result<Identity, LockFault> {
        let mut buffer = Zeroizing::new(self.ciphertext.clone());
        let der = leaving_nothing(|| self.parameters.decrypt_in_place(passphrase.0.as_bytes(), &mut buffer));
        Identity::from_pkcs8(der.map_err(|_| LockFault::WrongPassphrase)?).ok_or(LockFault::WrongPassphrase)
    }
}

/// Does what the library derives a key for. It does not wipe that key, nor scrypt's last block: with either, a guess at
/// the passphrase costs one hash instead of scrypt.
fn leaving_nothing<T>(work: impl FnOnce() -> T) -> T {
    let done = wiping(work);
    wipe_stack();
    done
}

impl Identity {
    /// The private key under a passphrase, as PEM; `None` if the operating system gives no randomness.
    pub(super) fn to_locked_pem(&self, passphrase: &Passphrase) -> Option<String> {
        let (mut salt, mut iv) = ([0; SALT_BYTES], [0; 16]);
        getrandom::fill(&mut salt).ok()?;
        getrandom::fill(&mut iv).ok()?;
        let parameters = Parameters::generate_scrypt_aes256cbc(Params::new(LOG_N, R, P).ok()?, &salt, iv).ok()?;
        let key = self.to_pkcs8();
        let ciphertext = leaving_nothing(|| parameters.encrypt(passphrase.0.as_bytes(), &key)).ok()?;
        let encrypted_data = OctetStringRef::new(&ciphertext).ok()?;
        let der =
            EncryptedPrivateKeyInfoRef { encryption_algorithm: parameters.into(), encrypted_data }.to_der().ok()?;
        let encoded = text::base64(&der);
        let mut pem = format!("-----BEGIN {LABEL}-----\n");
        // RFC 7468 section 2: lines of 64 characters.
        for line in encoded.as_bytes().chunks(64) {
            pem.extend(line.iter().copied().map(char::from));
            pem.push('\n');
        }
        pem.push_str(&format!("-----END {LABEL}-----\n"));
        Some(pem)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passphrase(text: &str) -> Passphrase {
        Passphrase::new(Zeroizing::new(text.into())).expect("a passphrase")
    }

    /// Made by OpenSSL 3.0: `openssl pkcs8 -topk8 -scrypt -passout pass:horse` of the seed of RFC 8032 section 7.1, TEST 2.
    const OF_OPENSSL: &str = "\
-----BEGIN ENCRYPTED PRIVATE KEY-----
MIGTME8GCSqGSIb3DQEFDTBCMCEGCSsGAQQB2kcECzAUBAgIdKhyBY6zOwICQAAC
AQgCAQEwHQYJYIZIAWUDBAEqBBAhvefXSPa2Y7MQ1y+trKlHBEB8RhpI5L5bW7+K
VK1kfoPCVNPfUAoshVrJ/p6IqIMQL5zcYLIiIU2jejphbGh6r3fZV7f7WxQfPr9d
cli6gsxa
-----END ENCRYPTED PRIVATE KEY-----
";

    #[test]
    fn a_locked_key_opens_with_its_passphrase_alone() {
        let identity = Identity::generate().expect("randomness");
        let pem = identity.to_locked_pem(&passphrase("horse")).expect("a text");
        assert!(LockedKey::is_announced(&pem) && pem.lines().all(|line| line.len() <= 64));
        let locked = LockedKey::from_pem(&pem).expect("a locked key");
        assert_eq!(locked.unlock(&passphrase("horse")).expect("a key").public(), identity.public());
        assert_eq!(locked.unlock(&passphrase("horse ")).map(|_| ()), Err(LockFault::WrongPassphrase));
        let again = identity.to_locked_pem(&passphrase("horse")).expect("a text");
        assert_ne!(again, pem, "each file has its own salt");
    }

    #[test]
    fn a_key_of_openssl_opens() {
        let identity = LockedKey::from_pem(OF_OPENSSL).expect("a locked key").unlock(&passphrase("horse"));
        let key = identity.expect("a key").public();
        assert_eq!(key.as_bytes()[..4], [0x3d, 0x40, 0x17, 0xc3]);
    }

    /// A file asks for the work that opens it: one of an attacker's must not stop us for hours, or take all memory.
    #[test]
    fn a_file_cannot_ask_for_more_work_or_memory_than_is_sane() {
        let with = |log_n, r, p| {
            let parameters = Params::new(log_n, r, p).expect("parameters");
            let parameters = Parameters::generate_scrypt_aes256cbc(parameters, &[1; 16], [2; 16]).expect("parameters");
            let encrypted_data = OctetStringRef::new(&[0; 64]).expect("bytes");
            let info = EncryptedPrivateKeyInfoRef { encryption_algorithm: parameters.into(), encrypted_data };
            let body = text::base64(&info.to_der().expect("bytes"));
            LockedKey::from_pem(&format!("-----BEGIN {LABEL}-----\n{body}\n-----END {LABEL}-----\n")).map(|_| ())
        };
        assert_eq!([with(18, 8, 1), with(14, 8, 128)], [Ok(()); 2]);
        for (log_n, r, p) in [(19, 8, 1), (30, 8, 1), (14, 8, 129), (10, 8, 60_000), (14, 4096, 1), (1, 128, 65_535)] {
            assert_eq!(with(log_n, r, p), Err(LockFault::Unsupported), "{log_n} {r} {p}");
        }
    }

    #[test]
    fn other_texts_are_no_locked_keys() {
        for body in ["", "AAAA", "!", "MIAB"] {
            let pem = format!("-----BEGIN {LABEL}-----\n{body}\n-----END {LABEL}-----\n");
            assert!(LockedKey::from_pem(&pem).is_err(), "{body}");
        }
        assert!(LockedKey::from_pem(OF_OPENSSL.trim_end_matches("-----END ENCRYPTED PRIVATE KEY-----\n")).is_err());
        assert!(Passphrase::new(Zeroizing::new(String::new())).is_none());
        assert!(Passphrase::new(Zeroizing::new("a".repeat(1025))).is_none());
    }
}
