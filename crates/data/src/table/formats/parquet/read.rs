//! Reading Parquet.

use std::fs::File;
use std::sync::{Arc, OnceLock};

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, SchemaRef};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::basic::Compression;

use crate::table::TableError;
use crate::table::formats::FormatReader;
use crate::table::formats::columnar::{BatchReader, guarded};
use crate::table::formats::opened_file::OpenedFile;
use crate::table::formats::parquet::check::check_columns;
use crate::table::formats::parquet::footer::{ParquetFile, with_intervals};

/// Reads Parquet files, whose footer is read once.
#[derive(Debug, Default)]
pub(crate) struct Parquet {
    known: OnceLock<ParquetFile>,
}

impl Parquet {
    fn known(&self, file: &OpenedFile, bytes: &File) -> Result<&ParquetFile, TableError> {
        if let Some(known) = self.known.get() {
            return Ok(known);
        }
        let known = ParquetFile::open(file, bytes)?;
        Ok(self.known.get_or_init(|| known))
    }
}

impl FormatReader for Parquet {
    fn schema(&self, file: &OpenedFile) -> Result<SchemaRef, TableError> {
        guarded(file, || Ok(self.known(file, &file.rewind()?)?.schema().clone()))
    }

    fn batches<'a>(
        &'a self,
        file: &'a OpenedFile,
        places: Option<Vec<usize>>,
    ) -> Result<Box<dyn BatchReader + 'a>, TableError> {
        let bytes = file.rewind()?;
        let known = self.known(file, &bytes)?;
        let own = bytes.try_clone().map_err(|source| file.unreadable(source))?;
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(own, known.reader());
        // The reader drops the file's own metadata from its schema.
        let schema = match &places {
            Some(places) => Arc::new(known.schema().project(places).map_err(|error: ArrowError| file.damaged(error))?),
            None => known.schema().clone(),
        };
        let chosen = match places {
            Some(places) => ProjectionMask::roots(builder.parquet_schema(), places),
            None => ProjectionMask::all(),
        };
        let metadata = builder.metadata();
        let all = u64::try_from(metadata.file_metadata().num_rows()).unwrap_or(0);
        let first_column = metadata.row_groups().first().and_then(|group| group.columns().first());
        let compression = first_column.map(|column| column.compression());
        let rows = check_columns(file, &bytes, metadata, &chosen, known.compared())?;
        let builder = builder.with_projection(chosen).with_batch_size(rows);
        let reader = builder.build().map_err(|error| file.damaged(error))?;
        Ok(Box::new(ParquetBatches { file, reader, schema, compression, done: 0, all }))
    }
}

struct ParquetBatches<'a> {
    file: &'a OpenedFile,
    reader: ParquetRecordBatchReader,
    schema: SchemaRef,
    compression: Option<Compression>,
    /// Rows that were read, and all of them.
    done: u64,
    all: u64,
}

impl BatchReader for ParquetBatches<'_> {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn compression(&self) -> Option<Compression> {
        self.compression
    }

    fn next(&mut self) -> Result<Option<RecordBatch>, TableError> {
        let batch = self.reader.next().transpose();
        let batch = batch.and_then(|batch| batch.map(|batch| with_intervals(batch, &self.schema)).transpose());
        let batch = batch.map_err(|error| self.file.damaged(error))?;
        self.done += batch.as_ref().map_or(0, |batch| batch.num_rows() as u64);
        self.file.passed(self.done, self.all);
        Ok(batch)
    }
}
