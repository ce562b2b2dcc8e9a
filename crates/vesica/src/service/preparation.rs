//! What a server has prepared of a set, in a file beside its state until the state file has all of it: a preparation
//! that breaks off goes on where it was.
//!
//! | bytes | field |
//! |---|---|
//! | 8 | length of the head |
//! | that many | the head, a state of the format [`Begun`]: release, description, secret |
//! | 32, 4, 8 | of each part: its name under the secret, the length of its content, a check of both |
//! | that many | the content, encrypted and authenticated |
//!
//! **What a part is bound to.** A part's name is a hash of all that decides on its content: the function, its public
//! key, and the part's items. Under the secret, the name gives where the content is found and the key under which it
//! is encrypted. So content of other items, of another key or of another file is never taken; and whoever has the file
//! learns nothing from the content, unless he knows all items of a part but one, and tests guesses at that one. With a
//! slow hash, the name goes through that, too: a test takes as long as one with the state file. Parts that are damaged,
//! or were not written to their end, are prepared again.
//!
//! **What the secret is for.** The key of a new set is drawn from it, so that all parts are made under one key however
//! often the preparation breaks off. Where a service has no updates, the key is drawn from the secret and from a hash
//! of the whole set with its payloads: payloads have one keystream for each key and item. Then all else is drawn from
//! both as well, so that two copies of the file come to one set, as two copies of a state file do. Where a service has
//! updates, a table that changes in the meantime has the same key, as it has in an update, and payloads get new nonces.
//!
//! The file is removed when the state file is there, and before the set is served.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::unwrap_used, clippy::expect_used, clippy::panic))]

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;
use rustix::io::Errno;
use vesica_data::spill::Seal;
use vesica_party::Abort;
use vesica_party::service::{State, StateError, StateReader, StateWriter, read_state, sync_folder, write_state};
use vesica_protocols::recurrent::kept::{Keeper, PartName};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;
use zeroize::Zeroizing;

use super::Description;
use super::prepared::{beside, read_description};
use super::serve::ServeLog;
use crate::failure::{Failure, code};
use crate::session::fresh;
use crate::words::counted;

/// The release that begins preparations now: another one may compute something in another way.
const RELEASE: &str = env!("CARGO_PKG_VERSION");

/// Longest head of a file.
const MOST_HEAD_BYTES: u64 = 1 << 17;

/// Bytes before a part's content.
const PART_HEAD: usize = 32 + 4 + 8;

/// How often the disk is asked to have what was written: so much work is lost at most when the machine goes down.
const SYNC: Duration = Duration::from_secs(5);

/// How often the log says how much is done.
const TELL: Duration = Duration::from_secs(30);

/// The file beside a state.
pub(super) fn file_of(state: &Path) -> PathBuf {
    beside(state, ".preparing")
}

/// What a preparation is of.
struct Begun {
    release: String,
    description: Description,
    secret: Secret<[u8; 32]>,
}

impl State for Begun {
    const FORMAT: &'static str = "vesica preparation 1";

    fn write(&self, out: &mut StateWriter<'_>) -> io::Result<()> {
        let description = self.description.to_bytes().map_err(|failure| io::Error::other(failure.fault))?;
        out.u64(self.release.len() as u64)?;
        out.bytes(self.release.as_bytes())?;
        out.bytes(&*self.secret)?;
        out.u64(description.len() as u64)?;
        out.bytes(&description)
    }

    fn read(bytes: &mut StateReader<'_>) -> Result<Self, StateError> {
        let length = bytes.count()?;
        let release = String::from_utf8(bytes.elements(length)?);
        let release = release.map_err(|_| StateError::Damaged("it does not say its release"))?;
        let secret = Secret::new(bytes.array()?);
        // Another release may describe a set in other words, and is named.
        if release != RELEASE {
            return Err(StateError::OtherFormat {
                found: format!("a preparation of release {release}"),
                expected: RELEASE,
            });
        }
        Ok(Self { release, secret, description: read_description(bytes)? })
    }
}

impl Begun {
    /// The head of the file, with its length.
    fn to_bytes(&self) -> Result<Zeroizing<Vec<u8>>, StateError> {
        // More than it takes, so that no copy is left where it would grow.
        let mut bytes = Zeroizing::new(Vec::with_capacity(MOST_HEAD_BYTES as usize));
        bytes.extend_from_slice(&[0; 8]);
        write_state(self, &mut *bytes)?;
        let length = (bytes.len() as u64).saturating_sub(8).to_le_bytes();
        bytes.iter_mut().zip(length).for_each(|(to, from)| *to = from);
        Ok(bytes)
    }

    /// What a file begins with, and where the first part begins.
    fn of(file: &File) -> Result<(Self, u64), StateError> {
        let mut length = [0; 8];
        let cut = |_| StateError::Damaged("it ends too early");
        (&*file).read_exact(&mut length).map_err(cut)?;
        let length = u64::from_le_bytes(length);
        Ok((read_state(&mut &*file, length, MOST_HEAD_BYTES)?, length + 8))
    }

    /// A key for one purpose.
    fn derive(&self, purpose: &str, of: &[u8]) -> Secret<[u8; 32]> {
        let mut hasher = blake3::Hasher::new_keyed(&self.secret);
        hasher.update(&(purpose.len() as u64).to_le_bytes()).update(purpose.as_bytes()).update(of);
        Secret::new(*hasher.finalize().as_bytes())
    }

    /// A check of what stands before a part's content.
    fn check(&self, name: &[u8], length: &[u8]) -> [u8; 8] {
        let check = self.derive("check", &[name, length].concat());
        check.first_chunk().copied().unwrap_or_default()
    }

    /// What encrypts the content of a part: no key ever encrypts anything else.
    fn seal(&self, part: &PartName) -> io::Result<Seal> {
        Seal::once(&self.derive("content", part))
    }
}

/// A file that a preparation has left, if it can be used.
pub(super) struct Left {
    path: PathBuf,
    usable: Result<(Begun, File, u64), String>,
}

impl Left {
    /// What was left beside this state; `None` if there is nothing.
    ///
    /// # Errors
    /// If the system does not say.
    pub fn beside(state: &Path) -> Result<Option<Self>, Failure> {
        let path = file_of(state);
        // Nobody else's file is opened, whatever stands there.
        let file =
            match OpenOptions::new().read(true).write(true).custom_flags(OFlags::NOFOLLOW.bits() as i32).open(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                Err(error) if is_no_file(&error) => Err(error),
                // What the system does not open now may be of use later.
                file => Ok(file.map_err(|error| failed(&path, &error))?),
            };
        let usable = file.map_err(|error| error.to_string()).and_then(|file| {
            let metadata = file.metadata().map_err(|error| error.to_string())?;
            if !metadata.is_file() || metadata.uid() != rustix::process::geteuid().as_raw() {
                return Err("it is not a file of the user who runs this server".into());
            }
            if metadata.mode() & 0o077 != 0 {
                return Err(StateError::Exposed { mode: metadata.mode() & 0o7777 }.to_string());
            }
            let (begun, start) = Begun::of(&file).map_err(|error| error.to_string())?;
            Ok((begun, file, start))
        });
        Ok(Some(Self { path, usable }))
    }

    /// What clients would have been told of the set.
    pub fn description(&self) -> Option<&Description> {
        self.usable.as_ref().ok().map(|(begun, ..)| &begun.description)
    }

    /// Removes the file, of which nothing is of use, and says so.
    ///
    /// # Errors
    /// If it cannot be removed: its secret must not come back.
    pub fn sweep(self, why: &str, log: &dyn ServeLog) -> Result<(), Failure> {
        log.stage(&format!("removing {}, which a preparation that broke off has left: {why}", self.path.display()));
        remove(&self.path)
    }
}

/// Whether there is a link, which is not followed, or a folder.
fn is_no_file(error: &io::Error) -> bool {
    [Errno::LOOP, Errno::ISDIR].iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

/// A preparation under way, of which the parts are kept.
pub(super) struct Preparation<'a> {
    path: PathBuf,
    begun: Begun,
    log: &'a dyn ServeLog,
    /// Whether the disk is being asked to have what was written.
    is_syncing: Arc<AtomicBool>,
    kept: Mutex<KeptParts>,
}

struct KeptParts {
    /// Made when the first part is kept.
    file: Option<File>,
    parts: HashMap<[u8; 32], Place>,
    /// Where the next part begins.
    end: u64,
    synced: Instant,
    /// What is done now, how many items of how many are, and when the log last said so.
    doing: String,
    progress: (usize, usize),
    told: Instant,
    is_damage_told: bool,
}

#[derive(Clone, Copy)]
struct Place {
    start: u64,
    length: usize,
}

impl<'a> Preparation<'a> {
    /// The preparation of a set that is described so, which goes on with what was left if that is of such a set.
    ///
    /// # Errors
    /// If what was left is of no use and cannot be removed, or there is no randomness.
    pub fn open(
        state: &Path,
        left: Option<Left>,
        description: &Description,
        rng: &mut SecretRng,
        log: &'a dyn ServeLog,
    ) -> Result<Self, Failure> {
        let path = file_of(state);
        let usable = match left {
            None => None,
            Some(Left { usable: Ok((begun, file, start)), .. }) => {
                let differences = begun.description.differences(description);
                if differences.is_empty() {
                    Some((begun, file, start))
                } else {
                    let why = format!("it was begun with other settings: {}", differences.join("; "));
                    begin_anew(&path, &why, log)?;
                    None
                }
            }
            Some(Left { usable: Err(why), .. }) => {
                begin_anew(&path, &why, log)?;
                None
            }
        };
        let mut kept = KeptParts {
            file: None,
            parts: HashMap::new(),
            end: 0,
            synced: Instant::now(),
            doing: String::new(),
            progress: (0, 0),
            told: Instant::now(),
            is_damage_told: false,
        };
        let begun = match usable {
            Some((begun, file, start)) => {
                (kept.parts, kept.end) = scan(&file, &begun, start).map_err(|error| failed(&path, &error))?;
                kept.file = Some(file);
                begun
            }
            None => {
                let secret = Secret::new(*fresh(rng));
                Begun { release: RELEASE.into(), description: description.clone(), secret }
            }
        };
        Ok(Self { path, begun, log, is_syncing: Arc::default(), kept: Mutex::new(kept) })
    }

    /// Randomness for one purpose, the same whenever this preparation goes on with these bytes.
    pub fn rng(&self, purpose: &str, of: &[u8]) -> SecretRng {
        SecretRng::from_seed(&self.begun.derive(purpose, of))
    }

    /// Removes the file: the state file has the set.
    ///
    /// # Errors
    /// If it cannot be removed: a set that is prepared later would have the same key.
    pub fn finish(self) -> Result<(), Failure> {
        let is_there = self.kept.into_inner().unwrap_or_else(PoisonError::into_inner).file.is_some();
        if is_there { remove(&self.path) } else { Ok(()) }
    }

    fn lock(&self) -> MutexGuard<'_, KeptParts> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where a part's content is found.
    fn address(&self, part: &PartName) -> [u8; 32] {
        *self.begun.derive("address", part)
    }

    fn read(&self, kept: &KeptParts, part: &PartName, place: Place) -> io::Result<Zeroizing<Vec<u8>>> {
        let file = kept.file.as_ref().ok_or(io::ErrorKind::NotFound)?;
        let mut content = Zeroizing::new(vec![0; place.length]);
        file.read_exact_at(&mut content, place.start)?;
        self.begun.seal(part)?.open(&mut content)?;
        Ok(content)
    }

    fn write(&self, kept: &mut KeptParts, part: &PartName, content: &[u8]) -> io::Result<()> {
        let mut sealed = Vec::with_capacity(content.len() + 16);
        sealed.extend_from_slice(content);
        self.begun.seal(part)?.seal(&mut sealed)?;
        let address = self.address(part);
        let length = u32::try_from(sealed.len()).map_err(io::Error::other)?.to_le_bytes();
        let head = [&address[..], &length, &self.begun.check(&address, &length)].concat();
        let file = match &mut kept.file {
            Some(file) => file,
            None => {
                let (file, end) = self.create()?;
                kept.end = end;
                kept.file.insert(file)
            }
        };
        let start = kept.end + head.len() as u64;
        let written = file.write_all_at(&head, kept.end).and_then(|()| file.write_all_at(&sealed, start));
        if let Err(error) = written {
            // So that what was kept before is all that is there.
            let _ = file.set_len(kept.end);
            return Err(error);
        }
        kept.parts.insert(address, Place { start, length: sealed.len() });
        kept.end = start + sealed.len() as u64;
        if kept.synced.elapsed() >= SYNC {
            kept.synced = Instant::now();
            self.sync(file)?;
        }
        Ok(())
    }

    /// Makes the file, for its owner alone. What another attempt has left here is of no use.
    fn create(&self) -> io::Result<(File, u64)> {
        let head = self.begun.to_bytes().map_err(io::Error::other)?;
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&self.path)?;
        let written = file.write_all_at(&head, 0).and_then(|()| file.sync_all()).and_then(|()| sync_folder(&self.path));
        if let Err(error) = written {
            let _ = fs::remove_file(&self.path);
            return Err(error);
        }
        Ok((file, head.len() as u64))
    }

    /// Has the disk take what was written, beside the work. If it fails, no more is lost than without it.
    fn sync(&self, file: &File) -> io::Result<()> {
        if self.is_syncing.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        let (file, is_syncing) = (file.try_clone()?, self.is_syncing.clone());
        let body = move || {
            let _ = file.sync_data();
            is_syncing.store(false, Ordering::Release);
        };
        if thread::Builder::new().name("vesica-sync".into()).spawn(body).is_err() {
            self.is_syncing.store(false, Ordering::Release);
        }
        Ok(())
    }
}

impl Keeper for Preparation<'_> {
    fn begin(&self, what: &str, parts: &[(PartName, usize)]) {
        let mut kept = self.lock();
        let all = parts.iter().map(|(_, items)| items).sum();
        let is_kept = |name: &PartName| kept.parts.contains_key(&self.address(name));
        let before: usize = parts.iter().filter(|(name, _)| is_kept(name)).map(|(_, items)| items).sum();
        if before > 0 {
            self.log.stage(&format!("going on with the preparation: {before} of {all} keys are {what}"));
        }
        (kept.doing, kept.progress, kept.told) = (what.into(), (0, all), Instant::now());
    }

    fn find(&self, part: &PartName, content: &mut [u8]) -> bool {
        let mut kept = self.lock();
        let address = self.address(part);
        let Some(place) = kept.parts.get(&address).copied() else { return false };
        match self.read(&kept, part, place) {
            Ok(found) if found.len() == content.len() => {
                content.copy_from_slice(&found);
                true
            }
            _ => {
                kept.parts.remove(&address);
                if !std::mem::replace(&mut kept.is_damage_told, true) {
                    self.log
                        .warning(&format!("{} is damaged: what stood there is prepared again", self.path.display()));
                }
                false
            }
        }
    }

    fn keep(&self, part: &PartName, content: &[u8]) -> Result<(), Abort> {
        let mut kept = self.lock();
        self.write(&mut kept, part, content).map_err(|error| {
            let Failure { code, fault, mend, .. } = failed(&self.path, &error);
            Abort::Local { code, fault, mend }
        })
    }

    fn done(&self, items: usize) {
        let mut kept = self.lock();
        kept.progress.0 += items;
        let (done, all) = kept.progress;
        if kept.told.elapsed() >= TELL {
            kept.told = Instant::now();
            self.log.stage(&format!("{done} of {} are {}", counted(all as u64, "key", "keys"), kept.doing));
        }
    }
}

/// The parts in a file that were written to their end, and where the last one ends. What stands behind that is cut off.
fn scan(file: &File, begun: &Begun, start: u64) -> io::Result<(HashMap<[u8; 32], Place>, u64)> {
    let (mut parts, mut end, length) = (HashMap::new(), start, file.metadata()?.len());
    let mut head = [0; PART_HEAD];
    while length.saturating_sub(end) >= PART_HEAD as u64 {
        file.read_exact_at(&mut head, end)?;
        let Some((address, rest)) = head.split_first_chunk::<32>() else { break };
        let Some((content, check)) = rest.split_first_chunk::<4>() else { break };
        let (start, bytes) = (end + PART_HEAD as u64, u32::from_le_bytes(*content));
        if begun.check(address, content) != check || length - start < u64::from(bytes) {
            break;
        }
        parts.insert(*address, Place { start, length: bytes as usize });
        end = start + u64::from(bytes);
    }
    if end < length {
        file.set_len(end)?;
    }
    Ok((parts, end))
}

fn begin_anew(path: &Path, why: &str, log: &dyn ServeLog) -> Result<(), Failure> {
    log.warning(&format!(
        "what {} has of an earlier preparation is of no use, and all is prepared anew: {why}",
        path.display()
    ));
    remove(path)
}

fn remove(path: &Path) -> Result<(), Failure> {
    fs::remove_file(path).and_then(|()| sync_folder(path)).map_err(|error| {
        Failure::new(
            code::OUTPUT,
            format_args!("cannot remove {}, from which a set was prepared: {error}", path.display()),
            "remove it by hand, and start the server again",
        )
    })
}

fn failed(path: &Path, error: &io::Error) -> Failure {
    Failure::new(
        code::OUTPUT,
        format_args!("what is prepared cannot be kept in {}: {error}", path.display()),
        "check the permissions, and the room on the disk for that file and the state file; then start the server again, \
         which goes on where it was",
    )
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use vesica_protocols::tasks::IntersectSenderInput;

    use super::*;
    use crate::key::{Form, Kind};
    use crate::service::prepared::Prepared;
    use crate::service::roster::Roster;
    use crate::service::set::Set;
    use crate::service::{Cmdg21, OprfBuckets, OprfPir, OprfRfc9497, TableService};

    /// Remembers what was said.
    #[derive(Default)]
    struct Said(Mutex<Vec<String>>);

    impl ServeLog for Said {
        fn stage(&self, name: &str) {
            self.0.lock().expect("no panic").push(name.into());
        }

        fn warning(&self, text: &str) {
            self.stage(text);
        }
    }

    fn description(salt: u32) -> Description {
        Description {
            version: 1,
            protocol: "oprf-rfc9497".into(),
            security: vesica_party::Security::Malicious,
            key_digest: "a digest".into(),
            key_columns: vec!["none".into()],
            key_kinds: vec![Kind { form: Form::Text, precision: None }],
            salt: format!("{salt:032x}"),
            capacity: 1024,
            items_per_query: 4,
            payload: None,
            quota: None,
            quota_left: None,
            leak_prefix: None,
            slow_hash: None,
            integer_bits: None,
        }
    }

    /// The preparation beside `state` as it goes on, and what it says.
    fn open<'a>(state: &Path, salt: u32, said: &'a Said) -> Preparation<'a> {
        let mut rng = SecretRng::from_os().expect("randomness");
        Preparation::open(state, Left::beside(state).expect("known"), &description(salt), &mut rng, said).expect("open")
    }

    fn name(part: u8) -> PartName {
        [part; 32]
    }

    /// Content of a length that differs from part to part.
    fn content(part: u8) -> Vec<u8> {
        vec![part ^ 0x55; 50 + usize::from(part)]
    }

    fn is_kept(preparation: &Preparation<'_>, part: u8) -> bool {
        let mut found = vec![0; content(part).len()];
        let is_kept = preparation.find(&name(part), &mut found);
        assert!(!is_kept || found == content(part), "other content than was kept: {part}");
        is_kept
    }

    /// A file with four parts; where each begins and the last one ends.
    fn written(state: &Path) -> (Vec<u8>, Vec<usize>) {
        let said = Said::default();
        let preparation = open(state, 1, &said);
        let mut ends = Vec::new();
        for part in 0..4 {
            preparation.keep(&name(part), &content(part)).expect("kept");
            ends.push(preparation.lock().end as usize);
        }
        let file = file_of(state);
        assert_eq!(fs::metadata(&file).expect("there").permissions().mode() & 0o7777, 0o600);
        let begin = ends[0] - PART_HEAD - content(0).len() - 16;
        ends.insert(0, begin);
        (fs::read(&file).expect("there"), ends)
    }

    fn rewrite(state: &Path, bytes: &[u8]) {
        fs::write(file_of(state), bytes).expect("written");
        fs::set_permissions(file_of(state), fs::Permissions::from_mode(0o600)).expect("allowed");
    }

    #[test]
    fn parts_come_back_under_their_own_names_until_the_end() {
        let folder = tempfile::tempdir().expect("a folder");
        let state = folder.path().join("state");
        let secret = {
            let said = Said::default();
            let first = open(&state, 1, &said);
            assert!(!is_kept(&first, 0) && !file_of(&state).exists(), "a file before there is something to keep");
            first.begun.secret.to_vec()
        };
        let (_, ends) = written(&state);
        let said = Said::default();
        let second = open(&state, 1, &said);
        assert_ne!(second.begun.secret.to_vec(), secret, "nothing was kept of the first");
        assert!((0..4).all(|part| is_kept(&second, part)) && !is_kept(&second, 4));
        second.keep(&name(4), &content(4)).expect("kept");
        second.begin("prepared", &[(name(3), 30), (name(4), 40), (name(5), 50)]);
        assert_eq!(*said.0.lock().expect("no panic"), ["going on with the preparation: 70 of 120 keys are prepared"]);
        let third = open(&state, 1, &said);
        assert!((0..5).all(|part| is_kept(&third, part)));
        assert_eq!(third.begun.secret.to_vec(), second.begun.secret.to_vec());
        assert_eq!(third.rng("a", b"b").block(), second.rng("a", b"b").block());
        let others = [third.rng("a", b"c").block(), third.rng("b", b"b").block(), third.rng("ab", b"").block()];
        assert!(!others.contains(&second.rng("a", b"b").block()));
        assert!(third.lock().end as usize > ends[4]);
        third.finish().expect("removed");
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
    }

    /// Whatever became of the file: what is found is what was kept, and the rest is prepared again.
    #[test]
    fn a_file_that_was_cut_anywhere_keeps_the_parts_before() {
        let folder = tempfile::tempdir().expect("a folder");
        let state = folder.path().join("state");
        let (whole, ends) = written(&state);
        for length in 0..whole.len() {
            rewrite(&state, &whole[..length]);
            let said = Said::default();
            let preparation = open(&state, 1, &said);
            for part in 0..4 {
                assert_eq!(is_kept(&preparation, part), ends[usize::from(part) + 1] <= length, "{part} of {length}");
            }
            // What is kept behind the cut comes back, too.
            preparation.keep(&name(9), &content(9)).expect("kept");
            let again = open(&state, 1, &said);
            assert!(is_kept(&again, 9), "{length}");
            assert_eq!(is_kept(&again, 0), ends[1] <= length);
            let anew = said.0.lock().expect("no panic").iter().filter(|text| text.contains("prepared anew")).count();
            assert_eq!(anew, usize::from(length < ends[0]), "{length}");
        }
    }

    #[test]
    fn a_file_of_which_a_byte_was_changed_gives_nothing_that_was_not_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let state = folder.path().join("state");
        let (whole, ends) = written(&state);
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 1 << (at % 8);
            rewrite(&state, &changed);
            let said = Said::default();
            let preparation = open(&state, 1, &said);
            let found: Vec<bool> = (0..4).map(|part| is_kept(&preparation, part)).collect();
            let hit = ends.iter().filter(|end| **end <= at).count();
            assert!(hit == 0 || found[..hit - 1].iter().all(|is_kept| *is_kept), "{at}: {found:?}");
            assert!(hit > 0 && !found[hit - 1] || hit == 0 && !found.contains(&true), "{at}: {found:?}");
            // What is prepared again is kept again.
            for part in (0..4).filter(|part| !found[usize::from(*part)]) {
                preparation.keep(&name(part), &content(part)).expect("kept");
            }
            let again = open(&state, 1, &said);
            assert!((0..4).all(|part| is_kept(&again, part)), "{at}");
        }
    }

    #[test]
    fn a_file_of_other_settings_another_release_or_with_others_rights_is_of_no_use() {
        let folder = tempfile::tempdir().expect("a folder");
        let state = folder.path().join("state");
        let spoil: [(&str, &dyn Fn()); 4] = [
            ("other settings", &|| ()),
            ("others can read it", &|| {
                fs::set_permissions(file_of(&state), fs::Permissions::from_mode(0o640)).expect("allowed");
            }),
            ("a preparation of release 0.0.1", &|| {
                let begun =
                    Begun { release: "0.0.1".into(), description: description(1), secret: Secret::new([7; 32]) };
                rewrite(&state, &begun.to_bytes().expect("bytes"));
            }),
            ("", &|| {
                fs::remove_file(file_of(&state)).expect("removed");
                std::os::unix::fs::symlink("elsewhere", file_of(&state)).expect("linked");
            }),
        ];
        for (why, spoil) in spoil {
            written(&state);
            spoil();
            let said = Said::default();
            let preparation = open(&state, if why == "other settings" { 2 } else { 1 }, &said);
            assert!(!is_kept(&preparation, 0) && !file_of(&state).exists(), "{why}");
            let said = said.0.lock().expect("no panic").concat();
            assert!(said.contains("prepared anew") && said.contains(why), "{said}");
        }
    }

    #[test]
    fn what_cannot_be_kept_or_removed_is_said() {
        let folder = tempfile::tempdir().expect("a folder");
        let state = folder.path().join("state");
        let said = Said::default();
        let preparation = open(&state, 1, &said);
        fs::create_dir_all(file_of(&state).join("full")).expect("a folder");
        let Err(Abort::Local { code, fault, mend }) = preparation.keep(&name(1), &content(1)) else {
            panic!("kept in a folder")
        };
        assert!(code == code::OUTPUT && fault.contains("state.preparing") && mend.contains("room"), "{fault} {mend}");
        let left = Left::beside(&state).expect("known").expect("a folder");
        let failure = left.sweep("a test", &said).expect_err("not removed");
        assert!(failure.code == code::OUTPUT && failure.fault.contains("cannot remove"), "{failure}");
    }

    /// The state to which a set comes in this preparation.
    fn prepared<S: TableService>(preparation: &Preparation<'_>, hash: u8) -> Vec<u8> {
        let leak_prefix = (S::ENTRY.id == "oprf-buckets").then_some(4);
        let security = vesica_party::Security::SemiHonest;
        let description = Description { protocol: S::ENTRY.id.into(), security, leak_prefix, ..description(1) };
        let input = IntersectSenderInput { items: vec![1 << 90, 5 << 80, 7 << 100], payloads: Vec::new() };
        let set = Set { roster: Roster::of(1, &input), input, hash: [hash; 32] };
        let mut rng = SecretRng::from_os().expect("randomness");
        let prepared = Prepared::<S>::new(description, set, Some(preparation), &mut rng).expect("prepared");
        let mut bytes = Vec::new();
        write_state(&prepared.server, &mut bytes).expect("written");
        bytes
    }

    /// A copy of the file must give nobody two sets under one key, unless updates may.
    #[test]
    fn without_updates_a_preparation_comes_to_one_state_for_a_set_and_to_another_key_for_another() {
        fn check<S: TableService>() {
            let folder = tempfile::tempdir().expect("a folder");
            let (state, said) = (folder.path().join("state"), Said::default());
            let first = prepared::<S>(&open(&state, 1, &said), 1);
            let again = open(&state, 1, &said);
            assert!(prepared::<S>(&again, 1) == first, "{}", S::ENTRY.id);
            let parts = again.lock().parts.len();
            let other = prepared::<S>(&again, 2);
            assert!(other != first && again.lock().parts.len() > parts, "{}: parts under one key", S::ENTRY.id);
        }
        check::<OprfPir>();
        check::<OprfBuckets>();
        check::<Cmdg21>();
    }

    #[test]
    fn with_updates_another_set_has_the_same_key_and_all_else_is_fresh() {
        let folder = tempfile::tempdir().expect("a folder");
        let (state, said) = (folder.path().join("state"), Said::default());
        let preparation = open(&state, 1, &said);
        let first = prepared::<OprfRfc9497>(&preparation, 1);
        let parts = preparation.lock().parts.len();
        assert!(prepared::<OprfRfc9497>(&preparation, 2) != first && preparation.lock().parts.len() == parts);
    }
}
