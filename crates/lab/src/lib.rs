//! The program of researchers, `vesica-lab`: the command line of `vesica` with the protocols of papers, and the
//! benchmark harness: two processes, medians, bytes and memory.
//!
//! - [`install`] adds the protocols of [`vesica_papers`] to those of the product. [`cli`] are the commands that this
//!   program has beside those of `vesica`.
//!
//! - [`two_processes`] starts two children, which [`play`] one role each over loopback TCP and live
//!   through all repeats. [`in_process`] runs both roles on two threads. [`whole_commands`] times
//!   `receive` and `send` from file to file.
//! - [`Settings`] say what to measure, over which [`Network`]. [`Report`] and [`CommandsReport`] hold
//!   the figures. [`report_page`] shows recorded ones.
//!
//! - [`suite`] makes many runs and records them; [`diff`] compares two recordings, and [`papers`]
//!   sets recordings beside tables of papers. [`programs`] runs programs of others, CSV to CSV.
//! - [`undo_all`] takes away what running benchmarks have left on the machine, when a signal ends the
//!   process.
//!
//! For each repeat the children connect and make their inputs, the parent reads its clock and
//! releases both. The clock stops when the later child has its output. Children and parent read the
//! same monotonic clock. Outputs are checked after the clock has stopped.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod blocks;
mod child;
pub mod cli;
mod clock;
mod commands;
pub mod diff;
mod executable;
mod netns;
pub mod papers;
mod parent;
mod plan;
pub mod programs;
mod report;
pub mod report_page;
mod settings;
mod spread;
pub mod suite;
mod undo;

pub use child::{Ends, play};
pub use commands::{CommandsReport, KeyBytes, whole_commands};
pub use parent::{in_process, two_processes};
pub use report::{PhaseFigures, Report};
pub use settings::{Network, Settings};
pub use spread::Spread;
pub use undo::undo_all;

use vesica::rows::{self, Added};

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

/// Adds the protocols of papers to those of the product. To be called before anything asks for a protocol; calling it
/// again does nothing.
pub fn install() {
    let added = Added {
        rows: vesica_papers::registry::rows(),
        costs: include_str!("plan/costs.txt"),
        footprints: include_str!("plan/footprints.txt"),
    };
    // Another thread of a test may have been here before.
    let _ = rows::add(added);
}
