//! The folder in which a side keeps its record of a run.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use zeroize::{Zeroize, Zeroizing};

use super::bucket_files::{BucketFiles, Found, Pass, Place, replace};
use super::messages::Unfinished;
use crate::bounded::read_text;
use crate::failure::{Failure, code};
use crate::handshake::{Hello, WIRE_VERSION};
use crate::receipt::{from_hex, to_hex};
use crate::session::{Config, Protection, fresh, randomness};

/// How the folder of a run begins; behind it stands which run.
const PREFIX: &str = "vesica-run-";

/// How a folder begins that is being removed: it is no record any more, also if that breaks off.
const GONE: &str = "vesica-gone-";

/// After this a record that nobody went on with is removed.
const STALE: Duration = Duration::from_secs(30 * 24 * 3600);

/// Longest state that is read.
const FILE_LIMIT: u64 = 1 << 16;

/// What the partner hears of a record that cannot be used.
const TOLD: &str = "it cannot use its record of the run";

/// What a record says beside its buckets.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    /// Version of this file.
    vesica_run: u32,
    /// The release that made it.
    release: String,
    wire_version: u32,
    /// In hexadecimal: under which the table is hashed and buckets are encrypted.
    key: String,
    /// The hash of the table, once it was read.
    table: Option<String>,
    /// The run, once both sides have agreed on it.
    run: Option<Begun>,
}

impl Drop for State {
    fn drop(&mut self) {
        self.key.zeroize();
    }
}

/// A run on which both sides have agreed.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Begun {
    /// What it is, in hexadecimal.
    pub id: String,
    /// The salt under which keys are divided, in hexadecimal.
    pub salt: String,
    /// In how many buckets, how many items of this side each has, and bytes of a payload of its result.
    pub shape: (u32, usize, usize),
    /// How many attempts at buckets this side has begun.
    pub attempts: u64,
    /// In how many conversations no run of a bucket was begun.
    pub others: u32,
    /// Whether the second pass has begun, of a run that has one.
    pub compares: bool,
}

/// The folder of a record, for whoever is to leave nothing of a run that did not begin.
pub(crate) struct RunFolder {
    path: PathBuf,
    stands: Mutex<Stands>,
}

/// How a folder stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stands {
    /// There is no run in it.
    New,
    /// There is one, or what is left of one.
    Begun,
    /// It was removed: one of its name is somebody else's.
    Removed,
}

impl RunFolder {
    fn stands(&self) -> MutexGuard<'_, Stands> {
        self.stands.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes it, once, if the run has not begun.
    pub fn remove_if_not_begun(&self) {
        let mut stands = self.stands();
        if *stands == Stands::New {
            *stands = Stands::Removed;
            let _ = remove(&self.path);
        }
    }
}

/// A side's record of a run. Nobody else can use it while this is there.
pub(crate) struct Record {
    folder: Arc<RunFolder>,
    state: State,
    files: BucketFiles,
    /// How many records of other runs were removed, which nobody went on with.
    pub(super) swept: usize,
    /// Locked.
    lock: Arc<File>,
}

impl Drop for Record {
    /// Leaves nothing of a run that did not begin.
    fn drop(&mut self) {
        self.folder.remove_if_not_begun();
    }
}

impl std::fmt::Debug for Record {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Record").field("folder", &self.folder.path).finish_non_exhaustive()
    }
}

impl Record {
    /// The record in the work folder of the run that has this `name`, which is made if there is none. A name stands for
    /// settings and partner.
    ///
    /// # Errors
    /// If the folder cannot be used, others could replace it, another run uses it, or another release made it.
    pub fn open(work: &Path, name: &[u8; 32]) -> Result<Self, Failure> {
        let folder = work.join(format!("{PREFIX}{}", to_hex(name.first_chunk::<8>().unwrap_or(&[0; 8]))));
        let failed = |error: io::Error| failed(&folder, &error);
        check_owners(work)?;
        match DirBuilder::new().mode(0o700).create(&folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(failed(error)),
            // Whoever made it may have ended before this.
            _ => File::open(work).and_then(|work| work.sync_all()).map_err(failed)?,
        }
        let found = fs::symlink_metadata(&folder).map_err(failed)?;
        if !found.is_dir() || found.uid() != rustix::process::geteuid().as_raw() || found.mode() & 0o077 != 0 {
            let fault = format_args!("{} is not a folder of yours alone", folder.display());
            return Err(refused(code::OUTPUT, fault, "remove it, or name another folder with --work"));
        }
        let lock = File::options().write(true).create(true).truncate(false).mode(0o600).open(folder.join("lock"));
        let lock = lock.map_err(failed)?;
        let is_here = |lock: &File| {
            let (held, named) = (lock.metadata()?, fs::metadata(folder.join("lock"))?);
            Ok::<bool, io::Error>((held.dev(), held.ino()) == (named.dev(), named.ino()))
        };
        // One that ends may remove the folder before this lock is taken.
        if lock.try_lock().is_err() || !is_here(&lock).unwrap_or(false) {
            let fault = format_args!("another run uses the record in {}", folder.display());
            return Err(refused(code::REFUSED, fault, "wait until it has ended, or name another folder with --work"));
        }
        let path = folder.join("run.json");
        let state = match read_text(&path, FILE_LIMIT) {
            Ok(text) => Self::read(&folder, &Zeroizing::new(text))?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => State {
                vesica_run: 1,
                release: env!("CARGO_PKG_VERSION").into(),
                wire_version: WIRE_VERSION,
                key: to_hex(&*fresh(&mut randomness()?)),
                table: None,
                run: None,
            },
            Err(error) => return Err(failed(error)),
        };
        let key = Zeroizing::new(from_hex::<32>(&state.key).ok_or_else(|| damaged(&folder))?);
        let run = state.run.as_ref().and_then(|run| from_hex(&run.id)).unwrap_or_default();
        let files = BucketFiles::new(&folder, &key, run);
        let swept = sweep(work, &folder);
        // Buckets without a state may still be of use to whoever has a copy of it: the user is asked to remove them.
        let stands = match state.run.is_some() || files.are_there().map_err(failed)? {
            true => Stands::Begun,
            false => Stands::New,
        };
        let folder = Arc::new(RunFolder { path: folder.clone(), stands: Mutex::new(stands) });
        let record = Self { folder, state, files, swept, lock: Arc::new(lock) };
        record.save()?;
        Ok(record)
    }

    fn read(folder: &Path, text: &str) -> Result<State, Failure> {
        // A parser's message may hold the file's text.
        let state: State = serde_json::from_str(text).map_err(|_| damaged(folder))?;
        let release = (env!("CARGO_PKG_VERSION"), WIRE_VERSION);
        if (state.release.as_str(), state.wire_version) != release || state.vesica_run != 1 {
            let fault = format_args!(
                "the run in {} was begun by release {} (wire version {}) of vesica, and this is {} ({})",
                folder.display(),
                state.release,
                state.wire_version,
                release.0,
                release.1
            );
            let mend =
                "go on with the release that began it, on both sides, or remove the folder on both to begin anew";
            return Err(refused(code::REFUSED, fault, mend));
        }
        Ok(state)
    }

    /// As long as this is there, nobody else can use the record.
    pub fn lock(&self) -> Arc<File> {
        self.lock.clone()
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder.path
    }

    /// Where it is, for whoever may end before this is dropped.
    pub fn run_folder(&self) -> Arc<RunFolder> {
        self.folder.clone()
    }

    /// Under which the table is hashed. The same for as long as the record is there.
    pub fn table_key(&self) -> [u8; 32] {
        blake3::derive_key("vesica 2026-11-29 hash of a table of a run v1", self.state.key.as_bytes())
    }

    /// Notes the hash of the table, or refuses another one than is noted.
    ///
    /// # Errors
    /// If the table is not the same, or the state cannot be written.
    pub fn check_table(&mut self, hash: &[u8; 32]) -> Result<(), Failure> {
        let hash = to_hex(hash);
        match &self.state.table {
            Some(noted) if *noted != hash && self.state.run.is_some() => Err(Failure {
                told: Some("its table is not the one with which the run was begun"),
                ..refused(
                    code::INPUT,
                    format_args!(
                        "the table is not the one with which the run in {} was begun",
                        self.folder().display()
                    ),
                    "put that table back to go on, or remove the folder on both sides to begin anew",
                )
            }),
            _ => {
                self.state.table = Some(hash);
                self.save()
            }
        }
    }

    /// What names the run that was begun, if there is one.
    pub fn run_id(&self) -> Option<&str> {
        self.begun().map(|run| run.id.as_str())
    }

    /// What it says of the run.
    pub(super) fn begun(&self) -> Option<&Begun> {
        self.state.run.as_ref()
    }

    /// What to tell the partner of a run in so many buckets that go through these passes, of which the last has so many
    /// parts.
    pub(super) fn unfinished(
        &self,
        (buckets, parts): (u32, u32),
        passes: &[Pass],
        shape: (usize, usize),
    ) -> Unfinished {
        let of_pass = |&pass: &Pass| {
            let parts = if pass == Pass::Last { parts } else { buckets };
            (0..parts as usize).map(move |bucket| Place { bucket, pass, shape })
        };
        let begun = self.state.run.as_ref().and_then(|run| from_hex(&run.id).map(|id| (id, run)));
        let transcript = |place| if begun.is_some() { self.files.transcript(place) } else { [0; 32] };
        Unfinished {
            run: begun.map_or([0; 32], |(id, _)| id),
            attempts: begun.map_or(0, |(_, run)| run.attempts),
            compares: begun.is_some_and(|(_, run)| run.compares),
            buckets: passes.iter().flat_map(of_pass).map(transcript).collect(),
        }
    }

    /// Whether there is anything of any bucket, though it may not be read.
    pub(super) fn has_files(&self) -> Result<bool, Failure> {
        self.files.are_there().map_err(|error| failed(self.folder(), &error))
    }

    /// Begins a run anew.
    pub(super) fn begin(&mut self, run: Begun) -> Result<(), Failure> {
        self.files.clear().map_err(|error| failed(self.folder(), &error))?;
        self.files.set_run(from_hex(&run.id).unwrap_or_default());
        self.state.run = Some(run);
        self.save()?;
        let mut stands = self.folder.stands();
        if *stands == Stands::New {
            *stands = Stands::Begun;
        }
        Ok(())
    }

    /// Notes that the second pass begins: from here on no first one may be taken anew.
    pub(super) fn set_compares(&mut self) -> Result<(), Failure> {
        if let Some(run) = &mut self.state.run {
            run.compares = true;
        }
        self.save()
    }

    /// A secret of the run, the same for as long as it goes on.
    pub(super) fn run_key(&self) -> Zeroizing<[u8; 32]> {
        let mut hasher = blake3::Hasher::new_derive_key("vesica 2026-11-29 secret of a run that is kept v1");
        hasher.update(self.state.key.as_bytes());
        hasher.update(self.state.run.as_ref().map_or(&[][..], |run| run.id.as_bytes()));
        Zeroizing::new(*hasher.finalize().as_bytes())
    }

    /// Notes that this side begins an attempt at a bucket.
    pub(super) fn add_attempt(&mut self) -> Result<(), Failure> {
        if let Some(run) = &mut self.state.run {
            run.attempts += 1;
        }
        self.save()
    }

    /// Notes a conversation in which no run of a bucket is begun. Gives how many there were.
    pub(super) fn add_other(&mut self) -> Result<u32, Failure> {
        let others = self.state.run.as_mut().map_or(0, |run| {
            run.others = run.others.saturating_add(1);
            run.others
        });
        self.save()?;
        Ok(others)
    }

    /// Keeps what a bucket found.
    pub(super) fn put_found(
        &self,
        bucket: usize,
        transcript: &[u8; 32],
        found: &Found,
        shape: (usize, usize),
        random: &[u8; 32],
    ) -> Result<(), Failure> {
        self.files.put_found(bucket, transcript, found, shape, random).map_err(|error| failed(self.folder(), &error))
    }

    /// What a finished bucket found.
    pub(super) fn found(&self, bucket: usize, shape: (usize, usize)) -> Result<Found, Failure> {
        self.files.found(bucket, shape).map_err(|error| failed(self.folder(), &error))
    }

    /// Keeps what a bucket has come to.
    pub(super) fn put(
        &self,
        place: Place,
        transcript: &[u8; 32],
        content: Zeroizing<Vec<u8>>,
        random: &[u8; 32],
    ) -> Result<(), Failure> {
        self.files.put(place, transcript, content, random).map_err(|error| failed(self.folder(), &error))
    }

    /// What a bucket has come to.
    pub(super) fn get(&self, place: Place) -> Result<Zeroizing<Vec<u8>>, Failure> {
        self.files.open(place).map(|(_, content)| content).map_err(|error| failed(self.folder(), &error))
    }

    /// The refusal of a record that this release did not write.
    pub(super) fn damaged(&self) -> Failure {
        damaged(self.folder())
    }

    /// Writes the state so that a crash leaves this or the one before.
    fn save(&self) -> Result<(), Failure> {
        let write = || {
            let text = Zeroizing::new(serde_json::to_vec(&self.state)?);
            // Whoever reads a table for a run that has ended must not write into the folder of the next one.
            match *self.folder.stands() {
                Stands::Removed => Err(io::Error::other("the run has ended")),
                Stands::New | Stands::Begun => replace(self.folder(), "run.new", "run.json", &text),
            }
        };
        write().map_err(|error: io::Error| failed(self.folder(), &error))
    }
}

/// The name of a run: what this side has said of it, and to whom.
pub(crate) fn name(config: &Config, hello: &Hello) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("vesica 2026-11-29 name of a run v1");
    let mut part = |text: &str| {
        hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
    };
    part(&hello.task);
    part(&hello.role.to_string());
    part(&hello.security.to_string());
    part(&hello.post_quantum.to_string());
    part(&hello.buckets.to_string());
    part(&hello.key_columns.join("\n"));
    part(&hello.key_digest);
    part(&String::from_utf8_lossy(&hello.proposal));
    part(&config.source.table.name());
    part(&config.source.key.columns().iter().map(|column| column.name.as_str()).collect::<Vec<_>>().join("\n"));
    part(&format!("{:?}", config.settings.values.duplicates));
    part(&config.protocol.clone().unwrap_or_default());
    part(&config.pad_to.unwrap_or_default().to_string());
    if let Protection::Tls { identity, peer } = &config.protection {
        part(&identity.public().to_string());
        part(&peer.known_as().to_string());
    }
    *hasher.finalize().as_bytes()
}

/// Removes the record of a run that is over.
pub(crate) fn remove(folder: &Path) -> io::Result<()> {
    let mut gone = folder.with_file_name(GONE);
    let random = randomness().map_err(|failure| io::Error::other(failure.fault))?;
    gone.as_mut_os_string().push(to_hex(fresh(&mut { random }).first_chunk::<8>().unwrap_or(&[0; 8])));
    fs::rename(folder, &gone)?;
    if let Some(work) = gone.parent() {
        File::open(work)?.sync_all()?;
    }
    remove_gone(&gone)
}

/// Removes a folder that is no record any more.
fn remove_gone(folder: &Path) -> io::Result<()> {
    // The key, as far as the file system lets go of it.
    if let Ok(mut state) = File::options().write(true).open(folder.join("run.json")) {
        let length = state.metadata().map_or(0, |found| found.len()).min(FILE_LIMIT);
        let _ = state.write_all(&vec![b' '; length as usize]).and_then(|()| state.sync_data());
    }
    fs::remove_dir_all(folder)
}

/// Removes the records of this user's other runs that nobody went on with for a long time, and gives their number.
fn sweep(work: &Path, except: &Path) -> usize {
    let Ok(entries) = fs::read_dir(work) else { return 0 };
    let is_stale = |folder: &PathBuf| {
        let is_record = folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PREFIX));
        let found = fs::symlink_metadata(folder).ok().filter(|found| is_record && found.is_dir() && folder != except);
        let is_own = found.is_some_and(|found| found.uid() == rustix::process::geteuid().as_raw());
        let age = fs::metadata(folder.join("run.json")).and_then(|state| state.modified()).map(|then| then.elapsed());
        is_own && age.is_ok_and(|age| age.is_ok_and(|age| age > STALE))
    };
    let is_gone = |folder: &PathBuf| folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with(GONE));
    let (gone, others): (Vec<PathBuf>, Vec<PathBuf>) = entries.flatten().map(|entry| entry.path()).partition(is_gone);
    for folder in gone {
        // Another user's, perhaps.
        let _ = remove_gone(&folder);
    }
    let removed = |folder: &PathBuf| {
        let lock = File::open(folder.join("lock")).ok().filter(|lock| lock.try_lock().is_ok());
        lock.is_some_and(|_held| remove(folder).is_ok())
    };
    others.into_iter().filter(is_stale).filter(removed).count()
}

/// Refuses a folder in which other users could exchange a record for theirs.
fn check_owners(work: &Path) -> Result<(), Failure> {
    let found = fs::metadata(work).map_err(|error| failed(work, &error))?;
    let (own, owner) = (rustix::process::geteuid().as_raw(), found.uid());
    let is_open = found.mode() & 0o022 != 0 && found.mode() & 0o1000 == 0;
    if !found.is_dir() || is_open || (owner != own && owner != 0) {
        let fault = format_args!("others could replace what is in the work folder {}", work.display());
        let mend = "name a folder with --work that belongs to you and in which nobody else may write (chmod go-w)";
        return Err(refused(code::OUTPUT, fault, mend));
    }
    Ok(())
}

fn refused(code: u8, fault: impl std::fmt::Display, mend: &str) -> Failure {
    Failure { told: Some(TOLD), ..Failure::new(code, fault, mend) }
}

fn failed(folder: &Path, error: &io::Error) -> Failure {
    let mend = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "free space on that disk, and type the same command again on both sides: what is finished stays"
        }
        io::ErrorKind::InvalidData => "remove the folder on both sides to begin anew",
        _ => "see that you may write there; what is finished stays",
    };
    refused(code::OUTPUT, format_args!("cannot use the record of the run in {}: {error}", folder.display()), mend)
}

fn damaged(folder: &Path) -> Failure {
    failed(folder, &io::Error::new(io::ErrorKind::InvalidData, "it is damaged"))
}
