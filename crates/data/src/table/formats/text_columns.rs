//! Columns of record batches as text, for formats of text.

use std::fmt::Write;

use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_buffer::NullBuffer;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{ArrowError, Field};

use crate::table::extension::{Extension, TypeName};
use crate::table::formats::arrow::scalars::{Scalars, canonical_kind};
use crate::table::{Format, RowBatch, Source, TableError};

/// Refuses columns that have no text.
pub(crate) fn check(source: &dyn Source, format: Format, path: &str) -> Result<(), TableError> {
    for field in source.schema()?.fields() {
        // What is stored of another type is not what its own text would be.
        let is_other = matches!(Extension::of(field), Some(Extension::Other(_)));
        if is_other || field.data_type().is_nested() {
            let (name, found) = (field.name(), TypeName(field));
            let reason = format!("column `{name}` is of type {found}, which {} cannot hold", format.name());
            let mend = "give the output the extension .parquet or .arrow";
            return Err(TableError::OutputFormat { path: path.to_owned(), reason, mend });
        }
    }
    TextColumn::all(&source.sample()?, &FormatOptions::default(), path).map(drop)
}

/// The value in this row and column of a batch has no text.
pub(crate) fn no_text(source: &str, rows: &RowBatch<'_>, row: usize, column: usize) -> TableError {
    let column = rows.columns.schema_ref().field(column).name().clone();
    let row = rows.row_numbers.get(row).copied().unwrap_or(row as u64 + 1);
    TableError::Value { path: source.to_owned(), row, column }
}

/// A column of a batch as text: canonical where there is a canonical form, else as Arrow displays
/// it.
pub(crate) enum TextColumn<'a> {
    Text(Scalars),
    Binary(Scalars),
    Other { values: ArrayFormatter<'a>, nulls: Option<NullBuffer> },
}

impl<'a> TextColumn<'a> {
    /// Those of a batch, for the output `path`.
    ///
    /// # Errors
    /// If a column has a type that has no text.
    pub fn all(batch: &'a RecordBatch, options: &'a FormatOptions<'a>, path: &str) -> Result<Vec<Self>, TableError> {
        let columns = batch.columns().iter().zip(batch.schema_ref().fields());
        let columns: Result<_, _> = columns.map(|(array, field)| Self::new(array, field, options)).collect();
        columns.map_err(|error| TableError::unfit_result(path, error))
    }

    fn new(array: &'a ArrayRef, field: &Field, options: &'a FormatOptions<'a>) -> Result<Self, ArrowError> {
        let scalars = || Scalars::new(array, field);
        Ok(match canonical_kind(field) {
            Ok("binary") => Self::Binary(scalars()?),
            Ok(_) => Self::Text(scalars()?),
            // Nulls may be those of a dictionary's values, or of runs.
            Err(_) => {
                Self::Other { values: ArrayFormatter::try_new(array.as_ref(), options)?, nulls: array.logical_nulls() }
            }
        })
    }

    /// The text of a row, `None` for null, an error for what is out of range.
    pub fn text<'b>(&'b self, row: usize, scratch: &'b mut String) -> Result<Option<&'b str>, ()> {
        match self {
            Self::Text(scalars) => match scalars.canonical(row, scratch).map_err(|_| ())? {
                Some(bytes) => std::str::from_utf8(bytes).map(Some).map_err(|_| ()),
                None => Ok(None),
            },
            Self::Binary(scalars) => {
                let mut unused = String::new();
                let Some(bytes) = scalars.canonical(row, &mut unused).map_err(|_| ())? else { return Ok(None) };
                scratch.clear();
                hexadecimal(bytes, scratch);
                Ok(Some(scratch))
            }
            Self::Other { nulls: Some(nulls), .. } if nulls.is_null(row) => Ok(None),
            Self::Other { values, .. } => {
                scratch.clear();
                values.value(row).write(scratch).map_err(|_| ())?;
                Ok(Some(scratch))
            }
        }
    }
}

/// Appends bytes as hexadecimal digits.
pub(crate) fn hexadecimal(bytes: &[u8], out: &mut String) {
    for byte in bytes {
        // Writing to a String cannot fail.
        let _ = write!(out, "{byte:02x}");
    }
}
