//! What makes an aggregate.

use vesica_party::Registered;
use vesica_protocols::registry::Rows as Lists;
use vesica_protocols::tasks::{Aggregate, Over};

use crate::failure::Failure;
use crate::task::{Side, Words};

/// How one aggregate differs from the others.
pub(in crate::task) trait AggregateKind: Send + Sync + 'static {
    /// What is computed.
    type Functionality: Aggregate;
    /// What people read of the task.
    const WORDS: Words;
    /// Whether the sender gives columns of values; else the aggregate counts.
    const SENDER_HAS_COLUMNS: bool;
    /// Whether the receiver gives a column of factors.
    const RECEIVER_HAS_COLUMN: bool;
    /// The protocols in these lists.
    fn rows_of(lists: &Lists) -> &'static [&'static dyn Registered<Self::Functionality>]
    where
        Self: Sized;
    /// INSECURE stand-ins for protocols.
    #[cfg(test)]
    fn stand_ins() -> Vec<&'static dyn Registered<Self::Functionality>> {
        Vec::new()
    }
    /// Refuses another number of columns of this side than the task takes.
    fn validate_columns(side: &Side<'_>) -> Result<(), Failure>;
    /// What the receiver learns, given the names of both sides' columns.
    fn learned(senders: &str, receivers: &str) -> String;
}

/// Whether an aggregate is one over a union.
pub(super) const fn is_over_union<K: AggregateKind>() -> bool {
    matches!(K::Functionality::OVER, Over::New)
}
