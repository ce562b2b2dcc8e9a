//! One type an arrow of the figures.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use bytemuck::{Pod, Zeroable};
use vesica_party::{Fixed, Role, Step, Stream};

const fn step(number: u8, from: Role, carries: &'static str) -> Step {
    Step { protocol: "rr17", number, from, carries }
}

/// Arrow 1: the commitment to the sender's share of the salt.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(transparent)]
pub(super) struct SaltCommitment(pub(super) [u8; 32]);

impl Fixed for SaltCommitment {
    const STEP: Step = step(1, Role::Sender, "the commitment to a share of the salt");
}

/// Arrow 2: the receiver's share of the salt.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(transparent)]
pub(super) struct SaltShare(pub(super) [u8; 32]);

impl Fixed for SaltShare {
    const STEP: Step = step(2, Role::Receiver, "a share of the salt");
}

/// Arrow 3: the sender's share of the salt, which opens arrow 1.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(transparent)]
pub(super) struct SaltOpening(pub(super) [u8; 32]);

impl Fixed for SaltOpening {
    const STEP: Step = step(3, Role::Sender, "the opened share of the salt");
}

/// Arrow 4 of dual execution: the sender's tags.
pub(super) enum Tags {}

impl Stream for Tags {
    const STEP: Step = step(4, Role::Sender, "the sender's sorted tags");
    type Element = u8;
}

/// Arrow 4 of encode-commit: a commitment and its wrapped openings for each item of the sender, in a random
/// order. Its step is 5, which tells it from arrow 4 of dual execution.
pub(super) enum Groups {}

impl Stream for Groups {
    const STEP: Step = step(5, Role::Sender, "the sender's commitments and wrapped openings");
    type Element = u8;
}

vesica_party::messages![SaltCommitment, SaltShare, SaltOpening];
