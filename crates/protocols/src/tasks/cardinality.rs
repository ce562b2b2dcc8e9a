//! Cardinality.

use super::aggregate::aggregate_task;

/// Cardinality (LTSXQ26, Figure 10): how many items are common.
#[derive(Clone, Copy, Debug)]
pub enum Cardinality {}

aggregate_task!(
    Cardinality,
    "cardinality",
    Common,
    "The receiver learns how many items both sides have, for each of its groups."
);
