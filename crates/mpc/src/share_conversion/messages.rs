//! The two arrows of each direction.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use std::ops::RangeInclusive;

use vesica_party::{Malformed, Message, Reader, Role, Step, Writer};

/// Arrow 1: where a share of a bit is not the random choice.
#[derive(Clone, Debug)]
pub struct Flips(pub Vec<bool>);

impl Message for Flips {
    const STEP: Step = Step {
        protocol: "share-conversion",
        number: 1,
        from: Role::Receiver,
        carries: "differences of shares and random choices",
    };
    type Shape = usize;

    fn len(&count: &usize) -> RangeInclusive<usize> {
        count.div_ceil(8)..=count.div_ceil(8)
    }

    fn write(&self, out: &mut Writer) {
        let byte = |flips: &[bool]| flips.iter().enumerate().fold(0, |byte, (i, &flip)| byte | u8::from(flip) << i);
        out.bytes(&self.0.chunks(8).map(byte).collect::<Vec<u8>>());
    }

    fn read(bytes: &mut Reader<'_>, count: usize) -> Result<Self, Malformed> {
        let bytes = bytes.bytes(count.div_ceil(8))?;
        let bit = |i: usize| bytes.get(i / 8).is_some_and(|byte| byte >> (i % 8) & 1 == 1);
        if (count..8 * bytes.len()).any(bit) {
            return Err(Malformed("bits beyond the last one"));
        }
        Ok(Self((0..count).map(bit).collect()))
    }
}

vesica_party::arrows! { "share-conversion" =>
    /// Arrow 2: what turns the pads of a row into its multiple, packed.
    pub stream Corrections[u8] = 2, Sender, "corrections";
}

vesica_party::messages![Flips];
