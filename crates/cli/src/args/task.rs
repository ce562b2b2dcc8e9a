//! Flags that say what is computed, for `bench` and `plan`.

use clap::Args;
use vesica::Failure;
use vesica::failure::code;
use vesica::protocols::tasks::Extent;
use vesica::task::{self, Amounts, AnyTask};

use super::values::{SecurityName, count};

/// The task and what goes with the items.
#[derive(Debug, Args)]
pub struct TaskArgs {
    /// What to compute.
    #[arg(long, default_value = task::DEFAULT, help = tasks_help())]
    pub task: String,
    /// What the run must withstand
    #[arg(long, value_enum, default_value = "malicious")]
    pub security: SecurityName,
    /// intersect, shares, union: bytes of payload for each item of the sender. In a union they come
    /// on top of a key of 16 bytes
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    pub payload_bytes: usize,
    /// shares: bytes of payload for each item of the receiver
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    pub receiver_payload_bytes: usize,
    /// sum, join-and-compute, union-sum: values for each item of the sender [default: 1]
    #[arg(long, value_name = "N")]
    pub columns: Option<usize>,
    /// cardinality, sum, join-and-compute: how many groups the receiver has
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub groups: usize,
    /// cardinality, sum, join-and-compute: withhold the result of a group with fewer common items
    /// than this
    #[arg(long, value_name = "K", value_parser = count, default_value = "0")]
    pub at_least: u64,
    /// intersect: let the sender learn its matches too. union: let the sender learn the union too
    #[arg(long)]
    pub both_learn: bool,
}

/// What `--task` takes, from the list of tasks.
pub fn tasks_help() -> String {
    match task::names().as_slice() {
        [all @ .., last] if !all.is_empty() => format!("What to compute: {} or {last}", all.join(", ")),
        names => format!("What to compute: {}", names.join(", ")),
    }
}

impl TaskArgs {
    /// The task.
    ///
    /// # Errors
    /// If there is none of this name.
    pub fn task(&self) -> Result<&'static dyn AnyTask, Failure> {
        Ok(task::find(&self.task)?)
    }

    /// The extent of a run on sets of these sizes.
    ///
    /// # Errors
    /// If a set is larger than this machine can address.
    pub fn extent(&self, sender_items: u64, receiver_items: u64) -> Result<Extent, Failure> {
        Ok(Extent::new(items(sender_items)?, items(receiver_items)?, self.security.into()))
    }

    /// What goes with the items.
    ///
    /// # Errors
    /// If there is no such task.
    pub fn amounts(&self) -> Result<Amounts, Failure> {
        let &Self { payload_bytes, receiver_payload_bytes, groups, at_least, both_learn, .. } = self;
        let columns = self.columns.unwrap_or(self.task()?.least_amounts().columns);
        Ok(Amounts { payload_bytes, receiver_payload_bytes, columns, groups, at_least, both_learn })
    }
}

/// A number of items.
///
/// # Errors
/// If this machine cannot address so many.
pub fn items(count: u64) -> Result<usize, Failure> {
    usize::try_from(count).map_err(|_| Failure::new(code::USAGE, "too many items", "give fewer"))
}
