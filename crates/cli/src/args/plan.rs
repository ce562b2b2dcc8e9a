//! Flags of `plan`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use vesica_bench::Link;

use super::task::TaskArgs;
use super::values::{count, threads};

const HELP: &str = "\
Examples:
  vesica plan --sender-items 1e6 --receiver-items 2e5 --link 100mbit,40ms
  vesica plan --sender-items 1e6 --receiver-items 1e6 --security semi-honest --payload-bytes 32 --traffic same-site --json
  vesica plan --task sum --security semi-honest --columns 2 --sender-items 1e5 --receiver-items 1e5
  vesica plan --calibrate

Times hold for two machines like this one, each with the threads of --threads. How fast this machine is was measured when `plan` first ran here (about a \
second) and is kept in vesica/calibration.json of your cache folder; it is measured again for another version of vesica, processor or number of threads, and \
with --calibrate. Bytes are those of the protocol's formula. Reading and writing the tables comes on top of time and memory, \
as do groups and thresholds of aggregates.

`auto` does not go by this machine, since the partner has another one: both sides choose by the reference machine and the link that they name with --link.";

/// `vesica plan`.
#[derive(Debug, Args)]
#[command(after_long_help = HELP)]
pub struct PlanArgs {
    /// Distinct keys of the sender
    #[arg(long, value_name = "N", value_parser = count, required_unless_present = "calibrate")]
    pub sender_items: Option<u64>,
    /// Distinct keys of the receiver
    #[arg(long, value_name = "N", value_parser = count, required_unless_present = "calibrate")]
    pub receiver_items: Option<u64>,
    /// What is computed.
    #[command(flatten)]
    pub task: TaskArgs,
    /// The sender learns its matches too
    #[arg(long)]
    pub both_learn: bool,
    /// Let `auto` take protocols that also show the receiver exactly how many keys are common
    #[arg(long)]
    pub allow_count: bool,
    /// The link between the two sides: loopback, lan, or RATE,RTT such as 100mbit,40ms
    #[arg(long, value_name = "LINK", default_value = "1gbit,10ms")]
    pub link: Link,
    /// Threads that compute on either side
    #[arg(long, value_name = "N", value_parser = threads, default_value = "1")]
    pub threads: NonZeroUsize,
    /// The kind of traffic, by the list of prices: same-site, other-site or internet
    #[arg(long, value_name = "KIND", default_value = "internet")]
    pub traffic: String,
    /// Your own list of prices instead of the built-in one; docs/prices-2026-11.toml shows what it looks like
    #[arg(long, value_name = "FILE")]
    pub prices: Option<PathBuf>,
    /// Measure this machine again
    #[arg(long)]
    pub calibrate: bool,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}
