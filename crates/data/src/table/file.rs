//! Files, and standard input and output, as [`Source`] and [`Sink`](crate::table::Sink).

use std::path::Path;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use crate::table::source::{OpenSource, Scanner, Source, Stored, Wanted};
use crate::table::{
    FileIdentity, Format, Input, InputOptions, KeptRows, OpenSink, Output, OutputOptions, ResultKind, Sink, TableError,
    columnar, csv,
};

/// A table file, or standard input for `-`.
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
        Ok(Box::new(Input::open(&self.path, &self.options)?))
    }

    fn file(&self) -> Option<FileIdentity> {
        match self.path.as_str() {
            "-" => FileIdentity::of_standard_input(),
            path => FileIdentity::of_path(Path::new(path)),
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
            Format::Parquet | Format::ArrowFile | Format::ArrowStream => columnar::schema(self),
        })
    }

    fn scan(&self, wanted: &[Wanted], scanner: &mut dyn Scanner) -> Result<(), TableError> {
        match self.format() {
            Format::Csv => csv::scan(self, wanted, scanner),
            Format::Parquet | Format::ArrowFile | Format::ArrowStream => columnar::scan(self, wanted, scanner),
        }
    }

    fn keep(&self, kept: &KeptRows<'_>, sink: &mut dyn Sink) -> Result<(), TableError> {
        match self.format() {
            Format::Csv => csv::keep(self, kept, sink),
            Format::Parquet | Format::ArrowFile | Format::ArrowStream => columnar::keep(self, kept, sink),
        }
    }

    fn stored(&self) -> Option<Stored> {
        Some(Stored { format: self.format(), delimiter: self.delimiter(), gzip: self.gzip(), bytes: self.len() })
    }

    fn sample(&self) -> Result<RecordBatch, TableError> {
        match self.format() {
            Format::Csv => Ok(RecordBatch::new_empty(self.schema()?)),
            Format::Parquet | Format::ArrowFile | Format::ArrowStream => columnar::sample(self),
        }
    }
}
