//! The output file: refused or made ready before the protocol starts, and under its final name only
//! when complete.

use std::fmt;
use std::io::Write;
use std::path::Path;

use crate::table::formats::{self, FormatWriter, RowsAs};
use crate::table::write::check::check;
use crate::table::write::ending::{self, NumbersAs};
use crate::table::{
    FileIdentity, Format, Head, OpenSink, Place, ResultKind, ResultTable, RowBatch, Sink, Source, TableError,
    WriteStats,
};

/// How to write an output.
#[derive(Clone, Debug, Default)]
pub struct OutputOptions {
    /// `--force`: replace an existing file.
    pub force: bool,
    /// Format, where neither the name nor the input shall decide.
    pub format: Option<Format>,
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

/// A file for a result, or standard output. Dropping it without [`Sink::finish`] leaves nothing
/// behind.
pub struct Output {
    path: String,
    layout: Layout,
    state: State,
}

/// How the result is written.
#[derive(Clone, Copy, Debug)]
enum Layout {
    Rows(RowsAs),
    Numbers(NumbersAs),
    Shares,
}

/// How far it is.
enum State {
    /// Ready, with what was written so far.
    Placed(Place, WriteStats),
    Writing(Box<dyn FormatWriter<Place>>),
    Done,
}

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Output").field("path", &self.path).field("layout", &self.layout).finish_non_exhaustive()
    }
}

impl Output {
    /// Makes `path` ready for rows of `source` (`-` is standard output): refuses an existing file
    /// without `force`, a name with an ending that is not written, and what the format cannot
    /// hold, and creates the file, so that a missing folder or right shows now. The format is
    /// the option's, else the one of the name, else the source's.
    pub fn create(path: &str, options: &OutputOptions, source: &dyn Source) -> Result<Self, TableError> {
        Self::open(path, options, ResultKind::OwnRows, source)
    }

    /// [`Self::create`] for a result of any kind. Numbers and shares have formats of their own.
    pub fn open(
        path: &str,
        options: &OutputOptions,
        kind: ResultKind,
        source: &dyn Source,
    ) -> Result<Self, TableError> {
        let stored = source.stored();
        let layout = match kind {
            ResultKind::OwnRows | ResultKind::Union => {
                let rows = ending::of_rows(path, options.format, stored)?;
                check(source, rows, path)?;
                Layout::Rows(rows)
            }
            ResultKind::NewRows => Layout::Rows(ending::of_rows(path, options.format, None)?),
            ResultKind::Numbers => Layout::Numbers(ending::of_numbers(path)?),
            ResultKind::Shares => {
                ending::check_shares(path)?;
                Layout::Shares
            }
        };
        let place = Place::create(path, options.force)?;
        if let (ResultKind::OwnRows | ResultKind::Union, Layout::Rows(rows), Some(stored)) = (kind, layout, stored)
            && stored.format == rows.format
            && stored.packing.is_none()
            && rows.packing.is_none()
        {
            place.reserve(stored.bytes)?;
        }
        Ok(Self { path: place.path().to_owned(), layout, state: State::Placed(place, WriteStats::default()) })
    }

    /// The format in which rows will be written.
    pub fn format(&self) -> Format {
        match self.layout {
            Layout::Rows(rows) => rows.format,
            Layout::Numbers(_) | Layout::Shares => Format::Csv,
        }
    }

    /// The place, of which there is one before anything was written.
    fn take_place(&mut self) -> Result<Place, TableError> {
        match std::mem::replace(&mut self.state, State::Done) {
            State::Placed(place, _) => Ok(place),
            _ => Err(TableError::unfit_result(&self.path, "it has a result already")),
        }
    }

    /// Writes a whole result.
    fn write_whole(&mut self, bytes: &[u8], rows: u64) -> Result<(), TableError> {
        let mut place = self.take_place()?;
        place.write_all(bytes).map_err(|source| place.failed(source))?;
        self.state = State::Placed(place, WriteStats { rows, bytes: bytes.len() as u64 });
        Ok(())
    }

    fn unfit<T>(&self) -> Result<T, TableError> {
        Err(TableError::unfit_result(&self.path, "the result is not of the kind for which it was opened"))
    }
}

impl Sink for Output {
    fn name(&self) -> &str {
        &self.path
    }

    fn notice(&self) -> Option<String> {
        match &self.state {
            State::Placed(place, _) => place.swept(),
            _ => None,
        }
    }

    fn takes_records(&self, delimiter: u8) -> bool {
        matches!(self.layout, Layout::Rows(rows) if rows.format == Format::Csv && rows.delimiter == delimiter)
    }

    fn takes_lines(&self) -> bool {
        matches!(self.layout, Layout::Rows(rows) if rows.format == Format::JsonLines)
    }

    fn begin(&mut self, head: &Head<'_>) -> Result<(), TableError> {
        let Layout::Rows(rows) = self.layout else { return self.unfit() };
        let place = self.take_place()?;
        self.state = State::Writing(formats::writer(place, rows, &self.path, head)?);
        Ok(())
    }

    fn record(&mut self, record: &[u8], end: usize, payload: Option<&[u8]>) -> Result<(), TableError> {
        match (&mut self.state, self.layout) {
            (State::Writing(writer), Layout::Rows(rows)) if rows.format.is_text() => {
                writer.record(record, end, payload)
            }
            _ => self.unfit(),
        }
    }

    fn batch(&mut self, rows: &RowBatch<'_>) -> Result<(), TableError> {
        match &mut self.state {
            State::Writing(writer) => writer.batch(rows),
            State::Placed(..) | State::Done => self.unfit(),
        }
    }

    fn numbers(&mut self, numbers: &ResultTable<'_>) -> Result<(), TableError> {
        let Layout::Numbers(written) = self.layout else { return self.unfit() };
        let text = match written {
            NumbersAs::Csv => numbers.csv(),
            NumbersAs::Json => numbers.json(),
            NumbersAs::JsonLines => numbers.json_lines(),
        };
        self.write_whole(&text, numbers.results.len() as u64)
    }

    fn shares(&mut self, bytes: &[u8]) -> Result<(), TableError> {
        let Layout::Shares = self.layout else { return self.unfit() };
        self.write_whole(bytes, 0)
    }

    fn finish(&mut self) -> Result<WriteStats, TableError> {
        let (place, stats) = match std::mem::replace(&mut self.state, State::Done) {
            State::Placed(place, stats) => (place, stats),
            State::Writing(writer) => writer.finish()?,
            State::Done => return self.unfit(),
        };
        place.commit()?;
        Ok(stats)
    }
}
