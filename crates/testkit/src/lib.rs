//! Test harness for two-party code: pairs of channels, faulty and shaped links, golden transcripts, a toy service.
#![forbid(unsafe_code)]

mod conformance;
mod faults;
pub mod insecure_lookup;
mod pair;
mod tap;
mod transcript;
mod trials;

pub use conformance::{Run, Runnable, Sides, conformance, conformance_of, row, run_counted, run_over};
pub use faults::{Fault, Harm, Thorough, faults, faults_of};
pub use pair::{Side, options, side, try_two_party, two_party, two_party_over};
pub use transcript::{BLESS, Recording, Transcript, assert_uniform, check_golden, golden, record, transcript_of};
pub use trials::{TRIAL, Trials};
