//! The arrows of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use bytemuck::{Pod, Zeroable};
use vesica_party::{Fixed, Role, Step, Stream};

use super::{COLUMNS, NAME};

const fn step(number: u8, from: Role, carries: &'static str) -> Step {
    Step { protocol: NAME, number, from, carries }
}

/// Arrow 1: `d_i`, row after row; bit `j` of a row is that of column `j`.
#[derive(Debug)]
pub struct Corrections;

impl Stream for Corrections {
    const STEP: Step = step(1, Role::Receiver, "corrections to one vector of bits");
    type Element = u128;
}

/// Arrow 2: the point of the universal hash.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(transparent)]
pub struct Challenge(pub u128);

impl Fixed for Challenge {
    const STEP: Step = step(2, Role::Sender, "the challenge of the consistency check");
}

/// Arrow 3: the hashes of the choices and of the columns of `t`.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Answer {
    /// `R(r)`.
    pub choices: u128,
    /// `R` of each column of `t`.
    pub columns: [u128; COLUMNS],
}

impl Fixed for Answer {
    const STEP: Step = step(3, Role::Receiver, "the answer to the consistency check");
}

vesica_party::messages![Challenge, Answer];
