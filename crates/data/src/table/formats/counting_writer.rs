//! A writer that counts its bytes, for libraries that do not give it back in all cases.

use std::io::{self, Write};

use crate::table::TableError;

/// Counts what passes.
pub(crate) struct CountingWriter<W> {
    /// Taken out in the end.
    writer: Option<W>,
    bytes: u64,
}

impl<W> CountingWriter<W> {
    pub fn new(writer: W) -> Self {
        Self { writer: Some(writer), bytes: 0 }
    }

    /// Takes the writer out, and tells how many bytes passed; `path` is the name of the output in errors.
    pub fn take(&mut self, path: &str) -> Result<(W, u64), TableError> {
        let writer = self.writer.take().ok_or_else(|| TableError::unfit_result(path, "it was completed twice"))?;
        Ok((writer, self.bytes))
    }
}

impl<W: Write> Write for CountingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(writer) = &mut self.writer else { return Err(io::ErrorKind::BrokenPipe.into()) };
        let count = writer.write(bytes)?;
        self.bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.as_mut().map_or(Ok(()), Write::flush)
    }
}
