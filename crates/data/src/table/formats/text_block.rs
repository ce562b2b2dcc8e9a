//! A block of an file's text, which moves on and grows as far as the longest record needs.

use std::io::{self, Read};

use crate::table::TableError;
use crate::table::formats::opened_file::OpenedFile;

/// Bytes read at once by one thread.
pub(crate) const BLOCK_BYTES: usize = 1 << 18;

/// The longest record that is read, and so the longest value, in bytes. A longer one is a sign of a
/// quote that never closes.
pub(crate) const LONGEST_VALUE: usize = 64 << 20;

/// The byte-order mark of UTF-8.
pub(crate) const BYTE_ORDER_MARK: &[u8] = &[0xef, 0xbb, 0xbf];

/// What of a text is in memory: `bytes[start..end]`, of which the reader consumes the front.
pub(crate) struct Block<'a> {
    file: &'a OpenedFile,
    source: Box<dyn Read>,
    /// At least `end` bytes.
    pub bytes: Vec<u8>,
    /// Where what is not consumed starts.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// Whether the text ends there.
    pub is_last: bool,
}

#[expect(clippy::indexing_slicing, reason = "start <= end <= bytes.len(), which readers keep")]
impl<'a> Block<'a> {
    /// Large enough for some threads. Also tells whether the text began with a byte-order mark, which
    /// is consumed.
    pub fn open(file: &'a OpenedFile, threads: usize) -> Result<(Self, bool), TableError> {
        let bytes = vec![0; BLOCK_BYTES * threads.max(1)];
        let mut block = Self { file, source: file.text()?, bytes, start: 0, end: 0, is_last: false };
        while !block.is_last && block.end < BYTE_ORDER_MARK.len() {
            block.fill(1)?;
        }
        let is_marked = block.unread().starts_with(BYTE_ORDER_MARK);
        if is_marked {
            block.start = BYTE_ORDER_MARK.len();
        }
        Ok((block, is_marked))
    }

    /// What is not consumed.
    pub fn unread(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// Reads more, behind what is not consumed.
    ///
    /// # Errors
    /// If the file cannot be read; or if what is not consumed, which starts in `line`, is as long as the
    /// longest record.
    pub fn fill(&mut self, line: u64) -> Result<(), TableError> {
        if self.start > 0 {
            self.bytes.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.end == self.bytes.len() {
            if self.end >= LONGEST_VALUE {
                return Err(TableError::LongRecord { path: self.file.path().to_owned(), line, limit: LONGEST_VALUE });
            }
            self.bytes.resize((2 * self.end).min(LONGEST_VALUE), 0);
        }
        loop {
            match self.source.read(&mut self.bytes[self.end..]) {
                Ok(0) => self.is_last = true,
                Ok(count) => self.end += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(self.file.unreadable(error)),
            }
            return Ok(());
        }
    }
}
