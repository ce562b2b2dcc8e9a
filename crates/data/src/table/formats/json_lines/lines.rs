//! Reading an file in blocks of whole lines.

use crate::table::TableError;
use crate::table::formats::opened_file::OpenedFile;
use crate::table::formats::text_block::Block;

/// An file as blocks of whole lines.
pub(super) struct LineReader<'a> {
    block: Block<'a>,
    /// Bytes of what was given last, which is not consumed before the next call.
    given: usize,
    line: u64,
}

#[expect(clippy::indexing_slicing, reason = "start <= start + given <= end <= bytes.len() of the block")]
impl<'a> LineReader<'a> {
    /// Starts, with a block large enough for some threads.
    pub fn open(file: &'a OpenedFile, threads: usize) -> Result<Self, TableError> {
        Ok(Self { block: Block::open(file, threads)?.0, given: 0, line: 1 })
    }

    /// The next lines, all of them whole. `None` at the end of the file.
    pub fn next(&mut self) -> Result<Option<Lines<'_>>, TableError> {
        let given = &self.block.unread()[..self.given];
        self.line += memchr::memchr_iter(b'\n', given).count() as u64;
        self.block.start += self.given;
        self.given = 0;
        let mut searched = 0;
        loop {
            let unread = self.block.unread();
            let found = memchr::memrchr(b'\n', &unread[searched..]).map(|at| searched + at + 1);
            let whole = if self.block.is_last { Some(unread.len()) } else { found };
            if let Some(whole) = whole {
                self.given = whole;
                let bytes = &self.block.unread()[..whole];
                return Ok((whole > 0).then_some(Lines { bytes, at: 0, line: self.line }));
            }
            searched = unread.len();
            self.block.fill(self.line)?;
        }
    }
}

/// Whole lines in memory.
pub(super) struct Lines<'a> {
    bytes: &'a [u8],
    at: usize,
    line: u64,
}

impl<'a> Lines<'a> {
    /// The next line that is not blank, with its line end, and its number.
    pub fn next(&mut self) -> Option<(&'a [u8], u64)> {
        loop {
            let rest = self.bytes.get(self.at..).filter(|rest| !rest.is_empty())?;
            let len = memchr::memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
            let (line, number) = (rest.get(..len)?, self.line);
            self.at += len;
            self.line += 1;
            if !line.trim_ascii().is_empty() {
                return Some((line, number));
            }
        }
    }

    /// Bytes of all lines.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// About how many lines there would be in so many bytes.
    pub fn expected_in(&self, bytes: u64) -> usize {
        let lines = memchr::memchr_iter(b'\n', self.bytes).count().max(1);
        usize::try_from(bytes).unwrap_or(usize::MAX) / (self.bytes.len() / lines).max(1)
    }

    /// About equal parts of whole lines, at most `count`. Each counts its lines from 1.
    pub fn split(&self, count: usize) -> Vec<Self> {
        let mut parts = Vec::with_capacity(count);
        let mut rest = self.bytes;
        for left in (1..=count).rev() {
            let goal = rest.len() / left;
            let end = match rest.get(goal..).and_then(|behind| memchr::memchr(b'\n', behind)) {
                Some(at) if left > 1 => goal + at + 1,
                _ => rest.len(),
            };
            let (bytes, behind) = rest.split_at_checked(end).unwrap_or((rest, &[]));
            if !bytes.is_empty() {
                parts.push(Self { bytes, at: 0, line: 1 });
            }
            rest = behind;
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::formats::text_block::BLOCK_BYTES;
    use crate::table::{Format, Input, InputOptions};

    #[test]
    fn parts_are_whole_lines_and_all_of_them() {
        let text = (0..100).map(|n| "x".repeat(n % 7) + "\n").collect::<String>() + "last";
        let lines = || Lines { bytes: text.as_bytes(), at: 0, line: 1 };
        for count in 1..200 {
            let parts = lines().split(count);
            assert!(parts.len() <= count && parts.iter().rev().skip(1).all(|part| part.bytes.ends_with(b"\n")));
            assert_eq!(parts.iter().map(|part| part.bytes).collect::<Vec<_>>().concat(), text.as_bytes());
        }
    }

    /// Lines of any length against the block's, with blank ones, with and without a last line end.
    #[test]
    fn blocks_end_where_lines_do() {
        for (length, end) in [(10, "\n"), (BLOCK_BYTES - 1, "\n"), (BLOCK_BYTES, ""), (3 * BLOCK_BYTES, "\r\n")] {
            let long = "y".repeat(length);
            let text = format!("\u{feff}a\n\n \t\r\n{long}\nb\n{long}{end}");
            let options = InputOptions { format: Some(Format::JsonLines), delimiter: None };
            let input = Input::spooled(text.as_bytes(), "in.jsonl", &options).expect("an input");
            let mut reader = LineReader::open(input.file(), 1).expect("open");
            let mut found = Vec::new();
            while let Some(mut lines) = reader.next().expect("readable") {
                while let Some((line, number)) = lines.next() {
                    found.push((line.trim_ascii_end().len(), number));
                }
            }
            assert_eq!(found, [(1, 1), (length, 4), (1, 5), (length, 6)], "{length}");
        }
    }
}
