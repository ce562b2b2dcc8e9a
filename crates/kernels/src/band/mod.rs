//! Linear systems over GF(2) whose rows are bands: elimination, back-substitution, and products of rows with a table.
//!
//! Columns come in *lines* of eight. A row starts at a line and has at most 512 consecutive columns from there: bit `i` of a [`Row`] is
//! column `8 * line + i`. Starting at a line costs an encoding 7 of 512 columns of slack at most and buys aligned memory and, on
//! AVX-512 with GFNI, products of eight rows with a line in one instruction.
//!
//! Values are `[u64; L]`: `L = 1` for 64-bit values, `L = 2` for 128-bit ones.
//!
//! **Variable time:** unlike the other kernels, elimination branches on the rows and indexes by them. A party runs it on data of its own.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;

use bytemuck::{Pod, Zeroable};

use crate::dispatch::{Backend, backend};

/// Columns of a line.
pub const LINE: usize = 8;

/// Lines of a row: its 512 columns.
pub const ROW_LINES: usize = 64;

/// The 512 coefficients of a row: bit `i % 64` of word `i / 64` is the `i`-th column from the row's line on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C, align(64))]
pub struct Row(pub [u64; 8]);

/// A row that the rows before it span: the system has no solution for all values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dependent;

/// A system in echelon form, to which rows are added in the order of their lines.
pub struct System<const L: usize> {
    /// The row whose first column is `c`, from the line of `c` on, as eight words; zero where `c` leads no row. One row of padding.
    rows: Vec<u64>,
    echelon: Echelon<L>,
    columns: usize,
    /// Line of the row inserted last.
    line: usize,
}

/// What elimination writes beside the rows.
struct Echelon<const L: usize> {
    /// Value of the row that `c` leads.
    values: Vec<[u64; L]>,
    /// Bit `c % 8` of byte `c / 8`: whether `c` leads a row. One row of padding.
    leads: Vec<u8>,
}

impl<const L: usize> System<L> {
    /// A system without rows over `columns` columns.
    ///
    /// # Panics
    /// If `columns` is no multiple of [`LINE`].
    pub fn new(columns: usize) -> Self {
        assert!(columns.is_multiple_of(LINE), "columns come in lines of eight");
        Self {
            rows: vec![0; 8 * (columns + 1)],
            echelon: Echelon { values: vec![[0; L]; columns], leads: vec![0; columns / LINE + ROW_LINES] },
            columns,
            line: 0,
        }
    }

    /// Adds the equations `<rows[i], table> = values[i]`, row `i` starting at line `lines[i]`; fails at the first row that
    /// those before it span.
    ///
    /// # Panics
    /// If the slices differ in length, if lines descend (within this call or from the call before), or if a row has a column outside of the
    /// system that no earlier row removes.
    pub fn insert(&mut self, lines: &[u32], rows: &[Row], values: &[[u64; L]]) -> Result<(), Dependent> {
        assert!(lines.len() == rows.len() && lines.len() == values.len(), "one line and one value a row");
        let before = std::iter::once(self.line).chain(lines.iter().map(|&line| line as usize));
        assert!(before.zip(lines).all(|(before, &line)| before <= line as usize), "rows come in the order of their lines");
        self.line = lines.last().map_or(self.line, |&line| line as usize);
        let leading = &mut bytemuck::pod_align_to_mut::<u64, Row>(&mut self.rows).1[..self.columns];
        match Twin::of_backend() {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `of_backend` found the target features of this twin.
            Twin::Avx512 => unsafe { avx512::insert(leading, &mut self.echelon, lines, rows, values) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Twin::Avx2 => unsafe { avx2::insert(leading, &mut self.echelon, lines, rows, values) },
            Twin::Portable => portable::insert(leading, &mut self.echelon, lines, rows, values),
        }
    }

    /// The columns that lead no row, ascending: a solution may take any values there.
    pub fn free_columns(&self) -> impl Iterator<Item = usize> {
        (0..self.columns).filter(|c| self.echelon.leads[c / LINE] >> (c % LINE) & 1 == 0)
    }

    /// Completes `table`, whose cells at the free columns are given, to the solution of the system.
    ///
    /// # Panics
    /// If `table` has not one cell a column.
    pub fn back_substitute(&self, table: &mut [[u64; L]]) {
        assert_eq!(table.len(), self.columns, "one cell a column");
        let leading = &bytemuck::pod_align_to::<u64, Row>(&self.rows).1[..self.columns];
        match Twin::of_backend() {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `of_backend` found the target features of this twin.
            Twin::Avx512 => unsafe { avx512::back_substitute(leading, &self.echelon, table) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Twin::Avx2 => unsafe { avx2::back_substitute(leading, &self.echelon, table) },
            Twin::Portable => portable::back_substitute(leading, &self.echelon, table),
        }
    }
}

/// `out[i] = <rows[i], table>`, row `i` starting at line `lines[i]`; columns outside of the table count as zero.
/// Fast where lines ascend; right in any order.
///
/// # Panics
/// If the slices differ in length, if `table` is no multiple of [`LINE`] cells, or if a line lies outside of it.
pub fn products<const L: usize>(table: &[[u64; L]], lines: &[u32], rows: &[Row], out: &mut [[u64; L]]) {
    assert!(table.len().is_multiple_of(LINE), "columns come in lines of eight");
    assert!(lines.len() == rows.len() && lines.len() == out.len(), "one line and one result a row");
    let table_lines = table.len() / LINE;
    assert!(lines.iter().all(|&line| (line as usize) < table_lines), "a row starts in the table");
    match Twin::of_backend() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `of_backend` found the target features of this twin.
        Twin::Avx512 => unsafe { avx512::products(table, lines, rows, out) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        Twin::Avx2 => unsafe { avx2::products(table, lines, rows, out) },
        Twin::Portable => portable::products(table, lines, rows, out),
    }
}

/// The twin that runs: these kernels ask for more than [`Backend`] promises.
#[derive(Clone, Copy)]
enum Twin {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Twin {
    #[cfg(target_arch = "x86_64")]
    fn of_backend() -> Self {
        use std::arch::is_x86_feature_detected as has;
        match backend() {
            Backend::Avx512 if has!("gfni") && has!("avx512vbmi") && has!("bmi1") && has!("bmi2") => Self::Avx512,
            Backend::Portable => Self::Portable,
            _ => Self::Avx2,
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn of_backend() -> Self {
        let _: Backend = backend();
        Self::Portable
    }
}

/// Exclusive or of two values.
#[inline(always)]
fn add<const L: usize>(a: [u64; L], b: [u64; L]) -> [u64; L] {
    std::array::from_fn(|l| a[l] ^ b[l])
}

#[cfg(test)]
mod tests {
    use rand::{Rng, RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::with_backend;

    /// Rows over `columns` columns at about `load` rows a column, lines ascending, every bit within `width` lines random.
    fn rows(rng: &mut ChaCha8Rng, columns: usize, width: usize, load: f64) -> (Vec<u32>, Vec<Row>) {
        let starts = columns / LINE - width + 1;
        let count = (columns as f64 * load) as usize;
        let mut lines: Vec<u32> = (0..count).map(|_| rng.random_range(0..starts) as u32).collect();
        lines.sort_unstable();
        let rows = (0..count).map(|_| {
            let mut row = Row(std::array::from_fn(|_| rng.next_u64()));
            bytemuck::bytes_of_mut(&mut row)[width..].fill(0);
            row
        });
        (lines, rows.collect())
    }

    fn values<const L: usize>(rng: &mut ChaCha8Rng, count: usize) -> Vec<[u64; L]> {
        (0..count).map(|_| std::array::from_fn(|_| rng.next_u64())).collect()
    }

    /// The product bit by bit, as it is defined.
    fn product<const L: usize>(table: &[[u64; L]], line: u32, row: &Row) -> [u64; L] {
        let columns = (0..512).filter(|i| row.0[i / 64] >> (i % 64) & 1 == 1).map(|i| 8 * line as usize + i);
        columns.filter_map(|column| table.get(column)).fold([0; L], |sum, &cell| add(sum, cell))
    }

    fn products_are_as_defined<const L: usize>() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for (columns, width, load) in [(512, 64, 0.5), (8, 1, 2.0), (4096, 64, 1.0), (4096, 64, 0.01), (4096, 7, 0.2), (2048, 64, 3.0)] {
            let (mut lines, rows) = rows(&mut rng, columns, width, load);
            let table = values::<L>(&mut rng, columns);
            for _ in 0..2 {
                let expected: Vec<_> = lines.iter().zip(&rows).map(|(&line, row)| product(&table, line, row)).collect();
                for backend in Backend::available() {
                    let mut out = vec![[0; L]; rows.len()];
                    with_backend(backend, || products(&table, &lines, &rows, &mut out));
                    assert_eq!(out, expected, "{backend:?}, {columns} columns, {width} lines a row, load {load}");
                }
                // Once more with the lines in disorder, and rows that reach beyond the table.
                lines.reverse();
                lines.iter_mut().step_by(3).for_each(|line| *line = (columns / LINE) as u32 - 1);
            }
        }
    }

    #[test]
    fn products_are_as_defined_on_every_backend() {
        products_are_as_defined::<1>();
        products_are_as_defined::<2>();
    }

    fn solutions_solve<const L: usize>() {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        for (columns, width, load) in [(512, 64, 0.9), (64, 8, 0.3), (4096, 64, 0.85), (8192, 32, 0.8), (4096, 16, 0.6)] {
            let (lines, rows) = rows(&mut rng, columns, width, load);
            let values = values::<L>(&mut rng, rows.len());
            let fill: Vec<_> = self::values::<L>(&mut rng, columns);
            let mut tables = Vec::new();
            for backend in Backend::available() {
                let table = with_backend(backend, || {
                    let mut system = System::<L>::new(columns);
                    for ((lines, rows), values) in lines.chunks(37).zip(rows.chunks(37)).zip(values.chunks(37)) {
                        system.insert(lines, rows, values).expect("far from full");
                    }
                    assert_eq!(system.free_columns().count(), columns - rows.len());
                    let mut table = vec![[0; L]; columns];
                    system.free_columns().for_each(|c| table[c] = fill[c]);
                    system.back_substitute(&mut table);
                    assert!(system.free_columns().all(|c| table[c] == fill[c]));
                    table
                });
                for ((&line, row), value) in lines.iter().zip(&rows).zip(&values) {
                    assert_eq!(product(&table, line, row), *value, "{backend:?}, {columns} columns, {width} lines a row");
                }
                tables.push(table);
            }
            assert!(tables.windows(2).all(|pair| pair[0] == pair[1]), "backends agree");
        }
    }

    #[test]
    fn solutions_solve_on_every_backend() {
        solutions_solve::<1>();
        solutions_solve::<2>();
    }

    #[test]
    fn a_row_that_others_span_is_refused() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        for backend in Backend::available() {
            with_backend(backend, || {
                let (lines, mut rows) = rows(&mut rng, 1024, 64, 0.5);
                let values = values::<1>(&mut rng, rows.len());
                let last = rows.len() - 1;
                rows[last] = Row([0; 8]);
                let mut system = System::new(1024);
                assert_eq!(system.insert(&lines, &rows, &values), Err(Dependent));

                // The sum of two rows of one line, after both.
                let [a, b] = [rows[0], rows[1]];
                let sum = Row(add(a.0, b.0));
                let mut system = System::new(1024);
                assert_eq!(system.insert(&[5, 5], &[a, b], &[[1], [2]]), Ok(()));
                assert_eq!(system.insert(&[5], &[sum], &[[3]]), Err(Dependent), "even where the value agrees");
            });
        }
    }
}
