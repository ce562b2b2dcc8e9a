//! The two arrows of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use bytemuck::{Pod, Zeroable};
use vesica_party::{Fixed, Role, Step, Stream};

use super::ID;

/// Arrow 1: `R` and `C`, encoded.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct SenderPoints {
    /// `R`.
    pub power: [u8; 32],
    /// `C`.
    pub constant: [u8; 32],
}

impl Fixed for SenderPoints {
    const STEP: Step = Step { protocol: ID, number: 1, from: Role::Sender, carries: "the sender's points" };
}

/// Arrow 2: `PK[0]` of each transfer, encoded.
#[derive(Debug)]
pub struct ReceiverPoints;

impl Stream for ReceiverPoints {
    const STEP: Step = Step { protocol: ID, number: 2, from: Role::Receiver, carries: "a point a transfer" };
    type Element = [u8; 32];
}

vesica_party::messages![SenderPoints];
