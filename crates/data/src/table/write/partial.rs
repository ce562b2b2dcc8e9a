//! A file on its way to its final name, which it gets when it is complete.
//!
//! Where the file system has `O_TMPFILE`, the file has no name until then, and whatever ends the
//! process leaves nothing behind. Elsewhere it has a temporary name beside the final one, and a
//! lock for as long as its process lives: a later run removes what a killed one left ([`sweep`]).
//! Only its owner can read it before it is complete.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD, Mode, OFlags};
use tempfile::TempPath;

/// What temporary names of outputs start and end with. Other temporary files have no lock, and
/// other names.
const PREFIX: &str = ".vesica-output-";
const SUFFIX: &str = ".partial";

/// Mode of a file that is not complete.
const PRIVATE: u32 = 0o600;
/// Mode that a program asks for, of which the system takes the user's `umask`.
const ASKED: u32 = 0o666;

/// The file. Dropping it without [`Partial::commit`] leaves nothing behind.
#[derive(Debug)]
pub(crate) struct Partial {
    file: File,
    /// The temporary name, where there must be one.
    temporary: Option<TempPath>,
    folder: PathBuf,
    /// Mode of the complete file.
    mode: u32,
}

impl Partial {
    /// A file in `folder` that will have `mode` when it is complete; what the user's `umask` leaves
    /// unless told.
    pub fn create(folder: &Path, mode: Option<u32>) -> io::Result<Self> {
        // What usually keeps a file from being made, in the words of the system alone.
        rustix::fs::access(folder, Access::WRITE_OK | Access::EXEC_OK)?;
        // What keeps a file with a name from being made, too, is the error that is told. A temporary name in it would
        // be no name that its reader knows.
        Self::unnamed(folder, mode).or_else(|_| Self::named(folder, mode)).map_err(|error| match error.get_ref() {
            Some(_) => error.kind().into(),
            None => error,
        })
    }

    fn unnamed(folder: &Path, mode: Option<u32>) -> io::Result<Self> {
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        let file = File::from(rustix::fs::open(folder, flags, Mode::from_raw_mode(ASKED))?);
        let users = mode_of(&file)?;
        file.set_permissions(Permissions::from_mode(PRIVATE))?;
        // The name is given by way of /proc.
        fs::metadata(in_proc(&file))?;
        lock(&file);
        Ok(Self { file, temporary: None, folder: folder.to_owned(), mode: mode.unwrap_or(users) })
    }

    fn named(folder: &Path, mode: Option<u32>) -> io::Result<Self> {
        let users = match mode {
            Some(mode) => mode,
            // Asked of a file that stays empty: whoever opened it could go on reading.
            None => mode_of(names().permissions(Permissions::from_mode(ASKED)).tempfile_in(folder)?.as_file())?,
        };
        loop {
            let (file, temporary) =
                names().permissions(Permissions::from_mode(PRIVATE)).tempfile_in(folder)?.into_parts();
            lock(&file);
            // Another run may have found it before it was locked, and removed it.
            if fs::symlink_metadata(&temporary).is_ok() {
                return Ok(Self { file, temporary: Some(temporary), folder: folder.to_owned(), mode: users });
            }
        }
    }

    /// The open file.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// The open file, to write to.
    pub fn file_mut(&mut self) -> &mut File {
        &mut self.file
    }

    /// Brings the bytes to the disk and the file under `name`, which is in its folder. Fails if
    /// there is such a file already, unless it is to be replaced.
    pub fn commit(self, name: &Path, replace: bool) -> io::Result<()> {
        // Gives back what was reserved and not used.
        self.file.set_len(self.file.metadata()?.len())?;
        self.file.set_permissions(Permissions::from_mode(self.mode))?;
        self.file.sync_all()?;
        match self.temporary {
            Some(temporary) if replace => temporary.persist(name).map_err(|error| error.error)?,
            Some(temporary) => temporary.persist_noclobber(name).map_err(|error| error.error)?,
            // Only a rename replaces a file at once, and only a file with a name can be renamed.
            None if replace => {
                names()
                    .make_in(&self.folder, |path| link(&self.file, path))?
                    .persist(name)
                    .map_err(|error| error.error)?;
            }
            None => link(&self.file, name)?,
        }
        // The name is durable once its folder is; a file system that cannot sync a folder has done what it
        // can.
        let _ = File::open(&self.folder).and_then(|folder| folder.sync_all());
        Ok(())
    }
}

/// Removes from `folder` what killed runs of this user left there, and gives the names.
pub(crate) fn sweep(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let left = names.filter(|name| name.starts_with(PREFIX) && name.ends_with(SUFFIX));
    left.filter(|name| remove_abandoned(&folder.join(name)).is_ok()).collect()
}

fn remove_abandoned(path: &Path) -> io::Result<()> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = File::options().read(true).write(true).custom_flags(flags.bits().cast_signed()).open(path)?;
    let found = file.metadata()?;
    if !found.is_file() || found.uid() != rustix::process::geteuid().as_raw() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    // A run that is not over holds the lock. The one taken here keeps a run that has just made the file
    // from taking it for its own.
    file.try_lock()?;
    fs::remove_file(path)
}

fn names() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX).suffix(SUFFIX);
    builder
}

fn mode_of(file: &File) -> io::Result<u32> {
    Ok(file.metadata()?.permissions().mode() & 0o777)
}

/// Where the file system has no locks, nothing is swept either.
fn lock(file: &File) {
    let _ = file.lock();
}

fn in_proc(file: &File) -> PathBuf {
    format!("/proc/self/fd/{}", file.as_raw_fd()).into()
}

/// Gives a file without a name a first one.
fn link(file: &File, name: &Path) -> io::Result<()> {
    Ok(rustix::fs::linkat(CWD, in_proc(file), CWD, name, AtFlags::SYMLINK_FOLLOW)?)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn files(folder: &Path) -> Vec<String> {
        fs::read_dir(folder)
            .expect("a folder")
            .map(|entry| entry.expect("an entry").file_name().into_string().expect("text"))
            .collect()
    }

    type Create = fn(&Path, Option<u32>) -> io::Result<Partial>;

    /// Both kinds; where the file system takes no file without a name, the second twice.
    const KINDS: [Create; 2] = [Partial::create, Partial::named];

    #[test]
    fn a_file_is_private_until_it_is_complete_and_replaces_another_only_if_told() {
        for create in KINDS {
            let folder = tempfile::tempdir().expect("a folder");
            let name = folder.path().join("out");
            let written = |content: &[u8], mode| {
                let mut partial = create(folder.path(), mode).expect("made");
                assert_eq!(mode_of(partial.file()).expect("a mode"), PRIVATE);
                partial.file_mut().write_all(content).expect("written");
                partial
            };
            // What any program gets here.
            let usual = mode_of(&File::create(folder.path().join("usual")).expect("made")).expect("a mode");
            written(b"one", None).commit(&name, false).expect("named");
            assert_eq!(mode_of(&File::open(&name).expect("there")).expect("a mode"), usual);
            let error = written(b"two", None).commit(&name, false).expect_err("it is there");
            assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
            assert_eq!(fs::read(&name).expect("there"), b"one");
            written(b"three", Some(0o640)).commit(&name, true).expect("replaced");
            assert_eq!(fs::read(&name).expect("there"), b"three");
            assert_eq!(mode_of(&File::open(&name).expect("there")).expect("a mode"), 0o640);
            drop(written(b"four", None));
            let mut left = files(folder.path());
            left.sort();
            assert_eq!(left, ["out", "usual"]);
        }
    }

    #[test]
    fn what_a_killed_run_left_is_swept_and_what_a_run_holds_is_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let held = Partial::named(folder.path(), None).expect("made");
        for name in
            [".vesica-output-abandoned.partial", ".vesica-other.partial", "mine.partial", ".vesica-output-notes.txt"]
        {
            fs::write(folder.path().join(name), "x").expect("written");
        }
        std::os::unix::fs::symlink("mine.partial", folder.path().join(".vesica-output-link.partial")).expect("linked");
        assert_eq!(sweep(folder.path()), [".vesica-output-abandoned.partial"]);
        assert_eq!(files(folder.path()).len(), 5);
        held.commit(&folder.path().join("out"), false).expect("named");
        assert_eq!(sweep(folder.path()), [""; 0]);
    }
}
