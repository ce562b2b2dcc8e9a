//! The sizes of a matrix of records, and of all that travels.

use vesica_kernels::columns::{LANES, MOST_WEIGHT_BITS, ROWS_TOGETHER};

use super::packing::switches;
use super::ring::{DEGREE, MODULUS_BITS};
use super::{ENTRY_BITS, MASK_BITS, SUM_BITS};
use crate::facts::ceil_log2;
use crate::packing::packed_len;

/// Bytes of a client's packing key.
pub(super) const KEY_BYTES: usize = packed_len(DEGREE, MODULUS_BITS);

/// Columns that one packing takes, at most: with `DEGREE` of them it would need a second key.
const MOST_COLUMNS: usize = DEGREE / 2;

const _: () = assert!(weight_bits(Shape::MOST_ROWS) <= MOST_WEIGHT_BITS);

/// Bits of a weight as it travels, and as the server adds it up: the rounding of the weights, which
/// the rows add up, then takes at most a constant share of the noise. docs/parameters/pir.md derives it.
const fn weight_bits(rows: usize) -> u32 {
    2 * ENTRY_BITS + 3 + ceil_log2(rows) / 2
}

/// The shape of a matrix: a record a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    rows: usize,
    columns: usize,
    parts: usize,
}

impl Shape {
    /// Most records: the noise of an answer is bounded up to here.
    pub const MOST_ROWS: usize = 1 << 17;
    /// Most parts of a record: the noise does not depend on it; it bounds what is precomputed, to 1 GiB.
    pub const MOST_PARTS: usize = 1 << 6;

    /// The shape of `rows` records of `parts` times `columns` entries; an answer has a ciphertext for
    /// each part. `None` unless there are 1 to [`MOST_ROWS`](Self::MOST_ROWS) records and 1 to
    /// [`MOST_PARTS`](Self::MOST_PARTS) parts, and `columns` is a power of two from 64 to 1024.
    pub fn new(rows: usize, columns: usize, parts: usize) -> Option<Self> {
        let are_served = (1..=Self::MOST_ROWS).contains(&rows)
            && (1..=Self::MOST_PARTS).contains(&parts)
            && columns.is_power_of_two()
            && (LANES..=MOST_COLUMNS).contains(&columns);
        are_served.then_some(Self { rows, columns, parts })
    }

    /// The widths of a part that there are.
    pub fn widths() -> impl Iterator<Item = usize> {
        (LANES.ilog2()..=MOST_COLUMNS.ilog2()).map(|log| 1 << log)
    }

    /// Number of records.
    pub fn rows(self) -> usize {
        self.rows
    }

    /// Entries of a part of a record.
    pub fn columns(self) -> usize {
        self.columns
    }

    /// Parts of a record.
    pub fn parts(self) -> usize {
        self.parts
    }

    /// Blocks of [`LANES`] columns.
    pub(super) fn blocks(self) -> usize {
        self.columns * self.parts / LANES
    }

    /// Elements of the ring that the rows of a query fill, the last one in part.
    pub(super) fn groups(self) -> usize {
        self.rows.div_ceil(DEGREE)
    }

    /// Bits of a weight as it travels.
    pub(super) fn weight_bits(self) -> u32 {
        weight_bits(self.rows)
    }

    /// [`Piece`](super::Piece)s of a block of columns.
    pub(super) fn pieces_of_block(self) -> usize {
        self.rows.div_ceil(ROWS_TOGETHER)
    }

    /// [`Piece`](super::Piece)s of the matrix.
    pub fn pieces(self) -> usize {
        self.blocks() * self.pieces_of_block()
    }

    /// Bytes of the record of one row.
    pub fn record_bytes(self) -> usize {
        self.columns * self.parts
    }

    /// Bytes of all records.
    pub fn matrix_bytes(self) -> usize {
        self.rows * self.record_bytes()
    }

    /// Bytes that the server keeps beside the records, and reads for each query.
    pub fn packing_bytes(self) -> usize {
        self.parts * switches(self.columns).len() * DEGREE * size_of::<u64>()
    }

    /// Bytes of what a client has to know of a matrix before it asks, beside the seed.
    pub fn public_bytes(self) -> usize {
        self.parts * packed_len(DEGREE, MASK_BITS)
    }

    /// Bytes of what a client asks for one record, the packing key included.
    pub fn query_bytes(self) -> usize {
        KEY_BYTES + packed_len(self.rows, self.weight_bits())
    }

    /// Bytes of a record as it comes back, encrypted.
    pub fn answer_bytes(self) -> usize {
        self.parts * packed_len(self.columns, SUM_BITS)
    }
}
