//! Formats whose files are read as record batches, by a library.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use parquet::basic::Compression;

use crate::table::formats::arrow::columns::{WantedColumns, keep_batch};
use crate::table::formats::opened_file::OpenedFile;
use crate::table::{Head, KeptRows, Scanner, Sink, TableError, Wanted};

/// The record batches of a file, one after the other.
pub(crate) trait BatchReader {
    /// The columns read.
    fn schema(&self) -> &SchemaRef;

    /// How the first column of a Parquet file is compressed.
    fn compression(&self) -> Option<Compression> {
        None
    }

    /// The next batch. Says by [`OpenedFile::passed`] how far the pass has come.
    fn next(&mut self) -> Result<Option<RecordBatch>, TableError>;
}

/// The record batches of a file, where a panic of the library is the error that the file is damaged.
pub(crate) struct ColumnarReader<'a> {
    file: &'a OpenedFile,
    batches: Box<dyn BatchReader + 'a>,
}

impl<'a> ColumnarReader<'a> {
    /// The batches that `open` opens.
    pub fn open(
        file: &'a OpenedFile,
        open: impl FnOnce() -> Result<Box<dyn BatchReader + 'a>, TableError>,
    ) -> Result<Self, TableError> {
        Ok(Self { file, batches: guarded(file, open)? })
    }

    /// The next batch.
    pub fn next(&mut self) -> Result<Option<RecordBatch>, TableError> {
        guarded(self.file, || self.batches.next())
    }
}

/// The places of the wanted columns, ascending and each once, as readers of files take them.
pub(crate) fn places(wanted: &[Wanted]) -> Vec<usize> {
    let mut places: Vec<usize> = wanted.iter().map(|wanted| wanted.column).collect();
    places.sort_unstable();
    places.dedup();
    places
}

/// Gives the wanted cells of batches to a scanner, which have the columns at `places` of the file's schema.
pub(crate) fn scan(
    mut batches: ColumnarReader<'_>,
    places: &[usize],
    wanted: &[Wanted],
    scanner: &mut dyn Scanner,
) -> Result<(), TableError> {
    let file = batches.file;
    let in_batch =
        |wanted: &Wanted| Wanted { column: places.partition_point(|&place| place < wanted.column), ..*wanted };
    let wanted: Vec<Wanted> = wanted.iter().map(in_batch).collect();
    while let Some(batch) = batches.next()? {
        let columns = guarded(file, || WantedColumns::new(&batch, &wanted).map_err(|error| file.damaged(error)))?;
        columns.scan(scanner)?;
    }
    Ok(())
}

/// Gives the rows of batches that `kept` names to a sink.
pub(crate) fn keep(
    mut batches: ColumnarReader<'_>,
    kept: &KeptRows<'_>,
    sink: &mut dyn Sink,
) -> Result<(), TableError> {
    let file = batches.file;
    let head = Head::of(file.path(), batches.batches.schema().clone(), kept.payload_schema());
    sink.begin(&Head { format: Some(file.format()), compression: batches.batches.compression(), ..head })?;
    let mut rows = 0;
    while let Some(batch) = batches.next()? {
        keep_batch(file.path(), &batch, rows, kept, sink)?;
        rows += batch.num_rows();
    }
    Ok(())
}

/// The first row, if there is one, with all columns.
pub(crate) fn sample(mut batches: ColumnarReader<'_>) -> Result<RecordBatch, TableError> {
    let first = batches.next()?;
    Ok(first.map_or_else(
        || RecordBatch::new_empty(batches.batches.schema().clone()),
        |batch| batch.slice(0, batch.num_rows().min(1)),
    ))
}

thread_local! {
    /// Whether a panic on this thread is an answer about a damaged file, not a fault of the program.
    static EXPECTED: Cell<bool> = const { Cell::new(false) };
}

/// Runs a step of the Parquet or Arrow reader. On some damaged files these panic; that becomes the
/// error that it is. The process's panic hook is wrapped once, so that such a panic prints nothing.
pub(crate) fn guarded<T>(file: &OpenedFile, step: impl FnOnce() -> Result<T, TableError>) -> Result<T, TableError> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let others = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !EXPECTED.get() {
                others(info);
            }
        }));
    });
    EXPECTED.set(true);
    // A reader that panicked is never used again.
    let result = panic::catch_unwind(AssertUnwindSafe(step));
    EXPECTED.set(false);
    result.unwrap_or_else(|_| Err(file.damaged("its content contradicts its metadata")))
}
