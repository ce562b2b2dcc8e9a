//! Identity files: `us.key`, private (PKCS#8 PEM, mode 0600), and `us.pub`, one line for the
//! partner.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use super::identity::{Identity, PublicKey};
use crate::{Abort, exit_code};

/// Length in bytes beyond which no identity file is read.
const MAX_LEN: u64 = 4096;

/// What is wrong with an identity file.
#[derive(Debug, thiserror::Error)]
pub enum IdentityFileError {
    /// The file exists already; a private key is never overwritten.
    #[error("{0} exists already; choose another name, or remove it if no partner relies on it")]
    Exists(PathBuf),
    /// The file cannot be read or written.
    #[error("{path}: {error}; name another identity file with --identity")]
    Io {
        /// The file.
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
    #[error("{0} is no private key of `vesica identity new`; name the .key file, not the .pub file")]
    NotAKey(PathBuf),
    /// The file holds no public key.
    #[error("{0} is no public key line; give the partner's .pub file or its line itself")]
    NotAPublicKey(PathBuf),
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
        let io = |error| IdentityFileError::Io { path: path.into(), error };
        let opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
        let mut file = opened.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => IdentityFileError::Exists(path.into()),
            _ => io(error),
        })?;
        file.write_all(self.to_pem().as_bytes()).and_then(|()| file.sync_all()).map_err(io)
    }

    /// Reads a private key; refuses a file that others can read.
    pub fn load(path: &Path) -> Result<Self, IdentityFileError> {
        let io = |error| IdentityFileError::Io { path: path.into(), error };
        let file = File::open(path).map_err(io)?;
        let mode = file.metadata().map_err(io)?.permissions().mode() & 0o7777;
        if mode & 0o077 != 0 {
            return Err(IdentityFileError::Exposed { path: path.into(), mode });
        }
        // Reserved at once, so that the text never moves and one wipe covers it.
        let mut pem = Zeroizing::new(String::with_capacity(MAX_LEN as usize + 1));
        match file.take(MAX_LEN).read_to_string(&mut pem) {
            Ok(_) => Self::from_pem(&pem).ok_or_else(|| IdentityFileError::NotAKey(path.into())),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => Err(IdentityFileError::NotAKey(path.into())),
            Err(error) => Err(io(error)),
        }
    }
}

impl PublicKey {
    /// Writes the one line, with a comment, to `path`, which must not exist.
    pub fn save(&self, path: &Path, comment: &str) -> Result<(), IdentityFileError> {
        let io = |error| IdentityFileError::Io { path: path.into(), error };
        let mut file = File::create_new(path).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => IdentityFileError::Exists(path.into()),
            _ => io(error),
        })?;
        writeln!(file, "{self} {comment}").map_err(io)
    }

    /// Reads the first line that is not empty.
    pub fn load(path: &Path) -> Result<Self, IdentityFileError> {
        let mut text = String::new();
        let read = File::open(path).and_then(|file| file.take(MAX_LEN).read_to_string(&mut text));
        read.map_err(|error| IdentityFileError::Io { path: path.into(), error })?;
        let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        line.parse().map_err(|_| IdentityFileError::NotAPublicKey(path.into()))
    }
}
