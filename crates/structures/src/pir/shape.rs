//! The sizes of a matrix of records, and of all that travels.

use vesica_kernels::columns::LANES;

use super::packing::{DIGITS, keys, switches};
use super::ring::{DEGREE, MODULUS_BITS};
use super::{ENTRY_BYTES, MASK_BITS, SUM_BITS};
use crate::packing::packed_len;

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
    pub const MOST_PARTS: usize = 1 << 4;

    /// The shape of `rows` records of `parts` times `columns` entries; an answer has a ciphertext for
    /// each part. `None` unless there are 1 to [`MOST_ROWS`](Self::MOST_ROWS) records and 1 to
    /// [`MOST_PARTS`](Self::MOST_PARTS) parts, and `columns` is a power of two from 64 to 2048.
    pub fn new(rows: usize, columns: usize, parts: usize) -> Option<Self> {
        let are_served = (1..=Self::MOST_ROWS).contains(&rows)
            && (1..=Self::MOST_PARTS).contains(&parts)
            && columns.is_power_of_two()
            && (LANES..=DEGREE).contains(&columns);
        are_served.then_some(Self { rows, columns, parts })
    }

    /// The widths of a part that there are.
    pub fn widths() -> impl Iterator<Item = usize> {
        (LANES.ilog2()..=DEGREE.ilog2()).map(|log| 1 << log)
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

    /// Elements of a client's packing keys.
    pub(super) fn key_elements(self) -> usize {
        keys(self.columns) * DIGITS
    }

    /// Bytes of the record of one row.
    pub fn record_bytes(self) -> usize {
        self.columns * self.parts * ENTRY_BYTES
    }

    /// Bytes of all records.
    pub fn matrix_bytes(self) -> usize {
        self.rows * self.record_bytes()
    }

    /// Bytes that the server keeps beside the records, and reads for each query.
    pub fn packing_bytes(self) -> usize {
        self.parts * switches(self.columns).len() * DIGITS * DEGREE * size_of::<u64>()
    }

    /// Bytes of what a client has to know of a matrix before it asks, beside the seed.
    pub fn public_bytes(self) -> usize {
        self.parts * packed_len(DEGREE, MASK_BITS)
    }

    /// Bytes of what a client asks for one record, packing keys included.
    pub fn query_bytes(self) -> usize {
        packed_len(self.key_elements() * DEGREE + self.rows, MODULUS_BITS)
    }

    /// Bytes of a record as it comes back, encrypted.
    pub fn answer_bytes(self) -> usize {
        self.parts * packed_len(self.columns, SUM_BITS)
    }
}
