//! Sum: the receiver gets the sums of the sender's columns over the common keys.

use vesica_party::Role;
use vesica_protocols::registry::Rows as Lists;
use vesica_protocols::tasks::Sum;

use super::Side;
use super::aggregate::{AggregateJob, AggregateKind};
use super::job::Rows;
use crate::failure::Failure;

/// The task `sum`.
pub(super) struct SumKind;

impl AggregateKind for SumKind {
    type Functionality = Sum;
    const SENDER_HAS_COLUMNS: bool = true;
    const RECEIVER_HAS_COLUMN: bool = false;

    fn rows_of(lists: &Lists) -> Rows<AggregateJob<Self>> {
        lists.sum
    }

    #[cfg(test)]
    fn stand_ins() -> Vec<&'static dyn vesica_party::Registered<Sum>> {
        crate::insecure::sum()
    }

    fn validate_columns(side: &Side<'_>) -> Result<(), Failure> {
        let columns = side.settings.values.columns.len();
        match side.role {
            Role::Receiver => {
                let (fault, mend) =
                    ("a sum is over the sender's columns", "omit --payload, or say --task join-and-compute");
                side.refuse("sum", columns > 0, fault, mend)
            }
            Role::Sender => {
                side.refuse("sum", columns == 0, "a sum needs a column", "name columns of numbers with --payload")
            }
        }
    }

    fn learned(senders: &str, _receivers: &str) -> String {
        format!("the sums of the sender's {senders} over common keys")
    }
}
