//! The OKVS of `zcl23-pk`: a garbled cuckoo table with three hash functions (Garimella, Pinkas,
//! Rosulek, Trieu, Yanai, "Oblivious Key-Value Stores and Amplification for Private Set
//! Intersection", CRYPTO 2021, section 4), with a bound that holds over every field.
//!
//! A row is a uniform set of three of `m` sparse cells, and a uniform subset of `d` dense cells. The
//! solver peels: a sparse cell that only one row has left gives that row a cell of its own. What
//! cannot be peeled, the core, is solved by elimination.
//!
//! # The bound
//!
//! A set of rows is *stopping* if no sparse cell lies in exactly one of them. Let `S` be the
//! expected number of stopping sets that are not empty, among the rows of `n` items.
//!
//! *The rows are dependent with probability at most `2^-d S`, over any field.* A linear combination
//! of rows that is zero on the sparse cells has a stopping set as its support. If such combinations
//! form a space of dimension `k`, then there are at least `2^k - 1` stopping sets: on `k`
//! coordinates that determine a combination, each subset is the support of some combination. A
//! uniform binary column is orthogonal to all of a space of dimension `j` with probability at most
//! `2^-j`, since given all other entries at most one value of each of `j` entries will do; otherwise
//! it takes one dimension off. By induction over the columns, `d` of them leave a dimension with
//! probability at most `(2^k - 1) 2^-d`.
//!
//! *The row of a further item is a linear combination of the others with probability at most `2^-d
//! S'`*, where `S'` is the expected number of stopping sets among `n + 1` rows that contain a given
//! one. The combinations with coefficient 1 at the further row form an affine space, of
//! dimension `k - 1`, say, and there are at least `2^(k-1)` stopping sets with that row. A column
//! that is constant on this space is zero there with probability at most 1/2, whatever its other
//! entries are, because its entry at the further row is free. So `d` columns leave such a
//! combination with probability at most `2^(k-1-d)`, by induction as before.
//!
//! `S` is at most the sum over `s` of `C(n, s) (3s)! [z^3s] (e^z - z)^m / (m (m-1) (m-2))^s`, and a
//! coefficient is at most the function at any `z > 0` over `z^3s`. From about 1.52 cells an item on
//! the sum is governed by two rows with equal cells; below that, it grows exponentially although
//! peeling succeeds almost always from 1.23 on. 1.3 cells an item, as in the papers, rest on
//! experiments; the 1.55 here on the sum, which a test evaluates.

use curve25519_dalek::scalar::Scalar;
use rayon::prelude::*;
use vesica_structures::facts::{FailureEvent, Unsupported, ceil_log2};
use vesica_structures::hashing::three_distinct;
use vesica_structures::okvs::EncodeFailure;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::rows::{BinaryRows, RowSets, random_scalars, set_bits};

/// Sparse cells for 100 items.
const CELLS_PER_100_ITEMS: usize = 155;

/// Sparse cells beyond those, for small sets.
const FURTHER_CELLS: usize = 48;

/// The most items of one table.
const MOST_ITEMS: usize = 1 << 26;

/// A 3-hash garbled cuckoo table.
#[derive(Debug)]
pub struct Garbled {
    shape: Shape,
    key: [u8; 32],
}

/// The size of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// `m`.
    pub sparse: usize,
    /// `d`, at most 64.
    pub dense: u32,
}

/// The row of an item.
#[derive(Clone, Copy)]
struct ItemRow {
    sparse: [u32; 3],
    dense: u64,
}

impl Shape {
    fn derive(sender_items: usize, receiver_items: usize) -> Result<Self, Unsupported> {
        let dependent = FailureEvent::Encoding.bits() - stopping_sets(receiver_items);
        let covered = FailureEvent::ZeroDifference.bits() + ceil_log2(sender_items);
        let dense = dependent.max(covered.saturating_sub(stopping_sets_of_one(receiver_items)));
        if receiver_items > MOST_ITEMS || dense > u64::BITS {
            return Err(Unsupported::new(
                format_args!("a garbled cuckoo table for {sender_items} and {receiver_items} items"),
                format_args!("use at most {MOST_ITEMS} items a side, or another protocol"),
            ));
        }
        let sparse = (CELLS_PER_100_ITEMS * receiver_items).div_ceil(100) + FURTHER_CELLS;
        Ok(Self { sparse, dense })
    }
}

/// `-log2` of the expected number of stopping sets, at least.
fn stopping_sets(items: usize) -> u32 {
    items.ilog2().saturating_sub(4).max(3)
}

/// `-log2` of the expected number of stopping sets with a further item, at least.
fn stopping_sets_of_one(items: usize) -> u32 {
    (2 * items.ilog2()).saturating_sub(5).max(7)
}

impl Garbled {
    fn row(&self, item: u128) -> ItemRow {
        let hash = blake3::keyed_hash(&self.key, &item.to_le_bytes());
        let [a, b, c, dense]: [u64; 4] = bytemuck::cast(*hash.as_bytes());
        let sparse = three_distinct([a, b, c], self.shape.sparse as u64).map(|cell| cell as u32);
        ItemRow { sparse, dense: dense.checked_shr(u64::BITS - self.shape.dense).unwrap_or(0) }
    }

    /// All cells of a row.
    fn cells(&self, row: ItemRow) -> impl Iterator<Item = usize> {
        let dense = set_bits(row.dense).map(move |bit| self.shape.sparse + bit);
        row.sparse.into_iter().map(|cell| cell as usize).chain(dense)
    }
}

impl BinaryRows for Garbled {
    type Shape = Shape;

    fn shape(sender_items: usize, receiver_items: usize) -> Result<Shape, Unsupported> {
        Shape::derive(sender_items, receiver_items)
    }

    fn cells(shape: &Shape) -> usize {
        shape.sparse + shape.dense as usize
    }

    fn keyed(shape: Shape, key: [u8; 32]) -> Self {
        Self { shape, key }
    }

    fn table_len(&self) -> usize {
        <Self as BinaryRows>::cells(&self.shape)
    }

    fn order(&self, items: &[u128]) -> Vec<u32> {
        (0..items.len() as u32).collect()
    }

    fn rows(&self, items: &[u128]) -> RowSets {
        let mut rows = RowSets::default();
        items.iter().for_each(|&item| rows.push(self.cells(self.row(item))));
        rows
    }

    fn kernel(&self, items: &[u128], rng: &mut SecretRng) -> Result<Secret<Vec<Scalar>>, EncodeFailure> {
        let rows: Vec<ItemRow> = items.par_iter().map(|&item| self.row(item)).collect();
        let (peeled, core) = peel(&rows, self.shape.sparse);
        let core: Vec<Vec<usize>> = core.into_iter().map(|row| self.cells(rows[row as usize]).collect()).collect();
        let mut vector = random_scalars(self.table_len(), rng);
        solve(&core, &mut vector)?;
        for (row, own) in peeled.into_iter().rev() {
            let others = self.cells(rows[row as usize]).filter(|&cell| cell != own as usize);
            vector[own as usize] = -others.map(|cell| vector[cell]).sum::<Scalar>();
        }
        Ok(vector)
    }
}

/// The rows in the order in which they are peeled, each with its own cell, and the core.
fn peel(rows: &[ItemRow], cells: usize) -> (Vec<(u32, u32)>, Vec<u32>) {
    // For each cell the number of rows that have it, and the exclusive or of their numbers.
    let mut left = vec![(0u32, 0u32); cells];
    for (number, row) in (0..).zip(rows) {
        for &cell in &row.sparse {
            let (count, numbers) = &mut left[cell as usize];
            (*count, *numbers) = (*count + 1, *numbers ^ number);
        }
    }
    let mut single: Vec<u32> = (0..).zip(&left).filter(|(_, (count, _))| *count == 1).map(|(cell, _)| cell).collect();
    let mut peeled = Vec::with_capacity(rows.len());
    let mut is_core = vec![true; rows.len()];
    while let Some(own) = single.pop() {
        let (count, number) = left[own as usize];
        if count != 1 {
            continue;
        }
        peeled.push((number, own));
        is_core[number as usize] = false;
        for cell in rows[number as usize].sparse {
            let (count, numbers) = &mut left[cell as usize];
            (*count, *numbers) = (*count - 1, *numbers ^ number);
            if *count == 1 {
                single.push(cell);
            }
        }
    }
    let core = (0..).zip(&is_core).filter(|(_, is_core)| **is_core).map(|(number, _)| number).collect();
    (peeled, core)
}

/// Changes some cells of `vector` so that its sum over each of these rows is zero.
fn solve(rows: &[Vec<usize>], vector: &mut [Scalar]) -> Result<(), EncodeFailure> {
    let mut columns = rows.concat();
    columns.sort_unstable();
    columns.dedup();
    // Echelon form: each row with the column that it determines.
    let mut solved: Vec<(usize, Vec<Scalar>)> = Vec::with_capacity(rows.len());
    for row in rows {
        let entry = |column| Scalar::from(u64::from(row.contains(column)));
        let mut entries: Vec<Scalar> = columns.iter().map(entry).collect();
        for (pivot, above) in &solved {
            let factor = entries[*pivot];
            if factor != Scalar::ZERO {
                entries.iter_mut().zip(above).for_each(|(entry, above)| *entry -= factor * above);
            }
        }
        let pivot = entries.iter().position(|entry| *entry != Scalar::ZERO).ok_or(EncodeFailure)?;
        let inverse = entries[pivot].invert();
        entries.iter_mut().for_each(|entry| *entry *= inverse);
        solved.push((pivot, entries));
    }
    // A row has no entry at the pivots of those before it.
    for (pivot, entries) in solved.iter().rev() {
        let terms = columns.iter().zip(entries).enumerate().filter(|(place, _)| place != pivot);
        vector[columns[*pivot]] = -terms.map(|(_, (&column, entry))| vector[column] * entry).sum::<Scalar>();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `ln` of the factorial.
    fn ln_factorials(most: usize) -> Vec<f64> {
        let mut sum = 0.0;
        (0..=most)
            .map(|n| {
                sum += (n.max(1) as f64).ln();
                sum
            })
            .collect()
    }

    /// The expected numbers of stopping sets among `items` rows, and of those with a given row, from
    /// above: the formula of the module.
    fn expected(items: usize, cells: usize) -> (f64, f64) {
        let (n, m) = (items as f64, cells as f64);
        let factorials = ln_factorials(3 * items);
        let row = (m * (m - 1.0) * (m - 2.0)).ln();
        let mut z = (6.0 / m).sqrt();
        let (mut all, mut of_one) = (0.0, 0.0);
        for size in 2..=items {
            let s = size as f64;
            // Newton's steps to the z at which the bound on the coefficient is least; it is a bound at any.
            for _ in 0..4 {
                let (grown, f) = (z.exp_m1(), z.exp() - z);
                let slope = (grown + z * z.exp()) / f - z * (grown / f).powi(2);
                let next = z - (z * grown / f - 3.0 * s / m) / slope;
                z = if next > 0.0 { next } else { z / 2.0 };
            }
            let chosen = factorials[items] - factorials[size] - factorials[items - size];
            let ln = chosen + factorials[3 * size] + m * (z.exp_m1() - z).ln_1p() - 3.0 * s * z.ln() - s * row;
            all += ln.exp();
            of_one += ln.exp() * s / n;
        }
        (all, of_one)
    }

    #[test]
    fn both_failures_stay_within_their_budgets() {
        let sizes = (1..80).chain((6..18).flat_map(|log| [(1 << log) - 1, 1 << log, 3 << (log - 1)]));
        for receiver_items in sizes.chain([1 << 20]) {
            let sparse = Shape::derive(1, receiver_items).unwrap().sparse;
            let (all, of_one) = (expected(receiver_items, sparse).0, expected(receiver_items + 1, sparse).1);
            for sender_items in [1, 1 << 10, 1 << 20] {
                let columns = f64::exp2(-f64::from(Shape::derive(sender_items, receiver_items).unwrap().dense));
                let dependent = columns * all;
                assert!(dependent <= f64::exp2(-43.0), "{receiver_items}: 2^{}", dependent.log2());
                let covered = columns * of_one * sender_items as f64;
                assert!(covered <= f64::exp2(-41.0), "{sender_items}, {receiver_items}: 2^{}", covered.log2());
            }
        }
    }

    /// The number of stopping sets of a small table, on average, by counting.
    #[test]
    fn the_formula_bounds_what_is_counted() {
        let (items, sparse, tables) = (10usize, 24, 2000u64);
        let mut counted = 0;
        for table in 0..tables {
            let mut key = [0; 32];
            key[..8].copy_from_slice(&table.to_le_bytes());
            let okvs = Garbled::keyed(Shape { sparse, dense: 0 }, key);
            let rows: Vec<ItemRow> = (0..items as u128).map(|item| okvs.row(item)).collect();
            for set in 1u64..1 << items {
                let mut hits = vec![0; sparse];
                set_bits(set).for_each(|row| rows[row].sparse.iter().for_each(|&cell| hits[cell as usize] += 1));
                counted += u64::from(!hits.contains(&1));
            }
        }
        let (average, bound) = (counted as f64 / tables as f64, expected(items, sparse).0);
        assert!(average <= bound && bound < 50.0 * average, "{average} counted, {bound} expected");
    }

    #[test]
    fn tables_that_are_too_full_to_peel_are_solved_or_refused() {
        let mut rng = SecretRng::insecure_from_seed(1);
        let items: Vec<u128> = (0..300).collect();
        let mut solved = 0;
        for key in 0..12 {
            // 300 rows in 290 sparse cells: nearly all of them are core, and 24 dense cells carry them.
            let okvs = Garbled::keyed(Shape { sparse: 290, dense: 24 }, [key; 32]);
            if let Ok(vector) = okvs.kernel(&items, &mut rng) {
                solved += 1;
                let sums = okvs.rows(&items);
                let sum = |row: &[u32]| row.iter().map(|&cell| vector[cell as usize]).sum::<Scalar>();
                assert!(sums.iter().all(|row| sum(row) == Scalar::ZERO), "key {key}");
            }
        }
        assert!(solved > 0);
        let okvs = Garbled::keyed(Shape { sparse: 200, dense: 24 }, [1; 32]);
        assert!(okvs.kernel(&items, &mut rng).is_err(), "more rows than cells");
    }
}
