//! Buckets of a table that outgrows memory, in files of its work folder.

use std::fmt;
use std::path::Path;

use vesica_protocols::tasks::SealedPayloads;
use vesica_structures::fields::Gf128;
use vesica_structures::secret::Secret;

use super::partition::{NO_PLACE, Overflow, numbers};
use crate::failure::Failure;
use crate::resume::Going;
use crate::spill::Spill;
use crate::table::{SomeKeys, SpilledKeys, TableError};

/// Memory of the buckets' buffers while they are filled.
const ROOM: usize = 64 << 20;

/// Dummies of `--pad-to` that are divided at a time.
const PADDING_AT_A_TIME: usize = 1 << 16;

/// Buckets of one size. Two streams each: items with their records, and the rows of their keys.
pub(super) struct WorkBuckets {
    spill: Spill,
    /// Bytes of a record.
    width: usize,
}

impl WorkBuckets {
    /// See [`Buckets::in_work_folder`](super::Buckets::in_work_folder).
    pub fn divide(
        keys: &mut SpilledKeys,
        mut padding: impl Iterator<Item = u128>,
        salt: u128,
        (buckets, size): (usize, usize),
        mut dummies: impl Iterator<Item = u128>,
        stop: &dyn Fn() -> Option<Failure>,
    ) -> Result<Self, Failure> {
        let width = keys.width();
        let mut filling =
            Filling { spill: Spill::create(keys.folder(), 2 * buckets, ROOM)?, size, loads: vec![0; buckets] };
        for part in 0..keys.parts() {
            for some in keys.part(part) {
                let SomeKeys { rows, digests, payloads } = some?;
                if let Some(reason) = stop() {
                    return Err(reason);
                }
                let items = digests.fold(salt);
                let numbers = numbers(&items, salt, buckets);
                for (place, ((&item, &row), &bucket)) in items.iter().zip(&rows).zip(&numbers).enumerate() {
                    filling.put(bucket.into(), item, &payloads[place * width..(place + 1) * width], row)?;
                }
            }
            keys.forget(part);
        }
        let no_record = vec![0; width];
        loop {
            let items: Vec<u128> = padding.by_ref().take(PADDING_AT_A_TIME).collect();
            if items.is_empty() {
                break;
            }
            for (&item, &bucket) in items.iter().zip(&numbers(&items, salt, buckets)) {
                filling.put(bucket.into(), item, &no_record, NO_PLACE)?;
            }
        }
        for bucket in 0..buckets {
            while filling.loads[bucket] < size {
                filling.put(bucket, dummies.next().ok_or(Overflow)?, &no_record, NO_PLACE)?;
            }
        }
        let mut spill = filling.spill;
        spill.end_all()?;
        Ok(Self { spill, width })
    }

    pub fn folder(&self) -> &Path {
        self.spill.folder()
    }

    /// The items of a bucket, and their records.
    pub fn items(&self, bucket: usize) -> Result<(Vec<u128>, Vec<u8>), TableError> {
        let bytes = self.spill.read(2 * bucket)?;
        let (mut items, mut records) = (Vec::new(), Vec::new());
        items.reserve_exact(bytes.len() / (16 + self.width));
        records.reserve_exact(items.capacity() * self.width);
        let mut rest = &bytes[..];
        while let Some((item, behind)) = rest.split_first_chunk() {
            let (record, behind) = behind.split_at_checked(self.width).unwrap_or_default();
            items.push(u128::from_le_bytes(*item));
            records.extend_from_slice(record);
            rest = behind;
        }
        Ok((items, records))
    }

    /// The row of each item of a bucket, or [`NO_PLACE`].
    pub fn rows(&self, bucket: usize) -> Result<Vec<u32>, TableError> {
        let bytes = self.spill.read(2 * bucket + 1)?;
        Ok(bytes.as_chunks().0.iter().copied().map(u32::from_le_bytes).collect())
    }
}

/// Buckets that are not full yet.
struct Filling {
    spill: Spill,
    size: usize,
    /// Items of each bucket so far.
    loads: Vec<usize>,
}

impl Filling {
    fn put(&mut self, bucket: usize, item: u128, record: &[u8], row: u32) -> Result<(), Failure> {
        if self.loads[bucket] == self.size {
            return Err(Overflow.into());
        }
        self.loads[bucket] += 1;
        self.spill.write(2 * bucket, &item.to_le_bytes())?;
        self.spill.write(2 * bucket, record)?;
        Ok(self.spill.write(2 * bucket + 1, &row.to_le_bytes())?)
    }
}

/// What the runs of buckets found.
pub struct KeptMatches {
    kept: Kept,
    /// How many matched in each bucket, of those that are kept.
    counts: Vec<Option<usize>>,
    /// Which buckets are run.
    due: Vec<usize>,
}

/// Where it is kept.
enum Kept {
    /// In a file without a name: the numbers of a bucket's items that matched, for buckets of so many items.
    Spill(Spill, usize),
    /// In the record of a run that can go on where it broke off, with the partner's payloads.
    Record(Box<Going>),
}

/// What a run of a bucket gave that is kept.
pub struct ToKeep<'a> {
    /// The numbers of the items that matched.
    pub matches: &'a mut Vec<u32>,
    /// The partner's payloads of these.
    pub payloads: Option<&'a mut SealedPayloads>,
}

impl fmt::Debug for ToKeep<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ToKeep(..)")
    }
}

impl fmt::Debug for KeptMatches {
    /// How many match is not shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeptMatches").finish_non_exhaustive()
    }
}

impl KeptMatches {
    /// For so many buckets of one size, which are all due.
    pub(super) fn create(folder: &Path, buckets: usize, size: usize) -> Result<Self, Failure> {
        // One bucket is written at a time.
        let kept = Kept::Spill(Spill::create(folder, buckets, usize::MAX)?, size);
        Ok(Self { kept, counts: vec![None; buckets], due: (0..buckets).collect() })
    }

    /// For so many buckets of a run that is kept in a record.
    pub(super) fn recorded(going: Going, buckets: usize) -> Self {
        let due = going.due().iter().copied().filter(|&bucket| bucket < buckets).collect();
        Self { kept: Kept::Record(Box::new(going)), counts: vec![None; buckets], due }
    }

    /// The buckets that are run, ascending.
    pub fn due(&self) -> &[usize] {
        &self.due
    }

    /// The run that is kept in a record, if it is.
    pub(crate) fn going(&mut self) -> Option<&mut Going> {
        match &mut self.kept {
            Kept::Spill(..) => None,
            Kept::Record(going) => Some(going),
        }
    }

    /// Whether the run is kept in a record.
    pub fn is_recorded(&self) -> bool {
        matches!(self.kept, Kept::Record(_))
    }

    /// Notes that a bucket is about to be run.
    ///
    /// # Errors
    /// If the record cannot be written.
    pub fn begin(&mut self) -> Result<(), Failure> {
        match &mut self.kept {
            Kept::Spill(..) => Ok(()),
            Kept::Record(going) => going.begin_bucket(),
        }
    }

    /// Keeps what a bucket gave, unless it is kept already, and takes it from memory. `transcript` is the hash of all that
    /// was said. As many bytes are written whatever matched: the partner may time it.
    ///
    /// # Errors
    /// If the disk fails.
    pub fn put(
        &mut self,
        bucket: usize,
        found: Option<ToKeep<'_>>,
        transcript: Option<[u8; 32]>,
    ) -> Result<(), Failure> {
        if self.counts[bucket].is_some() {
            return Ok(());
        }
        match (&mut self.kept, found) {
            (Kept::Spill(..), None) => Ok(()),
            (Kept::Spill(spill, size), Some(ToKeep { matches, .. })) => {
                let matches = std::mem::take(matches);
                self.counts[bucket] = Some(matches.len());
                let mut bytes = vec![0; 4 * matches.len().max(*size)];
                bytes.as_chunks_mut().0.iter_mut().zip(&matches).for_each(|(to, number)| *to = number.to_le_bytes());
                spill.write(bucket, &bytes)?;
                Ok(spill.end_stream(bucket)?)
            }
            (Kept::Record(going), found) => {
                let (matches, payloads) = match found {
                    None => Default::default(),
                    Some(ToKeep { matches, payloads }) => {
                        (std::mem::take(matches), payloads.map(std::mem::take).unwrap_or_default())
                    }
                };
                self.counts[bucket] = Some(matches.len());
                going.end_bucket(bucket, &transcript.unwrap_or_default(), matches, payloads)
            }
        }
    }

    /// How many there are in all buckets. Not to be asked before the conversation is over: it takes time by what earlier
    /// ones have found.
    ///
    /// # Errors
    /// If the record cannot be read.
    pub(super) fn count(&self) -> Result<u64, Failure> {
        let mut all = 0;
        for (bucket, count) in self.counts.iter().enumerate() {
            all += match (count, &self.kept) {
                (Some(count), _) => *count as u64,
                (None, Kept::Spill(..)) => 0,
                (None, Kept::Record(going)) => going.found(bucket)?.0.len() as u64,
            };
        }
        Ok(all)
    }

    /// Those of a bucket, with their payloads where these are kept with them.
    pub(super) fn of(&self, bucket: usize) -> Result<(Vec<u32>, Option<Vec<u8>>), Failure> {
        match &self.kept {
            Kept::Spill(spill, _) => {
                let bytes = spill.read(bucket)?;
                let all = bytes.as_chunks().0.iter().copied().map(u32::from_le_bytes);
                Ok((all.take(self.counts[bucket].unwrap_or(0)).collect(), None))
            }
            Kept::Record(going) => {
                let (matches, payloads) = going.found(bucket)?;
                Ok((matches, Some(payloads)))
            }
        }
    }
}

/// What the runs of buckets keep of their items from one pass to the next.
pub(super) struct BetweenPasses(Spill);

impl BetweenPasses {
    /// For so many buckets.
    pub fn create(folder: &Path, buckets: usize) -> Result<Self, Failure> {
        // One bucket is written at a time.
        Ok(Self(Spill::create(folder, buckets, usize::MAX)?))
    }

    /// Keeps what a bucket has, and takes it from memory.
    pub fn put(&mut self, bucket: usize, kept: &mut Secret<Vec<Gf128>>) -> Result<(), Failure> {
        for value in kept.iter() {
            self.0.write(bucket, &value.0.to_le_bytes())?;
        }
        *kept = Secret::new(Vec::new());
        Ok(self.0.end_stream(bucket)?)
    }

    /// What a bucket has kept.
    pub fn take(&self, bucket: usize) -> Result<Secret<Vec<Gf128>>, Failure> {
        let bytes = Secret::new(self.0.read(bucket)?);
        let values = bytes.as_chunks().0.iter().copied().map(u128::from_le_bytes).map(Gf128);
        Ok(Secret::new(values.collect()))
    }
}
