//! Sum.

use super::aggregate::aggregate_task;

/// Sum (LTSXQ26, Figure 11): the sums of the sender's values over the common items.
#[derive(Clone, Copy, Debug)]
pub enum Sum {}

aggregate_task!(
    Sum,
    "sum",
    Common,
    "The receiver learns the sum of the sender's values over the common items, for each of its groups."
);
