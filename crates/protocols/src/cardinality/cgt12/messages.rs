//! One type an arrow of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use vesica_party::{Role, Step, Stream};

use crate::ecdh::Point;

const fn step(number: u8, from: Role, carries: &'static str) -> Step {
    Step { protocol: "ecdh-ca-cgt12", number, from, carries }
}

/// Arrow 1: the receiver's items under its own blinding, compressed.
pub(super) enum Blinded {}

impl Stream for Blinded {
    const STEP: Step = step(1, Role::Receiver, "the receiver's masked points");
    type Element = Point;
}

/// Arrow 2: the same points under both blindings, ascending.
pub(super) enum DoublyBlinded {}

impl Stream for DoublyBlinded {
    const STEP: Step = step(2, Role::Sender, "the doubly masked points");
    type Element = Point;
}

/// Arrow 3: the digests of the sender's items.
pub(super) enum Digests {}

impl Stream for Digests {
    const STEP: Step = step(3, Role::Sender, "the sender's sorted digests");
    type Element = u8;
}
