//! One type an arrow of the figure, and of the membership tests'.

use std::ops::RangeInclusive;

use vesica_mpc::silent_ot::SilentOt;
use vesica_party::{Malformed, Message, Reader, Role, Step, Stream, Writer};

use crate::membership;

const fn step(number: u8, from: Role, carries: &'static str) -> Step {
    Step { protocol: "gmr21", number, from, carries }
}

/// Arrow 1: what keys the bins, the items in them and the digests.
pub(super) struct Salt(pub(super) [u8; 32]);

impl Message for Salt {
    const STEP: Step = step(1, Role::Sender, "the salt");
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

/// Arrow 6, packed.
pub(super) enum Digests {}

impl Stream for Digests {
    const STEP: Step = step(6, Role::Sender, "a digest for each bin, in the sender's order");
    type Element = u8;
}

/// Arrows 7 to 9.
#[derive(Debug)]
pub enum Transfer {}

impl membership::Arrows for Transfer {
    const PAD_CONTEXT: &'static str = "vesica v1 gmr21 2026 pad of values";
    type Ots = SilentOt;
    type Flips = Flips;
    type Items = Items;
    type Values = Values;
    type Totals = Totals;
}

/// Arrow 7: a bit for each bin, eight a byte from the lowest.
#[derive(Debug)]
pub enum Flips {}

impl Stream for Flips {
    const STEP: Step = step(7, Role::Receiver, "flips of OTs");
    type Element = u8;
}

/// Arrow 8 of the intersection.
#[derive(Debug)]
pub enum Items {}

impl Stream for Items {
    const STEP: Step = step(8, Role::Sender, "the items, each under a pad");
    type Element = u128;
}

/// Arrow 8 of the sum.
#[derive(Debug)]
pub enum Values {}

impl Stream for Values {
    const STEP: Step = step(8, Role::Sender, "the values, each under a mask and a pad");
    type Element = u64;
}

/// Arrow 9.
#[derive(Debug)]
pub enum Totals {}

impl Stream for Totals {
    const STEP: Step = step(9, Role::Sender, "what takes the masks off the sums");
    type Element = u64;
}
