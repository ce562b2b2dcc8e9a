//! Intersection, union, cardinality and sum from a reverse membership test. The sender puts its items into
//! places in a random order. The receiver learns which places hold a common item, but not which
//! item it is. What follows the test is the same for all tests:
//!
//! ```text
//!   Sender: places in a random order                                  Receiver: e_i = 1 if the item at place i is common
//!
//!   cardinality: ends here                                            the number of e_i = 1
//!
//!   union cardinality:           III. n'
//!      ------------------------------------------------------------------------>
//!                                                                     n' - the number of e_i = 1
//!
//!         [ random OTs: the sender gets k_i[0], k_i[1], the receiver random c_i and k_i[c_i] ]
//!                                I.   d_i = c_i + e_i
//!      <------------------------------------------------------------------------
//!   intersection:                II.  x_i + k_i[1 + d_i]
//!      ------------------------------------------------------------------------>
//!                                                                     x_i where e_i = 1
//!   union:                       II.  w_i + G(k_i[d_i], i), w_i the record and a mark
//!      ------------------------------------------------------------------------>
//!                                                                     w_i where e_i = 0
//!   sum:  r_i = G(k_i[d_i])      II.  t_i = v_i + r_i - G(k_i[1 + d_i]), in Z_2^64
//!      ------------------------------------------------------------------------>
//!                                                                     G(k_i[c_i]) + e_i t_i = r_i + e_i v_i
//!                                III. - sum of all r_i
//!      ------------------------------------------------------------------------>
//!                                                                     the sum of what came
//!   union sum: as the sum, but   III. t + sum of all r_i
//!      ------------------------------------------------------------------------>
//!                                                                     what came, less the sum of r_i + e_i v_i
//! ```
//!
//! `n'` is the number of the sender's items without dummies, and `t` the sum of their values. In a
//! union sum the receiver has `r_i` at the place of a new item and `r_i + v_i` at that of a common
//! one. All of these are uniformly random whatever the values are, and arrow III is their sum plus
//! the result: neither `t` nor the sum over common items shows. In a union's cardinality, `n'`
//! follows from the result and the number of common items.
//!
//! The receiver learns how many items are common as soon as the test is done. For the intersection
//! that is part of its output, for the sum and both aggregates over a union it is leakage. (The size
//! of a union tells it too, but only to a receiver that knows how many of the sender's items are no
//! dummies.) For the union it follows from the output, but the receiver has it before the records: a
//! run that is broken off then shows the number alone, again for each set that the receiver tries.
//! Whoever limits how often a partner may ask must count such runs too.
//!
//! # Why the union shows nothing else
//!
//! This holds for `czz24`, `gmr21` and `tcl23`. The other tests differ where their own pages say so: `krtw19`
//! has an order within each bin only, and the answers of `zcl23-pk` and `bpsy23-union` let the receiver
//! check guesses at a new item. Its record tells the item too, if it determines it.
//!
//! - **One string a place.** The receiver holds `k_i[c_i]`, and `k_i[d_i]` is the same block exactly
//!   where `e_i = 0`. Where the item is common, the string is under `G` of a block that the receiver
//!   does not have, and which pads nothing else: it is noise. There is one OT for each place, and the
//!   number of places depends on the sizes only, or there is none where a set is empty.
//! - **Places without an item.** Their test says "not common", so that the receiver opens them. Where
//!   a test has such places, a record is followed by a mark, 1 for an item and 0 for none, and what
//!   comes before a 0 is zeros. The receiver learns how many of the places that it opens hold no
//!   item, which is `places - n_s` in any run, and which ones they are, which is random.
//! - **The order of places.** It is uniform over *all* places, those without an item included, and
//!   only the sender knows it. Given `Y`, the records of `X \ Y` and the number of common items, the
//!   receiver sees uniformly random places of three kinds, whichever of its items are the common
//!   ones. In `gmr21` the receiver knows the salt too, and so the three bins of each new item. It
//!   does not know which places these bins became, and what it sees is the same for every
//!   intersection of this size, except where the sender's items do not fit into their bins
//!   (`2^-40`; there is no second try, and both sets are fixed before the salt). So no OPRF comes
//!   before the hashing. The argument is ours, and nobody outside of this project has reviewed it.
//! - **An empty set of the receiver.** All of the sender's items are new, and the sender sends their
//!   records in a random order, without pads: the receiver is to have each of them. The channel
//!   hides them from everyone else, as all messages.
//! - **Time.** The receiver takes the pads off at all places, and picks the new records out when the
//!   conversation is over.

pub mod czz24;
pub mod messages;
pub mod params;
pub mod receiver;
pub mod sender;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
pub mod transfer;

use std::fmt;
use std::marker::PhantomData;
use std::ops::RangeInclusive;

use vesica_mpc::bits::Bits;
use vesica_party::{Abort, Assumption, Channel, Entry, Leak, Learner, Mode, Protocol, Role, Rounds};
use vesica_structures::facts::Unsupported;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use crate::tasks::{
    AggregateRequest, Cardinality, EXACT_COUNT, Intersect, IntersectRequest, SIZES, Sum, Union, UnionCardinality,
    UnionRequest, UnionSum,
};

pub use messages::Arrows;
pub use params::Params;
pub use receiver::Receiver;
pub use sender::Sender;

/// A place of a test's order that holds no item.
pub const NO_ITEM: u32 = u32::MAX;

/// The last byte of a record at a place that holds an item, where others hold none. Theirs is 0.
const MARK_OF_ITEM: u8 = 1;

/// A reverse membership test, and the arrows of what comes after it. It runs only where neither set
/// is empty: otherwise nothing is common, and [`Membership`] does without a test.
pub trait MembershipTest: Send + Sync + fmt::Debug + 'static {
    /// The parameters that both sides derive from the sizes.
    type Params: Send + Sync;
    /// The left column, set up.
    type Sender: Send;
    /// The right column, set up.
    type Receiver: Send;
    /// The arrows I to III.
    type Arrows: Arrows;

    /// Whether some places hold no item.
    const HAS_EMPTY_PLACES: bool;

    /// Parameters for sets of these sizes, of at least one item each; semi-honest.
    fn derive(sender_items: usize, receiver_items: usize) -> Result<Self::Params, Unsupported>;
    /// See [`Protocol::derive_chosen`].
    fn derive_chosen(
        sender_items: usize,
        receiver_items: usize,
        _entry: &'static Entry,
    ) -> Result<Self::Params, Unsupported> {
        Self::derive(sender_items, receiver_items)
    }
    /// Places of the sender.
    fn places(params: &Self::Params) -> usize;
    /// Bytes of all messages of the test.
    fn predicted_bytes(params: &Self::Params) -> RangeInclusive<u64>;
    /// See [`Protocol::further_memory`].
    fn further_memory(_params: &Self::Params, _role: Role) -> u64 {
        0
    }
    /// Sets the sender up.
    fn sender(params: &Self::Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self::Sender, Abort>;
    /// Sets the receiver up.
    fn receiver(params: &Self::Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self::Receiver, Abort>;
    /// The test's left column; which item lies at each place, or [`NO_ITEM`].
    fn ask(
        sender: Self::Sender,
        items: &[u128],
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<Secret<Vec<u32>>, Abort>;
    /// The test's right column; for each place whether its item is common. The work after the
    /// sender's last message does not depend on it.
    fn test(receiver: Self::Receiver, items: &[u128], ch: &mut Channel, rng: &mut SecretRng) -> Result<Bits, Abort>;
}

/// A test whose use for task `T` is described.
pub trait For<T>: MembershipTest {
    /// The description.
    const ENTRY: Entry;
}

/// The protocol for task `T` on the test `M`.
#[derive(Clone, Copy, Debug)]
pub struct Membership<M, T>(PhantomData<fn() -> (M, T)>);

/// What leaks beside a cardinality, and beside an intersection, whose size is part of it.
pub const BESIDE_COUNT: &[Leak] = &[SIZES];
/// The leakage of a union.
pub const BESIDE_UNION: &[Leak] = &[SIZES, EARLY_COUNT];
/// What the receiver of a union can tell from its output, and has before.
pub const EARLY_COUNT: Leak = Leak {
    to: Learner::Receiver,
    what: "the number of common items, which the union tells too, before the new records: runs that it breaks off \
           then show the number alone, and count in any limit on runs (JSZG24)",
    extra: None,
};
/// The leakage of a sum, also of one over a union.
pub const BESIDE_SUM: &[Leak] = &[
    SIZES,
    EXACT_COUNT,
    Leak {
        to: Learner::Receiver,
        what: "that number before the sum: runs that it breaks off then show the number alone, and count in any limit \
               on runs (JSZG24)",
        extra: None,
    },
];
/// The leakage of the cardinality of a union.
pub const BESIDE_UNION_COUNT: &[Leak] = &[SIZES, EXACT_COUNT, REAL_ITEMS];
/// What the size of a union and the number of common items tell together.
const REAL_ITEMS: Leak =
    Leak { to: Learner::Receiver, what: "the number of the sender's items without dummies", extra: None };

/// How the cardinality of a union differs from the papers.
pub const UNION_COUNT: &str =
    "The sender says how many of its items are no dummies; a protocol for unions tells that too.";
/// How the sum over a union differs from the papers.
pub const UNION_SUM: &str = "Not in the paper: the sum over the items that are not common, in Z_2^64, as the masked total of \
                         all values less the sum over the common ones.";

/// The one mode of a row on a membership test.
pub const fn semi_honest(rounds: Rounds, assumptions: &'static [Assumption], leakage: &'static [Leak]) -> [Mode; 1] {
    [Mode::semi_honest(rounds, assumptions, leakage)]
}

macro_rules! row {
    ($task:ident, $request:ty, $($derive:tt)+) => {
        impl<M: For<$task>> Protocol for Membership<M, $task> {
            const ENTRY: Entry = <M as For<$task>>::ENTRY;
            type Task = $task;
            type Params = Params<M>;
            type Sender = Sender<M, $task>;
            type Receiver = Receiver<M, $task>;

            fn derive(request: &$request) -> Result<Params<M>, Unsupported> {
                Self::derive_chosen(request, &Self::ENTRY)
            }

            fn derive_chosen(request: &$request, entry: &'static Entry) -> Result<Params<M>, Unsupported> {
                Params::$($derive)+(request, entry)
            }

            fn predicted_bytes(params: &Params<M>) -> RangeInclusive<u64> {
                params.predicted_bytes()
            }

            fn further_memory(params: &Params<M>, role: Role) -> u64 {
                params.test.as_ref().map_or(0, |test| M::further_memory(test, role))
            }
        }
    };
}
row!(Intersect, IntersectRequest, intersect);
row!(Union, UnionRequest, union);
row!(Cardinality, AggregateRequest, cardinality::<Cardinality>);
row!(UnionCardinality, AggregateRequest, cardinality::<UnionCardinality>);
row!(Sum, AggregateRequest, sum::<Sum>);
row!(UnionSum, AggregateRequest, sum::<UnionSum>);
