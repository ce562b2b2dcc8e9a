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
//! The same is kept of the keys with the columns that go along with them, so that a table in which a few values have
//! changed shows as well: a key whose values changed counts twice there.

use vesica_structures::secret::Secret;

use crate::failure::Failure;
use crate::key::Digest;
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
                    marks.add(secret, digest, [records.next().unwrap_or_default(), &[]]);
                }
            }
            return Ok(marks);
        }
        let payload = table.payload.as_ref().or(table.union.as_ref().and_then(|union| union.records.as_ref()));
        let mut records = payload.map(|payload| payload.bytes.chunks(payload.schema.width.max(1)));
        let count = table.digests.len().max(1);
        let values = table.values.as_ref().map(|values| &values.values);
        let mut values = values.map(|values| values.chunks((values.len() / count).max(1)));
        for digest in table.digests.iter() {
            let record = records.as_mut().and_then(Iterator::next).unwrap_or_default();
            let values = values.as_mut().and_then(Iterator::next).unwrap_or_default();
            let values: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
            marks.add(secret, digest, [record, &values]);
        }
        Ok(marks)
    }

    fn add(&mut self, secret: &[u8; 32], [low, high]: Digest, columns: [&[u8]; 2]) {
        let mut hasher = blake3::Hasher::new_keyed(secret);
        hasher.update(&low.to_le_bytes()).update(&high.to_le_bytes());
        mark(&mut self.of_keys, &hasher);
        for column in columns {
            hasher.update(&(column.len() as u64).to_le_bytes()).update(column);
        }
        mark(&mut self.of_records, &hasher);
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

    /// Whether both are of the same keys.
    pub(super) fn is_same_table(&self, other: &Self) -> bool {
        self.of_keys == other.of_keys
    }

    /// How many keys, or keys with their columns, at least one of the two tables has alone, where these are fewer than
    /// `least` and more than none.
    pub(super) fn small_change(&self, other: &Self, least: u32) -> Option<usize> {
        let differing = |ours: &[u64], theirs: &[u64]| ours.iter().zip(theirs).filter(|(a, b)| a != b).count();
        let changes = [differing(&self.of_keys, &other.of_keys), differing(&self.of_records, &other.of_records)];
        changes.into_iter().find(|changed| (1..least as usize).contains(changed))
    }
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

    fn marks(keys: impl Iterator<Item = u128>) -> Marks {
        let mut marks = Marks { of_keys: vec![0; CELLS], of_records: vec![0; CELLS] };
        keys.for_each(|key| marks.add(&[7; 32], [key, key << 3], [&[1, 2], &[]]));
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
        assert!(marks((0..20_000).rev()).is_same_table(&before));
    }

    #[test]
    fn a_changed_value_shows_and_the_keys_stay_the_same() {
        let before = marks(0..100);
        let mut now = marks(1..100);
        now.add(&[7; 32], [0, 0], [&[1, 3], &[]]);
        assert!(now.is_same_table(&before));
        assert_eq!(now.small_change(&before, 5), Some(2));
        let again = Marks::from_bytes(&now.to_bytes());
        assert_eq!(again.as_ref(), Some(&now));
        assert_eq!(Marks::from_bytes(&now.to_bytes()[1..]), None);
    }
}
