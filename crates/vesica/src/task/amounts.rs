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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::TASKS;

    /// The names of the tasks that take amounts like these, as a text lists them.
    fn takers(is_like: impl Fn(&Amounts) -> bool) -> String {
        let takes = |amounts: Vec<Amounts>| amounts.iter().any(&is_like);
        let names: Vec<&str> = TASKS
            .iter()
            .filter(|task| takes([task.richer_amounts(), vec![task.least_amounts()]].concat()))
            .map(|task| task.name())
            .collect();
        let (last, others) = names.split_last().expect("a task");
        format!("{} and {last}", others.join(", "))
    }

    #[test]
    fn the_refusal_names_the_tasks_that_take_each_amount() {
        let refused = Amounts { groups: 2, ..Amounts::NONE }.all_taken(&Amounts::NONE, "a-task").expect_err("groups");
        let [payloads, columns, groups, at_least] = [
            takers(|amounts| amounts.payload_bytes > 0),
            takers(|amounts| amounts.columns > 0),
            takers(|amounts| amounts.groups > 1),
            takers(|amounts| amounts.at_least > 0),
        ];
        assert_eq!(groups, at_least);
        let expected =
            format!("payloads are for {payloads}; columns for {columns}; groups for {groups}; thresholds for these");
        assert_eq!(refused.mend, expected);
    }
}
