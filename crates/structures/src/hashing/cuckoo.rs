//! Cuckoo hashing without a stash: each item goes into one of its bins, and a bin holds one item.
//! Bounds for three distinct positions an item, and for two to four independent ones.

use super::HashFailure;
use super::max_load::ln_factorial;
use crate::facts::Unsupported;

/// From this many items on there are [`HUNDREDTHS`] bins for a hundred items.
const MANY: usize = 1 << 13;

/// The fewest for which [`hall_bound`] is below 2^-64 for every number of items from [`MANY`] on. At 123 it is above
/// 2^-43 up to 2^16 items, at 122 it says nothing at any number.
const HUNDREDTHS: usize = 124;

/// The failure bound of tables of [`MANY`] items or more is below 2 to the power of minus this
/// number.
const MANY_BITS: u32 = 64;

/// The most items that the engine makes a table for, and the most for which the bound was computed.
const MAX_ITEMS: usize = 1 << 26;

/// Bins for `items` items such that no table exists with probability at most `2^-failure_bits`; at
/// least 3. By [`hall_bound`].
pub fn cuckoo_bins(items: usize, failure_bits: u32) -> Result<usize, Unsupported> {
    if items > MAX_ITEMS || (items >= MANY && failure_bits > MANY_BITS) {
        return Err(Unsupported::new(
            format!("a cuckoo table of {items} items that fails with probability 2^-{failure_bits}"),
            format!("use at most {MAX_ITEMS} items and {MANY_BITS} bits"),
        ));
    }
    let bins = |hundredths: usize| (items * hundredths).div_ceil(100).max(3);
    // Up to three items always have their own bins.
    if items <= 3 || items >= MANY {
        return Ok(bins(HUNDREDTHS));
    }
    // Steps of a tenth where more bins than that are needed anyhow.
    let candidates = (HUNDREDTHS..140).chain((140..=4000).step_by(10)).map(bins);
    candidates.into_iter().find(|&bins| hall_bound(items, bins) <= -f64::from(failure_bits)).ok_or_else(|| {
        Unsupported::new(
            format!("a cuckoo table of {items} items that fails with probability 2^-{failure_bits}"),
            "ask for fewer bits",
        )
    })
}

/// An upper bound of `log2` of the probability that no table exists.
///
/// By Hall's theorem none exists exactly if some `k` bins hold more than `k` items, with all positions of each among
/// them. Of such sets of bins take one of the fewest bins, and of the items within it any `s = k + 1`: these hit each of
/// the bins twice (without an item that is alone in a bin, the others would be too many for the rest of the bins). The
/// sum goes over `k`, and takes of each the least of three bounds, by unions over sets of bins and of items:
///
/// - `s` items lie within the bins: `(C(k, 3) / C(bins, 3))^s` each;
/// - and hit each twice: at most `(3s)! [x^3s] (e^x - 1 - x)^k / (6 C(bins, 3))^s`, where the coefficient is at most the
///   function at any `x` over `x^3s`;
/// - and *all* items within the bins are `t >= s`, so that each of the other `items - t` has a position elsewhere: the
///   second bound for `t` items, times `(1 - C(k, 3) / C(bins, 3))^(items - t)`. One item more multiplies that by at
///   most `4 (items + 1/2)^3 / (x^3 6 C(bins, 3) (1 - C(k, 3) / C(bins, 3)))`, by the means of `3 (items - t)`, `(3 t + 3/2) / 2`
///   and itself: a geometric series.
///
/// The receiver of a small table computes it many times before it can choose a protocol: what counts for next to
/// nothing is not computed more closely, and numbers of sets follow from those of sets one smaller.
pub fn hall_bound(items: usize, bins: usize) -> f64 {
    let ln_binomial = |n: usize, k: usize| ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k);
    let mut probability = 0.0;
    let mut saddle = 4.0;
    let mut ln_sets = 0.0;
    for s in 4..=items.min(bins + 1) {
        let k = s - 1;
        ln_sets = match s {
            4 => ln_binomial(items, s) + ln_binomial(bins, k),
            _ => ln_sets + ((items - k) as f64 * (bins - k + 1) as f64 / (s as f64 * k as f64)).ln(),
        };
        let mut ln_term = ln_sets + s as f64 * (triples(k) / triples(bins)).ln();
        if ln_term > LN_NEGLIGIBLE {
            let ln_covered = ln_sets + ln_twice_covered(s, k, &mut saddle) - s as f64 * (triples(bins) / 6.0).ln();
            ln_term = ln_term.min(ln_covered).min(ln_covered + ln_all_others_leave(items, bins, s, saddle));
        }
        probability += ln_term.exp();
    }
    probability.log2()
}

/// Sequences of three different bins.
fn triples(bins: usize) -> f64 {
    bins as f64 * (bins - 1) as f64 * (bins - 2) as f64
}

/// `ln` of what the third bound of [`hall_bound`] has beyond the second, whose point is `saddle`. No bound where one item
/// more does not make sets rarer.
fn ln_all_others_leave(items: usize, bins: usize, s: usize, saddle: f64) -> f64 {
    let inside = triples(s - 1) / triples(bins);
    let one_more = 4.0 * (items as f64 + 0.5).powi(3) / (saddle.powi(3) * triples(bins) * (1.0 - inside));
    if one_more < 0.9 { (items - s) as f64 * (-inside).ln_1p() - (-one_more).ln_1p() } else { f64::INFINITY }
}

/// `ln` of a probability that counts for nothing even as often as a table has items: 2^-288.
const LN_NEGLIGIBLE: f64 = -200.0;

/// An upper bound of `log2` of the probability that no table exists where each item has `functions`
/// independent uniform positions, which may coincide.
///
/// As [`hall_bound`], with sets of two items and more: all positions lie among `k` bins with
/// probability `(k / bins)^(functions s)`.
///
/// # Panics
/// If there are no functions, or more than 4.
pub fn independent_bound(items: usize, bins: usize, functions: usize) -> f64 {
    assert!((1..=MOST_POSITIONS).contains(&functions), "{functions} positions an item");
    let ln_binomial = |n: usize, k: usize| ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k);
    let mut probability = 0.0;
    let mut saddle = 4.0;
    for s in 2..=items.min(bins + 1) {
        let (k, all) = (s - 1, functions * s);
        let ln_sets = ln_binomial(items, s) + ln_binomial(bins, k) - all as f64 * (bins as f64).ln();
        let ln_inside = all as f64 * (k as f64).ln();
        let ln_covered = if all > 2 * k { ln_covered_twice(all, k, &mut saddle) } else { f64::INFINITY };
        probability += (ln_sets + ln_inside.min(ln_covered)).exp();
    }
    probability.log2()
}

/// `ln` of an upper bound of the number of ways to give `s` items three of `k` bins each such that
/// each bin is hit twice. `saddle` is the point of the set one smaller, and then that of this one.
fn ln_twice_covered(s: usize, k: usize, saddle: &mut f64) -> f64 {
    ln_covered_twice(3 * s, k, saddle) - s as f64 * 6f64.ln()
}

/// `ln` of an upper bound of the number of sequences of `all` bins out of `k` that hit each bin twice.
fn ln_covered_twice(all: usize, k: usize, saddle: &mut f64) -> f64 {
    let k = k as f64;
    // The saddle point: x (e^x - 1) / (e^x - 1 - x) = all / k. Any x gives a bound, so that two steps
    // of Newton's method from a neighbour's point are as good as its exact place.
    for _ in 0..2 {
        let (x, grown) = (*saddle, saddle.exp_m1());
        let rest = grown - x;
        let value = x * grown / rest - all as f64 / k;
        let slope = (grown + x * (grown + 1.0)) / rest - x * (grown / rest).powi(2);
        *saddle = (x - value / slope).clamp(1e-3, 50.0);
    }
    let x = *saddle;
    ln_factorial(all) + k * (x.exp_m1() - x).ln() - all as f64 * x.ln()
}

/// Positions of an item, at most: a choice among them has two bits.
const MOST_POSITIONS: usize = 4;

/// Which item each bin holds.
#[derive(Clone, Debug)]
pub struct CuckooTable {
    /// `item * 4 + choice`, or [`EMPTY`].
    bins: Vec<u32>,
}

/// A bin without an item.
const EMPTY: u32 = u32::MAX;

impl CuckooTable {
    /// Places the items, whose positions are below `bins`, by shortest augmenting paths: it fails
    /// only where no table exists. Time depends on the positions.
    ///
    /// # Errors
    /// If none exists.
    ///
    /// # Panics
    /// If there are `2^30` items or more.
    pub fn build_vartime<const H: usize>(positions: &[[u32; H]], bins: usize) -> Result<Self, HashFailure> {
        const { assert!(H <= MOST_POSITIONS) };
        assert!(positions.len() < 1 << 30, "fewer than 2^30 items");
        let mut table = Self { bins: vec![EMPTY; bins] };
        // For each bin reached in the search under way, the entry that wants to move there.
        let mut wanted_by = vec![EMPTY; bins];
        let mut reached: Vec<u32> = Vec::new();
        for item in 0..positions.len() as u32 {
            let free = table.search(positions, item, &mut wanted_by, &mut reached);
            if let Some(mut bin) = free {
                // Back along the path: each entry moves to the bin it wants, and leaves its own to the one before
                // it.
                loop {
                    let entry = wanted_by[bin as usize];
                    let left = positions[(entry >> 2) as usize]
                        .into_iter()
                        .find(|&other| table.bins[other as usize] >> 2 == entry >> 2);
                    table.bins[bin as usize] = entry;
                    match left {
                        Some(left) => bin = left,
                        None => break,
                    }
                }
            }
            for bin in reached.drain(..) {
                wanted_by[bin as usize] = EMPTY;
            }
            free.ok_or(HashFailure)?;
        }
        Ok(table)
    }

    /// Breadth-first from the item's positions over the entries in the way, to an empty bin.
    fn search<const H: usize>(
        &self,
        positions: &[[u32; H]],
        item: u32,
        wanted_by: &mut [u32],
        reached: &mut Vec<u32>,
    ) -> Option<u32> {
        let mut item = item;
        let mut next = 0;
        loop {
            for (choice, &bin) in positions[item as usize].iter().enumerate() {
                if wanted_by[bin as usize] == EMPTY {
                    wanted_by[bin as usize] = item << 2 | choice as u32;
                    if self.bins[bin as usize] == EMPTY {
                        reached.push(bin);
                        return Some(bin);
                    }
                    reached.push(bin);
                }
            }
            let &bin = reached.get(next)?;
            item = self.bins[bin as usize] >> 2;
            next += 1;
        }
    }

    /// Number of bins.
    pub fn len(&self) -> usize {
        self.bins.len()
    }

    /// Whether there is no bin.
    pub fn is_empty(&self) -> bool {
        self.bins.is_empty()
    }

    /// The item in a bin and which of its positions the bin is; none for an empty bin.
    pub fn bin(&self, bin: usize) -> Option<super::Entry> {
        let entry = self.bins[bin];
        (entry != EMPTY).then_some(super::Entry { item: entry >> 2, choice: (entry & 3) as u8 })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::hashing::Positions;

    fn check(table: &CuckooTable, positions: &[[u32; 3]]) {
        let mut placed = vec![false; positions.len()];
        for bin in 0..table.len() {
            if let Some(entry) = table.bin(bin) {
                assert_eq!(positions[entry.item as usize][usize::from(entry.choice)] as usize, bin);
                assert!(!std::mem::replace(&mut placed[entry.item as usize], true), "item {} twice", entry.item);
            }
        }
        assert!(placed.into_iter().all(|placed| placed));
    }

    #[test]
    fn every_item_has_one_bin() {
        for items in [0, 1, 2, 3, 4, 10, 100, 1000, 4096, 1 << 16] {
            let bins = cuckoo_bins(items, 42).unwrap();
            let digests: Vec<u128> = (0..items as u128).collect();
            let positions = Positions::new(5, bins).of(&digests);
            check(&CuckooTable::build_vartime(&positions, bins).unwrap(), &positions);
        }
    }

    #[test]
    fn sizes_are_within_their_bound() {
        assert_eq!(cuckoo_bins(1 << 20, 43), Ok(1_300_235));
        assert_eq!(cuckoo_bins(3, 43), Ok(4));
        for items in (4..40).chain((40..2000).step_by(97)).chain([4095, 4096, 8192, 16_383]) {
            let bins = cuckoo_bins(items, 43).unwrap();
            assert!(hall_bound(items, bins) <= -43.0, "{items}");
        }
        // Rounding makes the bound worst a little above 2^13.
        for items in (8_192..8_250).step_by(2) {
            assert!(hall_bound(items, cuckoo_bins(items, 43).unwrap()) < -64.0, "{items}");
        }
        let mut last = -f64::from(MANY_BITS);
        for log in 13..=18 {
            let bound = hall_bound(1 << log, cuckoo_bins(1 << log, 43).unwrap());
            assert!(bound < last, "2^{log}: {bound}");
            last = bound;
        }
        assert!(cuckoo_bins(1 << 20, 65).is_err());
        assert!(cuckoo_bins((1 << 26) + 1, 40).is_err());
    }

    #[test]
    fn fails_exactly_where_no_table_exists() {
        assert!(CuckooTable::build_vartime(&[[0, 1, 2]; 3], 3).is_ok());
        assert_eq!(CuckooTable::build_vartime(&[[0, 1, 2]; 4], 9).err(), Some(HashFailure));
    }

    /// The sum as it is written down, each term by itself: the bound is that or, for its geometric series, little more.
    #[test]
    fn the_bound_is_the_sum_of_its_terms() {
        let ln_binomial = |n: usize, k: usize| ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k);
        for (items, hundredths) in
            [(4, 300), (10, 200), (100, 140), (1000, 129), (4096, 125), (4096, 123), (10_000, 124), (10_000, 250)]
        {
            let bins = items * hundredths / 100;
            let (mut sum, mut saddle) = (0.0, 4.0);
            for s in 4..=items.min(bins + 1) {
                let k = s - 1;
                let ln_inside = ln_binomial(k, 3) - ln_binomial(bins, 3);
                let ln_sets = |t: usize| ln_binomial(items, t) + ln_binomial(bins, k);
                let covered = ln_twice_covered(s, k, &mut saddle);
                // Of `t` items at the point of `s` items.
                let ln_covered = |t: usize| {
                    let more =
                        ln_factorial(3 * t) - ln_factorial(3 * s) - (t - s) as f64 * (3.0 * saddle.ln() + 6f64.ln());
                    ln_sets(t) + covered + more - t as f64 * ln_binomial(bins, 3)
                };
                let others = |t: usize| if t < items { (items - t) as f64 * (-ln_inside.exp()).ln_1p() } else { 0.0 };
                let closed: f64 = (s..=items.min(s + 100)).map(|t| (ln_covered(t) + others(t)).exp()).sum();
                sum += (ln_sets(s) + s as f64 * ln_inside).min(ln_covered(s)).exp().min(closed);
            }
            let (bound, plain) = (hall_bound(items, bins), f64::log2(sum));
            assert!((-1e-6..0.6).contains(&(bound - plain)), "{items} items, {bins} bins: {bound}, {plain}");
        }
    }

    /// Tables so full that some do not exist: no more of them than the bound says, but for what chance adds.
    #[test]
    fn no_more_tables_fail_than_the_bound_says() {
        let mut binding = 0;
        for (items, bins) in [(8, 9), (12, 15), (24, 28), (40, 47), (64, 74), (200, 244), (400, 492)] {
            let tables = if items < 100 { 20_000 } else { 2_000 };
            let digests: Vec<u128> = (0..items as u128).collect();
            let fails =
                |seed: &u128| CuckooTable::build_vartime(&Positions::new(*seed, bins).of(&digests), bins).is_err();
            let failed = (0..tables).filter(fails).count() as f64;
            let expected = hall_bound(items, bins).exp2() * tables as f64;
            assert!(failed <= expected + 5.0 * expected.sqrt() + 5.0, "{items} in {bins}: {failed}, {expected}");
            binding += usize::from(expected < tables as f64 && failed > 0.0);
        }
        assert!(binding >= 2, "the bound said something in {binding} cases");
    }

    /// The chance that four items meet in three bins, by counting; the bound at more than three of
    /// a kind must not be below it.
    #[test]
    fn the_bound_holds_for_four_items() {
        // Four items fail only with four equal triples: C(bins, 3)^-3.
        let bound = hall_bound(4, 10);
        assert!((bound + 3.0 * 120f64.log2()).abs() < 1e-9, "{bound}");
    }

    proptest! {
        /// Against Hall's condition itself, on tables so small that failures are common.
        #[test]
        fn agrees_with_halls_condition(seed: u128, items in 1usize..9, bins in 3usize..8) {
            let digests: Vec<u128> = (0..items as u128).collect();
            let positions = Positions::new(seed, bins).of(&digests);
            let exists = (1u32..1 << items).all(|set| {
                let bins = (0..items).filter(|i| set >> i & 1 == 1).flat_map(|i| positions[i]).fold(0u32, |bins, bin| bins | 1 << bin);
                bins.count_ones() >= set.count_ones()
            });
            let table = CuckooTable::build_vartime(&positions, bins);
            prop_assert_eq!(table.is_ok(), exists);
            if let Ok(table) = table {
                check(&table, &positions);
            }
        }
    }
}
