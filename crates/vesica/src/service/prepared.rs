//! A prepared set as a file, so that a server that starts again does not prepare the same set anew,
//! and clients do not have to enrol anew.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use vesica_party::service::{Server as _, State, StateError, StateReader, StateWriter};
use vesica_protocols::recurrent::kept::Kept;
use vesica_structures::rng::SecretRng;

use super::periods::Moment;
use super::preparation::Preparation;
use super::roster::Roster;
use super::set::Set;
use super::{Description, TableService};
use crate::failure::{Failure, code};

/// A prepared set with what it was prepared from.
pub(super) struct Prepared<S: TableService> {
    pub description: Description,
    /// A hash of the set under its salt: tells whether a table has changed.
    pub set_hash: [u8; 32],
    /// What it was prepared from, if it can be updated.
    pub roster: Option<Roster>,
    pub server: S::Server,
    /// When its secret key was made, in seconds since 1970.
    pub made: u64,
}

/// How the format's name of each version begins.
const SERVED_SET: &str = "vesica served set ";

impl<S: TableService> Prepared<S> {
    /// Prepares a set with room for the capacity of the description, filled up with dummies if the
    /// service asks for that. A preparation gives the secret key, and what it has of the set already.
    pub fn new(
        description: Description,
        Set { input: mut set, mut roster, hash }: Set,
        preparation: Option<&Preparation<'_>>,
        rng: &mut SecretRng,
    ) -> Result<Self, Failure> {
        let params = description.params::<S>()?;
        let capacity = usize::try_from(description.capacity).unwrap_or(usize::MAX);
        let width = description.payload.as_ref().map_or(0, |schema| schema.width);
        if !S::LEAVES_ROOM {
            let mut of_dummies = preparation.map_or_else(|| rng.child(), |preparation| preparation.rng("dummies", &[]));
            roster.fill_up(&mut set, capacity, &mut of_dummies);
            // A table without rows has no payload from which its width could be seen.
            set.payloads.resize(capacity.saturating_mul(width), 0);
        }
        let roster = S::Server::IS_UPDATABLE.then_some(roster);
        let server = match preparation {
            None => S::Server::prepare(&params, set, rng)?,
            Some(preparation) => {
                let of_set = if S::Server::IS_UPDATABLE { &[][..] } else { &hash };
                let [of_key, of_rest] = ["secret key", "rest"].map(|purpose| preparation.rng(purpose, of_set));
                let kept = Kept { of_key, of_rest, keeper: preparation };
                S::prepare_kept(&params, set, kept, rng)?
            }
        };
        Ok(Self { description, set_hash: hash, roster, server, made: Moment::now().utc })
    }
}

/// The server's own state follows with its own name and version, so that a state of another protocol
/// is refused as such.
impl<S: TableService> State for Prepared<S> {
    const FORMAT: &'static str = "vesica served set 2";

    fn write(&self, out: &mut StateWriter<'_>) -> io::Result<()> {
        let description = self.description.to_bytes().map_err(|failure| io::Error::other(failure.fault))?;
        out.u64(description.len() as u64)?;
        out.bytes(&description)?;
        out.bytes(&self.set_hash)?;
        out.u64(self.made)?;
        if let Some(roster) = &self.roster {
            roster.write(out)?;
        }
        write_format::<S::Server>(out)?;
        self.server.write(out)
    }

    fn read(bytes: &mut StateReader<'_>) -> Result<Self, StateError> {
        let description = read_description(bytes)?;
        let (set_hash, made) = (bytes.array()?, bytes.u64()?);
        let roster = if S::Server::IS_UPDATABLE { Some(Roster::read(bytes)?) } else { None };
        if roster.as_ref().is_some_and(|roster| roster.len() as u64 != description.capacity) {
            return Err(StateError::Damaged("its set has not as many items as its description says"));
        }
        check_format::<S::Server>(bytes)?;
        let server = S::Server::read(bytes)?;
        match description.params::<S>() {
            Ok(params) if S::terms(&params) == S::terms(server.params()) => {
                Ok(Self { description, set_hash, roster, server, made })
            }
            _ => Err(StateError::Damaged("its description is not that of its set")),
        }
    }
}

/// Writes the format's name of a state that is part of another one.
pub(super) fn write_format<S: State>(out: &mut StateWriter<'_>) -> io::Result<()> {
    out.u64(S::FORMAT.len() as u64)?;
    out.bytes(S::FORMAT.as_bytes())
}

/// Refuses a part that is not of this format.
pub(super) fn check_format<S: State>(bytes: &mut StateReader<'_>) -> Result<(), StateError> {
    let other = StateError::Damaged("it holds the state of another protocol than its description names");
    if bytes.u64()? != S::FORMAT.len() as u64 {
        return Err(other);
    }
    let mut name = vec![0; S::FORMAT.len()];
    bytes.fill(&mut name)?;
    if name == S::FORMAT.as_bytes() { Ok(()) } else { Err(other) }
}

/// A description in a state, behind its length.
pub(super) fn read_description(bytes: &mut StateReader<'_>) -> Result<Description, StateError> {
    let length = bytes.u64()?;
    if length > vesica_party::service::MOST_DESCRIPTION_BYTES as u64 {
        return Err(StateError::Damaged("its description is too long"));
    }
    let mut description = vec![0; length as usize];
    bytes.fill(&mut description)?;
    Description::from_bytes(&description).map_err(|_| StateError::Damaged("its description is not usable"))
}

/// The state in `path`, or `None` if there is no such file.
///
/// # Errors
/// If the file is there and cannot be used: it is not replaced, since its key may be the only copy.
pub(super) fn load<S: State>(path: &Path) -> Result<Option<S>, Unusable> {
    if !path.exists() {
        return Ok(None);
    }
    let length = path.metadata().map_or(0, |metadata| metadata.len());
    vesica_party::service::load(path, length)
        .map(Some)
        .map_err(|error| Unusable { failure: failed(&error, code::INPUT), was_served: was_served(&error) })
}

/// A state file that cannot be used.
pub(super) struct Unusable {
    pub failure: Failure,
    /// Whether a server wrote it, so that preparing its set anew makes up for it.
    pub was_served: bool,
}

impl From<Unusable> for Failure {
    fn from(unusable: Unusable) -> Self {
        unusable.failure
    }
}

fn was_served(error: &StateError) -> bool {
    match error {
        StateError::File { error, .. } => was_served(error),
        StateError::Damaged(_) => true,
        StateError::OtherFormat { found, .. } => found.starts_with(SERVED_SET),
        _ => false,
    }
}

/// Writes a state to `path`.
pub(super) fn save<S: State>(state: &S, path: &Path) -> Result<(), Failure> {
    vesica_party::service::save(state, path).map_err(|error| failed(&error, code::OUTPUT))
}

fn failed(error: &StateError, code: u8) -> Failure {
    Failure::new(code, format_args!("the state file {error}"), error.mend())
}

/// Keeps other processes from a state file until it is dropped.
pub(super) struct Lock(#[expect(dead_code, reason = "closing the file ends the lock")] File);

impl Lock {
    /// Locks the state file of this name, which need not exist; `None` if another process has.
    ///
    /// # Errors
    /// If the file of the lock, whose name ends in `.lock`, cannot be made.
    pub fn take(state: &Path) -> Result<Option<Self>, Failure> {
        let path = beside(state, ".lock");
        let file = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(&path);
        let locked = file.and_then(|file| match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(Self(file))),
            Err(Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(error.into()),
        });
        locked.map_err(|error| {
            let fault = format_args!("cannot lock {}: {error}", path.display());
            Failure::new(code::OUTPUT, fault, "check the path, the permissions and the room on the disk")
        })
    }
}

/// The file of which the name ends so beside that of a state.
pub(super) fn beside(state: &Path, ending: &str) -> PathBuf {
    let mut name = state.file_name().unwrap_or_default().to_owned();
    name.push(ending);
    state.with_file_name(name)
}

/// Most links that one leads to after the other; as many as Linux follows.
const MOST_LINKS: usize = 40;

/// The one name of a file that is there or will be, whatever links lead to it: what stands beside a
/// state goes by it, and a file is replaced where it lies.
///
/// # Errors
/// If its folder is not there.
pub(super) fn resolved(path: &Path) -> Result<PathBuf, Failure> {
    resolve(path).map_err(|error| {
        let fault = format_args!("cannot use the file {}: {error}", path.display());
        Failure::new(code::OUTPUT, fault, "check the path, and the permissions of its folder")
    })
}

fn resolve(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        match path.canonicalize() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            resolved => return resolved,
        }
        // No file yet, or a link to none.
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        match path.read_link() {
            Ok(next) => path = folder.join(next),
            Err(_) => return Ok(folder.canonicalize()?.join(path.file_name().unwrap_or_default())),
        }
    }
    Err(Errno::LOOP.into())
}

/// The file beside a state that counts used quotas.
pub(super) fn quota_file(state: &Path) -> PathBuf {
    beside(state, ".quota")
}

/// The file beside a state that counts what its set has answered.
pub(super) fn answers_file(state: &Path) -> PathBuf {
    beside(state, ".answered")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However a file is called, and whether it is there or not.
    #[test]
    fn a_file_has_one_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let real = folder.path().canonicalize().expect("there").join("real");
        std::fs::create_dir(&real).expect("made");
        let link = |to: &str, name: &str| {
            std::os::unix::fs::symlink(to, folder.path().join(name)).expect("linked");
        };
        link("real", "folder");
        link("folder/state", "first");
        link("./first", "second");
        link("round", "round");
        for exists in [false, true] {
            if exists {
                std::fs::write(real.join("state"), "").expect("written");
            }
            for name in ["real/state", "folder/state", "first", "second", "real/../folder/./state"] {
                let found = resolved(&folder.path().join(name)).expect(name);
                assert_eq!(found, real.join("state"), "{name}, there: {exists}");
            }
            assert_eq!(
                resolved(Path::new("state")).expect("here"),
                std::env::current_dir().expect("a folder").join("state")
            );
            for name in ["none/state", "round"] {
                assert_eq!(resolved(&folder.path().join(name)).expect_err(name).code, code::OUTPUT);
            }
        }
    }

    #[test]
    fn a_state_has_one_user_at_a_time() {
        let folder = tempfile::tempdir().expect("a folder");
        let state = folder.path().join("state");
        let first = Lock::take(&state).expect("a lock");
        assert!(first.is_some() && Lock::take(&state).expect("no fault").is_none());
        drop(first);
        assert!(Lock::take(&state).expect("no fault").is_some());
    }
}
