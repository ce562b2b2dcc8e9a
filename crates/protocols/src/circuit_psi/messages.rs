//! The messages that are not a part's own.

use std::ops::RangeInclusive;

use vesica_party::{Malformed, Message, Reader, Role, Step, Stream, Writer};

/// Arrow 1: the salt `r`, which keys the bins and the items in them.
pub(super) struct Salt(pub(super) [u8; 32]);

impl Message for Salt {
    const STEP: Step = Step { protocol: "circuit-psi", number: 1, from: Role::Sender, carries: "the salt" };
    type Shape = ();

    fn len((): &()) -> RangeInclusive<usize> {
        32..=32
    }

    fn write(&self, out: &mut Writer) {
        out.bytes(&self.0);
    }

    fn read(bytes: &mut Reader<'_>, (): ()) -> Result<Self, Malformed> {
        Ok(Self(bytes.array()?))
    }
}

/// Before the multiplexer, where the sender has shares of its own: how they differ from its masks.
pub(super) enum Differences {}

impl Stream for Differences {
    const STEP: Step = Step { protocol: "circuit-psi", number: 8, from: Role::Sender, carries: "differences of shares and masks" };
    type Element = u8;
}
