//! The messages that are not a part's own.

use std::ops::RangeInclusive;

use vesica_party::{Malformed, Message, Reader, Role, Step, Writer};

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

/// Arrow 9 of an aggregate: the sender's shares of the results.
pub(super) struct Opened(pub(super) Vec<u64>);

impl Message for Opened {
    const STEP: Step = Step { protocol: "circuit-psi", number: 9, from: Role::Sender, carries: "its shares of the results" };
    /// How many.
    type Shape = usize;

    fn len(results: &usize) -> RangeInclusive<usize> {
        8 * results..=8 * results
    }

    fn write(&self, out: &mut Writer) {
        out.elements(&self.0);
    }

    fn read(bytes: &mut Reader<'_>, results: usize) -> Result<Self, Malformed> {
        bytes.elements(results).map(Self)
    }
}
