//! Sizes of the clustered table.

use crate::okvs::binned::{Design, Known, dependencies};

/// Bins of 51,200 pairs: their cells are numbered by 16 bits, and lie in a second-level cache. 1.23
/// sparse cells a pair are above the threshold 1.2219 of peeling by a few standard deviations of
/// the bin's load. Only speed depends on that; that the system has a solution does not.
pub static DESIGN: Design = Design {
    kind: "clustered",
    cells_per_row: 3,
    cells_per_pair: 1.23,
    pairs_per_bin: 51_200,
    expected_dependencies,
    known: Known::new(),
};

/// The expected number of non-empty sets of rows whose sum is zero, for `rows` rows that are
/// uniform 3-subsets of `cells` cells.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hashing::max_load;
    use crate::okvs::binned::MAX_PAIRS;

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
                let Ok(shape) = DESIGN.shape(pairs, failure_bits) else {
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
        assert!(DESIGN.shape(MAX_PAIRS + 1, 42).is_err());
        assert!(DESIGN.shape(2, 70).is_err());
        assert!(DESIGN.shape(2, 0).is_err());
        assert!(DESIGN.shape(60_000, u32::MAX).is_err(), "sums of bits do not wrap");
    }
}
