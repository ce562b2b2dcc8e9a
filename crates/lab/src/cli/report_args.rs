//! Flags of `bench report`.

use std::path::PathBuf;

use clap::{ArgGroup, Args};

const HELP: &str = "\
Examples:
  vesica-lab bench report bench/runs/2026-11-22-papers-xeon-cascade-lake-2core --html page.html
  vesica-lab bench report bench/runs/2026-11-26-p* --html page.html --force
  vesica-lab bench report runs.jsonl --markdown > runs.md
  vesica-lab bench report runs.jsonl --svg plots

The page is one file without anything from elsewhere: it opens from a folder or a mail, and sends nothing. It has a table to \
                    sort and filter, plots of time against bytes, size and bandwidth, and a panel in which a reader \
                    sets the sizes, link and prices and sees what the recorded runs would take.

A file of runs has one JSON object a line: {\"name\":\"...\",\"run\":{...}}, where `run` is what `vesica-lab bench --json` printed. \
                    Lines of other kinds are passed over and counted; a malformed line is an error. The page also \
                    says on which machine runs were recorded. Files from `vesica-lab bench suite` name the machine in their \
                    first line; for other files, write the line `- processor: ...` into a README.md in the same folder. Times are compared within one recording only.";

/// `vesica-lab bench report`.
#[derive(Debug, Args)]
#[command(after_long_help = HELP, group = ArgGroup::new("form").required(true).multiple(true))]
pub struct ReportArgs {
    /// Recorded runs: files of one run a line, or folders that have a runs.jsonl
    #[arg(value_name = "RUNS", required = true)]
    pub runs: Vec<PathBuf>,
    /// Write the page here; - for standard output
    #[arg(long, value_name = "FILE", group = "form")]
    pub html: Option<String>,
    /// Print a table of Markdown
    #[arg(long, group = "form")]
    pub markdown: bool,
    /// Write plots of time against bytes and against size into this folder, as SVG
    #[arg(long, value_name = "FOLDER", group = "form")]
    pub svg: Option<PathBuf>,
    /// Replace existing files
    #[arg(long)]
    pub force: bool,
}
