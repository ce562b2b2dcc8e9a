//! The first pass over a table: its keys, and what is read beside them.

mod beside;
mod distinct;
mod examine;
mod faults;
mod keys;
mod named_columns;
mod row_digests;
mod stats;

pub use beside::Along;
pub use beside::integers::MOST_INTEGER_BITS;
pub use examine::{Examined, examine};
pub use faults::{Fault, LISTED_ROWS};
pub use keys::{
    KeyTable, collect_keys, collect_values, read_integers, read_keys, read_keys_within, read_union_within, read_values,
};
pub(crate) use named_columns::NamedColumns;
pub use stats::{AlternativeStats, ColumnStats, KeyStats};
