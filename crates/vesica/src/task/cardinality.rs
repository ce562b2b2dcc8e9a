//! Cardinality: the receiver gets the number of common keys.

use vesica_protocols::registry::Rows as Lists;
use vesica_protocols::tasks::Cardinality;

use super::Side;
use super::aggregate::{AggregateJob, AggregateKind};
use super::job::Rows;
use crate::failure::Failure;

/// The task `cardinality`.
pub(super) struct CardinalityKind;

impl AggregateKind for CardinalityKind {
    type Functionality = Cardinality;
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
        side.refuse("cardinality", columns > 0, fault, mend)
    }

    fn learned(_senders: &str, _receivers: &str) -> String {
        "how many keys are common".into()
    }
}
