//! What goes with the items, in the numbers that flags of `plan` and `bench` give.

use vesica_structures::facts::Unsupported;

/// What goes with the items of a run that is planned or measured. Each task takes the numbers that
/// it has a use for, and refuses the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Amounts {
    /// Bytes of payload of each of the sender's items.
    pub payload_bytes: usize,
    /// Bytes of payload of each of the receiver's items.
    pub receiver_payload_bytes: usize,
    /// Values of each of the sender's items.
    pub columns: usize,
    /// Groups of the receiver's items.
    pub groups: usize,
    /// Fewest common items of a group that is shown.
    pub at_least: u64,
    /// Whether the sender learns its matches too.
    pub both_learn: bool,
}

impl Amounts {
    /// Nothing goes with the items.
    pub const NONE: Self =
        Self { payload_bytes: 0, receiver_payload_bytes: 0, columns: 0, groups: 1, at_least: 0, both_learn: false };

    /// Refuses numbers other than `taken`, which is what `task` makes of them.
    pub(super) fn all_taken(&self, taken: &Self, task: &str) -> Result<(), Unsupported> {
        if self == taken {
            return Ok(());
        }
        Err(Unsupported::new(
            format_args!("the task {task} does not take these payloads, columns or groups"),
            "payloads are for intersect, union and shares; columns for sum, join-and-compute and union-sum; groups for \
             cardinality, sum and join-and-compute; thresholds for these",
        ))
    }
}
