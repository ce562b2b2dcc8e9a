//! Which identity is ours, and which the partner's.

use std::env;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use vesica::Failure;
use vesica::failure::code;
use vesica::party::Abort;
use vesica::party::transport::tls::{Identity, IdentityFileError, PublicKey};
use vesica::session::Protection;

/// An identity file's failure with its mend.
pub fn failed(error: IdentityFileError) -> Failure {
    Abort::from(error).into()
}

/// The identity in `path`, or the user's default one. `note` hears what to do with one that is made for that.
pub fn own(path: Option<&Path>, note: &dyn Fn(&str)) -> Result<Identity, Failure> {
    match path {
        Some(path) => Identity::load(path).map_err(failed),
        None => default(note),
    }
}

/// A fresh key pair.
pub fn fresh() -> Result<Identity, Failure> {
    Identity::generate()
        .map_err(|error| Failure::new(code::INTERNAL, error, "the operating system gives no randomness"))
}

/// Writes a key pair: the private file, and the public line beside it.
pub fn save(identity: &Identity, private: &Path, comment: &str) -> Result<PathBuf, Failure> {
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
    identity.save(private).map_err(failed)?;
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

/// The user's identity, made on first use.
fn default(note: &dyn Fn(&str)) -> Result<Identity, Failure> {
    let folder = configuration_folder().ok_or_else(|| {
        Failure::new(
            code::IDENTITY,
            "there is no home directory for a default identity",
            "name a key file with --identity",
        )
    })?;
    let private = folder.join("identity.key");
    if private.exists() {
        return Identity::load(&private).map_err(failed);
    }
    let made = DirBuilder::new().recursive(true).mode(0o700).create(&folder);
    made.map_err(|error| failed(IdentityFileError::Write { path: folder, error }))?;
    let identity = fresh()?;
    let public = save(&identity, &private, "default identity")?;
    note(&format!("made your default identity {}", private.display()));
    note(&format!("give this line to your partner (it is in {}): {}", public.display(), identity.public()));
    Ok(identity)
}

/// TLS between the identity in `own`, or the user's default one, and the partner's key, a line or a file.
pub fn protection(own_file: Option<&Path>, line_or_file: &str, note: &dyn Fn(&str)) -> Result<Protection, Failure> {
    let (identity, peer) = (own(own_file, note)?, peer(line_or_file)?);
    if identity.public() == peer {
        return Err(Failure::new(
            code::IDENTITY,
            "--peer is your own public key",
            "name your partner's .pub file or line there; to try both sides on one machine, give each an identity of \
             its own with `vesica identity new`",
        ));
    }
    Ok(Protection::Tls { identity, peer })
}

/// The partner's key from a line or a file.
pub fn peer(line_or_file: &str) -> Result<PublicKey, Failure> {
    match line_or_file.parse() {
        Ok(key) => Ok(key),
        Err(_) if line_or_file.trim_start().starts_with("vesica-") && line_or_file.contains(' ') => Err(Failure::new(
            code::IDENTITY,
            "your partner's public key is a damaged line",
            "copy the whole line of the .pub file",
        )),
        Err(_) => PublicKey::load(Path::new(line_or_file)).map_err(failed),
    }
}
