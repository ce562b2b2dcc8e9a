//! Tables of Arrow record batches: what all such sources share, and the one in memory.

use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::types::Decimal128Type;
use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{ArrowError, DataType, SchemaRef};
use arrow_select::filter::filter_record_batch;
use rayon::prelude::*;

use crate::table::formats::columnar::Scalars;
use crate::table::payload::PayloadKind;
use crate::table::read::beside::payload::PayloadColumn;
use crate::table::read::beside::values::stored_as;
use crate::table::source::{Cell, CellForm, Scanner, ScannerPart, Source, Wanted};
use crate::table::{Head, Input, KeptRows, OpenSource, RowBatch, Sink, TableError};

/// Rows of a batch that are worth a thread.
const ROWS_PER_PART: usize = 2048;

/// A table of record batches in memory.
#[derive(Clone, Debug)]
pub struct Batches {
    name: String,
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl Batches {
    /// A table under this name for errors, of batches that all have these columns.
    pub fn new(name: impl Into<String>, schema: SchemaRef, batches: Vec<RecordBatch>) -> Result<Self, TableError> {
        let name = name.into();
        if batches.iter().any(|batch| batch.schema_ref().fields() != schema.fields()) {
            return Err(damaged(&name, "its batches have different columns"));
        }
        Ok(Self { name, schema, batches })
    }

    /// The same rows in a temporary file, for what reads files alone.
    pub fn spool(&self) -> Result<Input, TableError> {
        Input::spool_batches(&self.name, &self.schema, self.batches.iter().cloned().map(Ok))
    }
}

impl OpenSource for Batches {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn open(&self) -> Result<Box<dyn Source>, TableError> {
        Ok(Box::new(self.clone()))
    }
}

impl Source for Batches {
    fn name(&self) -> &str {
        &self.name
    }

    fn schema(&self) -> Result<SchemaRef, TableError> {
        Ok(self.schema.clone())
    }

    fn scan(&self, wanted: &[Wanted], scanner: &mut dyn Scanner) -> Result<(), TableError> {
        scanner.expect_rows(self.batches.iter().map(RecordBatch::num_rows).sum());
        self.batches.iter().try_for_each(|batch| scan_batch(&self.name, batch, wanted, scanner))
    }

    fn keep(&self, kept: &KeptRows<'_>, sink: &mut dyn Sink) -> Result<(), TableError> {
        sink.begin(&Head::of(&self.name, self.schema.clone(), kept.payload_schema()))?;
        let mut rows = 0;
        for batch in &self.batches {
            keep_batch(&self.name, batch, rows, kept, sink)?;
            rows += batch.num_rows();
        }
        Ok(())
    }

    fn sample(&self) -> Result<RecordBatch, TableError> {
        let first = self.batches.iter().find(|batch| batch.num_rows() > 0);
        Ok(first.map_or_else(|| RecordBatch::new_empty(self.schema.clone()), |batch| batch.slice(0, 1)))
    }
}

/// Gives the wanted cells of a batch to a scanner, on several threads where that is worth it.
/// Columns are those of the batch.
pub fn scan_batch(
    name: &str,
    batch: &RecordBatch,
    wanted: &[Wanted],
    scanner: &mut dyn Scanner,
) -> Result<(), TableError> {
    let columns = Columns::new(batch, wanted).map_err(|error| damaged(name, error))?;
    columns.scan(scanner)
}

/// The wanted columns of a batch, each in the form that is wanted.
pub(crate) struct Columns {
    columns: Vec<Column>,
    rows: usize,
}

impl Columns {
    pub fn new(batch: &RecordBatch, wanted: &[Wanted]) -> Result<Self, ArrowError> {
        let columns = wanted.iter().map(|wanted| Column::new(batch, *wanted)).collect::<Result<_, _>>()?;
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
        let payload = kept.row(row);
        mask.push(payload.is_some());
        if let Some(payload) = payload {
            payloads.push(payload);
            row_numbers.push(row as u64 + 1);
        }
    }
    let columns = filter_record_batch(batch, &BooleanArray::from(mask)).map_err(|error| damaged(name, error))?;
    sink.batch(&RowBatch { columns: &columns, payloads: &payloads, row_numbers: &row_numbers })
}

fn damaged(name: &str, reason: impl ToString) -> TableError {
    TableError::Damaged { path: name.to_owned(), format: "Arrow", reason: reason.to_string() }
}

/// A batch's column in the form that is wanted.
enum Column {
    Key(Scalars),
    Payload(PayloadColumn),
    Number(ArrayRef),
}

impl Column {
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
                cast_with_options(array, &stored_as(array.data_type()).ok_or_else(unfit)?, &exact).map(Self::Number)
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
