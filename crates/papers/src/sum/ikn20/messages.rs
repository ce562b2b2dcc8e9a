//! One type an arrow of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use vesica_party::{Role, Step, Stream};
use vesica_structures::rlwe::Element;

use super::DOMAIN;
use vesica_protocols::ecdh::{Point, exchange};

const fn step(number: u8, from: Role, carries: &'static str) -> Step {
    Step { protocol: "ikn20", number, from, carries }
}

/// Arrow 1: what sums are refreshed with.
pub(super) enum Zeros {}

impl Stream for Zeros {
    const STEP: Step = step(1, Role::Sender, "an encryption of zeros");
    type Element = Element;
}

/// Arrow 2: the receiver's items under its own blinding, compressed.
pub(super) enum OfReceiver {}

impl Stream for OfReceiver {
    const STEP: Step = step(2, Role::Receiver, "the receiver's masked points");
    type Element = Point;
}

/// Arrow 3: the sender's items under its own blinding, shuffled.
pub(super) enum OfSender {}

impl Stream for OfSender {
    const STEP: Step = step(3, Role::Sender, "the sender's masked points");
    type Element = Point;
}

/// Arrows 2 and 3.
pub(super) enum Arrows {}

impl exchange::Arrows for Arrows {
    const DOMAIN: &'static [u8] = DOMAIN;
    type FromReceiver = OfReceiver;
    type FromSender = OfSender;
}

/// Arrow 4: digests of the receiver's items under both blindings.
pub(super) enum Digests {}

impl Stream for Digests {
    const STEP: Step = step(4, Role::Sender, "the sorted digests of the receiver's points");
    type Element = u8;
}

/// Arrow 5: the values in the order of arrow 3, encrypted.
pub(super) enum Values {}

impl Stream for Values {
    const STEP: Step = step(5, Role::Sender, "the encrypted values");
    type Element = Element;
}

/// Arrow 6: the masked sums, encrypted.
pub(super) enum Sums {}

impl Stream for Sums {
    const STEP: Step = step(6, Role::Receiver, "the masked sums, encrypted");
    type Element = Element;
}

/// Arrow 7: the masked sums.
pub(super) enum Results {}

impl Stream for Results {
    const STEP: Step = step(7, Role::Sender, "the masked sums");
    type Element = u64;
}
