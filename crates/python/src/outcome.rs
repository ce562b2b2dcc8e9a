//! What a run leaves behind.

use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::{Schema, SchemaRef};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use vesica::table::{
    Collected, Delivered, Head, OpenSink, ResultKind, ResultTable, RowBatch, Sink, Source, TableError, WriteStats,
};

use crate::arrow::ArrowTable;
use crate::to_lists;

/// What a run gave to this side.
#[pyclass(frozen)]
pub struct Outcome {
    report: String,
    is_dry_run: bool,
    places: Vec<i64>,
    delivered: Option<Delivered>,
}

impl Outcome {
    /// What a run with this report, as JSON, left in `result`.
    pub fn new(report: String, is_dry_run: bool, result: &Placed) -> Self {
        let places = std::mem::take(&mut *result.places.lock().unwrap_or_else(PoisonError::into_inner));
        Self { report, is_dry_run, places, delivered: result.collected.take() }
    }

    /// The columns of rows or numbers from place `start` on.
    fn columns(&self, start: usize) -> PyResult<(SchemaRef, Vec<RecordBatch>)> {
        let failed = |error: arrow_schema::ArrowError| PyValueError::new_err(error.to_string());
        let (schema, batches) = match &self.delivered {
            Some(Delivered::Rows { schema, batches }) => (schema.clone(), batches.clone()),
            Some(Delivered::Numbers(batch)) => (batch.schema(), vec![batch.clone()]),
            Some(Delivered::Shares(_)) | None => (Arc::new(Schema::empty()), Vec::new()),
        };
        let schema = Arc::new(Schema::new(schema.fields().iter().skip(start).cloned().collect::<Vec<_>>()));
        let narrowed = batches.iter().map(|batch| {
            let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
            let columns = batch.columns().iter().skip(start).cloned().collect();
            RecordBatch::try_new_with_options(schema.clone(), columns, &options)
        });
        let narrowed = narrowed.collect::<Result<_, _>>().map_err(failed)?;
        Ok((schema, narrowed))
    }
}

#[pymethods]
impl Outcome {
    /// The report, as JSON.
    #[getter]
    fn report(&self) -> &str {
        &self.report
    }

    /// Whether the run was a dry one.
    #[getter]
    fn is_dry_run(&self) -> bool {
        self.is_dry_run
    }

    /// `rows`, `numbers` or `shares`; `None` if this side gets no result.
    #[getter]
    fn kind(&self) -> Option<&'static str> {
        self.delivered.as_ref().map(|delivered| match delivered {
            Delivered::Rows { .. } => "rows",
            Delivered::Numbers(_) => "numbers",
            Delivered::Shares(_) => "shares",
        })
    }

    /// How many rows of the own table there are.
    #[getter]
    fn own_rows(&self) -> usize {
        self.places.len()
    }

    /// For rows of the own table, the place of each in it, from 0. Rows behind these are the partner's.
    fn places(&self) -> &[i64] {
        &self.places
    }

    /// As `places`, as the bytes of integers of 64 bits.
    fn place_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let bytes: Vec<u8> = self.places.iter().flat_map(|place| place.to_ne_bytes()).collect();
        PyBytes::new(py, &bytes)
    }

    /// The names of the columns of rows or numbers, from place `start` on.
    fn names(&self, start: usize) -> PyResult<Vec<String>> {
        Ok(self.columns(start)?.0.fields().iter().map(|field| field.name().clone()).collect())
    }

    /// The columns of rows or numbers from place `start` on, as an object of the Arrow PyCapsule interface.
    fn table(&self, start: usize) -> PyResult<ArrowTable> {
        let (schema, batches) = self.columns(start)?;
        Ok(ArrowTable::new(schema, batches))
    }

    /// The same as lists by name.
    fn lists<'py>(&self, py: Python<'py>, start: usize) -> PyResult<Bound<'py, PyDict>> {
        let (schema, batches) = self.columns(start)?;
        let lists = PyDict::new(py);
        for (place, field) in schema.fields().iter().enumerate() {
            let all = pyo3::types::PyList::empty(py);
            for column in batches.iter().filter_map(|batch| batch.columns().get(place)) {
                all.call_method1("extend", (to_lists::list(py, column, field)?,))?;
            }
            lists.set_item(field.name(), all)?;
        }
        Ok(lists)
    }

    /// The file of shares.
    #[getter]
    fn shares<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        match &self.delivered {
            Some(Delivered::Shares(bytes)) => Some(PyBytes::new(py, bytes)),
            _ => None,
        }
    }
}

/// Where a run leaves its result, with the places of own rows in their table. Clones share one result.
#[derive(Clone, Debug, Default)]
pub struct Placed {
    collected: Collected,
    places: Arc<Mutex<Vec<i64>>>,
}

impl OpenSink for Placed {
    fn name(&self) -> String {
        self.collected.name()
    }

    fn open(&self, kind: ResultKind, source: &dyn Source) -> Result<Box<dyn Sink>, TableError> {
        Ok(Box::new(Placing { sink: self.collected.open(kind, source)?, to: self.places.clone(), places: Vec::new() }))
    }
}

/// A result that is not complete.
struct Placing {
    sink: Box<dyn Sink>,
    to: Arc<Mutex<Vec<i64>>>,
    places: Vec<i64>,
}

impl Sink for Placing {
    fn name(&self) -> &str {
        self.sink.name()
    }

    fn begin(&mut self, head: &Head<'_>) -> Result<(), TableError> {
        self.sink.begin(head)
    }

    fn batch(&mut self, rows: &RowBatch<'_>) -> Result<(), TableError> {
        self.places.extend(rows.row_numbers.iter().map(|number| *number as i64 - 1));
        self.sink.batch(rows)
    }

    fn numbers(&mut self, numbers: &ResultTable<'_>) -> Result<(), TableError> {
        self.sink.numbers(numbers)
    }

    fn shares(&mut self, bytes: &[u8]) -> Result<(), TableError> {
        self.sink.shares(bytes)
    }

    fn finish(&mut self) -> Result<WriteStats, TableError> {
        let stats = self.sink.finish()?;
        *self.to.lock().unwrap_or_else(PoisonError::into_inner) = std::mem::take(&mut self.places);
        Ok(stats)
    }
}
