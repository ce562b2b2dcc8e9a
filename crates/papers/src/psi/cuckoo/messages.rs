//! One type an arrow of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use bytemuck::{Pod, Zeroable};
use vesica_party::{Fixed, Role, Step, Stream};

use vesica_protocols::psi::finish;

const fn step(number: u8, from: Role, carries: &'static str) -> Step {
    Step { protocol: "psi-cuckoo", number, from, carries }
}

/// Arrow 1: the salt of the functions of items.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(transparent)]
pub(super) struct Salt(pub(super) [u8; 32]);

impl Fixed for Salt {
    const STEP: Step = step(1, Role::Sender, "the salt");
}

/// Arrow 2: the sender's tags.
pub(super) enum Tags {}

impl Stream for Tags {
    const STEP: Step = step(2, Role::Sender, "the sender's sorted tags");
    type Element = u8;
}

/// Arrow 3: the sender's payloads, encrypted.
pub(super) enum Payloads {}

impl Stream for Payloads {
    const STEP: Step = step(3, Role::Sender, "the encrypted payloads");
    type Element = u8;
}

/// Never sent: both sides do not learn.
pub(super) enum Proofs {}

impl Stream for Proofs {
    const STEP: Step = step(4, Role::Receiver, "the proofs of matches");
    type Element = u128;
}

/// Arrows 2 and 3.
pub(super) enum FinishArrows {}

impl finish::Arrows for FinishArrows {
    type Tags = Tags;
    type Payloads = Payloads;
    type Proofs = Proofs;
}

vesica_party::messages![Salt];
