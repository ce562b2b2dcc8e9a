//! Rows of text on their way to an output.

use std::io::Write;

use crate::table::packing::{Packer, Packing};
use crate::table::{TableError, WriteStats};

/// Bytes that are gathered before they are written.
const BLOCK_BYTES: usize = 1 << 18;

/// Gathers the bytes of rows, and writes them in blocks, packed if the output is.
pub(crate) struct TextRows<W: Write> {
    /// What is not written yet; rows are appended to it.
    pub block: Vec<u8>,
    /// The name that errors show.
    path: String,
    writer: Packer<W>,
    stats: WriteStats,
}

impl<W: Write> TextRows<W> {
    pub fn new(writer: W, packing: Option<Packing>, path: &str) -> Result<Self, TableError> {
        let writer =
            Packer::new(writer, packing).map_err(|source| TableError::Output { path: path.to_owned(), source })?;
        let block = Vec::with_capacity(BLOCK_BYTES + (1 << 12));
        Ok(Self { block, path: path.to_owned(), writer, stats: WriteStats::default() })
    }

    /// The name that errors show.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Ends a row.
    pub fn end_row(&mut self) -> Result<(), TableError> {
        self.stats.rows += 1;
        if self.block.len() >= BLOCK_BYTES { self.drain() } else { Ok(()) }
    }

    fn drain(&mut self) -> Result<(), TableError> {
        let written = self.writer.write_all(&self.block);
        written.map_err(|source| TableError::Output { path: self.path.clone(), source })?;
        self.stats.bytes += self.block.len() as u64;
        self.block.clear();
        Ok(())
    }

    /// Writes what is gathered, and gives the writer back.
    pub fn finish(mut self) -> Result<(W, WriteStats), TableError> {
        self.drain()?;
        let Self { path, writer, stats, .. } = self;
        let writer = writer.finish().map_err(|source| TableError::Output { path, source })?;
        Ok((writer, stats))
    }
}
