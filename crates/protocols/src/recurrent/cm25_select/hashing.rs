//! Where an item may lie, and what its bin holds.

use vesica_party::Abort;
use vesica_structures::hashing::{CuckooTable, Parts, Permuted, PermutedIntegers, Position, SUB_TABLES};
use vesica_structures::secret::Secret;

use super::Params;
use super::params::{EMPTY, LIMB_BITS, QUARTER};

/// The hash functions of a prepared set.
pub(super) struct Hashing {
    items: Items,
    bins: usize,
}

enum Items {
    Compressed(Permuted),
    Integers(PermutedIntegers),
}

/// Where an item may lie among the ciphertexts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub group: usize,
    pub slot: usize,
    /// What the bin holds if the item lies there.
    pub right: u64,
}

/// Items whose positions are computed at a time.
const ITEMS_AT_A_TIME: usize = 4096;

impl Hashing {
    pub fn new(params: &Params, seed: u128) -> Self {
        let items = match params.item_bits {
            None => Items::Compressed(Permuted::new(seed, params.tables, params.right_bits)),
            Some(bits) => Items::Integers(PermutedIntegers::new(seed, params.tables, bits)),
        };
        Self { items, bins: params.tables.bins }
    }

    /// The parts of items, which are compressed where they have any width.
    pub fn parts(&self, items: &[u128]) -> Secret<Vec<Parts>> {
        match &self.items {
            Items::Compressed(hash) => hash.parts(items),
            Items::Integers(hash) => hash.parts(items),
        }
    }

    /// The position of each item in each sub-table.
    fn positions(&self, parts: &[Parts]) -> Secret<Vec<[Position; SUB_TABLES]>> {
        match &self.items {
            Items::Compressed(hash) => Secret::new(parts.iter().map(|&parts| hash.positions(parts)).collect()),
            Items::Integers(hash) => hash.positions(parts),
        }
    }

    /// Where an item may lie: a place in each sub-table.
    pub fn places(&self, parts: Parts) -> [Place; SUB_TABLES] {
        let positions = Secret::new(self.positions(&[parts])[0]);
        std::array::from_fn(|j| {
            let (bin, right) = positions[j];
            Place { group: bin as usize / QUARTER, slot: j * QUARTER + bin as usize % QUARTER, right }
        })
    }

    /// Places the items of a set: for each bin of each sub-table, the right part that it holds.
    pub fn table(&self, items: &[u128]) -> Result<Secret<Vec<Option<u64>>>, Abort> {
        let mut parts = self.parts(items);
        // Equal items, and those that are compressed to the same, are one.
        parts.sort_unstable();
        parts.dedup();
        let mut bins: Secret<Vec<[u32; SUB_TABLES]>> = Secret::new(Vec::with_capacity(parts.len()));
        for parts in parts.chunks(ITEMS_AT_A_TIME) {
            let in_table =
                |positions: &[Position; SUB_TABLES]| std::array::from_fn(|j| (j * self.bins) as u32 + positions[j].0);
            bins.extend(self.positions(parts).iter().map(in_table));
        }
        let table = CuckooTable::build_vartime(&bins, SUB_TABLES * self.bins)
            .map_err(|_| Abort::StatisticalFailure("no cuckoo table holds the items"))?;
        // Only now is it known which of an item's four right parts is stored.
        let mut rights = Secret::new(vec![None; table.len()]);
        let mut held = Secret::new(Vec::with_capacity(ITEMS_AT_A_TIME));
        for (first, rights) in (0..).step_by(ITEMS_AT_A_TIME).zip(rights.chunks_mut(ITEMS_AT_A_TIME)) {
            let entries: Vec<_> = (first..first + rights.len()).map(|bin| table.bin(bin)).collect();
            held.clear();
            held.extend(entries.iter().flatten().map(|entry| parts[entry.item as usize]));
            let positions = self.positions(&held);
            let filled = rights.iter_mut().zip(&entries).filter_map(|(right, entry)| Some((right, entry.as_ref()?)));
            for ((right, entry), positions) in filled.zip(&*positions) {
                *right = Some(positions[usize::from(entry.choice)].1);
            }
        }
        Ok(rights)
    }
}

/// A limb of a right part.
pub(super) fn limb(right: u64, limb: usize) -> u64 {
    (right >> (limb as u32 * LIMB_BITS)) & ((1 << LIMB_BITS) - 1)
}

/// The slots of one limb of a group of bins.
pub(super) fn slots(table: &[Option<u64>], bins: usize, group: usize, index: usize) -> Vec<u64> {
    let value = |right: &Option<u64>| right.map_or(EMPTY, |right| limb(right, index));
    let sub_table = |j: usize| table[j * bins + group * QUARTER..][..QUARTER].iter().map(value);
    (0..SUB_TABLES).flat_map(sub_table).collect()
}
