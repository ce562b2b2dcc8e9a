//! One type an arrow of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use bytemuck::{Pod, Zeroable};
use vesica_party::{Fixed, Role, Step, Stream};

use crate::union::oprf;

const fn step(number: u8, from: Role, carries: &'static str) -> Step {
    Step { protocol: "vesica-union", number, from, carries }
}

/// Arrow 1: what keys the OPRF's functions.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(transparent)]
pub(super) struct Salt(pub(super) [u8; 32]);

impl Fixed for Salt {
    const STEP: Step = step(1, Role::Sender, "the salt");
}

/// Arrow 2, packed.
pub(super) enum Table {}

impl Stream for Table {
    const STEP: Step = step(2, Role::Receiver, "the masked table");
    type Element = u8;
}

/// Arrows 1 and 2.
pub(super) enum Oprf {}

impl oprf::Arrows for Oprf {
    type Salt = Salt;
    type Table = Table;
    const KEYS: &'static str = "vesica v1 vesica-union 2026 salt to keys of the OPRF";
    const FORK: &'static str = "vesica-union oprf";
}

/// Arrow 3: a bit for each place, eight a byte from the lowest.
pub(super) enum Flips {}

impl Stream for Flips {
    const STEP: Step = step(3, Role::Receiver, "flips of OTs");
    type Element = u8;
}

/// Arrow 4, the records. Without pads where the receiver has no items.
pub(super) enum Records {}

impl Stream for Records {
    const STEP: Step = step(4, Role::Sender, "the records, each under a pad");
    type Element = u8;
}

/// Arrow 4, the zeros behind the records, packed.
pub(super) enum Tags {}

impl Stream for Tags {
    const STEP: Step = step(5, Role::Sender, "the ends of the pads");
    type Element = u8;
}

vesica_party::messages![Salt];
