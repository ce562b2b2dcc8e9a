//! The keys of a table that outgrows memory, in a work folder: the first pass divides the rows among partitions by the
//! digests of their keys. Then one partition after the other is read, and the first row of each key is kept.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::key::{Digest, Digests};
use crate::spill::{RowRuns, Spill, SpillReader};
use crate::table::read::beside::payload::PayloadCollector;
use crate::table::read::beside::values::{ValueCollector, ValueRows};
use crate::table::read::beside::{GatheredRows, KeyedRow};
use crate::table::read::distinct::DistinctKeys;
use crate::table::read::faults::{Fault, OnFault};
use crate::table::read::row_digests::RowDigests;
use crate::table::{Duplicates, KeyStats, MAX_PAYLOAD_WIDTH, PayloadTable, TableError, ValueTable};

/// How many partitions, as a power of 2: of 10^9 keys, one takes some 200 MB of memory while it is worked on.
const PARTITION_BITS: u32 = 9;

/// Memory of the partitions' buffers while they are written.
const ROOM: usize = 32 << 20;

/// Files of all partitions: what a partition takes on the disk is given back with the others of its file.
const FILES: usize = 32;

/// Bytes of a row and its digest.
const HEAD: usize = 4 + 32;

/// Keys that are worked on at a time.
const KEYS_AT_A_TIME: usize = 1 << 12;

/// Rows that repeat a key and are sorted together.
const REPEATED_AT_A_TIME: usize = 1 << 20;

/// The distinct keys of a table, with their payload or their values where there are any, in records of one width, so that
/// the time of reading them says nothing of the table but their number (and where the system's cache does not hold them,
/// perhaps whether any key is repeated).
pub struct SpilledKeys {
    /// A stream for each partition.
    keys: Spill,
    folder: PathBuf,
    /// Each row that repeats the key of an earlier row, which the runs sort by: its record is the row that repeats it.
    duplicates: RowRuns,
    count: u64,
    /// Bytes of a padded payload, or of all values of a key.
    width: usize,
    hash: Option<[u8; 32]>,
}

impl fmt::Debug for SpilledKeys {
    /// Digests invite guessing, so they are not shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SpilledKeys").field("keys", &self.count).finish_non_exhaustive()
    }
}

/// Some of the distinct keys.
pub struct SomeKeys {
    /// The first row of each key, from 0.
    pub rows: Vec<u32>,
    /// The keys' digests.
    pub digests: Digests,
    /// Their padded payloads, or values of 8 bytes, one behind the other; empty where there are none.
    pub payloads: Vec<u8>,
}

impl fmt::Debug for SomeKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SomeKeys").field("keys", &self.rows.len()).finish_non_exhaustive()
    }
}

/// Gives the keys of some parts, some at a time.
pub struct AllKeys<'a> {
    keys: &'a Spill,
    /// The parts that are not begun.
    parts: Range<usize>,
    reader: Option<SpillReader<'a>>,
    width: usize,
}

impl fmt::Debug for AllKeys<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AllKeys(..)")
    }
}

impl AllKeys<'_> {
    /// The next keys; none behind the last.
    fn some(&mut self) -> Result<SomeKeys, TableError> {
        let mut some = SomeKeys { rows: Vec::new(), digests: Digests::default(), payloads: Vec::new() };
        let width = HEAD + self.width;
        while some.rows.is_empty() {
            let Some(reader) = &mut self.reader else {
                let Some(next) = self.parts.next() else { break };
                self.reader = Some(self.keys.reader(next));
                continue;
            };
            for record in reader.some(width, KEYS_AT_A_TIME)?.chunks_exact(width) {
                let (head, payload) = record.split_at_checked(HEAD).unwrap_or_default();
                let (row, digest) = read_head(head);
                some.rows.push(row);
                some.digests.push(digest);
                some.payloads.extend_from_slice(payload);
            }
            if some.rows.is_empty() {
                self.reader = None;
            }
        }
        Ok(some)
    }
}

impl Iterator for AllKeys<'_> {
    type Item = Result<SomeKeys, TableError>;

    fn next(&mut self) -> Option<Self::Item> {
        let some = self.some();
        if some.is_err() {
            (self.reader, self.parts) = (None, 0..0);
        }
        Some(some).filter(|some| !some.as_ref().is_ok_and(|some| some.rows.is_empty()))
    }
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
        self.duplicates.bytes() + self.keys.bytes()
    }

    /// Bytes of a payload, or of all values of a key.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The hash of all keys with their rows and payloads, where a key for it was given.
    pub fn hash(&self) -> Option<[u8; 32]> {
        self.hash
    }

    /// The rows that repeat the key of an earlier one.
    pub fn duplicates(&self) -> &RowRuns {
        &self.duplicates
    }

    /// How many parts the keys are in.
    pub fn parts(&self) -> usize {
        self.keys.streams()
    }

    /// The keys of a part; none once they are forgotten.
    pub fn part(&self, part: usize) -> AllKeys<'_> {
        AllKeys { keys: &self.keys, parts: part..part + 1, reader: None, width: self.width }
    }

    /// Removes the keys of a part, but not which rows repeat others.
    pub fn forget(&mut self, part: usize) {
        self.keys.release(part);
    }

    /// All keys.
    pub fn all(&self) -> AllKeys<'_> {
        AllKeys { keys: &self.keys, parts: 0..self.parts(), reader: None, width: self.width }
    }
}

/// A row and its digest.
fn head(reader: &mut SpillReader<'_>) -> Result<Option<(u32, Digest)>, TableError> {
    Ok(reader.next(HEAD)?.map(read_head))
}

/// A row and its digest, of the bytes of [`head_bytes`].
fn read_head(bytes: &[u8]) -> (u32, Digest) {
    let number = |bytes: Option<&[u8; 16]>| bytes.copied().map_or(0, u128::from_le_bytes);
    let (row, digest) = bytes.split_first_chunk().unwrap_or((&[0; 4], &[]));
    let (low, high) = digest.split_at_checked(16).unwrap_or_default();
    (u32::from_le_bytes(*row), [number(low.first_chunk()), number(high.first_chunk())])
}

fn head_bytes(row: u32, [low, high]: Digest) -> [u8; HEAD] {
    let mut bytes = [0; HEAD];
    let (start, digest) = bytes.split_at_mut(4);
    let (first, second) = digest.split_at_mut(16);
    start.copy_from_slice(&row.to_le_bytes());
    first.copy_from_slice(&low.to_le_bytes());
    second.copy_from_slice(&high.to_le_bytes());
    bytes
}

/// Takes the keys of rows as they are read.
pub(super) struct Partitions {
    written: Spill,
    /// Whoever brings rows to the table could otherwise bring many of one partition.
    secret: u128,
    /// What hashes the table, if that is asked for.
    hasher: Option<blake3::Hasher>,
}

impl Partitions {
    /// With a key, the table is hashed under it: the same rows give the same hash.
    pub fn create(folder: &Path, hash_key: Option<&[u8; 32]>) -> Result<Self, TableError> {
        let written = Spill::create_in_files(folder, 1 << PARTITION_BITS, ROOM, FILES)?;
        let secret = match hash_key {
            None => written.random()?,
            Some(key) => {
                let mut secret = [0; 16];
                blake3::Hasher::new_keyed(key).update(b"partitions").finalize_xof().fill(&mut secret);
                u128::from_le_bytes(secret)
            }
        };
        // An odd factor, so that nothing is lost.
        Ok(Self { written, secret: secret | 1, hasher: hash_key.map(blake3::Hasher::new_keyed) })
    }

    /// Takes the keys of some rows, which follow `first` others.
    pub fn take(
        &mut self,
        source: &str,
        first: u64,
        rows: &RowDigests<'_>,
        on_fault: &mut OnFault,
    ) -> Result<(), TableError> {
        let mut of_row = Vec::new();
        for (place, (&in_part, digest)) in rows.keyed.iter().zip(rows.digests.iter()).enumerate() {
            let row = first + u64::from(in_part);
            let [_, high] = digest;
            let partition = (high.wrapping_mul(self.secret) >> (u128::BITS - PARTITION_BITS)) as usize;
            self.written.write(partition, &head_bytes(row as u32, digest))?;
            match &rows.beside {
                GatheredRows::Payload(payloads) => {
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
                GatheredRows::Values(values) => {
                    of_row.clear();
                    values.write_row(place, &mut of_row);
                    self.written.write(partition, &of_row)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Keeps one row of each key, and counts.
    pub fn finish(
        self,
        source: &str,
        beside: BesideSpilled,
        stats: &mut KeyStats,
        on_fault: &mut OnFault,
    ) -> Result<FromPartitions, TableError> {
        let mut written = self.written;
        written.end_all()?;
        let folder = written.folder().to_owned();
        let compared = match &beside {
            BesideSpilled::Payload(payload) => Some(payload.duplicates()),
            BesideSpilled::Nothing | BesideSpilled::Values(_) => None,
        };
        let mut firsts = Firsts {
            source,
            compared,
            hash_key: blake3::derive_key("vesica 2026-11-29 comparison of payloads v1", &self.secret.to_le_bytes()),
            anew: Spill::create_in_files(&folder, 1 << PARTITION_BITS, usize::MAX, FILES)?,

            duplicates: RowRuns::create(&folder, 4, 1 << PARTITION_BITS)?,
            repeated: Vec::new(),
            count: 0,
            longest: 0,
            conflicts: Vec::new(),
            values: ValueTable::of_no_key(),
            fault: None,
            hasher: self.hasher,
        };
        let mut as_they_were = Vec::new();
        for partition in 0..written.streams() {
            let is_anew = match &beside {
                BesideSpilled::Values(values) => {
                    firsts.take_values(&written, partition, values, on_fault)?;
                    true
                }
                BesideSpilled::Payload(_) => {
                    firsts.take_with_payloads(&written, partition)?;
                    true
                }
                BesideSpilled::Nothing => firsts.take(&written, partition)?,
            };
            if is_anew {
                written.release(partition);
            } else {
                as_they_were.push(partition);
            }
        }
        // All in one place: where they are read later, time could otherwise tell in how many partitions keys are repeated.
        let is_anew = as_they_were.len() < written.streams();
        if is_anew {
            for partition in as_they_were {
                firsts.copy(&written, partition)?;
                written.release(partition);
            }
        }
        if let Some((_, fault)) = firsts.fault.take() {
            return Err(fault);
        }
        firsts.sort_repeated()?;
        let Firsts { mut anew, duplicates, count, longest, mut conflicts, values, hasher, .. } = firsts;
        let hash = hasher.map(|mut hasher| *hasher.update(&stats.rows.to_le_bytes()).finalize().as_bytes());
        conflicts.sort_unstable();
        for row in conflicts {
            on_fault.see(TableError::ConflictingPayloads { path: source.to_owned(), row: u64::from(row) + 1 })?;
        }
        stats.distinct = count;
        stats.duplicate_rows = duplicates.len();
        let (mut payload, mut totals) = (None, None);
        let width = match beside {
            BesideSpilled::Nothing => 0,
            BesideSpilled::Payload(collector) => {
                let PayloadTable { schema, .. } = payload.insert(collector.without_records(longest));
                anew = padded(anew, schema.width)?;
                schema.width
            }
            BesideSpilled::Values(collector) => {
                totals = Some(values);
                8 * collector.columns()
            }
        };
        let keys = if is_anew { anew } else { written };
        let keys = SpilledKeys { keys, folder, duplicates, count, width, hash };
        Ok(FromPartitions { keys, payload, values: totals })
    }
}

/// What stands beside the keys in a work folder.
pub(super) enum BesideSpilled {
    Nothing,
    Payload(PayloadCollector),
    /// Values without groups.
    Values(ValueCollector),
}

/// What all rows gave.
pub(super) struct FromPartitions {
    pub keys: SpilledKeys,
    /// The payload's fields and width, if there is one.
    pub payload: Option<PayloadTable>,
    /// Where there are values: the total of each column, as if one key had them, and how many values were clamped.
    pub values: Option<ValueTable>,
}

/// The first row of each key, of one partition after the other.
struct Firsts<'a> {
    /// The name of the table.
    source: &'a str,
    /// What becomes of rows that share a key and differ in payload, where there is a payload.
    compared: Option<Duplicates>,
    /// Under which payloads are hashed.
    hash_key: [u8; 32],
    /// Their records, a stream for each partition.
    anew: Spill,
    /// The other rows.
    duplicates: RowRuns,
    /// Those of them that are not sorted yet: the first row of the key, and the row that repeats it.
    repeated: Vec<(u32, u32)>,
    count: u64,
    /// The longest payload.
    longest: usize,
    /// The rows that have the key of an earlier row and another payload, where that is a fault.
    conflicts: Vec<u32>,
    /// What the values add up to.
    values: ValueTable,
    /// The first row at which a run ends, and why. Known when all partitions are read, which have rows from everywhere.
    fault: Option<(u64, TableError)>,
    hasher: Option<blake3::Hasher>,
}

impl Firsts<'_> {
    /// Takes a partition whose rows have nothing beside their keys. Writes it anew if a key is repeated, and says so.
    fn take(&mut self, written: &Spill, partition: usize) -> Result<bool, TableError> {
        let mut index = DistinctKeys::with_capacity(0);
        let mut firsts: Vec<u32> = Vec::new();
        let (mut some, mut all) = (SomeRows::default(), 0);
        let mut rows = written.reader(partition);
        while some.read(&mut rows, Some(HEAD))? {
            let mut next = some.rows.iter();
            index.insert_all(&some.digests, |key, new| {
                let Some(&row) = next.next() else { return Ok(()) };
                if new {
                    firsts.push(row);
                } else if let Some(&first) = firsts.get(key as usize) {
                    self.repeated.push((first, row));
                }
                Ok::<(), TableError>(())
            })?;
            all += some.rows.len();
            self.have_taken(&some)?;
        }
        self.count += firsts.len() as u64;
        if firsts.len() == all {
            return Ok(false);
        }
        // The rows of a partition are in their order.
        let (mut rows, mut firsts) = (written.reader(partition), firsts.into_iter().peekable());
        while some.read(&mut rows, Some(HEAD))? {
            for (row, record) in some.each() {
                if firsts.next_if_eq(&row).is_some() {
                    self.anew.write(partition, record)?;
                }
            }
        }
        self.anew.end_stream(partition)?;
        Ok(true)
    }

    /// Writes a partition anew that repeats no key.
    fn copy(&mut self, written: &Spill, partition: usize) -> Result<(), TableError> {
        let mut rows = written.reader(partition);
        loop {
            let some = rows.some(HEAD, KEYS_AT_A_TIME)?;
            if some.is_empty() {
                return self.anew.end_stream(partition);
            }
            self.anew.write(partition, some)?;
        }
    }

    /// Takes a partition whose rows have payloads.
    fn take_with_payloads(&mut self, written: &Spill, partition: usize) -> Result<(), TableError> {
        let mut index = DistinctKeys::with_capacity(0);
        // Of each distinct key the first row, and the hash of its payload unless that is to be left out of account.
        let mut firsts: Vec<(u32, Option<u128>)> = Vec::new();
        let (mut some, mut distinct) = (SomeRows::default(), Vec::new());
        let mut rows = written.reader(partition);
        while some.read(&mut rows, None)? {
            let mut next = some.each();
            distinct.clear();
            index.insert_all(&some.digests, |key, new| {
                let Some((row, record)) = next.next() else { return Ok(()) };
                let payload = record.get(HEAD + 4..).unwrap_or_default();
                let hash = (self.compared == Some(Duplicates::Refuse) && !payload.is_empty())
                    .then(|| hash(&self.hash_key, payload));
                if new {
                    firsts.push((row, hash));
                    self.longest = self.longest.max(payload.len());
                    distinct.extend_from_slice(record);
                } else if let Some(&(first, kept)) = firsts.get(key as usize) {
                    self.repeated.push((first, row));
                    if kept.zip(hash).is_some_and(|(kept, hash)| kept != hash) {
                        self.conflicts.push(row);
                    }
                }
                Ok::<(), TableError>(())
            })?;
            self.anew.write(partition, &distinct)?;
            self.have_taken(&some)?;
        }
        self.count += firsts.len() as u64;
        self.anew.end_stream(partition)
    }

    /// Takes a partition whose rows have values.
    fn take_values(
        &mut self,
        written: &Spill,
        partition: usize,
        values: &ValueCollector,
        on_fault: &mut OnFault,
    ) -> Result<(), TableError> {
        let (mut index, mut collector) = (DistinctKeys::with_capacity(0), values.anew());
        // The row and digest of each distinct key.
        let mut firsts: Vec<[u8; HEAD]> = Vec::new();
        let (mut some, mut said) = (SomeRows::default(), values.rows());
        let width = HEAD + ValueRows::spilled_width(values.columns());
        let mut rows = written.reader(partition);
        while some.read(&mut rows, Some(width))? {
            said.clear();
            some.records.chunks_exact(width).for_each(|record| said.read_row(record.get(HEAD..).unwrap_or_default()));
            let mut next = some.each().enumerate();
            let taken = index.insert_all(&some.digests, |key, new| {
                let Some((place, (row, record))) = next.next() else { return Ok(()) };
                let at = KeyedRow { source: self.source, key: key as usize, new, row: u64::from(row) + 1 };
                collector.take(&said, place, at, on_fault)?;
                match firsts.get(key as usize).and_then(|first| first.first_chunk()) {
                    Some(first) => self.repeated.push((u32::from_le_bytes(*first), row)),
                    None => firsts.push(record.first_chunk().copied().unwrap_or([0; HEAD])),
                }
                Ok(())
            });
            if let Err(error) = taken {
                return self.end_at(error);
            }
            self.have_taken(&some)?;
        }
        let of_keys = collector.finish();
        for (first, values) in firsts.iter().zip(of_keys.values.chunks(values.columns().max(1))) {
            self.anew.write(partition, first)?;
            values.iter().try_for_each(|value| self.anew.write(partition, &value.to_le_bytes()))?;
        }
        self.values.add(&of_keys, values.columns());
        self.count += firsts.len() as u64;
        self.anew.end_stream(partition)
    }

    /// Hashes rows that were taken, and sorts those that repeat others when there are many.
    fn have_taken(&mut self, some: &SomeRows) -> Result<(), TableError> {
        if let Some(hasher) = &mut self.hasher {
            hasher.update(&some.records);
        }
        if self.repeated.len() >= REPEATED_AT_A_TIME { self.sort_repeated() } else { Ok(()) }
    }

    /// Notes a fault at which the run ends, unless an earlier row has one. The rows of a partition are in their order.
    fn end_at(&mut self, fault: TableError) -> Result<(), TableError> {
        let Some(row) = Fault::of(&fault).rows.first().copied() else { return Err(fault) };
        if self.fault.as_ref().is_none_or(|(before, _)| row < *before) {
            self.fault = Some((row, fault));
        }
        Ok(())
    }

    fn sort_repeated(&mut self) -> Result<(), TableError> {
        let repeated = std::mem::take(&mut self.repeated);
        let again: Vec<u8> = repeated.iter().flat_map(|(_, again)| again.to_le_bytes()).collect();
        self.duplicates.add(repeated.iter().map(|&(first, _)| first).zip(0..).collect(), &again)
    }
}

/// Some rows of a partition.
#[derive(Default)]
struct SomeRows {
    rows: Vec<u32>,
    digests: Digests,
    /// As they were written, one behind the other, and where each ends.
    records: Vec<u8>,
    ends: Vec<usize>,
}

impl SomeRows {
    /// Reads the next ones, which have `width` bytes each, or else say their lengths; `false` at the end.
    fn read(&mut self, from: &mut SpillReader<'_>, width: Option<usize>) -> Result<bool, TableError> {
        self.rows.clear();
        self.digests.clear();
        self.records.clear();
        self.ends.clear();
        if let Some(width) = width {
            for record in from.some(width, KEYS_AT_A_TIME)?.chunks_exact(width) {
                self.push(record);
                self.records.extend_from_slice(record);
                self.ends.push(self.records.len());
            }
        } else {
            while self.rows.len() < KEYS_AT_A_TIME && self.records.len() < 1 << 20 {
                let Some(start) = from.next(HEAD + 4)? else { break };
                let (head, length) = start.split_at_checked(HEAD).unwrap_or_default();
                let length = length.first_chunk().copied().map_or(0, u32::from_le_bytes) as usize;
                self.push(head);
                self.records.extend_from_slice(start);
                if length > 0 {
                    self.records.extend_from_slice(from.next(length)?.unwrap_or_default());
                }
                self.ends.push(self.records.len());
            }
        }
        Ok(!self.rows.is_empty())
    }

    /// Takes the row and digest with which a record begins.
    fn push(&mut self, record: &[u8]) {
        let (row, digest) = read_head(record.get(..HEAD).unwrap_or_default());
        self.rows.push(row);
        self.digests.push(digest);
    }

    /// The rows, each with its record.
    fn each(&self) -> impl Iterator<Item = (u32, &[u8])> {
        let starts = [0].into_iter().chain(self.ends.iter().copied());
        let records = starts.zip(&self.ends).map(|(start, &end)| self.records.get(start..end).unwrap_or_default());
        self.rows.iter().copied().zip(records)
    }
}

/// Tells payloads apart. Under a key of the run, so that nobody can look for two that are alike.
fn hash(key: &[u8; 32], payload: &[u8]) -> u128 {
    let mut hash = [0; 16];
    blake3::Hasher::new_keyed(key).update(payload).finalize_xof().fill(&mut hash);
    u128::from_le_bytes(hash)
}

/// The records of all streams with their payloads padded to this width.
fn padded(mut records: Spill, width: usize) -> Result<Spill, TableError> {
    let mut padded = Spill::create_in_files(records.folder(), records.streams(), usize::MAX, FILES)?;
    let mut payload = vec![0; width];
    for stream in 0..records.streams() {
        let mut reader = records.reader(stream);
        while let Some((row, digest)) = head(&mut reader)? {
            let length = reader.next(4)?.and_then(|bytes| bytes.first_chunk()).copied().unwrap_or_default();
            let length = u32::from_le_bytes(length) as usize;
            payload.fill(0);
            if length > 0 {
                let bytes = reader.next(length)?.unwrap_or_default();
                payload.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
            }
            padded.write(stream, &head_bytes(row, digest))?;
            padded.write(stream, &payload)?;
        }
        padded.end_stream(stream)?;
        records.release(stream);
    }
    Ok(padded)
}
