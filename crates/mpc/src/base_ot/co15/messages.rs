//! The two arrows of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use bytemuck::{Pod, Zeroable};
use vesica_party::{Fixed, Role, Step, Stream};

use super::ID;

/// Arrow 1: `A`, encoded.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(transparent)]
pub struct SenderPoint(pub [u8; 32]);

impl Fixed for SenderPoint {
    const STEP: Step = Step { protocol: ID, number: 1, from: Role::Sender, carries: "the sender's point" };
}

/// Arrow 2: `B_i` of each transfer, encoded.
#[derive(Debug)]
pub struct ReceiverPoints;

impl Stream for ReceiverPoints {
    const STEP: Step = Step { protocol: ID, number: 2, from: Role::Receiver, carries: "a point a transfer" };
    type Element = [u8; 32];
}

vesica_party::messages![SenderPoint];
