//! The keys of a table that outgrows memory, in a work folder: the first pass divides them among partitions by their
//! digests, and then takes one partition after the other to memory and drops the keys that rows repeat.

use std::fmt;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use crate::key::Digests;
use crate::spill::{RowRuns, Spill};
use crate::table::read::beside::GatheredRows;
use crate::table::read::beside::payload::PayloadCollector;
use crate::table::read::distinct::DistinctKeys;
use crate::table::read::faults::OnFault;
use crate::table::read::row_digests::RowDigests;
use crate::table::{Duplicates, KeyStats, MAX_PAYLOAD_WIDTH, NO_KEY, PayloadTable, TableError};

/// How many partitions: of 10^9 keys, one takes some 400 MB of memory while it is worked on.
const PARTITIONS: usize = 256;

/// Memory of the partitions' buffers while they are written.
const ROOM: usize = 16 << 20;

/// Bytes of a row and its digest.
const HEAD: usize = 4 + 32;

/// The distinct keys of a table, with their payload where there is one.
pub struct SpilledKeys {
    keys: Option<Written>,
    folder: PathBuf,
    /// Each row that repeats the key of an earlier row, which the run sorts by: its record is the row that repeats it.
    duplicates: RowRuns,
    count: u64,
    /// Bytes of a padded payload, where there is one.
    width: Option<usize>,
}

impl fmt::Debug for SpilledKeys {
    /// Digests invite guessing, so they are not shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SpilledKeys").field("keys", &self.count).finish_non_exhaustive()
    }
}

/// The keys, partition by partition.
struct Written {
    /// Those of rows.
    all: Spill,
    /// Those of partitions in which rows repeat some, each once.
    distinct: Spill,
}

/// Some of the distinct keys.
pub struct KeyPartition {
    /// The first row of each key, from 0.
    pub rows: Vec<u32>,
    /// The keys' digests.
    pub digests: Digests,
    /// Their padded payloads, one behind the other; empty where there are none.
    pub payloads: Vec<u8>,
}

impl SpilledKeys {
    /// How many keys.
    pub fn len(&self) -> u64 {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The folder in which they are.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Bytes of the files in the folder.
    pub fn bytes(&self) -> u64 {
        self.duplicates.bytes() + self.keys.as_ref().map_or(0, |keys| keys.all.bytes() + keys.distinct.bytes())
    }

    /// Bytes of a payload.
    pub fn width(&self) -> usize {
        self.width.unwrap_or(0)
    }

    /// The rows that repeat the key of an earlier one.
    pub fn duplicates(&self) -> &RowRuns {
        &self.duplicates
    }

    /// How many partitions there are.
    pub fn partitions(&self) -> usize {
        PARTITIONS
    }

    /// Removes the keys, but not which rows repeat others.
    pub fn forget_keys(&mut self) {
        self.keys = None;
    }

    /// The keys of a partition; none once they are forgotten.
    ///
    /// # Errors
    /// If the disk fails.
    pub fn partition(&self, number: usize) -> Result<KeyPartition, TableError> {
        let bytes = match &self.keys {
            Some(Written { distinct, .. }) if distinct.length(number) > 0 => distinct.read(number)?,
            Some(Written { all, .. }) => all.read(number)?,
            None => Vec::new(),
        };
        let mut keys = KeyPartition { rows: Vec::new(), digests: Digests::default(), payloads: Vec::new() };
        for record in Records::of(&bytes, self.width.is_some()) {
            keys.rows.push(record.row);
            keys.digests.push(record.digest);
            keys.payloads.extend_from_slice(record.payload);
            keys.payloads.resize(keys.rows.len() * self.width(), 0);
        }
        Ok(keys)
    }
}

/// A row and its key.
struct Record<'a> {
    row: u32,
    digest: [u128; 2],
    payload: &'a [u8],
    /// All of it, as it is written.
    bytes: &'a [u8],
}

/// The records of a partition, one after the other.
struct Records<'a> {
    bytes: &'a [u8],
    have_payload: bool,
}

impl<'a> Records<'a> {
    fn of(bytes: &'a [u8], have_payload: bool) -> Self {
        Self { bytes, have_payload }
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Record<'a>;

    fn next(&mut self) -> Option<Record<'a>> {
        let all = self.bytes;
        let (row, rest) = all.split_first_chunk()?;
        let (low, rest) = rest.split_first_chunk()?;
        let (high, mut rest) = rest.split_first_chunk()?;
        let mut payload: &[u8] = &[];
        if self.have_payload {
            let (length, behind) = rest.split_first_chunk()?;
            (payload, rest) = behind.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        }
        self.bytes = rest;
        Some(Record {
            row: u32::from_le_bytes(*row),
            digest: [u128::from_le_bytes(*low), u128::from_le_bytes(*high)],
            payload,
            bytes: all.get(..all.len() - rest.len())?,
        })
    }
}

/// Takes the keys of rows as they are read.
pub(super) struct Partitions {
    written: Spill,
}

impl Partitions {
    pub fn create(folder: &Path) -> Result<Self, TableError> {
        Ok(Self { written: Spill::create(folder, PARTITIONS, ROOM)? })
    }

    /// Takes the keys of some rows, which follow `first` others.
    pub fn take(
        &mut self,
        source: &str,
        first: u64,
        rows: &RowDigests<'_>,
        on_fault: &mut OnFault,
    ) -> Result<(), TableError> {
        let payloads = match &rows.beside {
            GatheredRows::Payload(payloads) => Some(payloads),
            _ => None,
        };
        for (place, (&in_part, [low, high])) in rows.keyed.iter().zip(rows.digests.iter()).enumerate() {
            let row = first + u64::from(in_part);
            // The low half's first bits are the hash of tables of digests.
            let partition = (high >> 120) as usize;
            let mut head = [0; HEAD];
            let parts = (row as u32).to_le_bytes().into_iter().chain(low.to_le_bytes()).chain(high.to_le_bytes());
            head.iter_mut().zip(parts).for_each(|(to, from)| *to = from);
            self.written.write(partition, &head)?;
            if let Some(payloads) = payloads {
                let mut record = payloads.record(place);
                if record.len() > MAX_PAYLOAD_WIDTH {
                    let (path, width, limit) = (source.to_owned(), record.len(), MAX_PAYLOAD_WIDTH);
                    on_fault.see(TableError::PayloadTooWide { path, row: row + 1, width, limit })?;
                    // No sound record is empty: it has presence bits.
                    record = &[];
                }
                self.written.write(partition, &(record.len() as u32).to_le_bytes())?;
                self.written.write(partition, record)?;
            }
        }
        Ok(())
    }

    /// Drops repeated keys, and counts. Gives also the payload's fields and width, if there is one.
    pub fn finish(
        self,
        source: &str,
        payload: Option<PayloadCollector>,
        stats: &mut KeyStats,
        on_fault: &mut OnFault,
    ) -> Result<(SpilledKeys, Option<PayloadTable>), TableError> {
        let mut written = self.written;
        written.end_all()?;
        let folder = written.folder().to_owned();
        let mut distinct = Spill::create(&folder, PARTITIONS, 0)?;
        let mut duplicates = RowRuns::create(&folder, 4, PARTITIONS)?;
        let compared = payload.as_ref().map(PayloadCollector::duplicates);
        let (mut count, mut longest, mut conflicts) = (0, 0, Vec::new());
        let numbers: Vec<usize> = (0..PARTITIONS).collect();
        for some in numbers.chunks(rayon::current_num_threads().max(1)) {
            let examined: Vec<_> =
                some.par_iter().map(|&number| Examined::of(&written.read(number)?, compared)).collect();
            for (&number, examined) in some.iter().zip(examined) {
                let examined: Examined = examined?;
                count += examined.count;
                longest = longest.max(examined.longest);
                conflicts.extend(examined.conflicts);
                if !examined.repeated.is_empty() {
                    let again: Vec<u8> =
                        examined.repeated.iter().flat_map(|(_, again)| again.to_le_bytes()).collect();
                    duplicates.add(examined.repeated.iter().map(|&(first, _)| first).zip(0..).collect(), &again)?;
                    distinct.write(number, &examined.distinct)?;
                    distinct.end_stream(number)?;
                }
            }
        }
        conflicts.sort_unstable();
        for row in conflicts {
            on_fault.see(TableError::ConflictingPayloads { path: source.to_owned(), row: u64::from(row) + 1 })?;
        }
        stats.distinct = count;
        stats.duplicate_rows = duplicates.len();
        let payload = payload.map(|payload| payload.without_records(longest));
        let width = payload.as_ref().map(|payload| payload.schema.width);
        Ok((SpilledKeys { keys: Some(Written { all: written, distinct }), folder, duplicates, count, width }, payload))
    }
}

/// What a partition holds.
struct Examined {
    /// How many distinct keys.
    count: u64,
    /// The longest payload.
    longest: usize,
    /// Rows that repeat the key of an earlier row: that row, and the one that repeats it.
    repeated: Vec<(u32, u32)>,
    /// The records of distinct keys, where some are repeated.
    distinct: Vec<u8>,
    /// The rows that have the key of an earlier row and another payload, where that is a fault.
    conflicts: Vec<u32>,
}

impl Examined {
    fn of(bytes: &[u8], payload: Option<Duplicates>) -> Result<Self, TableError> {
        let records = || Records::of(bytes, payload.is_some());
        let mut found = Self { count: 0, longest: 0, repeated: Vec::new(), distinct: Vec::new(), conflicts: Vec::new() };
        let mut digests = Digests::with_capacity(bytes.len() / HEAD);
        for record in records() {
            digests.push(record.digest);
        }
        let mut index = DistinctKeys::with_capacity(digests.len());
        // The first row of each distinct key, and its payload.
        let mut firsts: Vec<(u32, &[u8])> = Vec::new();
        let mut rows = records();
        index.insert_all(&digests, |key, new| {
            let Some(record) = rows.next() else { return Ok(()) };
            if new {
                firsts.push((record.row, record.payload));
                found.longest = found.longest.max(record.payload.len());
            } else if let Some(&(first, kept)) = firsts.get(key as usize) {
                found.repeated.push((first, record.row));
                let differ = kept != record.payload && !kept.is_empty() && !record.payload.is_empty();
                if payload == Some(Duplicates::Refuse) && differ {
                    found.conflicts.push(record.row);
                }
            }
            Ok::<(), TableError>(())
        })?;
        found.count = firsts.len() as u64;
        if !found.repeated.is_empty() {
            let mut first = firsts.iter().peekable();
            for record in records() {
                if first.next_if(|(row, _)| *row == record.row).is_some() {
                    found.distinct.extend_from_slice(record.bytes);
                }
            }
        }
        Ok(found)
    }
}

/// Whether more rows than have numbers would be taken.
pub(super) fn too_many(rows: u64) -> bool {
    rows > u64::from(NO_KEY)
}
