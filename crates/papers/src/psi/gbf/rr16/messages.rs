//! One type an arrow of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use bytemuck::{Pod, Zeroable};
use vesica_party::{Fixed, Role, Step, Stream};

use vesica_protocols::psi::finish;

const fn step(number: u8, from: Role, carries: &'static str) -> Step {
    Step { protocol: "rr16", number, from, carries }
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

/// Arrow 4: the seed of the set of transfers to open.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(transparent)]
pub(super) struct Challenge(pub(super) [u8; 16]);

impl Fixed for Challenge {
    const STEP: Step = step(4, Role::Sender, "the transfers to open");
}

/// Arrow 5: the choice in each opened transfer, a bit each in their order, and zeros up to the length that
/// every group has.
pub(super) enum Choices {}

impl Stream for Choices {
    const STEP: Step = step(5, Role::Receiver, "the choices in opened transfers");
    type Element = u8;
}

/// Arrow 6: the transfer of each cell.
pub(super) enum Injection {}

impl Stream for Injection {
    const STEP: Step = step(6, Role::Receiver, "the transfer of each cell");
    type Element = u8;
}

/// Arrow 7: the sum of the first strings of all opened transfers whose choice is zero.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(transparent)]
pub(super) struct OpenedSum(pub(super) [u8; 16]);

impl Fixed for OpenedSum {
    const STEP: Step = step(7, Role::Receiver, "the sum of opened strings");
}

/// Arrow 8: the sender's tags.
pub(super) enum Tags {}

impl Stream for Tags {
    const STEP: Step = step(8, Role::Sender, "the sender's sorted tags");
    type Element = u8;
}

/// Arrow 9: the sender's payloads, encrypted.
pub(super) enum Payloads {}

impl Stream for Payloads {
    const STEP: Step = step(9, Role::Sender, "the encrypted payloads");
    type Element = u8;
}

/// Arrow 10: proofs of the matches.
pub(super) enum Proofs {}

impl Stream for Proofs {
    const STEP: Step = step(10, Role::Receiver, "the proofs of matches");
    type Element = u128;
}

/// Arrows 8 to 10.
pub(super) enum FinishArrows {}

impl finish::Arrows for FinishArrows {
    type Tags = Tags;
    type Payloads = Payloads;
    type Proofs = Proofs;
}

vesica_party::messages![SaltCommitment, SaltShare, SaltOpening, Challenge, OpenedSum];
