//! Lengths in Arrow IPC files, checked against the file before the Arrow reader trusts them: it
//! allocates what a length says, and a failed allocation ends the process.

use std::fs::File;

use arrow_ipc::{Block, Field, MessageHeader, RecordBatch, Schema, root_as_footer, root_as_message};

use crate::table::formats::bytes_at::{BytesAt, CheckError};
use crate::table::formats::opened_file::OpenedFile;
use crate::table::{NO_KEY, TableError};

/// More than any buffer of a sound file unpacks to.
const LARGEST_BUFFER: u64 = 1 << 32;

/// No codec of the format packs better than this: Zstandard's densest blocks hold 128 KiB in 4
/// bytes.
const BEST_RATIO: u64 = 1 << 15;

/// Rows that a file may have beyond those that its bytes can hold: columns of nothing but nulls may
/// take none.
const ROWS_WITHOUT_BYTES: u64 = 1 << 24;

/// Refuses an Arrow file with lengths that its bytes cannot hold.
pub(crate) fn check_file(input: &OpenedFile, file: &File) -> Result<(), TableError> {
    let mut check = Check { bytes: BytesAt { file, len: input.len() }, rows: 0, unpacked: 0 };
    check.file().and_then(|()| check.sum()).map_err(|fault| fault.of(input))
}

/// Refuses an Arrow stream with lengths that its bytes cannot hold.
pub(crate) fn check_stream(input: &OpenedFile, file: &File) -> Result<(), TableError> {
    let mut check = Check { bytes: BytesAt { file, len: input.len() }, rows: 0, unpacked: 0 };
    check.stream().and_then(|()| check.sum()).map_err(|fault| fault.of(input))
}

/// Refuses a Parquet input that names a type of Arrow that the Arrow reader does not know.
pub(crate) fn check_encoded_schema(input: &OpenedFile, encoded: &str) -> Result<(), TableError> {
    // What is malformed otherwise is left to the reader.
    let Some(bytes) = base64(encoded) else { return Ok(()) };
    let message = if bytes.starts_with(&[0xff; 4]) { bytes.get(8..).unwrap_or_default() } else { &bytes };
    let Ok(message) = root_as_message(message) else { return Ok(()) };
    message.header_as_schema().map_or(Ok(()), known_types).map_err(|fault| fault.of(input))
}

/// The bytes that a text in base 64 stands for.
fn base64(text: &str) -> Option<Vec<u8>> {
    let value = |symbol: u8| match symbol {
        b'A'..=b'Z' => Some(symbol - b'A'),
        b'a'..=b'z' => Some(symbol - b'a' + 26),
        b'0'..=b'9' => Some(symbol - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let (mut bytes, mut bits, mut held) = (Vec::with_capacity(text.len() / 4 * 3), 0u32, 0);
    for symbol in text.trim_end_matches('=').bytes() {
        (bits, held) = (bits << 6 | u32::from(value(symbol)?), held + 6);
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
        }
    }
    Some(bytes)
}

/// Refuses columns of types that the Arrow reader does not know: it panics at them.
fn known_types(schema: Schema) -> Result<(), CheckError> {
    for column in schema.fields().into_iter().flatten() {
        if let Some(found) = unknown_type(&column, NESTED_TYPES) {
            return Err(CheckError::Type { column: column.name().unwrap_or_default().to_owned(), found });
        }
    }
    Ok(())
}

/// Types in types beyond which nothing sound goes.
const NESTED_TYPES: usize = 64;

/// The first type in a column that the reader does not know.
fn unknown_type(field: &Field, deepest: usize) -> Option<String> {
    if let Some(integer) = field.type_as_int()
        && !matches!(integer.bitWidth(), 8 | 16 | 32 | 64)
    {
        return Some(format!("{}Int{}", if integer.is_signed() { "" } else { "U" }, integer.bitWidth()));
    }
    if field.type_type().variant_name().is_none() {
        return Some(format!("{} of a later release of Arrow", field.type_type().0));
    }
    let deepest = deepest.checked_sub(1)?;
    field.children().into_iter().flatten().find_map(|child| unknown_type(&child, deepest))
}

struct Check<'a> {
    bytes: BytesAt<'a>,
    /// Of all batches.
    rows: u64,
    /// Bytes that the buffers of all batches unpack to.
    unpacked: u64,
}

/// What a length or a count says, which must not be negative.
fn number(n: i64, what: &str) -> Result<u64, CheckError> {
    u64::try_from(n).map_err(|_| CheckError::Wrong(format!("{what} in it is negative")))
}

impl Check<'_> {
    /// The footer at the end names the blocks: `.. footer, its length as i32, "ARROW1"`.
    fn file(&mut self) -> Result<(), CheckError> {
        let end = self
            .bytes
            .len
            .checked_sub(10)
            .ok_or_else(|| CheckError::Wrong("it is shorter than any Arrow file".to_owned()))?;
        let length = u64::from(u32::from_le_bytes(self.bytes.array(end, "the footer's length")?));
        let Some(at) = end.checked_sub(length) else {
            return CheckError::wrong(
                "it is cut off, or a length in it is wrong: its footer would be longer than the file",
            );
        };
        let footer = self.bytes.read(at, length, "the footer")?;
        let footer = root_as_footer(&footer).map_err(|_| CheckError::Wrong("its footer is malformed".to_owned()))?;
        footer.schema().map_or(Ok(()), known_types)?;
        let mut taken = 0u64;
        for block in footer.dictionaries().into_iter().flatten().chain(footer.recordBatches().into_iter().flatten()) {
            taken = taken.saturating_add(self.block(block)?);
        }
        if taken > self.bytes.len {
            return CheckError::wrong("its blocks overlap: together they are longer than the file");
        }
        Ok(())
    }

    /// A block of a file, and its length. Where its body starts the reader takes from the footer,
    /// not from the message itself.
    fn block(&mut self, block: &Block) -> Result<u64, CheckError> {
        let at = number(block.offset(), "a block's place")?;
        let (head, body) = (
            number(block.metaDataLength().into(), "a block's length")?,
            number(block.bodyLength(), "a block's length")?,
        );
        let Some(length) = head.checked_add(body) else {
            return CheckError::wrong("a block's length in it is too large");
        };
        self.bytes.inside(at, length, "a block")?;
        let Some(message) = self.head(at)? else { return CheckError::wrong("its footer names a block that is empty") };
        if head < message.length {
            return CheckError::wrong("its footer says that a block's metadata is shorter than it is");
        }
        self.message(&message.metadata, at + head, body)?;
        Ok(length)
    }

    /// Messages one behind the other, up to a length of zero or the end.
    fn stream(&mut self) -> Result<(), CheckError> {
        let mut at = 0;
        while at < self.bytes.len {
            let Some(head) = self.head(at)? else { break };
            let message = root_as_message(&head.metadata).map_err(|_| CheckError::Wrong(MALFORMED.to_owned()))?;
            let body = number(message.bodyLength(), "a message's length")?;
            at += head.length;
            self.bytes.inside(at, body, "a message")?;
            self.message(&head.metadata, at, body)?;
            at += body;
        }
        Ok(())
    }

    /// What comes before a message's body: `0xffffffff` (absent before format 0.15), the length of
    /// the metadata as i32, the metadata. `None` at the end mark.
    fn head(&self, at: u64) -> Result<Option<MessageHead>, CheckError> {
        let what = "a message";
        let mut prefix = 4;
        let mut length = u32::from_le_bytes(self.bytes.array(at, what)?);
        if length == u32::MAX {
            prefix = 8;
            length = u32::from_le_bytes(self.bytes.array(at + 4, what)?);
        }
        if length == 0 {
            return Ok(None);
        }
        let metadata = self.bytes.read(at + prefix, u64::from(length), what)?;
        Ok(Some(MessageHead { metadata, length: prefix + u64::from(length) }))
    }

    /// A message of which the body of `body` bytes stands at `body_at`.
    fn message(&mut self, metadata: &[u8], body_at: u64, body: u64) -> Result<(), CheckError> {
        let message = root_as_message(metadata).map_err(|_| CheckError::Wrong(MALFORMED.to_owned()))?;
        match message.header_type() {
            MessageHeader::RecordBatch => match message.header_as_record_batch() {
                Some(batch) => {
                    self.rows = self.rows.saturating_add(number(batch.length(), "a batch's number of rows")?);
                    self.batch(&batch, body_at, body)
                }
                None => CheckError::wrong(MALFORMED),
            },
            MessageHeader::DictionaryBatch => {
                match message.header_as_dictionary_batch().and_then(|dictionary| dictionary.data()) {
                    Some(batch) => self.batch(&batch, body_at, body),
                    None => CheckError::wrong(MALFORMED),
                }
            }
            MessageHeader::Schema => message.header_as_schema().map_or(Ok(()), known_types),
            _ => Ok(()),
        }
    }

    /// A compressed buffer starts with its unpacked length as i64; -1 says that it is not packed.
    fn batch(&mut self, batch: &RecordBatch, body_at: u64, body: u64) -> Result<(), CheckError> {
        for node in batch.nodes().into_iter().flatten() {
            let length = number(node.length(), "a column's length")?;
            let nulls = number(node.null_count(), "a column's number of nulls")?;
            if length > u64::from(NO_KEY) || nulls > length {
                return CheckError::wrong(
                    "a column in it declares more values than a table can have, or more nulls than values",
                );
            }
        }
        let mut taken = 0u64;
        for buffer in batch.buffers().into_iter().flatten() {
            let (offset, length) =
                (number(buffer.offset(), "a buffer's place")?, number(buffer.length(), "a buffer's length")?);
            if offset.checked_add(length).is_none_or(|end| end > body) {
                return CheckError::wrong(
                    "it is cut off, or a length in it is wrong: a buffer would end behind its batch",
                );
            }
            taken = taken.saturating_add(length);
            let mut unpacked = length;
            if batch.compression().is_some() && length > 0 {
                let declared = i64::from_le_bytes(self.bytes.array(body_at + offset, "a buffer")?);
                if declared != -1 {
                    unpacked = number(declared, "a buffer's unpacked length")?;
                    if unpacked > LARGEST_BUFFER.min(length.saturating_mul(BEST_RATIO)) {
                        return CheckError::wrong(
                            "a length in it is wrong: a buffer would unpack to more bytes than any of its length can",
                        );
                    }
                }
            }
            self.unpacked = self.unpacked.saturating_add(unpacked);
        }
        if taken > body {
            return CheckError::wrong("the buffers of a batch overlap: together they are longer than the batch");
        }
        Ok(())
    }

    /// A value takes at least a bit, unless its column is null as a whole.
    fn sum(&self) -> Result<(), CheckError> {
        if self.rows > self.unpacked.saturating_mul(8).saturating_add(ROWS_WITHOUT_BYTES) {
            return CheckError::wrong("it declares more rows than its bytes can hold");
        }
        Ok(())
    }
}

const MALFORMED: &str = "the metadata of a message in it is malformed";

#[cfg(test)]
mod tests;

/// What comes before a message's body.
struct MessageHead {
    metadata: Vec<u8>,
    /// With what comes before the metadata.
    length: u64,
}
