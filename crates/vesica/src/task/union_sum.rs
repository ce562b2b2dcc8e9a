//! Union sum: the receiver gets the sums of the sender's columns over the keys that only the sender
//! has, and adds its own columns over its own keys.

use vesica_party::Role;
use vesica_protocols::registry::Rows as Lists;
use vesica_protocols::tasks::UnionSum;

use super::Side;
use super::aggregate::{AggregateJob, AggregateKind};
use super::job::Rows;
use crate::failure::Failure;

/// The task `union-sum`.
pub(super) struct UnionSumKind;

impl AggregateKind for UnionSumKind {
    type Functionality = UnionSum;
    const SENDER_HAS_COLUMNS: bool = true;
    const RECEIVER_HAS_COLUMN: bool = false;

    fn rows_of(lists: &Lists) -> Rows<AggregateJob<Self>> {
        lists.union_sum
    }

    fn validate_columns(side: &Side<'_>) -> Result<(), Failure> {
        let is_missing = side.role == Role::Sender && side.settings.values.columns.is_empty();
        side.refuse("union-sum", is_missing, "a sum needs a column", "name columns of numbers with --payload")
    }

    fn learned(senders: &str, _receivers: &str) -> String {
        format!(
            "the sums of the sender's {senders} over the keys that only the sender has; where it knows the sums over \
             all keys of the sender, that tells those over the common ones"
        )
    }
}
