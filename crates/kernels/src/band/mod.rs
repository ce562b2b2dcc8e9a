//! Linear systems over GF(2) whose rows are bands: elimination, back-substitution, and products of
//! rows with a table.
//!
//! Columns come in *lines* of eight. A row starts at a line and has at most 512 consecutive columns
//! from there: bit `i` of a [`BandRow`] is column `8 * line + i`. Starting at a line costs an encoding
//! 7 of 512 columns of slack at most and buys aligned memory and, on AVX-512 with GFNI, products of
//! eight rows with a line in one instruction.
//!
//! Values are `[u64; L]`: `L = 1` for 64-bit values, `L = 2` for 128-bit ones. Wider ones take the
//! loops of the portable twin, which add whole cells.
//!
//! Unlike the other kernels, elimination branches on the rows and indexes by them: its functions end in `_vartime`. A party
//! runs it on data of its own.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;
mod rows;

use std::ops::Range;

use self::rows::{Beyond, Equations, add};
use crate::dispatch::{Backend, backend};
pub use rows::{BandRow, Dependent, LINE, ROW_LINES, Stretch};

/// A system in echelon form. Rows are added in [stretches](Self::stretches); the echelon form does
/// not depend on how it is cut into them.
pub struct System<const L: usize> {
    /// The row whose first column is `c`, from the line of `c` on, as eight words; zero where `c`
    /// leads no row. One row of padding.
    rows: Vec<u64>,
    /// Value of the row that `c` leads.
    values: Vec<[u64; L]>,
    /// Bit `c % 8` of byte `c / 8`: whether `c` leads a row. One row of padding.
    leads: Vec<u8>,
}

/// What a stretch leaves for [`System::join_vartime`].
pub struct Eliminated<const L: usize> {
    first: usize,
    leads: Vec<u8>,
    beyond: Vec<Beyond<L>>,
}

impl<const L: usize> Stretch<'_, L> {
    /// Adds the equations `<rows[i], table> = values[i]`, row `i` starting at line `lines[i]`;
    /// fails at the first row that those before it span. Time depends on the rows.
    ///
    /// # Panics
    /// If the slices differ in length, if lines descend (within this call or from the call before),
    /// or lie outside of the stretch.
    pub fn insert_vartime(&mut self, lines: &[u32], rows: &[BandRow], values: &[[u64; L]]) -> Result<(), Dependent> {
        assert!(lines.len() == rows.len() && lines.len() == values.len(), "one line and one value a row");
        let before = std::iter::once(self.line).chain(lines.iter().map(|&line| line as usize));
        assert!(
            before.zip(lines).all(|(before, &line)| before <= line as usize),
            "rows come in the order of their lines"
        );
        self.line = lines.last().map_or(self.line, |&line| line as usize);
        assert!(LINE * (self.line - self.first) < self.values.len() || lines.is_empty(), "rows start in their stretch");
        let equations = Equations { lines, rows, values };
        match Twin::of_backend(L) {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `of_backend` found the target features of this twin.
            Twin::Avx512 => unsafe { avx512::insert(self, equations) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Twin::Avx2 => unsafe { avx2::insert(self, equations) },
            Twin::Portable => portable::insert(self, equations),
        }
    }

    /// Ends the stretch.
    pub fn eliminated(self) -> Eliminated<L> {
        Eliminated { first: self.first, leads: self.leads, beyond: self.beyond }
    }
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
            values: vec![[0; L]; columns],
            leads: vec![0; columns / LINE + ROW_LINES],
        }
    }

    /// The stretches that begin at these lines, the first of them 0, in ascending order: threads
    /// may fill them side by side.
    ///
    /// # Panics
    /// If the lines are not as described.
    pub fn stretches(&mut self, starts: &[usize]) -> Vec<Stretch<'_, L>> {
        let columns = self.values.len();
        assert_eq!(starts.first(), Some(&0), "the first stretch begins with the system");
        let mut leading = &mut bytemuck::pod_align_to_mut::<u64, BandRow>(&mut self.rows).1[..columns];
        let mut values = &mut self.values[..];
        let ends = starts[1..].iter().copied().chain([columns / LINE]);
        let stretch = |(&first, end): (&usize, usize)| {
            let lines = end.checked_sub(first).expect("lines ascend");
            Stretch {
                first,
                leading: leading.split_off_mut(..LINE * lines).expect("lines of the system"),
                values: values.split_off_mut(..LINE * lines).expect("lines of the system"),
                leads: vec![0; lines + ROW_LINES],
                line: first,
                beyond: Vec::new(),
            }
        };
        starts.iter().zip(ends).map(stretch).collect()
    }

    /// Brings all the stretches together, in ascending order: the few rows that went beyond their
    /// stretch are inserted where they belong. Time depends on the rows.
    ///
    /// # Panics
    /// If a row has a column outside of the system that no other removes.
    pub fn join_vartime(&mut self, stretches: Vec<Eliminated<L>>) -> Result<(), Dependent> {
        for Eliminated { first, leads, .. } in &stretches {
            let lines = leads.len() - ROW_LINES;
            self.leads[*first..][..lines].copy_from_slice(&leads[..lines]);
        }
        for (line, row, value) in stretches.into_iter().flat_map(|stretch| stretch.beyond) {
            self.absorb(line as usize, row, value)?;
        }
        Ok(())
    }

    /// Inserts a row out of the order of lines: those that it meets may start later, so that it
    /// moves on with its first column.
    fn absorb(&mut self, mut line: usize, mut row: BandRow, mut value: [u64; L]) -> Result<(), Dependent> {
        let leading = &mut bytemuck::pod_align_to_mut::<u64, BandRow>(&mut self.rows).1[..self.values.len()];
        loop {
            let word = row.0.iter().position(|&word| word != 0).ok_or(Dependent)?;
            let first = 64 * word + row.0[word].trailing_zeros() as usize;
            let mut later = [0; 2 * ROW_LINES];
            later[..ROW_LINES].copy_from_slice(bytemuck::bytes_of(&row));
            bytemuck::bytes_of_mut(&mut row).copy_from_slice(&later[first / LINE..][..ROW_LINES]);
            line += first / LINE;
            let column = LINE * line + first % LINE;
            let bit = 1 << (first % LINE);
            if self.leads[line] & bit == 0 {
                self.leads[line] |= bit;
                (leading[column], self.values[column]) = (row, value);
                return Ok(());
            }
            row = BandRow(add(row.0, leading[column].0));
            value = add(value, self.values[column]);
        }
    }

    /// The columns among these that lead no row, ascending: a solution may take any values there. Time depends on the rows.
    pub fn free_columns_vartime(&self, columns: Range<usize>) -> impl Iterator<Item = usize> {
        columns.filter(|c| self.leads[c / LINE] >> (c % LINE) & 1 == 0)
    }

    /// Completes the cells from line `first` on to the solution of the system, the last lines of it
    /// first: `table` holds them, with cells given at the free columns, followed by `known`
    /// lines that are complete. Time depends on the rows.
    ///
    /// # Panics
    /// If `table` is no multiple of [`LINE`] cells, goes beyond the columns, or ends before them
    /// with fewer than [`ROW_LINES`] lines known.
    pub fn back_substitute_vartime(&self, first: usize, table: &mut [[u64; L]], known: usize) {
        assert!(table.len().is_multiple_of(LINE) && known <= table.len() / LINE, "columns come in lines of eight");
        let end = LINE * first + table.len();
        let columns = self.values.len();
        assert!(end == columns || (end < columns && known >= ROW_LINES), "rows meet known cells");
        let leading = &bytemuck::pod_align_to::<u64, BandRow>(&self.rows).1[LINE * first..columns];
        let (values, leads) = (&self.values[LINE * first..], &self.leads[first..]);
        match Twin::of_backend(L) {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `of_backend` found the target features of this twin.
            Twin::Avx512 => unsafe { avx512::back_substitute(leading, values, leads, table, known) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Twin::Avx2 => unsafe { avx2::back_substitute(leading, values, leads, table, known) },
            Twin::Portable => portable::back_substitute(leading, values, leads, table, known),
        }
    }
}

/// `out[i] = <rows[i], table>`, row `i` starting at line `lines[i]`; columns outside of the table
/// count as zero. Fast where lines ascend; right in any order.
///
/// # Panics
/// If the slices differ in length, if `table` is no multiple of [`LINE`] cells, or if a line lies
/// outside of it.
pub fn products<const L: usize>(table: &[[u64; L]], lines: &[u32], rows: &[BandRow], out: &mut [[u64; L]]) {
    assert!(table.len().is_multiple_of(LINE), "columns come in lines of eight");
    assert!(lines.len() == rows.len() && lines.len() == out.len(), "one line and one result a row");
    let table_lines = table.len() / LINE;
    assert!(lines.iter().all(|&line| (line as usize) < table_lines), "a row starts in the table");
    match Twin::of_backend(L) {
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
    fn of_backend(words: usize) -> Self {
        use std::arch::is_x86_feature_detected as has;
        match backend() {
            Backend::Vaes if words <= 2 && has!("gfni") && has!("avx512vbmi") && has!("bmi1") && has!("bmi2") => {
                Self::Avx512
            }
            Backend::Portable => Self::Portable,
            _ => Self::Avx2,
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn of_backend(_words: usize) -> Self {
        let _: Backend = backend();
        Self::Portable
    }
}

#[cfg(test)]
mod tests {
    use rand::{Rng, RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::with_backend;

    /// Rows over `columns` columns at about `load` rows a column, lines ascending, every bit within
    /// `width` lines random.
    fn rows(rng: &mut ChaCha8Rng, columns: usize, width: usize, load: f64) -> (Vec<u32>, Vec<BandRow>) {
        let starts = columns / LINE - width + 1;
        let count = (columns as f64 * load) as usize;
        let mut lines: Vec<u32> = (0..count).map(|_| rng.random_range(0..starts) as u32).collect();
        lines.sort_unstable();
        let rows = (0..count).map(|_| {
            let mut row = BandRow(std::array::from_fn(|_| rng.next_u64()));
            bytemuck::bytes_of_mut(&mut row)[width..].fill(0);
            row
        });
        (lines, rows.collect())
    }

    fn values<const L: usize>(rng: &mut ChaCha8Rng, count: usize) -> Vec<[u64; L]> {
        (0..count).map(|_| std::array::from_fn(|_| rng.next_u64())).collect()
    }

    /// The product bit by bit, as it is defined.
    fn product<const L: usize>(table: &[[u64; L]], line: u32, row: &BandRow) -> [u64; L] {
        let columns = (0..512).filter(|i| row.0[i / 64] >> (i % 64) & 1 == 1).map(|i| 8 * line as usize + i);
        columns.filter_map(|column| table.get(column)).fold([0; L], |sum, &cell| add(sum, cell))
    }

    fn products_are_as_defined<const L: usize>() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for (columns, width, load) in
            [(512, 64, 0.5), (8, 1, 2.0), (4096, 64, 1.0), (4096, 64, 0.01), (4096, 7, 0.2), (2048, 64, 3.0)]
        {
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
        products_are_as_defined::<8>();
    }

    fn solutions_solve<const L: usize>() {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        for (columns, width, load) in [(512, 64, 0.9), (64, 8, 0.3), (4096, 64, 0.85), (8192, 32, 0.8), (4096, 16, 0.6)]
        {
            let (lines, rows) = rows(&mut rng, columns, width, load);
            let values = values::<L>(&mut rng, rows.len());
            let fill: Vec<_> = self::values::<L>(&mut rng, columns);
            let mut tables = Vec::new();
            for backend in Backend::available() {
                let table = with_backend(backend, || {
                    let mut system = System::<L>::new(columns);
                    // Whole, or in stretches, one of them shorter than a row.
                    let starts: &[usize] = if columns < 2000 { &[0] } else { &[0, 100, 110, 400] };
                    let eliminated = system.stretches(starts).into_iter().zip(starts).enumerate().map(
                        |(i, (mut stretch, &start))| {
                            let end = starts
                                .get(i + 1)
                                .map_or(lines.len(), |&end| lines.partition_point(|&line| (line as usize) < end));
                            let range = lines.partition_point(|&line| (line as usize) < start)..end;
                            let (lines, rows, values) = (&lines[range.clone()], &rows[range.clone()], &values[range]);
                            for ((lines, rows), values) in lines.chunks(37).zip(rows.chunks(37)).zip(values.chunks(37))
                            {
                                stretch.insert_vartime(lines, rows, values).expect("far from full");
                            }
                            stretch.eliminated()
                        },
                    );
                    let eliminated = eliminated.collect();
                    system.join_vartime(eliminated).expect("far from full");
                    assert_eq!(system.free_columns_vartime(0..columns).count(), columns - rows.len());
                    let mut table = vec![[0; L]; columns];
                    system.free_columns_vartime(0..columns).for_each(|c| table[c] = fill[c]);
                    // All at once, or from the last lines back, some of them known.
                    let mut end = columns / LINE;
                    for first in [end, end.saturating_sub(70), end / 3, end / 3 - 1, 0]
                        .into_iter()
                        .skip(usize::from(columns < 2000) * 4)
                    {
                        let known = ROW_LINES.min(columns / LINE - end);
                        system.back_substitute_vartime(first, &mut table[LINE * first..LINE * (end + known)], known);
                        end = first;
                    }
                    assert!(system.free_columns_vartime(0..columns).all(|c| table[c] == fill[c]));
                    table
                });
                for ((&line, row), value) in lines.iter().zip(&rows).zip(&values) {
                    assert_eq!(
                        product(&table, line, row),
                        *value,
                        "{backend:?}, {columns} columns, {width} lines a row"
                    );
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
        solutions_solve::<8>();
    }

    #[test]
    fn a_row_that_others_span_is_refused() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        for backend in Backend::available() {
            with_backend(backend, || {
                let (lines, mut rows) = rows(&mut rng, 1024, 64, 0.5);
                let values = values::<1>(&mut rng, rows.len());
                let last = rows.len() - 1;
                rows[last] = BandRow([0; 8]);
                let insert =
                    |system: &mut System<1>, starts: &[usize], lines: &[u32], rows: &[BandRow], values: &[[u64; 1]]| {
                        let mut stretches = system.stretches(starts);
                        stretches[0].insert_vartime(lines, rows, values)?;
                        let eliminated = stretches.into_iter().map(Stretch::eliminated).collect();
                        system.join_vartime(eliminated)
                    };
                assert_eq!(insert(&mut System::new(1024), &[0], &lines, &rows, &values), Err(Dependent));

                // The sum of two rows of one line, after both: in one stretch, and where all columns lie beyond it.
                let [a, mut b] = [rows[0], rows[1]];
                b.0[0] = 0;
                for (row, starts) in [(a, &[0][..]), (BandRow([0, a.0[1], 0, 0, 0, 0, 0, 0]), &[0, 6])] {
                    let sum = BandRow(add(row.0, b.0));
                    let values = [[1], [2], [3]];
                    assert_eq!(insert(&mut System::new(1024), starts, &[5, 5], &[row, b], &values[..2]), Ok(()));
                    let dependent = insert(&mut System::new(1024), starts, &[5, 5, 5], &[row, b, sum], &values);
                    assert_eq!(dependent, Err(Dependent), "even where the value agrees");
                }
            });
        }
    }
}
