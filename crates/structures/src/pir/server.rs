//! The side that holds the records.

use rayon::prelude::*;
use vesica_kernels::columns::{LANES, PRODUCT_HALF, Sums, WEIGHT_HALF, add_products, add_weighted, halves};

use super::packing::{DIGITS, Packing, Switch, doubled, switches};
use super::ring::{DEGREE, HALF, MODULUS_BITS, Ring, ring};
use super::{ENTRY_BYTES, KEYS_FROM, MASK_BITS, SUM_BITS, Seed, Shape};
use crate::fields::Gf64;
use crate::packing::{pack, unpack};

/// Rows that are read for all queries of a batch before the next: 16 KiB of a block.
const ROWS_AT_A_TIME: usize = 128;

/// A matrix of records, prepared for queries.
pub struct Database {
    shape: Shape,
    seed: Seed,
    /// Block by block, all rows of [`LANES`] columns.
    blocks: Vec<[u16; LANES]>,
    packings: Vec<Packing>,
    switches: Vec<Switch>,
    public: Vec<u8>,
}

/// A client's query that was read.
pub struct Query {
    /// The halves of a weight for each row.
    weights: Vec<[u32; 2]>,
    /// The values of the packing keys, [`doubled`].
    factors: Vec<u64>,
}

impl Query {
    /// Reads a query of [`Shape::query_bytes`] bytes; `None` if it has another length, if an element
    /// is not below the modulus or if bits are left over.
    pub fn read(shape: Shape, bytes: &[u8]) -> Option<Self> {
        if bytes.len() != shape.query_bytes() {
            return None;
        }
        let ring = ring();
        let mut words = vec![Gf64::default(); shape.key_elements() * DEGREE + shape.rows()];
        unpack(bytes, MODULUS_BITS, &mut words)?;
        let words: &[u64] = bytemuck::cast_slice(&words);
        if words.iter().any(|&word| word >= ring.q()) {
            return None;
        }
        let (keys, weights) = words.split_at(shape.key_elements() * DEGREE);
        Some(Self {
            weights: weights.iter().map(|&weight| halves(weight)).collect(),
            factors: keys.chunks_exact(DEGREE).flat_map(doubled).collect(),
        })
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
        let mut blocks = vec![[0; LANES]; shape.blocks() * shape.rows()];
        blocks.par_chunks_exact_mut(shape.rows()).enumerate().for_each(|(block, rows)| {
            for (row, record) in rows.iter_mut().zip(records.chunks_exact(shape.record_bytes())) {
                let bytes = &record[block * LANES * ENTRY_BYTES..][..LANES * ENTRY_BYTES];
                for (entry, bytes) in row.iter_mut().zip(bytes.as_chunks().0) {
                    *entry = u16::from_le_bytes(*bytes);
                }
            }
        });
        Self::from_blocks(shape, seed, blocks).expect("as many blocks as the shape says")
    }

    /// Prepares records that lie as [`blocks`](Self::blocks) gives them; `None` if there is another
    /// number of them.
    pub fn from_blocks(shape: Shape, seed: Seed, blocks: Vec<[u16; LANES]>) -> Option<Self> {
        if blocks.len() != shape.blocks() * shape.rows() {
            return None;
        }
        let ring = ring();
        let uniform = |numbers: std::ops::Range<u64>| -> Vec<Vec<u64>> {
            numbers.into_par_iter().map(|number| ring.uniform(&seed, number)).collect()
        };
        let masks = uniform(0..shape.groups() as u64);
        let keys = uniform(KEYS_FROM..KEYS_FROM + shape.key_elements() as u64);
        let (mut packings, mut public) = (Vec::new(), Vec::new());
        for part in 0..shape.parts() {
            let columns = part * shape.columns()..(part + 1) * shape.columns();
            let elements = columns
                .into_par_iter()
                .map(|column| element(ring, &masks, &blocks[column / LANES * shape.rows()..][..shape.rows()], column))
                .collect();
            let packing = Packing::new(elements, &keys);
            write_rounded(ring, &packing.a, MASK_BITS, &mut public);
            packings.push(packing);
        }
        Some(Self { shape, seed, blocks, packings, switches: switches(shape.columns()), public })
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
    pub fn blocks(&self) -> &[[u16; LANES]] {
        &self.blocks
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

    /// For each query and column, the sum of the column's entries times the weights.
    fn weighted(&self, queries: &[Query]) -> Vec<Vec<u64>> {
        let by_block: Vec<Vec<Sums>> = self
            .blocks
            .par_chunks_exact(self.shape.rows())
            .map(|block| {
                let mut sums = vec![Sums::default(); queries.len()];
                for (part, rows) in block.chunks(ROWS_AT_A_TIME).enumerate() {
                    for (query, sums) in queries.iter().zip(&mut sums) {
                        add_weighted(rows, &query.weights[part * ROWS_AT_A_TIME..][..rows.len()], sums);
                    }
                }
                sums
            })
            .collect();
        totals(&by_block, queries.len(), WEIGHT_HALF)
    }

    /// For each query, the sum of the digits times the values of the keys, by its values.
    fn packed(&self, packing: &Packing, queries: &[Query]) -> Vec<Vec<u64>> {
        let starts = [0, 1].map(|half| -> Vec<u32> {
            let rows = self.switches.iter().flat_map(|switch| (0..DIGITS).map(|digit| switch.start(digit, half)));
            rows.map(|start| start as u32).collect()
        });
        let by_block: Vec<Vec<Sums>> = packing
            .rows
            .par_chunks_exact(self.switches.len() * DIGITS)
            .enumerate()
            .map(|(block, rows)| {
                let (half, from) = (block * LANES / HALF, block * LANES % HALF);
                let mut sums = vec![Sums::default(); queries.len()];
                // 32 KiB at a time.
                for (rows, starts) in rows.chunks(LANES).zip(starts[half].chunks(LANES)) {
                    for (query, sums) in queries.iter().zip(&mut sums) {
                        add_products(rows, &query.factors, starts, from, sums);
                    }
                }
                sums
            })
            .collect();
        totals(&by_block, queries.len(), PRODUCT_HALF)
    }
}

impl std::fmt::Debug for Database {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Database").field("shape", &self.shape).finish_non_exhaustive()
    }
}

/// The residues of all blocks' sums, query by query.
fn totals(by_block: &[Vec<Sums>], queries: usize, half: u32) -> Vec<Vec<u64>> {
    let of = |query: usize| by_block.iter().flat_map(move |sums| sums[query].totals(half));
    (0..queries).map(|query| of(query).map(|total| ring().modulus.reduce(total)).collect()).collect()
}

/// The element `a` of a column: its product with a client's `s` has, as its constant coefficient, the
/// column's entries times the masks of the weights.
///
/// The mask of row `k` of a group is coefficient `k` of the group's element times `s`, which is the
/// constant coefficient of that times `X^-k`.
fn element(ring: &Ring, masks: &[Vec<u64>], block: &[[u16; LANES]], column: usize) -> Vec<u64> {
    let mut sums = vec![0u128; DEGREE];
    for (rows, mask) in block.chunks(DEGREE).zip(masks) {
        let mut entries = vec![0; DEGREE];
        for (k, row) in rows.iter().enumerate() {
            let entry = u64::from(row[column % LANES]);
            // X^-k is -X^(d - k).
            if k == 0 {
                entries[0] = entry;
            } else {
                entries[DEGREE - k] = ring.q() - entry;
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
    let q = u128::from(ring.q());
    let rounded = residues.iter().map(|&x| Gf64((((u128::from(x) << bits) + q / 2) / q) as u64));
    let rounded: Vec<Gf64> = rounded.collect();
    pack(&rounded, bits, out);
}
