//! Test harness for two-party code: pairs of channels, faulty and shaped links, golden transcripts.
#![forbid(unsafe_code)]

mod pair;

pub use pair::{Side, options, side, try_two_party, two_party, two_party_over};
