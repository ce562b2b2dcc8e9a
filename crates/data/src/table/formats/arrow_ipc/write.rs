//! Writing Arrow IPC.

use std::io::Write;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_cast::can_cast_types;
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{ArrowError, DataType, FieldRef};

use crate::table::formats::FormatWriter;
use crate::table::formats::arrow::with_payload::{WithPayload, with_payload};
use crate::table::formats::counting_writer::CountingWriter;
use crate::table::{Format, Head, RowBatch, TableError, WriteStats};

/// Writes Arrow IPC, a file or a stream.
pub(crate) struct ArrowWriter<W: Write> {
    path: String,
    columns: WithPayload,
    writer: FileOrStream<CountingWriter<W>>,
    rows: u64,
}

enum FileOrStream<W: Write> {
    File(FileWriter<W>),
    Stream(StreamWriter<W>),
}

impl<W: Write> ArrowWriter<W> {
    /// Writes the head of a file. It has one dictionary for all batches of a column, which sources other than such a
    /// file need not have: there a column gets the type of its dictionary's values.
    pub fn file(writer: W, path: &str, head: &Head<'_>) -> Result<Self, TableError> {
        let columns = with_payload(head.schema.clone(), head.payload)?;
        let columns = match head.format {
            Some(Format::ArrowFile) => columns,
            _ => {
                let mend = "give the output the extension .arrows, or cast the column to another type";
                columns.written_as((Format::ArrowFile, path, mend), plain)?
            }
        };
        let writer = FileWriter::try_new(CountingWriter::new(writer), &columns.schema);
        Self::of(writer.map(FileOrStream::File), columns, path)
    }

    /// Writes the head of a stream.
    pub fn stream(writer: W, path: &str, head: &Head<'_>) -> Result<Self, TableError> {
        let columns = with_payload(head.schema.clone(), head.payload)?;
        let writer = StreamWriter::try_new(CountingWriter::new(writer), &columns.schema);
        Self::of(writer.map(FileOrStream::Stream), columns, path)
    }

    fn of(
        writer: Result<FileOrStream<CountingWriter<W>>, ArrowError>,
        columns: WithPayload,
        path: &str,
    ) -> Result<Self, TableError> {
        let writer = writer.map_err(|error| failed(path, error))?;
        Ok(Self { path: path.to_owned(), columns, writer, rows: 0 })
    }

    fn write(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        match &mut self.writer {
            FileOrStream::File(writer) => writer.write(batch),
            FileOrStream::Stream(writer) => writer.write(batch),
        }
    }
}

impl<W: Write + Send> FormatWriter<W> for ArrowWriter<W> {
    fn batch(&mut self, rows: &RowBatch<'_>) -> Result<(), TableError> {
        let batch = self.columns.batch(rows, &self.path)?;
        self.rows += batch.num_rows() as u64;
        self.write(&batch).map_err(|error| failed(&self.path, error))
    }

    fn finish(self: Box<Self>) -> Result<(W, WriteStats), TableError> {
        let Self { path, writer, rows, .. } = *self;
        let counted = match writer {
            FileOrStream::File(writer) => writer.into_inner(),
            FileOrStream::Stream(writer) => writer.into_inner(),
        };
        let (writer, bytes) = counted.map_err(|error| failed(&path, error))?.take(&path)?;
        Ok((writer, WriteStats { rows, bytes }))
    }
}

/// The column without dictionaries, if its values can be so.
fn plain(field: &FieldRef) -> Option<FieldRef> {
    let found = plain_type(field.data_type());
    can_cast_types(field.data_type(), &found).then(|| Arc::new(field.as_ref().clone().with_data_type(found)))
}

fn plain_type(found: &DataType) -> DataType {
    use DataType as T;
    let plain = |field: &FieldRef| Arc::new(field.as_ref().clone().with_data_type(plain_type(field.data_type())));
    match found {
        T::Dictionary(_, values) => plain_type(values),
        T::List(item) => T::List(plain(item)),
        T::LargeList(item) => T::LargeList(plain(item)),
        T::ListView(item) => T::ListView(plain(item)),
        T::LargeListView(item) => T::LargeListView(plain(item)),
        T::FixedSizeList(item, length) => T::FixedSizeList(plain(item), *length),
        T::Struct(fields) => T::Struct(fields.iter().map(plain).collect()),
        T::Map(entries, is_sorted) => T::Map(plain(entries), *is_sorted),
        T::RunEndEncoded(ends, values) => T::RunEndEncoded(ends.clone(), plain(values)),
        T::Union(members, mode) => {
            T::Union(members.iter().map(|(number, member)| (number, plain(member))).collect(), *mode)
        }
        other => other.clone(),
    }
}

fn failed(path: &str, error: ArrowError) -> TableError {
    match error {
        ArrowError::IoError(_, source) => TableError::Output { path: path.to_owned(), source },
        other => TableError::unfit_result(path, other),
    }
}
