//! Arrows I to III of the figure, numbered on from those of the test.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use std::fmt;

use vesica_mpc::tasks::RandomOt;
use vesica_party::Protocol;

/// Whose arrows they are, and what they stand on.
pub trait Arrows: Send + Sync + fmt::Debug + 'static {
    /// The protocol that errors name.
    const PROTOCOL: &'static str;
    /// The number of arrow I.
    const FIRST: u8;
    /// Domain of `G`.
    const PAD_CONTEXT: &'static str;
    /// The random OTs.
    type Ots: Protocol<Task = RandomOt>;
}

vesica_party::arrows! { A::PROTOCOL =>
    /// Arrow I: a bit for each place, eight a byte from the lowest.
    pub stream<A: Arrows> Flips[u8] = A::FIRST, Receiver, "flips of OTs";
    /// Arrow II of the intersection.
    pub stream<A: Arrows> Items[u128] = A::FIRST + 1, Sender, "the items, each under a pad";
    /// Arrow II of the union.
    pub stream<A: Arrows> Records[u8] = A::FIRST + 1, Sender, "the records, each under a pad";
    /// Arrow II of the sum.
    pub stream<A: Arrows> Values[u64] = A::FIRST + 1, Sender, "the values, each under a mask and a pad";
    /// Arrow III of a union's cardinality.
    pub stream<A: Arrows> Counted[u64] = A::FIRST + 2, Sender, "how many items it has without dummies";
    /// Arrow III of sums.
    pub stream<A: Arrows> Totals[u64] = A::FIRST + 2, Sender, "what takes the masks off the sums";
}
