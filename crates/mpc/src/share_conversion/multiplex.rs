//! The multiplexer: masks from random OTs, and a product with the sender's bit.

use std::marker::PhantomData;
use std::ops::RangeInclusive;

use vesica_party::{Abort, Channel, CostClass, Entry, Mode, Party, Protocol, Rounds, Status, Task};
use vesica_structures::facts::Unsupported;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::PAPER;
use super::bits::{blank, reduced};
use super::masks::{Masked, Unmasked};
use super::transfer::{Chooser, Holder, SEMI_HONEST, Shape};
use crate::OtSource;
use crate::tasks::{Multiplex, MultiplexRequest, Multiplexed, Share, SharedBits, SharedRows, Shares};

/// Products of shared bits and rows that the sender's random masks hide.
#[derive(Debug)]
pub struct Multiplexer<E>(PhantomData<fn() -> E>);

/// The agreed parameters.
#[derive(Clone, Copy, Debug)]
pub struct Params<E> {
    /// The shape of whole rows.
    rows: Shape<E>,
    /// The elements that are masked, if there are any.
    masks: Option<Shape<E>>,
}

impl<E: Share> Params<E> {
    /// For random OTs from this source.
    ///
    /// # Errors
    /// If more elements are to be masked than a row has, or for rows that no multiplexer takes.
    pub fn with_ots_from(request: &MultiplexRequest, source: OtSource) -> Result<Self, Unsupported> {
        let &MultiplexRequest { len, masked, width, bits, security } = request;
        if masked > width {
            return Err(Unsupported::new(
                format_args!("{masked} masked elements of {width}"),
                "mask at most all elements of a row",
            ));
        }
        let shape = |width| Shape::derive(len, width, bits, security, source);
        let masks = (masked > 0).then(|| shape(masked)).transpose()?;
        Ok(Self { rows: shape(width)?, masks })
    }
}

impl<E: Share> Protocol for Multiplexer<E> {
    const ENTRY: Entry = Entry {
        id: if E::BITS == 64 { "multiplex-ring-ot" } else { "multiplex-bytes-ot" },
        aliases: &[],
        variants: &[],
        task: Multiplex::<E>::NAME,
        paper: PAPER,
        status: Status::Recommended,
        cost: CostClass::Symmetric,
        map_and_compare: None,
        deviations: &[
            "the sender's share of a row is the difference of two pads of a random OT, so that its product with the \
             receiver's bit takes no correction",
            "random OTs whose choices are corrected by one bit, instead of chosen ones",
            "a whole row by one pair of OTs, whose pads AES stretches",
        ],
        modes: &[Mode { rounds: Rounds::exactly(4), ..SEMI_HONEST }],
    };
    type Task = Multiplex<E>;
    type Params = Params<E>;
    type Sender = Sender<E>;
    type Receiver = Receiver<E>;

    fn derive(request: &MultiplexRequest) -> Result<Params<E>, Unsupported> {
        Params::with_ots_from(request, OtSource::SILENT)
    }

    fn predicted_bytes(Params { rows, masks }: &Params<E>) -> RangeInclusive<u64> {
        let ([least, most], [masks_least, masks_most]) =
            (rows.predicted_bytes(), masks.map_or([0, 0], |masks| masks.choice_bytes()));
        least + masks_least..=most + masks_most
    }
}

/// The sender, set up: it knows its masks.
pub struct Sender<E: Share> {
    rows: Shape<E>,
    masks: Option<Masked<E>>,
    chooser: Chooser<E>,
}

impl<E: Share> Sender<E> {
    /// `t_i`, uniform, row by row: the masked elements of each row.
    pub fn masks(&self) -> &[E] {
        self.masks.as_ref().map_or(&[], Masked::masks)
    }

    /// The shares of this side: [`Party::run`] without the masks.
    ///
    /// # Errors
    /// If there is another number of bits, or if the channel fails.
    pub fn multiply(self, bits: &[bool], ch: &mut Channel) -> Result<Shares<E>, Abort> {
        let Self { rows: shape, masks, chooser } = self;
        shape.check(bits.len(), shape.len * shape.width)?;
        let mut shares = blank(&shape);
        ch.reversed(|ch| chooser.send_flips(bits, ch))?;
        if let Some(masks) = masks {
            masks.subtract(bits, &mut shares, shape.width, ch)?;
        }
        shape.pieces().try_for_each(|rows| ch.reversed(|ch| chooser.receive(rows, bits, &mut shares, ch)))?;
        Ok(reduced(&shape, shares))
    }
}

impl<E: Share> Party for Sender<E> {
    type Params = Params<E>;
    type Input = SharedBits;
    type Output = Multiplexed<E>;

    fn setup(&Params { rows, masks }: &Params<E>, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let masks = masks.map(|masks| Masked::setup(masks, ch, rng)).transpose()?;
        Ok(Self { rows, masks, chooser: ch.reversed(|ch| Chooser::setup(rows, ch, rng))? })
    }

    fn run(self, input: SharedBits, ch: &mut Channel, _: &mut SecretRng) -> Result<Multiplexed<E>, Abort> {
        let masks = self.masks().to_vec();
        Ok(Multiplexed { masks, shares: self.multiply(&input.bits, ch)? })
    }
}

/// The receiver, set up.
pub struct Receiver<E: Share> {
    rows: Shape<E>,
    masks: Option<Unmasked<E>>,
    holder: Holder<E>,
}

impl<E: Share> Party for Receiver<E> {
    type Params = Params<E>;
    type Input = SharedRows<E>;
    type Output = Shares<E>;

    fn setup(&Params { rows, masks }: &Params<E>, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let masks = masks.map(|masks| Unmasked::setup(masks, ch, rng)).transpose()?;
        Ok(Self { rows, masks, holder: ch.reversed(|ch| Holder::setup(rows, ch, rng))? })
    }

    fn run(self, input: SharedRows<E>, ch: &mut Channel, _: &mut SecretRng) -> Result<Shares<E>, Abort> {
        let Self { rows: shape, masks, mut holder } = self;
        let SharedRows { bits, values } = &input;
        shape.check(bits.len(), values.len())?;
        let mut shares = blank(&shape);
        if let Some(masks) = &masks {
            masks.chooser.send_flips(bits, ch)?;
        }
        ch.reversed(|ch| holder.receive_flips(ch))?;
        for rows in shape.pieces() {
            let elements = shape.elements(&rows);
            let mut numbers = Secret::new(values[elements.clone()].to_vec());
            for (i, (number, share)) in numbers.iter_mut().zip(&mut shares[elements]).enumerate() {
                let bit = bits[rows.start + i / shape.width];
                *share = number.times(bit);
                *number = number.flipped(bit);
            }
            if let Some(masks) = &masks {
                masks.subtract(rows.clone(), bits, &mut shares, &mut numbers, shape.width);
            }
            ch.reversed(|ch| holder.send(rows, &numbers, &mut shares, ch))?;
        }
        Ok(reduced(&shape, shares))
    }
}
