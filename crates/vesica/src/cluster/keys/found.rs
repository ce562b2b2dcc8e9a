//! From what matched in buckets to rows.

use std::fmt;

use vesica_party::{Malformed, Reader};

use super::share::keys;
use super::{Beside, unreadable};
use crate::cluster::{Division, seal};
use crate::failure::Failure;
use crate::spill::Seal;
use crate::table::{AscendingRows, Join, KeptRows, PayloadSchema, TableError};

/// The seal of what a share's keys gave in an attempt, under the attempt's key.
pub(in crate::cluster) fn seal_of(key: &[u8; 32], share: u32) -> Result<Seal, Failure> {
    const CONTEXT: &str = "vesica 2026-11-29 seal of what matched in a bucket on a cluster v1";
    seal::seal_of(CONTEXT, key, &share.to_le_bytes())
}

/// What matched of a share's keys in an attempt, as its worker left it under the attempt's key.
///
/// # Errors
/// If it was changed.
pub fn open_matched(key: &[u8; 32], share: u32, mut section: Vec<u8>) -> Result<Vec<u8>, Failure> {
    let changed = |_| unreadable(Malformed("other bytes than were written"));
    seal_of(key, share)?.open(&mut section).map_err(changed)?;
    Ok(section)
}

/// What matched in a bucket whose first keys come from shares, so many from each: for each share a bit a key and a record
/// of `width` bytes a key, which is zeros where nothing matched. As long whatever matched. `matches` are places in the
/// bucket, and `records` has one for each place.
pub(in crate::cluster) fn matched_in_shares(
    of_shares: &[usize],
    matches: &[u32],
    records: &[u8],
    width: usize,
) -> Vec<Vec<u8>> {
    let keys = of_shares.iter().sum();
    let mut is_match = vec![false; keys];
    // A partner that sends a dummy back to us gets nothing by it: dummies stand behind all keys.
    for &place in matches {
        if let Some(is_match) = is_match.get_mut(place as usize) {
            *is_match = true;
        }
    }
    let (mut is_match, mut records) = (&is_match[..], records);
    let mut sections = Vec::with_capacity(of_shares.len());
    for &count in of_shares {
        let (here, behind) = is_match.split_at(count);
        let (of_here, of_behind) = records.split_at_checked(count * width).unwrap_or_default();
        let mut section = vec![0; count.div_ceil(8)];
        for (byte, of_byte) in section.iter_mut().zip(here.chunks(8)) {
            *byte = of_byte.iter().rev().fold(0, |bits, &is_match| bits << 1 | u8::from(is_match));
        }
        section.extend_from_slice(of_here);
        (is_match, records) = (behind, of_behind);
        sections.push(section);
    }
    sections
}

/// The rows of a share that match, in a section for each of `files` files of rows: the number of each row and a record
/// of `width` bytes. `matched` gives what matched of this share in a bucket.
///
/// # Errors
/// If a file cannot be read, or does not go with the others.
pub fn find(
    division: &Division,
    beside: &Beside,
    (share, rows): (&[u8], &[u8]),
    (width, files): (usize, usize),
    mut matched: impl FnMut(u32) -> Result<Vec<u8>, Failure>,
) -> Result<Vec<Vec<u8>>, Failure> {
    let digests = keys(beside, share).map(|key| Ok(key?.0)).collect::<Result<Vec<_>, Failure>>()?;
    let numbers = division.buckets_of(digests.into_iter().collect());
    // The keys of the share in each bucket, by their places among all.
    let mut of_buckets: Vec<Vec<usize>> = vec![Vec::new(); division.buckets as usize];
    for (key, &bucket) in numbers.iter().enumerate() {
        if let Some(of_bucket) = of_buckets.get_mut(usize::from(bucket)) {
            of_bucket.push(key);
        }
    }
    let mut records: Vec<Option<Vec<u8>>> = vec![None; numbers.len()];
    for (bucket, of_bucket) in (0..).zip(&of_buckets) {
        if of_bucket.is_empty() {
            continue;
        }
        let section = matched(bucket)?;
        let bits = of_bucket.len().div_ceil(8);
        if section.len() != bits + of_bucket.len() * width {
            return Err(unreadable(Malformed("what matched in a bucket is of other keys")));
        }
        let (of_keys, of_records) = section.split_at(bits);
        for (place, key) in of_bucket.iter().enumerate() {
            let is_match = of_keys.get(place / 8).is_some_and(|byte| byte >> (place % 8) & 1 == 1);
            if let Some(record) = records.get_mut(*key).filter(|_| is_match) {
                *record = Some(of_records.get(place * width..(place + 1) * width).unwrap_or_default().to_vec());
            }
        }
    }
    let mut sections = vec![Vec::new(); files];
    let mut rows = Reader::new(rows);
    for record in records {
        let count = rows.u32().map_err(unreadable)?;
        for _ in 0..count {
            let (file, row) = rows.u32().and_then(|file| Ok((file, rows.u32()?))).map_err(unreadable)?;
            let (Some(record), Some(section)) = (&record, sections.get_mut(file as usize)) else { continue };
            section.extend_from_slice(&row.to_le_bytes());
            section.extend_from_slice(record);
        }
    }
    match rows.remaining() {
        0 => Ok(sections),
        _ => Err(unreadable(Malformed("a share has more rows than keys"))),
    }
}

/// The rows of one file that match, each with the partner's columns.
pub struct FoundRows {
    /// Ascending, each once.
    rows: Vec<(u32, Vec<u8>)>,
    /// How many of them lie behind us.
    passed: usize,
    /// Rows of the file that lie behind us.
    before: u32,
    payload: Option<PayloadSchema>,
    join: Join,
}

impl fmt::Debug for FoundRows {
    /// Which rows match is not shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FoundRows").field("join", &self.join).finish_non_exhaustive()
    }
}

impl FoundRows {
    /// From the file's section of each share.
    ///
    /// # Errors
    /// If a section cannot be read.
    pub fn new(join: Join, payload: Option<PayloadSchema>, sections: &[impl AsRef<[u8]>]) -> Result<Self, Failure> {
        let width = payload.as_ref().map_or(0, |payload| payload.width);
        let mut rows = Vec::new();
        for section in sections {
            let mut bytes = Reader::new(section.as_ref());
            while bytes.remaining() > 0 {
                let row = bytes.u32().and_then(|row| Ok((row, bytes.bytes(width)?.to_vec())));
                rows.push(row.map_err(unreadable)?);
            }
        }
        rows.sort_unstable();
        // A row is in it twice where two alternatives of its key match; there is no payload then.
        rows.dedup_by_key(|(row, _)| *row);
        Ok(Self { rows, passed: 0, before: 0, payload, join })
    }

    /// What the next `count` rows of the file are to become.
    ///
    /// # Errors
    /// If the partner's columns are none that a sender declares.
    pub fn next(&mut self, count: usize) -> Result<KeptRows<'_>, TableError> {
        let (first, end) = (self.before, self.before.saturating_add(count as u32));
        let rest = self.rows.get(self.passed..).unwrap_or_default();
        let here = rest.get(..rest.partition_point(|(row, _)| *row < end)).unwrap_or_default();
        self.passed += here.len();
        self.before = end;
        let rows: AscendingRows<'_> = Box::new(here.iter().map(move |(row, record)| Ok((row - first, record.clone()))));
        KeptRows::ascending(rows, count, self.join, self.payload.as_ref())
    }
}
