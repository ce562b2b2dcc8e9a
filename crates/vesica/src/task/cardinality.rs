//! Cardinality: the receiver gets the number of common keys.

use vesica_party::Task;
use vesica_protocols::registry::Rows as Lists;
use vesica_protocols::tasks::Cardinality;

use super::aggregate::{AggregateJob, AggregateKind};
use super::job::Rows;
use super::{Example, Side, Words};
use crate::failure::Failure;

/// The task `cardinality`.
pub(super) struct CardinalityKind;

impl AggregateKind for CardinalityKind {
    type Functionality = Cardinality;
    const WORDS: Words = Words::of_numbers(
        "The receiver gets the number of common keys",
        Example::semi_honest(
            "output = \"count.csv\"\n# One count for each value of a column:\n# group-by = \"region\"",
            "# The most groups that the receiver may ask for:\nmax-groups = 1",
        ),
    );
    const SENDER_HAS_COLUMNS: bool = false;
    const RECEIVER_HAS_COLUMN: bool = false;

    fn rows_of(lists: &Lists) -> Rows<AggregateJob<Self>> {
        lists.cardinality
    }

    #[cfg(test)]
    fn stand_ins() -> Vec<&'static dyn vesica_party::Registered<Cardinality>> {
        crate::insecure::cardinality()
    }

    fn validate_columns(side: &Side<'_>) -> Result<(), Failure> {
        let columns = side.settings.values.columns.len();
        let (fault, mend) = ("a cardinality takes no columns of values", "omit --payload, or say --task sum");
        side.refuse(Cardinality::NAME, columns > 0, fault, mend)
    }

    fn learned(_senders: &str, _receivers: &str) -> String {
        "how many keys are common".into()
    }
}
