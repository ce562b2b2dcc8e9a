//! A row of which the key is known.

/// A row and its key.
#[derive(Clone, Copy)]
pub(crate) struct KeyedRow<'a> {
    /// The name of the table.
    pub source: &'a str,
    /// The index of the key among the distinct ones.
    pub key: usize,
    /// Whether no earlier row has the key.
    pub new: bool,
    /// The row's number, from 1.
    pub row: u64,
}
