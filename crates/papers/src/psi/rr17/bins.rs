//! Items in bins, and the slots of a side's bins.

use rayon::prelude::*;
use vesica_party::Abort;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;
use vesica_structures::shuffle::random_order;

use super::salt::Keys;

/// Bits of an item's key, the most that the code of OOS17 takes.
pub const KEY_BITS: u32 = 76;

/// What stands for an item in a slot without one.
const EMPTY: u32 = u32::MAX;

/// Items hashed by a thread at a time.
const ITEMS_PER_PIECE: usize = 1 << 10;

/// Where items are: the bin of each, and the key that stands for it there.
pub(super) struct Hashed {
    pub(super) bins: Vec<u32>,
    pub(super) keys: Secret<Vec<u128>>,
}

impl Hashed {
    /// `h(x)` and `phi(x)` of items, for `bins` bins: independent parts of one hash under the salt.
    pub(super) fn new(keys: &Keys, bins: usize, items: &[u128]) -> Self {
        let mut of_items = vec![0; items.len()];
        let mut keys_of_items = Secret::new(vec![0; items.len()]);
        items
            .par_chunks(ITEMS_PER_PIECE)
            .zip(of_items.par_chunks_mut(ITEMS_PER_PIECE))
            .zip(keys_of_items.par_chunks_mut(ITEMS_PER_PIECE))
            .for_each(|((items, bins_of), keys_of)| {
                for ((item, bin), key) in items.iter().zip(bins_of).zip(keys_of) {
                    (*bin, *key) = place(keys, bins, *item);
                }
            });
        Self { bins: of_items, keys: keys_of_items }
    }
}

/// The bin of an item, and its key.
fn place(keys: &Keys, bins: usize, item: u128) -> (u32, u128) {
    let hash: [u128; 2] = bytemuck::cast(*blake3::keyed_hash(&keys.places, &item.to_le_bytes()).as_bytes());
    let [place, key] = hash.map(u128::from_le);
    // Scaled to `0..bins`, of which no value is favoured by more than 2^-32 of its share.
    let bin = (u128::from(place as u64) * bins as u128) >> 64;
    (bin as u32, key & (u128::MAX >> (u128::BITS - KEY_BITS)))
}

/// A side's bins: as many slots in each, items in random ones of them.
pub(super) struct Slots {
    /// The item in each slot, or [`EMPTY`].
    items: Vec<u32>,
    /// What is asked for in each slot: the item's key, or a random one that nobody looks at.
    pub(super) keys: Secret<Vec<u128>>,
}

impl Slots {
    /// Puts the items into slots, `per_bin` in each of `bins` bins.
    ///
    /// # Errors
    /// If a bin overflows.
    pub(super) fn fill(hashed: &Hashed, bins: usize, per_bin: usize, rng: &mut SecretRng) -> Result<Self, Abort> {
        let mut items = vec![EMPTY; bins * per_bin];
        let bin = |item: u32| hashed.bins[item as usize] as usize;
        let mut order: Vec<u32> = (0..hashed.bins.len() as u32).collect();
        order.sort_unstable_by_key(|&item| bin(item));
        for of_bin in order.chunk_by(|&one, &other| bin(one) == bin(other)) {
            if of_bin.len() > per_bin {
                return Err(Abort::StatisticalFailure("a bin overflows"));
            }
            for (&item, slot) in of_bin.iter().zip(random_order(per_bin, rng)) {
                items[bin(item) * per_bin + slot as usize] = item;
            }
        }
        let mut keys = Secret::new(vec![0; items.len()]);
        for (key, &item) in keys.iter_mut().zip(&items) {
            let random = rng.block() & (u128::MAX >> (u128::BITS - KEY_BITS));
            *key = hashed.keys.get(item as usize).copied().unwrap_or(random);
        }
        Ok(Self { items, keys })
    }

    /// The item in a slot.
    pub(super) fn item(&self, slot: usize) -> Option<usize> {
        let item = self.items[slot];
        (item != EMPTY).then_some(item as usize)
    }

    /// The slots with an item, and the items.
    pub(super) fn filled(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.items.len()).filter_map(|slot| Some((slot, self.item(slot)?)))
    }
}

#[cfg(test)]
mod tests {
    use vesica_structures::hashing::max_load;

    use super::*;

    const KEYS: Keys = Keys { places: [3; 32], commitments: [4; 32] };

    #[test]
    fn every_item_is_in_one_slot_of_its_bin() {
        let mut rng = SecretRng::insecure_from_seed(1);
        let items: Vec<u128> = (0..3000).map(|_| rng.block()).collect();
        let bins = 300;
        let hashed = Hashed::new(&KEYS, bins, &items);
        let per_bin = max_load(items.len(), 1, bins, 44);
        let slots = Slots::fill(&hashed, bins, per_bin, &mut rng).unwrap();
        assert_eq!(slots.keys.len(), bins * per_bin);
        let mut seen = vec![false; items.len()];
        for (slot, item) in slots.filled() {
            assert_eq!(slot / per_bin, hashed.bins[item] as usize);
            assert_eq!(slots.keys[slot], hashed.keys[item]);
            assert!(!std::mem::replace(&mut seen[item], true), "item {item} is twice there");
        }
        assert!(seen.into_iter().all(|seen| seen));
        // What is asked for in empty slots is not one key.
        let mut asked = slots.keys.to_vec();
        assert!(asked.iter().all(|key| key >> KEY_BITS == 0));
        asked.sort_unstable();
        asked.dedup();
        assert_eq!(asked.len(), slots.keys.len());
        let most = (0..bins as u32).map(|bin| hashed.bins.iter().filter(|&&of| of == bin).count()).max().unwrap();
        assert!(Slots::fill(&hashed, bins, most - 1, &mut rng).is_err());
    }

    /// Which slot an item is in says nothing of the other items of its bin.
    #[test]
    fn an_item_is_in_each_slot_of_its_bin_about_equally_often() {
        let mut rng = SecretRng::insecure_from_seed(2);
        let hashed = Hashed::new(&KEYS, 1, &[5, 6, 7]);
        let mut seen = [[0; 8]; 3];
        for _ in 0..4000 {
            for (slot, item) in Slots::fill(&hashed, 1, 8, &mut rng).unwrap().filled() {
                seen[item][slot] += 1;
            }
        }
        // Of 500 expected, five standard deviations.
        assert!(seen.as_flattened().iter().all(|count| (395..=605).contains(count)), "{seen:?}");
    }

    /// Bins and keys of another salt are others.
    #[test]
    fn places_follow_from_the_salt() {
        let items: Vec<u128> = (0..200).collect();
        let [one, other] = [[1; 32], [2; 32]].map(|places| Hashed::new(&Keys { places, ..KEYS }, 50, &items));
        assert!(one.keys.iter().zip(other.keys.iter()).all(|(one, other)| one != other));
        assert!(one.bins.iter().zip(&other.bins).filter(|(one, other)| one == other).count() < 30);
    }
}
