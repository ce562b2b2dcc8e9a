//! Identity files: `us.key`, private (PKCS#8 PEM, mode 0600, perhaps under a passphrase), and `us.pub`, one line for the
//! partner.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use super::identity::{Identity, PublicKey};
use super::locked::{LockFault, LockedKey, Passphrase};
use super::peer_keys::PeerKeys;
use super::statements::{NotAStatement, Succession};
use super::text::BYTE_ORDER_MARK;
use crate::service::sync_folder;
use crate::{Abort, exit_code};

/// Length in bytes beyond which no identity file is read. A public key takes some 300 bytes more with each successor.
const MAX_LEN: u64 = 1 << 16;

/// What is wrong with an identity file.
#[derive(Debug, thiserror::Error)]
pub enum IdentityFileError {
    /// The file exists already; a private key is never overwritten.
    #[error("{0} exists already; choose another name, or remove it if no partner relies on it")]
    Exists(PathBuf),
    /// The file of a private key cannot be read.
    #[error("{path}: {error}; name your private key file with --identity, or make one with `vesica identity new`")]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The file of a public key cannot be read.
    #[error("{path}: {error}; check the name of your partner's .pub file, or give its line itself")]
    ReadPublic {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// A file cannot be written.
    #[error("{path}: {error}; choose a folder that exists and that you may write to")]
    Write {
        /// The file, or its folder.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// Others can read the private key.
    #[error(
        "{path} can be read by others (mode {mode:04o}); chmod 600 {path}, or make a new identity if that was so for \
         long"
    )]
    Exposed {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The private key is encrypted, and nothing opens it.
    #[error("{0} is encrypted; name a file that has its passphrase with --passphrase-file")]
    Locked(PathBuf),
    /// The passphrase is another one.
    #[error("the passphrase of {0} is wrong; give the one with which this file was encrypted")]
    WrongPassphrase(PathBuf),
    /// The private key is encrypted in a way that is not read, or damaged.
    #[error(
        "{0} is damaged, or encrypted in another way than `vesica identity new` does it; convert it with `openssl pkcs8 \
         -topk8 -scrypt`"
    )]
    UnknownLock(PathBuf),
    /// The file of a passphrase cannot be read.
    #[error("the passphrase in {path}: {error}; check what --passphrase-file names")]
    ReadPassphrase {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// Others can read the passphrase.
    #[error("the passphrase in {path} can be read by others (mode {mode:04o}); chmod 600 {path}")]
    ExposedPassphrase {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The first line of the file is no passphrase.
    #[error(
        "{0} has no passphrase on its first line; write 1 to 1024 bytes of text there. A pipe can be read only once"
    )]
    NoPassphrase(PathBuf),
    /// The operating system gives no random numbers.
    #[error("cannot encrypt {0}; the operating system gives no randomness")]
    NoRandomness(PathBuf),
    /// The file holds no private key.
    #[error("{0} is no private key of `vesica identity new`; name the .key file that it has written")]
    NotAKey(PathBuf),
    /// The file of the private key holds a public one.
    #[error("{0} is a public key; name the private one with --identity, the .key file that was made with it")]
    Public(PathBuf),
    /// The file holds no public key.
    #[error("{0} is no public key line; give the partner's .pub file or its line itself")]
    NotAPublicKey(PathBuf),
    /// What follows a public key in its file does not tell its successor.
    #[error(
        "{path}, line {line}: {fault}; behind the public key stand only the statements of `vesica identity rotate` about \
         its successors, in their order"
    )]
    NotASuccession {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        fault: String,
    },
    /// The file of the partner's public key holds a private one.
    #[error("{0} is a private key; name the partner's .pub file: no side needs another side's private key")]
    Private(PathBuf),
}

impl From<IdentityFileError> for Abort {
    fn from(error: IdentityFileError) -> Self {
        let text = error.to_string();
        let (fault, mend) = text.split_once("; ").unwrap_or((&text, "make one with `vesica identity new`"));
        Self::Local { code: exit_code::IDENTITY, fault: fault.into(), mend: mend.into() }
    }
}

/// What the file of a private key holds.
#[derive(Debug)]
pub enum IdentityFile {
    /// A private key as it is.
    Open(Identity),
    /// A private key under a passphrase.
    Locked(LockedIdentity),
}

/// A private key under a passphrase, with its file.
#[derive(Debug)]
pub struct LockedIdentity {
    path: PathBuf,
    key: LockedKey,
}

impl IdentityFile {
    /// Reads a private key; refuses a file that others can read.
    pub fn read(path: &Path) -> Result<Self, IdentityFileError> {
        let io = |error| IdentityFileError::Read { path: path.into(), error };
        let file = File::open(path).map_err(io)?;
        let metadata = file.metadata().map_err(io)?;
        let text = read(file).map_err(io)?;
        // Said first: a public key may be read by others.
        if text.as_ref().is_some_and(|text| first_line(text).parse::<PublicKey>().is_ok()) {
            return Err(IdentityFileError::Public(path.into()));
        }
        if let Some(mode) = exposed(&metadata) {
            return Err(IdentityFileError::Exposed { path: path.into(), mode });
        }
        let Some(text) = text else { return Err(IdentityFileError::NotAKey(path.into())) };
        if LockedKey::is_announced(&text) {
            let key = LockedKey::from_pem(&text).map_err(|_| IdentityFileError::UnknownLock(path.into()))?;
            return Ok(Self::Locked(LockedIdentity { path: path.into(), key }));
        }
        Identity::from_pem(&text).map(Self::Open).ok_or_else(|| IdentityFileError::NotAKey(path.into()))
    }
}

impl LockedIdentity {
    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The key pair. This takes about 0.8 s and 16 MiB on purpose, so that passphrases cannot be tried fast.
    pub fn unlock(&self, passphrase: &Passphrase) -> Result<Identity, IdentityFileError> {
        self.key.unlock(passphrase).map_err(|fault| match fault {
            LockFault::WrongPassphrase => IdentityFileError::WrongPassphrase(self.path.clone()),
            LockFault::Malformed | LockFault::Unsupported => IdentityFileError::UnknownLock(self.path.clone()),
        })
    }
}

impl Identity {
    /// Writes the private key to `path`, which must not exist, readable by its owner only, and encrypted if there is a
    /// passphrase.
    pub fn save(&self, path: &Path, passphrase: Option<&Passphrase>) -> Result<(), IdentityFileError> {
        write_new(path, &self.to_text(path, passphrase)?)
    }

    /// Replaces the file `path` of a private key at one moment, so that no failure leaves none or half of one.
    pub fn replace(&self, path: &Path, passphrase: Option<&Passphrase>) -> Result<(), IdentityFileError> {
        let text = self.to_text(path, passphrase)?;
        let io = |error| IdentityFileError::Write { path: path.into(), error };
        // What a link leads to is replaced, and not the link.
        let path = fs::canonicalize(path).map_err(io)?;
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(|_| IdentityFileError::NoRandomness(path.clone()))?;
        let mut name = path.file_name().unwrap_or_default().to_owned();
        // Of its own, so that none that a killed process has left is in the way.
        name.push(format!(".{:016x}.new", u64::from_le_bytes(random)));
        let fresh = path.with_file_name(name);
        let replaced = write_new(&fresh, &text)
            .and_then(|()| fs::rename(&fresh, &path).map_err(io))
            .and_then(|()| sync_folder(&path).map_err(io));
        replaced.inspect_err(|_| {
            // The old file is whole, and the other, which may hold the key as it is, is of no use.
            let _ = fs::remove_file(&fresh);
        })
    }

    fn to_text(&self, path: &Path, passphrase: Option<&Passphrase>) -> Result<Zeroizing<String>, IdentityFileError> {
        match passphrase {
            None => Ok(self.to_pem()),
            Some(passphrase) => self
                .to_locked_pem(passphrase)
                .map(Zeroizing::new)
                .ok_or_else(|| IdentityFileError::NoRandomness(path.into())),
        }
    }

    /// Reads a private key that is not encrypted; refuses a file that others can read.
    pub fn load(path: &Path) -> Result<Self, IdentityFileError> {
        match IdentityFile::read(path)? {
            IdentityFile::Open(identity) => Ok(identity),
            IdentityFile::Locked(locked) => Err(IdentityFileError::Locked(locked.path)),
        }
    }
}

impl Passphrase {
    /// Reads the first line of a file; refuses a file that others can read.
    pub fn load(path: &Path) -> Result<Self, IdentityFileError> {
        let io = |error| IdentityFileError::ReadPassphrase { path: path.into(), error };
        let file = File::open(path).map_err(io)?;
        if let Some(mode) = exposed(&file.metadata().map_err(io)?) {
            return Err(IdentityFileError::ExposedPassphrase { path: path.into(), mode });
        }
        let text = read(file).map_err(io)?;
        let line = text.as_ref().and_then(|text| text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text).lines().next());
        line.and_then(|line| Self::new(Zeroizing::new(line.into())))
            .ok_or_else(|| IdentityFileError::NoPassphrase(path.into()))
    }
}

/// The permission bits of a secret file that others than its owner can read or write. Where root owns the file, its group
/// may read it: that is how a pod's volume hands a secret to a program that is not root (`fsGroup`).
pub fn exposed(metadata: &Metadata) -> Option<u32> {
    let mode = metadata.mode() & 0o7777;
    is_exposed(mode, metadata.uid()).then_some(mode)
}

fn is_exposed(mode: u32, owner: u32) -> bool {
    let others_may = if owner == 0 { 0o040 } else { 0 };
    mode & 0o077 & !others_may != 0
}

/// Writes a secret to a file that must not exist.
fn write_new(path: &Path, text: &str) -> Result<(), IdentityFileError> {
    create_private(path, text).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => IdentityFileError::Exists(path.into()),
        _ => IdentityFileError::Write { path: path.into(), error },
    })
}

/// Makes a file that others cannot read, with this text.
///
/// # Errors
/// If it exists, or cannot be written: then nothing is left of it.
pub fn create_private(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    // What is left of it would be in the way of the next attempt, and is no key.
    written.inspect_err(|_| drop(fs::remove_file(path)))
}

impl PublicKey {
    /// Writes the one line, with a comment, to `path`, which must not exist.
    pub fn save(&self, path: &Path, comment: &str) -> Result<(), IdentityFileError> {
        let io = |error| IdentityFileError::Write { path: path.into(), error };
        let mut file = File::create_new(path).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => IdentityFileError::Exists(path.into()),
            _ => io(error),
        })?;
        writeln!(file, "{self} {comment}").inspect_err(|_| drop(fs::remove_file(path))).map_err(io)
    }

    /// Reads the public key with which a file begins.
    pub fn load(path: &Path) -> Result<Self, IdentityFileError> {
        PeerKeys::load(path).map(|keys| keys.known_as())
    }
}

impl PeerKeys {
    /// Reads a public key, and the statements behind it that tell its successors.
    pub fn load(path: &Path) -> Result<Self, IdentityFileError> {
        let read = File::open(path).and_then(read);
        let text = read.map_err(|error| IdentityFileError::ReadPublic { path: path.into(), error })?;
        match text.as_ref().map(|text| first_line(text)) {
            Some(line) if line.starts_with("-----BEGIN") && line.contains("PRIVATE") => {
                Err(IdentityFileError::Private(path.into()))
            }
            line => {
                let key: Option<PublicKey> = line.and_then(|line| line.parse().ok());
                let key = key.ok_or_else(|| IdentityFileError::NotAPublicKey(path.into()))?;
                Self::read(key, path, text.as_ref().map_or("", |text| text.as_str()))
            }
        }
    }

    /// The key with which a text begins, and its successors in the lines behind it.
    fn read(key: PublicKey, path: &Path, text: &str) -> Result<Self, IdentityFileError> {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
        lines.skip(1).try_fold(Self::from(key), |keys, (place, line)| {
            let refused =
                |fault: String| IdentityFileError::NotASuccession { path: path.into(), line: place + 1, fault };
            let succession: Succession = line.parse().map_err(|fault: NotAStatement| refused(fault.to_string()))?;
            keys.followed_by(&succession).map_err(|other| refused(other.to_string()))
        })
    }
}

/// The text of an identity file, without a byte-order mark; `None` if it is no UTF-8. It is wiped, whatever it is:
/// users name the wrong file.
fn read(file: File) -> io::Result<Option<Zeroizing<String>>> {
    // Reserved at once, so that the text never moves and one wipe covers it.
    let mut text = Zeroizing::new(String::with_capacity(MAX_LEN as usize + 1));
    match file.take(MAX_LEN).read_to_string(&mut text) {
        Ok(_) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => Ok(None),
        Err(error) => Err(error),
    }
}

/// The first line that is not empty, without a byte-order mark.
fn first_line(text: &str) -> &str {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::is_exposed;

    #[test]
    fn only_a_group_of_roots_file_may_read_a_secret() {
        for (mode, owner, expected) in [
            (0o600, 1000, false),
            (0o400, 1000, false),
            (0o440, 1000, true),
            (0o604, 1000, true),
            (0o600, 0, false),
            (0o440, 0, false),
            (0o640, 0, false),
            (0o660, 0, true),
            (0o444, 0, true),
            (0o450, 0, true),
        ] {
            assert_eq!(is_exposed(mode, owner), expected, "{mode:o} of {owner}");
        }
    }
}
