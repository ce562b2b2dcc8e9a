//! Join and compute.

use super::aggregate::aggregate_task;

/// Join and compute (LTSXQ26, Figure 12): the sums of the products of both sides' values over the
/// common items.
#[derive(Clone, Copy, Debug)]
pub enum JoinAndCompute {}

aggregate_task!(
    JoinAndCompute,
    "join-and-compute",
    Common,
    "The receiver learns the sum of products of the sender's values with its own over the common items."
);
