//! Sum over the union.

use super::aggregate::aggregate_task;

/// Union sum (CSSW25, Appendix B): the sums of the sender's values over the items that the receiver
/// does not have. With the sums of its own values, which it knows, these are sums over the union,
/// in which a common item counts with the receiver's value.
///
/// The paper writes the result of its OTs as `sum of r_i + z_i a_i`, where `z_i` says that item `i`
/// is common. Its OTs give `r_i + a_i` for `z_i = 0` and `r_i` for `z_i = 1`, so that the formula
/// wants `(1 - z_i) a_i`. As it stands, it is the sum over the intersection.
#[derive(Clone, Copy, Debug)]
pub enum UnionSum {}

aggregate_task!(
    UnionSum,
    "union-sum",
    New,
    "The receiver learns the sum of the sender's values over the items that it does not have itself; with its own \
     values, that is the sum over the union."
);
