//! Lengths in Arrow IPC files, checked against the file before the Arrow reader trusts them: it allocates what a length says, and
//! a failed allocation ends the process.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use arrow::ipc::{MessageHeader, RecordBatch, root_as_footer, root_as_message};

use crate::table::{Format, Input, TableError};

/// More than any batch of a sound file unpacks to.
const LARGEST_BUFFER: u64 = 1 << 32;

/// No codec of the format packs better than this: Zstandard's densest blocks hold 128 KiB in 4 bytes.
const BEST_RATIO: u64 = 1 << 15;

/// Refuses an Arrow input with lengths that its bytes cannot hold.
pub(crate) fn check(input: &Input, file: &File) -> Result<(), TableError> {
    let bytes = Bytes { file, len: input.len() };
    let found = match input.format() {
        Format::ArrowFile => bytes.check_file(),
        _ => bytes.check_stream(),
    };
    found.map_err(|fault| match fault {
        Fault::Read(source) => input.unreadable(source),
        Fault::Length => input.damaged("it is cut off, or a length in it is wrong"),
    })
}

enum Fault {
    Read(io::Error),
    Length,
}

struct Bytes<'a> {
    file: &'a File,
    len: u64,
}

impl Bytes<'_> {
    /// `count` bytes at `at`, which must lie inside of the file.
    fn read(&self, at: u64, count: u64) -> Result<Vec<u8>, Fault> {
        self.inside(at, count)?;
        let mut bytes = vec![0; usize::try_from(count).map_err(|_| Fault::Length)?];
        self.file.read_exact_at(&mut bytes, at).map_err(Fault::Read)?;
        Ok(bytes)
    }

    fn number<const N: usize>(&self, at: u64) -> Result<[u8; N], Fault> {
        self.read(at, N as u64)?.try_into().map_err(|_| Fault::Length)
    }

    fn inside(&self, at: u64, count: u64) -> Result<(), Fault> {
        if at.checked_add(count).is_some_and(|end| end <= self.len) { Ok(()) } else { Err(Fault::Length) }
    }

    /// The footer at the end names the blocks: `.. footer, its length as i32, "ARROW1"`.
    fn check_file(&self) -> Result<(), Fault> {
        let end = self.len.checked_sub(10).ok_or(Fault::Length)?;
        let length = u64::from(u32::from_le_bytes(self.number(end)?));
        let footer = self.read(end.checked_sub(length).ok_or(Fault::Length)?, length)?;
        let footer = root_as_footer(&footer).map_err(|_| Fault::Length)?;
        for block in footer.dictionaries().into_iter().flatten().chain(footer.recordBatches().into_iter().flatten()) {
            let number = |n: i64| u64::try_from(n).map_err(|_| Fault::Length);
            let (at, metadata, body) = (number(block.offset())?, number(block.metaDataLength().into())?, number(block.bodyLength())?);
            self.inside(at, metadata.checked_add(body).ok_or(Fault::Length)?)?;
            self.check_message(at)?;
        }
        Ok(())
    }

    /// Messages one behind the other, up to a length of zero or the end.
    fn check_stream(&self) -> Result<(), Fault> {
        let mut at = 0;
        while at < self.len {
            match self.check_message(at)? {
                Some(next) => at = next,
                None => break,
            }
        }
        Ok(())
    }

    /// A message: `0xffffffff` (absent before format 0.15), the length of its metadata as i32, metadata, body. Where the next one starts,
    /// or `None` at the end mark.
    fn check_message(&self, at: u64) -> Result<Option<u64>, Fault> {
        let mut prefix = 4;
        let mut length = u32::from_le_bytes(self.number(at)?);
        if length == u32::MAX {
            prefix = 8;
            length = u32::from_le_bytes(self.number(at + 4)?);
        }
        if length == 0 {
            return Ok(None);
        }
        let body_at = at + prefix + u64::from(length);
        let metadata = self.read(at + prefix, u64::from(length))?;
        let message = root_as_message(&metadata).map_err(|_| Fault::Length)?;
        let body = u64::try_from(message.bodyLength()).map_err(|_| Fault::Length)?;
        self.inside(body_at, body)?;
        let batch = match message.header_type() {
            MessageHeader::RecordBatch => message.header_as_record_batch(),
            MessageHeader::DictionaryBatch => message.header_as_dictionary_batch().and_then(|dictionary| dictionary.data()),
            _ => None,
        };
        if let Some(batch) = batch {
            self.check_buffers(&batch, body_at, body)?;
        }
        Ok(Some(body_at + body))
    }

    /// A compressed buffer starts with its unpacked length as i64; -1 says that it is not packed.
    fn check_buffers(&self, batch: &RecordBatch, body_at: u64, body: u64) -> Result<(), Fault> {
        for buffer in batch.buffers().into_iter().flatten() {
            let number = |n: i64| u64::try_from(n).map_err(|_| Fault::Length);
            let (offset, length) = (number(buffer.offset())?, number(buffer.length())?);
            if offset.checked_add(length).is_none_or(|end| end > body) {
                return Err(Fault::Length);
            }
            if batch.compression().is_some() && length > 0 {
                let unpacked = i64::from_le_bytes(self.number(body_at + offset)?);
                if unpacked != -1 && number(unpacked)? > LARGEST_BUFFER.min(length.saturating_mul(BEST_RATIO)) {
                    return Err(Fault::Length);
                }
            }
        }
        Ok(())
    }
}
