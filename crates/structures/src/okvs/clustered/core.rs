//! The rows that peeling set aside, solved through free cells.

use super::peeled::{Numbered, Peeled};
use crate::fields::Cell;
use crate::okvs::EncodeFailure;
use crate::okvs::binned::{Shape, SubsetSums};

/// Words of a block of columns: what one pass over the peeled rows follows.
const LANES: usize = 4;

/// Columns that come first: the dense cells.
const DENSE_COLUMNS: usize = 64;

/// The deferred rows as equations in what is added to the free cells: once every peeled row is used
/// to replace its pivot's cell, a deferred row depends on free cells only. A few free cells more
/// than there are equations will nearly always do, and all of them are tried before the
/// system is given up: it then has dependent rows.
pub struct Deferred<'a, V: Cell> {
    peeled: &'a Peeled,
    shape: &'a Shape,
    /// What each deferred row lacks of its value under the present table.
    lacking: Vec<V>,
    /// Free sparse cells of some row, the most useful first.
    free: Vec<u16>,
}

impl<'a, V: Cell> Deferred<'a, V> {
    /// The deferred rows of a bin under a `table` that satisfies all others.
    pub fn new(peeled: &'a Peeled, shape: &'a Shape, values: &[V], table: &[V]) -> Self {
        let (sparse, dense) = table.split_at(shape.sparse);
        let sums = SubsetSums::new(dense);
        let lacks = |row: &Numbered| {
            let [a, b, c] = row.cells();
            values[row.row()] + sparse[a] + sparse[b] + sparse[c] + sums.sum(peeled.dense[row.row()])
        };
        Self { peeled, shape, lacking: peeled.deferred.iter().map(lacks).collect(), free: free_cells(peeled, shape) }
    }

    /// Adds to free cells of `table` what makes the deferred rows hold; the pivots' cells are to be
    /// determined anew.
    pub fn correct(&self, table: &mut [V]) -> Result<(), EncodeFailure> {
        let rows = self.lacking.len();
        let columns = DENSE_COLUMNS + self.free.len();
        let mut blocks = (rows + 2 * DENSE_COLUMNS).div_ceil(64 * LANES);
        let solution = loop {
            match eliminate(self.matrix(blocks), self.lacking.clone()) {
                Some(solution) => break solution,
                None if blocks * 64 * LANES >= columns => return Err(EncodeFailure),
                None => blocks *= 2,
            }
        };
        for (column, value) in solution {
            let cell = if column < DENSE_COLUMNS {
                self.shape.sparse + column
            } else {
                usize::from(self.free[column - DENSE_COLUMNS])
            };
            table[cell] += value;
        }
        Ok(())
    }

    /// The deferred rows' coefficients for the first blocks of columns, after replacement of all
    /// pivots.
    fn matrix(&self, blocks: usize) -> Vec<Vec<u64>> {
        let mut matrix = vec![Vec::with_capacity(blocks * LANES); self.lacking.len()];
        let mut coefficients = vec![[0u64; LANES]; self.shape.sparse];
        for block in 0..blocks {
            coefficients.fill([0; LANES]);
            for (i, &cell) in self.free.iter().enumerate() {
                let bit = DENSE_COLUMNS + i;
                if bit / 64 / LANES == block {
                    coefficients[usize::from(cell)][bit / 64 % LANES] = 1 << (bit % 64);
                }
            }
            let of_row = |coefficients: &[[u64; LANES]], row: Numbered| {
                let mut sum = [0; LANES];
                if block == 0 {
                    sum[0] = self.peeled.dense[row.row()];
                }
                for cell in row.cells() {
                    for (sum, word) in sum.iter_mut().zip(coefficients[cell]) {
                        *sum ^= word;
                    }
                }
                sum
            };
            for pivot in self.peeled.pivots.iter().rev() {
                let cell = pivot.cells()[0];
                // The cell itself takes part in the sum, so it starts at zero.
                coefficients[cell] = [0; LANES];
                coefficients[cell] = of_row(&coefficients, *pivot);
            }
            for (words, &row) in matrix.iter_mut().zip(&self.peeled.deferred) {
                words.extend(of_row(&coefficients, row));
            }
        }
        matrix
    }
}

/// The sparse cells that are no pivot and lie in a row: those of deferred rows, then those of
/// peeled rows, last peeled first, for on a cell that was peeled late many others depend.
fn free_cells(peeled: &Peeled, shape: &Shape) -> Vec<u16> {
    let mut taken = vec![false; shape.sparse];
    for pivot in &peeled.pivots {
        taken[pivot.cells()[0]] = true;
    }
    let rows = peeled.deferred.iter().copied().chain(peeled.pivots.iter().rev().copied());
    let mut free = Vec::new();
    for row in rows {
        for cell in row.cells() {
            if !std::mem::replace(&mut taken[cell], true) {
                free.push(cell as u16);
            }
        }
    }
    free
}

/// Gauss-Jordan elimination over GF(2): columns and their values that solve `matrix * x = right`,
/// all other columns zero; none if the rows are dependent.
fn eliminate<V: Cell>(mut matrix: Vec<Vec<u64>>, mut right: Vec<V>) -> Option<Vec<(usize, V)>> {
    let mut columns = Vec::with_capacity(right.len());
    for i in 0..matrix.len() {
        let row = std::mem::take(&mut matrix[i]);
        let word = row.iter().position(|&word| word != 0)?;
        let bit = row[word].trailing_zeros();
        for (other, words) in matrix.iter_mut().enumerate() {
            if words.get(word).is_some_and(|word| word >> bit & 1 == 1) {
                for (word, &added) in words.iter_mut().zip(&row) {
                    *word ^= added;
                }
                let value = right[i];
                right[other] += value;
            }
        }
        matrix[i] = row;
        columns.push(word * 64 + bit as usize);
    }
    Some(columns.into_iter().zip(right).collect())
}
