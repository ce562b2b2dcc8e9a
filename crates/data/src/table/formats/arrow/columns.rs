//! The cells of a record batch for a scan, and its rows for a sink.

use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::types::Decimal128Type;
use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{ArrowError, DataType};
use arrow_select::filter::filter_record_batch;
use rayon::prelude::*;

use crate::table::formats::arrow::payload_column::PayloadColumn;
use crate::table::formats::arrow::scalars::Scalars;
use crate::table::{
    Cell, CellForm, KeptRows, PayloadKind, RowBatch, Scanner, ScannerPart, Sink, TableError, Wanted, borrowed,
};

/// Rows of a batch that are worth a thread.
const ROWS_PER_PART: usize = 2048;

/// Gives the wanted cells of a batch to a scanner, on several threads where that is worth it.
/// Columns are those of the batch.
pub fn scan_batch(
    name: &str,
    batch: &RecordBatch,
    wanted: &[Wanted],
    scanner: &mut dyn Scanner,
) -> Result<(), TableError> {
    let columns = WantedColumns::new(batch, wanted).map_err(|error| damaged(name, error))?;
    columns.scan(scanner)
}

/// The wanted columns of a batch, each in the form that is wanted.
pub(crate) struct WantedColumns {
    columns: Vec<WantedColumn>,
    rows: usize,
}

impl WantedColumns {
    pub fn new(batch: &RecordBatch, wanted: &[Wanted]) -> Result<Self, ArrowError> {
        let columns = wanted.iter().map(|wanted| WantedColumn::new(batch, *wanted)).collect::<Result<_, _>>()?;
        Ok(Self { columns, rows: batch.num_rows() })
    }

    /// The cell of the wanted column at `place`.
    pub fn cell<'a>(&'a self, place: usize, row: usize, scratch: &'a mut String) -> Cell<'a> {
        self.columns.get(place).map_or(Cell::Null, |column| column.cell(row, scratch))
    }

    pub fn scan(&self, scanner: &mut dyn Scanner) -> Result<(), TableError> {
        let most = rayon::current_num_threads().min(self.rows / ROWS_PER_PART);
        if most > 1 {
            let parts = scanner.parts(most);
            let size = self.rows.div_ceil(parts.len().max(1));
            let filled = parts.into_par_iter().enumerate().try_for_each(|(place, mut part)| {
                let start = (place * size).min(self.rows);
                self.push(start..(start + size).min(self.rows), &mut *part)
            });
            if filled.is_ok() {
                return scanner.commit();
            }
        }
        let pushed = scanner.parts(1).into_iter().try_for_each(|mut part| self.push(0..self.rows, &mut *part));
        // The rows before a faulty one come first: they may hold an earlier fault.
        scanner.commit()?;
        pushed
    }

    fn push(&self, rows: Range<usize>, part: &mut dyn ScannerPart) -> Result<(), TableError> {
        let mut scratch = String::new();
        for row in rows {
            for (place, column) in self.columns.iter().enumerate() {
                part.cell(place, column.cell(row, &mut scratch))?;
            }
            part.end_row()?;
        }
        Ok(())
    }
}

/// Gives the rows of a batch that `kept` names to a sink. `before` is the number of rows in earlier
/// batches.
pub fn keep_batch(
    name: &str,
    batch: &RecordBatch,
    before: usize,
    kept: &KeptRows<'_>,
    sink: &mut dyn Sink,
) -> Result<(), TableError> {
    let (mut mask, mut payloads, mut row_numbers) = (Vec::with_capacity(batch.num_rows()), Vec::new(), Vec::new());
    for row in before..before + batch.num_rows() {
        let payload = kept.row(row)?;
        mask.push(payload.is_some());
        if let Some(payload) = payload {
            payloads.push(payload);
            row_numbers.push(row as u64 + 1);
        }
    }
    let columns = filter_record_batch(batch, &BooleanArray::from(mask)).map_err(|error| damaged(name, error))?;
    sink.batch(&RowBatch { columns: &columns, payloads: &borrowed(&payloads), row_numbers: &row_numbers })
}

/// The error of batches that contradict themselves, of the table `name`.
pub(crate) fn damaged(name: &str, reason: impl ToString) -> TableError {
    TableError::Damaged { path: name.to_owned(), format: "Arrow", reason: reason.to_string() }
}

/// A batch's column in the form that is wanted.
enum WantedColumn {
    Key(Scalars),
    Payload(PayloadColumn),
    Number(ArrayRef),
}

impl WantedColumn {
    fn new(batch: &RecordBatch, wanted: Wanted) -> Result<Self, ArrowError> {
        let contradiction = |what: &str| ArrowError::SchemaError(what.to_owned());
        let array =
            batch.columns().get(wanted.column).ok_or_else(|| contradiction("a batch lacks a column of the schema"))?;
        let unfit = || contradiction("a batch has another type than the schema");
        let field = batch.schema_ref().field(wanted.column);
        match wanted.form {
            CellForm::Key => Scalars::new(array, field).map(Self::Key),
            CellForm::Payload => {
                PayloadColumn::of(array, &PayloadKind::of(field).ok_or_else(unfit)?).map(Self::Payload)
            }
            CellForm::Number => {
                let exact = CastOptions { safe: false, ..CastOptions::default() };
                cast_with_options(array, &number_type(array.data_type()).ok_or_else(unfit)?, &exact).map(Self::Number)
            }
        }
    }

    fn cell<'a>(&'a self, row: usize, scratch: &'a mut String) -> Cell<'a> {
        match self {
            Self::Key(scalars) => match scalars.canonical(row, scratch) {
                Ok(Some(bytes)) => Cell::Bytes(bytes),
                Ok(None) => Cell::Null,
                Err(_) => Cell::OutOfRange,
            },
            Self::Payload(column) => column.cell(row),
            Self::Number(array) if array.is_null(row) => Cell::Null,
            Self::Number(array) => match array.data_type() {
                DataType::Decimal128(_, scale) => {
                    Cell::Decimal(array.as_primitive::<Decimal128Type>().value(row), *scale)
                }
                _ => Cell::Text(array.as_string::<i64>().value(row)),
            },
        }
    }
}

/// The type by which numbers of a column are read: 128-bit decimals, or text.
pub(crate) fn number_type(found: &DataType) -> Option<DataType> {
    use DataType as T;
    Some(match found {
        T::Utf8 | T::LargeUtf8 | T::Utf8View => T::LargeUtf8,
        T::Int8 | T::Int16 | T::Int32 | T::Int64 | T::UInt8 | T::UInt16 | T::UInt32 | T::UInt64 => T::Decimal128(38, 0),
        T::Decimal32(_, scale) | T::Decimal64(_, scale) | T::Decimal128(_, scale) => T::Decimal128(38, *scale),
        T::Dictionary(_, values) if !matches!(**values, T::Dictionary(..)) => number_type(values)?,
        _ => return None,
    })
}
