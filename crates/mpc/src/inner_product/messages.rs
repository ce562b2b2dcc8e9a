//! The arrows of inner products.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use std::ops::RangeInclusive;

use vesica_party::{Malformed, Message, Reader, Role, Step, Writer};

use super::{NAME, Params};

/// Arrow 1: the seed of all uniform halves, and the encryption of zero.
#[derive(Clone, Debug)]
pub struct Key {
    /// Both sides expand it to the uniform halves.
    pub seed: [u8; 32],
    /// `b_0`, packed.
    pub zero: Vec<u8>,
}

impl Message for Key {
    const STEP: Step =
        Step { protocol: NAME, number: 1, from: Role::Sender, carries: "a seed and an encryption of zero" };
    type Shape = Params;

    fn len(params: &Params) -> RangeInclusive<usize> {
        let bytes = 32 + params.polynomial_bytes();
        bytes..=bytes
    }

    fn write(&self, out: &mut Writer) {
        out.bytes(&self.seed);
        out.bytes(&self.zero);
    }

    fn read(bytes: &mut Reader<'_>, params: Params) -> Result<Self, Malformed> {
        Ok(Self { seed: bytes.array()?, zero: bytes.bytes(params.polynomial_bytes())?.to_vec() })
    }
}

vesica_party::arrows! { NAME =>
    /// Arrow 2: `b_k` for each block, packed.
    pub stream Blocks[u8] = 2, Sender, "the encrypted vector";
}

/// Arrow 3: one encrypted and masked result.
#[derive(Clone, Debug)]
pub struct Reply {
    /// `a`, packed.
    pub a: Vec<u8>,
    /// `b'`, packed.
    pub b: Vec<u8>,
}

impl Message for Reply {
    const STEP: Step =
        Step { protocol: NAME, number: 3, from: Role::Receiver, carries: "an encrypted and masked inner product" };
    type Shape = Params;

    fn len(params: &Params) -> RangeInclusive<usize> {
        let bytes = params.polynomial_bytes() + params.number_bytes();
        bytes..=bytes
    }

    fn write(&self, out: &mut Writer) {
        out.bytes(&self.a);
        out.bytes(&self.b);
    }

    fn read(bytes: &mut Reader<'_>, params: Params) -> Result<Self, Malformed> {
        Ok(Self {
            a: bytes.bytes(params.polynomial_bytes())?.to_vec(),
            b: bytes.bytes(params.number_bytes())?.to_vec(),
        })
    }
}

vesica_party::messages![Key, Reply];
