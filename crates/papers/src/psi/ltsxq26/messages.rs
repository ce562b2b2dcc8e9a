//! One type an arrow of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use std::ops::RangeInclusive;

use vesica_party::{Malformed, Message, Reader, Role, Step, Writer};

/// Arrow 2: `r`, and in Figure 15 `w_2`. The shape says whether it is Figure 15.
pub(super) struct Randomness {
    pub(super) r: u128,
    pub(super) offset: Option<u128>,
}

impl Message for Randomness {
    const STEP: Step =
        Step { protocol: "ltsxq26", number: 2, from: Role::Receiver, carries: "the randomness of its table" };
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

vesica_party::arrows! { "ltsxq26" =>
    /// Arrow 1 (Figure 15): `tau_1 = H^k(w_1)`, and `tau`.
    pub(super) fixed Commitment {
        pub(super) commitment: u128,
        pub(super) tau: u128,
    } = 1, Sender, "the commitment to its offset, and a salt";
    /// Arrow 3: the table `P`.
    pub(super) stream Table[u8] = 3, Receiver, "the table";
    /// Arrow 4: `w`; in Figure 15 `w_1`, which opens arrow 1.
    pub(super) fixed Omega(u128) = 4, Sender, "the randomness of the tags";
    /// Arrow 5: the tags `X'`.
    pub(super) stream Tags[u8] = 5, Sender, "the sender's tags";
}

vesica_party::messages![Commitment, Randomness, Omega];
