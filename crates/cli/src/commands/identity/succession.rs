//! A key that takes the place of another: made by its owner, and accepted by partners.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use vesica::Failure;
use vesica::bounded::{beside, read_text};
use vesica::failure::code;
use vesica::locked;
use vesica::party::service::replace;
use vesica::party::transport::tls::{Day, Fingerprint, IdentityFileError, Passphrase, PeerKeys, Succession};

use super::{LOCKED, Made, unsigned, write_new};
use crate::identity::{self, OwnKey};
use crate::settings::Revoked;

/// What is said of a successor with the passphrase of its predecessor.
const LOCKED_AS_BEFORE: &str =
    "encrypted with the passphrase of your present key; `vesica identity passphrase` changes it";

/// How a file of statements ends.
pub(super) const ENDING: &str = "succession";

/// Longest file of statements, in bytes.
pub(super) const MAX_STATEMENTS: u64 = 1 << 16;

/// Longest time to wait for another process that changes the same file of a partner's keys.
const PATIENCE: Duration = Duration::from_secs(10);

/// A key pair that takes the place of another.
pub struct Rotated {
    /// The new one.
    pub made: Made,
    /// Whether it has the passphrase of its predecessor.
    has_same_passphrase: bool,
    statement: PathBuf,
    old: Fingerprint,
    until: Day,
}

impl Rotated {
    /// What to say of it.
    pub(super) fn told(&self) -> String {
        let Self { made, statement, old, until, .. } = self;
        format!(
            "{}succession:   {} (give it to your partners, who type `vesica identity accept`; then use the new \
             key)\nreplaces:     {old} (accepted until {until})\n",
            made.told(if self.has_same_passphrase { LOCKED_AS_BEFORE } else { LOCKED }),
            statement.display(),
        )
    }
}

/// Makes the successor of a key, which is good until a day. Its passphrase is the `new` one, or without one that of the
/// old key, if that is encrypted.
///
/// # Errors
/// If the day is over, the old key cannot be read or is revoked, or a file exists or cannot be written.
pub fn rotate(
    key: OwnKey<'_>,
    out: PathBuf,
    until: Day,
    new: impl FnOnce() -> Result<Option<Passphrase>, Failure>,
    note: &dyn Fn(&str),
) -> Result<Rotated, Failure> {
    if until < Day::today() {
        let fault = format_args!("--until {until} is over: today is {}", Day::today());
        return Err(Failure::new(code::USAGE, fault, "name the last day on which partners may meet your present key"));
    }
    let statement = out.with_extension(ENDING);
    if statement == out {
        let fault = "the private key file would be called .succession, as what partners get";
        return Err(Failure::new(code::USAGE, fault, "give a name that ends in .key"));
    }
    // Looked at first, so that no new key is left without its statement.
    if statement.exists() {
        return Err(identity::failed(IdentityFileError::Exists(statement)));
    }
    let (old, passphrase) = identity::open(&identity::own_file(key, note)?, key.passphrase_file, note)?;
    Revoked::of_partners(None)?.refuse_own(old.public())?;
    let new = new()?;
    let has_same_passphrase = new.is_none() && passphrase.is_some();
    let successor = identity::fresh()?;
    let succession = Succession::sign(&old, &successor, until).ok_or_else(unsigned)?;
    let made = Made::of(&successor, out, None, new.or(passphrase).as_ref())?;
    write_new(&statement, &format!("{succession} until {until}\n"))?;
    Ok(Rotated { made, has_same_passphrase, statement, old: old.public().fingerprint(), until })
}

/// Writes the statements of a file behind the key that they replace, which is in the file `public`. Gives all keys.
///
/// # Errors
/// If a statement cannot be read, is forged or of another key, a key is revoked, or the file cannot be written.
pub fn accept(file: &Path, public: &Path) -> Result<PeerKeys, Failure> {
    let unreadable = |error: &dyn std::fmt::Display| {
        let mend = "name the file NAME.succession that your partner has made with `vesica identity rotate`";
        Failure::new(code::IDENTITY, format_args!("{}: {error}", file.display()), mend)
    };
    let text = read_text(file, MAX_STATEMENTS).map_err(|error| unreadable(&error))?;
    let read_failed = |error| identity::failed(IdentityFileError::ReadPublic { path: public.into(), error });
    // By whatever links it is named, a file has one lock.
    let path = fs::canonicalize(public).map_err(read_failed)?;
    let _lock = lock(&path)?;
    let mut keys = PeerKeys::load(public).map_err(identity::failed)?;
    let mut added = String::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let succession = line.parse::<Succession>().map_err(|fault| unreadable(&fault))?;
        // A statement that is there already says nothing new.
        let is_there =
            keys.last_day(succession.old) == Some(succession.until) && keys.all().any(|key| key == succession.new);
        if !is_there {
            keys = keys.followed_by(&succession).map_err(|other| unreadable(&other))?;
            added.push_str(&format!("{succession} until {}\n", succession.until));
        }
    }
    Revoked::of_partners(None)?.refuse(&keys)?;
    append(&path, &added).map_err(|error| identity::failed(IdentityFileError::Write { path: public.into(), error }))?;
    Ok(keys)
}

/// Waits until no other process changes the file, and keeps them waiting until this is dropped. The file itself is
/// replaced, so that the lock is one beside it.
fn lock(path: &Path) -> Result<File, Failure> {
    let failed = |error| identity::failed(IdentityFileError::Write { path: path.into(), error });
    let lock = File::options().create(true).truncate(false).write(true).open(beside(path, ".lock")).map_err(failed)?;
    let over = || {
        Failure::new(
            code::IDENTITY,
            format_args!("another process has been changing {} for {} s", path.display(), PATIENCE.as_secs()),
            "let it finish, or end it; then start again",
        )
    };
    locked::take(&lock, locked::no_longer_than(PATIENCE, over))?.map_err(failed)?;
    Ok(lock)
}

/// Appends whole lines to a file at one moment: a reader sees all of them or none.
fn append(path: &Path, lines: &str) -> io::Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    let mut text = fs::read_to_string(path)?;
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(lines);
    let permissions = fs::metadata(path)?.permissions();
    replace(path, |file| {
        file.set_permissions(permissions)?;
        file.write_all(text.as_bytes())
    })
}
