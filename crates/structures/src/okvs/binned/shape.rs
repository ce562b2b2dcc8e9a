//! Sizes of a table of bins, from an exact bound of its failure probability.

use std::sync::{Mutex, PoisonError};

use crate::facts::Unsupported;
use crate::hashing::max_load;

/// The most pairs a table is made for.
pub const MAX_PAIRS: usize = 1 << 26;

/// Most binary columns of the dense part, the bits of a word.
const MAX_DENSE: u32 = 64;

/// How many results [`Known`] keeps.
const MOST_KNOWN: usize = 64;

/// The sizes of a table: `bins` bins, each of `sparse` cells of which a row takes a few and `dense`
/// cells of which it takes a random subset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Pairs that are encoded.
    pub pairs: usize,
    /// Bins, each of them a system of equations by itself.
    pub bins: usize,
    /// Most pairs of a bin, but for the failures that the bound counts.
    pub capacity: usize,
    /// Sparse cells of a bin.
    pub sparse: usize,
    /// Dense cells of a bin.
    pub dense: u32,
}

impl Shape {
    /// Cells of a bin.
    pub fn stride(&self) -> usize {
        self.sparse + self.dense as usize
    }

    /// Cells of the table.
    pub fn cells(&self) -> usize {
        self.bins * self.stride()
    }
}

/// What distinguishes the sizes of one kind of table from those of another.
pub struct Design {
    /// The kind, before "table".
    pub kind: &'static str,
    /// Sparse cells that a row takes.
    pub cells_per_row: usize,
    /// Sparse cells for each pair.
    pub cells_per_pair: f64,
    /// Pairs that a bin holds on average at most.
    pub pairs_per_bin: usize,
    /// The expected number of non-empty sets whose sum is zero, of so many rows over so many sparse
    /// cells.
    pub expected_dependencies: fn(usize, usize) -> f64,
    /// What it has given.
    pub known: Known,
}

/// The last results of a function that takes milliseconds: a run asks for the same sizes again and again, to choose a
/// protocol and for each of its buckets.
#[derive(Debug, Default)]
pub struct Known(Mutex<Vec<([usize; 2], f64)>>);

impl Known {
    /// No results yet.
    pub const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    fn or(&self, rows: usize, cells: usize, function: fn(usize, usize) -> f64) -> f64 {
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&(_, result)) = known().iter().find(|(of, _)| *of == [rows, cells]) {
            return result;
        }
        let result = function(rows, cells);
        let mut known = known();
        if known.len() == MOST_KNOWN {
            known.remove(0);
        }
        known.push(([rows, cells], result));
        result
    }
}

impl Design {
    /// The sizes for `pairs` pairs such that encoding fails with probability at most
    /// `2^-failure_bits`: for one bin the bound by the expected number of dependencies takes all of
    /// it, else that and the bins' overflow take half each.
    pub fn shape(&self, pairs: usize, failure_bits: u32) -> Result<Shape, Unsupported> {
        if pairs > MAX_PAIRS {
            return Err(Unsupported::new(
                format!("{pairs} pairs in one {} table, more than {MAX_PAIRS}", self.kind),
                "split the set into buckets",
            ));
        }
        if !(1..=MAX_DENSE).contains(&failure_bits) {
            return Err(self.refused(failure_bits));
        }
        let bins = pairs.div_ceil(self.pairs_per_bin).max(1);
        let (capacity, rank_bits) = if bins == 1 {
            (pairs, f64::from(failure_bits))
        } else {
            (max_load(pairs, 1, bins, failure_bits + 1), f64::from(failure_bits + 1) + (bins as f64).log2())
        };
        let sparse = ((pairs as f64 / bins as f64 * self.cells_per_pair).ceil() as usize).max(self.cells_per_row);
        let dense = self.dense_columns(rank_bits, capacity, sparse);
        // Cells of a bin are numbered by 16 bits, and so are its rows.
        if dense > MAX_DENSE || capacity.max(sparse) > usize::from(u16::MAX) {
            return Err(self.refused(failure_bits));
        }
        Ok(Shape { pairs, bins, capacity, sparse, dense })
    }

    /// The least number of random binary columns such that `rows` rows over `sparse` cells are
    /// dependent with probability at most `2^-bits`.
    ///
    /// A set of rows with sum zero keeps that sum with `d` uniform binary columns attached with
    /// probability `2^-d`, so that by the first-moment bound the rows are dependent with probability at
    /// most `2^-d` times the expected number of such sets; no matter how the system is then solved.
    fn dense_columns(&self, bits: f64, rows: usize, sparse: usize) -> u32 {
        // Room for the rounding errors of the sum, far above what they are.
        let dependencies = self.known.or(rows, sparse, self.expected_dependencies) * 1.001 + 1e-12;
        (bits + dependencies.log2()).ceil().max(0.0) as u32
    }

    fn refused(&self, failure_bits: u32) -> Unsupported {
        Unsupported::new(
            format!("a {} table that fails with probability 2^-{failure_bits}", self.kind),
            "ask for a failure probability between 2^-1 and about 2^-60",
        )
    }
}

/// The expected number of non-empty sets of independent rows over `cells` cells whose sum is zero,
/// for rows whose bias against a test vector is `bias` of how many ones and zeros it has.
pub fn dependencies(rows: usize, cells: usize, bias: impl Fn(f64, f64) -> f64) -> f64 {
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
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn a_result_is_computed_once_while_it_is_among_the_last() {
        static CALLS: AtomicUsize = AtomicUsize::new(0);
        let function = |rows, cells| {
            CALLS.fetch_add(1, Ordering::Relaxed);
            (rows * 1000 + cells) as f64
        };
        let known = Known::new();
        for _ in 0..3 {
            for rows in 0..MOST_KNOWN {
                assert_eq!(known.or(rows, 7, function), (rows * 1000 + 7) as f64);
            }
        }
        assert_eq!(CALLS.load(Ordering::Relaxed), MOST_KNOWN);
        // One more takes the place of the first.
        for (rows, cells) in [(0, 8), (1, 7), (0, 7), (0, 8)] {
            assert_eq!(known.or(rows, cells, function), (rows * 1000 + cells) as f64);
        }
        assert_eq!(CALLS.load(Ordering::Relaxed), MOST_KNOWN + 2);
    }
}
