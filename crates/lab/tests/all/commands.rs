//! Every flag that the pages on benchmarks and the help of `bench` name exists.

#[path = "../../../cli/tests/all/commands/flags.rs"]
mod flags;

use std::fs;
use std::path::Path;

/// The pages, from the top of the tree.
const PAGES: [&str; 2] = ["docs/benchmarks.md", "docs/tasks.md"];

/// The subcommands whose flags they name.
const HELPS: [&str; 13] = [
    "receive",
    "send",
    "serve",
    "query",
    "check",
    "plan",
    "protocols",
    "bench",
    "bench block",
    "bench suite",
    "bench compare",
    "bench report",
    "bench diff",
];

fn page(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)).expect("a page")
}
