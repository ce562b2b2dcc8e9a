//! The side that holds the records.

use rayon::prelude::*;
use vesica_kernels::columns::{LANES, ROWS_TOGETHER, Sums, WeightedSums, Weights, add_products, add_weighted};

use super::packing::{Packing, Switch, doubled, switches};
use super::ring::{DEGREE, HALF, MODULUS_BITS, Ring, ring};
use super::shape::KEY_BYTES;
use super::{KEY_NUMBER, MASK_BITS, Piece, SUM_BITS, Seed, Shape};
use crate::fields::Gf64;
use crate::packing::{pack, unpack};

/// Pieces that are read for all queries of a batch before the next: 16 KiB of a block.
const PIECES_AT_A_TIME: usize = 64;
/// Rows of a packing, likewise.
const DIGITS_AT_A_TIME: usize = 32;

/// A matrix of records, prepared for queries.
pub struct Database {
    shape: Shape,
    seed: Seed,
    /// Block by block, all rows of [`LANES`] columns.
    pieces: Vec<Piece>,
    packings: Vec<Packing>,
    switches: Vec<Switch>,
    public: Vec<u8>,
}

/// A client's query that was read.
pub struct Query {
    weights: Vec<Weights>,
    /// The values of the packing key, [`doubled`].
    factors: Vec<u64>,
}

impl Query {
    /// Reads a query of [`Shape::query_bytes`] bytes; `None` if it has another length, if an element
    /// is not below the modulus or if bits are left over.
    pub fn read(shape: Shape, bytes: &[u8]) -> Option<Self> {
        if bytes.len() != shape.query_bytes() {
            return None;
        }
        let (key, weights) = bytes.split_at_checked(KEY_BYTES)?;
        let mut words = vec![Gf64::default(); DEGREE];
        unpack(key, MODULUS_BITS, &mut words)?;
        if words.iter().any(|word| word.0 >= ring().q()) {
            return None;
        }
        let factors = doubled(bytemuck::cast_slice(&words)).collect();
        words.resize(shape.rows(), Gf64::default());
        unpack(weights, shape.weight_bits(), &mut words)?;
        // Rows that fill up the last piece have entries of zero.
        words.resize(shape.pieces_of_block() * ROWS_TOGETHER, Gf64::default());
        let weights = words.as_chunks().0.iter().map(|words| Weights::new(words.map(|word| word.0 as u32))).collect();
        Some(Self { weights, factors })
    }
}

impl Database {
    /// Prepares records, one after the other in `records`. The seed must be drawn after they are fixed:
    /// the bound of the noise takes them to be independent of it.
    ///
    /// # Panics
    /// If there are not as many bytes as the shape says.
    pub fn new(shape: Shape, seed: Seed, records: &[u8]) -> Self {
        assert_eq!(records.len(), shape.matrix_bytes(), "the records of the shape");
        let mut pieces = vec![[[0; ROWS_TOGETHER]; LANES]; shape.pieces()];
        pieces.par_chunks_exact_mut(shape.pieces_of_block()).enumerate().for_each(|(block, pieces)| {
            for (row, record) in records.chunks_exact(shape.record_bytes()).enumerate() {
                let piece = &mut pieces[row / ROWS_TOGETHER];
                for (entries, &byte) in piece.iter_mut().zip(&record[block * LANES..]) {
                    entries[row % ROWS_TOGETHER] = byte as i8;
                }
            }
        });
        Self::from_pieces(shape, seed, pieces).expect("as many pieces as the shape says")
    }

    /// Prepares records that lie as [`pieces`](Self::pieces) gives them; `None` if there is another
    /// number of them, or if rows that fill up the last piece of a block have entries.
    pub fn from_pieces(shape: Shape, seed: Seed, pieces: Vec<Piece>) -> Option<Self> {
        let has_rows = |(i, entry): (usize, &i8)| i < shape.rows() || *entry == 0;
        let is_padded = |block: &[Piece]| {
            let last = (shape.pieces_of_block() - 1) * ROWS_TOGETHER;
            block.last().is_some_and(|piece| piece.iter().all(|entries| (last..).zip(entries).all(has_rows)))
        };
        if pieces.len() != shape.pieces() || !pieces.chunks(shape.pieces_of_block()).all(is_padded) {
            return None;
        }
        let ring = ring();
        let masks: Vec<Vec<u64>> =
            (0..shape.groups() as u64).into_par_iter().map(|number| ring.uniform(&seed, number)).collect();
        let key = ring.uniform(&seed, KEY_NUMBER);
        let (mut packings, mut public) = (Vec::new(), Vec::new());
        for part in 0..shape.parts() {
            let columns = part * shape.columns()..(part + 1) * shape.columns();
            let block = |column: usize| &pieces[column / LANES * shape.pieces_of_block()..][..shape.pieces_of_block()];
            let elements = columns.into_par_iter().map(|column| element(ring, &masks, block(column), column)).collect();
            let packing = Packing::new(elements, &key);
            write_rounded(ring, &packing.a, MASK_BITS, &mut public);
            packings.push(packing);
        }
        Some(Self { shape, seed, pieces, packings, switches: switches(shape.columns()), public })
    }

    /// How many records there are, and how wide they are.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The seed of all uniform elements.
    pub fn seed(&self) -> &Seed {
        &self.seed
    }

    /// The records: for each [`LANES`] columns, their entries in all rows.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// What a client has to know before it asks, beside shape and seed: [`Shape::public_bytes`] bytes.
    pub fn public(&self) -> &[u8] {
        &self.public
    }

    /// The answer to each query, of [`Shape::answer_bytes`] bytes. The records are read once for all
    /// of them. Takes the same time for any queries.
    pub fn answer(&self, queries: &[Query]) -> Vec<Vec<u8>> {
        let sums = self.weighted(queries);
        let mut answers = vec![Vec::with_capacity(self.shape.answer_bytes()); queries.len()];
        for (part, packing) in self.packings.iter().enumerate() {
            let packed = self.packed(packing, queries);
            for ((answer, sums), packed) in answers.iter_mut().zip(&sums).zip(packed) {
                let ring = ring();
                let sums = &sums[part * self.shape.columns()..][..self.shape.columns()];
                let coefficients = ring.coefficients(&packed);
                let added: Vec<u64> = sums.iter().zip(&coefficients).map(|(&sum, &c)| ring.sum(sum, c)).collect();
                write_rounded(ring, &added, SUM_BITS, answer);
            }
        }
        answers
    }

    /// For each query and column, the sum of the column's entries times the weights, as a residue.
    fn weighted(&self, queries: &[Query]) -> Vec<Vec<u64>> {
        let by_block: Vec<Vec<WeightedSums>> = self
            .pieces
            .par_chunks_exact(self.shape.pieces_of_block())
            .map(|block| {
                let mut sums = vec![WeightedSums::default(); queries.len()];
                for (part, pieces) in block.chunks(PIECES_AT_A_TIME).enumerate() {
                    for (query, sums) in queries.iter().zip(&mut sums) {
                        add_weighted(pieces, &query.weights[part * PIECES_AT_A_TIME..][..pieces.len()], sums);
                    }
                }
                sums
            })
            .collect();
        let bits = self.shape.weight_bits();
        let residue = |total: u32| ring().widened(total & ((1 << bits) - 1), bits);
        let of = |query: usize| by_block.iter().flat_map(move |sums| sums[query].totals());
        (0..queries.len()).map(|query| of(query).map(residue).collect()).collect()
    }

    /// For each query, the sum of the digits times the values of the key, by its values.
    fn packed(&self, packing: &Packing, queries: &[Query]) -> Vec<Vec<u64>> {
        let starts =
            [0, 1].map(|half| self.switches.iter().map(|switch| switch.start(half) as u32).collect::<Vec<u32>>());
        let by_block: Vec<Vec<Sums>> = packing
            .rows
            .par_chunks_exact(self.switches.len())
            .enumerate()
            .map(|(block, rows)| {
                let (half, from) = (block * LANES / HALF, block * LANES % HALF);
                let mut sums = vec![Sums::default(); queries.len()];
                for (rows, starts) in rows.chunks(DIGITS_AT_A_TIME).zip(starts[half].chunks(DIGITS_AT_A_TIME)) {
                    for (query, sums) in queries.iter().zip(&mut sums) {
                        add_products(rows, &query.factors, starts, from, sums);
                    }
                }
                sums
            })
            .collect();
        let of = |query: usize| by_block.iter().flat_map(move |sums| sums[query].totals());
        (0..queries.len()).map(|query| of(query).map(|total| ring().modulus.reduce(total)).collect()).collect()
    }
}

impl std::fmt::Debug for Database {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Database").field("shape", &self.shape).finish_non_exhaustive()
    }
}

/// The element `a` of a column: its product with a client's `s` has, as its constant coefficient, the
/// column's entries times the masks of the weights.
///
/// The mask of row `k` of a group is coefficient `k` of the group's element times `s`, which is the
/// constant coefficient of that times `X^-k`.
fn element(ring: &Ring, masks: &[Vec<u64>], block: &[Piece], column: usize) -> Vec<u64> {
    let mut sums = vec![0u128; DEGREE];
    for (pieces, mask) in block.chunks(DEGREE / ROWS_TOGETHER).zip(masks) {
        let mut entries = vec![0; DEGREE];
        for (k, &entry) in pieces.iter().flat_map(|piece| &piece[column % LANES]).enumerate() {
            // X^-k is -X^(d - k).
            if k == 0 {
                entries[0] = ring.signed(entry.into());
            } else {
                entries[DEGREE - k] = ring.signed(-i64::from(entry));
            }
        }
        ring.values(&mut entries);
        for ((sum, &entry), &mask) in sums.iter_mut().zip(&entries).zip(mask) {
            *sum += u128::from(entry) * u128::from(mask);
        }
    }
    sums.into_iter().map(|sum| ring.modulus.reduce(sum)).collect()
}

/// Packs residues, switched to the modulus `2^bits`.
fn write_rounded(ring: &Ring, residues: &[u64], bits: u32, out: &mut Vec<u8>) {
    let rounded = ring.rounder(bits);
    let rounded: Vec<Gf64> = residues.iter().map(|&x| Gf64(rounded(x))).collect();
    pack(&rounded, bits, out);
}
