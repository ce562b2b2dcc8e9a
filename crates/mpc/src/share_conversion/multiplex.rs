//! The multiplexer: a direction each way.

use std::marker::PhantomData;
use std::ops::RangeInclusive;

use vesica_party::{Abort, Channel, Entry, Party, Protocol, Status, Task};
use vesica_structures::facts::{Paper, Unsupported};
use vesica_structures::rng::SecretRng;

use super::bits::{blank, reduced};
use super::transfer::{Chooser, Holder, SEMI_HONEST, Shape};
use crate::tasks::{Multiplex, MultiplexRequest, Share, SharedRows, Shares};

/// Products of shared bits and shared rows by two OTs each.
#[derive(Debug)]
pub struct Multiplexer<E>(PhantomData<fn() -> E>);

/// What both sides agree on.
#[derive(Clone, Copy, Debug)]
pub struct Params<E>(Shape<E>);

impl<E: Share> Protocol for Multiplexer<E> {
    const ENTRY: Entry = Entry {
        id: if E::BITS == 64 { "multiplex-ring-ot" } else { "multiplex-bytes-ot" },
        aliases: &[],
        task: Multiplex::<E>::NAME,
        paper: Paper {
            key: "RRKC+20",
            title: "CrypTFlow2: Practical 2-Party Secure Inference",
            reference: "D. Rathee et al., CCS 2020, ePrint 2020/1002",
        },
        status: Status::Recommended,
        deviations: &[
            "random OTs whose choices are corrected by one bit, in place of chosen ones",
            "a whole row by one pair of OTs, whose pads AES stretches",
        ],
        modes: &[SEMI_HONEST],
    };
    type Task = Multiplex<E>;
    type Params = Params<E>;
    type Sender = Sender<E>;
    type Receiver = Receiver<E>;

    fn derive(request: &MultiplexRequest) -> Result<Params<E>, Unsupported> {
        Shape::derive(request.len, request.width, request.bits, request.security).map(Params)
    }

    fn predicted_bytes(Params(shape): &Params<E>) -> RangeInclusive<u64> {
        let [least, most] = shape.predicted_bytes();
        2 * least..=2 * most
    }
}

/// The sender, set up.
pub struct Sender<E>(Shape<E>, Holder<E>, Chooser<E>);

impl<E: Share> Party for Sender<E> {
    type Params = Params<E>;
    type Input = SharedRows<E>;
    type Output = Shares<E>;

    fn setup(&Params(shape): &Params<E>, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let holder = Holder::setup(shape, ch, rng)?;
        Ok(Self(shape, holder, ch.reversed(|ch| Chooser::setup(shape, ch, rng))?))
    }

    fn run(self, input: SharedRows<E>, ch: &mut Channel, _: &mut SecretRng) -> Result<Shares<E>, Abort> {
        let Self(shape, mut holder, chooser) = self;
        let SharedRows { bits, values } = &input;
        shape.check(bits.len(), values.len())?;
        let mut shares = blank(&shape);
        ch.reversed(|ch| chooser.send_flips(bits, ch))?;
        holder.receive_flips(ch)?;
        for rows in shape.pieces() {
            holder.send(rows.clone(), bits, values, &mut shares, ch)?;
            ch.reversed(|ch| chooser.receive(rows, bits, &mut shares, ch))?;
        }
        Ok(reduced(&shape, shares))
    }
}

/// The receiver, set up.
pub struct Receiver<E>(Shape<E>, Holder<E>, Chooser<E>);

impl<E: Share> Party for Receiver<E> {
    type Params = Params<E>;
    type Input = SharedRows<E>;
    type Output = Shares<E>;

    fn setup(&Params(shape): &Params<E>, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let chooser = Chooser::setup(shape, ch, rng)?;
        Ok(Self(shape, ch.reversed(|ch| Holder::setup(shape, ch, rng))?, chooser))
    }

    fn run(self, input: SharedRows<E>, ch: &mut Channel, _: &mut SecretRng) -> Result<Shares<E>, Abort> {
        let Self(shape, mut holder, chooser) = self;
        let SharedRows { bits, values } = &input;
        shape.check(bits.len(), values.len())?;
        let mut shares = blank(&shape);
        chooser.send_flips(bits, ch)?;
        ch.reversed(|ch| holder.receive_flips(ch))?;
        for rows in shape.pieces() {
            chooser.receive(rows.clone(), bits, &mut shares, ch)?;
            ch.reversed(|ch| holder.send(rows, bits, values, &mut shares, ch))?;
        }
        Ok(reduced(&shape, shares))
    }
}
