//! Union cardinality: the receiver gets the number of keys that the two sides have together.

use vesica_party::Task;
use vesica_protocols::registry::Rows as Lists;
use vesica_protocols::tasks::UnionCardinality;

use super::aggregate::{AggregateJob, AggregateKind};
use super::job::Rows;
use super::{Example, Side, Words};
use crate::failure::Failure;

/// The task `union-cardinality`.
pub(super) struct UnionCardinalityKind;

impl AggregateKind for UnionCardinalityKind {
    type Functionality = UnionCardinality;
    const WORDS: Words = Words::of_numbers(
        "The receiver gets the number of different keys of both tables together",
        Example::semi_honest("output = \"result.csv\"", ""),
    );
    const SENDER_HAS_COLUMNS: bool = false;
    const RECEIVER_HAS_COLUMN: bool = false;

    fn rows_of(lists: &Lists) -> Rows<AggregateJob<Self>> {
        lists.union_cardinality
    }

    fn validate_columns(side: &Side<'_>) -> Result<(), Failure> {
        let columns = side.settings.values.columns.len();
        let (fault, mend) = ("a cardinality takes no columns of values", "omit --payload, or say --task union-sum");
        side.refuse(UnionCardinality::NAME, columns > 0, fault, mend)
    }

    fn learned(_senders: &str, _receivers: &str) -> String {
        "how many keys only the sender has, and with its own keys the size of the union; where it knows how many keys \
         the sender has, that tells how many are common"
            .into()
    }
}
