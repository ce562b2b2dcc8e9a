//! Rows by number, and what peeling makes of those of a bin.

/// A row by its number, one of its cells, and the two others in cyclic order: it looks the same
/// from each of its cells.
#[derive(Clone, Copy, Default)]
pub struct Numbered(pub u64);

impl Numbered {
    #[inline]
    pub fn new(row: u16, [cell, next, last]: [u16; 3]) -> Self {
        Self(u64::from(cell) << 48 | u64::from(row) << 32 | u64::from(next) << 16 | u64::from(last))
    }

    #[inline]
    pub fn row(self) -> usize {
        usize::from((self.0 >> 32) as u16)
    }

    /// The three cells of the row.
    #[inline]
    pub fn cells(self) -> [usize; 3] {
        [self.0 >> 48, self.0 >> 16, self.0].map(|cell| usize::from(cell as u16))
    }
}

/// The rows of one bin once they are peeled.
#[derive(Default)]
pub struct Peeled {
    /// The dense part of each row.
    pub dense: Vec<u64>,
    /// The peeled rows, each after the cell that it determines once its other cells are known:
    /// which are cells of no earlier row.
    pub pivots: Vec<Numbered>,
    /// Rows set aside where peeling came to a halt.
    pub deferred: Vec<Numbered>,
}
