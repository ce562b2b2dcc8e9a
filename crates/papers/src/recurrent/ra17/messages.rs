//! One type an arrow of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use vesica_party::{Role, Step, Stream};

use vesica_protocols::ecdh::Point;

const fn step(number: u8, from: Role, carries: &'static str) -> Step {
    Step { protocol: "ra17", number, from, carries }
}

/// Arrow 1: the tags of the server's set.
pub(super) enum Tags {}

impl Stream for Tags {
    const STEP: Step = step(1, Role::Sender, "the server's sorted tags");
    type Element = u8;
}

/// Arrow 2: the server's payloads, encrypted.
pub(super) enum Payloads {}

impl Stream for Payloads {
    const STEP: Step = step(2, Role::Sender, "the encrypted payloads");
    type Element = u8;
}

/// Arrow 3: the client's items under its blinding.
pub(super) enum Blinded {}

impl Stream for Blinded {
    const STEP: Step = step(3, Role::Receiver, "the client's blinded items");
    type Element = Point;
}

/// Arrow 4: the same under both blindings.
pub(super) enum DoublyBlinded {}

impl Stream for DoublyBlinded {
    const STEP: Step = step(4, Role::Sender, "the client's items under both blindings");
    type Element = Point;
}
