//! One type an arrow of the figure, of row `V`.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use std::marker::PhantomData;

use vesica_party::{Role, Step, Stream};

use super::{PointOf, Variant};
use crate::psi::finish;

const fn step<V: Variant>(number: u8, from: Role, carries: &'static str) -> Step {
    Step { protocol: V::ENTRY.id, number, from, carries }
}

/// Arrow 1: the receiver's items under its own blinding, `b H(y)`, compressed.
pub struct Blinded<V>(PhantomData<fn() -> V>);

impl<V: Variant> Stream for Blinded<V> {
    const STEP: Step = step::<V>(1, Role::Receiver, "the receiver's masked points");
    type Element = PointOf<V>;
}

/// Arrow 2: the same points under both blindings, `a b H(y)`, in the same order.
pub struct DoublyBlinded<V>(PhantomData<fn() -> V>);

impl<V: Variant> Stream for DoublyBlinded<V> {
    const STEP: Step = step::<V>(2, Role::Sender, "the doubly masked points");
    type Element = PointOf<V>;
}

/// Arrow 3: the sender's tags.
pub struct Tags<V>(PhantomData<fn() -> V>);

impl<V: Variant> Stream for Tags<V> {
    const STEP: Step = step::<V>(3, Role::Sender, "the sender's sorted tags");
    type Element = u8;
}

/// Arrow 4: the sender's payloads, encrypted.
pub struct Payloads<V>(PhantomData<fn() -> V>);

impl<V: Variant> Stream for Payloads<V> {
    const STEP: Step = step::<V>(4, Role::Sender, "the encrypted payloads");
    type Element = u8;
}

/// Arrow 5: proofs of the matches.
pub struct Proofs<V>(PhantomData<fn() -> V>);

impl<V: Variant> Stream for Proofs<V> {
    const STEP: Step = step::<V>(5, Role::Receiver, "the proofs of matches");
    type Element = u128;
}

/// Arrows 3 to 5.
pub struct FinishArrows<V>(PhantomData<fn() -> V>);

impl<V: Variant> finish::Arrows for FinishArrows<V> {
    type Tags = Tags<V>;
    type Payloads = Payloads<V>;
    type Proofs = Proofs<V>;
}
