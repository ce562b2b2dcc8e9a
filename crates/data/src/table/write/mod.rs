//! The second pass: every own row of the result, once, in input order.

mod collected;
pub(crate) mod ending;
mod output;
mod partial;
mod place;
mod union;

pub use collected::{Collected, Delivered};
pub use output::{Output, OutputOptions, SinkFile};
pub use place::{Place, STANDARD_OUTPUT};
pub use union::{NewKeys, UnionStats, write_union};

use crate::table::formats::columns_writer as columns;
use crate::table::formats::csv::write as text;
use crate::table::write::ending::RowsAs;
use crate::table::{Format, Join, KeptRows, KeyTable, Matches, Sink, Source, TableError, WriteStats};

/// Refuses rows that `format` cannot hold, as far as the columns and the first row say: before the
/// protocol, not after it.
pub(crate) fn check(source: &dyn Source, rows: RowsAs, path: &str) -> Result<(), TableError> {
    let from = source.stored().map(|stored| stored.format);
    match rows.format {
        Format::Csv if from.is_some_and(Format::is_text) => Ok(()),
        Format::JsonLines if from == Some(Format::JsonLines) => Ok(()),
        Format::JsonLines => {
            columns::check_names(source.schema()?.as_ref(), path)?;
            text::check(source, rows.format, path)
        }
        Format::Csv => text::check(source, rows.format, path),
        format @ (Format::Parquet | Format::ArrowFile | Format::ArrowStream) => {
            if from == Some(Format::Csv) {
                columns::check_names(source.schema()?.as_ref(), path)?;
            }
            columns::check(source, format, path)
        }
    }
}

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
