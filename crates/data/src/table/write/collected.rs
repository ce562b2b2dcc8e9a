//! A result in memory, as record batches.

use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use crate::table::formats::arrow::with_payload::{WithPayload, with_payload};
use crate::table::{Head, OpenSink, ResultKind, ResultTable, RowBatch, Sink, Source, TableError, WriteStats};

/// The name in errors and reports.
const NAME: &str = "the result in memory";

/// Where a session leaves its result for the program that runs it. Clones share one result.
#[derive(Clone, Debug, Default)]
pub struct Collected(Arc<Mutex<Option<Delivered>>>);

/// A result in memory.
#[derive(Clone, Debug)]
pub enum Delivered {
    /// Rows, all with these columns.
    Rows {
        /// The columns, also where there are no rows.
        schema: SchemaRef,
        /// The rows.
        batches: Vec<RecordBatch>,
    },
    /// The numbers of an aggregate, one row a group.
    Numbers(RecordBatch),
    /// A file of shares.
    Shares(Vec<u8>),
}

impl Collected {
    /// Takes the result, which is there once the session has ended well.
    pub fn take(&self) -> Option<Delivered> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Where rows are put for it, whose columns come with [`Sink::begin`].
    pub fn rows(&self) -> Box<dyn Sink> {
        Box::new(Collecting { to: self.clone(), columns: None, result: None })
    }

    fn put(&self, result: Delivered) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
    }
}

impl OpenSink for Collected {
    fn name(&self) -> String {
        NAME.to_owned()
    }

    fn open(&self, _kind: ResultKind, _source: &dyn Source) -> Result<Box<dyn Sink>, TableError> {
        Ok(self.rows())
    }
}

/// A result that is not complete.
struct Collecting {
    to: Collected,
    columns: Option<WithPayload>,
    result: Option<Delivered>,
}

impl Sink for Collecting {
    fn name(&self) -> &str {
        NAME
    }

    fn begin(&mut self, head: &Head<'_>) -> Result<(), TableError> {
        let columns = with_payload(head.schema.clone(), head.payload)?;
        self.result = Some(Delivered::Rows { schema: columns.schema.clone(), batches: Vec::new() });
        self.columns = Some(columns);
        Ok(())
    }

    fn batch(&mut self, rows: &RowBatch<'_>) -> Result<(), TableError> {
        let (Some(columns), Some(Delivered::Rows { batches, .. })) = (&self.columns, &mut self.result) else {
            return Err(TableError::unfit_result(NAME, "rows came before their columns"));
        };
        if rows.columns.num_rows() > 0 {
            batches.push(columns.batch(rows, NAME)?);
        }
        Ok(())
    }

    fn numbers(&mut self, numbers: &ResultTable<'_>) -> Result<(), TableError> {
        self.result = Some(Delivered::Numbers(numbers.batch().map_err(|error| TableError::unfit_result(NAME, error))?));
        Ok(())
    }

    fn shares(&mut self, bytes: &[u8]) -> Result<(), TableError> {
        self.result = Some(Delivered::Shares(bytes.to_vec()));
        Ok(())
    }

    fn finish(&mut self) -> Result<WriteStats, TableError> {
        let result = self.result.take().ok_or_else(|| TableError::unfit_result(NAME, "there is no result"))?;
        let stats = match &result {
            Delivered::Rows { batches, .. } => WriteStats {
                rows: batches.iter().map(|batch| batch.num_rows() as u64).sum(),
                bytes: batches.iter().map(|batch| batch.get_array_memory_size() as u64).sum(),
            },
            Delivered::Numbers(batch) => {
                WriteStats { rows: batch.num_rows() as u64, bytes: batch.get_array_memory_size() as u64 }
            }
            Delivered::Shares(bytes) => WriteStats { rows: 0, bytes: bytes.len() as u64 },
        };
        self.to.put(result);
        Ok(stats)
    }
}
