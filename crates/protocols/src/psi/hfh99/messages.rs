//! One type an arrow of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use vesica_party::{Role, Step, Stream};

use crate::ecdh::Point;
use crate::psi::finish;

const fn step(number: u8, from: Role, carries: &'static str) -> Step {
    Step { protocol: "ecdh-hfh99", number, from, carries }
}

/// Arrow 1: the receiver's items under its own blinding, `b H(y)`, compressed.
pub(super) enum Blinded {}

impl Stream for Blinded {
    const STEP: Step = step(1, Role::Receiver, "the receiver's masked points");
    type Element = Point;
}

/// Arrow 2: the same points under both blindings, `a b H(y)`, in the same order.
pub(super) enum DoublyBlinded {}

impl Stream for DoublyBlinded {
    const STEP: Step = step(2, Role::Sender, "the doubly masked points");
    type Element = Point;
}

/// Arrow 3: the sender's tags.
pub(super) enum Tags {}

impl Stream for Tags {
    const STEP: Step = step(3, Role::Sender, "the sender's sorted tags");
    type Element = u8;
}

/// Arrow 4: the sender's payloads, encrypted.
pub(super) enum Payloads {}

impl Stream for Payloads {
    const STEP: Step = step(4, Role::Sender, "the encrypted payloads");
    type Element = u8;
}

/// Arrow 5: proofs of the matches.
pub(super) enum Proofs {}

impl Stream for Proofs {
    const STEP: Step = step(5, Role::Receiver, "the proofs of matches");
    type Element = u128;
}

/// Arrows 3 to 5.
pub(super) enum FinishArrows {}

impl finish::Arrows for FinishArrows {
    type Tags = Tags;
    type Payloads = Payloads;
    type Proofs = Proofs;
}
