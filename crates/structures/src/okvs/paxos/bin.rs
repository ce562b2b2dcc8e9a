//! One bin's system of equations: a walk over the graph of its cells, and the cycles' equations.

use super::rows::PaxosRow;
use crate::fields::Cell;
use crate::okvs::EncodeFailure;
use crate::okvs::binned::{Binned, SubsetSums};
use crate::rng::SecretRng;
use crate::secret::Secret;
use rand_core::Rng;

/// The cells of a bin for these pairs (sparse cells, then dense ones); free ones random, or zero. Time depends on
/// the keys.
///
/// In each component of the graph one cell is free. Along a tree of rows, each further cell is the
/// free one plus values and plus dense cells of the rows on the way there. A row outside of the tree
/// closes a cycle, whose sparse cells cancel: an equation in dense cells alone. So there is a
/// solution exactly if these equations are independent, and it is uniform if all free cells are.
pub fn encode_vartime<V: Cell>(
    bins: &Binned<PaxosRow>,
    keys: &[u128],
    values: &[V],
    free: Option<SecretRng>,
) -> Result<Secret<Vec<V>>, EncodeFailure> {
    let shape = &bins.shape;
    if keys.len() > shape.capacity {
        return Err(EncodeFailure);
    }
    let mut table = Secret::new(vec![V::default(); shape.stride()]);
    if let Some(mut rng) = free {
        table.iter_mut().flat_map(V::words_mut).for_each(|word| *word = rng.next_u64());
    }
    let mut rows = Secret::new(Vec::with_capacity(keys.len()));
    bins.hash.for_each_batch(keys, |_, batch| rows.extend_from_slice(batch));
    let (sparse, dense) = table.split_at_mut(shape.sparse);

    let neighbours = Neighbours::new(shape.sparse, &rows);
    // Solved cycles are wiped with the dense cells that they are equations in.
    let mut cycles = Vec::new();
    // The dense cells of the rows from a cell's free cell to it.
    let mut ways = Secret::new(vec![0u64; shape.sparse]);
    let mut reached = vec![false; shape.sparse];
    let mut used = vec![false; rows.len()];
    let mut stack = Vec::with_capacity(shape.sparse);
    for root in 0..shape.sparse {
        if std::mem::replace(&mut reached[root], true) {
            continue;
        }
        stack.push(root);
        while let Some(cell) = stack.pop() {
            for &number in neighbours.of(cell) {
                let number = usize::from(number);
                if std::mem::replace(&mut used[number], true) {
                    continue;
                }
                let PaxosRow { cells: [a, b], dense } = rows[number];
                let other = usize::from(a ^ b) ^ cell;
                let (way, value) = (ways[cell] ^ dense, sparse[cell] + values[number]);
                if std::mem::replace(&mut reached[other], true) {
                    cycles.push((way ^ ways[other], value + sparse[other]));
                } else {
                    (ways[other], sparse[other]) = (way, value);
                    stack.push(other);
                }
            }
        }
    }

    solve(cycles, dense)?;
    // Also where no cell is set, so that the time does not tell whether there are cycles.
    let sums = SubsetSums::new(dense);
    sparse.iter_mut().zip(&*ways).for_each(|(cell, &way)| *cell += sums.sum(way));
    Ok(table)
}

/// The numbers of the rows of each cell.
struct Neighbours {
    numbers: Secret<Vec<u16>>,
    /// Where the numbers of each cell begin, and where the last ones end.
    starts: Secret<Vec<u32>>,
}

impl Neighbours {
    fn new(cells: usize, rows: &[PaxosRow]) -> Self {
        let mut starts = Secret::new(vec![0u32; cells + 1]);
        rows.iter().flat_map(|row| row.cells).for_each(|cell| starts[usize::from(cell)] += 1);
        let mut end = 0;
        for start in &mut *starts {
            end += *start;
            *start = end;
        }
        // Each start is one end until all of the cell's numbers lie before it.
        let mut numbers = Secret::new(vec![0; 2 * rows.len()]);
        for (number, row) in (0..).zip(rows) {
            for cell in row.cells {
                let start = &mut starts[usize::from(cell)];
                *start -= 1;
                numbers[*start as usize] = number;
            }
        }
        Self { numbers, starts }
    }

    fn of(&self, cell: usize) -> &[u16] {
        &self.numbers[self.starts[cell] as usize..self.starts[cell + 1] as usize]
    }
}

/// Sets dense cells so that each equation holds: the sum of the cells whose bits are set is the
/// value. Cells that no equation fixes stay as they are.
///
/// Independence is asked of the bits alone: success does not depend on values.
fn solve<V: Cell>(equations: Vec<(u64, V)>, dense: &mut [V]) -> Result<(), EncodeFailure> {
    // Each equation has a pivot, a bit that no other equation has.
    let mut solved: Vec<(u32, u64, V)> = Vec::with_capacity(equations.len());
    for (mut bits, mut value) in equations {
        for &(pivot, other, of_other) in &solved {
            if bits >> pivot & 1 == 1 {
                bits ^= other;
                value += of_other;
            }
        }
        if bits == 0 {
            return Err(EncodeFailure);
        }
        let pivot = bits.trailing_zeros();
        for (_, other, of_other) in &mut solved {
            if *other >> pivot & 1 == 1 {
                *other ^= bits;
                *of_other += value;
            }
        }
        solved.push((pivot, bits, value));
    }
    for &(pivot, ..) in &solved {
        dense[pivot as usize] = V::default();
    }
    // Pivots are zero still, so that the sums are over free cells.
    let sums = SubsetSums::new(dense);
    for (pivot, bits, value) in solved {
        dense[pivot as usize] = value + sums.sum(bits);
    }
    Ok(())
}
