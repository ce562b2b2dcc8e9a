//! One type an arrow of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use bytemuck::{Pod, Zeroable};
use vesica_party::{Fixed, Role, Step, Stream};

const fn step(number: u8, from: Role, carries: &'static str) -> Step {
    Step { protocol: "pt26", number, from, carries }
}

/// Arrow 1: what keys the names and the bins.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(transparent)]
pub(super) struct Salt(pub(super) [u8; 32]);

impl Fixed for Salt {
    const STEP: Step = step(1, Role::Sender, "the salt");
}

/// Arrow 2: a bit for each test, eight a byte from the lowest.
pub(super) enum Flips {}

impl Stream for Flips {
    const STEP: Step = step(2, Role::Sender, "flips of OTs");
    type Element = u8;
}

/// Arrow 3, packed: the names, each under a pad of its OT.
pub(super) enum ReceiverNames {}

impl Stream for ReceiverNames {
    const STEP: Step = step(3, Role::Receiver, "what its bins hold, each under a pad");
    type Element = u8;
}

/// Arrow 3, packed: the receiver's points, each under an element of the VOLE.
pub(super) enum Points {}

impl Stream for Points {
    const STEP: Step = step(4, Role::Receiver, "masked points of the equality tests");
    type Element = u8;
}

/// Arrow 4, packed: the names, each under the OPRF's value at zero.
pub(super) enum SenderNames {}

impl Stream for SenderNames {
    const STEP: Step = step(5, Role::Sender, "what its bins hold, each under a pad");
    type Element = u8;
}

/// Arrow 4, packed: the OPRF's values at the sender's points.
pub(super) enum Values {}

impl Stream for Values {
    const STEP: Step = step(6, Role::Sender, "values of the equality tests");
    type Element = u8;
}

/// Arrow 5: a bit for each test, eight a byte from the lowest.
pub(super) enum Results {}

impl Stream for Results {
    const STEP: Step = step(7, Role::Receiver, "which bins hold one item or none");
    type Element = u8;
}

/// Arrow 5: of the names in open bins, so that sides that disagree stop instead of waiting for each
/// other.
#[derive(Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(transparent)]
pub(super) struct Digest(pub(super) [u8; 16]);

impl Fixed for Digest {
    const STEP: Step = step(8, Role::Receiver, "a digest of the names in open bins");
}

/// Arrow 6.
pub(super) enum ReceiverRecords {}

impl Stream for ReceiverRecords {
    const STEP: Step = step(9, Role::Receiver, "records, each under a pad");
    type Element = u8;
}

/// Arrow 7.
pub(super) enum SenderRecords {}

impl Stream for SenderRecords {
    const STEP: Step = step(10, Role::Sender, "records, each under a pad");
    type Element = u8;
}

vesica_party::messages![Salt, Digest];
