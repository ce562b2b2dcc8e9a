//! Reading a CSV input record by record through one growing block.

use std::io::Read;

use crate::table::csv::{Field, Split, split_line, split_record};
use crate::table::{Input, TableError};

/// Bytes read at once.
const BLOCK: usize = 1 << 18;

/// The longest record taken: beyond it a quote is open, not a field long.
const LONGEST_RECORD: usize = 64 << 20;

/// UTF-8 byte-order mark.
const MARK: &[u8] = &[0xef, 0xbb, 0xbf];

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
    /// Field `index`, with doubled quotes undone by way of `scratch`. `None` is null: an empty field without quotes.
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
}

/// A CSV input, its header read.
pub(crate) struct CsvReader<'a> {
    input: &'a Input,
    source: Box<dyn Read>,
    block: Vec<u8>,
    start: usize,
    end: usize,
    last: bool,
    line: u64,
    fields: Vec<Field>,
    header: Vec<String>,
    header_bytes: Vec<u8>,
    line_end: &'static [u8],
    marked: bool,
}

impl<'a> CsvReader<'a> {
    /// Reads the header.
    pub fn open(input: &'a Input) -> Result<Self, TableError> {
        let source = input.text()?;
        let block = vec![0; BLOCK];
        let mut reader = Self {
            input,
            source,
            block,
            start: 0,
            end: 0,
            last: false,
            line: 1,
            fields: Vec::new(),
            header: Vec::new(),
            header_bytes: Vec::new(),
            line_end: b"\n",
            marked: false,
        };
        while !reader.last && reader.end < MARK.len() {
            reader.fill()?;
        }
        if reader.block[..reader.end].starts_with(MARK) {
            reader.start = MARK.len();
            reader.marked = true;
        }
        let mut scratch = String::new();
        let header = reader.next_any(None)?.map(|record| {
            let names = (0..record.len()).map(|i| record.cell(i, &mut scratch).unwrap_or_default().to_owned()).collect();
            (names, record.bytes[..record.end].to_vec(), record.bytes[record.end..].to_vec())
        });
        let Some((names, bytes, line_end)) = header else { return Err(TableError::Empty { path: input.path().to_owned() }) };
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

    /// The next record, checked: as many fields as the header, UTF-8.
    pub fn next(&mut self) -> Result<Option<Record<'_>>, TableError> {
        let expected = self.header.len();
        self.next_any(Some(expected))
    }

    fn next_any(&mut self, expected: Option<usize>) -> Result<Option<Record<'_>>, TableError> {
        let Some((from, len, end, line)) = self.advance(split_record)? else { return Ok(None) };
        let found = self.fields.len();
        let bytes = &self.block[from..from + len];
        let path = || self.input.path().to_owned();
        if let Some(expected) = expected.filter(|&expected| expected != found) {
            return Err(TableError::Ragged { path: path(), line, found, expected });
        }
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let column = 1 + self.fields.iter().filter(|field| field.end < error.valid_up_to()).count();
            TableError::NotUtf8 { path: path(), line, column, expected: found }
        })?;
        Ok(Some(Record { bytes, end, text, fields: &self.fields }))
    }

    /// The next record's bytes and their length without the line end, unchecked: for a second pass.
    pub fn next_line(&mut self) -> Result<Option<(&[u8], usize)>, TableError> {
        let Some((from, len, end, _)) = self.advance(split_line)? else { return Ok(None) };
        Ok(Some((&self.block[from..from + len], end)))
    }

    /// Moves behind the next record: where it starts in the block, its length with and without line end, its first line.
    #[inline]
    fn advance(
        &mut self,
        split: impl Fn(&[u8], bool, u8, &mut Vec<Field>) -> Split,
    ) -> Result<Option<(usize, usize, usize, u64)>, TableError> {
        loop {
            let line = self.line;
            let malformed = |what| TableError::Quote { path: self.input.path().to_owned(), line, what };
            match split(&self.block[self.start..self.end], self.last, self.input.delimiter(), &mut self.fields) {
                Split::Record { len, end, lines } => {
                    let from = self.start;
                    self.start += len;
                    self.line += lines;
                    return Ok(Some((from, len, end, line)));
                }
                Split::Blank { len } => {
                    self.start += len;
                    self.line += 1;
                }
                Split::Incomplete if self.last => return Ok(None),
                Split::Incomplete => self.fill()?,
                Split::OpenQuote => return Err(malformed("never closes")),
                Split::AfterQuote => return Err(malformed("goes on after its closing quote")),
            }
        }
    }

    /// Reads more, behind what is not consumed yet.
    fn fill(&mut self) -> Result<(), TableError> {
        if self.start > 0 {
            self.block.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.end == self.block.len() {
            if self.end >= LONGEST_RECORD {
                return Err(TableError::LongRecord { path: self.input.path().to_owned(), line: self.line, limit: LONGEST_RECORD });
            }
            self.block.resize(2 * self.end, 0);
        }
        loop {
            match self.source.read(&mut self.block[self.end..]) {
                Ok(0) => self.last = true,
                Ok(count) => self.end += count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(self.input.unreadable(error)),
            }
            return Ok(());
        }
    }
}
