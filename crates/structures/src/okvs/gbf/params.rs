//! Sizes of the garbled Bloom filter, from exact probabilities.

use crate::facts::Unsupported;

/// The most pairs a filter is made for.
const MAX_PAIRS: usize = 1 << 26;

/// The most hash functions.
const MAX_SEGMENTS: usize = 1 << 12;

/// The sizes of a filter: `segments` segments of `cells` cells each. An item takes one cell of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// `k`, the number of hash functions.
    pub segments: usize,
    /// Cells of a segment.
    pub cells: usize,
}

impl Shape {
    /// The sizes for `pairs` pairs such that encoding fails with probability at most
    /// `2^-failure_bits`.
    ///
    /// # Errors
    /// If there are more than 2^26 pairs, or the probability takes more than 4096 hash functions.
    pub fn derive(pairs: usize, failure_bits: u32) -> Result<Self, Unsupported> {
        if pairs > MAX_PAIRS {
            return Err(Unsupported::new(
                format!("{pairs} pairs in one garbled Bloom filter, more than {MAX_PAIRS}"),
                "split the set into buckets",
            ));
        }
        let cells = half_full(pairs);
        let fits =
            |segments: usize| log2_expected_failures(pairs, Self { segments, cells }) <= -f64::from(failure_bits);
        // The expectation falls with every segment.
        let mut segments = 1..MAX_SEGMENTS + 1;
        while !segments.is_empty() {
            let middle = segments.start + segments.len() / 2;
            if fits(middle) {
                segments.end = middle;
            } else {
                segments.start = middle + 1;
            }
        }
        if segments.start > MAX_SEGMENTS {
            return Err(Unsupported::new(
                format!("a garbled Bloom filter that fails with probability 2^-{failure_bits}"),
                "ask for a failure probability of at least 2^-1000",
            ));
        }
        Ok(Self { segments: segments.start, cells })
    }

    /// Cells of the filter.
    pub fn len(&self) -> usize {
        self.segments * self.cells
    }

    /// Whether the filter has no cell.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The part of a segment's cells that so many items are expected to take.
    pub fn load(&self, items: usize) -> f64 {
        load(items, self.cells)
    }

    /// `log2` of the probability that an item finds all of its cells taken by `items` others.
    ///
    /// Segments are filled independently, so that it is the `k`-th power of the expected load.
    pub fn log2_false_positive(&self, items: usize) -> f64 {
        self.segments as f64 * self.load(items).log2()
    }
}

/// The least number of cells of which `items` items are expected to take half at most: with so many a
/// filter of a given probability of false positives has about the fewest cells in all.
pub fn half_full(items: usize) -> usize {
    if items == 0 {
        return 1;
    }
    // The estimate is above 1.44 items; the loops mend what rounding does.
    let mut cells = ((1.0 / -(-std::f64::consts::LN_2 / items as f64).exp_m1()).ceil() as usize).max(2);
    while load(items, cells) > 0.5 {
        cells += 1;
    }
    while cells > 2 && load(items, cells - 1) <= 0.5 {
        cells -= 1;
    }
    cells
}

/// `1 - (1 - 1 / cells)^items`.
fn load(items: usize, cells: usize) -> f64 {
    -(items as f64 * (-1.0 / cells as f64).ln_1p()).exp_m1()
}

/// `log2` of a bound on the expected number of pairs that find no free cell, which bounds the
/// probability that encoding fails.
///
/// A pair behind `j` others finds none with probability `load(j)^k`. The logarithm of the load is
/// concave in `j`, so that going back from `n` each step divides it by `e^d` at least, with `d` the
/// slope at `n`: the sum over `j < n` is at most `load(n)^k / (e^(k d) - 1)`.
pub(super) fn log2_expected_failures(pairs: usize, shape: Shape) -> f64 {
    if pairs < 2 {
        return f64::NEG_INFINITY;
    }
    let load = shape.load(pairs);
    let slope = (1.0 - load) * -(-1.0 / shape.cells as f64).ln_1p() / load;
    shape.log2_false_positive(pairs) - (shape.segments as f64 * slope).exp_m1().log2()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum that [`log2_expected_failures`] bounds.
    fn expected_failures(pairs: usize, shape: Shape) -> f64 {
        (0..pairs).map(|others| shape.load(others).powi(shape.segments as i32)).sum()
    }

    #[test]
    fn the_bound_is_close_to_its_sum() {
        for pairs in [2, 3, 10, 100, 5000] {
            for segments in [1, 5, 40, 63] {
                let shape = Shape { segments, cells: half_full(pairs) };
                let (bound, sum) = (log2_expected_failures(pairs, shape), expected_failures(pairs, shape).log2());
                assert!(bound >= sum - 1e-9, "{shape:?}: bound {bound}, sum {sum}");
                assert!(segments < 40 || pairs < 100 || bound < sum + 0.3, "{shape:?}: bound {bound}, sum {sum}");
            }
        }
    }

    #[test]
    fn every_size_stays_within_its_budget_and_needs_its_cells() {
        for failure_bits in [5, 30, 43] {
            for pairs in [2, 3, 17, 1000, 1 << 16, 1 << 20, 1 << 26] {
                let shape = Shape::derive(pairs, failure_bits).unwrap();
                assert!(log2_expected_failures(pairs, shape) <= -f64::from(failure_bits), "{shape:?}");
                let fewer = Shape { segments: shape.segments - 1, ..shape };
                assert!(log2_expected_failures(pairs, fewer) > -f64::from(failure_bits), "{shape:?}");
                assert!(shape.load(pairs) <= 0.5 && Shape { cells: shape.cells - 1, ..shape }.load(pairs) > 0.5);
            }
        }
    }

    #[test]
    fn known_sizes() {
        assert_eq!(Shape::derive(1 << 20, 43).unwrap(), Shape { segments: 58, cells: 1_512_776 });
        assert_eq!((half_full(0), half_full(1), half_full(2)), (1, 2, 4));
        assert!(Shape::derive(MAX_PAIRS + 1, 43).is_err());
        assert!(Shape::derive(1000, 5000).is_err());
    }
}
