//! One bin's system of equations: peeling, and what peeling leaves.

use rand_core::Rng;
use zeroize::Zeroize;

use super::core::Deferred;
use super::dense::SubsetSums;
use super::params::Shape;
use super::rows::{RowHash, Triple};
use crate::fields::Value;
use crate::okvs::EncodeFailure;
use crate::rng::SecretRng;

/// Rows and cells of a bin are numbered by 16 bits: arrays of this length need no bounds checks.
const NUMBERS: usize = 1 << 16;

/// A cell's rows not yet taken away: their number in the high half, the exclusive or of their numbers in the low half.
#[derive(Clone, Copy, Default)]
struct Incidence(u32);

impl Incidence {
    #[inline]
    fn add(&mut self, row: u16) {
        self.0 = (self.0 + (1 << 16)) ^ u32::from(row);
    }

    #[inline]
    fn remove(&mut self, row: u16) {
        self.0 = (self.0 - (1 << 16)) ^ u32::from(row);
    }

    /// The row, where there is only one.
    #[inline]
    fn only_row(self) -> Option<u16> {
        (self.0 >> 16 == 1).then_some(self.0 as u16)
    }
}

/// A row and the cell that it determines once all its other cells are known.
#[derive(Clone, Copy)]
pub struct Pivot {
    pub row: u16,
    pub cell: u16,
}

/// The rows of one bin, and the memory to solve them, which serves bin after bin.
pub struct Bin {
    pub triples: Box<[Triple; NUMBERS]>,
    pub dense: Vec<u64>,
    incidences: Box<[Incidence; NUMBERS]>,
    /// In the order of peeling: no row's cell is a cell of a later row.
    pub pivots: Vec<Pivot>,
    /// Rows set aside where peeling came to a halt.
    pub deferred: Vec<u16>,
}

fn numbered<T: Copy + Default>() -> Box<[T; NUMBERS]> {
    vec![T::default(); NUMBERS].into_boxed_slice().try_into().unwrap_or_else(|_| unreachable!("the length is NUMBERS"))
}

impl Bin {
    pub fn new() -> Self {
        let (dense, pivots, deferred) = (Vec::new(), Vec::new(), Vec::new());
        Self { triples: numbered(), dense, incidences: numbered(), pivots, deferred }
    }

    /// The cells of a bin for these pairs, into `table` (sparse cells, then dense ones); free ones random, or zero.
    pub fn encode<V: Value>(
        &mut self,
        (hash, shape): (&RowHash, &Shape),
        (keys, values): (&[u128], &[V]),
        table: &mut [V],
        free: Option<&mut SecretRng>,
    ) -> Result<(), EncodeFailure> {
        self.load(hash, shape, keys)?;
        self.peel(shape.sparse);
        if let Some(rng) = free {
            for cell in table.iter_mut() {
                *cell = V::from_bits(u128::from(rng.next_u64()) | if V::BITS > 64 { u128::from(rng.next_u64()) << 64 } else { 0 });
            }
        } else {
            table.fill(V::default());
        }
        if !self.deferred.is_empty() {
            // A solution but for the deferred rows, and then what must be added to free cells to satisfy those too.
            self.substitute(shape.sparse, values, table);
            Deferred::new(self, shape, values, table).correct(table)?;
        }
        self.substitute(shape.sparse, values, table);
        Ok(())
    }

    /// How many rows peeling sets aside.
    pub fn rows_set_aside(&mut self, hash: &RowHash, shape: &Shape, keys: &[u128]) -> Result<usize, EncodeFailure> {
        self.load(hash, shape, keys)?;
        self.peel(shape.sparse);
        Ok(self.deferred.len())
    }

    /// Hashes the bin's keys to rows.
    fn load(&mut self, hash: &RowHash, shape: &Shape, keys: &[u128]) -> Result<(), EncodeFailure> {
        if keys.len() > shape.capacity {
            return Err(EncodeFailure);
        }
        self.dense.clear();
        self.incidences[..shape.sparse].fill(Incidence::default());
        hash.for_each_row(keys, |i, row| {
            let number = i as u16;
            self.triples[usize::from(number)] = row.triple;
            self.dense.push(row.dense);
            for cell in row.triple.cells() {
                self.incidences[cell].add(number);
            }
        });
        Ok(())
    }

    /// Takes away, one by one, rows that are alone in some cell; where there is none, sets a row aside and goes on.
    fn peel(&mut self, sparse: usize) {
        self.pivots.clear();
        self.deferred.clear();
        for cell in 0..sparse {
            self.peel_from(cell);
        }
        let rows = self.dense.len();
        if self.pivots.len() == rows {
            return;
        }
        let mut gone = vec![false; rows];
        let mut marked = 0;
        for row in 0..rows {
            for pivot in &self.pivots[marked..] {
                gone[usize::from(pivot.row)] = true;
            }
            marked = self.pivots.len();
            if gone[row] {
                continue;
            }
            self.deferred.push(row as u16);
            let cells = self.triples[row].cells();
            for cell in cells {
                self.incidences[cell].remove(row as u16);
            }
            for cell in cells {
                self.peel_from(cell);
            }
        }
    }

    /// Peels for as long as it goes on from this cell.
    #[inline]
    fn peel_from(&mut self, cell: usize) {
        // The pivots found are the queue: the cells of their rows are yet to be looked at.
        let mut next = self.pivots.len();
        self.peel_cell(cell);
        while let Some(&pivot) = self.pivots.get(next) {
            next += 1;
            for cell in self.triples[usize::from(pivot.row)].cells() {
                self.peel_cell(cell);
            }
        }
    }

    /// Peels the row that is alone in this cell, if one is.
    #[inline]
    fn peel_cell(&mut self, cell: usize) {
        if let Some(row) = self.incidences[cell].only_row() {
            for cell in self.triples[usize::from(row)].cells() {
                self.incidences[cell].remove(row);
            }
            self.pivots.push(Pivot { row, cell: cell as u16 });
        }
    }

    /// Determines the pivots' cells from all others, last peeled first.
    fn substitute<V: Value>(&self, sparse: usize, values: &[V], table: &mut [V]) {
        let (table, dense) = table.split_at_mut(sparse);
        for pivot in &self.pivots {
            table[usize::from(pivot.cell)] = V::default();
        }
        let sums = dense.iter().any(|&cell| cell != V::default()).then(|| SubsetSums::new(dense));
        for pivot in self.pivots.iter().rev() {
            let row = usize::from(pivot.row);
            let mut value = values[row];
            for cell in self.triples[row].cells() {
                value += table[cell];
            }
            if let Some(sums) = &sums {
                value += sums.sum(self.dense[row]);
            }
            table[usize::from(pivot.cell)] = value;
        }
    }
}

impl Drop for Bin {
    fn drop(&mut self) {
        self.dense.zeroize();
    }
}
