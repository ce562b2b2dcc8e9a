//! Join and compute: the receiver gets the sums of the products of both sides' values over the
//! common keys.

use vesica_party::{Role, Task};
use vesica_protocols::registry::Rows as Lists;
use vesica_protocols::tasks::JoinAndCompute;

use super::aggregate::{AggregateJob, AggregateKind};
use super::job::Rows;
use super::{Example, Side, Words};
use crate::failure::Failure;

/// The task `join-and-compute`.
pub(super) struct JoinAndComputeKind;

impl AggregateKind for JoinAndComputeKind {
    type Functionality = JoinAndCompute;
    const WORDS: Words = Words::of_numbers(
        "The receiver gets sums of products of the sender's columns and its own over the common keys",
        Example::semi_honest(
            "output = \"products.csv\"\n# The column that each of the sender's is multiplied with:\n\
             payload = [\"weight\"]\nclamp = { weight = \"0..10\" }",
            "# The columns to multiply and sum, with digits after the point and range:\npayload = [\"amount\"]\n\
             scale = { amount = 2 }\nclamp = { amount = \"0..500\" }",
        ),
    );
    const SENDER_HAS_COLUMNS: bool = true;
    const RECEIVER_HAS_COLUMN: bool = true;

    fn rows_of(lists: &Lists) -> Rows<AggregateJob<Self>> {
        lists.join_and_compute
    }

    #[cfg(test)]
    fn stand_ins() -> Vec<&'static dyn vesica_party::Registered<JoinAndCompute>> {
        crate::insecure::join_and_compute()
    }

    fn validate_columns(side: &Side<'_>) -> Result<(), Failure> {
        let columns = side.settings.values.columns.len();
        match side.role {
            Role::Receiver => side.refuse(
                JoinAndCompute::NAME,
                columns != 1,
                "join-and-compute takes one column of the receiver",
                "name one with --payload",
            ),
            Role::Sender => side.refuse(
                JoinAndCompute::NAME,
                columns == 0,
                "join-and-compute needs a column",
                "name columns of numbers with --payload",
            ),
        }
    }

    fn learned(senders: &str, receivers: &str) -> String {
        format!("the sums of the products of the sender's {senders} with the receiver's {receivers} over common keys")
    }
}
