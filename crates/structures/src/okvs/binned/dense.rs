//! Sums of subsets of a bin's dense cells, by the method of four Russians.

use zeroize::Zeroize;

use crate::fields::Cell;

/// For each eight dense cells the sums of all their subsets.
pub struct SubsetSums<V: Cell> {
    sums: Vec<[V; 256]>,
}

impl<V: Cell> Drop for SubsetSums<V> {
    fn drop(&mut self) {
        self.sums.zeroize();
    }
}

impl<V: Cell> SubsetSums<V> {
    /// The sums for these cells, at most 64.
    pub fn new(cells: &[V]) -> Self {
        let sums_of = |cells: &[V]| {
            let mut sums = [V::default(); 256];
            for (bit, &cell) in cells.iter().enumerate() {
                for subset in 1 << bit..2 << bit {
                    sums[subset] = sums[subset - (1 << bit)] + cell;
                }
            }
            sums
        };
        Self { sums: cells.chunks(8).map(sums_of).collect() }
    }

    /// The sum of the cells whose bits are set.
    #[inline]
    pub fn sum(&self, subset: u64) -> V {
        let mut sum = V::default();
        for (i, sums) in self.sums.iter().enumerate() {
            sum += sums[usize::from((subset >> (8 * i)) as u8)];
        }
        sum
    }
}
