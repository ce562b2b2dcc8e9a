//! One type an arrow of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use std::ops::RangeInclusive;

use bytemuck::{Pod, Zeroable};
use vesica_party::{Fixed, Malformed, Message, Reader, Role, Step, Stream, Writer};

const fn step(number: u8, from: Role, carries: &'static str) -> Step {
    Step { protocol: "ltsxq26", number, from, carries }
}

/// Arrow 1 (Figure 15): `tau_1 = H^k(w_1)`, and `tau`.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Commitment {
    pub(super) commitment: u128,
    pub(super) tau: u128,
}

impl Fixed for Commitment {
    const STEP: Step = step(1, Role::Sender, "the commitment to its offset, and a salt");
}

/// Arrow 2: `r`, and in Figure 15 `w_2`. The shape says whether it is Figure 15.
pub(super) struct Randomness {
    pub(super) r: u128,
    pub(super) offset: Option<u128>,
}

impl Message for Randomness {
    const STEP: Step = step(2, Role::Receiver, "the randomness of its table");
    type Shape = bool;

    fn len(malicious: &bool) -> RangeInclusive<usize> {
        let bytes = if *malicious { 32 } else { 16 };
        bytes..=bytes
    }

    fn write(&self, out: &mut Writer) {
        out.elements(&[self.r]);
        out.elements(self.offset.as_slice());
    }

    fn read(bytes: &mut Reader<'_>, malicious: bool) -> Result<Self, Malformed> {
        let r = u128::from_le_bytes(bytes.array()?);
        let offset = if malicious { Some(u128::from_le_bytes(bytes.array()?)) } else { None };
        Ok(Self { r, offset })
    }
}

/// Arrow 3: the table `P`.
pub(super) enum Table {}

impl Stream for Table {
    const STEP: Step = step(3, Role::Receiver, "the table");
    type Element = u8;
}

/// Arrow 4: `w`; in Figure 15 `w_1`, which opens arrow 1.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(transparent)]
pub(super) struct Omega(pub(super) u128);

impl Fixed for Omega {
    const STEP: Step = step(4, Role::Sender, "the randomness of the tags");
}

/// Arrow 5: the tags `X'`.
pub(super) enum Tags {}

impl Stream for Tags {
    const STEP: Step = step(5, Role::Sender, "the sender's tags");
    type Element = u8;
}

vesica_party::messages![Commitment, Randomness, Omega];
