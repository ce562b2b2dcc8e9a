//! What the module of a file format implements, so that files of it can be read.

use std::fmt;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use crate::table::formats::columnar::{self, BatchReader, ColumnarReader};
use crate::table::formats::opened_file::OpenedFile;
use crate::table::{KeptRows, Scanner, Sink, TableError, Wanted};

/// Reads an open file of one format. What is found out in one pass and serves the next stays in `self`.
///
/// A format whose library hands out record batches implements [`Self::schema`] and [`Self::batches`]. Any other one
/// implements all but [`Self::batches`].
pub(crate) trait FormatReader: fmt::Debug + Send + Sync {
    /// The columns and their types. Text has columns of nullable text.
    fn schema(&self, file: &OpenedFile) -> Result<SchemaRef, TableError>;

    /// All rows as record batches: their columns at these places of the schema, which ascend, or all of them.
    fn batches<'a>(
        &'a self,
        file: &'a OpenedFile,
        _places: Option<Vec<usize>>,
    ) -> Result<Box<dyn BatchReader + 'a>, TableError> {
        Err(file.damaged("it has no typed columns"))
    }

    /// See [`crate::table::Source::scan`].
    fn scan(&self, file: &OpenedFile, wanted: &[Wanted], scanner: &mut dyn Scanner) -> Result<(), TableError> {
        let places = columnar::places(wanted);
        let batches = ColumnarReader::open(file, || self.batches(file, Some(places.clone())))?;
        columnar::scan(batches, &places, wanted, scanner)
    }

    /// See [`crate::table::Source::keep`].
    fn keep(&self, file: &OpenedFile, kept: &KeptRows<'_>, sink: &mut dyn Sink) -> Result<(), TableError> {
        columnar::keep(ColumnarReader::open(file, || self.batches(file, None))?, kept, sink)
    }

    /// See [`crate::table::Source::sample`].
    fn sample(&self, file: &OpenedFile) -> Result<RecordBatch, TableError> {
        columnar::sample(ColumnarReader::open(file, || self.batches(file, None))?)
    }
}
