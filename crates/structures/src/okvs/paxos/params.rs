//! Sizes of the two-hash table, from an exact bound of its failure probability.

use crate::facts::Unsupported;
use crate::hashing::max_load;
use crate::okvs::clustered::params::dependencies;

/// The most pairs a table is made for.
const MAX_PAIRS: usize = 1 << 26;

/// Pairs that a bin holds on average at most: 24,000 cells of 64 bytes lie in a second-level cache.
const PAIRS_PER_BIN: usize = 10_000;

/// Sparse cells for each pair, `2 + eps` in the paper, with its `eps`: the graph has 0.83 ends of
/// edges a vertex, so that its components are small and cycles are few.
const CELLS_PER_PAIR: f64 = 2.4;

/// Most binary columns of the dense part, the bits of a word.
const MAX_DENSE: u32 = 64;

/// The sizes of a table: `bins` bins, each of `sparse` cells of which a row takes two and `dense`
/// cells of which it takes a random subset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Pairs in all.
    pub pairs: usize,
    /// Bins.
    pub bins: usize,
    /// Most pairs of a bin, but for the failures that the bound counts.
    pub capacity: usize,
    /// Sparse cells of a bin.
    pub sparse: usize,
    /// Dense cells of a bin.
    pub dense: u32,
}

impl Shape {
    /// The sizes for `pairs` pairs such that encoding fails with probability at most
    /// `2^-failure_bits`: for one bin the bound of [`expected_dependencies`] takes all of it,
    /// else that and the bins' overflow take half each.
    pub fn derive(pairs: usize, failure_bits: u32) -> Result<Self, Unsupported> {
        if pairs > MAX_PAIRS {
            return Err(Unsupported::new(
                format!("{pairs} pairs in one two-hash table, more than {MAX_PAIRS}"),
                "split the set into buckets",
            ));
        }
        if !(1..=MAX_DENSE).contains(&failure_bits) {
            return Err(refused(failure_bits));
        }
        let bins = pairs.div_ceil(PAIRS_PER_BIN).max(1);
        let (capacity, rank_bits) = if bins == 1 {
            (pairs, f64::from(failure_bits))
        } else {
            (max_load(pairs, 1, bins, failure_bits + 1), f64::from(failure_bits + 1) + (bins as f64).log2())
        };
        let sparse = ((pairs as f64 / bins as f64 * CELLS_PER_PAIR).ceil() as usize).max(2);
        // Room for the rounding errors of the sum, far above what they are.
        let sets = expected_dependencies(capacity, sparse) * 1.001 + 1e-12;
        let dense = (rank_bits + sets.log2()).ceil().max(0.0) as u32;
        // Cells of a bin are numbered by 16 bits, and so are its rows.
        if dense > MAX_DENSE || capacity.max(sparse) > usize::from(u16::MAX) {
            return Err(refused(failure_bits));
        }
        Ok(Self { pairs, bins, capacity, sparse, dense })
    }

    /// Cells of a bin.
    pub fn stride(&self) -> usize {
        self.sparse + self.dense as usize
    }

    /// Cells of the table.
    pub fn cells(&self) -> usize {
        self.bins * self.stride()
    }
}

fn refused(failure_bits: u32) -> Unsupported {
    Unsupported::new(
        format!("a two-hash table that fails with probability 2^-{failure_bits}"),
        "ask for a failure probability between 2^-1 and about 2^-60",
    )
}

/// The expected number of non-empty sets of rows whose sum is zero, for `rows` rows that are
/// uniform pairs of distinct cells out of `cells`: sets of edges in which every vertex has an even
/// number of them.
///
/// A set with sum zero keeps that sum with `d` uniform binary columns attached with probability
/// `2^-d`, so that by the first-moment bound the rows are dependent with probability at most `2^-d`
/// times this number; no matter how the system is then solved. The number is exact:
/// [`clustered::expected_dependencies`](crate::okvs::clustered::expected_dependencies) has the sum,
/// here with the bias `K_2(j) / C(cells, 2)`.
pub fn expected_dependencies(rows: usize, cells: usize) -> f64 {
    let m = cells as f64;
    let pairs = m * (m - 1.0) / 2.0;
    dependencies(rows, cells, |ones, zeros| {
        let krawtchouk = zeros * (zeros - 1.0) / 2.0 - ones * zeros + ones * (ones - 1.0) / 2.0;
        krawtchouk / pairs
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected number of dependent sets, by going through all choices of rows.
    fn enumerated(rows: u32, cells: u32) -> f64 {
        let pairs: Vec<u32> = (0u32..1 << cells).filter(|set| set.count_ones() == 2).collect();
        let choices = pairs.len().pow(rows);
        let mut dependent = 0u64;
        for choice in 0..choices {
            let row = |row: u32| pairs[choice / pairs.len().pow(row) % pairs.len()];
            for set in 1u32..1 << rows {
                dependent += u64::from((0..rows).filter(|i| set >> i & 1 == 1).fold(0, |sum, i| sum ^ row(i)) == 0);
            }
        }
        dependent as f64 / choices as f64
    }

    #[test]
    fn the_expectation_is_the_enumeration() {
        for (rows, cells) in [(1, 2), (2, 2), (2, 5), (3, 4), (3, 7), (4, 4), (4, 5), (5, 4)] {
            let (formula, exact) = (expected_dependencies(rows, cells), enumerated(rows as u32, cells as u32));
            assert!((formula - exact).abs() < 1e-9, "{rows} rows, {cells} cells: {formula}, {exact}");
        }
    }

    /// In a sparse random graph of mean degree `c < 1` there are `c^k / 2k` cycles of length `k` on
    /// average, of which any may be in the set or not: `exp(sum_k c^k / 2k) - 1`, from `k = 2` on.
    #[test]
    fn large_tables_are_ruled_by_cycles() {
        let (rows, cells) = (10_000, 24_000);
        let c = 2.0 * rows as f64 / cells as f64;
        let cycles = (1.0 - c).powf(-0.5) * (-c / 2.0).exp() - 1.0;
        let all = expected_dependencies(rows, cells);
        assert!((all / cycles - 1.0).abs() < 0.01, "{all}, {cycles}");
    }

    #[test]
    fn every_size_stays_within_its_budget() {
        for failure_bits in [30, 43] {
            for pairs in (0..70).chain((7..=26).flat_map(|log| [(1 << log) - 1, 1 << log, 1 << log | 1 << (log - 1)])) {
                let Ok(shape) = Shape::derive(pairs, failure_bits) else {
                    assert!(pairs > MAX_PAIRS);
                    continue;
                };
                let mut failure = shape.bins as f64
                    * expected_dependencies(shape.capacity, shape.sparse)
                    * (-f64::from(shape.dense)).exp2();
                if shape.bins > 1 {
                    assert!(max_load(pairs, 1, shape.bins, failure_bits + 1) <= shape.capacity);
                    failure += (-f64::from(failure_bits + 1)).exp2();
                }
                assert!(failure.log2() <= -f64::from(failure_bits), "{shape:?}: 2^{}", failure.log2());
                assert!(pairs < 1 << 12 || shape.cells() as f64 <= 2.42 * pairs as f64, "{shape:?}");
            }
        }
    }

    #[test]
    fn refuses_what_no_bound_covers() {
        assert!(Shape::derive(MAX_PAIRS + 1, 43).is_err());
        assert!(Shape::derive(10, 0).is_err());
        assert!(Shape::derive(60_000, 64).is_err());
        assert!(Shape::derive(60_000, u32::MAX).is_err(), "sums of bits do not wrap");
    }
}
