//! Rows of a table in their order, each with a record, where they are too many for memory: they come in runs, each of
//! which is sorted by itself, and all runs are merged.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fmt;
use std::path::Path;

use super::{Spill, SpillReader};
use crate::table::TableError;

/// Memory of the runs' buffers while they are merged.
const ROOM: usize = 64 << 20;

/// Runs of rows with records of one width.
pub struct RowRuns {
    spill: Spill,
    /// Bytes of a record.
    width: usize,
    rows: u64,
}

impl fmt::Debug for RowRuns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RowRuns").field("runs", &self.spill.streams()).finish_non_exhaustive()
    }
}

impl RowRuns {
    /// No rows yet, and at most about `runs` runs.
    ///
    /// # Errors
    /// If the folder takes no file.
    pub fn create(folder: &Path, width: usize, runs: usize) -> Result<Self, TableError> {
        // A run is written as a whole, and all are read at once: the room of a stream is that of its chunk when it is read.
        let mut spill = Spill::create(folder, 0, 0)?;
        spill.set_room(ROOM, runs);
        Ok(Self { spill, width, rows: 0 })
    }

    /// How many rows there are.
    pub fn len(&self) -> u64 {
        self.rows
    }

    /// How many bytes the runs' file has.
    pub fn bytes(&self) -> u64 {
        self.spill.bytes()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Adds a run of rows in any order, each with the number of its record among `records`.
    ///
    /// # Errors
    /// If the disk does not take it.
    pub fn add(&mut self, mut rows: Vec<(u32, u32)>, records: &[u8]) -> Result<(), TableError> {
        if rows.is_empty() {
            return Ok(());
        }
        if records.len() != rows.len() * self.width {
            return Err(self.spill.inconsistent());
        }
        rows.sort_unstable();
        let stream = self.spill.add_stream();
        for (row, number) in &rows {
            let start = *number as usize * self.width;
            let record = records.get(start..start + self.width).ok_or_else(|| self.spill.inconsistent())?;
            self.spill.write(stream, &row.to_le_bytes())?;
            self.spill.write(stream, record)?;
        }
        self.rows += rows.len() as u64;
        self.spill.end_stream(stream)
    }

    /// These rows, and for each that `duplicates` names the rows that repeat it, with its record: in the records of
    /// `duplicates`, which are sorted by the row that they repeat.
    ///
    /// # Errors
    /// If the disk fails.
    pub fn repeated(&self, duplicates: &Self) -> Result<Self, TableError> {
        /// Rows of a run that is made here.
        const MOST_ROWS: usize = 1 << 20;
        let most = MOST_ROWS.min(ROOM / (8 + self.width)).max(1);
        let mut repeated = Self::create(self.spill.folder(), self.width, 1 << 10)?;
        if duplicates.is_empty() {
            return Ok(repeated);
        }
        let (mut rows, mut records) = (Vec::new(), Vec::new());
        let (mut found, mut repeats) = (MergedRows::of([self])?, MergedRows::of([duplicates])?);
        let mut repeat = repeats.next_row()?.map(|(first, again)| (first, to_u32(again)));
        while let Some((row, record)) = found.next_row()? {
            while let Some((first, again)) = repeat.filter(|&(first, _)| first <= row) {
                if first == row {
                    rows.push((again, rows.len() as u32));
                    records.extend_from_slice(record);
                }
                if rows.len() >= most {
                    repeated.add(std::mem::take(&mut rows), &records)?;
                    records.clear();
                }
                repeat = repeats.next_row()?.map(|(first, again)| (first, to_u32(again)));
            }
        }
        repeated.add(rows, &records)?;
        Ok(repeated)
    }
}

fn to_u32(bytes: &[u8]) -> u32 {
    bytes.first_chunk().copied().map_or(0, u32::from_le_bytes)
}

/// The rows of all runs, ascending.
pub struct MergedRows<'a> {
    readers: Vec<SpillReader<'a>>,
    /// The next row of each run, and the run.
    next: BinaryHeap<Reverse<(u32, usize)>>,
    width: usize,
    record: Vec<u8>,
}

impl fmt::Debug for MergedRows<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MergedRows(..)")
    }
}

impl<'a> MergedRows<'a> {
    /// Merges the runs of all of these, whose records are of one width.
    ///
    /// # Errors
    /// If the disk fails.
    pub fn of(all: impl IntoIterator<Item = &'a RowRuns>) -> Result<Self, TableError> {
        let (mut readers, mut width) = (Vec::new(), 0);
        for runs in all {
            width = runs.width;
            readers.extend((0..runs.spill.streams()).map(|stream| runs.spill.reader(stream)));
        }
        let mut next = BinaryHeap::with_capacity(readers.len());
        for (run, reader) in readers.iter_mut().enumerate() {
            if let Some(row) = reader.next(4)? {
                next.push(Reverse((to_u32(row), run)));
            }
        }
        Ok(Self { readers, next, width, record: Vec::new() })
    }

    /// The next row and its record.
    ///
    /// # Errors
    /// If the disk fails.
    pub fn next_row(&mut self) -> Result<Option<(u32, &[u8])>, TableError> {
        // The next row of the same run takes the place of this one, which moves fewer others than a removal and an insertion.
        let Some(mut first) = self.next.peek_mut() else { return Ok(None) };
        let Reverse((row, run)) = *first;
        let Some(reader) = self.readers.get_mut(run) else { return Ok(None) };
        self.record.clear();
        if self.width > 0 {
            let record = reader.next(self.width)?.map(|record| self.record.extend_from_slice(record));
            record.ok_or_else(|| reader.inconsistent())?;
        }
        match reader.next(4)? {
            Some(next) => *first = Reverse((to_u32(next), run)),
            None => drop(PeekMut::pop(first)),
        }
        Ok(Some((row, &self.record)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(mut merged: MergedRows<'_>) -> Vec<(u32, Vec<u8>)> {
        let mut found = Vec::new();
        while let Some((row, record)) = merged.next_row().expect("read") {
            found.push((row, record.to_vec()));
        }
        found
    }

    #[test]
    fn runs_are_merged_in_the_order_of_rows_with_their_records() {
        let folder = tempfile::tempdir().expect("a folder");
        for width in [0, 1, 5] {
            let record = |row: u32| vec![row as u8; width];
            let mut runs = RowRuns::create(folder.path(), width, 7).expect("runs");
            for run in 0..7u32 {
                // Descending, with records the other way round.
                let rows: Vec<u32> = (0..2000).rev().filter(|row| row % 9 == run).collect();
                let records: Vec<u8> = rows.iter().rev().flat_map(|&row| record(row)).collect();
                let last = rows.len() as u32 - 1;
                runs.add((0..).zip(&rows).map(|(place, &row)| (row, last - place)).collect(), &records).expect("added");
            }
            let expected: Vec<_> = (0..2000).filter(|row| row % 9 < 7).map(|row| (row, record(row))).collect();
            assert_eq!(runs.len(), expected.len() as u64);
            assert!(all(MergedRows::of([&runs]).expect("read")) == expected, "{width}");
        }
    }

    /// Rows 0 to 99 of even number are found; each row of 1000 and above repeats the row of its last two digits.
    #[test]
    fn rows_that_repeat_others_come_with_the_same_records() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut found = RowRuns::create(folder.path(), 2, 2).expect("runs");
        for run in [0, 2] {
            let rows: Vec<u32> = (run..100).step_by(4).collect();
            let records: Vec<u8> = rows.iter().flat_map(|&row| [row as u8, 7]).collect();
            found.add(rows.into_iter().zip(0..).collect(), &records).expect("added");
        }
        let mut duplicates = RowRuns::create(folder.path(), 4, 3).expect("runs");
        for run in 0..3u32 {
            let again: Vec<u32> = (1000 + 1000 * run..1700 + 1000 * run).collect();
            let records: Vec<u8> = again.iter().flat_map(|again| again.to_le_bytes()).collect();
            duplicates.add(again.iter().map(|again| again % 100).zip(0..).collect(), &records).expect("added");
        }
        let repeated = found.repeated(&duplicates).expect("joined");
        let rows = (0..100).chain((1..4).flat_map(|run| 1000 * run..1000 * run + 700)).filter(|row| row % 2 == 0);
        let expected: Vec<_> = rows.map(|row| (row, vec![(row % 100) as u8, 7])).collect();
        assert!(all(MergedRows::of([&found, &repeated]).expect("read")) == expected);
        let none = RowRuns::create(folder.path(), 4, 1).expect("runs");
        assert!(found.repeated(&none).expect("joined").is_empty());
    }
}
