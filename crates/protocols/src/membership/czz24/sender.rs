//! The left column of the figure.

use std::marker::PhantomData;

use curve25519_dalek::scalar::Scalar;
use rayon::prelude::*;
use vesica_mpc::ot_extension::OtExtension;
use vesica_mpc::tasks::OtPairs;
use vesica_party::{Abort, Channel, Party, Phase, Protocol};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::messages::{Arrows, Digests, Flips, Items, Totals, Values};
use super::params::Params;
use super::{DIGEST_CONTEXT, PIECE, add, fill_pad, pad_key};
use crate::ecdh::digests::{self, digests};
use crate::ecdh::{exchange, random_exponent, shuffled};
use crate::tasks::{AggregateSenderInput, Cardinality, Intersect, IntersectSenderInput, IntersectSenderOutput, Sum};

/// The sender, with its mask `a` and the pads of the OTs.
#[derive(Debug)]
pub struct Sender<T> {
    params: Params,
    exponent: Secret<Scalar>,
    pads: OtPairs,
    task: PhantomData<fn() -> T>,
}

impl<T> Sender<T> {
    fn set_up(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let exponent = random_exponent(rng);
        let pads = match &params.transfers {
            Some(transfers) => <OtExtension as Protocol>::Sender::setup(transfers, ch, rng)?.run((), ch, rng)?,
            None => OtPairs { pairs: Vec::new() },
        };
        Ok(Self { params: params.clone(), exponent, pads, task: PhantomData })
    }

    /// Steps 1 to 3; the order in which the receiver has seen the items.
    pub(super) fn ask(&self, items: &[u128], ch: &mut Channel, rng: &mut SecretRng) -> Result<Secret<Vec<u32>>, Abort> {
        let (order, shuffled) = shuffled(items, rng);
        let points = exchange::sender::<Arrows>(&shuffled, self.params.request.receiver_items, &self.exponent, ch)?;
        let digests = digests(DIGEST_CONTEXT, &ch.session(), &points);
        digests::send::<Digests>(&digests, self.params.digest_bits, ch)?;
        Ok(order)
    }

    /// Step 4; for each place `k[d]`, which the receiver has of an item that is not common, and `k[1 + d]`, which it has of one that is.
    pub(super) fn pads(&self, ch: &mut Channel) -> Result<Secret<Vec<[u128; 2]>>, Abort> {
        let mut flips = vec![0; self.params.flip_bytes()];
        if !flips.is_empty() {
            ch.recv_stream::<Flips>(&mut flips)?;
        }
        let turned =
            |(place, &[zero, one]): (usize, &[u128; 2])| if flips[place / 8] >> (place % 8) & 1 == 0 { [zero, one] } else { [one, zero] };
        Ok(Secret::new(self.pads.pairs.iter().enumerate().map(turned).collect()))
    }
}

impl Party for Sender<Cardinality> {
    type Params = Params;
    type Input = AggregateSenderInput;
    type Output = ();

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        Self::set_up(params, ch, rng)
    }

    fn run(self, input: AggregateSenderInput, ch: &mut Channel, rng: &mut SecretRng) -> Result<(), Abort> {
        input.check(&self.params.request)?;
        self.ask(&input.items, ch, rng).map(drop)
    }
}

impl Party for Sender<Intersect> {
    type Params = Params;
    type Input = IntersectSenderInput;
    type Output = IntersectSenderOutput;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        Self::set_up(params, ch, rng)
    }

    fn run(self, input: IntersectSenderInput, ch: &mut Channel, rng: &mut SecretRng) -> Result<IntersectSenderOutput, Abort> {
        input.check(self.params.request.sender_items, 0)?;
        let order = self.ask(&input.items, ch, rng)?;
        let _phase = ch.phase(Phase::Payload);
        let pads = self.pads(ch)?;
        // Step 5.
        if !pads.is_empty() {
            let padded: Vec<u128> = order.iter().zip(pads.iter()).map(|(&item, [_, pad])| input.items[item as usize] ^ pad).collect();
            ch.send_stream::<Items>(&padded)?;
        }
        Ok(IntersectSenderOutput { matches: None })
    }
}

impl Party for Sender<Sum> {
    type Params = Params;
    type Input = AggregateSenderInput;
    type Output = ();

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        Self::set_up(params, ch, rng)
    }

    fn run(self, input: AggregateSenderInput, ch: &mut Channel, rng: &mut SecretRng) -> Result<(), Abort> {
        let columns = self.params.request.columns;
        input.check(&self.params.request)?;
        let order = self.ask(&input.items, ch, rng)?;
        let _phase = ch.phase(Phase::Payload);
        let pads = self.pads(ch)?;

        // Step 5.
        let key = pad_key(&ch.session());
        let mut padded = vec![0; pads.len() * columns];
        let pieces = padded.par_chunks_mut(PIECE * columns).zip(pads.par_chunks(PIECE)).zip(order.par_chunks(PIECE));
        let masks = pieces
            .map(|((padded, pads), order)| {
                let mut masks = vec![0u64; columns];
                let mut pad = Secret::new(vec![0; columns]);
                for ((padded, [stranger, common]), &item) in padded.chunks_exact_mut(columns).zip(pads).zip(order) {
                    let values = &input.values[item as usize * columns..][..columns];
                    fill_pad(&key, *stranger, padded);
                    fill_pad(&key, *common, &mut pad);
                    for (((padded, mask), pad), value) in padded.iter_mut().zip(&mut masks).zip(pad.iter()).zip(values) {
                        *mask = mask.wrapping_add(*padded);
                        *padded = padded.wrapping_add(*value).wrapping_sub(*pad);
                    }
                }
                masks
            })
            .reduce(|| vec![0; columns], add);
        if !padded.is_empty() {
            ch.send_stream::<Values>(&padded)?;
        }

        // Step 6.
        let totals: Vec<u64> = masks.into_iter().map(u64::wrapping_neg).collect();
        ch.send_stream::<Totals>(&totals)
    }
}
