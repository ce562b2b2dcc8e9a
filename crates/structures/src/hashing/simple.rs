//! Simple hashing: each item goes into all three of its bins, and bins are padded to a capacity
//! that is fixed in advance.

use super::{HashFailure, max_load};

/// An item in a bin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The index of the item.
    pub item: u32,
    /// Which of its positions the bin is.
    pub choice: u8,
}

/// Capacity of a bin such that some bin overflows with probability at most `2^-failure_bits`, for
/// `items` items in three of `bins` bins each.
pub fn simple_capacity(items: usize, bins: usize, failure_bits: u32) -> usize {
    max_load(items, 3, bins, failure_bits)
}

/// Bins of entries, at most `capacity` each. Padding is the protocol's: it knows what a dummy is.
#[derive(Clone, Debug)]
pub struct SimpleTable {
    starts: Vec<u32>,
    entries: Vec<Entry>,
}

impl SimpleTable {
    /// Puts every item into each of its positions, which are below `bins`. Time depends on the positions, by a little: so do
    /// the addresses, and not the number of steps.
    ///
    /// # Errors
    /// If a bin overflows.
    ///
    /// # Panics
    /// If there are `2^32 / 3` items or more.
    pub fn build_vartime(positions: &[[u32; 3]], bins: usize, capacity: usize) -> Result<Self, HashFailure> {
        assert!(positions.len() < u32::MAX as usize / 3, "entries are numbered by 32 bits");
        let mut starts = vec![0u32; bins + 1];
        for &bin in positions.as_flattened() {
            starts[bin as usize + 1] += 1;
        }
        if starts.iter().any(|&load| load as usize > capacity) {
            return Err(HashFailure);
        }
        for bin in 0..bins {
            starts[bin + 1] += starts[bin];
        }
        let mut next = starts.clone();
        let mut entries = vec![Entry { item: 0, choice: 0 }; positions.len() * 3];
        for (item, bins) in positions.iter().enumerate() {
            for (choice, &bin) in bins.iter().enumerate() {
                let place = &mut next[bin as usize];
                entries[*place as usize] = Entry { item: item as u32, choice: choice as u8 };
                *place += 1;
            }
        }
        Ok(Self { starts, entries })
    }

    /// The entries of a bin, by ascending item.
    pub fn bin(&self, bin: usize) -> &[Entry] {
        &self.entries[self.starts[bin] as usize..self.starts[bin + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hashing::Positions;

    #[test]
    fn every_item_is_in_each_of_its_bins() {
        let items: Vec<u128> = (0..5000).collect();
        let bins = 6350;
        let positions = Positions::new(3, bins).of(&items);
        let table = SimpleTable::build_vartime(&positions, bins, simple_capacity(items.len(), bins, 42)).unwrap();
        let mut seen = 0;
        for bin in 0..bins {
            for entry in table.bin(bin) {
                assert_eq!(positions[entry.item as usize][usize::from(entry.choice)] as usize, bin);
                seen += 1;
            }
        }
        assert_eq!(seen, 3 * items.len());
    }

    #[test]
    fn overflow_is_an_error() {
        let positions = vec![[0, 1, 2]; 5];
        assert!(SimpleTable::build_vartime(&positions, 3, 5).is_ok());
        assert_eq!(SimpleTable::build_vartime(&positions, 3, 4).err(), Some(HashFailure));
    }

    #[test]
    fn capacities_match_known_ones() {
        // A bin of 3 * 2^20 entries in 1.27 * 2^20 bins: mean 2.36.
        let capacity = simple_capacity(1 << 20, 1_331_692, 40);
        assert!((24..=32).contains(&capacity), "{capacity}");
    }
}
