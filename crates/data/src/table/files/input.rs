//! A table file, standard input or a pipe, opened.

use std::fs::File;
use std::io;

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, SchemaRef};

use crate::table::files::recognise::{InputOptions, recognise};
use crate::table::files::spool;
use crate::table::formats::columnar::ColumnarReader;
use crate::table::formats::opened_file::{FileState, OpenedFile};
use crate::table::formats::{self, FormatReader};
use crate::table::{Batches, Format, KeptRows, Position, Scanner, Sink, Source, Stored, TableError, Wanted};

/// What errors call standard input.
const STANDARD_INPUT: &str = "standard input";

/// An open table file.
#[derive(Debug)]
pub struct Input {
    file: OpenedFile,
    reader: Box<dyn FormatReader>,
}

impl Input {
    /// Opens `path`, or standard input for `-`. What can be read only once (standard input, a pipe)
    /// is first copied to an unnamed temporary file that only this process can open and that
    /// vanishes with it.
    pub fn open(path: &str, options: &InputOptions) -> Result<Self, TableError> {
        if path == "-" {
            return Self::spooled(io::stdin().lock(), STANDARD_INPUT, options);
        }
        let failed = |source| TableError::Open { path: path.to_owned(), source };
        let file = File::open(path).map_err(failed)?;
        let kind = file.metadata().map_err(failed)?.file_type();
        if kind.is_dir() {
            return Err(failed(io::ErrorKind::IsADirectory.into()));
        }
        if kind.is_file() { Self::of(file, path, options) } else { Self::spooled(file, path, options) }
    }

    /// Copies record batches that can be read only once, or come in another order each time, to a
    /// temporary file, as standard input is copied. For front ends: the command has no such
    /// batches. `name` is for errors.
    pub fn spool_batches(
        name: &str,
        schema: &SchemaRef,
        batches: impl IntoIterator<Item = Result<RecordBatch, ArrowError>>,
    ) -> Result<Self, TableError> {
        let options = InputOptions { format: Some(Format::ArrowStream), delimiter: None };
        Self::of(spool::batches(name, schema, batches)?, name, &options)
    }

    /// Reads a copy of `bytes` as a file of the name `path` would be read.
    pub(crate) fn spooled(bytes: impl io::Read, path: &str, options: &InputOptions) -> Result<Self, TableError> {
        Self::of(spool::bytes(bytes, path)?, path, options)
    }

    fn of(mut file: File, path: &str, options: &InputOptions) -> Result<Self, TableError> {
        let metadata = file.metadata().map_err(|source| TableError::Open { path: path.to_owned(), source })?;
        let seen = FileState::of(&metadata);
        let storage = recognise(&mut file, path, options)?;
        Ok(Self { file: OpenedFile::new(file, path, seen, storage), reader: formats::reader(storage.format) })
    }

    /// The file itself.
    pub(crate) fn file(&self) -> &OpenedFile {
        &self.file
    }

    /// Which file it is, as it was opened.
    pub(crate) fn state(&self) -> FileState {
        self.file.state()
    }

    /// This file as a part of a table, behind `before` bytes of other files.
    pub(crate) fn part_of(self, position: Position, before: u64) -> Self {
        Self { file: self.file.part_of(position, before), ..self }
    }

    /// All rows as record batches, if the format has these.
    pub(crate) fn batches(&self) -> Result<ColumnarReader<'_>, TableError> {
        ColumnarReader::open(&self.file, || self.reader.batches(&self.file, None))
    }
}

impl Source for Input {
    fn name(&self) -> &str {
        self.file.path()
    }

    fn schema(&self) -> Result<SchemaRef, TableError> {
        self.file.known_schema(|| self.reader.schema(&self.file))
    }

    fn scan(&self, wanted: &[Wanted], scanner: &mut dyn Scanner) -> Result<(), TableError> {
        self.reader.scan(&self.file, wanted, scanner)
    }

    fn keep(&self, kept: &KeptRows<'_>, sink: &mut dyn Sink) -> Result<(), TableError> {
        self.reader.keep(&self.file, kept, sink)
    }

    fn stored(&self) -> Option<Stored> {
        Some(self.file.stored())
    }

    fn position(&self) -> Option<Position> {
        Some(self.file.position())
    }

    fn sample(&self) -> Result<RecordBatch, TableError> {
        self.reader.sample(&self.file)
    }
}

impl Batches {
    /// The same rows in a temporary file, for what reads files alone.
    pub fn spool(&self) -> Result<Input, TableError> {
        Input::spool_batches(Source::name(self), &self.schema()?, self.batches().iter().cloned().map(Ok))
    }
}
