//! The output file: refused or made ready before the protocol starts, and under its final name only when complete.

use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::FallocateFlags;
use rustix::io::Errno;
use tempfile::NamedTempFile;

use crate::table::{Format, Input, TableError};

/// How to write an output.
#[derive(Clone, Debug, Default)]
pub struct OutputOptions {
    /// `--force`: replace an existing file.
    pub force: bool,
    /// Format, where neither the name nor the input shall decide.
    pub format: Option<Format>,
}

/// An output table that can be written. Dropping it without [`crate::table::write_matches`] leaves nothing behind.
#[derive(Debug)]
pub struct Output {
    place: Place,
    format: Format,
    gzip: bool,
}

/// Where bytes go, whatever they are: made ready before the protocol starts, and under its final name only by [`Place::commit`].
#[derive(Debug)]
pub(crate) struct Place {
    target: Target,
    path: String,
}

#[derive(Debug)]
enum Target {
    /// Beside the final name, renamed to it at the end.
    Beside {
        temporary: NamedTempFile,
        name: PathBuf,
        force: bool,
    },
    /// A device or pipe, written directly.
    Special(File),
    Stdout(io::Stdout),
}

impl Output {
    /// Makes `path` ready (`-` is standard output): refuses an existing file without `force`, and creates the temporary file beside
    /// it, so that a missing folder or right shows now. The format is the option's, else the one of the name, else the input's.
    pub fn create(path: &str, options: &OutputOptions, input: &Input) -> Result<Self, TableError> {
        let format = options.format.or_else(|| Format::of_name(path)).unwrap_or(input.format());
        let gzip = format == Format::Csv && path.to_ascii_lowercase().ends_with(".gz");
        let place = Place::create(path, options.force)?;
        if input.format() == format && !input.gzip() && !gzip {
            place.reserve(input.len())?;
        }
        Ok(Self { place, format, gzip })
    }

    /// The name that errors show.
    pub fn path(&self) -> &str {
        &self.place.path
    }

    /// The format that will be written.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Whether the CSV is compressed.
    pub(crate) fn gzip(&self) -> bool {
        self.gzip
    }

    /// Where the bytes go.
    pub(crate) fn writer(&mut self) -> &mut (dyn Write + Send) {
        self.place.writer()
    }

    /// Brings the bytes to the disk and the file under its final name.
    pub(crate) fn commit(self) -> Result<(), TableError> {
        self.place.commit()
    }
}

impl Place {
    /// Makes `path` ready (`-` is standard output), and refuses an existing file without `force`.
    pub fn create(path: &str, force: bool) -> Result<Self, TableError> {
        if path == "-" {
            return Ok(Self { target: Target::Stdout(io::stdout()), path: "standard output".to_owned() });
        }
        let failed = |source| TableError::Output { path: path.to_owned(), source };
        let (mut name, mut mode) = (PathBuf::from(path), 0o666);
        match fs::metadata(&name) {
            Ok(found) if found.is_dir() => return Err(failed(io::ErrorKind::IsADirectory.into())),
            Ok(found) if !found.is_file() => {
                let file = File::options().write(true).open(&name).map_err(failed)?;
                return Ok(Self { target: Target::Special(file), path: path.to_owned() });
            }
            Ok(_) if !force => return Err(TableError::OutputExists { path: path.to_owned() }),
            Ok(found) => {
                // A link keeps pointing to its file, and a replaced file keeps its mode.
                name = fs::canonicalize(&name).map_err(failed)?;
                mode = found.permissions().mode() & 0o777;
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(error)),
        }
        let folder = name.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let temporary = tempfile::Builder::new()
            .prefix(".vesica-")
            .suffix(".partial")
            .permissions(Permissions::from_mode(mode))
            .tempfile_in(folder)
            .map_err(failed)?;
        Ok(Self { target: Target::Beside { temporary, name, force }, path: path.to_owned() })
    }

    /// The name that errors show.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Takes room on the disk, where the place is a file.
    fn reserve(&self, bytes: u64) -> Result<(), TableError> {
        match &self.target {
            Target::Beside { temporary, .. } => reserve(temporary.as_file(), bytes).map_err(|source| self.failed(source)),
            Target::Special(_) | Target::Stdout(_) => Ok(()),
        }
    }

    /// Where the bytes go.
    pub fn writer(&mut self) -> &mut (dyn Write + Send) {
        match &mut self.target {
            Target::Beside { temporary, .. } => temporary.as_file_mut(),
            Target::Special(file) => file,
            Target::Stdout(stdout) => stdout,
        }
    }

    fn failed(&self, source: io::Error) -> TableError {
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
        let failed = |source| TableError::Output { path: self.path.clone(), source };
        let Target::Beside { temporary, name, force } = self.target else { return Ok(()) };
        let file = temporary.as_file();
        // Gives back what was reserved and not used.
        file.metadata().and_then(|found| file.set_len(found.len())).map_err(failed)?;
        file.sync_all().map_err(failed)?;
        let kept = if force { temporary.persist(&name) } else { temporary.persist_noclobber(&name) };
        kept.map_err(|error| match error.error.kind() {
            io::ErrorKind::AlreadyExists => TableError::OutputExists { path: self.path.clone() },
            _ => failed(error.error),
        })?;
        // The name is durable once its folder is; a file system that cannot sync a folder has done what it can.
        let folder = name.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
        Ok(())
    }
}

/// Takes room for a result as long as the whole input, so that a full disk shows before the protocol starts: afterwards it would depend on how
/// many rows matched, which is nothing to tell a peer. File systems that cannot reserve are left as they are.
fn reserve(file: &File, bytes: u64) -> io::Result<()> {
    match rustix::fs::fallocate(file, FallocateFlags::KEEP_SIZE, 0, bytes) {
        Err(Errno::NOSPC | Errno::DQUOT | Errno::FBIG) => Err(io::ErrorKind::StorageFull.into()),
        _ => Ok(()),
    }
}
