//! Cuckoo hashing with a sub-table for each of four hash functions: an item has one position in
//! each, and lies in one of them. The four positions are equal modulo the number of *classes*: each
//! class is a table of its own.

use super::max_load::{ln_factorial, max_load};
use crate::facts::Unsupported;

/// Sub-tables, one for each hash function.
pub const SUB_TABLES: usize = 4;

/// The bins of the sub-tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubTables {
    /// Bins of each sub-table, a multiple of the number of classes.
    pub bins: usize,
    /// Classes, a power of four: an item's bins are equal modulo this number.
    pub classes: usize,
}

/// Items for a hundred bins of a class, at most. [`sub_tables_bound`] falls steeply there: at 84 it
/// says nothing for few bins, at 82 it is below 2^-65 from [`LEAST_BINS`] on.
const ITEMS_PER_HUNDRED_BINS: usize = 82;

/// No class fails with a probability above 2 to the power of minus this number: 2^-65 for each of at
/// most [`MOST_CLASSES`].
const BITS: u32 = 55;

/// The least number of bins of a class in a sub-table.
const LEAST_BINS: usize = 256;

const MOST_CLASSES: usize = 1024;

/// The most items for which the bound was computed.
const MAX_ITEMS: usize = 1 << 24;

impl SubTables {
    /// Four sub-tables for `items` items, each of `least` bins or more and of a multiple of `multiple`,
    /// such that no table exists with probability at most `2^-failure_bits`.
    ///
    /// There are as many classes as a quarter more bins, or `least`, give room for, since items are
    /// spread unevenly over classes.
    ///
    /// # Errors
    /// If there are more items, or more bits, than bounds were computed for.
    ///
    /// # Panics
    /// If `multiple` is no power of four.
    pub fn new(items: usize, least: usize, multiple: usize, failure_bits: u32) -> Result<Self, Unsupported> {
        assert!(multiple.is_power_of_two() && multiple.ilog2().is_multiple_of(2), "a power of four");
        if items > MAX_ITEMS || failure_bits >= BITS {
            return Err(Unsupported::new(
                format!("four cuckoo tables of {items} items that fail with probability 2^-{failure_bits}"),
                format!("use at most {MAX_ITEMS} items and {} bits", BITS - 1),
            ));
        }
        // Half of the probability is for classes that get more items than they are made for.
        let bins = |classes: usize| {
            let items = max_load(items, 1, classes, failure_bits + 1);
            let bins = (items * 100).div_ceil(ITEMS_PER_HUNDRED_BINS * SUB_TABLES).max(LEAST_BINS);
            (bins * classes).next_multiple_of(multiple)
        };
        let room = (bins(1) * 5 / 4).max(least);
        let powers =
            (0..).map(|exponent| 4usize.pow(exponent)).take_while(|&classes| classes <= MOST_CLASSES.min(multiple));
        let classes = powers.filter(|&classes| bins(classes) <= room).last().unwrap_or(1);
        Ok(Self { bins: bins(classes).max(least.next_multiple_of(multiple)), classes })
    }

    /// Bins of a class in each sub-table.
    pub fn class_bins(&self) -> usize {
        self.bins / self.classes
    }

    /// The class of a bin, and the bin's number in it: by shifts, since a division may take time by
    /// what is divided.
    pub(super) fn class_and_number(&self, bin: u64) -> (u64, u64) {
        (bin & (self.classes as u64 - 1), bin >> self.classes.ilog2())
    }

    pub(super) fn bin(&self, class: u64, number: u64) -> u32 {
        (number << self.classes.ilog2() | class) as u32
    }
}

/// An upper bound of `log2` of the probability that no table exists for `items` items with uniform
/// positions, one in each of four sub-tables of `bins` bins.
///
/// By Hall's theorem none exists exactly if some `s` items have all of their positions among `s - 1`
/// bins, of which `k_1, .., k_4` lie in the sub-tables. For given bins that has probability `prod
/// (k_i / bins)^s`, and there are `prod C(bins, k_i)` of them. Both factors are log-concave in
/// `k_i`, so that an even split has the largest product; there are at most `s^3 / 6` splits.
pub fn sub_tables_bound(items: usize, bins: usize) -> f64 {
    let ln_binomial = |n: usize, k: usize| ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k);
    let mut probability = 0.0;
    for s in SUB_TABLES + 1..=items.min(SUB_TABLES * bins + 1) {
        let among = |i: usize| {
            let k = (s - 1 + i) / SUB_TABLES;
            ln_binomial(bins, k) + s as f64 * (k as f64 / bins as f64).ln()
        };
        let splits = 3.0 * (s as f64).ln() - 6f64.ln();
        probability += (ln_binomial(items, s) + splits.max(0.0) + (0..SUB_TABLES).map(among).sum::<f64>()).exp();
    }
    probability.log2()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hashing::CuckooTable;
    use crate::rng::SecretRng;

    fn sizes(items: usize, least: usize) -> (usize, usize) {
        let tables = SubTables::new(items, least, 1024, 43).unwrap();
        (tables.bins / 1024, tables.classes)
    }

    #[test]
    fn sizes_are_within_their_bound() {
        assert_eq!(sizes(0, 0), (1, 4));
        assert_eq!(sizes(1 << 16, 0), (25, 64));
        assert_eq!(sizes(911_705, 0), (310, 256));
        assert_eq!(sizes(1 << 20, 0), (353, 256));
        assert_eq!(sizes(1 << 20, 400 << 10), (400, 1024));
        assert_eq!(sizes(1 << 24, 0), (5322, 1024));
        for items in [1, 3000, 50_000, 1 << 18, 1 << 22] {
            let tables = SubTables::new(items, 0, 1024, 43).unwrap();
            let in_class = max_load(items, 1, tables.classes, 44);
            let bound = sub_tables_bound(in_class, tables.class_bins()) + (tables.classes as f64).log2();
            assert!(tables.bins.is_multiple_of(tables.classes) && bound < -f64::from(BITS), "{items}: {bound}");
        }
        // A full class of each size is the worst of its size; larger ones have smaller bounds.
        let mut last = -65.0;
        for log in LEAST_BINS.ilog2()..=17 {
            let bins = 1 << log;
            let bound = sub_tables_bound(bins * SUB_TABLES * ITEMS_PER_HUNDRED_BINS / 100, bins);
            assert!(bound < last, "2^{log} bins: {bound}");
            last = bound;
        }
        assert!(sub_tables_bound(1024 * 86 / 100, 256) > 0.0, "the bound says nothing there");
        assert!(SubTables::new(1 << 20, 0, 1024, 55).is_err());
        assert!(SubTables::new((1 << 24) + 1, 0, 1024, 43).is_err());
    }

    /// Five items with the same four positions are the only smallest reason.
    #[test]
    fn the_bound_holds_for_five_items() {
        // (1024^-4)^4 and five of five; the bound counts 5^3 / 6 splits.
        let bound = sub_tables_bound(5, 1024);
        assert!((bound + 160.0 - (125f64 / 6.0).log2()).abs() < 1e-6, "{bound}");
    }

    #[test]
    fn full_tables_are_built() {
        let mut rng = SecretRng::insecure_from_seed(1);
        for bins in [1024usize, 5 << 10] {
            let mut position = |i: usize| (i * bins) as u32 + (rng.block() % bins as u128) as u32;
            let items = bins * SUB_TABLES * ITEMS_PER_HUNDRED_BINS / 100;
            let positions: Vec<[u32; SUB_TABLES]> = (0..items).map(|_| std::array::from_fn(&mut position)).collect();
            let table = CuckooTable::build_vartime(&positions, SUB_TABLES * bins).unwrap();
            let mut placed = vec![0; items];
            for bin in 0..table.len() {
                if let Some(entry) = table.bin(bin) {
                    assert_eq!(positions[entry.item as usize][usize::from(entry.choice)] as usize, bin);
                    assert_eq!(usize::from(entry.choice), bin / bins);
                    placed[entry.item as usize] += 1;
                }
            }
            assert!(placed.iter().all(|&times| times == 1));
        }
    }
}
