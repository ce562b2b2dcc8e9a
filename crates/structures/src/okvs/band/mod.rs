//! The band OKVS: a row is 512 random bits at a random place of the table.
//!
//! Bienstock, Patel, Seo, Yeo, *Near-Optimal Oblivious Key-Value Stores for Efficient PSI, PSU and
//! Volume-Hiding Multi-Maps* (USENIX Security 2023), section 4: random band matrices. Here rows
//! start at multiples of eight columns (a line), narrower bands serve where the table is short, and
//! a few hundred pairs get a dense random binary matrix. How long the table is follows from
//! [`model`].
//!
//! Encoding takes a time that depends on keys and values: a party runs it on data of its own.
//! Scratch memory that holds hashed keys and values is freed, not wiped.

pub mod model;
mod rows;
mod shape;
#[cfg(test)]
mod tests;

use std::ops::Range;

use rand_core::Rng;
use rayon::prelude::*;
use vesica_kernels::band::{BandRow, Dependent, LINE, ROW_LINES, System, products};

use self::rows::{ROWS, RowHash, Sorter};
pub use self::shape::Shape;
use super::arrangement::Buckets;
use super::{Arrangement, EncodeFailure, FreeCells, Okvs};
use crate::facts::Unsupported;
use crate::fields::Cell;

/// Buckets that keys are put into at once, at most about.
const MOST_BUCKETS: usize = 1 << 10;

/// Lines of a bucket, at least.
const LEAST_BUCKET: usize = 1 << 8;

/// Lines of a part, at least.
const LEAST_PART: usize = 1 << 11;

/// Keys decoded by a thread at a time.
const KEYS_PER_PIECE: usize = 1 << 12;

/// A band OKVS for a number of pairs, rows keyed by a seed.
pub struct Band {
    pairs: usize,
    shape: Shape,
    hash: RowHash,
}

impl Band {
    /// A store of a given shape, whatever its failure probability: for evidence and tests.
    /// Protocols take [`Self::new`].
    ///
    /// # Panics
    /// If a row has more than 64 lines or none, or nowhere to start.
    pub fn with_shape(pairs: usize, shape: Shape, seed: u128) -> Self {
        assert!((1..=size_of::<BandRow>()).contains(&shape.width) && shape.starts > 0, "{shape:?}");
        Self { pairs, shape, hash: RowHash::new(seed) }
    }

    /// Calls `each` with the first column of each key's row and the row's bits from there on, lowest
    /// first: for encoders over other fields.
    pub fn for_each_row(&self, keys: &[u128], mut each: impl FnMut(usize, [u64; 8])) {
        let (mut lines, mut rows) = ([0; ROWS], [BandRow([0; 8]); ROWS]);
        for keys in keys.chunks(ROWS) {
            self.hash.rows(&self.shape, keys, &mut lines, &mut rows);
            lines.iter().zip(&rows).take(keys.len()).for_each(|(&line, row)| each(LINE * line as usize, row.0));
        }
    }

    /// Lines of a bucket, by which keys are first put in order.
    fn bucket_lines(&self) -> usize {
        (self.shape.starts / MOST_BUCKETS).next_power_of_two().max(LEAST_BUCKET)
    }

    /// Lines of a part: whole buckets.
    fn part_lines(&self) -> usize {
        self.bucket_lines().max(LEAST_PART)
    }

    /// [`Okvs::encode_arranged_vartime`] for values of `L` words.
    fn encode_words<const L: usize, E: From<EncodeFailure>>(
        &self,
        keys: &Arrangement,
        values: &[[u64; L]],
        mut free: FreeCells<'_>,
        mut finished: impl FnMut(Range<usize>, &mut [[u64; L]]) -> Result<(), E>,
    ) -> Result<(), E> {
        let system = self.eliminated(keys, values).map_err(|_| EncodeFailure)?;
        // A part's cells, and those after it that its rows reach.
        let mut table = Vec::with_capacity(LINE * (self.part_lines() + ROW_LINES));
        let mut reach = Vec::new();
        for part in self.parts() {
            let len = part.len();
            table.clear();
            table.resize(len, [0; L]);
            if let FreeCells::Random(rng) = &mut free {
                for column in system.free_columns_vartime(part.clone()) {
                    table[column - part.start] = std::array::from_fn(|_| rng.next_u64());
                }
            }
            table.extend_from_slice(&reach);
            system.back_substitute_vartime(part.start / LINE, &mut table, reach.len() / LINE);
            reach.clear();
            reach.extend_from_slice(&table[..table.len().min(LINE * ROW_LINES)]);
            finished(part, &mut table[..len])?;
        }
        Ok(())
    }

    /// The equations' echelon form.
    fn eliminated<const L: usize>(&self, keys: &Arrangement, values: &[[u64; L]]) -> Result<System<L>, Dependent> {
        let mut system = System::new(self.shape.columns());
        // Some parts for each thread, which come last to first.
        let parts = keys.parts.len();
        let share = parts.div_ceil(rayon::current_num_threads());
        let key = |part: usize| if part < parts { keys.part(parts - 1 - part).start } else { values.len() };
        let lines: Vec<usize> = (0..parts).step_by(share).map(|part| part * self.part_lines()).collect();
        let backend = vesica_kernels::backend();
        let stretches = system.stretches(&lines).into_par_iter().enumerate().map(|(number, mut stretch)| {
            vesica_kernels::with_backend(backend, || {
                let range = key(number * share)..key((number + 1) * share);
                let (mut lines, mut rows) = ([0; ROWS], [BandRow([0; 8]); ROWS]);
                for (keys, values) in keys.keys[range.clone()].chunks(ROWS).zip(values[range].chunks(ROWS)) {
                    self.hash.rows(&self.shape, keys, &mut lines, &mut rows);
                    stretch.insert_vartime(&lines[..keys.len()], &rows[..keys.len()], values)?;
                }
                Ok(stretch.eliminated())
            })
        });
        let stretches = stretches.collect::<Result<_, _>>()?;
        system.join_vartime(stretches)?;
        Ok(system)
    }

    /// [`Okvs::decode_part`] for values of `L` words.
    fn decode_words<const L: usize>(&self, table: &[[u64; L]], keys: &[u128], out: &mut [[u64; L]]) {
        let backend = vesica_kernels::backend();
        keys.par_chunks(KEYS_PER_PIECE).zip(out.par_chunks_mut(KEYS_PER_PIECE)).for_each(|(keys, out)| {
            vesica_kernels::with_backend(backend, || {
                let (mut lines, mut rows) = ([0; ROWS], [BandRow([0; 8]); ROWS]);
                for (keys, out) in keys.chunks(ROWS).zip(out.chunks_mut(ROWS)) {
                    self.hash.rows(&self.shape, keys, &mut lines, &mut rows);
                    products(table, &lines[..keys.len()], &rows[..keys.len()], out);
                }
            });
        });
    }
}

impl Band {
    /// The store for `pairs` pairs that fails to encode with probability at most `2^-failure_bits`, rows keyed by
    /// `seed`.
    ///
    /// # Errors
    /// If no table of that shape is derived.
    pub fn new(pairs: usize, failure_bits: u32, seed: u128) -> Result<Self, Unsupported> {
        Ok(Self::with_shape(pairs, Shape::derive(pairs, failure_bits)?, seed))
    }

    /// Table length `m` for `pairs` pairs, known before the seed is.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn table_len(pairs: usize, failure_bits: u32) -> Result<usize, Unsupported> {
        Ok(Shape::derive(pairs, failure_bits)?.columns())
    }
}

impl Okvs for Band {
    fn len(&self) -> usize {
        self.shape.columns()
    }

    /// The last cells come first.
    fn parts(&self) -> Vec<Range<usize>> {
        let cells = LINE * self.part_lines();
        (0..self.len()).step_by(cells).map(|first| first..self.len().min(first + cells)).rev().collect()
    }

    fn arrange(&self, keys: &[u128]) -> Arrangement {
        let lines = self.bucket_lines();
        let count = self.shape.starts.div_ceil(lines);
        let mut buckets = Buckets::new(keys, count, |keys, buckets| {
            self.hash.lines(&self.shape, keys, |i, line| buckets[i] = (line as usize / lines) as u16);
        });
        let (mut keys_left, mut places_left) = (&mut buckets.keys[..], &mut buckets.places[..]);
        let jobs: Vec<_> = buckets
            .starts
            .windows(2)
            .map(|ends| {
                let len = ends[1] - ends[0];
                let keys = keys_left.split_off_mut(..len).expect("as many as keys");
                (keys, places_left.split_off_mut(..len).expect("as many as keys"))
            })
            .collect();
        jobs.into_par_iter().enumerate().for_each_init(Sorter::new, |sorter, (bucket, (keys, places))| {
            sorter.sort((&self.hash, &self.shape), ((bucket * lines) as u32, lines), keys, places);
        });
        let start = |line: usize| buckets.starts[count.min(line / lines)];
        let parts = self
            .parts()
            .iter()
            .map(|cells| start(cells.start / LINE)..start(cells.end.next_multiple_of(LINE * lines) / LINE))
            .collect();
        Arrangement { keys: buckets.keys, places: buckets.places, parts }
    }

    fn encode_arranged_vartime<V: Cell, E: From<EncodeFailure>>(
        &self,
        keys: &Arrangement,
        values: &[V],
        free: FreeCells<'_>,
        mut finished: impl FnMut(Range<usize>, &mut [V]) -> Result<(), E>,
    ) -> Result<(), E> {
        assert!(
            values.len() <= self.pairs && keys.keys.len() == values.len(),
            "at most as many keys as pairs, and a value each"
        );
        assert_eq!(keys.parts.len(), self.parts().len(), "keys arranged for this shape");
        macro_rules! encode {
            ($words:literal) => {
                self.encode_words::<$words, E>(keys, bytemuck::cast_slice(values), free, |part, cells| {
                    finished(part, bytemuck::cast_slice_mut(cells))
                })
            };
        }
        match V::BITS {
            64 => encode!(1),
            128 => encode!(2),
            256 => encode!(4),
            512 => encode!(8),
            1024 => encode!(16),
            bits => unreachable!("there are no values of {bits} bits"),
        }
    }

    fn decode_part<V: Cell>(&self, table: &[V], keys: &Arrangement, part: usize, out: &mut [V]) {
        let keys = &keys.keys[keys.part(part)];
        assert!(table.len() == self.len() && keys.len() == out.len(), "a whole table, and an output for each key");
        macro_rules! decode {
            ($words:literal) => {
                self.decode_words::<$words>(bytemuck::cast_slice(table), keys, bytemuck::cast_slice_mut(out))
            };
        }
        match V::BITS {
            64 => decode!(1),
            128 => decode!(2),
            256 => decode!(4),
            512 => decode!(8),
            1024 => decode!(16),
            bits => unreachable!("there are no values of {bits} bits"),
        }
    }
}
