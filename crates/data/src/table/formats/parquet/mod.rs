//! Apache Parquet: checking what the reader would take on trust (`check`), the footer and the types as which columns
//! are read (`footer`), reading (`read`), the types as which columns are written (`types`), writing (`write`).

pub(crate) mod check;
pub(crate) mod footer;
mod read;
mod types;
mod write;

pub(crate) use read::Parquet;
pub(crate) use write::ParquetWriter;
