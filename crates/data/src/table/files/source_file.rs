//! Files, and standard input and output, as [`Source`] and [`Sink`](crate::table::Sink).

use std::path::Path;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use crate::table::files::part_names::{Named, named};
use crate::table::formats::{columnar, csv, json_lines};
use crate::table::source::{OpenSource, Scanner, Source, Stored, Wanted};
use crate::table::{
    FileIdentity, Format, Input, InputOptions, KeptRows, OpenSink, Output, OutputOptions, Parts, Position, ResultKind,
    Sink, TableError,
};

/// A table file, standard input for `-`, a folder of files, or a pattern that names files: `*` stands
/// for any text without `/` and `?` for one character, unless there is a file of that name. The
/// files of a folder or pattern are one table: they have one format and the same columns, and their
/// rows come in the order of their names. Of a folder, names that begin with a dot or `_` are left
/// out, and folders in it whose names are like `dt=2026-01-01` are gone into: their names are columns.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// Its name.
    pub path: String,
    /// How to read it.
    pub options: InputOptions,
}

impl OpenSource for SourceFile {
    fn name(&self) -> String {
        self.path.clone()
    }

    fn open(&self) -> Result<Box<dyn Source>, TableError> {
        Ok(match TableFile::open(&self.path, &self.options)? {
            TableFile::One(input) => Box::new(input),
            TableFile::Parts(parts) => Box::new(parts),
        })
    }

    fn files(&self) -> Vec<FileIdentity> {
        match (self.path.as_str(), named(&self.path)) {
            ("-", _) => FileIdentity::of_standard_input().into_iter().collect(),
            (_, Ok(Named::Parts(parts))) => {
                parts.paths.iter().filter_map(|path| FileIdentity::of_path(Path::new(path))).collect()
            }
            // An error of the name comes when the table is opened.
            (path, _) => FileIdentity::of_path(Path::new(path)).into_iter().collect(),
        }
    }
}

/// A table in one file or in several.
#[derive(Debug)]
pub enum TableFile {
    /// A file, or standard input.
    One(Input),
    /// A folder, or the files that a pattern names.
    Parts(Parts),
}

impl TableFile {
    /// Opens what `path` names, as a [`SourceFile`] does.
    pub fn open(path: &str, options: &InputOptions) -> Result<Self, TableError> {
        Ok(match named(path)? {
            Named::One => Self::One(Input::open(path, options)?),
            Named::Parts(parts) => Self::Parts(Parts::open(path, parts, options)?),
        })
    }

    /// Its rows.
    pub fn source(&self) -> &dyn Source {
        match self {
            Self::One(input) => input,
            Self::Parts(parts) => parts,
        }
    }
}

/// A file for a result, or standard output for `-`.
#[derive(Clone, Debug)]
pub struct SinkFile {
    /// Its name.
    pub path: String,
    /// How to write it. Only rows have a choice of formats.
    pub options: OutputOptions,
}

impl OpenSink for SinkFile {
    fn name(&self) -> String {
        self.path.clone()
    }

    fn open(&self, kind: ResultKind, source: &dyn Source) -> Result<Box<dyn Sink>, TableError> {
        Ok(Box::new(Output::open(&self.path, &self.options, kind, source)?))
    }

    fn file(&self) -> Option<FileIdentity> {
        match self.path.as_str() {
            "-" => FileIdentity::of_standard_output(),
            path => FileIdentity::of_path(Path::new(path)),
        }
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
