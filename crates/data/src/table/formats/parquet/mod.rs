//! Apache Parquet.

pub(crate) mod check;
pub(crate) mod footer;
pub(crate) mod types;
