//! The table of record batches in memory.

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use crate::table::formats::arrow::columns::{damaged, keep_batch, scan_batch};
use crate::table::{Head, KeptRows, OpenSource, Scanner, Sink, Source, TableError, Wanted};

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

    /// The rows.
    pub(crate) fn batches(&self) -> &[RecordBatch] {
        &self.batches
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
