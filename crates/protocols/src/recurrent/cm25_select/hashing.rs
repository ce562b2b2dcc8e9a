//! Where an item may lie, and what its bin holds.

use vesica_party::Abort;
use vesica_structures::hashing::{CuckooTable, Parts, Permuted, SUB_TABLES};
use vesica_structures::secret::Secret;

use super::Params;
use super::params::{EMPTY, LIMB_BITS, QUARTER};

/// The hash functions of a prepared set.
pub(super) struct Hashing {
    permuted: Permuted,
    bins: usize,
}

/// A bin's place among the ciphertexts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub group: usize,
    pub slot: usize,
}

impl Hashing {
    pub fn new(params: &Params, seed: u128) -> Self {
        Self { permuted: Permuted::new(seed, params.bins as u32, params.right_bits), bins: params.bins }
    }

    /// Compresses items.
    pub fn parts(&self, items: &[u128]) -> Secret<Vec<Parts>> {
        self.permuted.parts(items)
    }

    /// Where the bin of each sub-table is.
    pub fn places(&self, parts: Parts) -> [Place; SUB_TABLES] {
        let bins = self.permuted.bins(parts).map(|bin| bin as usize);
        std::array::from_fn(|j| Place { group: bins[j] / QUARTER, slot: j * QUARTER + bins[j] % QUARTER })
    }

    /// Places the items of a set: for each bin of each sub-table, the right part that it holds.
    pub fn table(&self, items: &[u128]) -> Result<Secret<Vec<Option<u64>>>, Abort> {
        let mut parts = self.parts(items);
        // Equal items, and those that are compressed to the same, are one.
        parts.sort_unstable();
        parts.dedup();
        let positions = |&parts: &Parts| {
            let bins = self.permuted.bins(parts);
            std::array::from_fn(|j| (j * self.bins) as u32 + bins[j])
        };
        let positions: Secret<Vec<[u32; SUB_TABLES]>> = Secret::new(parts.iter().map(positions).collect());
        let table = CuckooTable::build(&positions, SUB_TABLES * self.bins)
            .map_err(|_| Abort::StatisticalFailure("no cuckoo table holds the items"))?;
        let right = |bin| table.bin(bin).map(|entry| parts[entry.item as usize][1]);
        Ok(Secret::new((0..table.len()).map(right).collect()))
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
