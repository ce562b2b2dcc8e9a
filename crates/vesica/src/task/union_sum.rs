//! Union sum: the receiver gets the sums of the sender's columns over the keys that only the sender
//! has, and adds its own columns over its own keys.

use vesica_party::{Role, Task};
use vesica_protocols::registry::Rows as Lists;
use vesica_protocols::tasks::UnionSum;

use super::aggregate::{AggregateJob, AggregateKind};
use super::job::Rows;
use super::{Example, Side, Words};
use crate::failure::Failure;

/// The task `union-sum`.
pub(super) struct UnionSumKind;

impl AggregateKind for UnionSumKind {
    type Functionality = UnionSum;
    const WORDS: Words = Words::of_numbers(
        "The receiver gets totals over the keys of both tables together",
        Example::semi_honest(
            "output = \"sum.csv\"\n# Your first column and the sender's first are summed together:\n\
             payload = [\"spent\"]\nscale = { spent = 2 }\nclamp = { spent = \"0..500\" }",
            "# The columns to sum, with digits after the point and range:\npayload = [\"amount\"]\n\
             scale = { amount = 2 }\nclamp = { amount = \"0..500\" }",
        ),
    );
    const SENDER_HAS_COLUMNS: bool = true;
    const RECEIVER_HAS_COLUMN: bool = false;

    fn rows_of(lists: &Lists) -> Rows<AggregateJob<Self>> {
        lists.union_sum
    }

    fn validate_columns(side: &Side<'_>) -> Result<(), Failure> {
        let is_missing = side.role == Role::Sender && side.settings.values.columns.is_empty();
        side.refuse(UnionSum::NAME, is_missing, "a sum needs a column", "name columns of numbers with --payload")
    }

    fn learned(senders: &str, _receivers: &str) -> String {
        format!(
            "the sums of the sender's {senders} over the keys that only the sender has; where it knows the sums over \
             all keys of the sender, that tells those over the common ones"
        )
    }
}
