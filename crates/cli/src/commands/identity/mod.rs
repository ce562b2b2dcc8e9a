//! `vesica identity`. What it does is here for a program as well, which has no terminal: [`crate::embed`].

mod show;
mod succession;

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use vesica::Failure;
use vesica::failure::code;
use vesica::party::transport::tls::{Identity, IdentityFileError, Passphrase, PublicKey, Revocation};

pub use show::Shown;
pub use succession::{accept, rotate};

use crate::args::{IdentityArgs, IdentityCommand};
use crate::identity::{self, OwnKey};
use crate::outcome::{Outcome, print};
use crate::settings;
use crate::{passphrase, stderr};

/// What is said of a private key beside its file.
const OPEN: &str = "keep it here: whoever has it can impersonate you";
const LOCKED: &str = "encrypted; without its passphrase it is lost";

pub fn run(args: IdentityArgs) -> Outcome {
    let note = |text: &str| stderr::note(text);
    match args.command {
        IdentityCommand::New { out, comment, passphrase, passphrase_file } => {
            let passphrase = new_passphrase(passphrase, passphrase_file.as_deref())?;
            print(&new(out, comment, passphrase.as_ref())?.told(LOCKED))
        }
        IdentityCommand::Show { identity: named, passphrase_file, peer, json } => {
            let shown = match peer {
                Some(peer) => Shown::of_partner(&settings::peer_keys(&peer)?)?,
                None => Shown::own(own_key(named.as_deref(), passphrase_file.as_deref()), &note)?,
            };
            print(&if json { shown.json()? } else { shown.text() })
        }
        IdentityCommand::Rotate {
            identity: named,
            passphrase_file,
            out,
            until,
            new_passphrase: asks,
            new_passphrase_file: new,
        } => {
            let key = own_key(named.as_deref(), passphrase_file.as_deref());
            print(&rotate(key, out, until, || new_passphrase(asks, new.as_deref()), &note)?.told())
        }
        IdentityCommand::Accept { file, peer } => {
            print(&Shown::of_partner(&accept(&file, &settings::key_file(&peer)?)?)?.text())
        }
        IdentityCommand::Revoke { identity: named, passphrase_file, out } => {
            let revocation = revoke(own_key(Some(&named), passphrase_file.as_deref()), &out, &note)?;
            print(&format!(
                "revocation:   {} (give it to your partners; nothing takes it back)\nfingerprint:  {}\n",
                out.display(),
                revocation.key.fingerprint()
            ))
        }
        IdentityCommand::Passphrase { file, passphrase_file, new_passphrase_file, remove } => {
            let new = || if remove { Ok(None) } else { new_passphrase(true, new_passphrase_file.as_deref()) };
            let is_encrypted = change_passphrase(&file, passphrase_file.as_deref(), new, &note)?;
            let told = if is_encrypted { LOCKED } else { OPEN };
            print(&format!("private key:  {} ({told})\n", file.display()))
        }
    }
}

fn own_key<'a>(identity: Option<&'a Path>, passphrase_file: Option<&'a Path>) -> OwnKey<'a> {
    OwnKey { identity, passphrase_file }
}

/// A key pair that was made, with its files.
pub struct Made {
    private: PathBuf,
    public: PathBuf,
    is_encrypted: bool,
    /// The public half.
    pub key: PublicKey,
}

impl Made {
    /// Writes a key pair.
    fn of(
        made: &Identity,
        private: PathBuf,
        comment: Option<String>,
        passphrase: Option<&Passphrase>,
    ) -> Result<Self, Failure> {
        let name = private.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let public = identity::save(made, &private, &comment.unwrap_or(name), passphrase)?;
        Ok(Self { private, public, is_encrypted: passphrase.is_some(), key: made.public() })
    }

    /// What to say of it, with what there is to say of a key that is encrypted.
    fn told(&self, of_encrypted: &str) -> String {
        format!(
            "private key:  {} ({})\npublic line:  {} (give it to your partner)\nfingerprint:  {}\n",
            self.private.display(),
            if self.is_encrypted { of_encrypted } else { OPEN },
            self.public.display(),
            self.key.fingerprint()
        )
    }
}

/// Makes a key pair. `private` is the file of its private half, encrypted if there is a passphrase. The comment is by
/// default the file's name.
///
/// # Errors
/// If a file exists already, or cannot be written.
pub fn new(private: PathBuf, comment: Option<String>, passphrase: Option<&Passphrase>) -> Result<Made, Failure> {
    Made::of(&identity::fresh()?, private, comment, passphrase)
}

/// The passphrase in a file, or one that is asked for if `asks`; else none.
fn new_passphrase(asks: bool, file: Option<&Path>) -> Result<Option<Passphrase>, Failure> {
    match file {
        Some(file) => identity::passphrase(file).map(Some),
        None if asks => passphrase::ask_for_new().map(Some),
        None => Ok(None),
    }
}

/// Has a private key signed away, and writes the statement to `out`.
///
/// # Errors
/// If the key cannot be read, or `out` exists or cannot be written.
pub fn revoke(key: OwnKey<'_>, out: &Path, note: &dyn Fn(&str)) -> Result<Revocation, Failure> {
    let revocation = Revocation::sign(&identity::own(key, note)?).ok_or_else(unsigned)?;
    write_new(out, &format!("{revocation} {}\n", revocation.day))?;
    Ok(revocation)
}

/// Encrypts the private key in `file` with another passphrase, or with none. Whether it is encrypted then.
///
/// # Errors
/// If the key cannot be read or written, or there is no new passphrase where one was asked for.
pub fn change_passphrase(
    file: &Path,
    passphrase_file: Option<&Path>,
    new: impl FnOnce() -> Result<Option<Passphrase>, Failure>,
    note: &dyn Fn(&str),
) -> Result<bool, Failure> {
    let (key, _) = identity::open(file, passphrase_file, note)?;
    let passphrase = new()?;
    key.replace(file, passphrase.as_ref()).map_err(identity::failed)?;
    Ok(passphrase.is_some())
}

/// Writes a statement to a file that must not exist, for its user alone: whoever finds a revocation can end the key.
fn write_new(path: &Path, text: &str) -> Result<(), Failure> {
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let written = file.and_then(|mut file| {
        // What is left of it would be in the way of the next attempt.
        let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
        written.inspect_err(|_| drop(fs::remove_file(path)))
    });
    written.map_err(|error| {
        identity::failed(match error.kind() {
            io::ErrorKind::AlreadyExists => IdentityFileError::Exists(path.into()),
            _ => IdentityFileError::Write { path: path.into(), error },
        })
    })
}

fn unsigned() -> Failure {
    Failure::new(code::INTERNAL, "the statement could not be signed", "please report this")
}
