//! The second pass: every own row of the result, once, in input order, and for a union the new ones behind them
//! (`union`). A result goes to a file or standard output (`output`), in the format that its name says (`ending`), if
//! that can hold it (`check`), and under its final name only when complete (`place`, `partial`); or to memory
//! (`collected`).

mod check;
mod collected;
mod ending;
mod numbers;
mod output;
mod partial;
mod place;
mod union;

pub use collected::{Collected, Delivered};
pub use output::{Output, OutputOptions, SinkFile};
pub use place::{Place, STANDARD_OUTPUT};
pub use union::{NewKeys, UnionStats, write_new_keys, write_own_rows, write_union};

use crate::spill::{MergedRows, RowRuns};
use crate::table::{Join, KeptRows, KeyTable, Matches, PayloadSchema, Sink, Source, TableError, WriteStats};

/// Writes the result's rows with all their columns, and the payload's behind them, and completes
/// the result.
///
/// CSV to CSV copies each record byte by byte, and JSON lines to JSON lines each line; Parquet and
/// Arrow keep their schema. Another output format converts: columns of CSV and JSON lines are text,
/// columnar values get the text of [`crate::key`], floats their shortest exact decimal and binary
/// hexadecimal digits.
pub fn write_matches(
    source: &dyn Source,
    table: &KeyTable,
    matches: &Matches<'_>,
    join: Join,
    mut sink: impl Sink,
) -> Result<WriteStats, TableError> {
    let kept = KeptRows::new(table.row_keys(), matches, join)?;
    source.keep(&kept, &mut sink)?;
    kept.check_rows(source.name())?;
    sink.finish()
}

/// [`write_matches`] of a table whose keys are in a work folder. `matches` has the first row of each key that matched, with
/// a record of the columns `schema`, where there are some.
///
/// # Errors
/// As of [`write_matches`], and if the folder's disk fails.
pub fn write_spilled_matches(
    source: &dyn Source,
    table: &KeyTable,
    matches: &RowRuns,
    schema: Option<&PayloadSchema>,
    join: Join,
    mut sink: impl Sink,
) -> Result<WriteStats, TableError> {
    let repeated = table.spilled.as_ref().map(|keys| matches.repeated(keys.duplicates())).transpose()?;
    let mut merged = MergedRows::of([matches].into_iter().chain(&repeated))?;
    let next = move || merged.next_row().map(|row| row.map(|(row, record)| (row, record.to_vec()))).transpose();
    let kept = KeptRows::ascending(Box::new(std::iter::from_fn(next)), table.stats.rows as usize, join, schema)?;
    source.keep(&kept, &mut sink)?;
    kept.check_rows(source.name())?;
    sink.finish()
}
