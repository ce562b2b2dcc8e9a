//! Reading a CSV file record by record through one growing block.

use crate::table::TableError;
use crate::table::formats::csv::split::MOST_COLUMNS;
use crate::table::formats::csv::{Field, Split, split_line, split_record};
use crate::table::formats::opened_file::OpenedFile;
use crate::table::formats::text_block::{BYTE_ORDER_MARK, Block};

/// A data record, valid UTF-8 when it came from [`CsvReader::next`].
#[derive(Clone, Copy)]
pub(crate) struct Record<'a> {
    /// The record with its line end.
    pub bytes: &'a [u8],
    /// Length without the line end.
    pub end: usize,
    text: &'a str,
    fields: &'a [Field],
}

impl<'a> Record<'a> {
    /// Field `index`, with doubled quotes undone by way of `scratch`. `None` is null: an empty
    /// field without quotes.
    pub fn cell<'b>(&self, index: usize, scratch: &'b mut String) -> Option<&'b str>
    where
        'a: 'b,
    {
        // The splitter cuts at ASCII characters, and the record has as many fields as the header.
        let field = self.fields.get(index)?;
        let text = self.text.get(field.start..field.end)?;
        if field.doubled {
            scratch.clear();
            scratch.push_str(text);
            *scratch = scratch.replace("\"\"", "\"");
            return Some(scratch);
        }
        if text.is_empty() && !field.quoted { None } else { Some(text) }
    }

    /// Number of fields.
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// Whether the record is the header again.
    pub fn repeats(&self, header: &[String]) -> bool {
        repeats(self.bytes, self.fields, header)
    }
}

/// Whether the record with these fields is the header again, as where files were joined end to end: each field is its
/// column's name. A byte-order mark may stand before the first one.
fn repeats(record: &[u8], fields: &[Field], header: &[String]) -> bool {
    let is_name = |(place, (field, name)): (usize, (&Field, &String))| {
        let mut text = record.get(field.start..field.end).unwrap_or_default();
        if let Some(marked) = text.strip_prefix(BYTE_ORDER_MARK).filter(|_| place == 0) {
            let quoted = marked.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\""));
            text = quoted.unwrap_or(marked);
        }
        text == name.as_bytes()
            || field.doubled && std::str::from_utf8(text).is_ok_and(|text| text.replace("\"\"", "\"") == **name)
    };
    fields.len() == header.len() && fields.iter().zip(header).enumerate().all(is_name)
}

/// Whether a record begins as the header does: it may be the header again only then.
fn begins_like(record: &[u8], header: &[String], delimiter: u8) -> bool {
    let rest = record.strip_prefix(BYTE_ORDER_MARK).unwrap_or(record);
    let rest = rest.strip_prefix(b"\"").unwrap_or(rest);
    match header.first().and_then(|name| name.split('"').next()) {
        None | Some("") => matches!(rest.first(), None | Some(b'"')) || rest.first() == Some(&delimiter),
        Some(name) => rest.starts_with(name.as_bytes()),
    }
}

/// A CSV file, its header read.
pub(crate) struct CsvReader<'a> {
    file: &'a OpenedFile,
    block: Block<'a>,
    line: u64,
    fields: Vec<Field>,
    header: Vec<String>,
    header_bytes: Vec<u8>,
    line_end: &'static [u8],
    marked: bool,
}

#[expect(
    clippy::indexing_slicing,
    reason = "start <= end <= bytes.len() of a block, and `advance` keeps records within what it is given"
)]
impl<'a> CsvReader<'a> {
    /// Reads the header.
    pub fn open(file: &'a OpenedFile) -> Result<Self, TableError> {
        Self::open_for(file, 1)
    }

    /// [`Self::open`] with a block large enough for several threads.
    pub fn open_for(file: &'a OpenedFile, threads: usize) -> Result<Self, TableError> {
        let (mut block, marked) = Block::open(file, threads)?;
        let skipped = file.separator_line();
        while block.unread().len() < skipped && !block.is_last {
            block.fill(1)?;
        }
        block.start += skipped.min(block.unread().len());
        let mut reader = Self {
            file,
            block,
            line: 1 + u64::from(skipped > 0),
            fields: Vec::new(),
            header: Vec::new(),
            header_bytes: Vec::new(),
            line_end: b"\n",
            marked,
        };
        let mut scratch = String::new();
        let header = reader.first()?.map(|record| {
            let names =
                (0..record.len()).map(|i| record.cell(i, &mut scratch).unwrap_or_default().to_owned()).collect();
            (names, record.bytes[..record.end].to_vec(), record.bytes[record.end..].to_vec())
        });
        let Some((names, bytes, line_end)) = header else {
            return Err(TableError::Empty { path: file.path().to_owned() });
        };
        reader.header = names;
        reader.header_bytes = bytes;
        reader.line_end = match line_end.as_slice() {
            b"\r\n" => b"\r\n",
            b"\r" => b"\r",
            _ => b"\n",
        };
        Ok(reader)
    }

    /// Names of the columns.
    pub fn header(&self) -> &[String] {
        &self.header
    }

    /// The header as it stands in the file, without byte-order mark and line end.
    pub fn header_bytes(&self) -> &[u8] {
        &self.header_bytes
    }

    /// The line end of the header, for records that have none of their own.
    pub fn line_end(&self) -> &'static [u8] {
        self.line_end
    }

    /// Whether the file starts with a byte-order mark.
    pub fn marked(&self) -> bool {
        self.marked
    }

    /// The next record that is no header again, checked: as many fields as the header, UTF-8.
    pub fn next(&mut self) -> Result<Option<Record<'_>>, TableError> {
        let expected = self.header.len();
        loop {
            let Some((from, len, end, line)) = self.advance(split_record)? else { return Ok(None) };
            let bytes = &self.block.bytes[from..from + len];
            if !repeats(bytes, &self.fields, &self.header) {
                let bytes = &self.block.bytes[from..from + len];
                return check(self.file, bytes, None, end, &self.fields, line, Some(expected)).map(Some);
            }
        }
    }

    /// The first record, unchecked.
    fn first(&mut self) -> Result<Option<Record<'_>>, TableError> {
        let Some((from, len, end, line)) = self.advance(split_record)? else { return Ok(None) };
        let bytes = &self.block.bytes[from..from + len];
        check(self.file, bytes, None, end, &self.fields, line, None).map(Some)
    }

    /// About the rows that a file is to have which goes on as it starts; no promise.
    pub fn rows_expected(&self) -> usize {
        let start = self.block.unread();
        let lines = memchr::memchr_iter(b'\n', start).count();
        let bytes = usize::try_from(self.file.len()).unwrap_or(usize::MAX);
        bytes / (start.len() / (lines + 1)).max(1)
    }

    /// All that is read and not consumed, as whole records and perhaps the start of another.
    pub fn records(&self) -> Records<'_> {
        Records::new(self.file, self.block.unread(), self.block.is_last, self.line, &self.header)
    }

    /// Consumes what [`Self::records`] passed over, and reads more; `false` at the end of the
    /// file.
    pub fn refill(&mut self, bytes: usize, lines: u64) -> Result<bool, TableError> {
        self.block.start += bytes;
        self.line += lines;
        let more = !self.block.is_last;
        if more {
            self.block.fill(self.line)?;
        }
        Ok(more)
    }

    /// The bytes of the next record that is no header again, and their length without the line end, unchecked: for
    /// a second pass.
    pub fn next_line(&mut self) -> Result<Option<(&[u8], usize)>, TableError> {
        loop {
            let Some((from, len, end, _)) = self.advance(split_line)? else { return Ok(None) };
            let record = &self.block.bytes[from..from + len];
            let delimiter = self.file.delimiter();
            if begins_like(record, &self.header, delimiter) {
                split_record(record, true, delimiter, &mut self.fields);
                if repeats(record, &self.fields, &self.header) {
                    continue;
                }
            }
            return Ok(Some((&self.block.bytes[from..from + len], end)));
        }
    }

    /// Moves behind the next record: where it starts in the block, its length with and without line
    /// end, its first line.
    #[inline]
    fn advance(
        &mut self,
        split: impl Fn(&[u8], bool, u8, &mut Vec<Field>) -> Split,
    ) -> Result<Option<(usize, usize, usize, u64)>, TableError> {
        loop {
            let Block { bytes, start, end, is_last, .. } = &mut self.block;
            let unread = &bytes[..*end];
            if let Some(found) = advance(self.file, unread, *is_last, start, &mut self.line, &mut self.fields, &split)?
            {
                return Ok(Some(found));
            }
            if self.block.is_last {
                return Ok(None);
            }
            self.block.fill(self.line)?;
        }
    }
}

/// Records in memory, each checked: as many fields as the header, UTF-8.
pub(crate) struct Records<'a> {
    file: &'a OpenedFile,
    bytes: &'a [u8],
    /// `bytes` up to the first that is not UTF-8.
    text: &'a str,
    last: bool,
    at: usize,
    line: u64,
    first_line: u64,
    header: &'a [String],
    fields: Vec<Field>,
}

#[expect(clippy::indexing_slicing, reason = "`advance` keeps records, and so `at`, within `bytes`")]
impl<'a> Records<'a> {
    fn new(file: &'a OpenedFile, bytes: &'a [u8], last: bool, line: u64, header: &'a [String]) -> Self {
        let valid = |error: std::str::Utf8Error| std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default();
        let text = std::str::from_utf8(bytes).unwrap_or_else(valid);
        Self { file, bytes, text, last, at: 0, line, first_line: line, header, fields: Vec::new() }
    }

    /// The next record, unless it is not complete.
    pub fn next(&mut self) -> Result<Option<Record<'_>>, TableError> {
        let found =
            advance(self.file, self.bytes, self.last, &mut self.at, &mut self.line, &mut self.fields, &split_record)?;
        let Some((from, len, end, line)) = found else { return Ok(None) };
        let bytes = &self.bytes[from..from + len];
        check(self.file, bytes, self.text.get(from..from + len), end, &self.fields, line, Some(self.header.len()))
            .map(Some)
    }

    /// The names of the columns.
    pub fn header(&self) -> &'a [String] {
        self.header
    }

    /// Bytes of all records.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Bytes and lines passed over.
    pub fn passed(&self) -> (usize, u64) {
        (self.at, self.line - self.first_line)
    }

    /// About equal parts of whole records, at most `count`. Lines are counted from the start of the
    /// part.
    pub fn split(&self, count: usize) -> Vec<Self> {
        let mut parts = Vec::with_capacity(count);
        let (mut from, mut at) = (0, 0);
        let (mut line, mut fields) = (0, Vec::new());
        let quotes = memchr::memchr(b'"', self.bytes).is_some();
        for part in 1..count {
            let goal = self.bytes.len() / count * part;
            if quotes {
                // A line end may stand in a quoted field, so each record is looked at. A malformed one ends the
                // last part.
                while at < goal
                    && let Ok(Some(_)) =
                        advance(self.file, self.bytes, self.last, &mut at, &mut line, &mut fields, &split_line)
                {
                }
            } else if at < goal {
                at = memchr::memchr(b'\n', &self.bytes[goal..]).map_or(at, |offset| goal + offset + 1);
            }
            if at > from {
                parts.push(Self::new(self.file, &self.bytes[from..at], false, 1, self.header));
                from = at;
            }
        }
        parts.push(Self::new(self.file, &self.bytes[from..], self.last, 1, self.header));
        parts
    }
}

/// Moves `at` behind the next record of `bytes` and counts its lines: where it starts, its length
/// with and without line end, its first line. `None` when it is not complete.
#[inline]
#[expect(clippy::indexing_slicing, reason = "`at` begins within `bytes`, and no record is longer than what is left")]
fn advance(
    file: &OpenedFile,
    bytes: &[u8],
    last: bool,
    at: &mut usize,
    line: &mut u64,
    fields: &mut Vec<Field>,
    split: &impl Fn(&[u8], bool, u8, &mut Vec<Field>) -> Split,
) -> Result<Option<(usize, usize, usize, u64)>, TableError> {
    loop {
        let malformed = |what| TableError::Quote { path: file.path().to_owned(), line: *line, what };
        match split(&bytes[*at..], last, file.delimiter(), fields) {
            Split::Record { len, end, lines } => {
                let found = (*at, len, end, *line);
                *at += len;
                *line += lines;
                return Ok(Some(found));
            }
            Split::Blank { len } => {
                *at += len;
                *line += 1;
            }
            Split::Incomplete => return Ok(None),
            Split::OpenQuote => return Err(malformed("never closes")),
            Split::AfterQuote => return Err(malformed("goes on after its closing quote")),
            Split::TooManyFields => {
                return Err(TableError::TooManyColumns {
                    path: file.path().to_owned(),
                    line: *line,
                    limit: MOST_COLUMNS,
                });
            }
        }
    }
}

/// The record in `bytes`, of which `text` is what is known to be UTF-8.
fn check<'a>(
    file: &OpenedFile,
    bytes: &'a [u8],
    text: Option<&'a str>,
    end: usize,
    fields: &'a [Field],
    line: u64,
    expected: Option<usize>,
) -> Result<Record<'a>, TableError> {
    let found = fields.len();
    let path = || file.path().to_owned();
    if let Some(expected) = expected.filter(|&expected| expected != found) {
        return Err(TableError::Ragged { path: path(), line, found, expected });
    }
    let text = match text {
        Some(text) => text,
        None => std::str::from_utf8(bytes).map_err(|error| {
            let column = 1 + fields.iter().filter(|field| field.end < error.valid_up_to()).count();
            TableError::CsvNotUtf8 { path: path(), line, column, expected: found }
        })?,
    };
    Ok(Record { bytes, end, text, fields })
}
