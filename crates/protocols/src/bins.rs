//! The public functions that map items to bins, for protocols in which one side has a cuckoo table
//! and the other side puts each item into all three of its bins.

use rayon::prelude::*;
use vesica_party::Channel;
use vesica_structures::hashing::{Positions, max_load};
use vesica_structures::prf::DigestPrf;

/// Positions of an item.
pub const POSITIONS: usize = 3;

/// Items of a batch.
const ITEMS_PER_BATCH: usize = 1024;

/// The least number of bins such that more than `capacity` of the keys, one bin each, fall into some
/// bin with probability at most `2^-failure_bits`.
pub fn fewest_bins(keys: usize, capacity: usize, failure_bits: u32) -> usize {
    let fits = |bins: usize| max_load(keys, 1, bins, failure_bits) <= capacity;
    let (mut below, mut enough) = (keys.div_ceil(capacity).saturating_sub(1), keys);
    while enough - below > 1 {
        let middle = below + (enough - below) / 2;
        if fits(middle) { enough = middle } else { below = middle }
    }
    enough
}

/// An item's three bins, and its key `H(x || j, r)` in the `j`-th of them.
pub struct Hashes {
    positions: Positions,
    keys: [DigestPrf; POSITIONS],
    further: u128,
}

impl Hashes {
    /// Among `bins` bins; bound to the protocol by `context`, to the session, the salt and the
    /// sizes.
    pub fn new(context: &str, ch: &Channel, salt: &[u8; 32], sizes: &[usize], bins: usize) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key(context);
        hasher.update(&ch.session()).update(salt);
        for size in sizes {
            hasher.update(&(*size as u64).to_le_bytes());
        }
        let mut keys = [[0u8; 16]; 2 + POSITIONS];
        hasher.finalize_xof().fill(keys.as_flattened_mut());
        let [positions, keys @ .., further] = keys.map(u128::from_le_bytes);
        Self { positions: Positions::new(positions, bins), keys: keys.map(DigestPrf::new), further }
    }

    /// The key of a further function, for papers that have one.
    pub fn further(&self) -> u128 {
        self.further
    }

    /// The bins of each item, all three different.
    pub fn positions(&self, items: &[u128]) -> Vec<[u32; POSITIONS]> {
        self.positions.of(items)
    }

    /// The keys of items in their `choice`-th bins.
    pub fn keys(&self, choice: usize, items: &[u128]) -> Vec<u128> {
        let mut keys = vec![0; items.len()];
        items
            .par_chunks(ITEMS_PER_BATCH)
            .zip(keys.par_chunks_mut(ITEMS_PER_BATCH))
            .for_each(|(items, keys)| self.keys[choice].eval(items, keys));
        keys
    }
}
