//! One type an arrow of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use bytemuck::{Pod, Zeroable};
use vesica_party::{Fixed, Role, Step, Stream};

use crate::psi::finish;

const fn step(number: u8, from: Role, carries: &'static str) -> Step {
    Step { protocol: "vole-psi", number, from, carries }
}

/// Arrow 1 (malicious): the commitment to the sender's share of the salt.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(transparent)]
pub(super) struct SaltCommitment(pub(super) [u8; 32]);

impl Fixed for SaltCommitment {
    const STEP: Step = step(1, Role::Sender, "the commitment to a share of the salt");
}

/// Arrow 2 (malicious): the receiver's share of the salt.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(transparent)]
pub(super) struct SaltShare(pub(super) [u8; 32]);

impl Fixed for SaltShare {
    const STEP: Step = step(2, Role::Receiver, "a share of the salt");
}

/// Arrow 3: the sender's share of the salt; in the malicious mode it opens arrow 1.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(transparent)]
pub(super) struct SaltOpening(pub(super) [u8; 32]);

impl Fixed for SaltOpening {
    const STEP: Step = step(3, Role::Sender, "the opened share of the salt");
}

/// Arrow 4 (malicious): the commitment to `w_s`.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(transparent)]
pub(super) struct OffsetCommitment(pub(super) [u8; 32]);

impl Fixed for OffsetCommitment {
    const STEP: Step = step(4, Role::Sender, "the commitment to its offset");
}

/// Arrow 6 (malicious): `w_r`.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(transparent)]
pub(super) struct OffsetShare(pub(super) [u8; 16]);

impl Fixed for OffsetShare {
    const STEP: Step = step(6, Role::Receiver, "its offset");
}

/// Arrow 7 (malicious): `w_s` and the 32 bytes that its commitment hides it with.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(transparent)]
pub(super) struct OffsetOpening(pub(super) [u8; 48]);

impl Fixed for OffsetOpening {
    const STEP: Step = step(7, Role::Sender, "the opened offset");
}

/// Arrow 5: the receiver's table under the VOLE's tag, `A = P + c`.
pub(super) enum Table {}

impl Stream for Table {
    const STEP: Step = step(5, Role::Receiver, "the masked table");
    type Element = u8;
}

/// Arrow 8: the sender's tags.
pub(super) enum Tags {}

impl Stream for Tags {
    const STEP: Step = step(8, Role::Sender, "the sender's tags");
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

vesica_party::messages![SaltCommitment, SaltShare, SaltOpening, OffsetCommitment, OffsetShare, OffsetOpening];
