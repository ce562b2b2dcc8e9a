//! Aggregates on any circuit PSI, as Figures 17 to 19 of LTSXQ26 have them: the receiver learns the sums of the
//! shares; over the common items, or over the sender's new ones.
//!
//! ```text
//!   Sender                                                            Receiver
//!      share of q_i              [ 1 to 8: a matching ]               share of q_i
//!      a_i                       [ count or multiplexer ]             b_i, a_i + b_i = q_i or q_i x_i for each value of x
//!      A_g                       [ inner products ]                   B_g, A_g + B_g = sum of (a_i + b_i) y_i over the i of group g
//!                                9. A_g and noise or mask
//!      ------------------------------------------------------------------------>
//!                                                                     A_g + B_g
//! ```
//!
//! Over new items the result is `t - (A_g + B_g)`, where `t` is the total over all items of the
//! sender but its dummies: the sender opens `t - A_g`, and the receiver takes `B_g` from it. That
//! shows no more than the result, for the reason that stands in `tasks/aggregate.rs`. Arrow 9 goes
//! even if a set is empty, since the receiver is to have `t` then. There is one group.
//!
//! In several runs, one for each bucket, only the total over all of them is to be shown. So the sender adds a random
//! mask to each result that arrow 9 opens, and the receiver gets to know no more of the masks of all runs than what they
//! add up to, or with a threshold what follows from its result. Its results are then uniform, and their sum is the total: it could make them all up from that. Each result
//! of each group has a mask of its own. With a threshold, the count of each group is opened likewise, and nothing is
//! compared: [`Withheld`] does that once, with the totals over all runs.
//!
//! Without values `y` and with one group there are no inner products: each side adds up its shares.
//! With a threshold the results are not opened by arrow 9 but by a circuit that adds the shares of
//! each group's results and count, compares the count, and gives zeros below the threshold
//! (`threshold`).
//!
//! Groups are the receiver's: the sender learns how many there are and no more, for each group is
//! an inner product with a vector that only the receiver sees.

pub(crate) mod messages;
mod params;
mod receiver;
mod sender;
mod threshold;
mod withheld;

use vesica_mpc::inner_product::InnerProduct;
use vesica_party::{Assumption, assumptions};

use super::entry::{EQUALITY_TESTS, semi_honest};

pub use params::Params;
pub use receiver::Receiver;
pub use sender::Sender;
pub use withheld::Withheld;

/// The deviation of counts.
pub const COUNT: &str = "Shares of bits become additive ones by one OT each, modulo the power of two that holds the \
                         count; the sender opens its sum.";

/// The deviation of sums.
pub const MASKED_SUM: &str = "The hint carries values that are masked additively, by masks out of the multiplexer's \
                              random OTs: it takes 66 bits a bin for a column; only sums are opened.";

/// The deviation of sums of products.
pub const PRODUCT: &str =
    "What is left of the product is one inner product of the sender's shares and the receiver's values, from RLWE.";

/// What follows a matching: conversions and multiplexers, and inner products for groups and products.
pub const ASSUMPTIONS: &[Assumption] = assumptions![EQUALITY_TESTS, semi_honest::<InnerProduct>()];

/// A row for an aggregate: its name, the task, the [`Matching`](super::Matching), the
/// [exchangeable parts](super::Exchangeable) where its description has no choice of them, whether the receiver brings
/// values, and that description.
#[macro_export]
macro_rules! aggregate_row {
    ($(#[$doc:meta])* $name:ident, $task:ty, $matching:ty, $exchangeable:expr, $valued:expr, $entry:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub enum $name {}

        impl ::vesica_party::Protocol for $name {
            const ENTRY: ::vesica_party::Entry = $entry;
            type Task = $task;
            type Params = $crate::circuit_psi::aggregate::Params<<$matching as $crate::circuit_psi::Matching>::Parts>;
            type Sender = $crate::circuit_psi::aggregate::Sender<$matching>;
            type Receiver = $crate::circuit_psi::aggregate::Receiver<$matching>;

            fn derive(
                request: &$crate::tasks::AggregateRequest,
            ) -> Result<Self::Params, ::vesica_structures::facts::Unsupported> {
                Self::derive_chosen(request, &Self::ENTRY)
            }

            fn derive_chosen(
                request: &$crate::tasks::AggregateRequest,
                entry: &'static ::vesica_party::Entry,
            ) -> Result<Self::Params, ::vesica_structures::facts::Unsupported> {
                let over = <$task as $crate::tasks::Aggregate>::OVER;
                Self::Params::derive::<$matching>(request, over, $valued, $exchangeable.chosen(entry))
            }

            fn predicted_bytes(params: &Self::Params) -> ::std::ops::RangeInclusive<u64> {
                params.predicted_bytes::<$matching>()
            }

            fn further_memory(params: &Self::Params, role: ::vesica_party::Role) -> u64 {
                params.further_memory::<$matching>(role)
            }
        }
    };
}
