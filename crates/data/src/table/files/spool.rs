//! Copies of what can be read only once, since a table is read twice.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

use arrow_array::RecordBatch;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, SchemaRef};

use crate::table::TableError;

/// Copies bytes; errors call them `path`.
pub(super) fn bytes(mut source: impl Read, path: &str) -> Result<File, TableError> {
    let mut file = temporary_file(path)?;
    let mut block = vec![0; 1 << 16];
    loop {
        let read = match source.read(&mut block) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(source) => return Err(TableError::Open { path: path.to_owned(), source }),
        };
        file.write_all(block.get(..read).unwrap_or_default()).map_err(|source| not_copied(path, source))?;
    }
    file.seek(SeekFrom::Start(0)).map_err(|source| not_copied(path, source))?;
    Ok(file)
}

/// Copies record batches to an Arrow stream; errors call them `name`.
pub(super) fn batches(
    name: &str,
    schema: &SchemaRef,
    batches: impl IntoIterator<Item = Result<RecordBatch, ArrowError>>,
) -> Result<File, TableError> {
    let failed = |error: ArrowError| match error {
        ArrowError::IoError(_, source) => not_copied(name, source),
        other => TableError::Damaged { path: name.to_owned(), format: "Arrow", reason: other.to_string() },
    };
    let mut writer = StreamWriter::try_new_buffered(temporary_file(name)?, schema).map_err(failed)?;
    batches.into_iter().try_for_each(|batch| writer.write(&batch?)).map_err(failed)?;
    let buffered = writer.into_inner().map_err(failed)?;
    let mut file = buffered.into_inner().map_err(|error| failed(error.into_error().into()))?;
    file.seek(SeekFrom::Start(0)).map_err(|error| failed(error.into()))?;
    Ok(file)
}

/// A file without a name, mode 0600, gone when closed: for a copy of `path`.
fn temporary_file(path: &str) -> Result<File, TableError> {
    tempfile::tempfile().map_err(|source| not_copied(path, source))
}

fn not_copied(path: &str, source: io::Error) -> TableError {
    TableError::Copy { path: path.to_owned(), folder: std::env::temp_dir().display().to_string(), source }
}
