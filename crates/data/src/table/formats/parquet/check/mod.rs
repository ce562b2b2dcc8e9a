//! What a Parquet file declares, checked against what it holds before the Parquet reader trusts it:
//! on some damaged files of a few kilobytes that reader spins for minutes, or asks for more memory
//! than there is, which ends the process.
//!
//! Many rows in few bytes are sound: a constant column takes a few bytes a page. So rows are not
//! bounded by bytes. Instead, all places that say how much there is must agree: the footer's rows
//! with those of its row groups, these with the values of each column, and these with the values of
//! its pages.

mod delta;
mod shapes;
mod thrift;

use std::fs::File;
use std::sync::{Arc, Mutex, PoisonError};

use flate2::Crc;
use parquet::arrow::ProjectionMask;
use parquet::basic::{Encoding, Type};
use parquet::column::page::{Page, PageReader};
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use parquet::file::serialized_reader::SerializedPageReader;

use crate::table::formats::bytes_at::{BytesAt, CheckError};
use crate::table::formats::foreign;
use crate::table::formats::opened_file::OpenedFile;
use crate::table::{LONGEST_VALUE, NO_KEY, ROWS_PER_BATCH, TableError};
use thrift::{CUT_OFF, Visitor, walk};

/// Groups of columns in groups beyond which nothing sound goes; the reader recurses into them.
const DEEPEST: usize = 64;

/// No codec packs better than this: Zstandard's densest blocks hold 128 KiB in 4 bytes.
const BEST_RATIO: u64 = 1 << 15;

/// Bytes of a page header that are read at first; a header with long statistics takes more.
const HEADER_BYTES: u64 = 512;

/// Bytes that are read at once to compare a checksum.
const COMPARED_BYTES: u64 = 1 << 20;

/// Bytes of values that a batch of rows may decode to: long values come in smaller batches.
const BATCH_BYTES: usize = 1 << 30;

/// Refuses a file whose footer the Parquet reader must not see.
pub(crate) fn check_footer(input: &OpenedFile, file: &File) -> Result<(), TableError> {
    let tree = footer(BytesAt { file, len: input.len() }).map_err(|fault| fault.of(input))?;
    match tree.is_encrypted {
        // Of no use, even if a run asks for other columns: all of them stand in its result.
        true => Err(foreign::encrypted_columns().error(input.path().to_owned(), None)),
        false => Ok(()),
    }
}

fn footer(bytes: BytesAt) -> Result<Tree, CheckError> {
    let end =
        bytes.len.checked_sub(8).ok_or_else(|| CheckError::Wrong("it is shorter than any Parquet file".to_owned()))?;
    let [a, b, c, d, magic @ ..] = bytes.array::<8>(end, "the footer's length")?;
    if &magic != b"PAR1" {
        return match &magic {
            b"PARE" => CheckError::wrong("it is encrypted"),
            _ => CheckError::wrong("it does not end as a Parquet file does, so its end is missing"),
        };
    }
    let length = u64::from(u32::from_le_bytes([a, b, c, d]));
    let Some(at) = end.checked_sub(length) else {
        return CheckError::wrong("its footer would be longer than the file");
    };
    let footer = bytes.read(at, length, "the footer")?;
    let mut tree = Tree::default();
    walk(&footer, shapes::FOOTER, &mut tree)
        .map_err(|fault| CheckError::Wrong(format!("its footer is malformed: {}", fault.0)))?;
    if tree.too_deep { CheckError::wrong(format!("its columns are nested more than {DEEPEST} deep")) } else { Ok(tree) }
}

/// Follows the schema, which lists each group before its children.
#[derive(Default)]
struct Tree {
    children: i64,
    /// Of each open group, the children that are still to come.
    open: Vec<i64>,
    too_deep: bool,
    /// Whether there are encrypted columns.
    is_encrypted: bool,
}

impl Visitor for Tree {
    fn number(&mut self, path: &[i16], value: i64) {
        if path == shapes::CHILDREN {
            self.children = value;
        }
    }

    fn end(&mut self, path: &[i16]) {
        self.is_encrypted |= path == shapes::ENCRYPTED;
        if path != shapes::ELEMENT {
            return;
        }
        while self.open.last() == Some(&0) {
            self.open.pop();
        }
        if let Some(left) = self.open.last_mut() {
            *left -= 1;
        }
        if self.children > 0 {
            self.open.push(self.children);
        }
        self.children = 0;
        self.too_deep |= self.open.len() > DEEPEST;
    }
}

/// Refuses a file whose columns of `chosen` do not hold what they declare, or have pages with wrong
/// checksums; those of columns that are `compared` are known to be right. The result is how many
/// rows may be decoded at once.
pub(crate) fn check_columns(
    input: &OpenedFile,
    file: &File,
    metadata: &ParquetMetaData,
    chosen: &ProjectionMask,
    compared: &Mutex<Vec<bool>>,
) -> Result<usize, TableError> {
    let rows = metadata.file_metadata().num_rows();
    if rows > i64::from(NO_KEY) {
        return Err(TableError::TooManyRows { path: input.path().to_owned(), limit: u64::from(NO_KEY) });
    }
    let is_left = |leaf: usize| !is_compared(compared, leaf);
    let longest = columns(BytesAt { file, len: input.len() }, metadata, chosen, rows, &is_left)
        .map_err(|fault| fault.of(input))?;
    let leaves = 0..metadata.file_metadata().schema_descr().num_columns();
    leaves.filter(|&leaf| chosen.leaf_included(leaf)).for_each(|leaf| mark_compared(compared, leaf));
    Ok(ROWS_PER_BATCH.min(BATCH_BYTES / longest.max(1)).max(1))
}

/// Takes over which columns were compared.
fn mark_compared(compared: &Mutex<Vec<bool>>, leaf: usize) {
    if let Some(is_compared) = compared.lock().unwrap_or_else(PoisonError::into_inner).get_mut(leaf) {
        *is_compared = true;
    }
}

/// Whether the checksums of a leaf column have been compared.
fn is_compared(compared: &Mutex<Vec<bool>>, leaf: usize) -> bool {
    compared.lock().unwrap_or_else(PoisonError::into_inner).get(leaf).copied().unwrap_or(false)
}

/// Checks the columns; the result is at least the length of the longest value that many rows can
/// share.
fn columns(
    bytes: BytesAt,
    metadata: &ParquetMetaData,
    chosen: &ProjectionMask,
    rows: i64,
    compare: &dyn Fn(usize) -> bool,
) -> Result<usize, CheckError> {
    if metadata.file_metadata().schema_descr().num_columns() == 0 {
        return CheckError::wrong("it has no columns");
    }
    let mut in_groups = 0i64;
    let (mut used, mut longest) = (0u64, 0);
    for (group_number, group) in (1..).zip(metadata.row_groups()) {
        if group.num_rows() < 0 {
            return CheckError::wrong("a row group has fewer than no rows");
        }
        in_groups = in_groups.saturating_add(group.num_rows());
        for (leaf, chunk) in group.columns().iter().enumerate().filter(|(leaf, _)| chosen.leaf_included(*leaf)) {
            let column = ColumnChunk::new(bytes, chunk)?;
            let compared_for = compare(leaf).then_some(group_number);
            let flat = chunk.column_descr().max_rep_level() == 0;
            if flat && column.values != group.num_rows() as u64 {
                return column.wrong("declares another number of values than its row group has rows");
            }
            used = used.saturating_add(column.length);
            longest = longest.max(column.check(compared_for)?);
        }
    }
    if in_groups != rows {
        return CheckError::wrong("its footer declares another number of rows than its row groups have together");
    }
    if used > bytes.len {
        return CheckError::wrong("its columns overlap: together they are longer than the file");
    }
    Ok(longest)
}

/// One column of a row group.
struct ColumnChunk<'a> {
    bytes: BytesAt<'a>,
    chunk: &'a ColumnChunkMetaData,
    start: u64,
    length: u64,
    values: u64,
}

impl<'a> ColumnChunk<'a> {
    fn new(bytes: BytesAt<'a>, chunk: &'a ColumnChunkMetaData) -> Result<Self, CheckError> {
        let number = |n: i64| {
            u64::try_from(n).map_err(|_| CheckError::Wrong("a column's place or length in it is negative".to_owned()))
        };
        let start = number(chunk.dictionary_page_offset().unwrap_or(chunk.data_page_offset()))?;
        let column =
            Self { bytes, chunk, start, length: number(chunk.compressed_size())?, values: number(chunk.num_values())? };
        bytes.inside(start, column.length, &format!("column `{}`", column.name()))?;
        Ok(column)
    }

    fn name(&self) -> String {
        self.chunk.column_path().string()
    }

    fn wrong<T>(&self, what: &str) -> Result<T, CheckError> {
        CheckError::wrong(format!("column `{}` {what}", self.name()))
    }

    /// Walks the pages, and compares their checksums if the number of the row group is given. The
    /// result is at least the length of the longest value that many rows can share.
    fn check(&self, compared_for: Option<usize>) -> Result<usize, CheckError> {
        let width = self.chunk.column_descr().type_length();
        if self.chunk.column_type() == Type::FIXED_LEN_BYTE_ARRAY && !(0..=LONGEST_VALUE as i32).contains(&width) {
            return self.wrong("has values of a length that no value has");
        }
        let (mut at, end) = (self.start, self.start + self.length);
        let mut longest = usize::try_from(width).unwrap_or_default();
        let (mut values, mut dictionary, mut deltas) = (0u64, false, false);
        while at < end {
            let (page, header_length) = self.page_header(at, end - at)?;
            at += header_length;
            let (Ok(packed), Ok(unpacked)) = (u64::try_from(page.packed), u64::try_from(page.unpacked)) else {
                return self.wrong("has a page of negative length");
            };
            if packed > end - at {
                return self.wrong("has a page that would end behind the column");
            }
            if unpacked > packed.saturating_mul(BEST_RATIO) {
                return self.wrong("has a page that would unpack to more bytes than any of its length can");
            }
            if let (Some(group), Some(sum)) = (compared_for, page.sum) {
                self.compare(at, packed, sum, group)?;
            }
            at += packed;
            let Ok(count) = u64::try_from(page.values) else {
                return self.wrong("has a page with fewer than no values");
            };
            let long = self.chunk.column_type() == Type::BYTE_ARRAY && unpacked as usize > BATCH_BYTES / ROWS_PER_BATCH;
            match page.kind {
                PageKind::Data => {
                    values += count;
                    deltas |= matches!(page.encoding, DELTA_LENGTHS | DELTA_STRINGS);
                    if long && page.encoding == DELTA_STRINGS {
                        longest = longest.max(unpacked as usize);
                    }
                }
                PageKind::Dictionary if count > unpacked => {
                    return self.wrong("has a dictionary with more values than bytes");
                }
                PageKind::Dictionary => dictionary |= long,
                PageKind::Other => {}
            }
            if values > self.values {
                break;
            }
        }
        if values != self.values {
            return self.wrong("declares another number of values than its pages have together");
        }
        if dictionary || deltas {
            longest = longest.max(self.look_inside(deltas)?);
        }
        Ok(longest)
    }

    /// Compares the bytes of a page, as they are stored, with their checksum.
    fn compare(&self, at: u64, length: u64, sum: u32, group: usize) -> Result<(), CheckError> {
        let (mut at, end) = (at, at + length);
        let mut found = Crc::new();
        while at < end {
            let piece = COMPARED_BYTES.min(end - at);
            found.update(&self.bytes.read(at, piece, "a page")?);
            at += piece;
        }
        if found.sum() == sum {
            return Ok(());
        }
        self.wrong(&format!("is damaged in row group {group}: a page of it is not the one whose checksum the file has"))
    }

    /// The page header at `at`, of which it takes at most `left` bytes, and its length.
    fn page_header(&self, at: u64, left: u64) -> Result<(PageHeader, u64), CheckError> {
        let mut window = HEADER_BYTES.min(left);
        loop {
            let mut page = PageHeader::default();
            match walk(&self.bytes.read(at, window, "a page header")?, shapes::PAGE_HEADER, &mut page) {
                Ok(length) => return Ok((page, length as u64)),
                Err(fault) if fault.0 == CUT_OFF && window < left => window = window.saturating_mul(8).min(left),
                Err(fault) => return self.wrong(&format!("has a malformed page header: {}", fault.0)),
            }
        }
    }

    /// Unpacks the dictionary (and all pages, if there are `deltas`), for what only the content
    /// says: how long a dictionary's values are, how many lengths a page declares.
    fn look_inside(&self, deltas: bool) -> Result<usize, CheckError> {
        let failed =
            |error: parquet::errors::ParquetError| CheckError::Wrong(format!("column `{}`: {error}", self.name()));
        let file = Arc::new(self.bytes.file.try_clone().map_err(CheckError::Read)?);
        let mut pages = SerializedPageReader::new(file, self.chunk, 0, None).map_err(failed)?;
        let levels = [self.chunk.column_descr().max_rep_level(), self.chunk.column_descr().max_def_level()];
        let mut longest = 0;
        while let Some(page) = pages.get_next_page().map_err(failed)? {
            let (content, values, encoding) = match &page {
                Page::DictionaryPage { buf, num_values, .. } => {
                    longest = longest.max(delta::longest_plain(buf, *num_values));
                    if deltas {
                        continue;
                    }
                    // It is the first page.
                    break;
                }
                Page::DataPage { buf, num_values, encoding, rep_level_encoding, def_level_encoding, .. } => {
                    let encodings = [*rep_level_encoding, *def_level_encoding];
                    (delta::behind_levels(buf, levels, encodings, *num_values), *num_values, *encoding)
                }
                Page::DataPageV2 { buf, num_values, encoding, def_levels_byte_len, rep_levels_byte_len, .. } => {
                    let levels = *def_levels_byte_len as usize + *rep_levels_byte_len as usize;
                    (buf.get(levels..), *num_values, *encoding)
                }
            };
            let sound = match (encoding, content) {
                (Encoding::DELTA_LENGTH_BYTE_ARRAY, Some(content)) => delta::lengths(content, values).is_some(),
                (Encoding::DELTA_BYTE_ARRAY, Some(content)) => delta::lengths(content, values)
                    .and_then(|length| delta::lengths(content.get(length..)?, values))
                    .is_some(),
                (Encoding::DELTA_LENGTH_BYTE_ARRAY | Encoding::DELTA_BYTE_ARRAY, None) => false,
                _ => true,
            };
            if !sound {
                return self.wrong("has a page that declares more lengths than values, or lengths that are cut off");
            }
        }
        Ok(longest)
    }
}

/// `Encoding`s of the format.
const DELTA_LENGTHS: i64 = 6;
const DELTA_STRINGS: i64 = 7;

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum PageKind {
    Data,
    Dictionary,
    #[default]
    Other,
}

/// What a page header says.
#[derive(Default)]
struct PageHeader {
    kind: PageKind,
    unpacked: i64,
    packed: i64,
    values: i64,
    encoding: i64,
    sum: Option<u32>,
}

impl Visitor for PageHeader {
    fn number(&mut self, path: &[i16], value: i64) {
        match path {
            [1] => {
                self.kind = match value {
                    0 | 3 => PageKind::Data,
                    2 => PageKind::Dictionary,
                    _ => PageKind::Other,
                }
            }
            [2] => self.unpacked = value,
            [3] => self.packed = value,
            // It has no sign, and is written with one.
            [4] => self.sum = Some(value as u32),
            [5 | 7 | 8, 1] => self.values = value,
            [5, 2] | [8, 4] => self.encoding = value,
            _ => {}
        }
    }
}

/// Reads bytes as each structure that is checked, for fuzzers.
pub(crate) fn fuzz(bytes: &[u8]) {
    for shape in [shapes::FOOTER, shapes::PAGE_HEADER] {
        if let Ok(length) = walk(bytes, shape, &mut Tree::default()) {
            assert!(length <= bytes.len());
        }
    }
    if let Some(length) = delta::lengths(bytes, u32::MAX) {
        assert!(length <= bytes.len());
    }
    let count = bytes.first().copied().unwrap_or_default().into();
    assert!(delta::longest_plain(bytes, count) <= bytes.len());
    let rest = delta::behind_levels(bytes, [1, 3], [Encoding::RLE, Encoding::PLAIN], count);
    assert!(rest.is_none_or(|rest| rest.len() < bytes.len()));
}

#[cfg(test)]
mod tests;
