//! The command line's grammar and its help.

mod bench;
mod join;
mod plan;
mod task;
mod values;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

pub use bench::{BenchArgs, BenchPartyArgs, PartyName};
pub use join::{JoinArgs, ReceiveArgs, SendArgs};
pub use plan::PlanArgs;
pub use task::items;
pub use values::{Columns, JoinName, ProgressName, delimiter};

const ABOUT: &str = "Find the rows that two private tables share, and reveal nothing else";

const LONG_ABOUT: &str = "\
Find the rows that two private tables share, and reveal nothing else.

Two organisations each run vesica on their own table. One `receive`s: it ends with its own rows whose keys the other one has. The other \
one `send`s: it learns nothing but the number of the receiver's distinct keys. No third party is involved. With --task the receiver learns \
only numbers about the common rows (how many, sums of the partner's columns), or both get secret shares to compute on.";

const AFTER_LONG: &str = "\
First steps:
  vesica demo                              the whole thing on this machine, in one command
  vesica identity new --out us.key         make a key pair; hand us.pub to your partner
  vesica check ours.csv --key email        look at a key column before you join on it
  vesica plan --sender-items 1e6 --receiver-items 1e6   what a join would take
  vesica receive --help                    examples of joins

Exit codes:
  0 success   2 usage   3 input   4 output   5 the peer is absent   6 identity   7 the two sides are configured differently
  8 the peer misbehaved   9 the peer reported a failure   10 link or time limit   11 refused or unsupported   70 internal
  129 SIGHUP   130 SIGINT   143 SIGTERM";

/// The whole command line.
#[derive(Debug, Parser)]
#[command(name = "vesica", version, about = ABOUT, long_about = LONG_ABOUT, after_long_help = AFTER_LONG, max_term_width = 110)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Say more on standard error (never a key); twice for even more
    #[arg(short, long, action = clap::ArgAction::Count, global = true)]
    pub verbose: u8,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Learn which rows of your table the partner has too
    Receive(Box<ReceiveArgs>),
    /// Let the partner learn which of its rows you have too
    Send(Box<SendArgs>),
    /// Make and show the key pair by which the partner knows you
    Identity(IdentityArgs),
    /// Show what a receipt says, and check both signatures under it
    Receipt(ReceiptArgs),
    /// Run a whole join on this machine: two tables, two processes, TLS
    Demo(DemoArgs),
    /// Look at the key columns of a table: nulls, duplicates, what normalisers would change. Sends nothing
    Check(CheckArgs),
    /// What a join would take: time, bytes, memory and money for each protocol, and which one `auto` chooses. Sends nothing
    Plan(PlanArgs),
    /// List all protocols with their security, assumptions and leakage
    Protocols(ProtocolsArgs),
    /// Check that this machine computes correctly: kernels, official vectors, a small run of each protocol
    Selftest(SelftestArgs),
    /// Measure a protocol: two processes, a barrier, medians, bytes, memory
    Bench(BenchArgs),
    /// One party of a benchmark, started by `bench`
    #[command(hide = true)]
    BenchParty(BenchPartyArgs),
    /// Print a completion script for your shell
    Completions(CompletionsArgs),
    /// Print the manual page
    Man(ManArgs),
}

impl Command {
    /// Whether the command's result is to be JSON.
    pub fn json(&self) -> bool {
        match self {
            Self::Receive(receive) => receive.shared.json,
            Self::Send(send) => send.shared.json,
            Self::Check(check) => check.json,
            Self::Receipt(receipt) => receipt.json,
            Self::Plan(plan) => plan.json,
            Self::Protocols(protocols) => protocols.json,
            Self::Selftest(selftest) => selftest.json,
            Self::Bench(bench) => bench.json,
            Self::BenchParty(_) | Self::Identity(_) | Self::Demo(_) | Self::Completions(_) | Self::Man(_) => false,
        }
    }
}

/// `vesica identity`.
#[derive(Debug, Args)]
pub struct IdentityArgs {
    /// What to do with it.
    #[command(subcommand)]
    pub command: IdentityCommand,
}

/// What to do with an identity.
#[derive(Debug, Subcommand)]
pub enum IdentityCommand {
    /// Make a key pair: NAME.key (private, mode 0600, stays here) and NAME.pub (one line, for the partner)
    New {
        /// The private key file; the public line goes beside it, with the ending .pub
        #[arg(long, value_name = "NAME.key")]
        out: PathBuf,
        /// A comment at the end of the public line [default: the file's name]
        #[arg(long)]
        comment: Option<String>,
    },
    /// Print the public line and the fingerprint that you and your partner compare
    Show {
        /// A private key file [default: your default identity, made if there is none]
        #[arg(long, value_name = "FILE", conflicts_with = "peer")]
        identity: Option<PathBuf>,
        /// A partner's .pub file, or its line
        #[arg(long, value_name = "FILE|LINE")]
        peer: Option<String>,
    },
}

const RECEIPT_HELP: &str = "\
Examples:
  vesica receipt run.json
  vesica receipt run.json --peer them.pub --json

The signatures are checked with the two keys that the receipt itself names. Whose keys these are is for you to know: compare the fingerprints,
or name a key with --peer. Exit code 0: both signatures are valid. 6: one is missing or wrong, or the key of --peer is not one of the two.";

/// `vesica receipt`.
#[derive(Debug, Args)]
#[command(after_long_help = RECEIPT_HELP)]
pub struct ReceiptArgs {
    /// A file that --receipt of a join wrote, on either side
    pub file: PathBuf,
    /// A public key that must be one of the two: a .pub file, or its line
    #[arg(long, value_name = "FILE|LINE")]
    pub peer: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `vesica demo`.
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Keep the tables, keys and results in this folder, which must not exist
    #[arg(long, value_name = "FOLDER")]
    pub keep: Option<PathBuf>,
}

/// `vesica check`.
#[derive(Debug, Args)]
#[command(after_long_help = "Example:\n  vesica check customers.csv --key email --normalise email=email")]
pub struct CheckArgs {
    /// CSV, Parquet or Arrow; - for standard input
    pub file: String,
    /// A key column; several make one key, in this order
    #[arg(long, value_name = "COLUMN", required = true)]
    pub key: Vec<String>,
    /// Normalisers of a key column, as for receive and send
    #[arg(long, value_name = "COLUMN=NAME[,NAME]")]
    pub normalise: Vec<String>,
    /// Format, where name and content do not say it
    #[arg(long, value_name = "csv|parquet|arrow|arrow-stream")]
    pub format: Option<String>,
    /// The CSV delimiter, one ASCII character or `tab`
    #[arg(long, value_name = "CHARACTER")]
    pub delimiter: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `vesica protocols`.
#[derive(Debug, Args)]
pub struct ProtocolsArgs {
    /// Print JSON: an array of objects with id, aliases, task, modes and status
    #[arg(long)]
    pub json: bool,
}

/// `vesica selftest`.
#[derive(Debug, Args)]
pub struct SelftestArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `vesica completions`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell
    pub shell: Shell,
}

/// `vesica man`.
#[derive(Debug, Args)]
pub struct ManArgs {
    /// Write one page a command into this folder instead of the main page to standard output
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
}
