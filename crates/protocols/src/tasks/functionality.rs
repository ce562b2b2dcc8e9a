//! The contract of a set task with the engine: how sizes and options make a request.

use vesica_party::{Security, Task};

/// What every run of every task has: both sizes and the security.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Number of distinct items of the sender, `n_s`.
    pub sender_items: usize,
    /// Number of distinct items of the receiver, `n_r`.
    pub receiver_items: usize,
    /// The least resistance asked for.
    pub security: Security,
    /// Runs of these sizes, one for each bucket of a larger task; 1 for a task in one run. All of them
    /// together keep to one failure budget.
    pub runs: usize,
}

impl Extent {
    /// Sets of these sizes, in one run.
    pub const fn new(sender_items: usize, receiver_items: usize, security: Security) -> Self {
        Self { sender_items, receiver_items, security, runs: 1 }
    }

    /// `runs` runs of this extent.
    pub const fn in_runs(self, runs: usize) -> Self {
        Self { runs, ..self }
    }
}

/// A task on two sets. Its request consists of the [`Extent`], which every task has, and of options
/// that only this task has.
pub trait SetFunctionality: Task {
    /// What is computed, in one sentence.
    const SUMMARY: &'static str;
    /// What both sides agreed on for this task and no other.
    type Options: Clone + Send + Sync + std::fmt::Debug + 'static;

    /// The request for a run of this extent with these options.
    fn request(extent: &Extent, options: &Self::Options) -> Self::Request;
}
