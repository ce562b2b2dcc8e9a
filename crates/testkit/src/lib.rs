//! Test harness for two-party code: pairs of channels, faulty and shaped links, golden transcripts.
#![forbid(unsafe_code)]

mod conformance;
mod faults;
mod listed;
mod pair;
mod tap;
mod transcript;
mod trials;

pub use conformance::{Run, Runnable, Sides, conformance, conformance_of, row, run_counted, run_over};
pub use faults::{Fault, Harm, Thorough, faults, faults_of};
pub use listed::assert_all_listed;
pub use pair::{Side, options, side, try_two_party, two_party, two_party_over};
pub use transcript::{BLESS, Recording, Transcript, assert_uniform, check_golden, golden, record, transcript_of};
pub use trials::{TRIAL, Trials};
