//! One type an arrow of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use vesica_party::{Role, Step, Stream};

use crate::ecdh::Point;

const fn step(number: u8, from: Role, carries: &'static str) -> Step {
    Step { protocol: "oprf-buckets", number, from, carries }
}

/// Arrow 1: the prefixes of the client's items, ascending.
pub(super) enum Prefixes {}

impl Stream for Prefixes {
    const STEP: Step = step(1, Role::Receiver, "prefixes of the client's items");
    type Element = u32;
}

/// Arrow 2: the client's blinded elements.
pub(super) enum Blinded {}

impl Stream for Blinded {
    const STEP: Step = step(2, Role::Receiver, "the client's blinded elements");
    type Element = Point;
}

/// Arrow 3: the same times the server's key.
pub(super) enum Evaluated {}

impl Stream for Evaluated {
    const STEP: Step = step(3, Role::Sender, "the evaluated elements");
    type Element = Point;
}

/// Arrow 4: for each prefix of arrow 1, its bucket.
pub(super) enum Buckets {}

impl Stream for Buckets {
    const STEP: Step = step(4, Role::Sender, "the buckets of the prefixes");
    type Element = u8;
}
