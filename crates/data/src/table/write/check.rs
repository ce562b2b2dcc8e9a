//! Refusing what an output cannot hold, before the protocol and not after it.

use std::io;

use arrow_schema::Schema;

use crate::table::formats::{self, RowsAs, text_columns};
use crate::table::{Format, Head, RowBatch, Source, TableError};

/// Refuses rows that their format cannot hold, as far as the columns and the first row say.
pub(super) fn check(source: &dyn Source, rows: RowsAs, path: &str) -> Result<(), TableError> {
    match (source.stored().map(|stored| stored.format), rows.format) {
        // Rows are copied as they stand; CSV takes the values of JSON lines as they are.
        (Some(Format::Csv | Format::JsonLines), Format::Csv) | (Some(Format::JsonLines), Format::JsonLines) => Ok(()),
        (_, Format::Csv) => text_columns::check(source, rows.format, path),
        (_, Format::JsonLines) => {
            check_names(source.schema()?.as_ref(), path)?;
            text_columns::check(source, rows.format, path)
        }
        (from, _) => {
            if from == Some(Format::Csv) {
                check_names(source.schema()?.as_ref(), path)?;
            }
            check_columns(source, rows, path)
        }
    }
}

/// Refuses a header of CSV with a name that stands there twice.
fn check_names(schema: &Schema, path: &str) -> Result<(), TableError> {
    let names: Vec<&String> = schema.fields().iter().map(|field| field.name()).collect();
    let Some(name) = names
        .iter()
        .enumerate()
        .find(|(i, name)| names.iter().take(*i).any(|before| before == *name))
        .map(|(_, name)| name)
    else {
        return Ok(());
    };
    let reason = format!("the input has several columns named `{name}`");
    Err(TableError::OutputFormat {
        path: path.to_owned(),
        reason,
        mend: "rename one of them in the file, or write CSV",
    })
}

/// Refuses columns of types that the format does not have, by writing a row to nowhere.
fn check_columns(source: &dyn Source, rows: RowsAs, path: &str) -> Result<(), TableError> {
    let sample = source.sample()?;
    let head =
        Head { format: source.stored().map(|stored| stored.format), ..Head::of(source.name(), sample.schema(), None) };
    let mut writer = formats::writer(io::sink(), rows, path, &head)?;
    if sample.num_rows() > 0 {
        writer.batch(&RowBatch { columns: &sample, payloads: &[], row_numbers: &[] })?;
    }
    writer.finish().map(drop)
}
