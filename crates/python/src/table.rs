//! Tables of Python in the engine.

use std::sync::Arc;

use arrow_array::{ArrayRef, NullArray, RecordBatch, RecordBatchOptions};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::PyAny;
use vesica::Failure;
use vesica::failure::code;
use vesica::table::Batches;

use crate::failure::raised;
use crate::{arrow, from_lists};

/// A table in memory. It has all columns of its owner's table by name, and the values of those that a run needs.
#[pyclass(frozen)]
pub struct Table {
    /// The table as the engine reads it.
    pub batches: Batches,
    names: Vec<String>,
}

#[pymethods]
impl Table {
    /// The columns of `stream`, an object of the Arrow PyCapsule interface (`__arrow_c_stream__` or
    /// `__arrow_c_array__`), in a table with the columns `names`, by default its own. Values are not copied. `name` is
    /// for errors.
    #[staticmethod]
    #[pyo3(signature = (name, names, stream))]
    pub fn of_arrow(
        py: Python<'_>,
        name: &str,
        names: Option<Vec<String>>,
        stream: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let reader = arrow::read(stream)?;
        let given = reader.schema();
        if let Some((column, kind)) = unknown_kind(&given) {
            let fault =
                format_args!("column {column:?} of {name} has values of the type {kind}, which no key or payload has");
            return Err(raised(py, &Failure::new(code::INPUT, fault, "cast it, for example to text")));
        }
        let names = names.unwrap_or_else(|| given.fields().iter().map(|field| field.name().clone()).collect());
        let batches = reader.collect::<Result<Vec<_>, _>>();
        let table = batches.and_then(|batches| Self::widened(name, &names, &given, &batches));
        table.map_err(|error| raised(py, &unreadable(name, &error)))
    }

    /// A table of lists, all of one length, with these names.
    #[staticmethod]
    fn of_lists(py: Python<'_>, name: &str, columns: Vec<(String, Vec<Bound<'_, PyAny>>)>) -> PyResult<Self> {
        let mut arrays = Vec::with_capacity(columns.len());
        for (column, values) in &columns {
            arrays.push((column.clone(), from_lists::array(py, column, values)?));
        }
        let fields: Vec<Field> =
            arrays.iter().map(|(column, array)| Field::new(column, array.data_type().clone(), true)).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(columns.first().map_or(0, |(_, rows)| rows.len())));
        let arrays = arrays.into_iter().map(|(_, array)| array).collect();
        let batch = RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options);
        let table = batch.and_then(|batch| Self::new(name, batch.schema(), vec![batch]));
        table.map_err(|error| raised(py, &unreadable(name, &error)))
    }

    /// The names of its columns.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.names.clone()
    }
}

impl Table {
    fn new(name: &str, schema: SchemaRef, batches: Vec<RecordBatch>) -> Result<Self, ArrowError> {
        let names = schema.fields().iter().map(|field| field.name().clone()).collect();
        let batches = Batches::new(name, schema, batches);
        Ok(Self { batches: batches.map_err(|error| ArrowError::SchemaError(error.to_string()))?, names })
    }

    /// The batches with all columns of `names`. Those that are not given have no values.
    fn widened(name: &str, names: &[String], given: &SchemaRef, batches: &[RecordBatch]) -> Result<Self, ArrowError> {
        let place = |name: &String| given.fields().iter().position(|field| field.name() == name);
        let places: Vec<Option<usize>> = names.iter().map(place).collect();
        let field = |(name, place): (&String, &Option<usize>)| match place.and_then(|place| given.fields().get(place)) {
            Some(field) => field.clone(),
            None => Arc::new(Field::new(name, DataType::Null, true)),
        };
        let schema = Arc::new(Schema::new(names.iter().zip(&places).map(field).collect::<Vec<_>>()));
        let widened = batches.iter().map(|batch| {
            let column = |place: &Option<usize>| -> ArrayRef {
                let given = place.and_then(|place| batch.columns().get(place));
                given.cloned().unwrap_or_else(|| Arc::new(NullArray::new(batch.num_rows())))
            };
            let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
            RecordBatch::try_new_with_options(schema.clone(), places.iter().map(column).collect(), &options)
        });
        let widened = widened.collect::<Result<_, _>>()?;
        Self::new(name, schema, widened)
    }
}

/// A column whose values mean more than their Arrow type says, and its name for that, such as a period of pandas: the
/// number of months would match any other number.
fn unknown_kind(schema: &Schema) -> Option<(&str, &str)> {
    let kinds = schema.fields().iter().filter_map(|field| {
        let kind = field.metadata().get("ARROW:extension:name")?;
        // Text.
        (kind != "arrow.json").then_some((field.name().as_str(), kind.as_str()))
    });
    kinds.into_iter().next()
}

fn unreadable(name: &str, error: &ArrowError) -> Failure {
    Failure::new(code::INPUT, format_args!("{name} cannot be read as Arrow: {error}"), "convert it to a pyarrow.Table")
}
