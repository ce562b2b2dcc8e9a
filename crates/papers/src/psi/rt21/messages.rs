//! One type an arrow of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use bytemuck::{Pod, Zeroable};
use vesica_party::{Fixed, Role, Step, Stream};

use vesica_protocols::psi::finish;

const fn step(number: u8, from: Role, carries: &'static str) -> Step {
    Step { protocol: "rt21", number, from, carries }
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

/// Arrow 3: the sender's share of the salt.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(transparent)]
pub(super) struct SaltOpening(pub(super) [u8; 32]);

impl Fixed for SaltOpening {
    const STEP: Step = step(3, Role::Sender, "the opened share of the salt");
}

/// Arrow 4: the sender's message of the key agreement, a u-coordinate.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(transparent)]
pub(super) struct PublicKey(pub(super) [u8; 32]);

impl Fixed for PublicKey {
    const STEP: Step = step(4, Role::Sender, "the sender's public key");
}

/// Arrow 5: the receiver's table, cell by cell.
pub(super) enum Table {}

impl Stream for Table {
    const STEP: Step = step(5, Role::Receiver, "the receiver's table");
    type Element = u8;
}

/// Arrow 6: the sender's tags.
pub(super) enum Tags {}

impl Stream for Tags {
    const STEP: Step = step(6, Role::Sender, "the sender's sorted tags");
    type Element = u8;
}

/// Arrow 7: the sender's payloads, encrypted.
pub(super) enum Payloads {}

impl Stream for Payloads {
    const STEP: Step = step(7, Role::Sender, "the encrypted payloads");
    type Element = u8;
}

/// Arrow 8: proofs of the matches.
pub(super) enum Proofs {}

impl Stream for Proofs {
    const STEP: Step = step(8, Role::Receiver, "the proofs of matches");
    type Element = u128;
}

/// Arrows 6 to 8.
pub(super) enum FinishArrows {}

impl finish::Arrows for FinishArrows {
    type Tags = Tags;
    type Payloads = Payloads;
    type Proofs = Proofs;
}

vesica_party::messages![SaltCommitment, SaltShare, SaltOpening, PublicKey];
