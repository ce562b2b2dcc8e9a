//! Opening an input: a file, standard input or a pipe; its format by option, name or first bytes.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::sync::OnceLock;
use std::time::SystemTime;

use arrow_array::RecordBatch;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, SchemaRef};

use crate::table::formats::foreign::{self, Foreign, HEAD_BYTES};
use crate::table::formats::parquet::footer::ParquetFile;
use crate::table::formats::{columnar, csv, json_lines};
use crate::table::{Counted, Format, KeptRows, Packing, Position, Scanner, Sink, Source, Stored, TableError, Wanted};

/// How to read an input, where its name does not say it.
#[derive(Clone, Debug, Default)]
pub struct InputOptions {
    /// `--format`.
    pub format: Option<Format>,
    /// `--delimiter`: an ASCII character; comma unless told, tab for `.tsv`.
    pub delimiter: Option<u8>,
}

/// Which file it is, and in which state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct State {
    device: u64,
    number: u64,
    bytes: u64,
    modified: Option<SystemTime>,
}

/// An open table. It is held open between the passes, so that both read the same file even when its
/// name is given to another.
#[derive(Debug)]
pub struct Input {
    file: File,
    path: String,
    format: Format,
    delimiter: u8,
    packing: Option<Packing>,
    /// Bytes of a line in front of the header that names the delimiter (`sep=;`).
    separator_line: usize,
    seen: State,
    schema: OnceLock<SchemaRef>,
    parquet: OnceLock<ParquetFile>,
    /// How far a pass has come, in bytes of this file and of those before it in one table.
    position: Position,
    /// Bytes of the files before it.
    before: u64,
}

impl Input {
    /// Opens `path`, or standard input for `-`. What can be read only once (standard input, a pipe)
    /// is first copied to an unnamed temporary file that only this process can open and that
    /// vanishes with it.
    pub fn open(path: &str, options: &InputOptions) -> Result<Self, TableError> {
        let failed = |source| TableError::Open { path: shown(path), source };
        let file = if path == "-" {
            spool(io::stdin().lock(), path)?
        } else {
            let file = File::open(path).map_err(failed)?;
            let kind = file.metadata().map_err(failed)?.file_type();
            if kind.is_dir() {
                return Err(failed(io::ErrorKind::IsADirectory.into()));
            }
            if kind.is_file() { file } else { spool(file, path)? }
        };
        Self::of(file, path, options)
    }

    /// Copies record batches that can be read only once, or come in another order each time, to a
    /// temporary file, as standard input is copied. For front ends: the command has no such
    /// batches. `name` is for errors.
    pub fn spool_batches(
        name: &str,
        schema: &SchemaRef,
        batches: impl IntoIterator<Item = Result<RecordBatch, ArrowError>>,
    ) -> Result<Self, TableError> {
        let failed = |error: ArrowError| match error {
            ArrowError::IoError(_, source) => not_copied(name, source),
            other => TableError::Damaged { path: name.to_owned(), format: "Arrow", reason: other.to_string() },
        };
        let mut writer = StreamWriter::try_new_buffered(temporary_file(name)?, schema).map_err(failed)?;
        batches.into_iter().try_for_each(|batch| writer.write(&batch?)).map_err(failed)?;
        let buffered = writer.into_inner().map_err(failed)?;
        let mut file = buffered.into_inner().map_err(|error| failed(error.into_error().into()))?;
        file.seek(SeekFrom::Start(0)).map_err(|error| failed(error.into()))?;
        Self::of(file, name, &InputOptions { format: Some(Format::ArrowStream), delimiter: None })
    }

    /// Reads `bytes` as a file of the name `path` would be read.
    pub(crate) fn spooled(bytes: &[u8], path: &str, options: &InputOptions) -> Result<Self, TableError> {
        Self::of(spool(bytes, path)?, path, options)
    }

    fn of(mut file: File, path: &str, options: &InputOptions) -> Result<Self, TableError> {
        let failed = |source| TableError::Open { path: shown(path), source };
        let seen = state(&file.metadata().map_err(failed)?);
        let magic = first_bytes(&mut file).map_err(failed)?;
        if let Some(foreign) = foreign::of_head(&magic) {
            return Err(foreign.error(shown(path), None));
        }
        let packing = Packing::of_magic(&magic);
        let head = match packing {
            Some(packing) => first_unpacked(&mut file, packing).map_err(failed)?,
            None => magic.clone(),
        };
        let format = Self::choose_format(path, options, (&magic, &head), packing)?;
        if format.is_text()
            && let Some(foreign) = foreign_text(path, &head, format, packing)
        {
            return Err(foreign.error(shown(path), packing));
        }
        let separator = csv::separator_line(&head).filter(|_| format == Format::Csv);
        let delimiter = match (options.delimiter, separator) {
            (Some(delimiter), _) | (None, Some((delimiter, _))) => delimiter,
            (None, None) => default_delimiter(path),
        };
        if !delimiter.is_ascii() || matches!(delimiter, b'"' | b'\r' | b'\n' | 0) {
            return Err(TableError::Option(
                "the delimiter is not a single ASCII character other than a quote or a line end".to_owned(),
                "use for example ',' ';' '|' or a tab",
            ));
        }
        Ok(Self {
            file,
            path: shown(path),
            format,
            delimiter,
            packing,
            separator_line: separator.map_or(0, |(_, bytes)| bytes),
            seen,
            schema: OnceLock::new(),
            parquet: OnceLock::new(),
            position: Position::of(seen.bytes),
            before: 0,
        })
    }

    /// The format of a file that begins with `magic`, or with `head` once it is unpacked.
    fn choose_format(
        path: &str,
        options: &InputOptions,
        (magic, head): (&[u8], &[u8]),
        packing: Option<Packing>,
    ) -> Result<Format, TableError> {
        let by_magic = Format::of_magic(magic);
        // A CSV file may begin so as well, if it says that it is one.
        let begun = begin_of_text(head).starts_with(b"{") || is_named_json(path);
        let otherwise = if begun { Format::JsonLines } else { Format::Csv };
        let named = options.format.or_else(|| Format::of_name(path)).or(by_magic).unwrap_or(otherwise);
        // Both Arrow formats go by `.arrow`; the first bytes tell them apart.
        let format = match (named, by_magic) {
            (Format::ArrowFile, Some(Format::ArrowStream)) => Format::ArrowStream,
            (Format::ArrowStream, Some(Format::ArrowFile)) => Format::ArrowFile,
            (named, _) => named,
        };
        let damaged =
            |reason: &str| TableError::Damaged { path: shown(path), format: format.name(), reason: reason.to_owned() };
        match format {
            Format::Csv | Format::JsonLines => match (by_magic, Packing::of_name(&path.to_ascii_lowercase()).1) {
                (Some(other), _) => Err(damaged(&format!("its first bytes are those of a {} file", other.name()))),
                (None, Some(named)) if packing != Some(named) => Err(damaged(&format!(
                    "its name ends in {}, and its first bytes are not those of {}",
                    named.ending(),
                    named.name()
                ))),
                (None, _) => Ok(format),
            },
            _ if packing.is_some() => {
                let name = packing.map_or("", Packing::name);
                Err(damaged(&format!("it is compressed with {name} as a whole; unpack it first")))
            }
            _ if magic.is_empty() => Err(damaged("it is empty")),
            _ if by_magic == Some(format) => Ok(format),
            _ => Err(match foreign::of_old_arrow(magic).filter(|_| format != Format::Parquet) {
                Some(foreign) => foreign.error(shown(path), None),
                None => damaged("its first bytes are those of another format"),
            }),
        }
    }

    /// The name that errors show.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The format found.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The CSV delimiter.
    pub fn delimiter(&self) -> u8 {
        self.delimiter
    }

    /// Bytes, behind a byte-order mark, of a line that names the delimiter and is not the header; 0 without one.
    pub(crate) fn separator_line(&self) -> usize {
        self.separator_line
    }

    /// How the file is compressed as a whole, if it is.
    pub fn packing(&self) -> Option<Packing> {
        self.packing
    }

    /// Length of the file (compressed, if it is), in bytes.
    pub fn len(&self) -> u64 {
        self.seen.bytes
    }

    /// Which file it is, as it was opened.
    pub(crate) fn state(&self) -> State {
        self.seen
    }

    /// How it is stored.
    pub(crate) fn stored_as(&self) -> Stored {
        Stored { format: self.format, delimiter: self.delimiter, packing: self.packing, bytes: self.len() }
    }

    /// Whether the file has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// This file as a part of a table, behind `before` bytes of other files.
    pub(crate) fn part_of(self, position: Position, before: u64) -> Self {
        Self { position, before, ..self }
    }

    /// How far the current pass over the table has come.
    pub(crate) fn pass(&self) -> Position {
        self.position.clone()
    }

    /// Says that the current pass has left behind `done` of `all` equal pieces of this file.
    pub(crate) fn passed(&self, done: u64, all: u64) {
        let bytes = u128::from(self.len()) * u128::from(done.min(all)) / u128::from(all.max(1));
        self.position.set(self.before + bytes as u64);
    }

    /// `file`, whose bytes the current pass leaves behind when it reads them.
    pub(crate) fn counted(&self, file: File) -> Counted<File> {
        Counted::new(file, self.pass(), self.before)
    }

    /// The file from its start. One reader at a time: they share a position.
    pub(crate) fn rewind(&self) -> Result<File, TableError> {
        let mut file = self.file.try_clone().map_err(|source| self.unreadable(source))?;
        if state(&file.metadata().map_err(|source| self.unreadable(source))?) != self.seen {
            return Err(TableError::Changed { path: self.path.clone() });
        }
        file.seek(SeekFrom::Start(0)).map_err(|source| self.unreadable(source))?;
        self.passed(0, 1);
        Ok(file)
    }

    /// The text of a CSV input or one of JSON lines from its start, unpacked.
    pub(crate) fn text(&self) -> Result<Box<dyn Read>, TableError> {
        let file = self.counted(self.rewind()?);
        Ok(match self.packing {
            Some(packing) => Box::new(packing.unpack(file).map_err(|source| self.unreadable(source))?),
            None => Box::new(file),
        })
    }

    /// The columns and their types, which `read` finds out the first time.
    pub(crate) fn known_schema(
        &self,
        read: impl FnOnce() -> Result<SchemaRef, TableError>,
    ) -> Result<SchemaRef, TableError> {
        if let Some(schema) = self.schema.get() {
            return Ok(schema.clone());
        }
        let schema = read()?;
        Ok(self.schema.get_or_init(|| schema).clone())
    }

    /// What is known of a Parquet input, which `read` finds out the first time.
    pub(crate) fn known_parquet(
        &self,
        read: impl FnOnce() -> Result<ParquetFile, TableError>,
    ) -> Result<&ParquetFile, TableError> {
        if let Some(known) = self.parquet.get() {
            return Ok(known);
        }
        let known = read()?;
        Ok(self.parquet.get_or_init(|| known))
    }

    pub(crate) fn unreadable(&self, source: io::Error) -> TableError {
        match source.kind() {
            io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
                self.damaged(source)
            }
            _ => TableError::Read { path: self.path.clone(), source },
        }
    }

    pub(crate) fn damaged(&self, reason: impl ToString) -> TableError {
        TableError::Damaged { path: self.path.clone(), format: self.format.name(), reason: reason.to_string() }
    }
}

impl Source for Input {
    fn name(&self) -> &str {
        self.path()
    }

    fn schema(&self) -> Result<SchemaRef, TableError> {
        self.known_schema(|| match self.format() {
            Format::Csv => csv::schema(self),
            Format::JsonLines => json_lines::schema(self),
            Format::Parquet | Format::ArrowFile | Format::ArrowStream => columnar::schema(self),
        })
    }

    fn scan(&self, wanted: &[Wanted], scanner: &mut dyn Scanner) -> Result<(), TableError> {
        match self.format() {
            Format::Csv => csv::scan(self, wanted, scanner),
            Format::JsonLines => json_lines::scan(self, wanted, scanner),
            Format::Parquet | Format::ArrowFile | Format::ArrowStream => columnar::scan(self, wanted, scanner),
        }
    }

    fn keep(&self, kept: &KeptRows<'_>, sink: &mut dyn Sink) -> Result<(), TableError> {
        match self.format() {
            Format::Csv => csv::keep(self, kept, sink),
            Format::JsonLines => json_lines::keep(self, kept, sink),
            Format::Parquet | Format::ArrowFile | Format::ArrowStream => columnar::keep(self, kept, sink),
        }
    }

    fn stored(&self) -> Option<Stored> {
        Some(self.stored_as())
    }

    fn position(&self) -> Option<Position> {
        Some(self.pass())
    }

    fn sample(&self) -> Result<RecordBatch, TableError> {
        match self.format() {
            Format::Csv | Format::JsonLines => Ok(RecordBatch::new_empty(self.schema()?)),
            Format::Parquet | Format::ArrowFile | Format::ArrowStream => columnar::sample(self),
        }
    }
}

/// What separates the fields of CSV, by the name of its file.
fn default_delimiter(path: &str) -> u8 {
    let lower = path.to_ascii_lowercase();
    let (name, _) = Packing::of_name(&lower);
    if name.ends_with(".tsv") || name.ends_with(".tab") { b'\t' } else { b',' }
}

fn shown(path: &str) -> String {
    if path == "-" { "standard input".to_owned() } else { path.to_owned() }
}

fn state(metadata: &Metadata) -> State {
    State { device: metadata.dev(), number: metadata.ino(), bytes: metadata.len(), modified: metadata.modified().ok() }
}

/// Copies what can be read only once.
fn spool(mut source: impl Read, path: &str) -> Result<File, TableError> {
    let mut file = temporary_file(path)?;
    let mut block = vec![0; 1 << 16];
    loop {
        let read = match source.read(&mut block) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(source) => return Err(TableError::Open { path: shown(path), source }),
        };
        file.write_all(block.get(..read).unwrap_or_default()).map_err(|source| not_copied(path, source))?;
    }
    file.seek(SeekFrom::Start(0)).map_err(|source| not_copied(path, source))?;
    Ok(file)
}

/// A file without a name, mode 0600, gone when closed: for a copy of `path`.
fn temporary_file(path: &str) -> Result<File, TableError> {
    tempfile::tempfile().map_err(|source| not_copied(path, source))
}

fn not_copied(path: &str, source: io::Error) -> TableError {
    TableError::Copy { path: shown(path), folder: std::env::temp_dir().display().to_string(), source }
}

fn first_bytes(file: &mut File) -> io::Result<Vec<u8>> {
    let mut first = Vec::new();
    file.take(HEAD_BYTES as u64).read_to_end(&mut first)?;
    file.seek(SeekFrom::Start(0))?;
    Ok(first)
}

/// The first bytes of the text in a packed file, as far as it can be unpacked: its reader tells why not.
fn first_unpacked(file: &mut File, packing: Packing) -> io::Result<Vec<u8>> {
    let mut first = Vec::new();
    if let Ok(text) = packing.unpack(file.try_clone()?) {
        let _ = text.take(HEAD_BYTES as u64).read_to_end(&mut first);
    }
    file.seek(SeekFrom::Start(0))?;
    Ok(first)
}

/// What a text begins with, behind a byte-order mark and blanks.
fn begin_of_text(head: &[u8]) -> &[u8] {
    head.strip_prefix(&[0xef, 0xbb, 0xbf]).unwrap_or(head).trim_ascii_start()
}

/// Whether a name says JSON: an array, or lines.
fn is_named_json(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    Packing::of_name(&lower).0.ends_with(".json")
}

/// What a text is that begins with `head`, if it is no table of its format.
fn foreign_text(path: &str, head: &[u8], format: Format, packing: Option<Packing>) -> Option<Foreign> {
    let inside = || foreign::of_head(head).or_else(|| Packing::of_magic(head).map(Foreign::packed));
    let is_json = format == Format::JsonLines || is_named_json(path);
    packing.and_then(|_| inside()).or_else(|| foreign::of_text(head, is_json))
}
