//! The three arrows of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use bytemuck::{Pod, Zeroable};
use vesica_party::{Fixed, Role, Step, Stream};

use super::ID;

const fn step(number: u8, from: Role, carries: &'static str) -> Step {
    Step { protocol: ID, number, from, carries }
}

/// Arrow 1: the seed of `T`.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(transparent)]
pub struct Seed(pub [u8; 32]);

impl Fixed for Seed {
    const STEP: Step = step(1, Role::Receiver, "the seed of a point");
}

/// Arrow 1: `B_i` of each transfer, encoded.
#[derive(Debug)]
pub struct ReceiverPoints;

impl Stream for ReceiverPoints {
    const STEP: Step = step(1, Role::Receiver, "a point a transfer");
    type Element = [u8; 32];
}

/// Arrow 2: `A`, encoded.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(transparent)]
pub struct SenderPoint(pub [u8; 32]);

impl Fixed for SenderPoint {
    const STEP: Step = step(2, Role::Sender, "the sender's point");
}

/// Arrow 2: `r_i[0] + r_i[1]` of each transfer.
#[derive(Debug)]
pub struct Challenges;

impl Stream for Challenges {
    const STEP: Step = step(2, Role::Sender, "a challenge a transfer");
    type Element = [u8; 32];
}

/// Arrow 2: `D'` of the answer that the sender expects.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(transparent)]
pub struct Proof(pub [u8; 32]);

impl Fixed for Proof {
    const STEP: Step = step(2, Role::Sender, "the proof that the sender knows the answer");
}

/// Arrow 3: `D` of the receiver's responses.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(transparent)]
pub struct Answer(pub [u8; 32]);

impl Fixed for Answer {
    const STEP: Step = step(3, Role::Receiver, "the answer to the challenges");
}

vesica_party::messages![Seed, SenderPoint, Proof, Answer];
