//! Test harness for two-party code. A development dependency only.
//!
//! - [`two_party`] runs two closures as sender and receiver over memory and reports both sides'
//!   errors.
//! - [`conformance`] runs a registry row against its task's predicate, with measured bytes held to
//!   the predicted ones.
//! - [`faults`] harms each frame of a run in turn; a side may fail, but it may neither panic nor
//!   hang.
//! - [`golden`] compares what a row sends, for fixed seeds and inputs, with a file in the tree;
//!   [`BLESS`] rewrites the file. [`Goldens`] does so for a whole registry.
//! - [`Trials`] runs a suite over a registry: every row that [`is_in_use`] in full, and of the others
//!   [`Depth::Once`]; with `VESICA_SUITE=whole` ([`SUITE`]) every row in full.
//! - [`Times`] tells whether times of two classes differ, and [`Script::replay`] has a receiver do its last work alone. The examples
//!   `timing` of `vesica-protocols` and `timing_rows` of `vesica-lab` measure with them.
#![forbid(unsafe_code)]

mod conformance;
mod faults;
mod goldens;
pub mod insecure_lookup;
mod listed;
mod pair;
mod replay;
mod suite;
mod tap;
mod timing;
mod transcript;
mod trials;

pub use conformance::{ExampleOf, Run, Runnable, Sides, conformance, conformance_of, row, run_counted, run_over};
pub use faults::{Fault, Harm, Thorough, faults, faults_of};
pub use goldens::{Goldens, most_rounds};
pub use listed::assert_all_listed;
pub use pair::{Side, options, side, try_two_party, two_party, two_party_over};
pub use replay::{Replay, Script, keep_script};
pub use suite::{Depth, SUITE, TRIAL, is_in_use, tried};
pub use timing::{Comparison, DIFFERS, DIFFERS_BEYOND_DOUBT, Times};
pub use transcript::{BLESS, Recording, Transcript, assert_uniform, check_golden, golden, record, transcript_of};
pub use trials::Trials;
