//! The formats in which tables are stored, a module each.

pub(crate) mod arrow;
pub(crate) mod arrow_ipc;
pub(crate) mod bytes_at;
pub(crate) mod columnar;
pub(crate) mod columns_writer;
pub(crate) mod csv;
pub(crate) mod foreign;
pub(crate) mod json_lines;
pub(crate) mod parquet;
pub(crate) mod text_block;
pub(crate) mod text_rows;
