//! The first pass over a table: the digests of its keys (`keys`, `row_digests`), what is read beside them (`beside`),
//! what is counted (`stats`), and its faults, at the first of which a run ends (`faults`), or which are listed
//! (`examine`).

mod beside;
mod distinct;
mod examine;
mod faults;
mod keys;
mod named_columns;
mod row_digests;
mod spilled;
mod stats;

pub use beside::BesideKeys;
pub use beside::integers::MOST_INTEGER_BITS;
pub use examine::{Examined, examine, examine_spilled};
pub use faults::{Fault, LISTED_ROWS};
pub use keys::{
    KeyTable, collect_keys, collect_part, read_integers, read_keys, read_keys_within, read_spilled, read_union_within,
    read_values, read_values_within,
};
pub(crate) use named_columns::NamedColumns;
pub use spilled::{AllKeys, SomeKeys, SpilledKeys};
pub use stats::{AlternativeStats, ColumnStats, KeyStats};
