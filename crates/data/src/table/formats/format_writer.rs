//! What the module of a file format implements, so that results can be written in it.

use crate::table::{Format, Packing, RowBatch, TableError, WriteStats};

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RowsAs {
    pub format: Format,
    /// How CSV or JSON lines are compressed.
    pub packing: Option<Packing>,
    /// Between fields of CSV.
    pub delimiter: u8,
}

/// Writes rows in one format to a `W`, which it gives back in the end.
pub(crate) trait FormatWriter<W>: Send {
    /// Writes a record of text as it stands: see [`crate::table::Sink::record`]. Only formats of text get records.
    fn record(&mut self, _record: &[u8], _end: usize, _payload: Option<&[u8]>) -> Result<(), TableError> {
        Err(TableError::unfit_result("a table of columns", "it takes no records of text"))
    }

    /// Writes rows.
    fn batch(&mut self, rows: &RowBatch<'_>) -> Result<(), TableError>;

    /// Writes the end.
    fn finish(self: Box<Self>) -> Result<(W, WriteStats), TableError>;
}
