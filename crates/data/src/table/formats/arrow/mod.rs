//! Arrow in memory: record batches as a table.

pub(crate) mod batches;
