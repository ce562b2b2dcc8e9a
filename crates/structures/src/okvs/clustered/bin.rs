//! One bin's system of equations: peeling, and solving what peeling leaves.

use rand_core::Rng;
use zeroize::Zeroize;

use super::core::Deferred;
use super::peeled::{Numbered, Peeled};
use super::rows::ClusteredRow;
use crate::fields::Cell;
use crate::okvs::EncodeFailure;
use crate::okvs::binned::{Binned, SubsetSums};
use crate::rng::SecretRng;

/// Rows and cells of a bin are numbered by 16 bits: arrays of this length need no bounds checks.
const NUMBERS: usize = 1 << 16;

/// The rows of one cell that peeling has not removed: their number where [`Numbered`] has the first
/// cell, and the exclusive or of the rest. Where one row is left, the rest is that row.
#[derive(Clone, Copy, Default)]
struct Incidence(u64);

impl Incidence {
    /// Adds a row to this cell, which is the first of `cells`.
    #[inline]
    fn add(&mut self, row: u16, [_, next, last]: [u16; 3]) {
        self.0 = (self.0 + (1 << 48)) ^ Numbered::new(row, [0, next, last]).0;
    }

    #[inline]
    fn remove(&mut self, row: u16, [_, next, last]: [u16; 3]) {
        self.0 = (self.0 - (1 << 48)) ^ Numbered::new(row, [0, next, last]).0;
    }

    #[inline]
    fn is_one_row(self) -> bool {
        self.0 >> 48 == 1
    }
}

/// The rows of one bin, and the memory to solve them, which serves bin after bin.
pub struct Bin {
    pub peeled: Peeled,
    incidences: Box<[Incidence; NUMBERS]>,
    /// The cells that came down to one row, in that order.
    single: Box<[u16; NUMBERS]>,
}

fn numbered<T: Copy + Default>() -> Box<[T; NUMBERS]> {
    vec![T::default(); NUMBERS].into_boxed_slice().try_into().unwrap_or_else(|_| unreachable!("the length is NUMBERS"))
}

impl Bin {
    pub fn new() -> Self {
        Self { peeled: Peeled::default(), incidences: numbered(), single: numbered() }
    }

    /// The cells of a bin for these pairs, into `table` (sparse cells, then dense ones); free ones
    /// random, or zero. Time depends on the keys.
    pub fn encode_vartime<V: Cell>(
        &mut self,
        bins: &Binned<ClusteredRow>,
        (keys, values): (&[u128], &[V]),
        table: &mut [V],
        free: Option<&mut SecretRng>,
    ) -> Result<(), EncodeFailure> {
        self.load(bins, keys)?;
        self.peel(bins, keys);
        if let Some(rng) = free {
            table.iter_mut().flat_map(V::words_mut).for_each(|word| *word = rng.next_u64());
        } else {
            table.fill(V::default());
        }
        if !self.peeled.deferred.is_empty() {
            // A solution but for the deferred rows, and then what must be added to free cells to satisfy those
            // too.
            self.substitute(bins.shape.sparse, values, table);
            Deferred::new(&self.peeled, &bins.shape, values, table).correct(table)?;
        }
        self.substitute(bins.shape.sparse, values, table);
        Ok(())
    }

    /// The number of rows that peeling sets aside. Time depends on the keys.
    pub fn rows_set_aside_vartime(
        &mut self,
        bins: &Binned<ClusteredRow>,
        keys: &[u128],
    ) -> Result<usize, EncodeFailure> {
        self.load(bins, keys)?;
        self.peel(bins, keys);
        Ok(self.peeled.deferred.len())
    }

    /// Hashes the bin's keys to rows.
    fn load(&mut self, bins: &Binned<ClusteredRow>, keys: &[u128]) -> Result<(), EncodeFailure> {
        if keys.len() > bins.shape.capacity {
            return Err(EncodeFailure);
        }
        self.peeled.dense.clear();
        self.incidences[..bins.shape.sparse].fill(Incidence::default());
        bins.hash.for_each_batch(keys, |from, rows| {
            for (row, number) in rows.iter().zip(from as u16..) {
                self.peeled.dense.push(row.dense);
                let [a, b, c] = row.cells;
                for cells in [[a, b, c], [b, c, a], [c, a, b]] {
                    self.incidences[usize::from(cells[0])].add(number, cells);
                }
            }
        });
        Ok(())
    }

    /// Takes away, one by one, rows that are alone in some cell; where there is none, sets a row
    /// aside and goes on.
    fn peel(&mut self, bins: &Binned<ClusteredRow>, keys: &[u128]) {
        self.peeled.pivots.clear();
        self.peeled.deferred.clear();
        let (mut head, mut tail) = (0, 0);
        for cell in 0..bins.shape.sparse {
            self.note(cell as u16, &mut tail);
        }
        self.take_away(&mut head, &mut tail);
        if self.peeled.pivots.len() == keys.len() {
            return;
        }
        let mut gone = vec![false; keys.len()];
        let mut marked = 0;
        for number in 0..keys.len() {
            for pivot in &self.peeled.pivots[marked..] {
                gone[pivot.row()] = true;
            }
            marked = self.peeled.pivots.len();
            if gone[number] {
                continue;
            }
            bins.hash.for_each_batch(&keys[number..=number], |_, rows| {
                let (number, [a, b, c]) = (number as u16, rows[0].cells);
                self.peeled.deferred.push(Numbered::new(number, [a, b, c]));
                for cells in [[a, b, c], [b, c, a], [c, a, b]] {
                    self.incidences[usize::from(cells[0])].remove(number, cells);
                    self.note(cells[0], &mut tail);
                }
            });
            self.take_away(&mut head, &mut tail);
        }
    }

    /// Puts a cell at the end of the queue if it has one row, without a branch: nobody could
    /// foretell it. A cell comes down to one row but once.
    #[inline]
    fn note(&mut self, cell: u16, tail: &mut usize) {
        self.single[*tail % NUMBERS] = cell;
        *tail += usize::from(self.incidences[usize::from(cell)].is_one_row());
    }

    /// Peels the rows of the cells in the queue, and of those that join it.
    #[inline]
    fn take_away(&mut self, head: &mut usize, tail: &mut usize) {
        while head < tail {
            let cell = self.single[*head % NUMBERS];
            *head += 1;
            let Incidence(row) = std::mem::take(&mut self.incidences[usize::from(cell)]);
            // None is left where the row was peeled from another of its cells.
            if row == 0 {
                continue;
            }
            let row = row - (1 << 48);
            let (number, next, last) = ((row >> 32) as u16, (row >> 16) as u16, row as u16);
            self.peeled.pivots.push(Numbered::new(number, [cell, next, last]));
            self.incidences[usize::from(next)].remove(number, [next, last, cell]);
            self.note(next, tail);
            self.incidences[usize::from(last)].remove(number, [last, cell, next]);
            self.note(last, tail);
        }
    }

    /// Determines the pivots' cells from all others, last peeled first.
    fn substitute<V: Cell>(&self, sparse: usize, values: &[V], table: &mut [V]) {
        let (table, dense) = table.split_at_mut(sparse);
        let sums = dense.iter().any(|&cell| cell != V::default()).then(|| SubsetSums::new(dense));
        for pivot in self.peeled.pivots.iter().rev() {
            let [cell, next, last] = pivot.cells();
            let mut value = values[pivot.row()] + table[next] + table[last];
            if let Some(sums) = &sums {
                value += sums.sum(self.peeled.dense[pivot.row()]);
            }
            table[cell] = value;
        }
    }
}

impl Drop for Bin {
    fn drop(&mut self) {
        self.peeled.dense.zeroize();
    }
}
