//! State that outlives a process: written to a file and read again, with nothing taken on trust
//! from the file.
//!
//! | bytes | field |
//! |---|---|
//! | 16 | `vesica state v1` and a line feed |
//! | 1 | length of the format's name, 1 to 64 |
//! | that many | the format's name, which includes its version |
//! | 8 | length of the body |
//! | that many | the body, as its type writes it |
//! | 32 | BLAKE3 of all of the above |
//!
//! Numbers are little-endian. The hash finds damage; it is no signature, and whoever may write the
//! file may forge it. Buffers through which the body passes are wiped; what becomes of the value
//! that was read is its type's matter.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use blake3::Hasher;
use bytemuck::Pod;
use zeroize::{Zeroize, Zeroizing};

use crate::{Abort, exit_code};

const MAGIC: [u8; 16] = *b"vesica state v1\n";
const LONGEST_NAME: usize = 64;
const HASH_BYTES: usize = 32;
/// Bytes that gather before they are written, or are read ahead.
const BUFFER_BYTES: usize = 64 << 10;

/// State that can be written and read again.
pub trait State: Sized {
    /// The format's name and version, 1 to 64 bytes of ASCII, for example `denylist server 1`. A
    /// file of another format is refused: change the version whenever what is written changes.
    const FORMAT: &'static str;

    /// Writes the value. Called twice, first to learn its length: both calls must write the same.
    fn write(&self, out: &mut StateWriter<'_>) -> io::Result<()>;

    /// Reads what `write` wrote. Total: any bytes give a value or an error, never a panic. The
    /// caller checks that nothing is left over.
    fn read(bytes: &mut StateReader<'_>) -> Result<Self, StateError>;
}

/// Why state could not be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// The bytes are no state file.
    #[error("it is not a state file of this program")]
    NotAState,
    /// The file holds something else.
    #[error("it holds \"{found}\", and \"{expected}\" is expected")]
    OtherFormat {
        /// The format's name in the file.
        found: String,
        /// The name of the format that was to be read.
        expected: &'static str,
    },
    /// The file was changed or cut, or was not written to its end.
    #[error("it is damaged: {0}")]
    Damaged(&'static str),
    /// The file is longer than the caller allows.
    #[error("it has {bytes} bytes, and at most {limit} are allowed")]
    TooLong {
        /// The file's length.
        bytes: u64,
        /// The most that the caller allows.
        limit: u64,
    },
    /// Other users can read the file.
    #[error("others can read it (mode {mode:04o}), and it holds secrets")]
    Exposed {
        /// The file's permission bits.
        mode: u32,
    },
    /// The system could not read or write it.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// One of the above, of a file.
    #[error("{path}: {error}")]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        error: Box<StateError>,
    },
}

impl StateError {
    /// What to do about it.
    pub fn mend(&self) -> &'static str {
        match self {
            Self::NotAState | Self::OtherFormat { .. } => {
                "name another file, or prepare the state anew with this version"
            }
            Self::Damaged(_) => "restore the file from a copy, or prepare the state anew",
            Self::TooLong { .. } => "name another file, or allow a larger one",
            Self::Exposed { .. } => {
                "let only the owner read it (chmod 600), and prepare the state anew if others may have read it"
            }
            Self::Io(_) => "check the path, the permissions and the room on the disk",
            Self::File { error, .. } => error.mend(),
        }
    }
}

impl From<StateError> for Abort {
    fn from(error: StateError) -> Self {
        Self::Local { code: exit_code::INPUT, fault: error.to_string(), mend: error.mend().into() }
    }
}

/// Takes the fields of a state, one after the other.
pub struct StateWriter<'a> {
    /// Absent while the length is only counted.
    out: Option<&'a mut dyn Write>,
    hasher: Hasher,
    written: u64,
    buffer: Zeroizing<Vec<u8>>,
}

impl<'a> StateWriter<'a> {
    fn new(out: Option<&'a mut dyn Write>) -> Self {
        let capacity = if out.is_some() { BUFFER_BYTES } else { 0 };
        Self { out, hasher: Hasher::new(), written: 0, buffer: Zeroizing::new(Vec::with_capacity(capacity)) }
    }

    /// Writes raw bytes.
    pub fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.written += bytes.len() as u64;
        let Some(out) = &mut self.out else { return Ok(()) };
        self.hasher.update(bytes);
        if self.buffer.len() + bytes.len() > BUFFER_BYTES {
            out.write_all(&self.buffer)?;
            self.buffer.clear();
        }
        if bytes.len() > BUFFER_BYTES {
            return out.write_all(bytes);
        }
        // Never beyond its capacity, so that no copy of the bytes is left elsewhere.
        self.buffer.extend_from_slice(bytes);
        Ok(())
    }

    /// Writes a number.
    pub fn u64(&mut self, number: u64) -> io::Result<()> {
        self.bytes(&number.to_le_bytes())
    }

    /// Writes fixed-size elements, without their count.
    pub fn elements<T: Pod>(&mut self, elements: &[T]) -> io::Result<()> {
        self.bytes(bytemuck::cast_slice(elements))
    }

    /// Writes the hash of what was written; the end.
    fn seal(mut self) -> io::Result<()> {
        let hash = self.hasher.finalize();
        self.hasher.reset();
        self.bytes(hash.as_bytes())?;
        match &mut self.out {
            Some(out) => out.write_all(&self.buffer).and_then(|()| out.flush()),
            None => Ok(()),
        }
    }
}

/// Gives the fields of a state back, one after the other.
pub struct StateReader<'a> {
    source: &'a mut dyn Read,
    hasher: Hasher,
    /// Bytes before the end of the body, or of what is read as such.
    remaining: u64,
    buffer: Zeroizing<Vec<u8>>,
    /// What of the buffer was read from the source and not given back yet.
    ahead: std::ops::Range<usize>,
    /// Bytes that the source still has.
    unread: u64,
}

impl<'a> StateReader<'a> {
    fn new(source: &'a mut dyn Read, length: u64) -> Self {
        // No longer than the input: a small file costs a small buffer.
        let buffer = Zeroizing::new(vec![0; usize::try_from(length).unwrap_or(BUFFER_BYTES).clamp(1, BUFFER_BYTES)]);
        Self { source, hasher: Hasher::new(), remaining: length, buffer, ahead: 0..0, unread: length }
    }

    /// How many bytes are left.
    pub fn remaining(&self) -> u64 {
        self.remaining
    }

    /// The next bytes, as many as `out` has room for.
    pub fn fill(&mut self, out: &mut [u8]) -> Result<(), StateError> {
        self.remaining =
            self.remaining.checked_sub(out.len() as u64).ok_or(StateError::Damaged("it ends too early"))?;
        let mut rest = &mut *out;
        while !rest.is_empty() {
            if self.ahead.is_empty() {
                let wanted = self.buffer.len().min(usize::try_from(self.unread).unwrap_or(usize::MAX));
                let Some(buffer) = self.buffer.get_mut(..wanted).filter(|buffer| !buffer.is_empty()) else {
                    return Err(StateError::Damaged("it ends too early"));
                };
                self.source.read_exact(buffer).map_err(|fault| match fault.kind() {
                    io::ErrorKind::UnexpectedEof => StateError::Damaged("it ends too early"),
                    _ => fault.into(),
                })?;
                self.unread -= wanted as u64;
                self.ahead = 0..wanted;
            }
            let count = rest.len().min(self.ahead.len());
            let (head, tail) = rest.split_at_mut(count);
            if let Some(bytes) = self.buffer.get(self.ahead.start..self.ahead.start + count) {
                head.copy_from_slice(bytes);
            }
            self.ahead.start += count;
            rest = tail;
        }
        self.hasher.update(out);
        Ok(())
    }

    /// The next `N` bytes.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], StateError> {
        let mut array = [0; N];
        self.fill(&mut array)?;
        Ok(array)
    }

    /// The next number.
    pub fn u64(&mut self) -> Result<u64, StateError> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// The next number, as a count of things in memory.
    pub fn count(&mut self) -> Result<usize, StateError> {
        usize::try_from(self.u64()?).map_err(|_| StateError::Damaged("a count is too large"))
    }

    /// The next `count` elements, any bits of which are valid. Room for them is reserved only if
    /// the file is that long.
    pub fn elements<T: Pod>(&mut self, count: usize) -> Result<Vec<T>, StateError> {
        let bytes = count.checked_mul(size_of::<T>()).ok_or(StateError::Damaged("a count is too large"))?;
        if bytes as u64 > self.remaining {
            return Err(StateError::Damaged("it ends too early"));
        }
        let mut elements = vec![T::zeroed(); count];
        let filled = self.fill(bytemuck::cast_slice_mut(&mut elements));
        filled.inspect_err(|_| bytemuck::cast_slice_mut::<_, u8>(&mut elements).zeroize())?;
        Ok(elements)
    }
}

/// Writes a state with its header and hash.
pub fn write_state<S: State>(state: &S, out: &mut dyn Write) -> Result<(), StateError> {
    const { assert!(!S::FORMAT.is_empty() && S::FORMAT.len() <= LONGEST_NAME && S::FORMAT.is_ascii()) };
    let mut counter = StateWriter::new(None);
    state.write(&mut counter)?;
    let length = counter.written;
    let mut writer = StateWriter::new(Some(out));
    writer.bytes(&MAGIC)?;
    writer.bytes(&[S::FORMAT.len() as u8])?;
    writer.bytes(S::FORMAT.as_bytes())?;
    writer.u64(length)?;
    let start = writer.written;
    state.write(&mut writer)?;
    if writer.written - start != length {
        return Err(io::Error::other("the state changed while it was written").into());
    }
    Ok(writer.seal()?)
}

/// Reads what [`write_state`] wrote: all `length` bytes of `source`, at most `limit`.
pub fn read_state<S: State>(source: &mut dyn Read, length: u64, limit: u64) -> Result<S, StateError> {
    if length > limit {
        return Err(StateError::TooLong { bytes: length, limit });
    }
    let mut reader = StateReader::new(source, length);
    if reader.array().ok() != Some(MAGIC) {
        return Err(StateError::NotAState);
    }
    let [name_bytes] = reader.array()?;
    let mut name = vec![0; usize::from(name_bytes)];
    reader.fill(&mut name)?;
    if name != S::FORMAT.as_bytes() {
        let found = String::from_utf8_lossy(&name).chars().filter(|c| c.is_ascii_graphic() || *c == ' ').collect();
        return Err(StateError::OtherFormat { found, expected: S::FORMAT });
    }
    let body = reader.u64()?;
    if body.checked_add(HASH_BYTES as u64) != Some(reader.remaining) {
        return Err(StateError::Damaged("its length is not the one that its header states"));
    }
    reader.remaining = body;
    let state = S::read(&mut reader)?;
    if reader.remaining != 0 {
        return Err(StateError::Damaged("bytes are left over"));
    }
    let hash = reader.hasher.finalize();
    reader.hasher.reset();
    reader.remaining = HASH_BYTES as u64;
    if hash != blake3::Hash::from_bytes(reader.array()?) {
        return Err(StateError::Damaged("its hash differs"));
    }
    Ok(state)
}

/// Writes a state to `path`, readable by its owner only. A file that is there before is replaced at
/// once and whole, or not at all.
pub fn save<S: State>(state: &S, path: &Path) -> Result<(), StateError> {
    replace(path, |file| write_state(state, file))
        .map_err(|error| StateError::File { path: path.into(), error: Box::new(error) })
}

/// Replaces the file at `path` by what `write` writes, at once and whole, or not at all. Only the owner
/// can read it. Until then it is a file beside, whose name ends in `.new`: two processes must not
/// do this at a time.
pub fn replace<E: From<io::Error>>(path: &Path, write: impl FnOnce(&mut File) -> Result<(), E>) -> Result<(), E> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    let new = path.with_file_name(name);
    let replaced =
        write_new(&new, write).and_then(|()| Ok(fs::rename(&new, path)?)).and_then(|()| Ok(sync_folder(path)?));
    replaced.inspect_err(|_| {
        // What is left of an attempt may hold secrets; the error that led here is what counts.
        let _ = fs::remove_file(&new);
    })
}

/// Has the disk hold what the folder of `path` says of it: after a power cut, a file that was made, renamed or removed
/// could otherwise be as it was before.
///
/// # Errors
/// If the folder cannot be opened, or its disk fails.
pub fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::File::open(folder)?.sync_all()
}

fn write_new<E: From<io::Error>>(path: &Path, write: impl FnOnce(&mut File) -> Result<(), E>) -> Result<(), E> {
    // A file that an interrupted attempt has left.
    if let Err(fault) = fs::remove_file(path)
        && fault.kind() != io::ErrorKind::NotFound
    {
        return Err(fault.into());
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    write(&mut file)?;
    Ok(file.sync_all()?)
}

/// Reads a state of at most `limit` bytes from `path`, which only its owner may be able to read.
pub fn load<S: State>(path: &Path, limit: u64) -> Result<S, StateError> {
    let read = || {
        let mut file = File::open(path)?;
        let metadata = file.metadata()?;
        let mode = metadata.permissions().mode() & 0o7777;
        if mode & 0o077 != 0 {
            return Err(StateError::Exposed { mode });
        }
        read_state(&mut file, metadata.len(), limit)
    };
    read().map_err(|error| StateError::File { path: path.into(), error: Box::new(error) })
}
