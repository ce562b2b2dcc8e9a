//! The two arrows of base OT.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use std::ops::RangeInclusive;

use vesica_party::{Malformed, Message, Reader, Role, Step, Writer};

use crate::group::Encoded;

/// The protocol's name in steps.
pub(super) const NAME: &str = "base-ot";

/// Arrow 1: `A`, as it came; the receiver decodes it.
#[derive(Clone, Copy, Debug)]
pub struct SenderPoint(pub Encoded);

impl Message for SenderPoint {
    const STEP: Step =
        Step { protocol: NAME, number: 1, from: Role::Sender, carries: "the sender's key agreement point" };
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

/// Transfers whose points travel at a time, so that the sender's multiplications overlap with the
/// receiver's.
pub const TRANSFERS_PER_MESSAGE: usize = 16;

/// Arrow 2, one for each [`TRANSFERS_PER_MESSAGE`] transfers: two points a transfer, as they came;
/// the sender decodes them. The shape is the number of transfers.
#[derive(Clone, Debug)]
pub struct ReceiverPoints(pub Vec<[Encoded; 2]>);

impl Message for ReceiverPoints {
    const STEP: Step = Step { protocol: NAME, number: 2, from: Role::Receiver, carries: "two points a transfer" };
    type Shape = usize;

    fn len(transfers: &usize) -> RangeInclusive<usize> {
        let bytes = 64 * transfers;
        bytes..=bytes
    }

    fn write(&self, out: &mut Writer) {
        for point in self.0.as_flattened() {
            out.bytes(point);
        }
    }

    fn read(bytes: &mut Reader<'_>, transfers: usize) -> Result<Self, Malformed> {
        (0..transfers).map(|_| Ok([bytes.array()?, bytes.array()?])).collect::<Result<_, _>>().map(Self)
    }
}

vesica_party::messages![SenderPoint, ReceiverPoints];
