//! Tests of `vesica-lab` as its users meet it, and of its harness.

#[path = "all/bench.rs"]
mod bench;
#[path = "all/broken.rs"]
mod broken;
#[path = "all/browser.rs"]
mod browser;
#[path = "all/commands.rs"]
mod commands;
#[path = "all/comparisons.rs"]
mod comparisons;
#[path = "../../cli/tests/all/harness.rs"]
#[expect(dead_code, reason = "the tests of the product use all of it")]
mod harness;
#[path = "all/harness_runs.rs"]
mod harness_runs;
#[path = "all/namespaces.rs"]
mod namespaces;
#[path = "all/page.rs"]
mod page;
#[path = "all/programs.rs"]
mod programs;
#[path = "all/rows.rs"]
mod rows;
#[path = "all/suites.rs"]
mod suites;

/// The program that is tested.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_vesica-lab");
