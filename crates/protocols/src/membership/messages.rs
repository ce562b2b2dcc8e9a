//! Arrows I to III of the figure, numbered on from those of the test.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use std::marker::PhantomData;

use vesica_party::{Role, Step, Stream};

use super::Arrows;

const fn step<A: Arrows>(after: u8, from: Role, carries: &'static str) -> Step {
    Step { protocol: A::PROTOCOL, number: A::FIRST + after, from, carries }
}

/// Arrow I: a bit for each place, eight a byte from the lowest.
pub struct Flips<A>(PhantomData<A>);

impl<A: Arrows> Stream for Flips<A> {
    const STEP: Step = step::<A>(0, Role::Receiver, "flips of OTs");
    type Element = u8;
}

/// Arrow II of the intersection.
pub struct Items<A>(PhantomData<A>);

impl<A: Arrows> Stream for Items<A> {
    const STEP: Step = step::<A>(1, Role::Sender, "the items, each under a pad");
    type Element = u128;
}

/// Arrow II of the union.
pub struct Records<A>(PhantomData<A>);

impl<A: Arrows> Stream for Records<A> {
    const STEP: Step = step::<A>(1, Role::Sender, "the records, each under a pad");
    type Element = u8;
}

/// Arrow II of the sum.
pub struct Values<A>(PhantomData<A>);

impl<A: Arrows> Stream for Values<A> {
    const STEP: Step = step::<A>(1, Role::Sender, "the values, each under a mask and a pad");
    type Element = u64;
}

/// Arrow III of a union's cardinality.
pub struct Counted<A>(PhantomData<A>);

impl<A: Arrows> Stream for Counted<A> {
    const STEP: Step = step::<A>(2, Role::Sender, "how many items it has without dummies");
    type Element = u64;
}

/// Arrow III of sums.
pub struct Totals<A>(PhantomData<A>);

impl<A: Arrows> Stream for Totals<A> {
    const STEP: Step = step::<A>(2, Role::Sender, "what takes the masks off the sums");
    type Element = u64;
}
