//! `vesica log`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};
use vesica::party::transport::tls::Day;

/// `vesica log`.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct LogArgs {
    /// What to do with the log.
    #[command(subcommand)]
    pub command: LogCommand,
}

const EXAMPLES: &str = "\
Examples:
  Verify your log, and note how far it is:
    vesica log verify
  Look whether it still begins with the lines that it had when you noted that:
    vesica log verify --noted 12:5b1f...
  Make a page of it for whoever audits you:
    vesica log show --html runs.html
  Find runs of which your partner's log says something else than yours:
    vesica log compare runs.log theirs.log --signer acme
  Compare those of one year, where one of you began the log in its course:
    vesica log compare runs.log theirs.log --signer acme --from 2026-04-01 --to 2026-12-31
docs/log.md says what a log shows, and what it cannot show.";

/// What to do with a log.
#[derive(Debug, Subcommand)]
pub enum LogCommand {
    /// Verify each line's hash and signature, and that no line is missing at the end
    Verify(VerifyArgs),
    /// Show the runs of a log, oldest first, with queries and conversations, once it is verified
    Show(ShowArgs),
    /// Compare two partners' logs, run by run; also those of a server and a client
    Compare(CompareArgs),
}

impl LogCommand {
    /// Whether the result is to be JSON.
    pub fn json(&self) -> bool {
        match self {
            Self::Verify(args) => args.json,
            Self::Show(args) => args.json,
            Self::Compare(args) => args.json,
        }
    }
}

/// `vesica log verify`.
#[derive(Debug, Args)]
pub struct VerifyArgs {
    /// The log [default: your default log]
    #[arg(value_hint = ValueHint::FilePath)]
    pub file: Option<PathBuf>,
    /// How far the log was when you noted it, as `vesica log verify` prints it: refuse a log that does not begin with
    /// the lines that it had then
    #[arg(long, value_name = "LINES:HASH")]
    pub noted: Option<String>,
    /// A public key that may have signed the log: a partner's name in your file of partners, a .pub file, or its line.
    /// Repeat it for further keys; lines that another key has signed are refused [default: any key, which is printed]
    #[arg(long, value_name = "NAME|FILE|LINE")]
    pub signer: Vec<String>,
    /// Print the result as one JSON object
    #[arg(long)]
    pub json: bool,
}

/// `vesica log show`.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// The log [default: your default log]
    #[arg(value_hint = ValueHint::FilePath)]
    pub file: Option<PathBuf>,
    /// Write one page of HTML here, instead of printing text; - for standard output. It needs nothing from elsewhere,
    /// runs no script, and can be printed
    #[arg(long, value_name = "PAGE.html", conflicts_with = "json")]
    pub html: Option<String>,
    /// A public key that may have signed the log, as for `verify`; repeat it for further keys [default: any key, which
    /// is shown]
    #[arg(long, value_name = "NAME|FILE|LINE")]
    pub signer: Vec<String>,
    /// Replace an existing page
    #[arg(long, requires = "html")]
    pub force: bool,
    /// Print the lines as one JSON object
    #[arg(long)]
    pub json: bool,
}

/// `vesica log compare`.
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// Your log
    #[arg(value_hint = ValueHint::FilePath)]
    pub ours: PathBuf,
    /// Your partner's log, with the file .head beside it
    #[arg(value_hint = ValueHint::FilePath)]
    pub theirs: PathBuf,
    /// A public key that may have signed your partner's log, as for `verify`; repeat it for further keys [default: any
    /// key]
    #[arg(long, value_name = "NAME|FILE|LINE")]
    pub signer: Vec<String>,
    /// Compare runs from this day of UTC on, by the clock of either side
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub from: Option<Day>,
    /// Compare runs up to this day of UTC, with this day
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub to: Option<Day>,
    /// Print the result as one JSON object
    #[arg(long)]
    pub json: bool,
}
