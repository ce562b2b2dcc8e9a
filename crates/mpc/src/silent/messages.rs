//! The arrows of silent VOLE.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use std::ops::RangeInclusive;

use bytemuck::{Pod, Zeroable};
use vesica_party::{Fixed, Malformed, Message, Reader, Role, Step, Stream, Writer};

use super::NAME;

const fn step(number: u8, from: Role, carries: &'static str) -> Step {
    Step { protocol: NAME, number, from, carries }
}

/// Arrow 1: which OTs to read with their blocks exchanged, 8 a byte, spare bits zero. The shape is
/// the number of OTs.
#[derive(Clone, Debug)]
pub struct Flips(pub Vec<u8>);

impl Message for Flips {
    const STEP: Step = step(1, Role::Receiver, "flips of the trees' transfers");
    type Shape = usize;

    fn len(transfers: &usize) -> RangeInclusive<usize> {
        transfers.div_ceil(8)..=transfers.div_ceil(8)
    }

    fn write(&self, out: &mut Writer) {
        out.bytes(&self.0);
    }

    fn read(bytes: &mut Reader<'_>, transfers: usize) -> Result<Self, Malformed> {
        let flips = bytes.bytes(transfers.div_ceil(8))?;
        match flips.last() {
            Some(last) if !transfers.is_multiple_of(8) && last >> (transfers % 8) != 0 => {
                Err(Malformed("a spare bit is set"))
            }
            _ => Ok(Self(flips.to_vec())),
        }
    }
}

/// Arrow 2: for each tree, the padded sums of every level below the first, and the fix of the
/// punctured leaf.
#[derive(Debug)]
pub struct Trees;

impl Stream for Trees {
    const STEP: Step = step(2, Role::Sender, "sums of the trees and fixes of their leaves");
    type Element = u128;
}

/// Arrow 3: the point of the check, and the receiver's noise at that point under a mask.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct CheckRequest {
    /// The point at which the polynomials are compared.
    pub chi: u128,
    /// `x* = x + sum chi^(p + 1) e[p]`.
    pub noise: u128,
}

impl Fixed for CheckRequest {
    const STEP: Step = step(3, Role::Receiver, "the request of the trees' check");
}

/// Arrow 4: the hash of the sender's side of the check.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(transparent)]
pub struct CheckAnswer(pub [u8; 32]);

impl Fixed for CheckAnswer {
    const STEP: Step = step(4, Role::Sender, "the answer to the trees' check");
}

/// Arrow 5: the public seed of the code.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(transparent)]
pub struct CodeSeed(pub u128);

impl Fixed for CodeSeed {
    const STEP: Step = step(5, Role::Receiver, "the seed of the code");
}

vesica_party::messages![Flips, CheckRequest, CheckAnswer, CodeSeed];
