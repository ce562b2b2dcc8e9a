//! Cardinality of the union.

use super::aggregate::aggregate_task;

/// Union cardinality (CSSW25, Appendix B): how many items of the sender the receiver does not have.
/// With the number of its own items, which it knows, that is the size of the union.
#[derive(Clone, Copy, Debug)]
pub enum UnionCardinality {}

aggregate_task!(
    UnionCardinality,
    "union-cardinality",
    New,
    "The receiver learns how many items of the sender it does not have; with its own, that is the size of the union."
);
