//! Sizes of the clustered table, from an exact bound of its failure probability.

use crate::facts::Unsupported;
use crate::hashing::max_load;

/// The most pairs a table is made for.
const MAX_PAIRS: usize = 1 << 26;

/// Pairs a bin holds on average at most: its cells are numbered by 16 bits, and lie in a
/// second-level cache.
const PAIRS_PER_BIN: usize = 51_200;

/// Sparse cells for each pair: above the threshold 1.2219 of peeling by a few standard deviations
/// of the bin's load. Only speed depends on it; that the system has a solution does not.
const CELLS_PER_PAIR: f64 = 1.23;

/// Most binary columns of the dense part, the bits of a word.
const MAX_DENSE: u32 = 64;

/// The sizes of a table: `bins` bins, each of `sparse` cells of which a row takes three and `dense`
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
                format!("{pairs} pairs in one clustered table, more than {MAX_PAIRS}"),
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
        let sparse = ((pairs as f64 / bins as f64 * CELLS_PER_PAIR).ceil() as usize).max(3);
        let dense = dense_columns(rank_bits, capacity, sparse);
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
        format!("a clustered table that fails with probability 2^-{failure_bits}"),
        "ask for a failure probability between 2^-1 and about 2^-60",
    )
}

/// The least number of random binary columns such that `rows` rows over `sparse` cells are
/// dependent with probability at most `2^-bits`.
fn dense_columns(bits: f64, rows: usize, sparse: usize) -> u32 {
    // Room for the rounding errors of the sum, far above what they are.
    let dependencies = expected_dependencies(rows, sparse) * 1.001 + 1e-12;
    (bits + dependencies.log2()).ceil().max(0.0) as u32
}

/// The expected number of non-empty sets of rows whose sum is zero, for `rows` rows that are
/// uniform 3-subsets of `cells` cells.
///
/// A set of rows with sum zero keeps that sum with `d` uniform binary columns attached with
/// probability `2^-d`, so that by the first-moment bound the rows are dependent with probability at
/// most `2^-d` times this number; no matter how the system is then solved.
///
/// The number is exact. The sum of `s` independent rows is zero with probability `2^-cells * sum_j
/// C(cells, j) kappa_j^s`, where `kappa_j = K_3(j) / C(cells, 3)` is the bias of a row against a
/// test vector of weight `j` (`K_3`: the Krawtchouk polynomial), and `sum_s C(rows, s) kappa_j^s =
/// (1 + kappa_j)^rows`; the term `s = 0` is the empty set.
pub fn expected_dependencies(rows: usize, cells: usize) -> f64 {
    let m = cells as f64;
    let subsets = m * (m - 1.0) * (m - 2.0) / 6.0;
    dependencies(rows, cells, |ones, zeros| {
        let krawtchouk = zeros * (zeros - 1.0) * (zeros - 2.0) / 6.0 - ones * zeros * (zeros - 1.0) / 2.0
            + ones * (ones - 1.0) * zeros / 2.0
            - ones * (ones - 1.0) * (ones - 2.0) / 6.0;
        krawtchouk / subsets
    })
}

/// The expected number of non-empty sets of independent rows over `cells` cells whose sum is zero,
/// for rows whose bias against a test vector is `bias` of how many ones and zeros it has.
pub(in crate::okvs) fn dependencies(rows: usize, cells: usize, bias: impl Fn(f64, f64) -> f64) -> f64 {
    if rows == 0 {
        return 0.0;
    }
    let (n, m) = (rows as f64, cells as f64);
    let mut ln_weight = -m * std::f64::consts::LN_2;
    let (mut total, mut weights) = (0.0, 0.0);
    for j in 0..=cells {
        let (ones, zeros) = (j as f64, (cells - j) as f64);
        let ln_power = n * bias(ones, zeros).max(-1.0).ln_1p();
        // The weights' rounding errors cancel between numerator and denominator.
        let weight = ln_weight.exp();
        weights += weight;
        total += if ln_power < 1.0 { weight * ln_power.exp_m1() } else { (ln_weight + ln_power).exp() - weight };
        ln_weight += (zeros / (ones + 1.0)).ln();
    }
    (total / weights).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected number of dependent sets, by going through all choices of rows.
    fn enumerated(rows: u32, cells: u32) -> f64 {
        let subsets: Vec<u32> = (0u32..1 << cells).filter(|set| set.count_ones() == 3).collect();
        let choices = subsets.len().pow(rows);
        let mut dependent = 0u64;
        for choice in 0..choices {
            let mut rest = choice;
            let chosen: Vec<u32> = (0..rows)
                .map(|_| {
                    let subset = subsets[rest % subsets.len()];
                    rest /= subsets.len();
                    subset
                })
                .collect();
            for set in 1u32..1 << rows {
                let sum = (0..rows).filter(|row| set >> row & 1 == 1).fold(0, |sum, row| sum ^ chosen[row as usize]);
                dependent += u64::from(sum == 0);
            }
        }
        dependent as f64 / choices as f64
    }

    #[test]
    fn the_expectation_is_the_enumeration() {
        for (rows, cells) in [(1, 5), (2, 3), (2, 6), (3, 5), (4, 4), (4, 5), (5, 4)] {
            let (formula, exact) = (expected_dependencies(rows, cells), enumerated(rows as u32, cells as u32));
            assert!((formula - exact).abs() < 1e-9, "{rows} rows, {cells} cells: {formula}, {exact}");
        }
    }

    #[test]
    fn large_tables_are_ruled_by_pairs_of_equal_rows() {
        let (rows, cells) = (51_700usize, 61_900usize);
        let pairs = (rows * (rows - 1) / 2) as f64 / (cells * (cells - 1) * (cells - 2) / 6) as f64;
        let all = expected_dependencies(rows, cells);
        assert!(all > pairs && all < pairs * 1.001, "{all}, {pairs}");
    }

    #[test]
    fn every_size_stays_within_its_budget() {
        for failure_bits in [30, 42, 46] {
            for pairs in (0..70).chain((7..=26).flat_map(|log| [(1 << log) - 1, 1 << log, 1 << log | 1 << (log - 1)])) {
                let Ok(shape) = Shape::derive(pairs, failure_bits) else {
                    assert!(pairs > MAX_PAIRS);
                    continue;
                };
                let mut failure = shape.bins as f64
                    * expected_dependencies(shape.capacity, shape.sparse)
                    * (-f64::from(shape.dense)).exp2();
                if shape.bins > 1 {
                    assert!(
                        shape.capacity < u16::MAX as usize
                            && max_load(pairs, 1, shape.bins, failure_bits + 1) <= shape.capacity
                    );
                    failure += (-f64::from(failure_bits + 1)).exp2();
                }
                assert!(failure.log2() <= -f64::from(failure_bits), "{shape:?}: 2^{}", failure.log2());
                assert!(shape.sparse <= 1 << 16);
                assert!(pairs < 1 << 12 || shape.cells() as f64 <= 1.26 * pairs as f64, "{shape:?}");
            }
        }
    }

    #[test]
    fn refuses_what_no_bound_covers() {
        assert!(Shape::derive(MAX_PAIRS + 1, 42).is_err());
        assert!(Shape::derive(2, 70).is_err());
        assert!(Shape::derive(2, 0).is_err());
        assert!(Shape::derive(60_000, u32::MAX).is_err(), "sums of bits do not wrap");
    }
}
