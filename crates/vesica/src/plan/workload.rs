//! What planning asks of a task.

use std::fmt;
use std::ops::RangeInclusive;

use vesica_party::{Entry, Role};
use vesica_protocols::tasks::Extent;
use vesica_structures::facts::Unsupported;

/// How a protocol computes the totals of columns and groups, which decides what each more of them
/// takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Totals {
    /// From the matches that one side sees, or under encryption; or not at all.
    Plain,
    /// As inner products of shares, one for each column and group.
    OnShares,
}

/// A task with its sizes and options: what `auto`, the cost model and the memory model ask of it.
/// They know no task by name.
pub trait Workload: fmt::Debug + Send + Sync {
    /// The task's name.
    fn task(&self) -> &'static str;
    /// The sizes and the security.
    fn extent(&self) -> &Extent;
    /// Whether the task runs in buckets of keys.
    fn runs_in_buckets(&self) -> bool;
    /// Whether a side may then keep its keys in a work folder.
    fn keeps_on_disk(&self) -> bool;
    /// The protocols of the task, in the registry's order.
    fn entries(&self) -> Vec<&'static Entry>;
    /// Least and most bytes of both sides by the formula of this protocol.
    ///
    /// # Errors
    /// If the protocol does not serve the workload.
    fn predicted_bytes(&self, entry: &Entry) -> Result<RangeInclusive<u64>, Unsupported>;
    /// Units of work beyond the items themselves, which the cost model weighs with a constant of
    /// the protocol: bytes of payloads, or an aggregate's values after the first.
    fn extra_work(&self) -> u64;
    /// Bytes of memory on the side of this role beyond those for the items themselves, with the protocol of this
    /// id, which computes totals in this way: those of a run, and what stays of each until all are done.
    fn extra_memory(&self, id: &str, totals: Totals, role: Role) -> u64;
}
