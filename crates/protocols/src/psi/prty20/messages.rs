//! One type an arrow of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use bytemuck::{Pod, Zeroable};
use vesica_party::{Fixed, Role, Step, Stream};

use super::coded::OPENED_HASHES;
use crate::psi::finish;

const fn step(number: u8, from: Role, carries: &'static str) -> Step {
    Step { protocol: "prty20", number, from, carries }
}

/// Arrow 1: the salt of all functions of items; in the malicious mode the sender's share of it, which opens arrow 6.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(transparent)]
pub(super) struct Salt(pub(super) [u8; 32]);

impl Fixed for Salt {
    const STEP: Step = step(1, Role::Sender, "the salt");
}

/// Arrow 2: the table under the rows' masks, `C(D_i) + T_i + U_i`, cell by cell.
pub(super) enum Corrections {}

impl Stream for Corrections {
    const STEP: Step = step(2, Role::Receiver, "the receiver's masked table");
    type Element = u8;
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

/// Arrow 6 (malicious): the commitment to the sender's share of the salt.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(transparent)]
pub(super) struct SaltCommitment(pub(super) [u8; 32]);

impl Fixed for SaltCommitment {
    const STEP: Step = step(6, Role::Sender, "the commitment to a share of the salt");
}

/// Arrow 7 (malicious): the receiver's share of the salt.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(transparent)]
pub(super) struct SaltShare(pub(super) [u8; 32]);

impl Fixed for SaltShare {
    const STEP: Step = step(7, Role::Receiver, "a share of the salt");
}

/// Arrow 8 (malicious): the point of the universal hash.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(transparent)]
pub(super) struct Challenge(pub(super) u128);

impl Fixed for Challenge {
    const STEP: Step = step(8, Role::Sender, "the challenge of the consistency check");
}

/// Arrow 9 (malicious): the hashes of the words, bit by bit, and then of the columns of `T`.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(transparent)]
pub(super) struct Answer(pub(super) [u128; OPENED_HASHES]);

impl Fixed for Answer {
    const STEP: Step = step(9, Role::Receiver, "the answer to the consistency check");
}

vesica_party::messages![Salt, SaltCommitment, SaltShare, Challenge, Answer];
