//! From exclusive-or shares of bits to additive shares: `p_i`, and the product of `1 - 2 p_i` and
//! the receiver's bit.

use std::ops::RangeInclusive;

use vesica_party::{Abort, Channel, CostClass, Entry, Mode, Party, Protocol, Rounds, Status, Task};
use vesica_structures::facts::Unsupported;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::PAPER;
use super::transfer::{Chooser, Holder, SEMI_HONEST, Shape};
use crate::OtSource;
use crate::tasks::{self, BitsToRingRequest, OtChosen, OtPairs, Share, SharedBits, Shares};

/// Additive shares of bits by one OT each.
#[derive(Debug)]
pub enum BitsToRing {}

/// The agreed parameters.
#[derive(Clone, Copy, Debug)]
pub struct Params(Shape<u64>);

impl Protocol for BitsToRing {
    const ENTRY: Entry = Entry {
        id: "bits-to-ring-ot",
        aliases: &[],
        variants: &[],
        task: tasks::BitsToRing::NAME,
        paper: PAPER,
        status: Status::Recommended,
        cost: CostClass::Symmetric,
        map_and_compare: None,
        deviations: &["random OTs whose choices are corrected by one bit, instead of chosen ones"],
        modes: &[Mode { rounds: Rounds::exactly(3), ..SEMI_HONEST }],
    };
    type Task = tasks::BitsToRing;
    type Params = Params;
    type Sender = Sender;
    type Receiver = Receiver;

    fn derive(request: &BitsToRingRequest) -> Result<Params, Unsupported> {
        Shape::derive(request.len, 1, request.bits, request.security, OtSource::SILENT).map(Params)
    }

    fn predicted_bytes(Params(shape): &Params) -> RangeInclusive<u64> {
        let [least, most] = shape.predicted_bytes();
        least..=most
    }
}

/// Shares that the columns fill in, and how they end.
pub(super) fn blank<E: Share>(shape: &Shape<E>) -> Secret<Vec<E>> {
    Secret::new(vec![E::default(); shape.len * shape.width])
}

/// The shares of a run.
pub(super) fn reduced<E: Share>(shape: &Shape<E>, mut values: Secret<Vec<E>>) -> Shares<E> {
    values.iter_mut().for_each(|value| *value = value.low(shape.bits));
    Shares { bits: shape.bits, width: shape.width, values: std::mem::take(&mut *values) }
}

/// The sender, set up.
pub struct Sender(Shape<u64>, Holder<u64>);

impl Sender {
    /// The sender, set up with random OTs that exist already, one a bit.
    ///
    /// # Errors
    /// If there are more or fewer.
    pub fn from_ots(&Params(shape): &Params, ots: OtPairs) -> Result<Self, Unsupported> {
        Ok(Self(shape, Holder::from_ots(shape, ots)?))
    }
}

impl Party for Sender {
    type Params = Params;
    type Input = SharedBits;
    type Output = Shares<u64>;

    fn setup(&Params(shape): &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        Ok(Self(shape, Holder::setup(shape, ch, rng)?))
    }

    fn run(self, input: SharedBits, ch: &mut Channel, _: &mut SecretRng) -> Result<Shares<u64>, Abort> {
        let Self(shape, mut holder) = self;
        shape.check(input.bits.len(), shape.len)?;
        let mut shares = Secret::new(input.bits.iter().map(|&p| 1.times(p)).collect::<Vec<u64>>());
        holder.receive_flips(ch)?;
        shape.pieces().try_for_each(|rows| {
            let numbers = Secret::new(input.bits[rows.clone()].iter().map(|&p| 1.flipped(p)).collect::<Vec<u64>>());
            holder.send(rows, &numbers, &mut shares, ch)
        })?;
        Ok(reduced(&shape, shares))
    }
}

/// The receiver, set up.
pub struct Receiver(Shape<u64>, Chooser<u64>);

impl Receiver {
    /// The receiver, set up with random OTs that exist already, one a bit.
    ///
    /// # Errors
    /// If there are more or fewer.
    pub fn from_ots(&Params(shape): &Params, ots: OtChosen) -> Result<Self, Unsupported> {
        Ok(Self(shape, Chooser::from_ots(shape, ots)?))
    }
}

impl Party for Receiver {
    type Params = Params;
    type Input = SharedBits;
    type Output = Shares<u64>;

    fn setup(&Params(shape): &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        Ok(Self(shape, Chooser::setup(shape, ch, rng)?))
    }

    fn run(self, input: SharedBits, ch: &mut Channel, _: &mut SecretRng) -> Result<Shares<u64>, Abort> {
        let Self(shape, chooser) = self;
        shape.check(input.bits.len(), shape.len)?;
        let mut shares = blank(&shape);
        chooser.send_flips(&input.bits, ch)?;
        shape.pieces().try_for_each(|rows| chooser.receive(rows, &input.bits, &mut shares, ch))?;
        Ok(reduced(&shape, shares))
    }
}
