//! Which identity is ours, and which the partner's.

use std::env;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use vesica::Failure;
use vesica::failure::code;
use vesica::party::Abort;
use vesica::party::transport::tls::{Identity, IdentityFile, IdentityFileError, Passphrase, PeerKeys, PublicKey};
use vesica::session::Protection;

use crate::passphrase;
use crate::settings::{self, Revoked};

/// `fd:N` is an open file descriptor, and not a file.
const DESCRIPTOR: &str = "fd:";

/// `credential:NAME` is a credential of systemd, and not a file.
const CREDENTIAL: &str = "credential:";

/// Where our private key is, and what opens it: what `--identity` and `--passphrase-file` say.
#[derive(Clone, Copy, Debug, Default)]
pub struct OwnKey<'a> {
    /// The private key; `None` for the user's default one.
    pub identity: Option<&'a Path>,
    /// The passphrase; `None` to ask for it.
    pub passphrase_file: Option<&'a Path>,
}

/// Whether a text names a secret that is in no file, such as `fd:3`: then it is no path that starts at a folder.
pub fn is_no_file(text: &str) -> bool {
    text.starts_with(DESCRIPTOR) || text.starts_with(CREDENTIAL)
}

/// The file of a secret: one that is named, an open descriptor, or a credential of systemd.
///
/// # Errors
/// If the text is none of these.
pub fn secret_file(named: &Path) -> Result<PathBuf, Failure> {
    let refused =
        |fault: &str, mend: &str| Err(Failure::new(code::USAGE, format_args!("{}: {fault}", named.display()), mend));
    let Some(text) = named.to_str() else { return Ok(named.into()) };
    if let Some(number) = text.strip_prefix(DESCRIPTOR) {
        return match number.parse::<u16>() {
            Ok(number) => Ok(format!("/dev/fd/{number}").into()),
            Err(_) => {
                refused("no number of a file descriptor", "say for example fd:3, with 3< FILE behind the command")
            }
        };
    }
    let Some(name) = text.strip_prefix(CREDENTIAL) else { return Ok(named.into()) };
    if name.is_empty() || name.contains('/') || name == "." || name == ".." {
        return refused(
            "no name of a credential",
            "name it as in LoadCredential= or SetCredentialEncrypted= of the unit",
        );
    }
    match env::var_os("CREDENTIALS_DIRECTORY").map(PathBuf::from).filter(|folder| folder.is_absolute()) {
        Some(folder) => Ok(folder.join(name)),
        None => refused(
            "systemd has handed this process no credentials ($CREDENTIALS_DIRECTORY)",
            "write LoadCredential= or LoadCredentialEncrypted= into the unit, or name a file",
        ),
    }
}

/// An identity file's failure with its mend.
pub fn failed(error: IdentityFileError) -> Failure {
    Abort::from(error).into()
}

/// Our identity, or the user's default one. `note` hears what to do with one that is made for that.
pub fn own(key: OwnKey<'_>, note: &dyn Fn(&str)) -> Result<Identity, Failure> {
    Ok(open(&own_file(key, note)?, key.passphrase_file, note)?.0)
}

/// The file of our identity, or of the user's default one, which is made on first use.
pub fn own_file(key: OwnKey<'_>, note: &dyn Fn(&str)) -> Result<PathBuf, Failure> {
    match key.identity {
        Some(named) => secret_file(named),
        None => default(key.passphrase_file, note),
    }
}

/// The identity in a file, and the passphrase if one had to open it.
pub fn open(
    path: &Path,
    passphrase_file: Option<&Path>,
    note: &dyn Fn(&str),
) -> Result<(Identity, Option<Passphrase>), Failure> {
    unlocked(IdentityFile::read(path).map_err(failed)?, path, passphrase_file, note)
}

/// As [`open`], of a file that was read.
pub fn unlocked(
    read: IdentityFile,
    path: &Path,
    passphrase_file: Option<&Path>,
    note: &dyn Fn(&str),
) -> Result<(Identity, Option<Passphrase>), Failure> {
    match read {
        IdentityFile::Open(identity) => {
            if passphrase_file.is_some() {
                note(&format!("{} is not encrypted, so that its passphrase is not read", path.display()));
            }
            Ok((identity, None))
        }
        IdentityFile::Locked(locked) => {
            let passphrase = match passphrase_file {
                Some(named) => self::passphrase(named)?,
                None => passphrase::ask(&format!("Passphrase of {}: ", path.display()))?
                    .ok_or_else(|| failed(IdentityFileError::Locked(path.into())))?,
            };
            Ok((locked.unlock(&passphrase).map_err(failed)?, Some(passphrase)))
        }
    }
}

/// The passphrase in a file.
pub fn passphrase(named: &Path) -> Result<Passphrase, Failure> {
    Passphrase::load(&secret_file(named)?).map_err(failed)
}

/// A fresh key pair.
pub fn fresh() -> Result<Identity, Failure> {
    Identity::generate()
        .map_err(|error| Failure::new(code::INTERNAL, error, "the operating system gives no randomness"))
}

/// Writes a key pair: the private file, encrypted if there is a passphrase, and the public line beside it.
pub fn save(
    identity: &Identity,
    private: &Path,
    comment: &str,
    passphrase: Option<&Passphrase>,
) -> Result<PathBuf, Failure> {
    let public = private.with_extension("pub");
    if public == private {
        return Err(Failure::new(
            code::USAGE,
            "the private key file would be called .pub",
            "give a name that ends in .key",
        ));
    }
    // Looked at first, so that no private key is left without its line.
    if public.exists() {
        return Err(failed(IdentityFileError::Exists(public)));
    }
    identity.save(private, passphrase).map_err(failed)?;
    identity.public().save(&public, &one_line(comment)).map_err(failed)?;
    Ok(public)
}

/// A comment must not end the line or hide in it.
fn one_line(comment: &str) -> String {
    comment.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// The user's folder for what is set once, by the XDG base directory specification.
pub fn configuration_folder() -> Option<PathBuf> {
    user_folder("XDG_CONFIG_HOME", ".config")
}

/// The user's folder for what stays from one run to the next, such as logs, by the same specification.
pub fn state_folder() -> Option<PathBuf> {
    user_folder("XDG_STATE_HOME", ".local/state")
}

fn user_folder(variable: &str, in_home: &str) -> Option<PathBuf> {
    let absolute = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = absolute(variable).or_else(|| absolute("HOME").map(|home| home.join(in_home)));
    Some(folder?.join("vesica"))
}

/// The file of the user's identity, made on first use.
fn default(passphrase_file: Option<&Path>, note: &dyn Fn(&str)) -> Result<PathBuf, Failure> {
    let folder = configuration_folder().ok_or_else(|| {
        Failure::new(
            code::IDENTITY,
            "there is no home directory for a default identity",
            "name a key file with --identity",
        )
    })?;
    let private = folder.join("identity.key");
    if !private.exists() {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&folder);
        made.map_err(|error| failed(IdentityFileError::Write { path: folder, error }))?;
        let passphrase = passphrase_file.map(passphrase).transpose()?;
        let identity = fresh()?;
        let public = save(&identity, &private, "default identity", passphrase.as_ref())?;
        note(&format!("made your default identity {}", private.display()));
        note(&format!("give this line to your partner (it is in {}): {}", public.display(), identity.public()));
    }
    Ok(private)
}

/// TLS between our identity and the partner's key, a line or a file. `peers` is the file of partners, which names the list
/// of revoked keys.
pub fn protection(
    key: OwnKey<'_>,
    line_or_file: &str,
    peers: Option<&Path>,
    note: &dyn Fn(&str),
) -> Result<Protection, Failure> {
    // The partner's first: it takes no passphrase to see that it is wrong.
    let peer = settings::known(peer(line_or_file)?, peers)?;
    let revoked = Revoked::of_partners(peers)?;
    revoked.refuse(&peer)?;
    let identity = own(key, note)?;
    revoked.refuse_own(identity.public())?;
    if peer.all().any(|key| identity.public() == key) {
        return Err(Failure::new(
            code::IDENTITY,
            "--peer is your own public key",
            "name your partner's .pub file or line there; to try both sides on one machine, give each an identity of \
             its own with `vesica identity new`",
        ));
    }
    Ok(Protection::Tls { identity, peer })
}

/// The partner's keys from a line or a file.
pub fn peer(line_or_file: &str) -> Result<PeerKeys, Failure> {
    match line_or_file.parse::<PublicKey>() {
        Ok(key) => Ok(key.into()),
        Err(_) if line_or_file.trim_start().starts_with("vesica-") && line_or_file.contains(' ') => Err(Failure::new(
            code::IDENTITY,
            "your partner's public key is a damaged line",
            "copy the whole line of the .pub file",
        )),
        Err(_) => PeerKeys::load(Path::new(line_or_file)).map_err(failed),
    }
}
