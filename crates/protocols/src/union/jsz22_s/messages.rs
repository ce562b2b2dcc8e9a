//! One type an arrow of the figure. In the OPRF the union's receiver has the sender's role: arrows 1
//! and 2 travel with roles swapped.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use bytemuck::{Pod, Zeroable};
use vesica_party::{Fixed, Role, Step, Stream};

use crate::union::oprf;

const fn step(number: u8, from: Role, carries: &'static str) -> Step {
    Step { protocol: "jsz22-s", number, from, carries }
}

/// Arrow 1: what keys the bins and the OPRF's functions.
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
    const KEYS: &'static str = "vesica v1 jsz22-s 2026 salt to keys of the OPRF";
    const FORK: &'static str = "jsz22-s oprf";
}

/// Arrow 3, packed.
pub(super) enum Values {}

impl Stream for Values {
    const STEP: Step = step(3, Role::Receiver, "values of the OPRF for each bin");
    type Element = u8;
}

/// Arrow 4.
pub(super) enum Shares {}

impl Stream for Shares {
    const STEP: Step = step(4, Role::Sender, "shares of the keys of bins without a common item");
    type Element = u128;
}

/// Arrow 5, the records. Without pads where the receiver has no items.
pub(super) enum Records {}

impl Stream for Records {
    const STEP: Step = step(5, Role::Sender, "the records, each under a pad");
    type Element = u8;
}

/// Arrow 5, what tells a record's key, packed.
pub(super) enum Tags {}

impl Stream for Tags {
    const STEP: Step = step(6, Role::Sender, "the tags of the records' keys");
    type Element = u8;
}

vesica_party::messages![Salt];
