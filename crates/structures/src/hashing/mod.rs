//! Hash tables of two-party protocols: fixed sizes, and a failure probability that is known before any key is.

mod max_load;

pub use max_load::max_load;
