//! Cuckoo hashing with a sub-table for each of four hash functions: an item has one position in
//! each, and lies in one of them.

use super::max_load::ln_factorial;
use crate::facts::Unsupported;

/// Sub-tables, one for each hash function.
pub const SUB_TABLES: usize = 4;

/// Items for a hundred bins, at most. [`sub_tables_bound`] falls steeply there: at 85 it says
/// nothing, at 80 it is below 2^-100 for every number of items that fills 1024 bins a sub-table.
const ITEMS_PER_HUNDRED_BINS: usize = 80;

/// The failure bound of all tables is below 2 to the power of minus this number.
const BITS: u32 = 100;

/// The least number of bins of a sub-table.
const LEAST_BINS: usize = 1024;

/// The most items for which the bound was computed.
const MAX_ITEMS: usize = 1 << 24;

/// Bins of each of the four sub-tables for `items` items, a multiple of `multiple`, such that no
/// table exists with probability at most `2^-failure_bits`.
pub fn sub_table_bins(items: usize, multiple: usize, failure_bits: u32) -> Result<usize, Unsupported> {
    if items > MAX_ITEMS || failure_bits > BITS {
        return Err(Unsupported::new(
            format!("four cuckoo tables of {items} items that fail with probability 2^-{failure_bits}"),
            format!("use at most {MAX_ITEMS} items and {BITS} bits"),
        ));
    }
    let bins = (items * 100).div_ceil(ITEMS_PER_HUNDRED_BINS * SUB_TABLES);
    Ok(bins.max(LEAST_BINS).next_multiple_of(multiple))
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

    #[test]
    fn sizes_are_within_their_bound() {
        assert_eq!(sub_table_bins(0, 1024, 43), Ok(1024));
        assert_eq!(sub_table_bins(3276, 1024, 43), Ok(1024));
        assert_eq!(sub_table_bins(3277, 1024, 43), Ok(2048));
        assert_eq!(sub_table_bins(1 << 20, 1024, 43), Ok(320 << 10));
        // A full table of each size is the worst of its size; larger ones have smaller bounds.
        let mut last = -f64::from(BITS);
        for log in 10..=17 {
            let bins = 1 << log;
            let bound = sub_tables_bound(bins * SUB_TABLES * ITEMS_PER_HUNDRED_BINS / 100, bins);
            assert!(bound < last, "2^{log} bins: {bound}");
            last = bound;
        }
        assert!(sub_tables_bound(4096 * 85 / 100, 1024) > 0.0, "the bound says nothing there");
        assert!(sub_table_bins(1 << 20, 1024, 101).is_err());
        assert!(sub_table_bins((1 << 24) + 1, 1024, 43).is_err());
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
            let table = CuckooTable::build(&positions, SUB_TABLES * bins).unwrap();
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
