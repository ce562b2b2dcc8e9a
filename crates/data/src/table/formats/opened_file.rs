//! An open table file, as the module of its format gets it.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::sync::OnceLock;
use std::time::SystemTime;

use arrow_schema::SchemaRef;

use crate::table::{CountingReader, Format, Packing, Position, Stored, TableError};

/// How a file is stored, as its name, its first bytes and the user's options say.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Storage {
    pub format: Format,
    /// Between the fields of CSV.
    pub delimiter: u8,
    /// How the file is compressed as a whole, if it is.
    pub packing: Option<Packing>,
    /// Bytes of a line in front of the header that names the delimiter (`sep=;`).
    pub separator_line: usize,
}

/// Which file it is, and in which state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileState {
    device: u64,
    number: u64,
    bytes: u64,
    modified: Option<SystemTime>,
}

impl FileState {
    pub fn of(metadata: &Metadata) -> Self {
        let (device, number, modified) = (metadata.dev(), metadata.ino(), metadata.modified().ok());
        Self { device, number, bytes: metadata.len(), modified }
    }
}

/// A table file that is held open between the passes, so that both read the same file even when its name is given to
/// another.
#[derive(Debug)]
pub(crate) struct OpenedFile {
    file: File,
    path: String,
    storage: Storage,
    seen: FileState,
    schema: OnceLock<SchemaRef>,
    /// How far a pass has come, in bytes of this file and of those before it in one table.
    position: Position,
    /// Bytes of the files before it.
    before: u64,
}

impl OpenedFile {
    /// `file`, which errors call `path`. It was in the state `seen` when it was opened.
    pub fn new(file: File, path: &str, seen: FileState, storage: Storage) -> Self {
        let (path, schema) = (path.to_owned(), OnceLock::new());
        Self { file, path, storage, seen, schema, position: Position::of(seen.bytes), before: 0 }
    }

    /// The name that errors show.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The format found.
    pub fn format(&self) -> Format {
        self.storage.format
    }

    /// The CSV delimiter.
    pub fn delimiter(&self) -> u8 {
        self.storage.delimiter
    }

    /// Bytes, behind a byte-order mark, of a line that names the delimiter and is not the header; 0 without one.
    pub fn separator_line(&self) -> usize {
        self.storage.separator_line
    }

    /// Length of the file (compressed, if it is), in bytes.
    pub fn len(&self) -> u64 {
        self.seen.bytes
    }

    /// Which file it is, as it was opened.
    pub fn state(&self) -> FileState {
        self.seen
    }

    /// How it is stored.
    pub fn stored(&self) -> Stored {
        Stored {
            format: self.storage.format,
            delimiter: self.storage.delimiter,
            packing: self.storage.packing,
            bytes: self.len(),
        }
    }

    /// This file as a part of a table, behind `before` bytes of other files.
    pub fn part_of(self, position: Position, before: u64) -> Self {
        Self { position, before, ..self }
    }

    /// How far the current pass over the table has come.
    pub fn position(&self) -> Position {
        self.position.clone()
    }

    /// Says that the current pass has left behind `done` of `all` equal pieces of this file.
    pub fn passed(&self, done: u64, all: u64) {
        let bytes = u128::from(self.len()) * u128::from(done.min(all)) / u128::from(all.max(1));
        self.position.set(self.before + bytes as u64);
    }

    /// `file`, whose bytes the current pass leaves behind when it reads them.
    pub fn counted(&self, file: File) -> CountingReader<File> {
        CountingReader::new(file, self.position(), self.before)
    }

    /// The file from its start. One reader at a time: they share a position.
    pub fn rewind(&self) -> Result<File, TableError> {
        let mut file = self.file.try_clone().map_err(|source| self.unreadable(source))?;
        if FileState::of(&file.metadata().map_err(|source| self.unreadable(source))?) != self.seen {
            return Err(TableError::Changed { path: self.path.clone() });
        }
        file.seek(SeekFrom::Start(0)).map_err(|source| self.unreadable(source))?;
        self.passed(0, 1);
        Ok(file)
    }

    /// The text of a CSV input or one of JSON lines from its start, unpacked.
    pub fn text(&self) -> Result<Box<dyn Read>, TableError> {
        let file = self.counted(self.rewind()?);
        Ok(match self.storage.packing {
            Some(packing) => Box::new(packing.unpack(file).map_err(|source| self.unreadable(source))?),
            None => Box::new(file),
        })
    }

    /// The columns and their types, which `read` finds out the first time.
    pub fn known_schema(&self, read: impl FnOnce() -> Result<SchemaRef, TableError>) -> Result<SchemaRef, TableError> {
        if let Some(schema) = self.schema.get() {
            return Ok(schema.clone());
        }
        let schema = read()?;
        Ok(self.schema.get_or_init(|| schema).clone())
    }

    /// The error of a read that failed.
    pub fn unreadable(&self, source: io::Error) -> TableError {
        match source.kind() {
            io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
                self.damaged(source)
            }
            _ => TableError::Read { path: self.path.clone(), source },
        }
    }

    /// The error of a file that is none of its format.
    pub fn damaged(&self, reason: impl ToString) -> TableError {
        TableError::Damaged { path: self.path.clone(), format: self.storage.format.name(), reason: reason.to_string() }
    }
}
