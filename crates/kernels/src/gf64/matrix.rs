//! Matrices of factors, and rows of words.

/// Eight words, a line of the cache. Products over rows take their first [`LANES`] words.
pub type Row = [u64; 8];

/// Words of a row that [`combine`](super::combine) works on.
pub const LANES: usize = 7;

/// A matrix over `B` inside a slice: the element of row `r` and column `i` is `elements[r * row + i *
/// column]`.
#[derive(Clone, Copy, Debug)]
pub struct Matrix<'a> {
    /// The slice.
    pub elements: &'a [u64],
    /// Distance between rows.
    pub row: usize,
    /// Distance between columns.
    pub column: usize,
}

impl Matrix<'_> {
    /// Whether all of `rows * columns` elements are there.
    pub(super) fn holds(&self, rows: usize, columns: usize) -> bool {
        rows == 0 || columns == 0 || (rows - 1) * self.row + (columns - 1) * self.column < self.elements.len()
    }
}
