//! Tables that Python gives and takes by the Arrow PyCapsule interface. No column is copied.

use arrow_array::ffi_stream::{ArrowArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow_pyarrow::FromPyArrow;
use arrow_schema::SchemaRef;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// The batches of `table`, an object with `__arrow_c_stream__` or `__arrow_c_array__`.
///
/// # Errors
/// `TypeError` for any other object, `ValueError` where it gives no table.
pub fn read(table: &Bound<'_, PyAny>) -> PyResult<Box<dyn RecordBatchReader + Send>> {
    if table.hasattr("__arrow_c_stream__")? {
        return Ok(Box::new(ArrowArrayStreamReader::from_pyarrow_bound(table)?));
    }
    if !table.hasattr("__arrow_c_array__")? {
        let kind = table.get_type().name()?;
        return Err(PyTypeError::new_err(format!("a {kind} has no __arrow_c_stream__ and no __arrow_c_array__")));
    }
    let batch = RecordBatch::from_pyarrow_bound(table)?;
    let schema = batch.schema();
    Ok(Box::new(RecordBatchIterator::new([Ok(batch)], schema)))
}

/// A table that any library of Arrow reads, by `pyarrow.table(...)`, `polars.DataFrame(...)` and their like.
#[pyclass(frozen)]
pub struct ArrowTable {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl ArrowTable {
    /// The table of these batches, which all have the columns of `schema`.
    pub fn new(schema: SchemaRef, batches: Vec<RecordBatch>) -> Self {
        Self { schema, batches }
    }
}

#[pymethods]
impl ArrowTable {
    /// The batches as a stream, in the types that they have: no other is made for `requested_schema`, which the
    /// interface leaves open.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches: Vec<_> = self.batches.iter().cloned().map(Ok).collect();
        let reader = RecordBatchIterator::new(batches, self.schema.clone());
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), c"arrow_array_stream")
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    fn __repr__(&self) -> String {
        let names: Vec<&str> = self.schema.fields().iter().map(|field| field.name().as_str()).collect();
        format!("<vesica ArrowTable of {} rows, columns: {}>", self.__len__(), names.join(", "))
    }
}
