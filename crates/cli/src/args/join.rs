//! Flags of `receive` and `send`.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgGroup, Args};

use super::values::{Columns, JoinName, ProgressName, SecurityName, columns, count, duration, size, threads};

const RECEIVE_EXAMPLES: &str = "\
Examples:
  Listen, learn which rows of ours.csv the partner has, and write them:
    vesica receive --input ours.csv --key email --output matches.csv --listen 0.0.0.0:7400 --identity us.key --peer them.pub
  The same without a firewall opening here (the partner listens):
    vesica receive --input ours.csv --key email --output matches.csv --connect partner.example:7400 --identity us.key --peer them.pub
  A key of three columns, the date in German notation, e-mails normalised on both sides:
    ... --key first --key last --key born --normalise 'born=date:%d.%m.%Y'
  The rows that did not match:
    ... --join difference
  Only how many keys are common, for each region of ours.csv that has at least 20 of them:
    ... --task cardinality --security semi-honest --group-by region --reveal-if-at-least 20
  The sum of a column of the partner's over the common keys, into a file of one number:
    ... --task sum --security semi-honest --output sum.csv
docs/tasks.md says what each task computes and reveals.";

const SEND_EXAMPLES: &str = "\
Examples:
  Connect and let the partner learn which of its rows are in theirs.parquet:
    vesica send --input theirs.parquet --key mail --connect host:7400 --identity them.key --peer us.pub
  Give two columns along with each match, and nothing of other rows:
    ... --payload segment,score
  Hide the exact number of keys:
    ... --pad-to 1e6
  Give only the sum of a column over the common keys, each value held between 0 and 500.00:
    ... --task sum --security semi-honest --payload amount --scale amount=2 --clamp amount=0..500
docs/tasks.md says what each task computes and reveals.";

/// `vesica receive`.
#[derive(Debug, Args)]
#[command(after_long_help = RECEIVE_EXAMPLES)]
pub struct ReceiveArgs {
    /// Where the result goes; - for standard output. Rows go by the name's ending (.csv, .txt, .csv.gz, .tsv, .parquet, .arrow, .feather, .arrows; without one as the input),
    /// numbers to .csv or .json, shares to .shares
    #[arg(long, value_name = "FILE")]
    pub output: String,
    /// Which own rows are the result
    #[arg(long, value_enum, default_value = "inner")]
    pub join: JoinName,
    /// intersect: insist on exactly these payload columns of the partner [default: take what it gives]. join-and-compute: your column of factors. shares: your columns to be
    /// shared. A name with a comma goes in double quotes: '"Sales, net",score'
    #[arg(long, value_name = "COLUMN,...", value_parser = columns)]
    pub payload: Vec<Columns>,
    /// Aggregates: a result for each value of this column of yours. The partner learns how many values there are, and allows them with --max-groups
    #[arg(long, value_name = "COLUMN", help_heading = "Computation")]
    pub group_by: Option<String>,
    /// Flags that both commands have.
    #[command(flatten)]
    pub shared: JoinArgs,
}

/// `vesica send`.
#[derive(Debug, Args)]
#[command(after_long_help = SEND_EXAMPLES)]
pub struct SendArgs {
    /// With --both-learn: where your own matching rows go. With --task shares: where your shares go
    #[arg(long, value_name = "FILE")]
    pub output: Option<String>,
    /// With --both-learn: which own rows are the result
    #[arg(long, value_enum, default_value = "inner")]
    pub join: JoinName,
    /// intersect: columns that the partner gets for its matches. Other tasks: columns of integers or decimals to compute with, or to be shared. A name with a comma goes in double quotes
    /// (and a quote in it is doubled): '"Sales, net",score'
    #[arg(long, value_name = "COLUMN,...", value_parser = columns)]
    pub payload: Vec<Columns>,
    /// Aggregates: the most groups that the partner may ask for
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Computation")]
    pub max_groups: u32,
    /// Aggregates: add noise that hides single keys of yours (discrete Laplace), with this epsilon for the whole run
    #[arg(long, value_name = "E", requires = "budget", help_heading = "Computation")]
    pub epsilon: Option<String>,
    /// The file that holds how much epsilon each partner may use up; docs/tasks.md shows one. A run that names it must add noise: without --epsilon it is refused
    #[arg(long, value_name = "FILE", help_heading = "Computation")]
    pub budget: Option<PathBuf>,
    /// Flags that both commands have.
    #[command(flatten)]
    pub shared: JoinArgs,
}

/// What `receive` and `send` share.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("end").required(true).args(["listen", "connect"])))]
pub struct JoinArgs {
    /// Your table: CSV (also gzip), Parquet or Arrow; - for standard input
    #[arg(long, value_name = "FILE", help_heading = "Table")]
    pub input: String,
    /// A key column; several make one key, in the partner's order (names may differ)
    #[arg(long, value_name = "COLUMN", required = true, help_heading = "Table")]
    pub key: Vec<String>,
    /// What is done to a key column before it is compared: trim, lower, nfc, email, e164:COUNTRY, digits, date[:FORMAT],
    /// timestamp:ZONE[:PRECISION], int; docs/walkthrough.md explains each. Nothing is normalised unless both sides say so
    #[arg(long, value_name = "COLUMN=NAME[,NAME]", help_heading = "Table")]
    pub normalise: Vec<String>,
    /// Format of the input, where name and content do not say it
    #[arg(long, value_name = "csv|parquet|arrow|arrow-stream", help_heading = "Table")]
    pub format: Option<String>,
    /// The CSV delimiter, one ASCII character or `tab`
    #[arg(long, value_name = "CHARACTER", help_heading = "Table")]
    pub delimiter: Option<String>,
    /// Replace existing output and receipt files
    #[arg(long, help_heading = "Table")]
    pub force: bool,

    /// Wait for the partner at this address
    #[arg(long, value_name = "HOST:PORT", help_heading = "Partner")]
    pub listen: Option<String>,
    /// Connect to the partner at this address, again and again until --wait has passed
    #[arg(long, value_name = "HOST:PORT", help_heading = "Partner")]
    pub connect: Option<String>,
    /// Your private key [default: your default identity, made on first use]
    #[arg(long, value_name = "FILE", help_heading = "Partner")]
    pub identity: Option<PathBuf>,
    /// The partner's public key: the .pub file, or its line
    #[arg(long, value_name = "FILE|LINE", help_heading = "Partner", required_unless_present = "insecure_plaintext")]
    pub peer: Option<String>,
    /// No TLS: everybody on the way sees and changes the traffic, and anybody may be the partner. For experiments on one machine
    #[arg(long, help_heading = "Partner", conflicts_with_all = ["peer", "identity", "receipt"])]
    pub insecure_plaintext: bool,
    /// How long to wait for the partner, in seconds or with s, m, h
    #[arg(long, value_name = "TIME", default_value = "60", value_parser = duration, help_heading = "Partner")]
    pub wait: Duration,
    /// Bound on the whole run, the wait for the partner included; as for --wait
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Partner")]
    pub deadline: Option<Duration>,

    /// What to compute: intersect, cardinality, sum, join-and-compute or shares
    #[arg(long, default_value = "intersect", help_heading = "Computation")]
    pub task: String,
    /// Digits behind the point of a column of --payload: it is read exactly, and refused where it has more [default: 0, integers]
    #[arg(long, value_name = "COLUMN=DIGITS", help_heading = "Computation")]
    pub scale: Vec<String>,
    /// The range of a column of --payload: values outside are moved to its end, and counted for you alone. The partner learns the range. Without one, results may wrap around
    #[arg(long, value_name = "COLUMN=LEAST..MOST", allow_hyphen_values = true, help_heading = "Computation")]
    pub clamp: Vec<String>,
    /// Insist on this range of a column of the partner's
    #[arg(long, value_name = "COLUMN=LEAST..MOST", allow_hyphen_values = true, help_heading = "Computation")]
    pub partner_clamp: Vec<String>,
    /// Rows with the same key and different values: refuse them, take the first one's, or (numbers only) add them up
    #[arg(long, value_name = "refuse|first|sum", default_value = "refuse", value_parser = ["refuse", "first", "sum"], help_heading = "Computation")]
    pub payload_duplicates: String,
    /// Aggregates: a group with fewer common keys than this gives nothing. Both sides must say the same
    #[arg(long, value_name = "K", value_parser = count, default_value = "0", help_heading = "Computation")]
    pub reveal_if_at_least: u64,
    /// Which protocol: `auto`, or an id of `vesica protocols`; choices follow a colon, as in
    /// rr22:okvs=band,tags=sorted
    #[arg(long, value_name = "auto|ID", default_value = "auto", help_heading = "Protocol")]
    pub protocol: String,
    /// The link to the partner, RATE,RTT such as 100mbit,40ms, by which `auto` chooses: the slower of what the two sides say, 1gbit,10ms if neither does
    #[arg(long, value_name = "RATE,RTT", help_heading = "Protocol")]
    pub link: Option<vesica_bench::Link>,
    /// What the run must withstand. Never lowered silently; both sides must say the same
    #[arg(long, value_enum, default_value = "malicious", help_heading = "Protocol")]
    pub security: SecurityName,
    /// Run a protocol that is known to be broken, if --protocol names one. For research
    #[arg(long, help_heading = "Protocol")]
    pub allow_broken: bool,
    /// Let `auto` take protocols that also show the receiver exactly how many keys are common, where the task hides that (faster for small sets). Both sides must say it
    #[arg(long, help_heading = "Protocol")]
    pub allow_count: bool,
    /// The sender learns its matches too. Not fair: whoever is last may keep the result to itself. Both sides must say it
    #[arg(long, help_heading = "Protocol")]
    pub both_learn: bool,
    /// Fill your set with dummies to this many keys, so that the partner does not learn the number
    #[arg(long, value_name = "N", value_parser = count, help_heading = "Protocol")]
    pub pad_to: Option<u64>,
    /// Refuse a partner with more keys than this
    #[arg(long, value_name = "N", value_parser = count, default_value_t = vesica::session::MAX_PEER_ITEMS, help_heading = "Protocol")]
    pub max_peer_items: u64,
    /// Refuse a run that may take more memory on this side, in bytes or with KiB, MiB or GiB: for the whole process, its table included
    /// [default: what is free on the machine and in its control group]
    #[arg(long, value_name = "SIZE", value_parser = size, help_heading = "Protocol")]
    pub memory: Option<u64>,
    /// Threads that compute on this side [default: one a core]. The result does not depend on it, nor on the partner's
    #[arg(long, value_name = "N", value_parser = threads, help_heading = "Protocol")]
    pub threads: Option<NonZeroUsize>,

    /// Write the disclosure receipt (protocol, parameters, padded sizes, transcript hash), signed by both sides; see `vesica receipt`
    #[arg(long, value_name = "FILE", help_heading = "Report")]
    pub receipt: Option<PathBuf>,
    /// Print the report (or the error) as one JSON object on standard output
    #[arg(long, help_heading = "Report")]
    pub json: bool,
    /// Show progress on standard error
    #[arg(long, value_enum, default_value = "auto", help_heading = "Report")]
    pub progress: ProgressName,
}
