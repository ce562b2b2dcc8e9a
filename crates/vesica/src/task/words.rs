//! What people read of a task, in receipts and in the example of a job file.

use vesica_party::Security;

/// A task in words. What is not learned is beyond what a receipt lists as learned.
#[derive(Clone, Copy, Debug)]
pub struct Words {
    /// What is computed, a sentence without its full stop.
    pub computes: &'static str,
    /// What the receiver does not learn.
    pub kept_from_receiver: &'static str,
    /// What the sender does not learn.
    pub kept_from_sender: &'static str,
    /// What the sender does not learn where it gets a result, too (`--both-learn`).
    pub kept_from_sender_with_result: &'static str,
    /// What its example of a job says.
    pub example: Example,
}

impl Words {
    /// Those of a task whose result is numbers.
    pub(super) const fn of_numbers(computes: &'static str, example: Example) -> Self {
        Self {
            computes,
            kept_from_receiver: "which keys are common, and values of single keys, except for what follows from the \
                                 numbers that it got",
            kept_from_sender: "any key of the receiver, which keys are common, and the result",
            kept_from_sender_with_result: "any other key of the receiver",
            example,
        }
    }
}

/// Lines of TOML, with comments, by which the example of a job is one for a task. Paths and columns are made up.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// The highest security that the product's protocols give.
    pub security: Security,
    /// The receiver's output and columns.
    pub receiver: &'static str,
    /// The sender's columns, and its output if it has one.
    pub sender: &'static str,
}

impl Example {
    /// One with the security of most tasks.
    pub(super) const fn semi_honest(receiver: &'static str, sender: &'static str) -> Self {
        Self { security: Security::SemiHonest, receiver, sender }
    }
}
