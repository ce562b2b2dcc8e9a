//! Flags of `bench`.

use std::net::SocketAddr;
use std::path::PathBuf;

use crate::{KeyBytes, Network, blocks, papers};
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::{Args, Subcommand, ValueEnum};

use vesica::party::Security;
use vesica_cli::tools::{ProgressName, TaskArgs, count};

use super::report_args::ReportArgs;

const EXAMPLES: &str = "\
Examples:
  vesica-lab bench --protocol vole-fast --sender-items 1048576 --receiver-items 1048576
  vesica-lab bench --protocol rr22 --security semi-honest --link 100mbit,40ms --repeat 3 --json
  vesica-lab bench --task sum --security semi-honest --columns 2 --groups 4
  vesica-lab bench --commands --key-bytes 8..64
  vesica-lab bench suite --paper psibench --out runs.jsonl
  vesica-lab bench compare psibench runs.jsonl
  vesica-lab bench report bench/runs/2026-11-22-papers-xeon-cascade-lake-2core --html page.html

Two processes play the two parties over loopback TCP. They run once to warm up (unless --cold), and then as often as --repeat says. \
                        The clock starts when both have a connection and inputs, and stops when both have their \
                        outputs. Every repeat makes a fresh set-up. Outputs are checked after the clock has stopped.

With --commands, the clock runs from the start of `receive` and `send` to their end, on two CSV files with one row for \
                        each item.";

/// `vesica-lab bench`.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub struct BenchArgs {
    /// What to do instead of measuring a task once.
    #[command(subcommand)]
    pub command: Option<BenchCommand>,
    /// Permit a broken protocol, for research
    #[arg(long)]
    pub allow_broken: bool,
    /// What is computed.
    #[command(flatten)]
    pub task: TaskArgs,
    /// The protocol: `auto`, or an id that `vesica protocols` lists; choices follow a colon, as in
    /// rr22:okvs=band,tags=sorted
    #[arg(long, value_name = "auto|ID", default_value = "auto")]
    pub protocol: String,
    /// Items of the sender
    #[arg(long, value_name = "N", value_parser = count, default_value = "1048576")]
    pub sender_items: u64,
    /// Items of the receiver
    #[arg(long, value_name = "N", value_parser = count, default_value = "1048576")]
    pub receiver_items: u64,
    /// Items that both have [default: half of the smaller set]
    #[arg(long, value_name = "N", value_parser = count)]
    pub overlap: Option<u64>,
    /// Bytes of an item, 16 or more. Items of 16 bytes are random and are used as they are; longer
    /// ones are hashed first, and the measured time includes that
    #[arg(long, value_name = "BYTES", default_value_t = 16)]
    pub item_bytes: usize,
    /// The link. `loopback` and `lan` are loopback TCP as it is. With a rate and a round trip, such as
    /// `100mbit,40ms`, Vesica itself delays what is sent. With the prefix `netns:`, such as
    /// `netns:100mbit,0ms`, the kernel does so, between two network namespaces; this needs root
    #[arg(long, value_name = "LINK", default_value = "loopback")]
    pub link: Network,
    /// How many threads compute on each side
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub threads: usize,
    /// How many runs to measure, after the one to warm up
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub repeat: usize,
    /// Skip the warm-up, for runs over a slow link
    #[arg(long)]
    pub cold: bool,
    /// Time whole commands: `receive` and `send` on two CSV files over TLS, with as many threads as
    /// they take by default
    #[arg(long, conflicts_with_all = ["in_process", "link", "item_bytes", "payload_bytes", "threads"])]
    pub commands: bool,
    /// With --commands: bytes of a key, or LEAST..MOST for lengths in between
    #[arg(long, value_name = "BYTES", default_value = "24", requires = "commands")]
    pub key_bytes: KeyBytes,
    /// Run both parties in this process; figures of memory then count both
    #[arg(long)]
    pub in_process: bool,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// What `vesica-lab bench` does besides measuring one run of a task.
#[derive(Debug, Subcommand)]
pub enum BenchCommand {
    /// Measure a building block: oblivious transfers, an OPPRF, a table of keys and values, a filter
    Block(BlockArgs),
    /// Make all runs that a file asks for, and record them
    Suite(SuiteArgs),
    /// Compare two recordings of the same runs
    Diff(DiffArgs),
    /// Show the tables of a paper with recorded runs of ours beside them
    Compare(CompareArgs),
    /// Show recorded runs as a page of HTML, a table of Markdown, or plots
    Report(ReportArgs),
}

const SUITE_EXAMPLES: &str = "\
Examples:
  vesica-lab bench suite bench/suites/threads.toml --out threads.jsonl
  vesica-lab bench suite bench/suites/open-division.toml --out open-division.jsonl
  vesica-lab bench suite --paper ltsxq26 --out bench/runs/2026-11-30-us/runs.jsonl

A suite file says the suite's name. Its tables [[runs]] list protocols, sizes (\"2^16\", or \"2^20 x 2^10\" for sender and \
                              receiver), links, threads and modes of security; each combination is a run, and `repeat` says \
                              how often it is made. The recording is of one machine \
                              and one suite, with one JSON object on each line. When the recording is there already, \
                              only the runs that it lacks are made: so a recording that was stopped can go on. A \
                              protocol that does not serve a size or a mode is recorded as refused.

A suite file may also have tables [[programs]], to measure other programs, from two CSV files to a third. \
                              bench/suites/open-division.toml has an example, and describes these tables. A program that fails, hangs or writes a wrong output is \
                              recorded as such, and the command ends with an error after all runs.";

const BLOCK_EXAMPLES: &str = "\
Examples:
  vesica-lab bench block --task random-ot --protocol ot-silent --items 1048576
  vesica-lab bench block --task opprf --items 1048576 --link 100mbit,80ms
  vesica-lab bench block --task okvs --protocol band --items 1048576 --json

Without --protocol, each of the block is measured. Random OTs, random tables, VOLE and equality tests are as many as --items says. The sender of an \
                              OPPRF programs as many keys, and the receiver asks for as many, of which it has half in \
                              common with the sender. Of an OKVS or a filter, the sender makes one for its items and \
                              sends it, and the receiver looks up as many items. Of a group, the sender hashes its \
                              items to it, multiplies and sends them, and the receiver multiplies. Outputs are checked after the clock \
                              has stopped.";

const DIFF_EXAMPLES: &str = "\
Examples:
  vesica-lab bench diff before.jsonl after.jsonl
  Fail if a run has become more than 5 % slower beyond doubt:
    vesica-lab bench diff before.jsonl after.jsonl --fail-above 5%

A ratio is the time in the second recording over the time in the first. The interval beside it holds the true ratio with \
                             95 % confidence, if nothing else on the machine has changed. It needs two repeats or more \
                             of each run. With --fail-above 5%, the command fails if an interval begins above 1.05. \
                             Programs that failed in one of the recordings are listed as not compared.";

const COMPARE_EXAMPLES: &str = "\
Examples:
  vesica-lab bench suite --paper psibench --out runs.jsonl
  vesica-lab bench compare psibench runs.jsonl
  vesica-lab bench compare psibench runs.jsonl --markdown > psibench.md
  vesica-lab bench compare cm25
  vesica-lab bench compare --all bench/runs/2026-11-30-us

Each number of the paper stands beside ours with the ratio of ours over theirs. Machine, network and threads of both \
                                stand above each table. A number for which no recording has a run is given as \"not \
                                measured\". If you \
                                name no recording, our bytes are computed from formulas, and our times are left out. If you name several recordings, \
                                each table is filled from one of them: the one that fills most of its cells.

A recording is made by `vesica-lab bench suite`; with `--paper KEY` it has all runs that this machine can make, and says why it has \
                                no others. `bench compare` leaves out runs with payloads.";

/// `vesica-lab bench suite`.
#[derive(Debug, Args)]
#[command(after_long_help = SUITE_EXAMPLES)]
pub struct SuiteArgs {
    /// The file that says what to measure
    #[arg(value_name = "FILE.toml", required_unless_present = "papers", conflicts_with = "papers")]
    pub file: Option<PathBuf>,
    /// Measure what the tables of these papers need, which `bench compare` shows. Runs that this machine cannot make are
    /// recorded as left out, with the reason
    #[arg(long = "paper", value_name = "KEY", value_parser = PossibleValuesParser::new(papers::KEYS), num_args = 1.., value_delimiter = ',')]
    pub papers: Vec<String>,
    /// With --paper: leave out a run that is expected to take more seconds
    #[arg(long, value_name = "SECONDS", default_value_t = papers::HOUR, requires = "papers")]
    pub at_most: f64,
    /// The recording to begin, or to go on with
    #[arg(long, value_name = "FILE.jsonl")]
    pub out: PathBuf,
    /// How to show progress on standard error
    #[arg(long, value_enum, default_value = "auto", env = "VESICA_PROGRESS", hide_env_values = true)]
    pub progress: ProgressName,
}

/// `vesica-lab bench block`.
#[derive(Debug, Args)]
#[command(after_long_help = BLOCK_EXAMPLES)]
pub struct BlockArgs {
    /// The block
    #[arg(long, value_name = "BLOCK", value_parser = PossibleValuesParser::new(blocks::names()))]
    pub task: String,
    /// A protocol or kind of the block [default: each of them]
    #[arg(long, value_name = "ID")]
    pub protocol: Option<String>,
    /// What the run must withstand
    #[arg(long, value_name = "MODE", default_value = "semi-honest", value_parser = PossibleValuesParser::new(["semi-honest", "malicious"]).map(|mode| match mode.as_str() {
        "malicious" => Security::Malicious,
        _ => Security::SemiHonest,
    }))]
    pub security: Security,
    /// How many transfers, tests, keys or items
    #[arg(long, value_name = "N", value_parser = count, default_value = "65536")]
    pub items: u64,
    /// The link, as `vesica-lab bench --link` takes it
    #[arg(long, value_name = "LINK", default_value = "loopback")]
    pub link: Network,
    /// How many threads compute on each side
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub threads: usize,
    /// How many runs to measure, after the one to warm up
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub repeat: usize,
    /// Skip the warm-up
    #[arg(long)]
    pub cold: bool,
    /// Print a JSON object for each protocol, one a line
    #[arg(long)]
    pub json: bool,
}

/// `vesica-lab bench diff`.
#[derive(Debug, Args)]
#[command(after_long_help = DIFF_EXAMPLES)]
pub struct DiffArgs {
    /// The recording to compare with: a file, or a folder with a runs.jsonl
    #[arg(value_name = "BEFORE")]
    pub before: PathBuf,
    /// The recording to compare: a file, or a folder with a runs.jsonl
    #[arg(value_name = "AFTER")]
    pub after: PathBuf,
    /// End with an error if a run has become slower by more than this, beyond doubt. Example: 5%
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub fail_above: Option<f64>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// `vesica-lab bench compare`.
#[derive(Debug, Args)]
#[command(after_long_help = COMPARE_EXAMPLES)]
pub struct CompareArgs {
    /// The paper: spot-light, ltsxq26, cssw25, cm25 or psibench
    #[arg(value_name = "KEY", required_unless_present = "all")]
    pub key: Option<String>,
    /// Show the tables of all five papers; no KEY is given then
    #[arg(long)]
    pub all: bool,
    /// Recorded runs of ours: files, or folders that have a runs.jsonl
    #[arg(value_name = "RUNS")]
    pub runs: Vec<PathBuf>,
    /// Print tables of Markdown
    #[arg(long, conflicts_with = "json")]
    pub markdown: bool,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Reads `5%` or `5` as 0.05.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim().parse::<f64>();
    number
        .ok()
        .filter(|number| (0.0..=1e6).contains(number))
        .map(|number| number / 100.0)
        .ok_or_else(|| "write a percentage such as 5%".into())
}

/// The role of a benchmark's child.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum PartyName {
    /// The sender
    Sender,
    /// The receiver
    Receiver,
}

/// `vesica-lab bench-party`.
#[derive(Debug, Args)]
pub struct BenchPartyArgs {
    /// Which party
    #[arg(long, value_enum)]
    pub role: PartyName,
    /// Where the receiver listens
    #[arg(long)]
    pub address: Option<SocketAddr>,
    /// The settings, as JSON
    #[arg(long)]
    pub settings: String,
}
