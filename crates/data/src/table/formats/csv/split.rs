//! The splitter: where the record at the start of some bytes ends, and its fields.
//!
//! RFC 4180 with the liberties that files in the wild take: a record ends with LF, CRLF or CR; a
//! quote in the middle of an unquoted field is a character like others; empty lines are passed
//! over. Text behind a closing quote is refused, since readers disagree on what it means.

use memchr::memchr3;

/// The most fields that a record may have; a file of delimiters would take a hundred times its size
/// in memory.
pub(crate) const MOST_COLUMNS: usize = 1 << 16;

/// A field of a record: `bytes[start..end]` without its quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// First byte, from the start of the record.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// Whether it stands in quotes.
    pub quoted: bool,
    /// Whether it holds doubled quotes, each of which stands for one.
    pub doubled: bool,
}

/// What stands at the start of some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// A record of `len` bytes, of which `end` are before its line end; it spans `lines` lines.
    Record {
        /// Bytes with the line end.
        len: usize,
        /// Bytes without the line end.
        end: usize,
        /// Lines that it takes.
        lines: u64,
    },
    /// An empty line of `len` bytes.
    Blank {
        /// Bytes of the line end.
        len: usize,
    },
    /// The record goes on behind these bytes (or there are none).
    Incomplete,
    /// At the end of the input: a quoted field without its closing quote.
    OpenQuote,
    /// Text behind a closing quote.
    AfterQuote,
    /// More fields than a record may have.
    TooManyFields,
}

/// Splits the record at the start of `bytes` into `fields`, which are cleared first. `last` says
/// that nothing follows `bytes`.
#[expect(clippy::indexing_slicing, reason = "`at` and each field end at or before the end of `bytes`")]
pub fn split_record(bytes: &[u8], last: bool, delimiter: u8, fields: &mut Vec<Field>) -> Split {
    fields.clear();
    match bytes {
        [] => return Split::Incomplete,
        [b'\r'] if !last => return Split::Incomplete,
        [b'\r', b'\n', ..] => return Split::Blank { len: 2 },
        [b'\r' | b'\n', ..] => return Split::Blank { len: 1 },
        _ => {}
    }
    let mut at = 0;
    let mut lines = 1;
    loop {
        let mut field = Field { start: at, end: at, quoted: false, doubled: false };
        let stop = if bytes.get(at) == Some(&b'"') {
            field.start += 1;
            field.quoted = true;
            let Some(close) = closing_quote(bytes, field.start, last, &mut field.doubled) else {
                return if last { Split::OpenQuote } else { Split::Incomplete };
            };
            field.end = close;
            lines += count_lines(&bytes[field.start..close]);
            close + 1
        } else {
            let stop = plain_end(&bytes[at..], delimiter).map_or(bytes.len(), |offset| at + offset);
            field.end = stop;
            stop
        };
        if fields.len() == MOST_COLUMNS {
            return Split::TooManyFields;
        }
        fields.push(field);
        match bytes.get(stop) {
            Some(&b) if b == delimiter => at = stop + 1,
            Some(b'\n') => return Split::Record { len: stop + 1, end: stop, lines },
            Some(b'\r') => match bytes.get(stop + 1) {
                Some(b'\n') => return Split::Record { len: stop + 2, end: stop, lines },
                None if !last => return Split::Incomplete,
                _ => return Split::Record { len: stop + 1, end: stop, lines },
            },
            Some(_) => return Split::AfterQuote,
            None if last => return Split::Record { len: stop, end: stop, lines },
            None => return Split::Incomplete,
        }
    }
}

/// Where the first delimiter, LF or CR stands. Most fields are shorter than what it takes to start
/// `memchr3`, so the first words are searched here.
#[inline]
#[expect(clippy::indexing_slicing, reason = "the words that were searched lie within `bytes`")]
fn plain_end(bytes: &[u8], delimiter: u8) -> Option<usize> {
    const ONES: u64 = u64::MAX / 255;
    const WORDS: usize = 4;
    let words = bytes.as_chunks().0;
    for (i, word) in words.iter().take(WORDS).enumerate() {
        let word = u64::from_le_bytes(*word);
        // The lowest high bit marks the first zero byte of the difference; those above it may be wrong.
        let found = [delimiter, b'\n', b'\r']
            .map(|byte| word ^ (ONES * u64::from(byte)))
            .map(|zero| zero.wrapping_sub(ONES) & !zero);
        let found = (found[0] | found[1] | found[2]) & (ONES << 7);
        if found != 0 {
            return Some(8 * i + found.trailing_zeros() as usize / 8);
        }
    }
    let from = 8 * words.len().min(WORDS);
    memchr3(delimiter, b'\n', b'\r', &bytes[from..]).map(|offset| from + offset)
}

/// The record at the start of `bytes`, without its fields: faster where only rows are copied. Same
/// records as [`split_record`], of which some have too many fields.
#[expect(clippy::indexing_slicing, reason = "`stop` is a place of `bytes`")]
pub fn split_line(bytes: &[u8], last: bool, delimiter: u8, fields: &mut Vec<Field>) -> Split {
    if let Some(stop) = memchr3(b'\n', b'\r', b'"', bytes).filter(|&stop| stop > 0) {
        match &bytes[stop..] {
            [b'\n', ..] => return Split::Record { len: stop + 1, end: stop, lines: 1 },
            [b'\r', b'\n', ..] => return Split::Record { len: stop + 2, end: stop, lines: 1 },
            _ => {}
        }
    }
    split_record(bytes, last, delimiter, fields)
}

/// Where the quote stands that closes a field whose text starts at `from`. `None` when it may lie
/// behind these bytes.
fn closing_quote(bytes: &[u8], from: usize, last: bool, doubled: &mut bool) -> Option<usize> {
    let mut at = from;
    loop {
        let quote = at + memchr::memchr(b'"', bytes.get(at..)?)?;
        match bytes.get(quote + 1) {
            Some(b'"') => {
                *doubled = true;
                at = quote + 2;
            }
            None if !last => return None,
            _ => return Some(quote),
        }
    }
}

/// Line ends in quoted text: each LF, and each CR without one.
fn count_lines(text: &[u8]) -> u64 {
    let count = text
        .iter()
        .enumerate()
        .filter(|&(i, &b)| b == b'\n' || (b == b'\r' && text.get(i + 1) != Some(&b'\n')))
        .count();
    count as u64
}
