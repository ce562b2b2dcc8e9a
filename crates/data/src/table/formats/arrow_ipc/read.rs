//! Reading Arrow IPC.

use std::fs::File;
use std::io::BufReader;

use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::SchemaRef;

use crate::table::formats::FormatReader;
use crate::table::formats::arrow_ipc::check::{check_file, check_stream};
use crate::table::formats::columnar::{BatchReader, guarded};
use crate::table::formats::opened_file::OpenedFile;
use crate::table::{CountingReader, TableError};

/// Reads Arrow IPC files.
#[derive(Debug)]
pub(crate) struct ArrowFile;

/// Reads Arrow IPC streams.
#[derive(Debug)]
pub(crate) struct ArrowStream;

impl FormatReader for ArrowFile {
    fn schema(&self, file: &OpenedFile) -> Result<SchemaRef, TableError> {
        guarded(file, || Ok(FileBatches::open(file, None)?.schema))
    }

    fn batches<'a>(
        &'a self,
        file: &'a OpenedFile,
        places: Option<Vec<usize>>,
    ) -> Result<Box<dyn BatchReader + 'a>, TableError> {
        Ok(Box::new(FileBatches::open(file, places)?))
    }
}

struct FileBatches<'a> {
    file: &'a OpenedFile,
    reader: FileReader<BufReader<File>>,
    schema: SchemaRef,
    /// Batches that were read.
    done: u64,
}

impl<'a> FileBatches<'a> {
    fn open(file: &'a OpenedFile, places: Option<Vec<usize>>) -> Result<Self, TableError> {
        let bytes = file.rewind()?;
        check_file(file, &bytes)?;
        let reader = FileReader::try_new(BufReader::new(bytes), places).map_err(|error| file.damaged(error))?;
        let schema = reader.schema();
        Ok(Self { file, reader, schema, done: 0 })
    }
}

impl BatchReader for FileBatches<'_> {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn next(&mut self) -> Result<Option<RecordBatch>, TableError> {
        let batch = self.reader.next().transpose().map_err(|error| self.file.damaged(error))?;
        self.done += u64::from(batch.is_some());
        self.file.passed(self.done, self.reader.num_batches() as u64);
        Ok(batch)
    }
}

impl FormatReader for ArrowStream {
    fn schema(&self, file: &OpenedFile) -> Result<SchemaRef, TableError> {
        guarded(file, || {
            let bytes = file.rewind()?;
            check_stream(file, &bytes)?;
            // No pass has begun: what is read does not count as passed.
            let reader = StreamReader::try_new(BufReader::new(bytes), None).map_err(|error| file.damaged(error))?;
            Ok(reader.schema())
        })
    }

    fn batches<'a>(
        &'a self,
        file: &'a OpenedFile,
        places: Option<Vec<usize>>,
    ) -> Result<Box<dyn BatchReader + 'a>, TableError> {
        let bytes = file.rewind()?;
        check_stream(file, &bytes)?;
        let bytes = BufReader::new(file.counted(bytes));
        let reader = StreamReader::try_new(bytes, places).map_err(|error| file.damaged(error))?;
        let schema = reader.schema();
        Ok(Box::new(StreamBatches { file, reader, schema }))
    }
}

struct StreamBatches<'a> {
    file: &'a OpenedFile,
    /// The bytes that it reads count as passed.
    reader: StreamReader<BufReader<CountingReader<File>>>,
    schema: SchemaRef,
}

impl BatchReader for StreamBatches<'_> {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn next(&mut self) -> Result<Option<RecordBatch>, TableError> {
        self.reader.next().transpose().map_err(|error| self.file.damaged(error))
    }
}
