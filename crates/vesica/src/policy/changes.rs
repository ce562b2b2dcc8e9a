//! How much a table has changed since an earlier run: a few numbers of a table, by which two tables can be compared
//! without either.
//!
//! Each key is hashed under a secret of this side to one of [`CELLS`] cells and to a 64-bit number, which is added to its
//! cell. A key that two tables share adds the same to both, so that each cell that differs has a key that one of them
//! has alone: if `d` keys differ, at most `d` cells do. So a rule that demands at least `t` changed keys, and goes by at
//! least `t` changed cells, never lets a table pass with fewer. It may refuse one with little more: of `d` random cells
//! `CELLS (1 - exp(-d / CELLS))` are different ones, some `d - d^2 / (2 CELLS)`, which for `d = 1000` is 970. That
//! all numbers of differing keys of a cell add up to zero happens with probability `2^-64` a cell.
//!
//! The same is kept of the keys with the columns and the groups that go along with them, so that a table in which a few
//! values have changed shows as well: a key whose values changed counts twice there. Padding plays no part.

use vesica_structures::secret::Secret;

use crate::failure::Failure;
use crate::key::Digest;
use crate::receipt::to_hex;
use crate::table::KeyTable;

/// Cells of the numbers of a table.
const CELLS: usize = 1 << 14;

/// The most changed keys that a rule can demand.
pub(super) const MOST_LEAST: u32 = 1_000;

/// Bytes of a file of marks.
pub(super) const BYTES: usize = 2 * CELLS * 8;

/// What is kept of a table.
#[derive(Clone, PartialEq, Eq)]
pub struct Marks {
    of_keys: Vec<u64>,
    of_records: Vec<u64>,
}

impl std::fmt::Debug for Marks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Marks(..)")
    }
}

impl Marks {
    /// Of a table, under this side's secret.
    ///
    /// # Errors
    /// If keys that outgrow memory cannot be read again.
    pub(super) fn of(table: &KeyTable, secret: &Secret<[u8; 32]>) -> Result<Self, Failure> {
        let mut marks = Self { of_keys: vec![0; CELLS], of_records: vec![0; CELLS] };
        if let Some(keys) = &table.spilled {
            for some in keys.all() {
                let some = some?;
                let width = some.payloads.len() / some.rows.len().max(1);
                let mut records = some.payloads.chunks(width.max(1));
                for digest in some.digests.iter() {
                    let record = records.next().unwrap_or_default();
                    match table.values.is_some() {
                        true => marks.add(secret, digest, &Beside { values: record, ..Beside::default() }),
                        false => marks.add(secret, digest, &Beside { record, ..Beside::default() }),
                    }
                }
            }
            return Ok(marks);
        }
        let payload = table.payload.as_ref().or(table.union.as_ref().and_then(|union| union.records.as_ref()));
        let mut records = payload.map(|payload| payload.bytes.chunks(payload.schema.width.max(1)));
        let of_values = table.values.as_ref();
        let columns = of_values.map_or(0, |values| values.values.len() / table.digests.len().max(1));
        let mut values = of_values.map(|values| values.values.chunks(columns.max(1)));
        let mut groups = of_values.map(|values| values.groups.iter());
        for digest in table.digests.iter() {
            let record = records.as_mut().and_then(Iterator::next).unwrap_or_default();
            let own = values.as_mut().and_then(Iterator::next).unwrap_or_default();
            let own: Vec<u8> = own.iter().flat_map(|value| value.to_le_bytes()).collect();
            // By its text: the place of a category changes with the others.
            let group = groups.as_mut().and_then(Iterator::next).zip(of_values);
            let group = group.and_then(|(&group, values)| values.categories.get(group as usize)?.as_deref());
            marks.add(secret, digest, &Beside { record, values: &own, group: group.map(str::as_bytes) });
        }
        Ok(marks)
    }

    fn add(&mut self, secret: &[u8; 32], [low, high]: Digest, beside: &Beside<'_>) {
        let mut hasher = blake3::Hasher::new_keyed(secret);
        hasher.update(&low.to_le_bytes()).update(&high.to_le_bytes());
        mark(&mut self.of_keys, &hasher);
        // Zeros pad a record to the longest one of its table.
        let padding = beside.record.iter().rev().take_while(|&&byte| byte == 0).count();
        let record = beside.record.get(..beside.record.len() - padding).unwrap_or_default();
        for part in [Some(record), Some(beside.values), beside.group] {
            let length = part.map_or(u64::MAX, |part| part.len() as u64);
            hasher.update(&length.to_le_bytes()).update(part.unwrap_or_default());
        }
        mark(&mut self.of_records, &hasher);
    }

    /// Names the table among those of a partner, and names its keys.
    pub(super) fn names(&self, secret: &[u8; 32]) -> (String, String) {
        let name = |cells: &[&[u64]]| {
            let mut hasher = blake3::Hasher::new_keyed(secret);
            cells.iter().copied().flatten().for_each(|cell| _ = hasher.update(&cell.to_le_bytes()));
            let hash = hasher.finalize();
            to_hex(hash.as_bytes().first_chunk::<16>().unwrap_or(&[0; 16]))
        };
        (name(&[&self.of_keys, &self.of_records]), name(&[&self.of_keys]))
    }

    /// As bytes.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        self.of_keys.iter().chain(&self.of_records).flat_map(|cell| cell.to_le_bytes()).collect()
    }

    /// From bytes, if they are so many.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let cells: Vec<u64> = bytes.as_chunks().0.iter().map(|cell| u64::from_le_bytes(*cell)).collect();
        let (of_keys, of_records) = cells.split_at_checked(CELLS)?;
        (bytes.len() == BYTES).then(|| Self { of_keys: of_keys.to_vec(), of_records: of_records.to_vec() })
    }

    /// How many keys, or keys with their columns, at least one of the two tables has alone, where these are fewer than
    /// `least` and more than none.
    pub(super) fn small_change(&self, other: &Self, least: u32) -> Option<usize> {
        let differing = |ours: &[u64], theirs: &[u64]| ours.iter().zip(theirs).filter(|(a, b)| a != b).count();
        let changes = [differing(&self.of_keys, &other.of_keys), differing(&self.of_records, &other.of_records)];
        changes.into_iter().find(|changed| (1..least as usize).contains(changed))
    }
}

/// What stands beside a key.
#[derive(Default)]
struct Beside<'a> {
    record: &'a [u8],
    values: &'a [u8],
    group: Option<&'a [u8]>,
}

/// Adds what a hasher has read to its cell.
fn mark(cells: &mut [u64], hasher: &blake3::Hasher) {
    let [place, number] = {
        let hash = hasher.finalize();
        let (halves, _) = hash.as_bytes().as_chunks::<8>();
        [0, 1].map(|half| halves.get(half).map_or(0, |half| u64::from_le_bytes(*half)))
    };
    if let Some(cell) = cells.get_mut(place as usize % CELLS) {
        *cell = cell.wrapping_add(number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(record: &[u8]) -> Beside<'_> {
        Beside { record, ..Beside::default() }
    }

    fn names(marks: &Marks) -> (String, String) {
        marks.names(&[7; 32])
    }

    fn marks(keys: impl Iterator<Item = u128>) -> Marks {
        let mut marks = Marks { of_keys: vec![0; CELLS], of_records: vec![0; CELLS] };
        keys.for_each(|key| marks.add(&[7; 32], [key, key << 3], &record(&[1, 2, 0])));
        marks
    }

    /// Whatever differs, no table with fewer changed keys passes, and one with a tenth more does.
    #[test]
    fn fewer_changed_keys_never_pass() {
        let before = marks(0..20_000);
        for least in [2, 10, 100, MOST_LEAST] {
            for changed in [1, u128::from(least) / 2, u128::from(least) - 1] {
                let added = marks(0..20_000 + changed);
                let removed = marks(changed..20_000);
                let exchanged = marks((0..20_000 - changed / 2).chain(50_000..50_000 + changed - changed / 2));
                for now in [added, removed, exchanged] {
                    assert!(now.small_change(&before, least).is_some(), "{changed} of {least}");
                }
            }
            let now = marks(0..20_000 + u128::from(least) * 11 / 10 + 2);
            assert_eq!(now.small_change(&before, least), None, "{least}");
        }
        assert_eq!(marks((0..20_000).rev()).small_change(&before, 10), None);
        assert_eq!(names(&marks((0..20_000).rev())), names(&before));
    }

    #[test]
    fn a_changed_value_shows_and_the_keys_stay_the_same() {
        let before = marks(0..100);
        let mut now = marks(1..100);
        now.add(&[7; 32], [0, 0], &record(&[1, 3]));
        assert_eq!((names(&now).1 == names(&before).1, names(&now).0 == names(&before).0), (true, false));
        assert_eq!(now.small_change(&before, 5), Some(2));
        // A group, and a number that is as long as text; padding is none.
        for (beside, changed) in [
            (Beside { group: Some(b"north"), ..record(&[1, 2]) }, Some(2)),
            (Beside { group: Some(b""), ..record(&[1, 2]) }, Some(2)),
            (Beside { values: &[1, 2], ..Beside::default() }, Some(2)),
            (record(&[1, 2, 0, 0, 0]), None),
        ] {
            let mut now = marks(1..100);
            now.add(&[7; 32], [0, 0], &beside);
            assert_eq!(now.small_change(&before, 5), changed);
        }
        let again = Marks::from_bytes(&now.to_bytes());
        assert_eq!(again.as_ref(), Some(&now));
        assert_eq!(Marks::from_bytes(&now.to_bytes()[1..]), None);
    }
}
