//! Hash tables of two-party protocols: fixed sizes, and a failure probability that is known before
//! any key is.

mod cuckoo;
mod integers;
mod max_load;
mod parts;
mod permuted_positions;
mod permuted_tables;
mod positions;
mod simple;
mod sub_tables;
mod two_choice;

pub use cuckoo::{CuckooTable, cuckoo_bins, hall_bound, independent_bound};
pub use integers::PermutedIntegers;
pub use max_load::max_load;
pub use parts::{Parts, Permuted, Position};
pub use permuted_positions::{PermutedPositions, Places, right_bits};
pub use permuted_tables::{Cell, PermutedHash, PermutedShape, PermutedTables, Place};
pub use positions::{Positions, three_distinct};
pub use simple::{Entry, SimpleTable, simple_capacity};
pub use sub_tables::{SUB_TABLES, SubTables, sub_tables_bound};
pub use two_choice::{TwoChoiceShape, two_choice_bound};

/// A hash table overflowed: a statistical failure, never retried with other hash functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a hash table overflowed (a statistical failure, or equal items)")]
pub struct HashFailure;
