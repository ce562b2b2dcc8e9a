//! The command line's grammar and its help.

mod brief;
mod identity;
mod log;
pub mod places;
mod plan;
mod policy;
mod relay;
mod run;
mod service;
mod sides;
mod task;
pub mod values;

use std::path::PathBuf;

use clap::{ArgMatches, Args, Command as Grammar, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

pub use brief::{Brief, shorten};
pub use identity::{IdentityArgs, IdentityCommand};
pub use log::{CompareArgs, LogArgs, LogCommand, ShowArgs, VerifyArgs};
pub use plan::PlanArgs;
pub use policy::{PolicyArgs, PolicyCheckArgs, PolicyCommand, PolicySignArgs};
pub use relay::{RelayArgs, RelayCommand, TicketArgs};
pub use run::{ConfigArgs, EitherSide, InitArgs, RoleName, RunArgs, flags_of};
pub use service::{LogName, QueryArgs, ServeArgs};
pub use sides::{ENDS, ReceiveArgs, SendArgs, SharedArgs, TableArgs};
pub use task::{TaskArgs, items};
pub use values::{Columns, JoinName, ProgressName, columns, count, delimiter};

use crate::program;

const ABOUT: &str = "Find the rows that two private tables share; by default all other keys stay private";

const LONG_ABOUT: &str = "\
Find the rows that two private tables share; by default all other keys stay private.

Two organisations each run vesica on their own table. One side runs `receive`: it gets its own rows whose keys its \
partner has. The other side runs `send`: it does not learn which keys match. Each side learns how many distinct keys \
the other has, and of which kind they are (text, dates, integers). There is no third party.

With --task, the receiver gets something else: the sender's keys that it does not have itself (a union); or only numbers \
about the common keys, or about the keys of both tables together (how many, sums of columns); or one half of a result, \
which says nothing without the sender's half (shares).";

const AFTER_LONG: &str = "\
First steps:
  vesica demo                              run a whole join on this machine
  vesica identity new --out us.key         make a key pair; hand us.pub to your partner
  vesica check ours.csv --key email        inspect a key column before you join on it
  vesica plan --sender-items 1e6 --receiver-items 1e6   predict time, traffic and memory of a run
  vesica receive --help                    see examples of joins
  vesica init --output job.toml            write an example of a job file, for `vesica run`

Exit codes:
  0 success   2 usage   3 input   4 output   5 the partner is absent   6 identity   7 the two sides are configured \
                          differently
  8 the partner misbehaved   9 the partner reported a failure   10 link or time limit   11 refused or unsupported   70 \
                          internal
  129 SIGHUP   130 SIGINT   143 SIGTERM";

/// The whole command line.
#[derive(Debug, Parser)]
#[command(name = "vesica", version, about = ABOUT, long_about = LONG_ABOUT, after_long_help = AFTER_LONG, max_term_width = 110)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Write more on standard error
    ///
    /// -vv writes still more. Neither writes a key of your table.
    #[arg(short, long, action = clap::ArgAction::Count, global = true, display_order = 900)]
    pub verbose: u8,
}

impl Cli {
    /// The grammar of the program of this process, with its short help.
    pub fn grammar() -> Grammar {
        let program = program::running();
        let additions = program.additions.iter().map(|addition| addition.grammar());
        shorten(Self::command().name(program.name), brief::BRIEFS).subcommands(additions)
    }

    /// The command line that these matches are of.
    ///
    /// # Errors
    /// If it is no command line of ours.
    pub fn of_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Self::from_arg_matches(matches).map_err(|error| error.format(&mut Self::grammar()))
    }
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Learn which rows of your table your partner has too
    Receive(Box<ReceiveArgs>),
    /// Let your partner learn which of its rows you have too
    Send(Box<SendArgs>),
    /// Run a job: a file with the settings of `receive` or `send`, which both sides can share
    Run(Box<RunArgs>),
    /// Print an example of a job file
    Init(InitArgs),
    /// Print each setting of a run and where it comes from. Sends nothing
    Config(Box<ConfigArgs>),
    /// Keep answering many clients about your table. A client learns which rows of its own small table
    /// have a key that is in your table too
    Serve(Box<ServeArgs>),
    /// Learn which rows of your small table a server has too
    Query(Box<QueryArgs>),
    /// Run a relay, at which two sides meet that can only dial, or make a ticket for one
    Relay(Box<RelayArgs>),
    /// Make or show the key pair by which your partner recognises you, replace it, or change its passphrase
    Identity(IdentityArgs),
    /// Show what a receipt says, and check its two signatures
    Receipt(ReceiptArgs),
    /// Verify, show and compare logs of runs
    Log(LogArgs),
    /// Explain what may be done with a partner, and try a job against that
    Policy(PolicyArgs),
    /// Run a whole join on this machine: two tables, two processes, TLS
    Demo(DemoArgs),
    /// Inspect the key columns of a table: nulls, duplicates, what normalisers make of the keys. Or say
    /// why two tables of yours do not match. Sends nothing
    Check(Box<CheckArgs>),
    /// Predict time, traffic, memory and price of a run for each protocol, and which one `auto`
    /// chooses. Sends nothing
    Plan(PlanArgs),
    /// List all protocols with their security, assumptions and leakage
    Protocols(ProtocolsArgs),
    /// Check that this machine computes correctly: AES against its published vector, fast
    /// multiplication against the portable code, and a small run of each protocol
    Selftest(SelftestArgs),
    /// Print a completion script for your shell
    Completions(CompletionsArgs),
    /// Print the manual page
    Man(ManArgs),
}

impl Command {
    /// How progress is shown, by commands that show it.
    pub fn progress(&self) -> Option<ProgressName> {
        match self {
            Self::Receive(receive) => Some(receive.shared.progress),
            Self::Send(send) => Some(send.shared.progress),
            Self::Query(query) => Some(query.progress),
            Self::Selftest(selftest) => Some(selftest.progress),
            _ => None,
        }
    }

    /// Whether the command's result is to be JSON.
    pub fn json(&self) -> bool {
        match self {
            Self::Receive(receive) => receive.shared.json,
            Self::Send(send) => send.shared.json,
            Self::Query(query) => query.json,
            Self::Check(check) => check.json,
            Self::Receipt(receipt) => receipt.json,
            Self::Log(log) => log.command.json(),
            Self::Identity(identity) => identity.command.json(),
            Self::Policy(policy) => policy.command.json(),
            Self::Plan(plan) => plan.json,
            Self::Protocols(protocols) => protocols.json,
            Self::Selftest(selftest) => selftest.json,
            Self::Run(_)
            | Self::Config(_)
            | Self::Init(_)
            | Self::Serve(_)
            | Self::Relay(_)
            | Self::Demo(_)
            | Self::Completions(_)
            | Self::Man(_) => false,
        }
    }
}

const RECEIPT_HELP: &str = "\
Examples:
  vesica receipt run.json
  vesica receipt run.json --peer them.pub --json
  vesica receipt run.json --html run.html

Vesica checks the signatures with the two keys that the receipt itself names. It cannot know whose keys these are: \
                            compare the fingerprints, or name a key with --peer. The output keeps \
                            apart what both sides signed and what this release of Vesica says of the protocol.

Exit code 0: both signatures are valid. 6: one is missing or wrong, or the key of --peer is \
                            not one of the two.";

/// `vesica receipt`.
#[derive(Debug, Args)]
#[command(after_long_help = RECEIPT_HELP)]
pub struct ReceiptArgs {
    /// The file that either side of a run has written with --receipt
    pub file: PathBuf,
    /// A public key that the receipt must name: a partner's name in your file of partners, a .pub file, or
    /// its line
    #[arg(long, value_name = "NAME|FILE|LINE")]
    pub peer: Option<String>,
    /// A partner: check that your policy for it was in this run what it is now
    #[arg(long, value_name = "NAME|FILE|LINE")]
    pub policy: Option<String>,
    /// Of a run on a cluster: the folder `commits` that either side's driver left. Checks that both sides
    /// signed what each wave of this run came to, that each bucket counts once, and that there are as many
    /// attempts as in the receipt
    #[arg(long, value_name = "FOLDER")]
    pub commits: Option<PathBuf>,
    /// Write one page of HTML here, instead of printing text; - for standard output. It needs nothing from
    /// elsewhere, runs no script, and can be printed
    #[arg(long, value_name = "PAGE.html", conflicts_with = "json")]
    pub html: Option<String>,
    /// Replace an existing page
    #[arg(long, requires = "html")]
    pub force: bool,
    /// Print the receipt as one JSON object
    #[arg(long)]
    pub json: bool,
}

/// `vesica demo`.
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Keep the tables, keys and results in this folder, which must not exist, and print two
    /// commands with which you can make the join yourself
    #[arg(long, value_name = "FOLDER")]
    pub keep: Option<PathBuf>,
}

const CHECK_EXAMPLES: &str = "\
Examples:
  Look at a key column:
    vesica check customers.csv --key email --normalise email=email
  Look at the columns that a run would take beside the key, too:
    vesica check sales.csv --key customer --task sum --payload amount --scale amount=2
  Compare two tables of yours (test data), and learn which normalisers make their keys match:
    vesica check ours.csv theirs.parquet --key id --second-key customer

The output shows keys of your own table. Do not pass it on; --show-keys 0 leaves values out.";

/// `vesica check`.
#[derive(Debug, Args)]
#[command(after_long_help = CHECK_EXAMPLES)]
pub struct CheckArgs {
    /// The table: CSV or JSON lines (also packed with gzip, zstd or bzip2), Parquet or Arrow; a folder or a
    /// pattern of such files; - for standard input
    pub file: String,
    /// A second table of yours, to compare with the first: the output then says how many keys both tables
    /// have, and which normalisers make more of them match
    pub second: Option<String>,
    /// A key column. Repeat the flag for a key of several columns; their order counts
    #[arg(long, value_name = "COLUMN", required = true)]
    pub key: Vec<String>,
    /// Normalise a key column, as for receive and send
    #[arg(long, value_name = "COLUMN=NAME[,NAME]")]
    pub normalise: Vec<String>,
    /// What words for a missing value are, as for receive and send; in both tables
    #[arg(long, value_name = "keep|WORD,...", value_parser = columns, allow_hyphen_values = true)]
    pub null_words: Vec<Columns>,
    /// Another key, by which rows match as well as by --key, as for receive and send
    #[arg(long, value_name = "COLUMN[,COLUMN]", value_parser = columns)]
    pub or_key: Vec<Columns>,
    /// A key column of the second table [default: those of --key]
    #[arg(long, value_name = "COLUMN", requires = "second")]
    pub second_key: Vec<String>,
    /// Another key of the second table [default: those of --or-key, if --second-key is not given]
    #[arg(long, value_name = "COLUMN[,COLUMN]", value_parser = columns, requires = "second")]
    pub second_or_key: Vec<Columns>,
    /// Normalise a key column of the second table [default: as the first, if --second-key is not given]
    #[arg(long, value_name = "COLUMN=NAME[,NAME]", requires = "second")]
    pub second_normalise: Vec<String>,
    /// How many of the first keys to show, as your table has them and as they are compared; 0 shows no
    /// value of your table
    #[arg(long, value_name = "COUNT", default_value_t = 5)]
    pub show_keys: usize,
    /// Check the columns of --payload and --group-by as a run of this task would
    #[arg(long, value_name = "TASK", default_value = vesica::task::DEFAULT)]
    pub task: String,
    /// On which side you would run
    #[arg(long, value_enum, default_value = "send")]
    pub side: SideName,
    /// Columns that a run would take beside the key, as for receive and send
    #[arg(long, value_name = "COLUMN[,COLUMN]", value_parser = columns)]
    pub payload: Vec<Columns>,
    /// What to do with rows of one key, as for receive and send
    #[arg(long, value_name = "refuse|first|sum", default_value = "refuse", value_parser = ["refuse", "first", "sum"])]
    pub payload_duplicates: String,
    /// Digits behind the point of a column, as for receive and send
    #[arg(long, value_name = "COLUMN=DIGITS")]
    pub scale: Vec<String>,
    /// The range of a column, as for receive and send
    #[arg(long, value_name = "COLUMN=LEAST..MOST", allow_hyphen_values = true)]
    pub clamp: Vec<String>,
    /// The column of groups, as for receive
    #[arg(long, value_name = "COLUMN")]
    pub group_by: Option<String>,
    /// The format, if neither name nor content shows it
    #[arg(long, value_name = "csv|jsonl|parquet|arrow|arrow-stream")]
    pub format: Option<String>,
    /// The CSV delimiter, one ASCII character or `tab`
    #[arg(long, value_name = "CHARACTER")]
    pub delimiter: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// A side of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SideName {
    /// The receiver.
    Receive,
    /// The sender.
    Send,
}

/// `vesica protocols`.
#[derive(Debug, Args)]
pub struct ProtocolsArgs {
    /// All that is known of the protocols of this name: an id, another name of it, an id with choices, such as
    /// prty20:okvs=band, or the key of a paper, such as KKRT16. Or a task: a line for each of its protocols
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// Print an overview instead, with the security against either side, the rounds and the work of each
    /// protocol. "task" groups the protocols by what they compute. "map" groups them by how they turn items
    /// into values that both sides can compare. "compare" groups them by how they then find
    /// the values that both sides have
    #[arg(long, value_enum, hide_possible_values = true, value_name = "task|map|compare")]
    pub by: Option<GroupingName>,
    /// Print JSON: an array of objects with id, aliases, task, map, compare, modes and status
    #[arg(long)]
    pub json: bool,
}

/// What puts protocols into groups.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum GroupingName {
    /// What a protocol computes.
    Task,
    /// How it maps sets.
    Map,
    /// How it compares what was mapped.
    Compare,
}

/// `vesica selftest`.
#[derive(Debug, Args)]
pub struct SelftestArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// How to show progress on standard error
    #[arg(long, value_enum, default_value = "auto", env = "VESICA_PROGRESS", hide_env_values = true)]
    pub progress: ProgressName,
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
    /// Write a page for each command into this folder. Without this, the main page goes to standard
    /// output
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
}
