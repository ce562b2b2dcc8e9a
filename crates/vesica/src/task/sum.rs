//! Sum: the receiver gets the sums of the sender's columns over the common keys.

use vesica_party::{Role, Task};
use vesica_protocols::registry::Rows as Lists;
use vesica_protocols::tasks::Sum;

use super::aggregate::{AggregateJob, AggregateKind};
use super::job::Rows;
use super::{Example, Side, Words};
use crate::failure::Failure;

/// The task `sum`.
pub(super) struct SumKind;

impl AggregateKind for SumKind {
    type Functionality = Sum;
    const WORDS: Words = Words::of_numbers(
        "The receiver gets sums of the sender's columns over the common keys",
        Example::semi_honest(
            "output = \"sum.csv\"\n# One sum for each value of a column:\n# group-by = \"region\"",
            "# The columns to sum, with digits after the point and range:\npayload = [\"amount\"]\n\
             scale = { amount = 2 }\nclamp = { amount = \"0..500\" }\n\
             # The most groups that the receiver may ask for:\nmax-groups = 1",
        ),
    );
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
                side.refuse(Sum::NAME, columns > 0, fault, mend)
            }
            Role::Sender => {
                side.refuse(Sum::NAME, columns == 0, "a sum needs a column", "name columns of numbers with --payload")
            }
        }
    }

    fn learned(senders: &str, _receivers: &str) -> String {
        format!("the sums of the sender's {senders} over common keys")
    }
}
