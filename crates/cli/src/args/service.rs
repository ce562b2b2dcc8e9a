//! Flags of `serve` and `query`.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum, ValueHint};
use vesica::service::{Quota, SlowHash};

use super::TableArgs;
use crate::identity::OwnKey;

use super::values::{Columns, JoinName, ProgressName, SecurityName, columns, count, duration, size, threads};

const SERVE_EXAMPLES: &str = "\
Examples:
  Serve a deny list to the clients whose public keys are in clients.txt, one on each line:
    vesica serve --input deny.parquet --key url --listen 0.0.0.0:7500 \\
        --identity us.key --clients clients.txt --state deny.state --quota 1000/day
  Give one column with each match:
    ... --payload category
  Show counters to a monitoring system on this machine:
    ... --metrics 127.0.0.1:9464
SIGHUP makes the server read its table again. A client that comes back afterwards fetches what has changed, without being \
told to. With oprf-pir, cmdg21 and cm25-select, it fetches everything again; with oprf-buckets, nothing. SIGHUP also reads the file of \
--clients again, and disconnects clients that are not in it any more. SIGUSR1 makes a new secret key. SIGTERM or \
SIGINT ends the server, after \
the queries under way. docs/service.md takes you from a table to a running server.";

const QUERY_EXAMPLES: &str = "\
Examples:
  Write the rows of seen.csv whose url a server's deny list has:
    vesica query --input seen.csv --key url --output hits.csv --connect deny.example:7500 \\
        --identity us.key --peer server.pub --state deny.cache
  Ask about a single value (the shell may keep it in its history):
    printf 'url\\nhttp://example.org\\n' | vesica query --input - --key url --output - ...
The server learns how many queries you ask (your keys divided by its items per query, rounded up), and nothing about \
the keys (with --leak-prefix: the first bits of a hash of each). You learn which of your keys the server has, with the columns that it gives, and how many keys its set has \
room for. docs/service.md explains more.";

/// `vesica serve`.
#[derive(Debug, Args)]
#[command(after_long_help = SERVE_EXAMPLES)]
pub struct ServeArgs {
    /// The table.
    #[command(flatten)]
    pub table: TableArgs,
    /// Columns that a client gets with each match. Put a name that has a comma in double quotes:
    /// '"Sales, net",score'
    #[arg(long, value_name = "COLUMN,...", value_parser = columns, help_heading = "Set")]
    pub payload: Vec<Columns>,
    /// Rows of the same key: with `refuse`, the server does not start if their values differ; with
    /// `first`, it takes the values of the first row
    #[arg(long, value_name = "refuse|first", default_value = "refuse", value_parser = ["refuse", "first"], help_heading = "Set")]
    pub payload_duplicates: String,
    /// How many keys the set has room for. Clients see this number, and not how many keys the table
    /// has. To change it later, start again with --replace-state. The default for a table of up to 1024 keys
    /// is 1024. For a larger table, it is the number of keys, rounded up by a sixth at most: clients
    /// then know roughly how many keys the table has
    #[arg(long, value_name = "N", value_parser = count, help_heading = "Set")]
    pub capacity: Option<u64>,
    /// Keep the prepared set and its secret key in this file. The server then starts again quickly,
    /// and clients can go on using what they have already fetched of the set. If it is killed while it prepares
    /// the set, it goes on when it starts again: until then, what is prepared is kept in FILE.preparing
    #[arg(long, value_name = "FILE", help_heading = "Set")]
    pub state: Option<PathBuf>,
    /// If the state file was prepared with other settings, or is damaged, prepare the set anew. Each client
    /// then fetches anew, by itself, what it had fetched of the set
    #[arg(long, help_heading = "Set", requires = "state")]
    pub replace_state: bool,
    /// Refuse a table that has lost more than this percentage of its keys since it was last read: it may
    /// have been cut short. A running server then keeps the set that it has. When a server starts, it compares the table with the set in its state file; if too many keys
    /// are gone, it does not start. 100 allows any loss
    #[arg(long, value_name = "PERCENT", default_value = "20", value_parser = clap::value_parser!(u8).range(0..=100), help_heading = "Set")]
    pub max_shrink: u8,
    /// Make a new secret key when the present one has reached this age, for example 90d, 12h or 30m.
    /// Each client then fetches anew, by itself, what it had fetched of the set; see --overlap. The signal SIGUSR1 makes a new key at once
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Set")]
    pub rotate_after: Option<Duration>,
    /// When a new secret key is made, clients that are connected at that moment may go on asking
    /// under the old key for this long. Then the old key is wiped. Written as for --rotate-after
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = duration, help_heading = "Set")]
    pub overlap: Duration,
    /// How many items each query has; clients fill up their last query with dummies
    #[arg(long, value_name = "N", default_value = "16", value_parser = clap::value_parser!(u64).range(1..=65536), help_heading = "Set")]
    pub items_per_query: u64,
    /// The protocol. oprf-rfc9497: each client first fetches some bytes for each key of the set, and
    /// then gets its answers within milliseconds. oprf-pir: for sets of millions of keys. A client
    /// fetches little at first; but then each key that it asks about takes about a hundred kilobytes,
    /// and more work. cmdg21: also for sets of millions of keys. It suits clients that send few queries,
    /// each with hundreds of keys. A query takes megabytes, and more with --payload, where
    /// a record may have at most 1024 bytes. oprf-buckets: the protocol of web services that check
    /// whether a password has been stolen. A client fetches a few kilobytes for each key that it asks
    /// about, and you see a part of a hash of that key. Say --leak-prefix here and at each client.
    /// cm25-select: for few look-ups by clients that you trust. A client first fetches
    /// the encrypted set: about 80 bytes a key if the set is large, and far fewer with --integer-bits. Say --trust-clients here; there
    /// is no --payload. oprf-pir, cmdg21, oprf-buckets and cm25-select need --security semi-honest. auto:
    /// Vesica takes the protocol with which a client exchanges the fewest bytes (see --expect-queries),
    /// but never oprf-buckets or cm25-select; the log says which one, and why
    #[arg(long, value_name = "ID", default_value = "oprf-rfc9497", help_heading = "Set")]
    pub protocol: String,
    /// With --protocol oprf-buckets: when a client asks about a key, you see this many bits of a hash of
    /// that key, 1 to 20. You can then rule out most of what the key might be, and see which queries may be
    /// about the same key. With fewer bits you see less, and a client exchanges more bytes for each key.
    /// Clients must say the same number
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=20), help_heading = "Set")]
    pub leak_prefix: Option<u32>,
    /// With --protocol cm25-select: the key is one column of integers from 0 to 2^BITS - 1. The integers
    /// themselves are compared, and not digests of 128 bits. So a client fetches fewer bytes and gets its
    /// answers faster: with BITS up to 33, a quarter of the bytes. A cell that holds no such integer is
    /// an error, in your table and in a client's. BITS is 1 to 64
    #[arg(long, value_name = "BITS", value_parser = clap::value_parser!(u32).range(1..=64), help_heading = "Set")]
    pub integer_bits: Option<u32>,
    /// Hash each key with Argon2id before anything else is done with it, here and at each client. If
    /// somebody steals your server's state, each guess at a key of your table then costs him one such
    /// hash. Give the memory that one hash takes and, after a comma, the number of passes over it. With
    /// --slow-hash 19MiB,2, hashing one key takes about 0.03 s. Preparing the set takes that time for each key of the table. A
    /// query takes that time for each key in it
    #[arg(long, value_name = "MEMORY[,PASSES]", help_heading = "Set")]
    pub slow_hash: Option<SlowHash>,
    /// With --protocol auto: how many queries one client is likely to send
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..), help_heading = "Set")]
    pub expect_queries: u64,
    /// What queries must withstand. malicious: each answer comes with a proof that the server made
    /// it with the same secret key as all other answers. semi-honest: no proofs, and somewhat faster
    #[arg(
        long,
        value_enum,
        default_value = "malicious",
        hide_possible_values = true,
        value_name = "malicious|semi-honest",
        help_heading = "Set"
    )]
    pub security: SecurityName,
    /// Serve only by what no quantum computer is known to break: TLS with X25519MLKEM768, and a protocol that assumes no
    /// discrete logarithm. That is cm25-select alone, which needs --trust-clients
    #[arg(long, help_heading = "Set")]
    pub post_quantum: bool,
    /// Refuse columns of --payload, and hashes of --slow-hash, that take more memory than this. Nothing
    /// else is bounded by it. Bytes, or a number with KiB, MiB or GiB
    /// [default: what is free]
    #[arg(long, value_name = "SIZE", value_parser = size, env = "VESICA_MEMORY", hide_env_values = true, help_heading = "Set")]
    pub memory: Option<u64>,
    /// How many threads prepare the set [default: one for each core]
    #[arg(long, value_name = "N", value_parser = threads, env = "VESICA_THREADS", hide_env_values = true, help_heading = "Set")]
    pub threads: Option<NonZeroUsize>,

    /// Wait for clients at this address
    #[arg(long, value_name = "HOST:PORT", help_heading = "Clients")]
    pub listen: String,
    /// Your private key: a file, fd:N for an open file descriptor, or credential:NAME for a credential of systemd
    /// [default: your default identity, made on first use]
    #[arg(long, value_name = "FILE", env = "VESICA_IDENTITY", hide_env_values = true, help_heading = "Clients")]
    pub identity: Option<PathBuf>,
    /// The passphrase of an encrypted private key: a file whose first line it is, fd:N or credential:NAME. Without this,
    /// Vesica asks for it at the terminal
    #[arg(long, value_name = "FILE", env = "VESICA_PASSPHRASE_FILE", hide_env_values = true, help_heading = "Clients")]
    pub passphrase_file: Option<PathBuf>,
    /// The clients that may ask: a file with one public key on each line, as in their .pub files;
    /// lines that start with # are comments. Give either this, --any-client or --insecure-plaintext
    #[arg(long, value_name = "FILE", help_heading = "Clients")]
    pub clients: Option<PathBuf>,
    /// Allow a protocol that keeps your table secret only if every client follows it (cm25-select). A client with a
    /// program of its own, or a thief of its private key, can then read all keys of your table, not only
    /// those that it asks about, and the log does not show it. Say this only if you trust each of
    /// --clients to run Vesica as it is, and to guard its private key
    #[arg(long, help_heading = "Clients")]
    pub trust_clients: bool,
    /// Use this instead of --clients to answer every client, whatever its public key. There is no
    /// quota then: a client that has used up a quota would come back with another key
    #[arg(long, help_heading = "Clients", conflicts_with_all = ["clients", "insecure_plaintext"])]
    pub any_client: bool,
    /// Use no TLS, for experiments on one machine: everybody on the way can read and change the
    /// traffic, and anybody can ask
    #[arg(long, help_heading = "Clients", conflicts_with = "clients")]
    pub insecure_plaintext: bool,
    /// How many items each client may ask about in each day, hour or minute of UTC, for example
    /// 1000/day or 100/hour; dummies count. --quota needs --state: what was used is kept in a file beside
    /// the state file. Unless you say --any-client, give either this or --no-quota
    #[arg(long, value_name = "N/PERIOD", help_heading = "Clients", conflicts_with = "any_client", requires = "state")]
    pub quota: Option<Quota>,
    /// Let each client ask about as many items as it likes: then it can try out all keys that it can
    /// guess
    #[arg(long, help_heading = "Clients", conflicts_with = "quota")]
    pub no_quota: bool,
    /// How often each client may fetch the set, or what has changed of it, in each day, hour or minute
    /// of UTC. That takes your server more work than a query, and no quota counts it. A client that keeps
    /// a file with --state fetches each version of the set once. This bounds nothing with --any-client
    #[arg(long, value_name = "N/PERIOD", default_value = "100/hour", help_heading = "Clients")]
    pub enrolments: Quota,
    /// Log it when a client has asked about more items than this in a day, hour or minute of UTC, and
    /// log it again at each multiple of this number. Dummies are items, too, and fetching the set counts
    /// as one query. The page of --metrics shows how often that has happened. No client is refused for it
    #[arg(long, value_name = "N/PERIOD", help_heading = "Clients", conflicts_with = "any_client")]
    pub alert_volume: Option<Quota>,
    /// How many clients may be connected at once
    #[arg(long, value_name = "N", default_value = "256", value_parser = clap::value_parser!(u32).range(1..=65536), help_heading = "Clients")]
    pub max_clients: u32,
    /// How many connections one client may have at once
    #[arg(long, value_name = "N", default_value = "16", value_parser = clap::value_parser!(u32).range(1..=65536), help_heading = "Clients")]
    pub connections_per_client: u32,
    /// End the connection of a client that asks nothing for this time; written as 90, 15m or 1h
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = duration, help_heading = "Clients")]
    pub idle: Duration,

    /// The log of your runs, to which each conversation with a client adds a line before it is served and one at its end,
    /// and each client that is refused one. If you say this, a client is only served once its line is on the disk. `vesica
    /// log` verifies and shows it [default: vesica/runs.log in your folder for state, $XDG_STATE_HOME or ~/.local/state]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, env = "VESICA_RUN_LOG", hide_env_values = true, help_heading = "Report")]
    pub run_log: Option<PathBuf>,
    /// Log no conversation in the log of your runs, whatever else says where
    #[arg(long, help_heading = "Report")]
    pub no_run_log: bool,
    /// Show counters at this address, as a page /metrics for Prometheus, and /healthz. Anybody who
    /// reaches the address may read them
    #[arg(long, value_name = "HOST:PORT", help_heading = "Report")]
    pub metrics: Option<String>,
    /// How to write the log on standard error
    #[arg(long, value_enum, default_value = "text", help_heading = "Report")]
    pub log: LogName,
}

impl ServeArgs {
    /// Where this side's private key is.
    pub fn own_key(&self) -> OwnKey<'_> {
        OwnKey { identity: self.identity.as_deref(), passphrase_file: self.passphrase_file.as_deref() }
    }
}

/// `--log`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogName {
    /// A sentence a line
    Text,
    /// A JSON object a line
    Json,
}

/// `vesica query`.
#[derive(Debug, Args)]
#[command(after_long_help = QUERY_EXAMPLES)]
pub struct QueryArgs {
    /// Where to write the matching rows; - for standard output. The name's ending says the format:
    /// .csv, .txt, .csv.gz, .csv.zst, .tsv, .jsonl, .parquet, .arrow, .feather or .arrows (a name without an ending:
    /// the input's format)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: String,
    /// Which of your rows to write
    #[arg(long, value_enum, default_value = "inner")]
    pub join: JoinName,
    /// The table.
    #[command(flatten)]
    pub table: TableArgs,
    /// Replace an existing output file
    #[arg(long, help_heading = "Table")]
    pub force: bool,

    /// The server's address; retry until --wait has passed [default: the address of a server that
    /// --peer names]
    #[arg(long, value_name = "HOST:PORT", help_heading = "Server")]
    pub connect: Option<String>,
    /// Dial the server through this proxy: http://HOST:PORT (CONNECT), socks5h://HOST:PORT (the proxy resolves the
    /// server's name) or socks5://HOST:PORT (this side does), with USER:PASSWORD@ before HOST if need be. `none` dials
    /// directly [default: what HTTPS_PROXY or ALL_PROXY says, unless NO_PROXY has the host]
    #[arg(long, value_name = "URL|none", help_heading = "Server")]
    pub proxy: Option<String>,
    /// Your private key: a file, fd:N for an open file descriptor, or credential:NAME for a credential of systemd
    /// [default: your default identity, made on first use]
    #[arg(long, value_name = "FILE", env = "VESICA_IDENTITY", hide_env_values = true, help_heading = "Server")]
    pub identity: Option<PathBuf>,
    /// The passphrase of an encrypted private key: a file whose first line it is, fd:N or credential:NAME. Without this,
    /// Vesica asks for it at the terminal
    #[arg(long, value_name = "FILE", env = "VESICA_PASSPHRASE_FILE", hide_env_values = true, help_heading = "Server")]
    pub passphrase_file: Option<PathBuf>,
    /// The server: its name in the file of --peers, or its public key (the .pub file, or its line)
    #[arg(
        long,
        value_name = "NAME|FILE|LINE",
        help_heading = "Server",
        required_unless_present = "insecure_plaintext"
    )]
    pub peer: Option<String>,
    /// The file of your partners, as for `receive` and `send`. If it lists tasks for this server, `query`
    /// must be among them
    /// [default: vesica/peers.toml in your configuration folder]
    #[arg(long, value_name = "FILE", env = "VESICA_PEERS", hide_env_values = true, help_heading = "Server")]
    pub peers: Option<PathBuf>,
    /// Use no TLS, for experiments on one machine: everybody on the way can read and change the
    /// traffic, and anybody can pretend to be the server
    #[arg(long, help_heading = "Server", conflicts_with = "peer")]
    pub insecure_plaintext: bool,
    /// Keep in this file what the server sends once (the tags of its set: megabytes), so that the
    /// next run need not fetch it again
    #[arg(long, value_name = "FILE", help_heading = "Server")]
    pub state: Option<PathBuf>,
    /// How long to try to reach the server, in seconds or with s, m, h
    #[arg(long, value_name = "TIME", default_value = "60", value_parser = duration, help_heading = "Server")]
    pub wait: Duration,
    /// End the whole run after this time; written as for --wait
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Server")]
    pub deadline: Option<Duration>,
    /// What queries must withstand. malicious: each answer must come with a proof that the server made
    /// it with the same secret key as all other answers. semi-honest: answers without proofs are
    /// accepted, too; see --trust-server
    #[arg(
        long,
        value_enum,
        default_value = "malicious",
        hide_possible_values = true,
        value_name = "malicious|semi-honest",
        help_heading = "Server"
    )]
    pub security: SecurityName,
    /// Ask only by what no quantum computer is known to break: TLS with X25519MLKEM768, and a protocol that assumes no
    /// discrete logarithm. That is cm25-select alone, which needs --trust-server
    #[arg(long, help_heading = "Server")]
    pub post_quantum: bool,
    /// Accept a server that runs cm25-select, and trust it to follow that protocol: if it does not, it can
    /// find out what you ask about. Without this, a server that runs cm25-select is refused before it
    /// sees anything. Say --security semi-honest as well
    #[arg(long, help_heading = "Server")]
    pub trust_server: bool,
    /// Let the server see this many bits of a hash of each of your keys, 1 to 20, if its protocol needs that
    /// (oprf-buckets). The server can then rule out most of what a key might be, and see which queries may be
    /// about the same key. Without this, such a server is refused before it sees anything
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=20), help_heading = "Server")]
    pub leak_prefix: Option<u32>,
    /// Refuse a server whose set has room for more keys than this
    #[arg(long, value_name = "N", value_parser = count, default_value_t = vesica::session::MAX_PEER_ITEMS, help_heading = "Server")]
    pub max_peer_items: u64,
    /// Refuse a query that may take more memory than this. Bytes, or a number with KiB, MiB or GiB
    /// [default: what is free]
    #[arg(long, value_name = "SIZE", value_parser = size, env = "VESICA_MEMORY", hide_env_values = true, help_heading = "Server")]
    pub memory: Option<u64>,
    /// How many threads compute [default: one for each core]
    #[arg(long, value_name = "N", value_parser = threads, env = "VESICA_THREADS", hide_env_values = true, help_heading = "Server")]
    pub threads: Option<NonZeroUsize>,

    /// The log of your runs, to which this query adds a line before it asks and one at its end, or when it is refused. Each
    /// line has the hash of the line before it and your signature. `vesica log` verifies and shows it [default:
    /// vesica/runs.log in your folder for state, $XDG_STATE_HOME or ~/.local/state]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, env = "VESICA_RUN_LOG", hide_env_values = true, help_heading = "Report")]
    pub run_log: Option<PathBuf>,
    /// Do not log this query, whatever else says where
    #[arg(long, help_heading = "Report")]
    pub no_run_log: bool,
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

impl QueryArgs {
    /// Where this side's private key is.
    pub fn own_key(&self) -> OwnKey<'_> {
        OwnKey { identity: self.identity.as_deref(), passphrase_file: self.passphrase_file.as_deref() }
    }
}
