//! Flags that say what is computed, for `bench` and `plan`.

use clap::Args;
use vesica::Failure;
use vesica::failure::code;
use vesica::party::Security;
use vesica::plan::{SetTask, Terms};

use super::values::{SecurityName, count};

/// The task and what goes with the items.
#[derive(Debug, Args)]
pub struct TaskArgs {
    /// What to compute: intersect, cardinality, sum, join-and-compute or shares
    #[arg(long, default_value = "intersect")]
    pub task: String,
    /// What the run must withstand
    #[arg(long, value_enum, default_value = "malicious")]
    pub security: SecurityName,
    /// intersect, shares: bytes of payload for each item of the sender
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    pub payload_bytes: usize,
    /// shares: bytes of payload for each item of the receiver
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    pub receiver_payload_bytes: usize,
    /// sum, join-and-compute: values for each item of the sender [default: 1]
    #[arg(long, value_name = "N")]
    pub columns: Option<usize>,
    /// Aggregates: how many groups the receiver has
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub groups: usize,
    /// Aggregates: withhold the result of a group with fewer common items than this
    #[arg(long, value_name = "K", value_parser = count, default_value = "0")]
    pub at_least: u64,
}

impl TaskArgs {
    /// The terms of a run on sets of these sizes.
    ///
    /// # Errors
    /// If there is no such task, or a set is larger than this machine can address.
    pub fn terms(&self, sender_items: u64, receiver_items: u64) -> Result<Terms, Failure> {
        let task = SetTask::parse(&self.task)?;
        let [sender_items, receiver_items] = [self::items(sender_items)?, self::items(receiver_items)?];
        Ok(Terms {
            payload_bytes: self.payload_bytes,
            receiver_payload_bytes: self.receiver_payload_bytes,
            columns: self.columns.unwrap_or(usize::from(matches!(task, SetTask::Sum | SetTask::JoinAndCompute))),
            groups: self.groups,
            at_least: self.at_least,
            ..Terms::new(task, sender_items, receiver_items, Security::from(self.security))
        })
    }
}

/// A number of items.
///
/// # Errors
/// If this machine cannot address so many.
pub fn items(count: u64) -> Result<usize, Failure> {
    usize::try_from(count).map_err(|_| Failure::new(code::USAGE, "too many items", "give fewer"))
}
