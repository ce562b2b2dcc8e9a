//! The garbled Bloom filter: Dong, Chen, Wen, "When Private Set Intersection Meets Big Data: An
//! Efficient and Scalable Protocol" (CCS 2013), section 4.
//!
//! A row takes `k` cells, the positions of the key in a Bloom filter, and a key's value is their sum. To
//! encode a pair, find a cell of its row that no earlier row took, and set it such that the sum is right.
//!
//! ```text
//!   table:  | segment 0: ..... | segment 1: ..... | ... | segment k - 1: ..... |
//!   row:          1                       1          ..    1
//! ```
//!
//! Differences to the paper. (1) The filter is partitioned: each hash function has a segment of its own,
//! so that the `k` cells of a row are distinct, and a filter can be made and decoded from a segment or less
//! at a time. Segments are filled independently, which makes probabilities exact powers. (2) The number of
//! hash functions follows from the expected number of pairs that find no free cell; the paper takes the
//! security parameter.
//!
//! Two protocols use the structure without a table of their own: they draw the cells by oblivious transfers
//! whose choices are the bits of a Bloom filter ([`Gbf::taken_vartime`]), and add up the cells of each key, some
//! cells at a time ([`Gbf::add_cells_vartime`]).

mod params;

use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;
use vesica_kernels::aes::Aes128;

pub use self::params::{Shape, half_full};
use super::arrangement::{Buckets, KEYS_PER_BATCH, encrypted};
use super::{Arrangement, EncodeFailure, FreeCells, Okvs};
use crate::facts::Unsupported;
use crate::fields::Cell;
use crate::rng::SecretRng;
use crate::secret::Secret;
use rand_core::Rng;

/// Cells of a part of a table.
const CELLS_PER_PART: usize = 1 << 16;

/// Keys whose sums a thread adds up at a time.
const KEYS_PER_PIECE: usize = 1 << 12;

/// The garbled Bloom filter.
pub struct Gbf {
    shape: Shape,
    /// A block cipher for each two segments.
    ciphers: Vec<Aes128>,
}

impl fmt::Debug for Gbf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.shape.fmt(f)
    }
}

impl Gbf {
    /// A filter of this shape, rows keyed by `seed`.
    pub fn with_shape(shape: Shape, seed: u128) -> Self {
        let mut keys: Vec<u128> = (0..shape.segments.div_ceil(2) as u128).collect();
        Aes128::new(seed).encrypt(&mut keys);
        Self { shape, ciphers: keys.into_iter().map(Aes128::new).collect() }
    }

    /// The sizes of the filter.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The Bloom filter of the keys, as far as it lies in `cells`: which cells some key takes. Time depends on the keys.
    pub fn taken_vartime(&self, keys: &[u128], cells: Range<usize>) -> Secret<Vec<bool>> {
        let mut taken: Vec<AtomicBool> = cells.clone().map(|_| AtomicBool::new(false)).collect();
        keys.par_chunks(KEYS_PER_PIECE).for_each(|keys| {
            self.each_place(keys, cells.clone(), |_, place| {
                // In range: a place lies in `cells`.
                taken[place].store(true, Ordering::Relaxed);
            });
        });
        let filter = taken.iter_mut().map(|taken| std::mem::take(taken.get_mut())).collect();
        Secret::new(filter)
    }

    /// Adds those cells of each key to its sum that lie in `cells`, of which `part` has the contents. Time depends on the
    /// keys where `cells` are a part of a segment.
    ///
    /// # Panics
    /// If `part` has not as many cells as `cells`, or `sums` not as many as there are keys.
    pub fn add_cells_vartime<V: Cell>(&self, keys: &[u128], cells: Range<usize>, part: &[V], sums: &mut [V]) {
        assert_eq!(part.len(), cells.len(), "the contents of the cells");
        assert_eq!(sums.len(), keys.len(), "a sum for each key");
        keys.par_chunks(KEYS_PER_PIECE).zip(sums.par_chunks_mut(KEYS_PER_PIECE)).for_each(|(keys, sums)| {
            self.each_place(keys, cells.clone(), |key, place| sums[key] += part[place]);
        });
    }

    /// Calls `visit` with the number of a key and the place within `cells` of a cell that it takes, for all
    /// of them.
    #[inline]
    fn each_place(&self, keys: &[u128], cells: Range<usize>, mut visit: impl FnMut(usize, usize)) {
        if cells.is_empty() {
            return;
        }
        let per_segment = self.shape.cells;
        for segment in cells.start / per_segment..cells.end.div_ceil(per_segment).min(self.shape.segments) {
            let first = segment * per_segment;
            let whole = cells.start <= first && first + per_segment <= cells.end;
            self.each_position(keys, segment, |key, position| {
                let cell = first + position;
                if whole || cells.contains(&cell) {
                    visit(key, cell - cells.start);
                }
            });
        }
    }

    /// Calls `visit` with the number of each key and its cell within the segment.
    #[inline]
    fn each_position(&self, keys: &[u128], segment: usize, mut visit: impl FnMut(usize, usize)) {
        let shift = 64 * (segment % 2);
        encrypted(&self.ciphers[segment / 2], keys, |from, blocks| {
            for ((number, &block), &key) in (from..).zip(blocks).zip(&keys[from..]) {
                let half = ((block ^ key) >> shift) as u64;
                visit(number, ((u128::from(half) * self.shape.cells as u128) >> 64) as usize);
            }
        });
    }

    /// The places at which each part of a table begins and ends: segments, in pieces.
    fn parts_of_segment(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let cells = self.shape.cells;
        (0..cells).step_by(CELLS_PER_PART).map(move |start| start..cells.min(start + CELLS_PER_PART))
    }

    fn parts_per_segment(&self) -> usize {
        self.shape.cells.div_ceil(CELLS_PER_PART)
    }
}

impl Gbf {
    /// The store for `pairs` pairs that fails to encode with probability at most `2^-failure_bits`, rows keyed by
    /// `seed`.
    ///
    /// # Errors
    /// If no table of that shape is derived.
    pub fn new(pairs: usize, failure_bits: u32, seed: u128) -> Result<Self, Unsupported> {
        Ok(Self::with_shape(Shape::derive(pairs, failure_bits)?, seed))
    }

    /// Table length `m` for `pairs` pairs, known before the seed is.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn table_len(pairs: usize, failure_bits: u32) -> Result<usize, Unsupported> {
        Ok(Shape::derive(pairs, failure_bits)?.len())
    }
}

impl Okvs for Gbf {
    fn len(&self) -> usize {
        self.shape.len()
    }

    fn parts(&self) -> Vec<Range<usize>> {
        let segments = (0..self.shape.segments).map(|segment| segment * self.shape.cells);
        segments
            .flat_map(|first| self.parts_of_segment().map(move |part| first + part.start..first + part.end))
            .collect()
    }

    /// By the part of the last segment that completes a key.
    fn arrange(&self, keys: &[u128]) -> Arrangement {
        let last = self.shape.segments - 1;
        let buckets = Buckets::new(keys, self.parts_per_segment(), |keys, parts| {
            self.each_position(keys, last, |key, position| parts[key] = (position / CELLS_PER_PART) as u16);
        });
        let earlier = std::iter::repeat_n(0..0, last * self.parts_per_segment());
        let parts = earlier.chain(buckets.ranges()).collect();
        Arrangement { keys: buckets.keys, places: buckets.places, parts }
    }

    fn encode_arranged_vartime<V: Cell, E: From<EncodeFailure>>(
        &self,
        keys: &Arrangement,
        values: &[V],
        free: FreeCells<'_>,
        mut finished: impl FnMut(Range<usize>, &mut [V]) -> Result<(), E>,
    ) -> Result<(), E> {
        assert_eq!(keys.keys.len(), values.len(), "a value for each key");
        // The order of keys goes by the part of their last cell, which the bound on failures does not know. It
        // holds all the same: keys whose last cell is taken come early, where their other cells seldom are.
        let mut table = Secret::new(vec![V::default(); self.len()]);
        if let FreeCells::Random(rng) = free {
            let mut rng: SecretRng = rng.child();
            table.iter_mut().flat_map(V::words_mut).for_each(|word| *word = rng.next_u64());
        }
        // The Bloom filter of the keys.
        let mut fixed = Secret::new(vec![false; self.len()]);
        let segments = self.shape.segments;
        let mut cells = Secret::new(vec![0usize; segments * KEYS_PER_BATCH]);
        for (keys, values) in keys.keys.chunks(KEYS_PER_BATCH).zip(values.chunks(KEYS_PER_BATCH)) {
            for segment in 0..segments {
                let first = segment * self.shape.cells;
                self.each_position(keys, segment, |key, position| cells[key * segments + segment] = first + position);
            }
            for (cells, &value) in cells.chunks_exact(segments).zip(values) {
                let free = cells.iter().copied().find(|&cell| !fixed[cell]).ok_or(EncodeFailure)?;
                let sum = cells.iter().fold(value + table[free], |sum, &cell| sum + table[cell]);
                table[free] = sum;
                cells.iter().for_each(|&cell| fixed[cell] = true);
            }
        }
        for part in self.parts() {
            finished(part.clone(), &mut table[part])?;
        }
        Ok(())
    }

    fn decode_part<V: Cell>(&self, table: &[V], keys: &Arrangement, part: usize, out: &mut [V]) {
        assert_eq!(table.len(), self.len(), "a table of this shape");
        let keys = &keys.keys[keys.part(part)];
        assert_eq!(out.len(), keys.len(), "an output for each key");
        out.fill(V::default());
        self.add_cells_vartime(keys, 0..self.len(), table, out);
    }
}

#[cfg(test)]
mod tests;
