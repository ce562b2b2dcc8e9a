//! Arrow in memory: tables of record batches, and the cells and rows of a batch, whatever it was read from.

pub(crate) mod batches;
pub(crate) mod columns;
mod payload_column;
pub(crate) mod scalars;
pub(crate) mod with_payload;
