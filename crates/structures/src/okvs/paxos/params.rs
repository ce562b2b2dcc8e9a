//! Sizes of the two-hash table.

use crate::okvs::binned::{Design, Known, dependencies};

/// Bins of 10,000 pairs: 24,000 cells of 64 bytes lie in a second-level cache. 2.4 sparse cells a
/// pair are the paper's `2 + eps`, with its `eps`: the graph has 0.83 ends of edges a vertex, so that
/// its components are small and cycles are few.
pub static DESIGN: Design = Design {
    kind: "two-hash",
    cells_per_row: 2,
    cells_per_pair: 2.4,
    pairs_per_bin: 10_000,
    expected_dependencies,
    known: Known::new(),
};

/// The expected number of non-empty sets of rows whose sum is zero, for `rows` rows that are
/// uniform pairs of distinct cells out of `cells`: sets of edges in which every vertex has an even
/// number of them.
///
/// The number is exact:
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
    use crate::hashing::max_load;
    use crate::okvs::binned::MAX_PAIRS;

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
                let Ok(shape) = DESIGN.shape(pairs, failure_bits) else {
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
        assert!(DESIGN.shape(MAX_PAIRS + 1, 43).is_err());
        assert!(DESIGN.shape(10, 0).is_err());
        assert!(DESIGN.shape(60_000, 64).is_err());
        assert!(DESIGN.shape(60_000, u32::MAX).is_err(), "sums of bits do not wrap");
    }
}
