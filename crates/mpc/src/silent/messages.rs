//! The arrows of silent VOLE.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use std::ops::RangeInclusive;

use vesica_party::{Malformed, Message, Reader, Role, Step, Writer};

use super::NAME;

/// Arrow 1: which OTs to read with their blocks exchanged, 8 a byte, spare bits zero. The shape is
/// the number of OTs.
#[derive(Clone, Debug)]
pub struct Flips(pub Vec<u8>);

impl Message for Flips {
    const STEP: Step =
        Step { protocol: NAME, number: 1, from: Role::Receiver, carries: "flips of the trees' transfers" };
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

vesica_party::arrows! { NAME =>
    /// Arrow 2: for each tree, the padded sums of every level below the first, and the fix of the
    /// punctured leaf.
    pub stream Trees[u128] = 2, Sender, "sums of the trees and fixes of their leaves";
    /// Arrow 3: the point of the check, and the receiver's noise at that point under a mask.
    #[derive(Debug)]
    pub fixed CheckRequest {
        /// The point at which the polynomials are compared.
        pub chi: u128,
        /// `x* = x + sum chi^(p + 1) e[p]`.
        pub noise: u128,
    } = 3, Receiver, "the request of the trees' check";
    /// Arrow 4: the hash of the sender's side of the check.
    #[derive(Debug)]
    pub fixed CheckAnswer([u8; 32]) = 4, Sender, "the answer to the trees' check";
    /// Arrow 5: the public seed of the code.
    #[derive(Debug)]
    pub fixed CodeSeed(u128) = 5, Receiver, "the seed of the code";
}

vesica_party::messages![Flips, CheckRequest, CheckAnswer, CodeSeed];
