//! One type an arrow of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use bytemuck::{Pod, Zeroable};
use vesica_party::{Fixed, Role, Step, Stream};

use vesica_protocols::psi::finish;

const fn step(number: u8, from: Role, carries: &'static str) -> Step {
    Step { protocol: "cm20", number, from, carries }
}

/// Arrow 1: the key `k` of all functions of items.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(transparent)]
pub(super) struct Key(pub(super) [u8; 32]);

impl Fixed for Key {
    const STEP: Step = step(1, Role::Receiver, "the key of the places");
}

/// Arrow 2: `G(k_j[0]) + D_j + G(k_j[1])`, column by column.
pub(super) enum Columns {}

impl Stream for Columns {
    const STEP: Step = step(2, Role::Receiver, "the receiver's masked columns");
    type Element = u128;
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

vesica_party::messages![Key];
