//! Flags of `plan`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use vesica::plan::Link;

use super::task::TaskArgs;
use super::values::{buckets, count, threads};

const HELP: &str = "\
Examples:
  vesica plan --sender-items 1e6 --receiver-items 2e5 --link 100mbit,40ms
  vesica plan --sender-items 1e6 --receiver-items 1e6 --security semi-honest --payload-bytes 32 \\
      --traffic same-site --json
  vesica plan --task sum --security semi-honest --columns 2 --sender-items 1e5 --receiver-items 1e5
  vesica plan --calibrate

Times are for two machines like this one, each with the threads of --threads. The first run of `plan` measures this \
                    machine for about a second, and keeps the result in vesica/calibration.json of your cache \
                    folder. `plan` measures again with --calibrate, and for another version of vesica, \
                    another processor, or a number of threads that was not measured yet. Bytes are computed from the protocol's formula. Neither time \
                    nor memory counts reading and writing files. What --groups adds to the memory is only in the line \
                    `Memory: ...` at the end, not in the lines of the protocols.

`auto` does not use the speed of this machine, since your partner has another one. Both sides choose by a reference \
                    machine and the link that they name with --link.";

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
    /// Run on so many buckets of keys one after the other, as both sides would with --buckets
    #[arg(long, value_name = "N|auto", value_parser = buckets, default_value = "1")]
    pub buckets: u32,
    /// sum, union-cardinality, union-sum: let `auto` also take protocols that show the receiver the
    /// exact number of common keys
    #[arg(long)]
    pub allow_count: bool,
    /// Count only what no quantum computer is known to break, as a run with --post-quantum does
    #[arg(long)]
    pub post_quantum: bool,
    /// The link between the two sides: loopback, lan, or RATE,RTT such as 100mbit,40ms
    #[arg(long, value_name = "LINK", default_value = "1gbit,10ms")]
    pub link: Link,
    /// How many threads compute on each side
    #[arg(long, value_name = "N", value_parser = threads, default_value = "1")]
    pub threads: NonZeroUsize,
    /// Where the two sides are, for the price of traffic: same-site, other-site or internet
    #[arg(long, value_name = "KIND", default_value = "internet")]
    pub traffic: String,
    /// Use this list of prices instead of the built-in one; docs/prices-2026-11.toml is an example
    #[arg(long, value_name = "FILE")]
    pub prices: Option<PathBuf>,
    /// List all protocols: also those that are only for comparison, and, with the reason, those that
    /// cannot run
    #[arg(long)]
    pub all: bool,
    /// Also name the broken protocols, which no run takes unless both sides permit it
    #[arg(long)]
    pub allow_broken: bool,
    /// Measure this machine again
    #[arg(long)]
    pub calibrate: bool,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}
