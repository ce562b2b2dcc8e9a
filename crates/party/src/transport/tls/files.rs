//! Identity files: `us.key`, private (PKCS#8 PEM, mode 0600), and `us.pub`, one line for the
//! partner.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use super::identity::{BYTE_ORDER_MARK, Identity, PublicKey};
use crate::{Abort, exit_code};

/// Length in bytes beyond which no identity file is read.
const MAX_LEN: u64 = 4096;

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
    /// The file holds no private key.
    #[error("{0} is no private key of `vesica identity new`; name the .key file that it has written")]
    NotAKey(PathBuf),
    /// The file of the private key holds a public one.
    #[error("{0} is a public key; name the private one with --identity, the .key file that was made with it")]
    Public(PathBuf),
    /// The file holds no public key.
    #[error("{0} is no public key line; give the partner's .pub file or its line itself")]
    NotAPublicKey(PathBuf),
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

impl Identity {
    /// Writes the private key to `path`, which must not exist, readable by its owner only.
    pub fn save(&self, path: &Path) -> Result<(), IdentityFileError> {
        let io = |error| IdentityFileError::Write { path: path.into(), error };
        let opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
        let mut file = opened.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => IdentityFileError::Exists(path.into()),
            _ => io(error),
        })?;
        file.write_all(self.to_pem().as_bytes()).and_then(|()| file.sync_all()).map_err(io)
    }

    /// Reads a private key; refuses a file that others can read.
    pub fn load(path: &Path) -> Result<Self, IdentityFileError> {
        let io = |error| IdentityFileError::Read { path: path.into(), error };
        let file = File::open(path).map_err(io)?;
        let mode = file.metadata().map_err(io)?.permissions().mode() & 0o7777;
        let text = read(file).map_err(io)?;
        // Said first: a public key may be read by others.
        if text.as_ref().is_some_and(|text| first_line(text).parse::<PublicKey>().is_ok()) {
            return Err(IdentityFileError::Public(path.into()));
        }
        if mode & 0o077 != 0 {
            return Err(IdentityFileError::Exposed { path: path.into(), mode });
        }
        text.and_then(|text| Self::from_pem(&text)).ok_or_else(|| IdentityFileError::NotAKey(path.into()))
    }
}

impl PublicKey {
    /// Writes the one line, with a comment, to `path`, which must not exist.
    pub fn save(&self, path: &Path, comment: &str) -> Result<(), IdentityFileError> {
        let io = |error| IdentityFileError::Write { path: path.into(), error };
        let mut file = File::create_new(path).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => IdentityFileError::Exists(path.into()),
            _ => io(error),
        })?;
        writeln!(file, "{self} {comment}").map_err(io)
    }

    /// Reads the first line that is not empty.
    pub fn load(path: &Path) -> Result<Self, IdentityFileError> {
        let read = File::open(path).and_then(read);
        let text = read.map_err(|error| IdentityFileError::ReadPublic { path: path.into(), error })?;
        match text.as_ref().map(|text| first_line(text)) {
            Some(line) if line.starts_with("-----BEGIN") && line.contains("PRIVATE") => {
                Err(IdentityFileError::Private(path.into()))
            }
            line => {
                line.and_then(|line| line.parse().ok()).ok_or_else(|| IdentityFileError::NotAPublicKey(path.into()))
            }
        }
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
