//! A place for bytes: refused or made ready before the protocol starts, and under its final name
//! only when complete.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::FallocateFlags;
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};

use crate::table::TableError;
use crate::table::write::partial::{Partial, sweep};

/// What reports and errors call standard output.
pub const STANDARD_OUTPUT: &str = "standard output";

/// Where bytes go, whatever they are: made ready before the protocol starts, and under its final
/// name only by [`Place::commit`].
#[derive(Debug)]
pub struct Place {
    target: Target,
    path: String,
    swept: Vec<String>,
}

#[derive(Debug)]
enum Target {
    /// A file that gets its name at the end.
    File {
        partial: Partial,
        name: PathBuf,
        force: bool,
    },
    /// A device or pipe, written directly.
    Special(File),
    Stdout(io::Stdout),
}

impl Write for Place {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer().write(bytes)
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.writer().write_all(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer().flush()
    }
}

impl Place {
    /// Makes `path` ready (`-` is standard output), and refuses an existing file without `force`.
    pub fn create(path: &str, force: bool) -> Result<Self, TableError> {
        match path {
            "-" => {
                Ok(Self { target: Target::Stdout(io::stdout()), path: STANDARD_OUTPUT.to_owned(), swept: Vec::new() })
            }
            _ => Self::file(path, force),
        }
    }

    /// [`Self::create`] for a name that is no sign for standard output.
    pub fn file(path: &str, force: bool) -> Result<Self, TableError> {
        let place = |target, swept| Ok(Self { target, path: path.to_owned(), swept });
        let failed = |source| TableError::Output { path: path.to_owned(), source };
        let (mut name, mut mode) = (PathBuf::from(path), None);
        if path.is_empty() || path.ends_with('/') || path.ends_with("/.") {
            return Err(failed(io::ErrorKind::IsADirectory.into()));
        }
        match fs::metadata(&name) {
            Ok(found) if found.is_dir() => return Err(failed(io::ErrorKind::IsADirectory.into())),
            Ok(found) if !found.is_file() => {
                let file = File::options().write(true).open(&name).map_err(failed)?;
                return place(Target::Special(file), Vec::new());
            }
            Ok(_) if !force => return Err(TableError::OutputExists { path: path.to_owned() }),
            Ok(found) => {
                // A link keeps pointing to its file, and a replaced file keeps its mode.
                name = fs::canonicalize(&name).map_err(failed)?;
                mode = Some(found.permissions().mode() & 0o777);
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound && name.is_symlink() => {
                let reason = "it is a link to a file that does not exist".to_owned();
                return Err(TableError::OutputFormat {
                    path: path.to_owned(),
                    reason,
                    mend: "name the file itself, or remove the link",
                });
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(error)),
        }
        let folder = name.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let partial = Partial::create(folder, mode).map_err(failed)?;
        let swept = sweep(folder);
        place(Target::File { partial, name, force }, swept)
    }

    /// What was removed from the folder because a killed run had left it there, as a notice.
    pub fn swept(&self) -> Option<String> {
        let files = self.swept.join(", ");
        (!files.is_empty()).then(|| format!("removed what a killed run had left beside {}: {files}", self.path))
    }

    /// The name that errors show.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Takes room on the disk, where the place is a file.
    pub(crate) fn reserve(&self, bytes: u64) -> Result<(), TableError> {
        match &self.target {
            Target::File { partial, .. } => reserve(partial.file(), bytes).map_err(|source| self.failed(source)),
            Target::Special(_) | Target::Stdout(_) => Ok(()),
        }
    }

    /// Where the bytes go.
    pub fn writer(&mut self) -> &mut (dyn Write + Send) {
        match &mut self.target {
            Target::File { partial, .. } => partial.file_mut(),
            Target::Special(file) => file,
            Target::Stdout(stdout) => stdout,
        }
    }

    pub(crate) fn failed(&self, source: io::Error) -> TableError {
        TableError::Output { path: self.path.clone(), source }
    }

    /// Writes everything at once, brings it to the disk and the file under its final name.
    pub fn write(mut self, bytes: &[u8]) -> Result<(), TableError> {
        self.writer().write_all(bytes).map_err(|source| self.failed(source))?;
        self.commit()
    }

    /// Brings the bytes to the disk and the file under its final name.
    pub fn commit(mut self) -> Result<(), TableError> {
        self.writer().flush().map_err(|source| self.failed(source))?;
        let Target::File { partial, name, force } = self.target else { return Ok(()) };
        partial.commit(&name, force).map_err(|source| match source.kind() {
            io::ErrorKind::AlreadyExists => TableError::OutputExists { path: self.path },
            _ => TableError::Output { path: self.path, source },
        })
    }
}

/// Takes room for a result as long as the whole input, so that a full disk or a limit on file sizes
/// shows before the protocol starts: afterwards it would depend on how many rows matched, which is
/// nothing to tell a peer. File systems that cannot reserve are left as they are.
fn reserve(file: &File, bytes: u64) -> io::Result<()> {
    // Room beyond the end of a file does not count for the limit, but its bytes will.
    if getrlimit(Resource::Fsize).current.is_some_and(|limit| bytes > limit) {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    match rustix::fs::fallocate(file, FallocateFlags::KEEP_SIZE, 0, bytes) {
        Err(Errno::NOSPC | Errno::DQUOT) => Err(io::ErrorKind::StorageFull.into()),
        Err(Errno::FBIG) => Err(io::ErrorKind::FileTooLarge.into()),
        _ => Ok(()),
    }
}
