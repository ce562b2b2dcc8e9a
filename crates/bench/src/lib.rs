//! The benchmark harness: two processes, medians, bytes, memory.
//!
//! The parent starts two children (the command is passed in), each of which plays one role over loopback TCP and lives through all
//! repeats. For each repeat the children connect and make their inputs, the parent reads its clock and lets both go; the clock stops
//! when the later child has its output. Children and parent read the same monotonic clock. Outputs are checked after it stopped.
//! Whole commands, from file to file, are timed from outside.
#![forbid(unsafe_code)]

mod child;
mod clock;
mod commands;
mod inputs;
mod parent;
mod report;
mod settings;
mod spread;
mod task;

pub use child::{Ends, play};
pub use commands::{CommandsReport, KeyBytes, whole_commands};
pub use parent::{in_process, two_processes};
pub use report::{PhaseFigures, Report};
pub use settings::{Network, Settings};
pub use spread::Spread;

/// Why a benchmark gave no figures.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// The settings make no sense, or the protocol refuses them.
    #[error(transparent)]
    Unsupported(#[from] vesica_structures::facts::Unsupported),
    /// A party failed.
    #[error("the {role} failed: {fault}")]
    Party {
        /// Which one.
        role: vesica_party::Role,
        /// What it said.
        fault: String,
    },
    /// A child could not be started or spoken to.
    #[error("could not run the two parties: {0}")]
    Process(#[from] std::io::Error),
    /// A child said what the parent does not understand.
    #[error("a party's report is unreadable: {0}")]
    Report(#[from] serde_json::Error),
}
