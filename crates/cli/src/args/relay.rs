//! Flags of `relay`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueHint};

use super::LogName;
use super::values::{duration, size};

const RELAY_EXAMPLES: &str = "\
Examples:
  Run a relay for those to whom you give tickets:
    vesica relay --listen 0.0.0.0:7600 --key relay.key
  Make a ticket for two of them, who both get it:
    vesica relay ticket --key relay.key > ticket.txt
  They then run, one as receive and one as send:
    vesica receive ... --relay relay.example:7600 --ticket ticket.txt
SIGTERM or SIGINT stops the relay: whoever waits is told so, and pairs may go on for --grace. A second signal ends it at \
once. docs/networks.md says what a relay sees, and how to run one.";

/// `vesica relay`.
#[derive(Debug, Args)]
#[command(after_long_help = RELAY_EXAMPLES, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct RelayArgs {
    /// What to do instead of running a relay.
    #[command(subcommand)]
    pub command: Option<RelayCommand>,
    /// Wait for parties at this address
    #[arg(long, value_name = "HOST:PORT", required = true)]
    pub listen: Option<String>,
    /// Take the tickets alone that this key has made: the file of `vesica relay ticket --key`, fd:N for an open file
    /// descriptor, or credential:NAME for a credential of systemd. Give either this or --any-ticket
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "any_ticket")]
    pub key: Option<PathBuf>,
    /// Join any two that show the same ticket, whoever made it: your relay then serves everybody who reaches it
    #[arg(long)]
    pub any_ticket: bool,
    /// How many connections there may be at once; a pair has two
    #[arg(long, value_name = "N", default_value = "256", value_parser = clap::value_parser!(u32).range(2..=65536))]
    pub max_connections: u32,
    /// How many connections one address may have at once
    #[arg(long, value_name = "N", default_value = "16", value_parser = clap::value_parser!(u32).range(1..=65536))]
    pub connections_per_address: u32,
    /// How often one address may connect in a minute
    #[arg(long, value_name = "N", default_value = "240", value_parser = clap::value_parser!(u32).range(1..=65536))]
    pub dials_per_minute: u32,
    /// How many bytes may go by one ticket, both ways together, while the relay runs. Bytes, or a number with KiB, MiB,
    /// GiB or TiB [default: any number]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub bytes_per_ticket: Option<u64>,
    /// How long one may wait for the other, in seconds or with s, m, h
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = duration)]
    pub patience: Duration,
    /// How long pairs may go on after SIGTERM or SIGINT; written as for --patience
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = duration)]
    pub grace: Duration,
    /// Show counters at this address, as a page /metrics for Prometheus, and /healthz. Anybody who reaches the address may
    /// read them
    #[arg(long, value_name = "HOST:PORT")]
    pub metrics: Option<String>,
    /// How to write the log on standard error
    #[arg(long, value_enum, default_value = "text")]
    pub log: LogName,
}

/// What else there is about relays.
#[derive(Debug, Subcommand)]
pub enum RelayCommand {
    /// Print a fresh ticket, for two who are to meet at a relay. It is a secret of the two and the relay
    Ticket(TicketArgs),
}

/// `vesica relay ticket`.
#[derive(Debug, Args)]
pub struct TicketArgs {
    /// The relay's key, which is made if the file does not exist [default: a ticket for a relay with --any-ticket]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub key: Option<PathBuf>,
}
