//! Flags of `receive` and `send`.
//!
//! A new flag is declared here, with its help: in `SharedArgs` if both sides may say it, else in `ReceiveArgs` or `SendArgs`. By that alone it is a setting of job files and an argument in Python: the
//! name of its value says how they write it (a `FILE` starts at the folder of the job; a `COLUMN=...` is a table, a
//! dictionary in Python; a `...,...` is an array of names). What else it takes:
//!
//! 1. `commands/sides.rs` hands it on: a flag of a task through `Flags`, then `Settings` (`task/settings.rs` of the engine,
//!    where other tasks refuse it) and `Job::settings`; a flag of any run through a field of `Config`
//!    (`session/config.rs`). If both sides must say the same, a flag of a task is a field of its `Proposal`, with a line in
//!    `Job::differences`; a flag of any run is a field of the hello, which `session/validate.rs` fills, with a line in
//!    `differences` (`handshake/hello.rs`). Either takes the next `WIRE_VERSION` (`handshake/mod.rs`) if a release speaks
//!    this one, and `VESICA_BLESS=1 cargo test --release --workspace --lib`.
//! 2. [`places`](super::places), if files of partners may say it, or no file or no program may; [`brief`](super::brief), if
//!    `-h` shows it.
//! 3. A page of docs and CHANGELOG.md. `VESICA_BLESS=1 pytest crates/python/tests/test_docs.py`, with the package
//!    installed anew, writes its type for Python.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgGroup, Args, ValueHint};

use crate::identity::OwnKey;

use super::values::{
    Columns, JoinName, ProgressName, SecurityName, buckets, columns, count, duration, size, some, threads, threshold,
};

/// Which end of the connection a side is: a run has one of these.
pub const ENDS: [&str; 3] = ["listen", "connect", "relay"];

const RECEIVE_EXAMPLES: &str = "\
Examples:
  Listen, and write the rows of ours.csv that your partner has too:
    vesica receive --input ours.csv --key email --output matches.csv --listen 0.0.0.0:7400 \\
        --identity us.key --peer them.pub
  Do the same where your firewall lets nobody in (your partner listens):
    vesica receive --input ours.csv --key email --output matches.csv \\
        --connect partner.example:7400 --identity us.key --peer them.pub
  Do the same where no side lets anybody in (both of you name a relay, and the ticket that it joins you by):
    ... --relay relay.example:7600 --ticket ticket.txt
  Join on a key of three columns, with the date in German notation:
    ... --key first --key last --key born --normalise 'born=date:%d.%m.%Y'
  Match rows by their e-mail address or by their telephone number (your partner says so, too):
    ... --key email --or-key phone
  Write all rows, with your partner's columns beside those that match:
    ... --join left
  Write the rows that did not match:
    ... --join difference
  Write your rows, and one row for each key that only your partner has, with the columns that it gives:
    ... --task union --security semi-honest
  Count the common keys of each region in ours.csv, and withhold counts below 20:
    ... --task cardinality --security semi-honest --group-by region --reveal-if-at-least 20
  Sum a column of your partner's over the common keys:
    ... --task sum --security semi-honest --output sum.csv
  Count how many different keys the two tables have, taken together:
    ... --task union-cardinality --security semi-honest --output count.csv
  Get one number: your column `spent` summed over your keys, plus your partner's column summed over the keys that only your partner has:
    ... --task union-sum --security semi-honest --payload spent --scale spent=2 --output sum.csv
docs/tasks.md says what each task computes and reveals.";

const SEND_EXAMPLES: &str = "\
Examples:
  Connect, and let your partner learn which of its rows you have too:
    vesica send --input ours.parquet --key mail --connect host:7400 \\
        --identity us.key --peer them.pub
  Give two columns with each match, and nothing of other rows:
    ... --payload segment,score
  Hide the exact number of keys:
    ... --pad-to 1e6
  Give the keys that your partner does not have, with two columns:
    ... --task union --security semi-honest --payload segment,score
  Give only the sum of a column over the common keys, with each value limited to the range 0 to 500:
    ... --task sum --security semi-honest --payload amount --scale amount=2 --clamp amount=0..500
docs/tasks.md says what each task computes and reveals.";

/// `vesica receive`.
#[derive(Debug, Args)]
#[command(after_long_help = RECEIVE_EXAMPLES)]
pub struct ReceiveArgs {
    /// Where to write the result; - for standard output. The name's ending says the format: for
    /// rows .csv, .txt, .csv.gz, .csv.zst, .tsv, .jsonl, .parquet, .arrow, .feather or .arrows (a name
    /// without an ending: the input's format), for numbers .csv, .json or .jsonl, for shares .shares
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: String,
    /// Which of your rows to write
    #[arg(long, value_enum, default_value = "inner")]
    pub join: JoinName,
    /// Columns, by task. intersect, union: the columns that you expect of your partner; the run is
    /// refused unless it gives exactly these, in this order [default: take what it gives].
    /// join-and-compute: one column of yours. Each column that your partner gives has one result:
    /// the sum, over the common keys, of its value times yours. union-sum: your columns. Your first
    /// and your partner's first are a pair, and so on. Each pair of columns has one result: a total over
    /// all keys of both sides. For each key of yours, your value counts; for each key that only your
    /// partner has, your partner's value counts. If you name no column, each result is the sum of one
    /// column of your partner over the keys that only your partner has. shares: your columns to
    /// share. Other tasks take no --payload.
    /// Put a name that has a comma in double quotes: '"Sales, net",score'
    #[arg(long, value_name = "COLUMN,...", value_parser = columns)]
    pub payload: Vec<Columns>,
    /// Tasks cardinality, sum and join-and-compute: compute a result for each value of this column
    /// of yours. Your partner learns how many values there are, and must allow that number with
    /// --max-groups
    #[arg(long, value_name = "COLUMN", help_heading = "Computation")]
    pub group_by: Option<String>,
    /// Flags that both commands have.
    #[command(flatten)]
    pub shared: SharedArgs,
}

/// `vesica send`.
#[derive(Debug, Args)]
#[command(after_long_help = SEND_EXAMPLES)]
pub struct SendArgs {
    /// With --both-learn: where to write your matching rows; if the task is a union, where to write
    /// your rows and those keys of your partner that you do not have. With --task shares: where to
    /// write your shares
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<String>,
    /// With --both-learn: which of your rows to write, inner or difference. A union writes all
    #[arg(long, value_enum, default_value = "inner")]
    pub join: JoinName,
    /// intersect: columns that your partner gets for its matches. union: columns that your partner
    /// gets for keys that are new to it. sum, union-sum, join-and-compute: columns of integers or
    /// decimals to compute with. shares: columns of integers or decimals to share. cardinality: none. Put
    /// a name that has a comma in double quotes: '"Sales, net",score'
    #[arg(long, value_name = "COLUMN,...", value_parser = columns)]
    pub payload: Vec<Columns>,
    /// Tasks cardinality, sum and join-and-compute: allow your partner at most this many groups
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Computation")]
    pub max_groups: u32,
    /// Tasks whose result is numbers: add discrete Laplace noise. Adding or removing one key of your
    /// table then changes the probability of any result by a factor of at most e^E (differential
    /// privacy). Noise does not hide how many keys you
    /// have; use --pad-to for that. In a union-cardinality, --pad-to hides it only roughly
    #[arg(long, value_name = "E", help_heading = "Computation")]
    pub epsilon: Option<String>,
    /// The file with the total epsilon that each partner may use; docs/tasks.md shows one. The run
    /// adds its --epsilon to what this partner has used so far, and is refused if that would exceed
    /// the total in the file
    #[arg(long, value_name = "FILE", help_heading = "Computation")]
    pub budget: Option<PathBuf>,
    /// Flags that both commands have.
    #[command(flatten)]
    pub shared: SharedArgs,
}

/// A table and its key.
#[derive(Debug, Args)]
pub struct TableArgs {
    /// Your table: CSV or JSON lines (also packed with gzip, zstd or bzip2), Parquet or Arrow; - for
    /// standard input. A folder, or a pattern such as 'part-*.parquet', stands for its files in order
    /// of their names: they have one format and the same columns, and folders such as dt=2026-01-01 in
    /// it are columns
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Table")]
    pub input: String,
    /// A key column. Repeat the flag for a key of several columns, in the same order as your
    /// partner; names may differ
    #[arg(long, value_name = "COLUMN", required = true, help_heading = "Table")]
    pub key: Vec<String>,
    /// Normalise a key column before it is compared: trim, lower, nfc, email, e164:COUNTRY, digits,
    /// date[:FORMAT], timestamp:ZONE[:PRECISION], int, decimal, bool, uuid. Both sides must name the same
    /// normalisers in the same order, and the same PRECISION. COUNTRY, FORMAT and ZONE describe your own
    /// column, and your partner's may differ; only with the precision `day` must both name the same ZONE.
    /// docs/keys.md explains each
    #[arg(long, value_name = "COLUMN=NAME[,NAME]", help_heading = "Table")]
    pub normalise: Vec<String>,
    /// What words that programs write where a value is missing, such as \N, NULL and NaN, are in your key
    /// columns. If some of them stand for missing values in your table, name these: rows with such a word then
    /// never match. If they are values, say `keep`. Without this flag they are values, Vesica warns of each, and
    /// refuses your table if a word stands on many rows or is no value of any table, as \N. Capitals count.
    /// Only your own table is concerned; your partner may say something else. docs/keys.md lists the words
    #[arg(long, value_name = "keep|WORD,...", value_parser = columns, allow_hyphen_values = true, help_heading = "Table")]
    pub null_words: Vec<Columns>,
    /// The format of the input, if neither name nor content shows it
    #[arg(long, value_name = "csv|jsonl|parquet|arrow|arrow-stream", help_heading = "Table")]
    pub format: Option<String>,
    /// The CSV delimiter, one ASCII character or `tab`
    #[arg(long, value_name = "CHARACTER", help_heading = "Table")]
    pub delimiter: Option<String>,
}

/// What `receive` and `send` share.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("end").args(ENDS)))]
pub struct SharedArgs {
    /// The table.
    #[command(flatten)]
    pub table: TableArgs,
    /// intersect: another key, by which rows match as well as by --key: rows match if they have equal
    /// e-mail addresses or equal telephone numbers with --key email --or-key phone. Repeat the flag for
    /// further alternatives, in the same order as your partner. The receiver learns for each of its rows
    /// by which alternatives it matches; both sides learn how many different keys the other has in all
    /// alternatives together. There is no --payload then. docs/tasks.md explains it
    #[arg(long, value_name = "COLUMN[,COLUMN]", value_parser = columns, help_heading = "Table")]
    pub or_key: Vec<Columns>,
    /// Replace existing output and receipt files
    #[arg(long, help_heading = "Table")]
    pub force: bool,

    /// Wait for your partner at this address
    #[arg(long, value_name = "HOST:PORT", help_heading = "Partner")]
    pub listen: Option<String>,
    /// Connect to your partner at this address; retry until --wait has passed [default: the address
    /// of a partner that --peer names, unless you say --listen or --relay]
    #[arg(long, value_name = "HOST:PORT", help_heading = "Partner")]
    pub connect: Option<String>,
    /// Meet your partner at a relay, if neither of you can be connected to: both name the same relay and the same
    /// --ticket. It passes on what you send, and sees TLS alone. docs/networks.md describes it
    #[arg(long, value_name = "HOST:PORT", help_heading = "Partner", conflicts_with = "insecure_plaintext")]
    pub relay: Option<String>,
    /// With --relay: the ticket that you share with your partner, which `vesica relay ticket` makes, or a file that has it.
    /// Whoever knows it can keep you from meeting, and no more
    #[arg(long, value_name = "TICKET|FILE", help_heading = "Partner")]
    pub ticket: Option<String>,
    /// Dial your partner or the relay through this proxy: http://HOST:PORT (CONNECT), socks5h://HOST:PORT (the proxy
    /// resolves the partner's name) or socks5://HOST:PORT (this side does), with USER:PASSWORD@ before HOST if need be.
    /// `none` dials directly [default: what HTTPS_PROXY or ALL_PROXY says, unless NO_PROXY has the host]
    #[arg(long, value_name = "URL|none", help_heading = "Partner")]
    pub proxy: Option<String>,
    /// Your private key: a file, fd:N for an open file descriptor, or credential:NAME for a credential of systemd
    /// [default: your default identity, made on first use]
    #[arg(long, value_name = "FILE", env = "VESICA_IDENTITY", hide_env_values = true, help_heading = "Partner")]
    pub identity: Option<PathBuf>,
    /// The passphrase of an encrypted private key: a file whose first line it is, fd:N or credential:NAME. Without this,
    /// Vesica asks for it at the terminal
    #[arg(long, value_name = "FILE", env = "VESICA_PASSPHRASE_FILE", hide_env_values = true, help_heading = "Partner")]
    pub passphrase_file: Option<PathBuf>,
    /// Your partner: its name in the file of --peers, or its public key (the .pub file, or its line)
    #[arg(long, value_name = "NAME|FILE|LINE", help_heading = "Partner")]
    pub peer: Option<String>,
    /// The file of your partners. For each name it has a public key; it may also have an address, the
    /// tasks that you allow, and settings. docs/jobs.md shows one [default: vesica/peers.toml in your
    /// configuration folder, $XDG_CONFIG_HOME or ~/.config]
    #[arg(long, value_name = "FILE", env = "VESICA_PEERS", hide_env_values = true, help_heading = "Partner")]
    pub peers: Option<PathBuf>,
    /// Use no TLS, for experiments on one machine: everybody on the way can read and change the
    /// traffic, and anybody can pretend to be your partner
    #[arg(long, help_heading = "Partner", conflicts_with_all = ["peer", "receipt"])]
    pub insecure_plaintext: bool,
    /// How long to wait for your partner, in seconds or with s, m, h
    #[arg(long, value_name = "TIME", default_value = "60", value_parser = duration, help_heading = "Partner")]
    pub wait: Duration,
    /// End the whole run after this time, including the wait for your partner; written as for
    /// --wait
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Partner")]
    pub deadline: Option<Duration>,

    /// What to compute.
    #[arg(long, default_value = vesica::task::DEFAULT, help = super::task::tasks_help(), help_heading = "Computation")]
    pub task: String,
    /// How many digits follow the point in a column of --payload. A value with more digits ends the
    /// run; nothing is rounded [default: 0, integers]
    #[arg(long, value_name = "COLUMN=DIGITS", help_heading = "Computation")]
    pub scale: Vec<String>,
    /// The range of a column of --payload. A value outside is moved to the nearer end; only your
    /// own report says how many values were moved. Your partner learns the range. Without a range,
    /// results may wrap around
    #[arg(long, value_name = "COLUMN=LEAST..MOST", allow_hyphen_values = true, help_heading = "Computation")]
    pub clamp: Vec<String>,
    /// For a column of your partner: refuse the run unless your partner gave exactly this --clamp
    #[arg(long, value_name = "COLUMN=LEAST..MOST", allow_hyphen_values = true, help_heading = "Computation")]
    pub partner_clamp: Vec<String>,
    /// Rows of the same key: `refuse` ends the run if their values differ, `first` takes the values
    /// of the first row, `sum` (numbers only) adds up the values of all rows, equal ones too
    #[arg(long, value_name = "refuse|first|sum", default_value = "refuse", value_parser = ["refuse", "first", "sum"], help_heading = "Computation")]
    pub payload_duplicates: String,
    /// Tasks cardinality, sum and join-and-compute: withhold the result of a group with fewer
    /// common keys than this; `none` or 0 withholds nothing. Both sides must say the same
    #[arg(long, value_name = "K", value_parser = threshold, default_value = "0", help_heading = "Computation")]
    pub reveal_if_at_least: u64,
    /// The protocol: `auto`, or an id that `vesica protocols` lists; choices follow a colon, as in
    /// rr22:okvs=band,tags=sorted
    #[arg(long, value_name = "auto|ID", default_value = "auto", help_heading = "Protocol")]
    pub protocol: String,
    /// The link to your partner, as RATE,RTT such as 100mbit,40ms. `auto` chooses a protocol for
    /// it. If both sides name a link, Vesica takes the lower rate and the longer round trip; if
    /// only one side names a link, it takes that link; if neither does, it takes 1gbit,10ms
    #[arg(long, value_name = "RATE,RTT", help_heading = "Protocol")]
    pub link: Option<vesica::plan::Link>,
    /// What the run must withstand. Vesica never lowers it silently. Both sides must say the same
    #[arg(long, value_enum, default_value = "malicious", help_heading = "Protocol")]
    pub security: SecurityName,
    /// Run only what no quantum computer is known to break: TLS with X25519MLKEM768, and protocols that assume no discrete
    /// logarithm, with base OTs from ML-KEM. Signatures of identities and receipts are not among what is asked for.
    /// SECURITY.md says what that comes to, and what it costs. Both sides must say it
    #[arg(long, help_heading = "Protocol")]
    pub post_quantum: bool,
    /// Permit a broken protocol if --protocol names one, for research
    #[arg(long, help_heading = "Protocol")]
    pub allow_broken: bool,
    /// sum, union-cardinality, union-sum: let `auto` also take protocols that show the receiver the
    /// exact number of common keys. With the task union-cardinality, these protocols also show the
    /// receiver how many keys the sender has, even if the sender uses --pad-to. Both sides must say
    /// --allow-count
    #[arg(long, help_heading = "Protocol")]
    pub allow_count: bool,
    /// intersect: let the sender learn its matches too. union: also give the sender those keys of
    /// the receiver that the sender does not have. This is not fair: one side (in most protocols
    /// the receiver) gets its result first, and may then stop before the other side gets its own.
    /// Both sides must say it
    #[arg(long, help_heading = "Protocol")]
    pub both_learn: bool,
    /// Union: refuse a side whose longest key and longest payload together take more bytes than
    /// this limit. A higher limit alone costs nothing: records are padded to the longest key and
    /// payload that occur, and not to the limit [default: 256]
    #[arg(long, value_name = "N", help_heading = "Protocol")]
    pub max_item_bytes: Option<usize>,
    /// Fill your set with dummies up to this many keys, to hide how many keys you have. In a union,
    /// the sender's padding hides nothing where the receiver recognises the dummies: with all
    /// protocols but vesica-union and vesica-union-both. In a union-cardinality, the
    /// sender's padding hides less; docs/tasks.md says what the receiver still learns
    #[arg(long, value_name = "N", value_parser = count, help_heading = "Protocol")]
    pub pad_to: Option<u64>,
    /// intersect, union, cardinality, sum, join-and-compute, union-cardinality, union-sum: divide both tables into this many
    /// buckets and run the protocol on one bucket after the other, so that it takes memory for a bucket and not for a table. Buckets are filled up with
    /// dummies, and cost a little more time and bytes; docs/buckets.md says how much. auto: as many as the larger table
    /// calls for, some 200,000 keys a bucket. Both sides must say the same. If neither says it, a run that does not fit in
    /// the memory of one of them becomes one with auto; --buckets 1 refuses it instead
    #[arg(long, value_name = "N|auto", value_parser = buckets, help_heading = "Protocol")]
    pub buckets: Option<u32>,
    /// With --buckets, for all tasks but union: keep your keys, your payload, the buckets and what matched in files of this folder instead of in
    /// memory. They are encrypted, have no names, and are gone when the run ends, however it ends. Your partner need not
    /// say it
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath, help_heading = "Protocol")]
    pub work: Option<PathBuf>,
    /// Keep what each finished bucket gave in a folder below that of --work, until the run is over. If it breaks off, type
    /// the same command again on both sides: it goes on where it was. For tasks that run in buckets, but union; with
    /// --both-learn in the semi-honest mode alone. Both sides must say it
    #[arg(long, help_heading = "Protocol")]
    pub resume: bool,
    /// Refuse a partner that declares more keys than this. A malicious receiver can ask about more
    /// keys than it declares; SECURITY.md says how many, under "Effective set size"
    #[arg(long, value_name = "N", value_parser = count, default_value_t = vesica::session::MAX_PEER_ITEMS, help_heading = "Protocol")]
    pub max_peer_items: u64,
    /// Refuse a run in which this process may take more memory than this, its table included.
    /// Bytes, or a number with KiB, MiB or GiB [default: what is free on the machine and in the
    /// process's control group]
    #[arg(long, value_name = "SIZE", value_parser = size, env = "VESICA_MEMORY", hide_env_values = true, help_heading = "Protocol")]
    pub memory: Option<u64>,
    /// How many threads compute on this side [default: one for each core]. The result does not
    /// depend on it
    #[arg(long, value_name = "N", value_parser = threads, env = "VESICA_THREADS", hide_env_values = true, help_heading = "Protocol")]
    pub threads: Option<NonZeroUsize>,

    /// Write a receipt that both sides sign: protocol, parameters, padded sizes, transcript hash.
    /// `vesica receipt` reads it
    #[arg(long, value_name = "FILE", help_heading = "Report")]
    pub receipt: Option<PathBuf>,
    /// The log of your runs, to which this run adds a line when it begins and one when it ends, or is refused. Each line
    /// has the hash of the line before it and your signature. `vesica log` verifies and shows it [default:
    /// vesica/runs.log in your folder for state, $XDG_STATE_HOME or ~/.local/state]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, env = "VESICA_RUN_LOG", hide_env_values = true, help_heading = "Report")]
    pub run_log: Option<PathBuf>,
    /// Do not log this run, whatever else says where
    #[arg(long, help_heading = "Report")]
    pub no_run_log: bool,
    /// Try everything up to the exchange of sizes, if your partner says --dry-run too: connect, verify identities,
    /// compare all settings, look for faults in your whole table, and estimate time and bytes. Writes nothing. A file
    /// cannot say it
    #[arg(long, help_heading = "Report")]
    pub dry_run: bool,
    /// How many distinct keys you expect of your partner, for the estimate of --dry-run [default: as many as you have]
    #[arg(long, value_name = "N", value_parser = some, requires = "dry_run", help_heading = "Report")]
    pub expect_peer_items: Option<u64>,
    /// Print the report (or the error) as one JSON object on standard output
    #[arg(long, help_heading = "Report")]
    pub json: bool,
    /// How to show progress on standard error
    #[arg(
        long,
        value_enum,
        default_value = "auto",
        env = "VESICA_PROGRESS",
        hide_env_values = true,
        help_heading = "Report"
    )]
    pub progress: ProgressName,
}

impl SharedArgs {
    /// Where this side's private key is.
    pub fn own_key(&self) -> OwnKey<'_> {
        OwnKey { identity: self.identity.as_deref(), passphrase_file: self.passphrase_file.as_deref() }
    }
}
